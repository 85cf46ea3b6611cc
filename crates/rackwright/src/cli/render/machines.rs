//! Machines as a table.

use std::collections::BTreeSet;

use serde_json::Value;

use super::layout::Table;
use super::operations::{is_on, percent};
use super::racks::group_of;
use super::role::role;
use super::sight;
use crate::cli::answer::{field, field_or_dash, name_in_id, short_id};
use crate::cli::screen::Tone;

/// The resource group is shown only where there is more than one.
pub fn machine_table(machines: &[Value], running: &[Value]) -> Table {
    let several_groups = machines.iter().map(group_of).collect::<BTreeSet<_>>().len() > 1;
    let mut headings = vec!["NAME", "RACK", "ROLE", "POWER", "READY", "CORDON", "STATUS", "OPERATION"];
    if several_groups {
        headings.insert(1, "GROUP");
    }
    let mut table = Table::new(&headings);
    for machine in machines {
        let operation = running.iter().find(|operation| is_on(operation, machine));
        let mut cells = vec![
            field_or_dash(machine, "/name"),
            rack_of(machine),
            role(machine),
            sight::power(machine),
            sight::ready(machine),
            cordon(machine),
            status(machine),
            operation.map_or_else(|| "-".to_owned(), brief),
        ];
        if several_groups {
            cells.insert(1, group_of(machine));
        }
        table.row(tone(machine, operation.is_some()), cells);
    }
    table
}

/// A machine that works, but not as well as it should, says so in its message.
fn status(machine: &Value) -> String {
    let status = field_or_dash(machine, "/properties/detailedStatus");
    if is_degraded(machine) { format!("{status}, degraded") } else { status }
}

pub fn is_degraded(machine: &Value) -> bool {
    field(machine, "/properties/detailedStatusMessage").is_some_and(|message| message.contains("Degraded: "))
}

pub fn rack_of(machine: &Value) -> String {
    name_in_id(&field_or_dash(machine, "/properties/rackId")).to_owned()
}

fn cordon(machine: &Value) -> String {
    match field(machine, "/properties/cordonStatus").as_deref() {
        Some("Cordoned") => "cordoned".to_owned(),
        Some("Uncordoned") => "-".to_owned(),
        other => other.unwrap_or("-").to_owned(),
    }
}

/// `restart 8f3c1a2b 30%`.
fn brief(operation: &Value) -> String {
    let id = field_or_dash(operation, "/id");
    format!("{} {} {}", field_or_dash(operation, "/action"), short_id(&id), percent(operation))
}

/// A machine that should be ready and is not stands out, and so does one that cannot be looked at, unless an operation is
/// at work on it; one that works, but is degraded, is to be noticed.
fn tone(machine: &Value, operated: bool) -> Tone {
    let is = |pointer, text: &str| field(machine, pointer).as_deref() == Some(text);
    let provisioned = is("/properties/detailedStatus", "Provisioned");
    if operated || is("/properties/cordonStatus", "Cordoned") || (is_degraded(machine) && is("/properties/readyState", "True")) {
        Tone::Notice
    } else if sight::is_bmc_blind(machine)
        || is("/properties/detailedStatus", "Error")
        || (provisioned && !is("/properties/readyState", "True"))
    {
        Tone::Alarm
    } else {
        Tone::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixtures;
    use expect_test::expect;

    #[test]
    fn machines_in_one_group_need_no_group() {
        let machines = [
            fixtures::machine("site1", "rack1control01", "control-plane"),
            fixtures::machine_under_restart(),
            fixtures::spare("site1", "rack4control01"),
        ];
        expect![[r#"
            NAME            RACK   ROLE                   POWER    READY  CORDON    STATUS       OPERATION
            rack1control01  rack1  control plane          On       yes    -         Provisioned  -
            rack1compute01  rack1  compute                On       yes    cordoned  Provisioned  restart 8f3c1a2b 30%
            rack4control01  rack1  control plane (spare)  Unknown  no     -         Available    -
        "#]]
        .assert_eq(&machine_table(&machines, &[fixtures::running_restart()]).plain());
    }

    #[test]
    fn a_degraded_machine_is_listed_as_such() {
        let mut machine = fixtures::machine("site1", "rack1compute01", "compute-plane");
        machine["properties"]["detailedStatusMessage"] = "The OS is provisioned to the machine. Degraded: port down".into();
        expect![[r#"
            NAME            RACK   ROLE     POWER  READY  CORDON  STATUS                 OPERATION
            rack1compute01  rack1  compute  On     yes    -       Provisioned, degraded  -
        "#]]
        .assert_eq(&machine_table(&[machine], &[]).plain());
    }

    #[test]
    fn machines_in_several_groups_name_theirs() {
        let machines =
            [fixtures::machine("site1", "rack1compute01", "compute-plane"), fixtures::machine("site2", "rack1compute01", "compute-plane")];
        expect![[r#"
            NAME            GROUP  RACK   ROLE     POWER  READY  CORDON  STATUS       OPERATION
            rack1compute01  site1  rack1  compute  On     yes    -       Provisioned  -
            rack1compute01  site2  rack1  compute  On     yes    -       Provisioned  -
        "#]]
        .assert_eq(&machine_table(&machines, &[]).plain());
    }
}
