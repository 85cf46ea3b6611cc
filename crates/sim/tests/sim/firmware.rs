//! Firmware updates and restarts of the BMC, over HTTP.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use sim::Vendor;

use crate::harness::{Harness, Reply, pass, send};
use crate::peers::VENDORS;

const INVENTORY: &str = "/redfish/v1/UpdateService/FirmwareInventory";

async fn update(harness: &Harness, machine: &str, body: &Value) -> Reply {
    harness.post(machine, "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate", body).await
}

async fn version(harness: &Harness, machine: &str, part: &str) -> Value {
    harness.read(machine, INVENTORY).await;
    harness.read(machine, &format!("{INVENTORY}/{part}")).await["Version"].clone()
}

#[tokio::test(start_paused = true)]
async fn an_update_changes_the_version_when_its_task_completes() {
    let harness = Harness::start().await;
    for vendor in VENDORS {
        let machine = harness.of(vendor);
        let begun = update(&harness, &machine, &json!({"ImageURI": "http://images/bios-9.1.bin", "TransferProtocol": "HTTP"})).await;
        assert_eq!(begun.status, StatusCode::ACCEPTED, "{}", begun.body);
        let second = update(&harness, &machine, &json!({"ImageURI": "http://images/nic-1.0.bin"})).await;
        assert_eq!(second.status, StatusCode::SERVICE_UNAVAILABLE, "one at a time");
        pass(479).await;
        assert_ne!(version(&harness, &machine, "BIOS").await, "9.1");
        pass(1).await;
        assert_eq!(version(&harness, &machine, "BIOS").await, "9.1", "{vendor:?}");
        let task = harness.read(&machine, begun.body["@odata.id"].as_str().unwrap()).await;
        assert_eq!((&task["TaskState"], &task["PercentComplete"]), (&json!("Completed"), &json!(100)));
        assert_eq!(harness.read(&machine, &harness.system_path(&machine).await).await["BiosVersion"], "9.1");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wrong_image_fails_its_task_and_a_bad_request_starts_none() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Dell);
    let image = "http://images/bios-9.1.bin";
    let begun = update(&harness, &machine, &json!({"ImageURI": image, "Targets": [format!("{INVENTORY}/NIC")]})).await;
    assert_eq!(begun.status, StatusCode::ACCEPTED);
    pass(480).await;
    let task = harness.read(&machine, begun.body["@odata.id"].as_str().unwrap()).await;
    assert_eq!((&task["TaskState"], &task["TaskStatus"]), (&json!("Exception"), &json!("Critical")));
    assert!(task["Messages"][0]["Message"].as_str().unwrap().contains(image));
    assert_eq!(harness.bmc(&machine, "GET", begun.headers["location"].to_str().unwrap(), "").await.status, StatusCode::BAD_REQUEST);
    let bad = [
        json!({}),
        json!({"ImageURI": "bios-9.1.bin"}),
        json!({"ImageURI": image, "TransferProtocol": "SCP"}),
        json!({"ImageURI": image, "Targets": "BIOS"}),
        json!({"ImageURI": image, "Targets": [format!("{INVENTORY}/GPU")]}),
        json!({"ImageURI": image, "Targets": [format!("{INVENTORY}/NIC"), format!("{INVENTORY}/BIOS")]}),
    ];
    for body in bad {
        assert_eq!(update(&harness, &machine, &body).await.status, StatusCode::BAD_REQUEST, "{body}");
    }
    assert_eq!(harness.read(&machine, "/redfish/v1/TaskService/Tasks").await["Members@odata.count"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_new_bmc_firmware_restarts_the_bmc_and_some_forget_the_task() {
    let harness = Harness::start().await;
    for vendor in VENDORS {
        let machine = harness.of(vendor);
        let begun = update(&harness, &machine, &json!({"ImageURI": "https://images/bmc-99.0.bin"})).await;
        let task = begun.body["@odata.id"].as_str().unwrap().to_owned();
        pass(480).await;
        assert!(!harness.answers(&machine).await, "{vendor:?}");
        pass(180).await;
        assert_eq!(version(&harness, &machine, "BMC").await, "99.0", "{vendor:?}");
        let found = harness.bmc(&machine, "GET", &task, "").await.status;
        assert_eq!(found, if vendor == Vendor::Hpe { StatusCode::NOT_FOUND } else { StatusCode::OK }, "{vendor:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_bmc_that_restarts_is_away_for_minutes_and_forgets_its_sessions() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Lenovo);
    let spec = harness.machine(&machine);
    let router = || harness.site.redfish(&machine).unwrap();
    let login = json!({"UserName": spec.bmc_user, "Password": spec.bmc_password}).to_string();
    let opened = send(router(), "POST", "/redfish/v1/SessionService/Sessions", &[], &login).await;
    let token = opened.headers["x-auth-token"].to_str().unwrap();
    let action = "/redfish/v1/Managers/1/Actions/Manager.Reset";
    assert_eq!(harness.post(&machine, action, &json!({"ResetType": "PowerCycle"})).await.status, StatusCode::BAD_REQUEST);
    assert_eq!(harness.post(&machine, action, &json!({"ResetType": "GracefulRestart"})).await.status, StatusCode::NO_CONTENT);
    assert!(!harness.answers(&machine).await);
    pass(179).await;
    assert!(!harness.answers(&machine).await);
    pass(1).await;
    assert!(harness.answers(&machine).await);
    let lost = send(router(), "GET", "/redfish/v1/Systems", &[("x-auth-token", token)], "").await;
    assert_eq!(lost.status, StatusCode::UNAUTHORIZED);
    assert_eq!(harness.power(&machine).await, "On", "the machine does not notice");
}

#[tokio::test(start_paused = true)]
async fn an_update_goes_on_after_a_crash_of_the_simulator() {
    let mut harness = Harness::start().await;
    let machine = harness.of(Vendor::Dell);
    let begun = update(&harness, &machine, &json!({"ImageURI": "http://images/raid-1.2.bin"})).await;
    let task = begun.body["@odata.id"].as_str().unwrap().to_owned();
    pass(240).await;
    harness.stop().await;
    let harness = harness.crash_and_reopen(Duration::from_secs(8 * 3_600)).await;
    assert_eq!(harness.read(&machine, &task).await["PercentComplete"], 50);
    pass(240).await;
    assert_eq!(harness.read(&machine, &task).await["TaskState"], "Completed");
    assert_eq!(version(&harness, &machine, "RAID").await, "1.2");
}
