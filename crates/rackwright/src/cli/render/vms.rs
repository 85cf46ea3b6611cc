//! Virtual machines, as a table and one by one.

use std::collections::BTreeSet;

use serde_json::Value;

use super::clock::Clock;
use super::layout::{Fact, Table, facts};
use super::racks::{cluster_of, group_of};
use super::waits::wait_facts;
use crate::cli::answer::{field, field_or_dash, items, name_in_id, short_id, text_of};
use crate::cli::screen::{Sheet, Tone};

/// The resource group is shown only where there is more than one.
pub fn vm_table(vms: &[Value]) -> Table {
    let several_groups = vms.iter().map(group_of).collect::<BTreeSet<_>>().len() > 1;
    let mut headings = vec!["NAME", "MACHINE", "STATUS", "POWER", "CORES", "MEMORY", "OPERATION"];
    if several_groups {
        headings.insert(1, "GROUP");
    }
    let mut table = Table::new(&headings);
    for vm in vms {
        let mut cells = vec![
            field_or_dash(vm, "/name"),
            machine_of(vm),
            field_or_dash(vm, "/properties/detailedStatus"),
            field_or_dash(vm, "/properties/powerState"),
            field_or_dash(vm, "/properties/cpuCores"),
            format!("{} GB", field_or_dash(vm, "/properties/memorySizeGB")),
            operation_in(vm, "/rackwright/operation").unwrap_or_else(|| "-".to_owned()),
        ];
        if several_groups {
            cells.insert(1, group_of(vm));
        }
        table.row(tone(vm), cells);
    }
    table
}

pub fn vm_sheet(vm: &Value, clock: Clock) -> Sheet {
    let text = |pointer| field_or_dash(vm, pointer);
    let plain = |name, text: String| (Tone::Plain, name, text);
    let size = format!("{} cores, {} GB memory", text("/properties/cpuCores"), text("/properties/memorySizeGB"));
    let disk = vm.pointer("/properties/storageProfile/osDisk").unwrap_or(&Value::Null);
    let disk = format!("{} GB, {}", field_or_dash(disk, "/diskSizeGB"), field_or_dash(disk, "/createOption").to_lowercase());
    let seen = field(vm, "/rackwright/seenAt").map(|_| format!(", since {}", clock.time(vm, "/rackwright/seenAt"))).unwrap_or_default();
    let status = format!("{}: {}{seen}", text("/properties/detailedStatus"), text("/properties/detailedStatusMessage"));
    let mut lines = vec![
        (Tone::Strong, "virtual machine", text("/name")),
        plain("machine", machine_of(vm)),
        plain("cluster", format!("{}, resource group {}", cluster_of(vm), group_of(vm))),
        plain("size", size),
        plain("image", text("/properties/vmImage")),
        plain("disk", disk),
        (tone(vm), "status", status),
        plain("power", text("/properties/powerState")),
        plain("provisioning", text("/properties/provisioningState")),
    ];
    lines.extend(hints(vm));
    lines.extend(tags_of(vm));
    if let Some(running) = operation_in(vm, "/rackwright/operation") {
        let caller = text("/rackwright/operation/caller");
        lines.push((Tone::Notice, "running", format!("{running} by {caller}, since {}", clock.time(vm, "/rackwright/operation/since"))));
    }
    lines.extend(items(vm, "/rackwright/waits").iter().flat_map(|wait| wait_facts(wait, clock)));
    facts(&lines)
}

/// `AntiAffinity to fw2 in the same rack, hard`.
fn hints(vm: &Value) -> Vec<Fact<'static>> {
    let hints = items(vm, "/properties/placementHints").iter();
    hints
        .map(|hint| {
            let target = field_or_dash(hint, "/resourceId");
            let line = format!(
                "{} to {}, {} for each {}",
                field_or_dash(hint, "/hintType"),
                name_in_id(&target),
                field_or_dash(hint, "/schedulingExecution").to_lowercase(),
                field_or_dash(hint, "/scope").to_lowercase(),
            );
            (Tone::Plain, "placed by", line)
        })
        .collect()
}

/// The tags that people have given it, if any.
pub fn tags_of(resource: &Value) -> Option<Fact<'static>> {
    let tags = resource.get("tags").and_then(Value::as_object).into_iter().flatten();
    let tags: Vec<String> = tags.filter_map(|(key, value)| Some(format!("{}={}", text_of(key), text_of(value.as_str()?)))).collect();
    (!tags.is_empty()).then(|| (Tone::Plain, "tags", tags.join(", ")))
}

/// `restart 8f3c1a2b`, if something is at work there.
pub fn operation_in(resource: &Value, pointer: &str) -> Option<String> {
    let operation = resource.pointer(pointer).filter(|operation| operation.is_object())?;
    Some(format!("{} {}", field_or_dash(operation, "/action"), short_id(&field_or_dash(operation, "/id"))))
}

fn machine_of(vm: &Value) -> String {
    name_in_id(&field_or_dash(vm, "/properties/bareMetalMachineId")).to_owned()
}

fn tone(vm: &Value) -> Tone {
    match vm["properties"]["detailedStatus"].as_str() {
        Some("Error" | "Unknown") => Tone::Alarm,
        _ if vm["rackwright"]["operation"].is_object() => Tone::Notice,
        Some("Scheduling" | "Provisioning" | "Terminating") => Tone::Notice,
        _ => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixtures;
    use expect_test::expect;

    #[test]
    fn virtual_machines_show_where_they_are_and_who_is_at_work() {
        let mut stopped = fixtures::vm("fw2");
        stopped["properties"]["detailedStatus"] = "Stopped".into();
        stopped["properties"]["powerState"] = "Off".into();
        stopped["rackwright"]["operation"] = Value::Null;
        expect![[r#"
            NAME         MACHINE         STATUS   POWER  CORES  MEMORY  OPERATION
            firewallvnf  rack1compute01  Running  On     4      8 GB    restart 8f3c1a2b
            fw2          rack1compute01  Stopped  Off    4      8 GB    -
        "#]]
        .assert_eq(&vm_table(&[fixtures::vm("firewallvnf"), stopped]).plain());
    }

    #[test]
    fn one_virtual_machine_tells_what_it_is_and_what_it_waits_for() {
        expect![[r#"
            virtual machine  firewallvnf
            machine          rack1compute01
            cluster          cluster1, resource group site1
            size             4 cores, 8 GB memory
            image            registry/fw:1
            disk             20 GB, persistent
            status           Running: running, since 2026-11-14 14:00:00Z
            power            On
            provisioning     Succeeded
            placed by        AntiAffinity to rack2compute01, hard for each rack
            tags             owner=net
            running          restart 8f3c1a2b by alice, since 2026-11-14 14:02:10Z
        "#]]
        .assert_eq(&vm_sheet(&fixtures::vm("firewallvnf"), Clock::at(fixtures::NOW)).plain());
    }
}
