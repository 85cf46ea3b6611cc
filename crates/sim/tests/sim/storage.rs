//! Volumes over HTTP: they come and go by tasks.

use http::StatusCode;
use serde_json::{Value, json};
use sim::Vendor;

use crate::harness::{Harness, pass};
use crate::peers::VENDORS;

async fn storage(harness: &Harness, machine: &str) -> String {
    let list = harness.read(machine, &format!("{}/Storage", harness.system_path(machine).await)).await;
    list["Members"][0]["@odata.id"].as_str().unwrap().to_owned()
}

fn volume(level: &str, drives: &[Value]) -> Value {
    json!({"Name": "New", "RAIDType": level, "Links": {"Drives": drives}})
}

#[tokio::test(start_paused = true)]
async fn a_machine_comes_with_a_mirror_for_its_system_and_mirrors_for_data() {
    let harness = Harness::start().await;
    for vendor in VENDORS {
        let machine = harness.of(vendor);
        let storage = storage(&harness, &machine).await;
        let volumes = harness.read(&machine, &format!("{storage}/Volumes")).await;
        assert_eq!(volumes["Members@odata.count"], 3, "{vendor:?}");
        let first = harness.read(&machine, volumes["Members"][0]["@odata.id"].as_str().unwrap()).await;
        assert_eq!((&first["RAIDType"], &first["CapacityBytes"]), (&json!("RAID1"), &json!(480_103_981_056_u64)));
        let drive = harness.read(&machine, first["Links"]["Drives"][0]["@odata.id"].as_str().unwrap()).await;
        assert_eq!(drive["Links"]["Volumes"][0]["@odata.id"], first["@odata.id"], "{vendor:?}");
        assert!(drive["SerialNumber"].as_str().unwrap().len() > 8);
        assert_eq!(drive["Identifiers"][0]["DurableName"].as_str().unwrap().len(), 16);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reset_deletes_every_volume_and_a_new_one_is_made_by_a_task() {
    let harness = Harness::start().await;
    for vendor in VENDORS {
        let machine = harness.of(vendor);
        let storage = storage(&harness, &machine).await;
        let volumes = format!("{storage}/Volumes");
        let drives = harness.read(&machine, &storage).await["Drives"].as_array().unwrap().clone();
        assert_eq!(harness.post(&machine, &volumes, &volume("RAID1", &drives[2..4])).await.status, StatusCode::BAD_REQUEST);

        let action = format!("{storage}/Actions/Storage.ResetToDefaults");
        assert_eq!(harness.post(&machine, &action, &json!({})).await.status, StatusCode::BAD_REQUEST);
        let begun = harness.post(&machine, &action, &json!({"ResetType": "ResetAll"})).await;
        assert_eq!((begun.status, &begun.body["TaskState"]), (StatusCode::ACCEPTED, &json!("Running")), "{vendor:?}");
        assert_eq!(harness.post(&machine, &action, &json!({"ResetType": "ResetAll"})).await.status, StatusCode::CONFLICT);
        let monitor = begun.headers["location"].to_str().unwrap().to_owned();
        assert_eq!(harness.bmc(&machine, "GET", &monitor, "").await.status, StatusCode::ACCEPTED);
        pass(60).await;
        let task = harness.read(&machine, begun.body["@odata.id"].as_str().unwrap()).await;
        assert_eq!((&task["PercentComplete"], &task["TaskState"]), (&json!(50), &json!("Running")));
        pass(60).await;
        let done = harness.bmc(&machine, "GET", &monitor, "").await;
        assert_eq!((done.status, &done.body["TaskState"]), (StatusCode::OK, &json!("Completed")));
        assert_eq!(harness.read(&machine, &volumes).await["Members@odata.count"], 0);

        let begun = harness.post(&machine, &volumes, &volume("RAID5", &drives[2..5])).await;
        assert_eq!(begun.status, StatusCode::ACCEPTED, "{}", begun.body);
        pass(120).await;
        let done = harness.bmc(&machine, "GET", begun.headers["location"].to_str().unwrap(), "").await;
        assert_eq!(done.status, StatusCode::CREATED);
        let made = done.headers["location"].to_str().unwrap().to_owned();
        assert_eq!(harness.read(&machine, &made).await["CapacityBytes"], 2 * 3_840_755_982_336_u64);
        assert_eq!(harness.bmc(&machine, "DELETE", &made, "").await.status, StatusCode::ACCEPTED);
        pass(120).await;
        assert_eq!(harness.bmc(&machine, "GET", &made, "").await.status, StatusCode::NOT_FOUND);
    }
}

#[tokio::test(start_paused = true)]
async fn a_volume_that_cannot_be_is_explained() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Dell);
    let volumes = format!("{}/Volumes", storage(&harness, &machine).await);
    let cases = [
        (json!({}), "PropertyMissing"),
        (json!({"RAIDType": "RAID1"}), "PropertyMissing"),
        (json!({"RAIDType": "RAID9", "Links": {"Drives": []}}), "PropertyValueNotInList"),
        (volume("RAID1", &[json!({"@odata.id": "/redfish/v1/Elsewhere"})]), "PropertyValueNotInList"),
        (volume("RAID1", &[]), "GeneralError"),
        (json!({"RAIDType": "RAID1", "Name": "a name that is too long", "Links": {"Drives": []}}), "PropertyValueNotInList"),
    ];
    for (body, id) in cases {
        let reply = harness.post(&machine, &volumes, &body).await;
        assert_eq!((reply.status, &reply.body["error"]["code"]), (StatusCode::BAD_REQUEST, &json!(format!("Base.1.18.{id}"))), "{body}");
    }
    assert_eq!(harness.bmc(&machine, "DELETE", &format!("{volumes}/Disk.Virtual.9"), "").await.status, StatusCode::NOT_FOUND);
}
