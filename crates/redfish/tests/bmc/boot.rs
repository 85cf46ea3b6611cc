//! The boot source.

use expect_test::expect;
use fake::{Fake, json, tagged, text};
use http::Uri;
use redfish::{BootSeen, BootSource, BootTarget, Persistence};
use serde_json::{Value, json};

use crate::fake;

const SYSTEM: &str = "GET /redfish/v1/Systems/1";
const PATCH: &str = "PATCH /redfish/v1/Systems/1";

fn system() -> Value {
    json!({"PowerState": "On", "Boot": {
        "BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "UsbCd", "BootSourceOverrideMode": "UEFI",
        "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "Cd", "UsbCd", "Hdd", "UefiHttp"],
    }})
}

#[tokio::test]
async fn the_boot_source_is_read_in_one_request() {
    let bmc = Fake::ordinary().now(SYSTEM, json(200, &system())).bmc();
    let expected = BootSeen { target: Some(BootTarget::Cd), persistence: Some(Persistence::Once), http_uri: None };
    assert_eq!(bmc.observe_boot().await, Ok(expected));
    let fault = Fake::ordinary().bmc().observe_boot().await.unwrap_err();
    expect!["garbled: GET /redfish/v1/Systems/1: there is no Boot"].assert_eq(&fault.to_string());
}

#[tokio::test]
async fn a_boot_source_is_asked_for_with_the_etag_that_was_just_read() {
    let fake = Fake::ordinary().now(SYSTEM, tagged(&system(), "W/\"42\"", "GET, PATCH")).on(PATCH, text(204, ""));
    let bmc = fake.bmc();
    bmc.request_boot(&BootSource::Cd, Persistence::Once).await.unwrap();
    bmc.request_boot(&BootSource::UefiHttp(Uri::from_static("http://h/boot.efi")), Persistence::Continuous).await.unwrap();
    expect![[r#"
        PATCH /redfish/v1/Systems/1 token1 if W/"42" {"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideTarget":"Cd"}}
        PATCH /redfish/v1/Systems/1 token1 if W/"42" {"Boot":{"BootSourceOverrideEnabled":"Continuous","BootSourceOverrideTarget":"UefiHttp","HttpBootUri":"http://h/boot.efi"}}
    "#]]
    .assert_eq(&fake.take_requests());
}

#[tokio::test]
async fn a_supermicro_boots_its_virtual_cd_as_usb_and_keeps_its_mode() {
    let mut system = system();
    system["Manufacturer"] = json!("Supermicro");
    let fake = Fake::ordinary().now(SYSTEM, json(200, &system)).on(PATCH, text(200, "{}"));
    fake.bmc().request_boot(&BootSource::Cd, Persistence::Once).await.unwrap();
    expect![[r#"
        PATCH /redfish/v1/Systems/1 token1 {"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideTarget":"UsbCd","BootSourceOverrideMode":"UEFI"}}
    "#]]
    .assert_eq(&fake.take_requests());
}

#[tokio::test]
async fn a_change_by_somebody_else_meanwhile_is_busy() {
    for status in [412, 428] {
        let fake = Fake::ordinary().now(SYSTEM, tagged(&system(), "\"1\"", "")).on(PATCH, text(status, ""));
        let fault = fake.bmc().request_boot(&BootSource::Hdd, Persistence::Continuous).await.unwrap_err();
        assert_eq!(fault.to_string(), format!("busy: PATCH /redfish/v1/Systems/1 answered {status}"));
    }
}

#[tokio::test]
async fn a_source_that_is_not_offered_is_not_asked_for() {
    let mut system = system();
    system["Boot"]["BootSourceOverrideTarget@Redfish.AllowableValues"] = json!(["Pxe", "Hdd"]);
    let fake = Fake::ordinary().now(SYSTEM, json(200, &system));
    let fault = fake.bmc().request_boot(&BootSource::Cd, Persistence::Once).await.unwrap_err();
    expect!["unsupported: /redfish/v1/Systems/1 does not offer to boot from Cd"].assert_eq(&fault.to_string());
    assert_eq!(fake.take_requests(), "");
}
