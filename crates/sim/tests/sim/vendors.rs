//! The ways in which the vendors' BMCs differ, seen from outside. `docs/simulated-bmcs.md` lists them.

use http::StatusCode;
use serde_json::{Value, json};
use sim::Vendor;

use crate::harness::{Harness, pass, send};

#[tokio::test(start_paused = true)]
async fn virtual_media_lives_where_the_vendor_puts_it() {
    let harness = Harness::start().await;
    for (vendor, linked, at_system) in [
        (Vendor::Dell, json!("/redfish/v1/Systems/System.Embedded.1/VirtualMedia"), StatusCode::OK),
        (Vendor::Hpe, Value::Null, StatusCode::NOT_FOUND),
        (Vendor::Lenovo, Value::Null, StatusCode::NOT_FOUND),
        (Vendor::Supermicro, json!("/redfish/v1/Managers/1/VirtualMedia"), StatusCode::NOT_FOUND),
    ] {
        let machine = harness.of(vendor);
        let path = harness.system_path(&machine).await;
        assert_eq!(harness.read(&machine, &path).await["VirtualMedia"]["@odata.id"], linked, "{vendor:?}");
        assert_eq!(harness.bmc(&machine, "GET", &format!("{path}/VirtualMedia"), "").await.status, at_system, "{vendor:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn reset_types_are_told_in_the_action_or_beside_it_or_not_at_all() {
    let harness = Harness::start().await;
    for vendor in [Vendor::Dell, Vendor::Hpe, Vendor::Lenovo, Vendor::Supermicro] {
        let machine = harness.of(vendor);
        let action = harness.read(&machine, &harness.system_path(&machine).await).await["Actions"]["#ComputerSystem.Reset"].clone();
        let told = action["ResetType@Redfish.AllowableValues"].is_array();
        match action["@Redfish.ActionInfo"].as_str() {
            Some(info) => {
                assert_eq!((vendor, told), (Vendor::Lenovo, false));
                let parameters = harness.read(&machine, info).await["Parameters"].clone();
                assert_eq!(parameters[0]["AllowableValues"][1], "ForceOff");
            }
            None => assert_eq!(told, vendor != Vendor::Supermicro, "{vendor:?}"),
        }
        let root = harness.read(&machine, "/redfish/v1/").await;
        assert_eq!(root["Vendor"].is_string(), vendor != Vendor::Supermicro, "{vendor:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn supermicro_wants_media_before_the_override_and_keeps_once_for_ever() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Supermicro);
    let once = json!({"Boot": {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Cd"}});
    let path = "/redfish/v1/Systems/1";
    assert_eq!(harness.patch(&machine, path, &once).await.status, StatusCode::INTERNAL_SERVER_ERROR);
    let insert = "/redfish/v1/Managers/1/VirtualMedia/CD1/Actions/VirtualMedia.InsertMedia";
    harness.post(&machine, insert, &json!({"Image": "http://images/agent.iso"})).await;
    assert_eq!(harness.patch(&machine, path, &once).await.body["Boot"]["BootSourceOverrideEnabled"], "Continuous");
    harness.reset(&machine, "ForceRestart").await;
    assert_eq!(harness.read(&machine, path).await["Boot"]["BootSourceOverrideTarget"], "Cd");
}

#[tokio::test(start_paused = true)]
async fn hpe_advertises_an_action_it_does_not_have_and_hides_firmware_until_it_is_listed() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Hpe);
    let bios = harness.read(&machine, "/redfish/v1/Systems/1/Bios").await;
    let target = bios["Actions"]["#Bios.ChangePassword"]["target"].as_str().unwrap();
    assert_eq!(harness.post(&machine, target, &json!({})).await.status, StatusCode::NOT_IMPLEMENTED);
    let inventory = "/redfish/v1/UpdateService/FirmwareInventory";
    let member = format!("{inventory}/BMC");
    assert_eq!(harness.bmc(&machine, "GET", &member, "").await.status, StatusCode::NOT_FOUND);
    harness.read(&machine, inventory).await;
    harness.read(&machine, &member).await;
    harness.post(&machine, "/redfish/v1/Managers/1/Actions/Manager.Reset", &json!({})).await;
    pass(180).await;
    assert_eq!(harness.bmc(&machine, "GET", &member, "").await.status, StatusCode::NOT_FOUND, "a restart hides it again");
}

#[tokio::test(start_paused = true)]
async fn dell_lists_firmware_that_does_not_run_beside_what_does() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Dell);
    let inventory = harness.read(&machine, "/redfish/v1/UpdateService/FirmwareInventory").await;
    let mut versions = Vec::new();
    for member in inventory["Members"].as_array().unwrap() {
        let firmware = harness.read(&machine, member["@odata.id"].as_str().unwrap()).await;
        if firmware["Name"] == "System BIOS" {
            versions.push(format!("{} {}", firmware["Id"].as_str().unwrap(), firmware["Version"].as_str().unwrap()));
        }
    }
    assert_eq!(versions, ["BIOS 1.15.2", "Previous-159-1.12.1 1.12.1", "Available-159-1.16.0 1.16.0"]);
}

#[tokio::test(start_paused = true)]
async fn supermicro_notices_power_seconds_late() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Supermicro);
    harness.reset(&machine, "ForceOff").await;
    assert_eq!(harness.power(&machine).await, "On");
    pass(3).await;
    assert_eq!(harness.power(&machine).await, "PoweringOff");
    pass(4).await;
    assert_eq!(harness.power(&machine).await, "PoweringOff", "it has been off for two seconds");
    pass(1).await;
    assert_eq!(harness.power(&machine).await, "Off");
}

#[tokio::test(start_paused = true)]
async fn a_full_bmc_ends_the_oldest_session_or_refuses_the_newest() {
    let harness = Harness::start().await;
    for vendor in [Vendor::Dell, Vendor::Hpe, Vendor::Lenovo, Vendor::Supermicro] {
        let machine = harness.of(vendor);
        let spec = harness.machine(&machine);
        let login = json!({"UserName": spec.bmc_user, "Password": spec.bmc_password}).to_string();
        let mut statuses = Vec::new();
        for _ in 0..17 {
            let router = harness.site.redfish(&machine).unwrap();
            statuses.push(send(router, "POST", "/redfish/v1/SessionService/Sessions", &[], &login).await.status);
        }
        assert!(statuses[..16].iter().all(|status| *status == StatusCode::CREATED), "{vendor:?}");
        let expected = if vendor == Vendor::Supermicro { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::CREATED };
        assert_eq!(statuses[16], expected, "{vendor:?}");
        assert_eq!(harness.read(&machine, "/redfish/v1/SessionService/Sessions").await["Members@odata.count"], 16, "{vendor:?}");
    }
}
