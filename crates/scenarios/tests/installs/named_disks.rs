//! What an agent finds and tells, and a machine whose site file names its disks.

use http::StatusCode;
use keeper::Verdict;
use model::Site;
use scenarios::House;
use serde_json::{Value, json};

use crate::hand::{COMPUTE, carry_out, site, succeed, unguarded};

/// What the agent of the latest installation found, as the API shows it.
async fn found(house: &House) -> Value {
    let machine = house.machine(COMPUTE).await;
    let text = machine["properties"]["hardwareInventory"]["additionalHostInformation"].as_str().expect("an inventory");
    serde_json::from_str(text).expect("JSON in a text")
}

fn with_os_disk(id: &str) -> impl FnOnce(&mut Site) {
    let id = id.to_owned();
    move |site| {
        let machine = site.machines.iter_mut().find(|machine| machine.name.as_str() == COMPUTE).expect("the machine is described");
        machine.install.os_disk = Some(id);
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_agent_finds_and_does_is_there_to_be_read() {
    let house = site(4).await;
    assert!(house.machine(COMPUTE).await["properties"].get("hardwareInventory").is_none(), "nobody has looked yet");
    let operation = succeed(&house, COMPUTE, "reimage", &unguarded()).await;
    let machine = house.machine(COMPUTE).await;
    let inventory = &machine["properties"]["hardwareInventory"];
    assert_eq!(inventory["interfaces"].as_array().unwrap().len(), 4);
    assert_eq!(inventory["interfaces"][0]["macAddress"], machine["properties"]["bootMacAddress"]);
    let found = found(&house).await;
    assert_eq!((&found["operation"], &found["memoryBytes"]), (&operation["id"], &json!(512_u64 << 30)));
    assert_eq!(found["disks"].as_array().unwrap().len(), 3);
    let id = operation["id"].as_str().unwrap();
    let told = house.get(&format!("/rackwright/v1/operations/{id}/log")).await;
    let log = told["attempts"][0]["log"].as_str().expect("a log");
    assert!(log.contains(&format!("attempt 1 of operation {id}")) && log.contains("were written and read back"), "{log}");
    assert_eq!(told["attempts"].as_array().unwrap().len(), 1);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_system_goes_to_the_disk_that_the_site_file_names_and_that_is_never_discarded() {
    let mut house = site(4).await;
    succeed(&house, COMPUTE, "reimage", &unguarded()).await;
    let wwn = found(&house).await["disks"][0]["wwn"].as_str().unwrap().to_owned();
    assert!(matches!(house.describe_anew(with_os_disk(&wwn)).await, Verdict::TakenOver { .. }));
    let before = house.site.volumes(COMPUTE).unwrap();
    let operation = succeed(&house, COMPUTE, "reimage", &unguarded()).await;
    let settled = operation["journal"].as_array().unwrap().iter().find(|entry| entry["fact"]["kind"] == "systemDisk").unwrap();
    assert_eq!(settled["fact"]["disk"], json!({ "id": wwn }));
    assert_eq!(house.site.volumes(COMPUTE).unwrap()[1..], before[1..]);
    let refused = carry_out(&house, COMPUTE, "replace", &unguarded()).await;
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("which is volume `OS`") && message.contains("nothing was touched"), "{message}");
    assert_eq!(house.site.volumes(COMPUTE).unwrap(), before);
    // Another disk, which there is not: the agent gives up before anything is written.
    house.restart_described(with_os_disk("no such disk")).await;
    let failed = carry_out(&house, COMPUTE, "reimage", &unguarded()).await;
    let message = failed["message"].as_str().unwrap();
    assert!(message.contains("no disk has serial number or WWN no such disk"), "{message}");
    assert_eq!(house.site.volumes(COMPUTE).unwrap(), before);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_operation_without_an_agent_has_no_log() {
    let house = site(4).await;
    let operation = succeed(&house, COMPUTE, "cordon", &json!({})).await;
    let path = |id: &str| format!("/rackwright/v1/operations/{id}/log");
    assert_eq!(house.get(&path(operation["id"].as_str().unwrap())).await["attempts"], json!([]));
    let unknown = house.call(http::Method::GET, &path("ffff"), "alice", "").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    house.close().await;
}
