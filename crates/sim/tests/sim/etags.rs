//! Changes that say which version of a resource they mean.

use http::StatusCode;
use serde_json::{Value, json};
use sim::Vendor;

use crate::harness::Harness;
use crate::peers::VENDORS;

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
