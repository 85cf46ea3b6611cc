//! One machine: what it is, how it is, who holds it, and what it waits for.

use serde_json::Value;

use super::clock::Clock;
use super::inventory::inventory;
use super::layout::{Fact, facts};
use super::machines::rack_of;
use super::operations::{current_step, is_on, percent};
use super::racks::{cluster_of, group_of};
use super::role::role;
use super::sight;
use super::waits::wait_facts;
use crate::cli::answer::{command_of, field, field_or_dash, is_true, items, name_in_id, segment_after, short_id, text_of};
use crate::cli::screen::{Sheet, Tone};

/// `running` are the operations that run now, on this machine or on others.
pub fn machine_sheet(machine: &Value, running: &[Value], clock: Clock) -> Sheet {
    let mut lines = identity(machine);
    lines.extend(condition(machine, clock));
    lines.extend(workloads(machine));
    lines.extend(holds(machine, clock));
    lines.extend(evacuated(machine, clock));
    lines.push(management(machine, clock));
    lines.extend(running.iter().filter(|operation| is_on(operation, machine)).map(at_work));
    lines.extend(items(machine, "/rackwright/waits").iter().flat_map(|wait| wait_facts(wait, clock)));
    lines.extend(last_actions(machine, clock));
    facts(&lines)
}

fn identity(machine: &Value) -> Vec<Fact<'static>> {
    let text = |pointer| field_or_dash(machine, pointer);
    let place = format!("{}, slot {}", rack_of(machine), text("/properties/rackSlot"));
    let mut lines = vec![
        (Tone::Strong, "machine", text("/name")),
        (Tone::Plain, "role", role(machine)),
        (Tone::Plain, "rack", place),
        (Tone::Plain, "cluster", format!("{}, resource group {}", cluster_of(machine), group_of(machine))),
        (Tone::Plain, "hardware", format!("{}, serial {}", text("/properties/machineSkuId"), text("/properties/serialNumber"))),
        (Tone::Plain, "bmc", text("/properties/bmcConnectionString")),
    ];
    if let Some(node) = field(machine, "/properties/kubernetesNodeName") {
        let address = field(machine, "/properties/oamIpv4Address").map(|address| format!(", {address}")).unwrap_or_default();
        lines.push((Tone::Plain, "node", format!("{node}, kubelet {}{address}", text("/properties/kubernetesVersion"))));
    }
    if let Some(version) = field(machine, "/rackwright/installed/version") {
        lines.push((Tone::Plain, "runtime", format!("{version}, from us")));
    }
    lines.extend(written(machine));
    lines
}

/// What people have written on it, if anything.
fn written(machine: &Value) -> Vec<Fact<'static>> {
    let tags = machine.get("tags").and_then(Value::as_object).into_iter().flatten();
    let tags: Vec<String> = tags.filter_map(|(key, value)| Some(format!("{}={}", text_of(key), text_of(value.as_str()?)))).collect();
    let details = field(machine, "/properties/machineDetails").unwrap_or_default();
    let lines = [(Tone::Plain, "tags", tags.join(", ")), (Tone::Plain, "details", details)];
    lines.into_iter().filter(|(_, _, text)| !text.is_empty()).collect()
}

fn condition(machine: &Value, clock: Clock) -> Vec<Fact<'static>> {
    let status = format!(
        "{}: {}",
        field_or_dash(machine, "/properties/detailedStatus"),
        field_or_dash(machine, "/properties/detailedStatusMessage")
    );
    let mut lines = vec![
        (Tone::Plain, "status", status),
        (Tone::Plain, "power", sight::power_in_full(machine, clock)),
        (Tone::Plain, "ready", sight::ready_in_full(machine, clock)),
    ];
    if let Some(fault) = field(machine, "/rackwright/bmcFault/fault") {
        lines.push((Tone::Alarm, "bmc fault", format!("{fault}, since {}", clock.time(machine, "/rackwright/bmcFault/since"))));
    }
    lines.extend(hardware(machine, clock));
    lines.extend(inventory(machine, clock));
    lines.extend(items(machine, "/rackwright/problems").iter().map(|problem| {
        let since = field(problem, "/since").map(|_| format!(", since {}", clock.time(problem, "/since"))).unwrap_or_default();
        (Tone::Alarm, "problem", format!("{}{since}", field_or_dash(problem, "/message")))
    }));
    lines
}

/// What was found of its hardware, as far as anybody has looked.
fn hardware(machine: &Value, clock: Clock) -> Vec<Fact<'static>> {
    let mut lines = Vec::new();
    if let Some(because) = field(machine, "/rackwright/unhealthy/because") {
        let since = clock.time(machine, "/rackwright/unhealthy/since");
        lines.push((Tone::Alarm, "given up", format!("since {since}: {because}; only a replace brings it back")));
    }
    if let Some(result) = field(machine, "/properties/hardwareValidationStatus/result") {
        let tone = if result == "Fail" { Tone::Alarm } else { Tone::Plain };
        let at = clock.time(machine, "/properties/hardwareValidationStatus/lastValidationTime");
        lines.push((tone, "validated", format!("{result}, at {at}")));
    }
    lines
}

/// The virtual machines and tenants' clusters that are on it, if any.
fn workloads(machine: &Value) -> Vec<Fact<'static>> {
    let ids: Vec<&str> = items(machine, "/properties/associatedResourceIds").iter().filter_map(Value::as_str).collect();
    let of = |collection: &str| {
        let names = ids.iter().filter_map(|id| segment_after(id, collection)).map(text_of);
        names.collect::<Vec<_>>().join(", ")
    };
    let lines = [(Tone::Plain, "vms", of("virtualMachines")), (Tone::Plain, "tenants", of("kubernetesClusters"))];
    lines.into_iter().filter(|(_, _, names)| !names.is_empty()).collect()
}

/// What was stopped and cordoned to empty it, and waits to come back.
fn evacuated(machine: &Value, clock: Clock) -> Option<Fact<'static>> {
    let emptied = machine.pointer("/rackwright/evacuated").filter(|emptied| emptied.is_object())?;
    // A tenant node and its virtual machine have one name, and come back as one.
    let is_node = |name: &str| items(emptied, "/nodes").iter().any(|node| node["node"] == name);
    let vms = items(emptied, "/virtualMachines").iter().filter_map(Value::as_str).filter(|name| !is_node(name));
    let vms: Vec<String> = vms.map(text_of).collect();
    let node = |node: &Value| format!("{}/{}", field_or_dash(node, "/cluster"), field_or_dash(node, "/node"));
    let nodes: Vec<String> = items(emptied, "/nodes").iter().map(node).collect();
    let text = format!("since {}; to come back: {}", clock.time(emptied, "/since"), [vms, nodes].concat().join(", "));
    Some((Tone::Notice, "evacuated", text))
}

fn holds(machine: &Value, clock: Clock) -> Vec<Fact<'static>> {
    let holds = items(machine, "/rackwright/holds");
    let cordoned = field(machine, "/properties/cordonStatus").as_deref() == Some("Cordoned");
    let cordon = match (cordoned, is_true(machine, "/rackwright/cordonedByOthers")) {
        (true, true) => (Tone::Notice, "cordon", "cordoned, not through Rackwright".to_owned()),
        (true, false) => (Tone::Notice, "cordon", "cordoned".to_owned()),
        (false, _) => (Tone::Plain, "cordon", "none".to_owned()),
    };
    let held = holds.iter().map(|hold| {
        let text = format!("{}: {}, since {}", field_or_dash(hold, "/owner"), field_or_dash(hold, "/reason"), clock.time(hold, "/since"));
        (Tone::Plain, "held by", text)
    });
    std::iter::once(cordon).chain(held).collect()
}

fn management(machine: &Value, clock: Clock) -> Fact<'static> {
    if is_true(machine, "/rackwright/managed") {
        return (Tone::Plain, "managed", format!("yes{}", managed_again(machine, clock)));
    }
    let text = format!(
        "no: {} since {} ({}); it is observed, but nothing is sent to it",
        field_or_dash(machine, "/rackwright/unmanagedReason/by"),
        clock.time(machine, "/rackwright/unmanagedReason/since"),
        field_or_dash(machine, "/rackwright/unmanagedReason/reason"),
    );
    (Tone::Notice, "managed", text)
}

/// Who let it be managed again, if it was not always.
fn managed_again(machine: &Value, clock: Clock) -> String {
    let Some(reason) = field(machine, "/rackwright/managedAgain/reason") else { return String::new() };
    let by = field_or_dash(machine, "/rackwright/managedAgain/by");
    format!(", again since {} by {by}: {reason}", clock.time(machine, "/rackwright/managedAgain/at"))
}

fn at_work(operation: &Value) -> Fact<'static> {
    let step = current_step(operation).map(|step| format!(", {step}")).unwrap_or_default();
    let id = field_or_dash(operation, "/id");
    let text = format!(
        "{} (operation {}) by {}, {}{step}",
        field_or_dash(operation, "/action"),
        short_id(&id),
        field_or_dash(operation, "/caller"),
        percent(operation)
    );
    (Tone::Notice, "running", text)
}

/// The latest action of each kind that has ended, as the resource itself remembers them.
fn last_actions(machine: &Value, clock: Clock) -> Vec<Fact<'static>> {
    let ended = items(machine, "/properties/actionStates").iter().filter(|state| state["status"] != "InProgress");
    ended
        .map(|state| {
            let action_type = field_or_dash(state, "/actionType");
            let command = command_of(name_in_id(action_type.trim_end_matches("/action")));
            // The model knows no cancelled action, so the server says it beside the model.
            let (tone, how) = match (state["result"].as_str(), state["status"].as_str()) {
                (Some("Canceled"), _) => (Tone::Notice, "cancelled"),
                (_, Some("Failed")) => (Tone::Alarm, "FAILED"),
                _ => (Tone::Plain, "completed"),
            };
            let text = format!(
                "{command} {how} at {}, took {}: {}",
                clock.time(state, "/endTime"),
                clock.took(state, "/startTime", "/endTime"),
                field_or_dash(state, "/message"),
            );
            (tone, "last", text)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixtures;
    use expect_test::expect;

    #[test]
    fn what_was_found_of_the_hardware_is_told() {
        let machine = serde_json::json!({
            "properties": { "hardwareValidationStatus": { "result": "Fail", "lastValidationTime": "2026-11-15T14:02:10.000Z" } },
            "rackwright": { "unhealthy": { "since": "2026-11-15T14:02:10.000Z", "because": "cpu_sockets: 1 instead of 2" } },
        });
        expect![[r#"
            given up   since 14:02:10Z: cpu_sockets: 1 instead of 2; only a replace brings it back
            validated  Fail, at 14:02:10Z
        "#]]
        .assert_eq(&facts(&hardware(&machine, Clock::at(fixtures::NOW))).plain());
    }

    #[test]
    fn a_machine_under_an_operation_tells_who_holds_it_and_what_it_waits_for() {
        let clock = Clock::at(fixtures::NOW);
        expect![[r#"
            machine    rack1compute01
            role       compute
            rack       rack1, slot 4
            cluster    cluster1, resource group site1
            hardware   Dell-R750, serial SN0104
            bmc        redfish+http://127.0.0.1:7201
            node       rack1compute01, kubelet v1.33.1, 10.0.1.11
            status     Provisioned: The OS is provisioned to the machine.
            power      On since 2026-11-14 09:00:00Z
            ready      yes
            cordon     cordoned
            held by    operation 8f3c1a2b: being restarted, since 14:02:10Z
            held by    alice: cordoned by a person, since 12:00:00Z
            managed    yes
            running    restart (operation 8f3c1a2b) by alice, 30%, Power Off
            waits for  the effect of the graceful shutdown, since 14:02:12Z, LATE, expected by 14:02:52Z
                       ends when the machine is seen off; its power is cut if the shutdown takes too long
            last       power-off FAILED at 13:40:00Z, took 40m 00s: power-off failed: Power Off did not end in time
        "#]]
        .assert_eq(&machine_sheet(&fixtures::machine_under_restart(), &[fixtures::running_restart()], clock).plain());
    }

    #[test]
    fn an_unmanaged_machine_tells_who_why_and_since_when() {
        let clock = Clock::at(fixtures::NOW);
        expect![[r#"
            machine    rack1compute02
            role       compute
            rack       rack1, slot 4
            cluster    cluster1, resource group site1
            hardware   Dell-R750, serial SN0104
            bmc        redfish+http://127.0.0.1:7201
            node       rack1compute02, kubelet v1.33.1, 10.0.1.11
            status     Provisioned: The OS is provisioned to the machine.
            power      On, last seen 11:04:50Z (the BMC does not answer since 11:05:00Z)
            ready      yes
            bmc fault  unreachable: GET /redfish/v1/Systems/1: no connection (connection refused), since 11:05:00Z
            cordon     none
            managed    no: bob since 11:00:00Z (firmware by hand); it is observed, but nothing is sent to it
            waits for  a person: unmanaged, since 11:00:00Z
                       ends when a person lets it be managed again
        "#]]
        .assert_eq(&machine_sheet(&fixtures::unmanaged(), &[], clock).plain());
    }

    #[test]
    fn a_degraded_machine_tells_what_its_node_has_found() {
        let mut machine = fixtures::machine("site1", "rack1compute01", "compute-plane");
        let problem =
            serde_json::json!({"kind": "portDown", "message": "Physical link(s) down: 4b_p1", "since": "2026-11-15T13:00:00.000Z"});
        machine["rackwright"]["problems"] = serde_json::json!([problem]);
        let sheet = machine_sheet(&machine, &[], Clock::at(fixtures::NOW)).plain();
        let line = sheet.lines().find(|line| line.starts_with("problem")).unwrap();
        assert_eq!(line, "problem   Physical link(s) down: 4b_p1, since 13:00:00Z");
    }

    #[test]
    fn a_machine_that_is_managed_again_tells_who_let_it_and_why() {
        let sheet = machine_sheet(&fixtures::managed_again(), &[], Clock::at(fixtures::NOW)).plain();
        let line = sheet.lines().find(|line| line.starts_with("managed")).unwrap();
        assert_eq!(line, "managed   yes, again since 12:30:00Z by bob: fan replaced");
    }

    #[test]
    fn the_spare_says_so() {
        let clock = Clock::at(fixtures::NOW);
        expect![[r#"
            machine   rack4control01
            role      control plane (spare)
            rack      rack1, slot 4
            cluster   cluster1, resource group site1
            hardware  Dell-R750, serial SN0104
            bmc       redfish+http://127.0.0.1:7201
            status    Available: Available to participate in the cluster.
            power     Unknown
            ready     no
            cordon    none
            managed   yes
        "#]]
        .assert_eq(&machine_sheet(&fixtures::spare("site1", "rack4control01"), &[], clock).plain());
    }

    #[test]
    fn what_is_on_it_and_what_waits_to_come_back_is_named() {
        let mut machine = fixtures::machine("site1", "rack1compute01", "compute-plane");
        let provider = "/subscriptions/s1/resourceGroups/site1/providers/Microsoft.NetworkCloud";
        let ids = ["kubernetesClusters/naks-01", "virtualMachines/fw1", "virtualMachines/fw2"].map(|id| format!("{provider}/{id}"));
        machine["properties"]["associatedResourceIds"] = serde_json::json!(ids);
        let nodes = serde_json::json!([{ "cluster": "naks-01", "node": "n1" }]);
        let emptied = serde_json::json!({ "since": "2026-11-14T14:00:00.000Z", "virtualMachines": ["fw1", "n1"], "nodes": nodes });
        machine["rackwright"]["evacuated"] = emptied;
        let sheet = machine_sheet(&machine, &[], Clock::at(fixtures::NOW)).plain();
        for line in ["vms        fw1, fw2\n", "tenants    naks-01\n", "to come back: fw1, naks-01/n1\n"] {
            assert!(sheet.contains(line), "{sheet}");
        }
    }

    #[test]
    fn what_people_wrote_on_it_is_shown() {
        let mut machine = fixtures::machine("site1", "rack1compute01", "compute-plane");
        machine["tags"] = serde_json::json!({ "owner": "core", "odd": 1 });
        machine["properties"]["machineDetails"] = "asset 4711".into();
        let sheet = machine_sheet(&machine, &[], Clock::at(fixtures::NOW)).plain();
        assert!(sheet.contains("tags      owner=core\n") && sheet.contains("details   asset 4711\n"), "{sheet}");
    }
}
