//! Each fault of an installation, as whoever installs the machine meets it.

use http::StatusCode;
use serde_json::json;
use sim::Vendor;

use crate::boot::cd_path;
use crate::harness::{Harness, pass};
use crate::install::{Installing, WHOLE};
use crate::peers::VENDORS;

/// Installs a machine with a fault, and tells what was asked until nothing more is.
async fn with(fault: &str) -> Installing {
    let installing = Installing::start().await;
    installing.harness.fault(&format!("{fault} {}", installing.machine)).await;
    installing.boot_agent().await;
    pass(1_200).await;
    installing
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_boots_its_old_disk_comes_back_as_it_was() {
    let installing = with("boots-old-disk").await;
    assert!(installing.transcript().is_empty());
    assert_eq!(installing.harness.ready(&installing.machine).await, "True");
    assert_eq!(installing.system(), "system as delivered");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_never_calls_is_on_and_says_nothing() {
    let installing = with("agent-never-calls").await;
    assert_eq!(installing.transcript(), ["media"]);
    assert_eq!(installing.harness.power(&installing.machine).await, "On");
    assert_eq!(installing.system(), "system as delivered");
}

#[tokio::test(start_paused = true)]
async fn other_bytes_than_the_images_are_found_out() {
    let installing = with("image-wrong").await;
    let transcript = installing.transcript();
    assert_eq!(transcript[..4], WHOLE[..4]);
    assert_eq!(transcript[4], "log of 3 lines");
    assert!(
        transcript[5].starts_with("failed wrongDigest: http://images/images/4.4.3/os.img: 262144 bytes with sha256 "),
        "{transcript:?}"
    );
    assert_eq!(transcript.len(), 6);
    assert_eq!(installing.system(), "nothing");
}

#[tokio::test(start_paused = true)]
async fn an_image_that_cannot_be_reached_is_told() {
    let installing = with("image-unreachable").await;
    let told = "failed imageUnreachable: http://images/images/4.4.3/os.img: no route to host";
    assert_eq!(installing.transcript(), [&WHOLE[..4], &["log of 3 lines", told]].concat());
    assert_eq!(installing.system(), "system as delivered");
}

#[tokio::test(start_paused = true)]
async fn a_missing_disk_is_told() {
    let installing = with("disk-missing").await;
    let told = "failed missingDisk: no disk has volume OS";
    assert_eq!(installing.transcript(), [&WHOLE[..4], &["log of 3 lines", told]].concat());
}

#[tokio::test(start_paused = true)]
async fn a_token_that_is_used_twice_ends_the_attempt() {
    let installing = with("token-used-twice").await;
    let transcript = installing.transcript();
    assert_eq!((&transcript[..4], transcript[4].as_str()), (&WHOLE.map(str::to_owned)[..4], "exchange as MACHINE"));
    assert!(!transcript.contains(&"written as wanted".to_owned()), "{transcript:?}");
}

#[tokio::test(start_paused = true)]
async fn a_token_in_another_machines_hands_is_seen() {
    let installing = with("token-stolen").await;
    let transcript = installing.transcript();
    let machines = installing.harness.site.layout().machines();
    let own = machines.iter().position(|machine| machine.name == installing.machine).unwrap();
    let thief = &machines[(own + 1) % machines.len()].name;
    assert_eq!(transcript[..3], ["media".to_owned(), format!("exchange as {thief}"), "exchange as MACHINE".to_owned()]);
}

#[tokio::test(start_paused = true)]
async fn an_installed_system_that_never_phones_home_does_not_join_either() {
    let installing = with("never-phones-home").await;
    assert_eq!(installing.transcript(), WHOLE[..10]);
    installing.mint().await;
    installing.boot_disk().await;
    pass(3_600).await;
    assert_eq!(installing.transcript(), WHOLE[..10]);
    assert_eq!(installing.harness.ready(&installing.machine).await, "Unknown");
    assert_eq!(installing.harness.power(&installing.machine).await, "On");
}

#[tokio::test(start_paused = true)]
async fn a_bmc_refuses_media_or_says_that_it_is_in_and_it_is_not() {
    let harness = Harness::start().await;
    for vendor in VENDORS {
        let (machine, path) = (harness.of(vendor), cd_path(vendor));
        let insert = async |image| {
            let body = json!({"Image": image, "Inserted": true});
            match vendor {
                Vendor::Lenovo => harness.patch(&machine, path, &body).await.status,
                _ => harness.post(&machine, &format!("{path}/Actions/VirtualMedia.InsertMedia"), &body).await.status,
            }
        };
        harness.fault(&format!("bmc-refuses-media {machine}")).await;
        assert_eq!(insert("http://images/agent.iso").await, StatusCode::BAD_REQUEST, "{vendor:?}");
        harness.mend().await;
        harness.fault(&format!("bmc-ignores-media {machine}")).await;
        assert!(insert("http://images/agent.iso").await.is_success(), "{vendor:?}");
        assert_eq!(harness.read(&machine, path).await["Inserted"], false, "{vendor:?}");
        harness.mend().await;
        assert!(insert("http://images/agent.iso").await.is_success(), "{vendor:?}");
        harness.fault(&format!("bmc-refuses-media {machine}")).await;
        let ejected = match vendor {
            Vendor::Lenovo => harness.patch(&machine, path, &json!({"Image": null})).await.status,
            _ => harness.post(&machine, &format!("{path}/Actions/VirtualMedia.EjectMedia"), &json!({})).await.status,
        };
        assert!(ejected.is_success(), "{vendor:?}");
        assert_eq!(harness.read(&machine, path).await["Inserted"], false, "{vendor:?}");
        harness.mend().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_deletion_of_volumes_fails_twice_and_then_succeeds() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Hpe);
    harness.fault(&format!("raid-deletion-fails {machine} times=2")).await;
    let storage = format!("{}/Storage", harness.system_path(&machine).await);
    let storage = harness.read(&machine, &storage).await["Members"][0]["@odata.id"].as_str().unwrap().to_owned();
    for expected in ["Exception", "Exception", "Completed"] {
        let action = format!("{storage}/Actions/Storage.ResetToDefaults");
        let begun = harness.post(&machine, &action, &json!({"ResetType": "ResetAll"})).await;
        assert_eq!(begun.status, StatusCode::ACCEPTED);
        pass(120).await;
        let task = harness.read(&machine, begun.body["@odata.id"].as_str().unwrap()).await;
        assert_eq!(task["TaskState"], expected, "{task}");
    }
    assert!(harness.site.volumes(&machine).unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_firmware_job_is_stuck_in_the_queue_until_somebody_takes_it_out() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Dell);
    harness.fault(&format!("firmware-job-stuck {machine}")).await;
    pass(86_400).await;
    let tasks = harness.read(&machine, "/redfish/v1/TaskService/Tasks").await;
    let path = tasks["Members"][0]["@odata.id"].as_str().unwrap();
    let task = harness.read(&machine, path).await;
    assert_eq!((&task["TaskState"], &task["Name"]), (&json!("Running"), &json!("Firmware Update: bios-update.bin")));
    harness.mend().await;
    assert_eq!(harness.read(&machine, path).await["TaskState"], "Exception");
}

#[tokio::test(start_paused = true)]
async fn parts_that_are_missing_are_missing_in_every_document() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Supermicro);
    for fault in ["memory-missing", "nic-missing", "drive-missing"] {
        harness.fault(&format!("{fault} {machine}")).await;
    }
    let system = harness.system_path(&machine).await;
    assert_eq!(harness.read(&machine, &system).await["MemorySummary"]["TotalSystemMemoryGiB"], 480);
    assert_eq!(harness.read(&machine, &format!("{system}/Memory")).await["Members@odata.count"], 15);
    assert_eq!(harness.read(&machine, &format!("{system}/EthernetInterfaces")).await["Members@odata.count"], 3);
    let storage = harness.read(&machine, &format!("{system}/Storage")).await["Members"][0]["@odata.id"].as_str().unwrap().to_owned();
    assert_eq!(harness.read(&machine, &storage).await["Drives@odata.count"], 5);
}
