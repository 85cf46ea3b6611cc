//! Changes that say which version of a resource they mean.

use base64::Engine;
use http::StatusCode;
use serde_json::{Value, json};
use sim::{Pace, Vendor};

use crate::harness::{Harness, send};
use crate::peers::{Served, VENDORS};

fn boot(target: &str) -> Value {
    json!({"Boot": {"BootSourceOverrideTarget": target}})
}

#[tokio::test(start_paused = true)]
async fn a_change_of_another_version_is_refused_by_every_vendor() {
    let harness = Harness::start().await;
    for vendor in VENDORS {
        let machine = harness.of(vendor);
        let spec = harness.machine(&machine);
        let path = harness.system_path(&machine).await;
        let login = (spec.bmc_user.as_str(), spec.bmc_password.as_str());
        let old = harness.bmc(&machine, "GET", &path, "").await.headers["etag"].to_str().unwrap().to_owned();
        assert_eq!(harness.patch(&machine, &path, &boot("Hdd")).await.status, StatusCode::OK, "{vendor:?}");
        let late = harness.bmc_as(&machine, login, &[("if-match", &old)], ("PATCH", &path), &boot("Pxe")).await;
        assert_eq!(late.status, StatusCode::PRECONDITION_FAILED, "{vendor:?}");
        assert_eq!(harness.read(&machine, &path).await["Boot"]["BootSourceOverrideTarget"], "Hdd", "{vendor:?}");
        let any = harness.bmc_as(&machine, login, &[("if-match", "*")], ("PATCH", &path), &boot("Pxe")).await;
        assert_eq!(any.status, StatusCode::OK, "{vendor:?}");
        let untold = harness.bmc_as(&machine, login, &[], ("PATCH", &path), &boot("Hdd")).await.status;
        let expected = if vendor == Vendor::Lenovo { StatusCode::PRECONDITION_REQUIRED } else { StatusCode::OK };
        assert_eq!(untold, expected, "{vendor:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_saw_the_same_version_one_may_change_it() {
    let served = Served::start(Vendor::Dell, Pace::REAL).await;
    let spec = served.machine.clone();
    let login = base64::engine::general_purpose::STANDARD.encode(format!("{}:{}", spec.bmc_user, spec.bmc_password));
    let login = format!("Basic {login}");
    let path = "/redfish/v1/Systems/System.Embedded.1";
    for round in 0..50 {
        let wire = served.site.redfish(&spec.name).unwrap();
        let seen = send(wire, "GET", path, &[("authorization", &login)], "").await.headers["etag"].to_str().unwrap().to_owned();
        let target = if round % 2 == 0 { "Pxe" } else { "Hdd" };
        let writers = (0..8).map(|_| {
            let (wire, login, seen) = (served.site.redfish(&spec.name).unwrap(), login.clone(), seen.clone());
            tokio::spawn(async move {
                send(wire, "PATCH", path, &[("authorization", &login), ("if-match", &seen)], &boot(target).to_string()).await.status
            })
        });
        let statuses = futures::future::join_all(writers).await.into_iter().map(Result::unwrap);
        assert_eq!(statuses.filter(StatusCode::is_success).count(), 1, "round {round}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_tag_is_in_the_document_too_and_the_time_of_day_does_not_change_it() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Dell);
    let path = "/redfish/v1/Managers/iDRAC.Embedded.1";
    let first = harness.bmc(&machine, "GET", path, "").await;
    assert_eq!(first.body["@odata.etag"], first.headers["etag"].to_str().unwrap());
    crate::harness::pass(100).await;
    let second = harness.bmc(&machine, "GET", path, "").await;
    assert_ne!(first.body["DateTime"], second.body["DateTime"]);
    assert_eq!(first.headers["etag"], second.headers["etag"]);
}
