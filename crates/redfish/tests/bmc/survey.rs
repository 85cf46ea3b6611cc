//! What a BMC offers for an installation, and the volume that is made for a system.

use expect_test::expect;
use fake::{Fake, SYSTEM, accepted, json, tagged, text};
use model::{BootWay, FaultClass, JobSeen, SourceSeen, Survey, VolumesSeen};
use redfish::JobRef;
use serde_json::{Value, json};

use crate::fake;

const SLOTS: &str = "/redfish/v1/Systems/1/VirtualMedia";
const TASK: &str = "/redfish/v1/TaskService/Tasks/7";

fn linked(path: &str) -> Value {
    json!({"@odata.id": path})
}

/// A BMC that lists these boot targets and has one CD drive, as `slot` says.
fn offering(targets: &[&str], slot: Value) -> Fake {
    let boot = json!({"BootSourceOverrideTarget@Redfish.AllowableValues": targets});
    Fake::ordinary().holding(&[
        (SYSTEM, json!({"VirtualMedia": linked(SLOTS), "Boot": boot})),
        (SLOTS, json!({"Members": [linked(&format!("{SLOTS}/1"))]})),
        ("/redfish/v1/Systems/1/VirtualMedia/1", slot),
    ])
}

fn ways(survey: Survey) -> Vec<BootWay> {
    survey.ways
}

#[tokio::test]
async fn virtual_media_counts_only_with_a_drive_that_takes_an_image() {
    let all = ["Cd", "Hdd", "Pxe", "UefiHttp"];
    let by_action = json!({"MediaTypes": ["CD"], "Actions": {"#VirtualMedia.InsertMedia": {}}});
    let mute = json!({"MediaTypes": ["CD"]});
    assert_eq!(offering(&all, by_action.clone()).bmc().observe_survey().await.map(ways).unwrap(), BootWay::ALL);
    assert_eq!(offering(&["Cd", "Hdd"], by_action.clone()).bmc().observe_survey().await.map(ways).unwrap(), [BootWay::VirtualMedia]);
    let slot = "GET /redfish/v1/Systems/1/VirtualMedia/1";
    for (allow, expected) in [("GET, HEAD, PATCH", true), ("", true), ("GET, HEAD", false)] {
        let fake = offering(&all, mute.clone()).now(slot, tagged(&mute, "\"1\"", allow));
        let survey = fake.bmc().observe_survey().await.unwrap();
        assert_eq!(survey.ways.contains(&BootWay::VirtualMedia), expected, "{allow}");
    }
    let floppy = json!({"MediaTypes": ["Floppy"]});
    assert_eq!(offering(&all, floppy).bmc().observe_survey().await.map(ways).unwrap(), [BootWay::UefiHttp, BootWay::Pxe]);
}

#[tokio::test]
async fn jobs_are_told_or_not_offered_or_else_the_survey_fails() {
    let fake = || offering(&["Pxe"], json!({}));
    assert_eq!(fake().bmc().observe_survey().await.unwrap().jobs, None);
    let with_tasks = || {
        fake().holding(&[
            ("/redfish/v1/", json!({"Systems": linked("/redfish/v1/Systems"), "Tasks": linked("/t")})),
            ("/t", json!({"Tasks": linked("/t/all")})),
        ])
    };
    let task = json!({"Members": [{"@odata.id": "/t/1", "Name": "Firmware Update: BIOS", "TaskState": "Running", "PercentComplete": 3}]});
    let job = JobSeen { name: "Firmware Update: BIOS".into(), percent: Some(3), concerns_firmware: true };
    assert_eq!(with_tasks().holding(&[("/t/all", task)]).bmc().observe_survey().await.unwrap().jobs, Some(vec![job]));
    let fault = with_tasks().on("GET /t/all", text(503, "")).bmc().observe_survey().await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Busy, "a queue that cannot be read may hold anything");
}

#[tokio::test]
async fn a_bmc_without_a_drive_starts_from_what_its_override_says() {
    let boot = json!({"BootSourceOverrideEnabled": "Continuous", "BootSourceOverrideTarget": "Pxe"});
    let seen = Fake::ordinary().holding(&[(SYSTEM, json!({"Boot": boot}))]).bmc().observe_start().await.unwrap();
    assert_eq!((seen.media, seen.source), (None, SourceSeen::Pxe));
    let fault = Fake::ordinary().now(&format!("GET {SYSTEM}"), text(404, "")).bmc().observe_start().await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Busy, "a BMC that is starting up may have no System yet");
}

/// A controller with drives of these sizes, in gigabytes, and no volume.
fn bare(sizes: &[u64]) -> Fake {
    let drives = sizes.iter().enumerate().map(|(bay, size)| {
        json!({"@odata.id": format!("/s/1/d/{bay}"), "MediaType": "SSD", "CapacityBytes": size * 1_000_000_000, "Status": {"Health": "OK"}})
    });
    let controller = json!({"Drives": drives.collect::<Vec<_>>(), "Volumes": linked("/s/1/v")});
    Fake::ordinary().holding(&[
        (SYSTEM, json!({"Storage": linked("/s")})),
        ("/s", json!({"Members": [linked("/s/1")]})),
        ("/s/1", controller),
        ("/s/1/v", json!({"Members": []})),
    ])
}

#[tokio::test]
async fn the_system_gets_a_mirror_of_the_two_smallest_drives() {
    let fake = bare(&[1920, 1920, 480, 480]).on("POST /s/1/v", accepted(TASK));
    assert_eq!(fake.bmc().request_os_volume("OS").await, Ok(Some(JobRef::new(TASK))));
    expect![[r#"
        POST /s/1/v token1 {"Name":"OS","RAIDType":"RAID1","Links":{"Drives":[{"@odata.id":"/s/1/d/2"},{"@odata.id":"/s/1/d/3"}]}}
    "#]]
    .assert_eq(&fake.take_requests());
    let seen = bare(&[480, 480]).bmc().observe_volumes().await.unwrap();
    assert_eq!(seen, VolumesSeen { volumes: Some(Vec::new()) });
}

#[tokio::test]
async fn where_no_volume_can_be_made_it_is_said_why_and_nothing_is_asked() {
    let alone = bare(&[480, 960]);
    let fault = alone.bmc().request_os_volume("OS").await.unwrap_err();
    expect!["unsupported: no controller has two free and well SSDs of one size for the operating system"].assert_eq(&fault.to_string());
    let reading = bare(&[480, 480]).now("GET /s/1/v", tagged(&json!({"Members": []}), "\"1\"", "GET, HEAD"));
    let fault = reading.bmc().request_os_volume("OS").await.unwrap_err();
    expect!["unsupported: this BMC offers no way to make a volume"].assert_eq(&fault.to_string());
    let diskless = Fake::ordinary();
    assert_eq!(diskless.bmc().observe_volumes().await.unwrap(), VolumesSeen { volumes: None });
    let unread = bare(&[480]).now("GET /s/1/v", json(200, &json!({"Members": [linked("/s/1/v/1")]})));
    assert_eq!(unread.bmc().observe_volumes().await.unwrap_err().class, FaultClass::Garbled, "none must be known, not guessed");
    assert_eq!((alone.take_requests(), reading.take_requests()), (String::new(), String::new()));
}
