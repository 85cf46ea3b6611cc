//! How fresh what is shown is: what was seen before an eye went blind is not shown as if it were so now.

use serde_json::Value;

use super::clock::Clock;
use crate::cli::answer::{field, field_or_dash};

/// Stands after what was last seen through an eye that is blind now.
const DOUBT: &str = "?";

/// `On`, or `On?` while the BMC cannot tell.
pub fn power(machine: &Value) -> String {
    match field(machine, "/properties/powerState") {
        Some(power) => with_doubt(power, is_bmc_blind(machine)),
        None => "Unknown".to_owned(),
    }
}

/// `yes`, or `yes?` while the undercloud cannot tell.
pub fn ready(machine: &Value) -> String {
    match field(machine, "/properties/readyState").as_deref() {
        Some("True") => with_doubt("yes".to_owned(), is_undercloud_silent(machine)),
        Some("False") => with_doubt("no".to_owned(), is_undercloud_silent(machine)),
        _ => "-".to_owned(),
    }
}

fn with_doubt(text: String, doubtful: bool) -> String {
    if doubtful { format!("{text}{DOUBT}") } else { text }
}

pub fn is_bmc_blind(machine: &Value) -> bool {
    machine.pointer("/rackwright/bmcFault").is_some_and(Value::is_object)
}

fn is_undercloud_silent(machine: &Value) -> bool {
    machine.pointer("/rackwright/undercloudFault").is_some_and(Value::is_object)
}

/// What the doubts in a list mean, if it has any.
pub fn doubts(machines: &[Value]) -> Option<String> {
    let blind = machines.iter().filter(|machine| is_bmc_blind(machine)).count();
    let silent = machines.iter().any(is_undercloud_silent);
    let eyes = match (blind, silent) {
        (0, false) => return None,
        (0, true) => "the undercloud tells nothing now".to_owned(),
        (1, false) => "1 BMC tells nothing now".to_owned(),
        (1, true) => "1 BMC and the undercloud tell nothing now".to_owned(),
        (blind, false) => format!("{blind} BMCs tell nothing now"),
        (blind, true) => format!("{blind} BMCs and the undercloud tell nothing now"),
    };
    Some(format!("`{DOUBT}` is as last seen: {eyes}; `rackwright status` says why"))
}

/// `On since 09:00:00Z`, or `On, last seen 14:01:30Z (the BMC does not answer since 14:02:00Z)`.
pub fn power_in_full(machine: &Value, clock: Clock) -> String {
    let power = field(machine, "/properties/powerState").unwrap_or_else(|| "Unknown".to_owned());
    let seen = field(machine, "/rackwright/powerSeenAt").map(|_| clock.time(machine, "/rackwright/powerSeenAt"));
    if !is_bmc_blind(machine) {
        return seen.map_or(power.clone(), |seen| format!("{power} since {seen}"));
    }
    let trouble = format!("the BMC {}", trouble(&machine["rackwright"]["bmcFault"], clock));
    match (field(machine, "/rackwright/bmcAnsweredAt"), seen) {
        (_, None) => format!("{power} ({trouble})"),
        (Some(_), _) => format!("{power}, last seen {} ({trouble})", clock.time(machine, "/rackwright/bmcAnsweredAt")),
        (None, Some(seen)) => format!("{power} since {seen}, as last seen ({trouble})"),
    }
}

/// `yes`, or `yes, as last seen (the undercloud does not answer since 14:02:00Z)`.
pub fn ready_in_full(machine: &Value, clock: Clock) -> String {
    let ready = ready(machine);
    match ready.strip_suffix(DOUBT) {
        Some(seen) => format!("{seen}, as last seen (the undercloud {})", trouble(&machine["rackwright"]["undercloudFault"], clock)),
        None => ready,
    }
}

/// `does not answer since 14:02:00Z`. One that answers nonsense, or refuses us, does answer.
pub fn trouble(fault: &Value, clock: Clock) -> String {
    let words = if field_or_dash(fault, "/class") == "unreachable" { "does not answer" } else { "cannot be used" };
    format!("{words} since {}", clock.time(fault, "/since"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::render::fixtures;

    fn fault(class: &str) -> Value {
        json!({ "class": class, "fault": format!("{class}: x"), "since": "2026-11-15T14:02:00.000Z" })
    }

    #[test]
    fn what_a_blind_bmc_said_last_is_told_with_its_age() {
        let clock = Clock::at(fixtures::NOW);
        let mut machine = fixtures::machine("site1", "rack1compute01", "compute-plane");
        assert_eq!((power(&machine), power_in_full(&machine, clock)), ("On".to_owned(), "On since 2026-11-14 09:00:00Z".to_owned()));
        machine["rackwright"]["bmcFault"] = fault("unreachable");
        let since = "On since 2026-11-14 09:00:00Z, as last seen (the BMC does not answer since 14:02:00Z)";
        assert_eq!((power(&machine), power_in_full(&machine, clock)), ("On?".to_owned(), since.to_owned()));
        machine["rackwright"]["bmcAnsweredAt"] = json!("2026-11-15T14:01:30.000Z");
        machine["rackwright"]["bmcFault"] = fault("denied");
        assert_eq!(power_in_full(&machine, clock), "On, last seen 14:01:30Z (the BMC cannot be used since 14:02:00Z)");
        let spare = fixtures::spare("site1", "rack4control01");
        assert_eq!((power(&spare), power_in_full(&spare, clock)), ("Unknown".to_owned(), "Unknown".to_owned()));
    }

    #[test]
    fn what_a_silent_undercloud_said_last_is_told_as_such() {
        let mut machine = fixtures::machine("site1", "rack1compute01", "compute-plane");
        machine["rackwright"]["undercloudFault"] = fault("unreachable");
        assert_eq!(ready(&machine), "yes?");
        let told = "yes, as last seen (the undercloud does not answer since 14:02:00Z)";
        assert_eq!(ready_in_full(&machine, Clock::at(fixtures::NOW)), told);
    }

    #[test]
    fn a_list_explains_its_doubts_once() {
        let well = fixtures::machine("site1", "rack1compute01", "compute-plane");
        let mut blind = well.clone();
        blind["rackwright"]["bmcFault"] = fault("unreachable");
        assert_eq!(doubts(std::slice::from_ref(&well)), None);
        let told = doubts(&[well, blind.clone(), blind]).unwrap();
        assert_eq!(told, "`?` is as last seen: 2 BMCs tell nothing now; `rackwright status` says why");
    }
}
