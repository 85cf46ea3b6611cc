//! What hardware validation compares: told, not offered and not readable are three answers.

use fake::{Fake, SYSTEM, text};
use model::{PartHealth, SensorKind, Told};
use serde_json::{Value, json};

use crate::fake;

fn linked(path: &str) -> Value {
    json!({"@odata.id": path})
}

#[tokio::test]
async fn a_bmc_that_tells_of_its_system_alone_offers_nothing_else() {
    let fake = Fake::ordinary().holding(&[(SYSTEM, json!({"Model": "R750", "SerialNumber": "S1", "BiosVersion": "1.2.3"}))]);
    let seen = fake.bmc().observe_hardware().await.unwrap();
    assert_eq!((seen.system.model.as_deref(), seen.system.serial_number.as_deref()), (Some("R750"), Some("S1")));
    assert_eq!((seen.drives, seen.ports, seen.sensors), (Told::NotOffered, Told::NotOffered, Told::NotOffered));
    assert_eq!((seen.alarms, seen.boot, seen.license), (Told::NotOffered, Told::NotOffered, Told::NotOffered));
    assert_eq!(seen.firmware.told().unwrap()[0].version.as_deref(), Some("1.2.3"), "what it tells of itself is firmware, too");
}

#[tokio::test]
async fn a_part_that_cannot_be_read_costs_itself_alone_and_a_link_to_nowhere_offers_nothing() {
    let system = json!({"Storage": linked("/s"), "EthernetInterfaces": linked("/n"), "Links": {"Chassis": [linked("/c")]}});
    let fake = Fake::ordinary()
        .holding(&[(SYSTEM, system), ("/s", json!({"Members": [linked("/s/1")]}))])
        .on("GET /s/1", text(500, ""))
        .on("GET /c", text(503, ""));
    let seen = fake.bmc().observe_hardware().await.unwrap();
    assert!(matches!(seen.drives, Told::Unread(_)) && matches!(seen.sensors, Told::Unread(_)), "{seen:?}");
    assert_eq!(seen.ports, Told::NotOffered);
}

#[tokio::test]
async fn older_bmcs_tell_of_fans_and_supplies_in_two_documents() {
    let well = json!({"State": "Enabled", "Health": "OK"});
    let thermal = json!({"Fans": [{"FanName": "Fan1A", "Status": {"State": "Enabled", "Health": "Critical"}}],
        "Temperatures": [{"Name": "Inlet", "Status": well}, 5]});
    let power =
        json!({"PowerSupplies": [{"Name": "PS1", "Status": {"State": "Absent"}}], "Redundancy": [{"MemberId": "0", "Status": well}]});
    let fake = Fake::ordinary().holding(&[
        (SYSTEM, json!({"Links": {"Chassis": [linked("/c")]}, "MemorySummary": {"Status": {"HealthRollup": "Warning"}}})),
        ("/c", json!({"Thermal": linked("/c/t"), "Power": linked("/c/p"), "Sensors": linked("/c/s")})),
        ("/c/t", thermal),
        ("/c/p", power),
    ]);
    let seen = fake.bmc().observe_hardware().await.unwrap();
    let told: Vec<_> =
        seen.sensors.told().unwrap().iter().map(|one| (one.name.as_str(), one.kind, one.state.as_deref(), one.health)).collect();
    let expected = [
        ("Fan1A", SensorKind::Fan, Some("Enabled"), Some(PartHealth::Critical)),
        ("Inlet", SensorKind::Temperature, Some("Enabled"), Some(PartHealth::Ok)),
        ("PS1", SensorKind::PowerSupply, Some("Absent"), None),
        ("0", SensorKind::PowerSupply, Some("Enabled"), Some(PartHealth::Ok)),
        ("Memory", SensorKind::Memory, None, Some(PartHealth::Warning)),
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn the_logs_of_system_and_manager_are_read_whether_their_entries_are_links_or_not() {
    let fake = Fake::ordinary().holding(&[
        (SYSTEM, json!({"LogServices": linked("/l"), "Links": {"ManagedBy": [linked("/m")]}})),
        ("/m", json!({"LogServices": linked("/ml")})),
        ("/l", json!({"Members": [linked("/l/sel"), linked("/l/off")]})),
        ("/l/sel", json!({"Entries": linked("/l/sel/e")})),
        ("/l/off", json!({"ServiceEnabled": false, "Entries": linked("/l/off/e")})),
        ("/l/sel/e", json!({"Members": [entry("Critical", "2026-11-02"), entry("OK", "2026-11-03")]})),
        ("/ml", json!({"Members": [linked("/ml/1")]})),
        ("/ml/1", json!({"Entries": linked("/ml/1/e")})),
        ("/ml/1/e", json!({"Members": [linked("/ml/1/e/1"), linked("/ml/1/e/gone")]})),
        ("/ml/1/e/1", entry("Warning", "2026-11-04")),
    ]);
    let seen = fake.bmc().observe_hardware().await.unwrap();
    let told: Vec<_> = seen.alarms.told().unwrap().iter().map(|alarm| (alarm.health, alarm.created.as_deref().unwrap())).collect();
    assert_eq!(told, [(PartHealth::Warning, "2026-11-04"), (PartHealth::Critical, "2026-11-02")]);
}

fn entry(severity: &str, created: &str) -> Value {
    json!({"Severity": severity, "Message": format!("{severity}."), "Created": created})
}

/// A BMC whose manager tells the time, with one log.
fn with_log(documents: &[(&str, Value)]) -> Fake {
    let mut held = vec![
        (SYSTEM, json!({"Links": {"ManagedBy": [linked("/m")]}})),
        ("/m", json!({"LogServices": linked("/l"), "DateTime": "2026-11-15T10:00:00Z"})),
        ("/l", json!({"Members": [linked("/l/sel")]})),
        ("/l/sel", json!({"Entries": linked("/e")})),
    ];
    held.extend(documents.iter().cloned());
    Fake::ordinary().holding(&held)
}

#[tokio::test]
async fn a_log_that_has_the_oldest_first_is_read_to_its_end() {
    let fake = with_log(&[
        (
            "/e",
            json!({"Members": [entry("OK", "2026-11-01T00:00:00Z"), entry("OK", "2026-11-02T00:00:00Z")], "Members@odata.nextLink": "/e2"}),
        ),
        ("/e2", json!({"Members": [entry("Critical", "2026-11-15T09:00:00Z")]})),
    ]);
    let seen = fake.bmc().observe_hardware().await.unwrap();
    assert_eq!(seen.alarms.told().unwrap().len(), 1);
    assert_eq!((seen.log.clock.as_deref(), seen.log.unread), (Some("2026-11-15T10:00:00Z"), 0));
}

#[tokio::test]
async fn a_log_that_has_the_latest_first_is_read_for_a_day() {
    let fake = with_log(&[
        (
            "/e",
            json!({"Members": [entry("OK", "2026-11-15T09:00:00Z"), entry("OK", "2026-11-15T08:00:00Z")], "Members@odata.nextLink": "/e2"}),
        ),
        (
            "/e2",
            json!({"Members": [entry("Critical", "2026-11-15T07:00:00Z"), entry("OK", "2026-11-10T00:00:00Z")], "Members@odata.nextLink": "/e3"}),
        ),
        ("/e3", json!({"Members": [entry("Critical", "2026-11-09T00:00:00Z")]})),
    ]);
    let seen = fake.bmc().observe_hardware().await.unwrap();
    assert_eq!((seen.alarms.told().unwrap().len(), seen.log.unread), (1, 0));
}

#[tokio::test]
async fn what_of_a_log_cannot_be_read_is_counted() {
    let fake = with_log(&[
        ("/e", json!({"Members": [linked("/e/1"), linked("/e/gone")], "Members@odata.nextLink": "/lost"})),
        ("/e/1", entry("Warning", "2026-11-15T09:00:00Z")),
    ]);
    let seen = fake.bmc().observe_hardware().await.unwrap();
    assert_eq!((seen.alarms.told().unwrap().len(), seen.log.unread), (1, 2));
}

#[tokio::test]
async fn of_a_long_log_of_links_the_latest_are_read_wherever_they_stand() {
    let links: Vec<Value> = (0..80).map(|n| linked(&format!("/e/{n}"))).collect();
    let paths: Vec<String> = (0..80).map(|n| format!("/e/{n}")).collect();
    let entries = |n: usize| {
        if n == 79 {
            entry("Critical", "2026-11-15T09:00:00Z")
        } else {
            entry("OK", &format!("2026-10-01T{:02}:{:02}:00Z", n / 60, n % 60))
        }
    };
    let mut documents: Vec<(&str, Value)> = paths.iter().enumerate().map(|(n, path)| (path.as_str(), entries(n))).collect();
    documents.push(("/e", json!({"Members": links})));
    let seen = with_log(&documents).bmc().observe_hardware().await.unwrap();
    assert_eq!((seen.alarms.told().unwrap().len(), seen.log.unread), (1, 0));
}
