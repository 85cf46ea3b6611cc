//! Requests that become jobs: firmware and storage.

use expect_test::expect;
use fake::{Fake, accepted, json, text};
use http::Uri;
use redfish::{Job, JobRef, JobSeen, JobState, StorageReset};
use serde_json::{Value, json};

use crate::fake;

const TASK: &str = "/redfish/v1/TaskService/Tasks/7";

fn linked(path: &str) -> Value {
    json!({"@odata.id": path})
}

fn updating() -> Fake {
    let action =
        json!({"#UpdateService.SimpleUpdate": {"target": "/u/update", "TransferProtocol@Redfish.AllowableValues": ["HTTP", "HTTPS"]}});
    Fake::ordinary()
        .holding(&[("/redfish/v1/", json!({"UpdateService": linked("/u"), "Tasks": linked("/t")})), ("/u", json!({"Actions": action}))])
}

#[tokio::test]
async fn an_update_becomes_the_job_that_the_answer_points_to() {
    let image = Uri::from_static("https://10.0.0.9/bios.bin");
    let task = json!({"@odata.type": "#Task.v1_4_3.Task", "@odata.id": TASK, "TaskState": "New"});
    let answers = [
        (accepted("https://bmc/redfish/v1/TaskService/Tasks/7"), Some(JobRef::new(TASK))),
        (json(202, &task), Some(JobRef::new(TASK))),
        (json(200, &task), Some(JobRef::new(TASK))),
        (text(204, ""), None),
    ];
    for (answer, expected) in answers {
        let fake = updating().on("POST /u/update", answer);
        assert_eq!(fake.bmc().request_firmware(&image, &["/f/BIOS".to_owned()]).await, Ok(expected));
        expect![[r#"
            POST /u/update token1 {"ImageURI":"https://10.0.0.9/bios.bin","Targets":["/f/BIOS"],"TransferProtocol":"HTTPS"}
        "#]]
        .assert_eq(&fake.take_requests());
    }
}

#[tokio::test]
async fn an_update_is_unsupported_where_no_url_is_taken() {
    let fake = updating().holding(&[("/u", json!({"HttpPushUri": "/u/push"}))]);
    let fault = fake.bmc().request_firmware(&Uri::from_static("http://h/i"), &[]).await.unwrap_err();
    expect!["unsupported: this BMC offers no firmware update from a URL"].assert_eq(&fault.to_string());
}

#[tokio::test]
async fn a_job_is_seen_or_gone_and_silence_is_neither() {
    let running = json!({"Name": "Update", "TaskState": "Running", "PercentComplete": 40, "Messages": [{"Message": "Writing."}, 5]});
    let get = format!("GET {TASK}");
    let fake = Fake::ordinary()
        .on(&get, json(200, &running))
        .on(&get, text(202, ""))
        .on(&get, text(204, ""))
        .on(&get, json(200, &json!({"TaskState": "Downloading"})))
        .on(&get, text(404, ""))
        .on(&get, text(503, ""));
    let (bmc, job) = (fake.bmc(), JobRef::new(TASK));
    let seen = |name: Option<&str>, state, percent, messages| {
        Ok(JobSeen::Seen(Job { reference: JobRef::new(TASK), name: name.map(str::to_owned), state, percent, messages }))
    };
    let expected = seen(Some("Update"), Some(JobState::Running), Some(40), vec!["Writing.".to_owned()]);
    assert_eq!(bmc.observe_job(&job).await, expected);
    assert_eq!(bmc.observe_job(&job).await, seen(None, Some(JobState::Running), None, vec![]), "a monitor says 202 while the job runs");
    assert_eq!(bmc.observe_job(&job).await, seen(None, Some(JobState::Succeeded), None, vec![]), "and something else after it");
    assert_eq!(bmc.observe_job(&job).await, seen(None, None, None, vec![]), "a word that nobody knows is not taken for an end");
    assert_eq!(bmc.observe_job(&job).await, Ok(JobSeen::Gone));
    expect!["busy: GET /redfish/v1/TaskService/Tasks/7 answered 503"].assert_eq(&bmc.observe_job(&job).await.unwrap_err().to_string());
}

#[tokio::test]
async fn the_jobs_that_a_bmc_remembers_are_listed() {
    let fake = updating().holding(&[
        ("/t", json!({"Tasks": linked("/t/all")})),
        ("/t/all", json!({"Members": [linked("/t/1"), linked("/t/2")]})),
        ("/t/1", json!({"TaskState": "Completed", "TaskStatus": "OK"})),
    ]);
    let jobs = fake.bmc().observe_jobs().await.unwrap();
    assert_eq!((jobs.members[0].state, jobs.unread), (Some(JobState::Succeeded), 1));
    let fault = Fake::ordinary().bmc().observe_jobs().await.unwrap_err();
    expect!["unsupported: this BMC offers no jobs"].assert_eq(&fault.to_string());
}

#[tokio::test]
async fn a_controller_that_can_reset_itself_is_asked_to() {
    let controller = json!({"Actions": {"#Storage.ResetToDefaults": {"target": "/s/1/reset"}}, "Volumes": linked("/s/1/v")});
    let fake = Fake::ordinary().holding(&[("/s/1", controller)]).on("POST /s/1/reset", accepted(TASK));
    assert_eq!(fake.bmc().request_storage_reset("/s/1").await, Ok(StorageReset::Whole { job: Some(JobRef::new(TASK)) }));
    expect![[r#"
        POST /s/1/reset token1 {"ResetType":"ResetAll"}
    "#]]
    .assert_eq(&fake.take_requests());
}

#[tokio::test]
async fn otherwise_one_volume_is_deleted_per_call_until_none_is_left() {
    let raw = json!({"@odata.id": "/v/raw", "VolumeType": "RawDevice"});
    let volumes = |ids: &[&str]| {
        let real = ids.iter().map(|id| json!({"@odata.id": format!("/v/{id}"), "RAIDType": "RAID1"}));
        json(200, &json!({"Members": std::iter::once(raw.clone()).chain(real).collect::<Vec<_>>()}))
    };
    let fake = Fake::ordinary()
        .holding(&[("/s/1", json!({"Volumes": linked("/v")}))])
        .on("GET /v", volumes(&["a", "b"]))
        .on("GET /v", volumes(&["b"]))
        .on("GET /v", volumes(&[]))
        .on("DELETE /v/a", accepted(TASK))
        .on("DELETE /v/b", text(204, ""));
    let bmc = fake.bmc();
    let first = StorageReset::Volume { path: "/v/a".into(), left: 1, job: Some(JobRef::new(TASK)) };
    assert_eq!(bmc.request_storage_reset("/s/1").await, Ok(first));
    assert_eq!(bmc.request_storage_reset("/s/1").await, Ok(StorageReset::Volume { path: "/v/b".into(), left: 0, job: None }));
    assert_eq!(bmc.request_storage_reset("/s/1").await, Ok(StorageReset::Bare));
    expect![[r#"
        DELETE /v/a token1
        DELETE /v/b token1
    "#]]
    .assert_eq(&fake.take_requests());
}

#[tokio::test]
async fn volumes_that_cannot_be_read_are_not_taken_for_none() {
    let fake = Fake::ordinary().holding(&[("/s/1", json!({"Volumes": linked("/v")})), ("/v", json!({"Members": [linked("/v/a")]}))]);
    let fault = fake.bmc().request_storage_reset("/s/1").await.unwrap_err();
    expect!["garbled: GET /v: 1 of what it lists cannot be read"].assert_eq(&fault.to_string());
    // What is left may be among what is unread, even where a drive that is no volume was read.
    let raw = json!({"@odata.id": "/v/raw", "VolumeType": "RawDevice"});
    let fake = fake.now("GET /v", json(200, &json!({"Members": [raw.clone(), linked("/v/a")]})));
    let fault = fake.bmc().request_storage_reset("/s/1").await.unwrap_err();
    expect!["garbled: GET /v: 1 of what it lists cannot be read"].assert_eq(&fault.to_string());
    let fake = fake.now("GET /v", json(200, &json!({"Members": vec![raw; redfish::MAX_MEMBERS + 2]})));
    let fault = fake.bmc().request_storage_reset("/s/1").await.unwrap_err();
    expect!["garbled: GET /v: 2 of what it lists cannot be read"].assert_eq(&fault.to_string());
    let fault = Fake::ordinary().holding(&[("/s/1", json!({}))]).bmc().request_storage_reset("/s/1").await.unwrap_err();
    expect!["unsupported: this BMC offers no volumes of this controller"].assert_eq(&fault.to_string());
}
