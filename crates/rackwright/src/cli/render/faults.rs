//! Faults of a simulated site: those there are, and those there could be.

use serde_json::Value;

use super::clock::Clock;
use super::layout::Table;
use crate::cli::answer::{field, field_or_dash};
use crate::cli::screen::Tone;

pub fn fault_table(faults: &[Value], clock: Clock) -> Table {
    let mut table = Table::new(&["ID", "SITE", "KIND", "TARGET", "NUMBER", "STATE", "SINCE", "UNTIL"]);
    for fault in faults {
        let is_active = fault["state"] == "Active";
        table.row(
            if is_active { Tone::Alarm } else { Tone::Notice },
            [
                field_or_dash(fault, "/id"),
                field_or_dash(fault, "/site"),
                field_or_dash(fault, "/kind"),
                field_or_dash(fault, "/target"),
                field_or_dash(fault, "/setting"),
                field_or_dash(fault, "/state"),
                clock.time(fault, "/since"),
                field(fault, "/until").map_or_else(|| "it is cleared".to_owned(), |_| clock.time(fault, "/until")),
            ],
        );
    }
    table
}

/// A machine whose parts were exchanged, with what it is called now.
pub fn swap_table(swapped: &Value) -> Table {
    let mut table = Table::new(&["MACHINE", "SERIAL", "BMC MAC", "BOOT MAC"]);
    table.row(Tone::Plain, ["/machine", "/serialNumber", "/bmcMac", "/bootMac"].map(|field| field_or_dash(swapped, field)));
    table
}

pub fn fault_kind_table(kinds: &[Value]) -> Table {
    let mut table = Table::new(&["KIND", "TARGET", "NUMBER", "WHAT IT DOES"]);
    for kind in kinds {
        let number = match field(kind, "/setting/name") {
            Some(name) => format!("--{name} {}", field_or_dash(kind, "/setting/default")),
            None => "-".to_owned(),
        };
        let cells = [field_or_dash(kind, "/kind"), field_or_dash(kind, "/target"), number, field_or_dash(kind, "/about")];
        table.row(Tone::Plain, cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn faults_tell_since_when_and_until_when() {
        let faults = [
            json!({"id": "f1", "site": "site1", "kind": "bmc-slow", "target": "rack1compute01", "setting": "ms=5000", "state": "Active",
                   "since": "2026-11-15T14:00:00Z", "until": "2026-11-15T14:10:00Z"}),
            json!({"id": "f2", "site": "site1", "kind": "api-down", "target": "api", "setting": null, "state": "Planned",
                   "since": "2026-11-15T15:00:00Z", "until": null}),
        ];
        expect![[r#"
            ID  SITE   KIND      TARGET          NUMBER   STATE    SINCE      UNTIL
            f1  site1  bmc-slow  rack1compute01  ms=5000  Active   14:00:00Z  14:10:00Z
            f2  site1  api-down  api             -        Planned  15:00:00Z  it is cleared
        "#]]
        .assert_eq(&fault_table(&faults, Clock::at("2026-11-15T14:05:00Z")).plain());
    }

    #[test]
    fn a_kind_tells_its_flag_with_what_it_is_if_nobody_says() {
        let kinds = [
            json!({"kind": "bmc-slow", "target": "machine", "setting": {"name": "ms", "default": 5000}, "about": "it is slow"}),
            json!({"kind": "api-down", "target": "api", "setting": null, "about": "it is down"}),
        ];
        expect![[r#"
            KIND      TARGET   NUMBER     WHAT IT DOES
            bmc-slow  machine  --ms 5000  it is slow
            api-down  api      -          it is down
        "#]]
        .assert_eq(&fault_kind_table(&kinds).plain());
    }
}
