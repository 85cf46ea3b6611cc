//! Replace: who the machine is afterwards, which login is kept, and what becomes of one whose hardware does not match.

use std::time::Duration;

use scenarios::{House, etcd_of};
use serde_json::{Value, json};
use sim::Swap;

use crate::hand::{COMPUTE, carry_out, clear_faults, facts, fault, post, refusal, site, succeed, unguarded};

const WARNING: &str = "Warning: BMM Node is unhealthy and may require hardware replacement.";

fn new_board() -> Swap {
    Swap {
        parts: Vec::new(),
        serial_number: Some("NEW0001".into()),
        bmc_mac: Some("02:00:00:00:aa:01".into()),
        boot_mac: Some("02:00:00:00:aa:02".into()),
        bmc_password: Some("of-the-new-board".into()),
    }
}

/// What a technician wrote down, with this password.
fn written_down(house: &House, machine: &str, password: &str) -> Value {
    let machines = house.site.layout().machines();
    let user = &machines.iter().find(|spec| spec.name == machine).expect("the machine is there").bmc_user;
    json!({
        "serialNumber": "NEW0001", "bmcMacAddress": "02:00:00:00:aa:01", "bootMacAddress": "02:00:00:00:aa:02", "machineName": machine,
        "bmcCredentials": { "username": user, "password": password },
    })
}

async fn swap(house: &House, machine: &str, swap: &Swap) {
    house.site.swap(machine, swap).await.expect("parts can be exchanged");
    tokio::time::sleep(Duration::from_secs(300)).await;
}

async fn standing(house: &House, machine: &str) -> Vec<String> {
    let properties = house.machine(machine).await["properties"].clone();
    let told =
        ["detailedStatus", "detailedStatusMessage", "provisioningState", "cordonStatus", "serialNumber", "bmcMacAddress", "bootMacAddress"];
    told.map(|name| properties[name].to_string()).to_vec()
}

/// What a replace must leave as it was.
async fn place(house: &House, machine: &str) -> Vec<String> {
    let resource = house.machine(machine).await;
    let properties = &resource["properties"];
    let mut told = vec![resource["id"].to_string(), resource["name"].to_string()];
    told.extend(
        ["rackId", "rackSlot", "machineName", "machineRoles", "bmcConnectionString", "clusterId", "machineSkuId"]
            .map(|name| properties[name].to_string()),
    );
    told
}

#[tokio::test(start_paused = true)]
async fn a_new_login_is_kept_only_after_it_was_let_in_and_the_identity_moves_with_it() {
    for machine in [COMPUTE, "rack1control02"] {
        let mut house = site(4).await;
        let before = place(&house, machine).await;
        swap(&house, machine, &new_board()).await;
        let known = standing(&house, machine).await;
        let failed = carry_out(&house, machine, "replace", &written_down(&house, machine, "mistyped")).await;
        let message = failed["message"].as_str().unwrap_or_default();
        assert!(failed["status"] == "Failed" && message.contains("BMC login unsuccessful: Fail - Unauthorized"), "{failed:#}");
        assert_eq!(standing(&house, machine).await, known, "nothing of a login that was refused is kept");
        succeed(&house, machine, "replace", &written_down(&house, machine, "of-the-new-board")).await;
        assert_eq!(place(&house, machine).await, before, "name, slot, rack and role stay");
        let (own, properties) = (house.site.identity(machine).unwrap(), house.machine(machine).await["properties"].clone());
        let same = |name: &str, own: &str| properties[name].as_str().unwrap().eq_ignore_ascii_case(own);
        assert!(same("serialNumber", &own.serial_number) && same("bmcMacAddress", &own.bmc_mac) && same("bootMacAddress", &own.boot_mac));
        let voters = etcd_of(&house.site).observe_members().await.unwrap().members.iter().filter(|member| !member.is_learner).count();
        assert_eq!(voters, 3, "the control plane is whole");
        // The site file still tells the old board. It is not believed again, and the new login is used.
        house.restart_described(|_| {}).await;
        assert_eq!(house.machine(machine).await["properties"]["serialNumber"], "NEW0001");
        succeed(&house, machine, "uncordon", &json!({})).await;
        succeed(&house, machine, "restart", &json!({})).await;
        house.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_wrong_login_for_a_board_that_stayed_leaves_the_old_one_in_use() {
    let house = site(4).await;
    let known = standing(&house, COMPUTE).await;
    let body = json!({ "bmcCredentials": { "username": "root", "password": "mistyped" }, "safeguardMode": "None" });
    let failed = carry_out(&house, COMPUTE, "replace", &body).await;
    assert!(failed["status"] == "Failed" && failed["message"].as_str().unwrap().contains("Fail - Unauthorized"), "{failed:#}");
    assert_eq!(standing(&house, COMPUTE).await, known);
    assert_eq!(facts(&failed, "asked").count(), 0, "nothing was touched: {failed:#}");
    succeed(&house, COMPUTE, "restart", &json!({})).await;
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_login_that_was_let_in_is_kept_even_if_the_hardware_does_not_match() {
    let house = site(4).await;
    swap(&house, COMPUTE, &new_board()).await;
    fault(&house, "memory-missing", COMPUTE).await;
    let mut body = written_down(&house, COMPUTE, "of-the-new-board");
    let failed = carry_out(&house, COMPUTE, "replace", &body).await;
    assert!(failed["status"] == "Failed" && failed["message"].as_str().unwrap().contains("memory_capacity_GB"), "{failed:#}");
    let properties = house.machine(COMPUTE).await["properties"].clone();
    assert_eq!(properties["serialNumber"], "NEW0001", "its BMC is not taken for another machine's");
    assert_ne!(properties["bootMacAddress"], "02:00:00:00:aa:02", "the rest is taken over when all of it was found right");
    clear_faults(&house).await;
    tokio::time::sleep(Duration::from_secs(300)).await;
    body.as_object_mut().unwrap().remove("bmcCredentials");
    succeed(&house, COMPUTE, "replace", &body).await;
    assert_eq!(house.machine(COMPUTE).await["properties"]["bootMacAddress"], "02:00:00:00:aa:02");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn only_a_replace_brings_back_a_machine_whose_hardware_did_not_match() {
    let mut house = site(4).await;
    let data = house.site.volumes(COMPUTE).unwrap()[1..].to_vec();
    fault(&house, "memory-missing", COMPUTE).await;
    let failed = carry_out(&house, COMPUTE, "replace", &json!({ "safeguardMode": "None", "storagePolicy": "Preserve" })).await;
    assert!(failed["status"] == "Failed" && failed["message"].as_str().unwrap().contains("memory_capacity_GB"), "{failed:#}");
    let is_marked = async |house: &House| {
        house.machine(COMPUTE).await["properties"]["detailedStatusMessage"].as_str().unwrap_or_default().contains(WARNING)
    };
    assert!(is_marked(&house).await, "{:#}", house.machine(COMPUTE).await);
    clear_faults(&house).await;
    let (status, code, words) = refusal(&post(&house, COMPUTE, "reimage", &unguarded()).await);
    assert_eq!((status, code.as_str()), (409, "MachineUnhealthy"), "{words}");
    for verb in ["validateHardware", "restart", "powerOff", "start", "uncordon"] {
        let reply = post(&house, COMPUTE, verb, &json!({})).await;
        if reply.status == 202 {
            house.until_ended(reply.body["name"].as_str().unwrap()).await;
        }
        assert!(is_marked(&house).await, "after {verb}");
    }
    house.restart_described(|_| {}).await;
    assert!(is_marked(&house).await, "after a restart of ours");
    succeed(&house, COMPUTE, "replace", &json!({ "safeguardMode": "None", "storagePolicy": "Preserve" })).await;
    assert!(!is_marked(&house).await);
    assert_eq!(house.site.volumes(COMPUTE).unwrap()[1..], data, "`Preserve` keeps tenants' volumes");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn volumes_go_by_default_and_the_system_gets_one_anew() {
    let house = site(4).await;
    assert!(house.site.volumes(COMPUTE).unwrap().len() > 1);
    succeed(&house, COMPUTE, "replace", &unguarded()).await;
    let volumes = house.site.volumes(COMPUTE).unwrap();
    assert!(volumes.len() == 1 && volumes[0].0 == "OS" && volumes[0].1.starts_with("system "), "{volumes:?}");
    house.close().await;
}
