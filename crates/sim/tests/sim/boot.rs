//! What a machine boots from, its virtual media and its BIOS settings, over HTTP.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use sim::Vendor;

use crate::harness::{Harness, pass};
use crate::peers::VENDORS;

/// Where the vendor's CD drive is.
pub fn cd_path(vendor: Vendor) -> &'static str {
    match vendor {
        Vendor::Dell => "/redfish/v1/Managers/iDRAC.Embedded.1/VirtualMedia/CD",
        Vendor::Hpe => "/redfish/v1/Managers/1/VirtualMedia/2",
        Vendor::Lenovo => "/redfish/v1/Managers/1/VirtualMedia/EXT1",
        Vendor::Supermicro => "/redfish/v1/Managers/1/VirtualMedia/CD1",
    }
}

/// Inserts an image in the vendor's way.
async fn insert(harness: &Harness, vendor: Vendor, image: &Value) -> StatusCode {
    let (machine, path) = (harness.of(vendor), cd_path(vendor));
    let body = json!({"Image": image, "Inserted": true, "WriteProtected": true});
    match vendor {
        Vendor::Lenovo => harness.patch(&machine, path, &body).await.status,
        _ => harness.post(&machine, &format!("{path}/Actions/VirtualMedia.InsertMedia"), &body).await.status,
    }
}

async fn eject(harness: &Harness, vendor: Vendor) -> StatusCode {
    let (machine, path) = (harness.of(vendor), cd_path(vendor));
    match vendor {
        Vendor::Lenovo => harness.patch(&machine, path, &json!({"Image": null})).await.status,
        _ => harness.post(&machine, &format!("{path}/Actions/VirtualMedia.EjectMedia"), &json!({})).await.status,
    }
}

fn boot(enabled: &str, target: &str) -> Value {
    json!({"Boot": {"BootSourceOverrideEnabled": enabled, "BootSourceOverrideTarget": target}})
}

#[tokio::test(start_paused = true)]
async fn media_goes_in_and_out_in_every_vendors_way() {
    let harness = Harness::start().await;
    for vendor in VENDORS {
        let machine = harness.of(vendor);
        assert!(insert(&harness, vendor, &json!("http://images/agent.iso")).await.is_success(), "{vendor:?}");
        let media = harness.read(&machine, cd_path(vendor)).await;
        assert_eq!((&media["Inserted"], &media["Image"]), (&json!(true), &json!("http://images/agent.iso")), "{vendor:?}");
        assert_eq!(insert(&harness, vendor, &json!("http://images/other.iso")).await, StatusCode::CONFLICT, "{vendor:?}");
        assert_eq!(insert(&harness, vendor, &json!("ftp://images/other.iso")).await, StatusCode::BAD_REQUEST, "{vendor:?}");
        assert_eq!(insert(&harness, vendor, &json!(7)).await, StatusCode::BAD_REQUEST, "{vendor:?}");
        assert!(eject(&harness, vendor).await.is_success(), "{vendor:?}");
        assert!(eject(&harness, vendor).await.is_success(), "an empty drive can be ejected");
        assert_eq!(harness.read(&machine, cd_path(vendor)).await["Inserted"], false, "{vendor:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_override_for_once_is_used_up_by_a_boot() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Dell);
    let path = harness.system_path(&machine).await;
    insert(&harness, Vendor::Dell, &json!("https://images/agent.iso")).await;
    let set = harness.patch(&machine, &path, &boot("Once", "Cd")).await;
    assert_eq!((set.status, &set.body["Boot"]["BootSourceOverrideTarget"]), (StatusCode::OK, &json!("Cd")));
    harness.reset(&machine, "ForceRestart").await;
    let system = harness.read(&machine, &path).await;
    assert_eq!(system["Boot"]["BootSourceOverrideEnabled"], "Disabled");
    assert_eq!(system["LastResetTime"], "2026-11-15T09:00:00Z");
    assert_eq!(system["BootProgress"]["LastState"], "SystemHardwareInitializationComplete");
    // What cannot be fetched is passed over for the disk.
    pass(600).await;
    assert_eq!(harness.read(&machine, &path).await["BootProgress"]["LastState"], "OSRunning");
}

#[tokio::test(start_paused = true)]
async fn a_bad_override_is_explained_and_changes_nothing() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Hpe);
    let path = harness.system_path(&machine).await;
    let before = harness.read(&machine, &path).await;
    let cases = [
        (boot("Sometimes", "Cd"), "PropertyValueNotInList"),
        (boot("Once", "Tape"), "PropertyValueNotInList"),
        (json!({"Boot": {"BootSourceOverrideTarget": 7}}), "PropertyValueTypeError"),
        (json!({"Boot": {"BootOrder": []}}), "PropertyNotWritable"),
        (json!({"Boot": {"HttpBootUri": "tftp://boot"}}), "PropertyValueNotInList"),
        (json!({"Boot": 1}), "PropertyValueTypeError"),
        (json!({"PowerState": "Off"}), "PropertyNotWritable"),
        (json!({}), "NoOperation"),
    ];
    for (body, id) in cases {
        let reply = harness.patch(&machine, &path, &body).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{body}");
        assert_eq!(reply.body["error"]["code"], format!("Base.1.18.{id}"), "{body}");
    }
    assert_eq!(harness.read(&machine, &path).await, before);
}

#[tokio::test(start_paused = true)]
async fn bios_settings_wait_for_a_boot() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Lenovo);
    let bios = format!("{}/Bios", harness.system_path(&machine).await);
    let settings = format!("{bios}/Settings");
    let changed = harness.patch(&machine, &settings, &json!({"Attributes": {"HyperThreading": "Disabled"}})).await;
    assert_eq!(changed.status, StatusCode::OK, "{}", changed.body);
    for wrong in [json!({"HyperThreading": "Maybe"}), json!({"Turbo": "Enabled"}), json!({"HyperThreading": [1]})] {
        assert_eq!(harness.patch(&machine, &settings, &json!({"Attributes": wrong})).await.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
    assert_eq!(harness.read(&machine, &bios).await["Attributes"]["HyperThreading"], "Enabled");
    harness.reset(&machine, "ForceRestart").await;
    assert_eq!(harness.read(&machine, &bios).await["Attributes"]["HyperThreading"], "Disabled");
    let reset = harness.post(&machine, &format!("{bios}/Actions/Bios.ResetBios"), &json!({})).await;
    assert_eq!(reset.status, StatusCode::NO_CONTENT);
    assert_eq!(harness.read(&machine, &settings).await["Attributes"]["HyperThreading"], "Enabled");
    harness.reset(&machine, "ForceRestart").await;
    assert_eq!(harness.read(&machine, &bios).await["Attributes"]["HyperThreading"], "Enabled");
}

#[tokio::test(start_paused = true)]
async fn what_was_set_and_inserted_outlives_a_crash() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Supermicro);
    let path = harness.system_path(&machine).await;
    insert(&harness, Vendor::Supermicro, &json!("http://images/agent.iso")).await;
    harness.patch(&machine, &path, &boot("Continuous", "Cd")).await;
    harness.patch(&machine, &format!("{path}/Bios/Settings"), &json!({"Attributes": {"SystemProfile": "MinPower"}})).await;
    let harness = harness.crash_and_reopen(Duration::from_secs(3_600)).await;
    assert_eq!(harness.read(&machine, cd_path(Vendor::Supermicro)).await["Image"], "http://images/agent.iso");
    assert_eq!(harness.read(&machine, &path).await["Boot"]["BootSourceOverrideTarget"], "Cd");
    assert_eq!(harness.read(&machine, &format!("{path}/Bios/Settings")).await["Attributes"]["SystemProfile"], "MinPower");
}
