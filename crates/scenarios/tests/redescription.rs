//! A site that is described anew while it is kept, or while nobody keeps it: machines come and go, and what was begun is
//! neither doubled nor forgotten.

use std::time::Duration;

use http::{Method, StatusCode};
use keeper::{LEASE_TTL, Verdict};
use model::{ClusterName, MachineName, Site, keys};
use scenarios::{House, machine_path};

const MACHINE: &str = "rack1compute01";
const RENAMED: &str = "rack1compute09";

fn without(machine: &str) -> impl FnOnce(&mut Site) {
    move |site| site.machines.retain(|described| described.name.as_str() != machine)
}

fn renamed(site: &mut Site) {
    let machine = site.machines.iter_mut().find(|described| described.name.as_str() == MACHINE).expect("the machine is described");
    machine.name = MachineName::new(RENAMED).expect("a constant name");
}

async fn act(house: &House, machine: &str, action: &str) -> String {
    let path = format!("{}/{action}?api-version=1", machine_path(machine));
    let accepted = house.call(Method::POST, &path, "alice", "").await;
    accepted.body["name"].as_str().unwrap_or_else(|| panic!("the {action} is accepted: {accepted:?}")).to_owned()
}

async fn restart(house: &House) -> String {
    act(house, MACHINE, "restart").await
}

async fn status(house: &House, machine: &str) -> StatusCode {
    house.call(Method::GET, &format!("{}?api-version=1", machine_path(machine)), "alice", "").await.status
}

fn power_cycles(house: &House) -> (u64, u64) {
    let counters = house.site.witness(MACHINE).expect("the machine is there").counters();
    (counters.powered_off, counters.powered_on)
}

#[track_caller]
fn refusal(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Refused(objections) => objections.iter().map(|objection| format!("{objection}\n")).collect(),
        Verdict::TakenOver { .. } => panic!("it was taken over"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_machine_is_neither_taken_out_nor_renamed_in_the_middle_of_its_restart() {
    let house = House::build(1, 4).await;
    let id = restart(&house).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let verdicts = [house.describe_anew(without(MACHINE)).await, house.describe_anew(renamed).await];
    for verdict in &verdicts {
        let told = refusal(verdict);
        assert!(told.contains(MACHINE) && told.contains("rackwright operation wait"), "{told}");
    }
    house.describe_anew(renamed).await;
    let told = house.log("status eq 'Failed'").await;
    let told: Vec<&str> = told.iter().filter_map(|event| event["description"].as_str()).collect();
    assert_eq!(told.len(), 2, "each description once: {told:#?}");
    assert!(told[0].starts_with("the site's new description was not taken over: `rack1compute01` cannot be taken out"), "{told:#?}");
    assert_eq!((status(&house, MACHINE).await, status(&house, RENAMED).await), (StatusCode::OK, StatusCode::NOT_FOUND));
    house.until_ended(&id).await;
    assert_eq!(house.operation(&id).await["status"], "Succeeded");
    assert_eq!(power_cycles(&house), (1, 1));

    let Verdict::TakenOver { forgotten } = house.describe_anew(renamed).await else { panic!("nothing speaks against it any more") };
    assert_eq!(forgotten.len(), 1);
    house.settle().await;
    assert_eq!((status(&house, MACHINE).await, status(&house, RENAMED).await), (StatusCode::NOT_FOUND, StatusCode::OK));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_comes_back_is_looked_at_and_can_be_restarted() {
    let house = House::build(1, 4).await;
    let Verdict::TakenOver { forgotten } = house.describe_anew(without(MACHINE)).await else { panic!("nothing speaks against it") };
    assert_eq!(forgotten.len(), 1);
    house.settle().await;
    assert_eq!(status(&house, MACHINE).await, StatusCode::NOT_FOUND);
    house.describe_anew(|_| {}).await;
    house.settle().await;
    assert_eq!(house.machine(MACHINE).await["properties"]["readyState"], "True", "its BMC and its node were looked at");
    let id = restart(&house).await;
    house.until_ended(&id).await;
    assert_eq!(house.operation(&id).await["status"], "Succeeded");
    assert_eq!(power_cycles(&house), (1, 1));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn new_ways_to_every_device_in_the_middle_of_a_restart_double_nothing() {
    let house = House::build(1, 4).await;
    let id = restart(&house).await;
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_secs(3)).await;
        house.describe_anew(|_| {}).await;
    }
    house.until_ended(&id).await;
    assert_eq!(house.operation(&id).await["status"], "Succeeded");
    assert_eq!(power_cycles(&house), (1, 1));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_operation_on_a_machine_that_is_missing_at_the_start_fails_at_once_and_promises_nothing() {
    let mut house = House::build(1, 4).await;
    let id = restart(&house).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    house.restart_described(without(MACHINE)).await;
    let operation = house.operation(&id).await;
    assert_eq!(operation["status"], "Failed", "{operation:#}");
    assert!(operation.to_string().contains("no longer described in the site file; put it back"), "{operation:#}");
    let machine = house.machine(MACHINE).await.to_string();
    assert!(machine.contains("puts it back into the site file") && !machine.contains("tried again"), "{machine}");
    assert!(machine.contains("power-off by operation"), "its hold is seen: {machine}");
    let refused = house.call(Method::POST, &format!("{}/start?api-version=1", machine_path(MACHINE)), "alice", "").await;
    assert!(refused.body.to_string().contains("no longer described in the site file"), "{refused:?}");
    // Descriptions that leave it out as before are no worse than the one at the start.
    assert!(matches!(house.describe_anew(|_| {}).await, Verdict::TakenOver { .. }));
    assert_eq!(status(&house, MACHINE).await, StatusCode::OK);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_keeper_that_begins_again_goes_on_with_the_newest_devices() {
    let house = House::build(1, 4).await;
    assert!(matches!(house.describe_anew(renamed).await, Verdict::TakenOver { .. }));
    let lease = keys::keeper_lease(&ClusterName::new("site1").expect("a constant name"));
    let own = house.store.acquire_lease(&lease, "local", LEASE_TTL).await.expect("the lease is the keeper's");
    house.store.release_lease(&own).await.expect("a lease can be given back");
    let stolen = house.store.acquire_lease(&lease, "thief", LEASE_TTL).await.expect("the lease is free");
    tokio::time::sleep(LEASE_TTL.to_std() / 2).await;
    house.store.release_lease(&stolen).await.expect("a lease can be given back");
    tokio::time::sleep(2 * LEASE_TTL.to_std()).await;
    let id = act(&house, RENAMED, "powerOff").await;
    house.until_ended(&id).await;
    assert_eq!(house.operation(&id).await["status"], "Succeeded");
    assert_eq!(power_cycles(&house), (1, 0));
    house.close().await;
}

/// The spare is off. Its BMC becomes that of the machine, which is on, while the old BMC takes its time over a look: if
/// what that look sees were believed of the new BMC, the machine would count as started without having been switched on.
#[tokio::test(start_paused = true)]
async fn what_a_bmc_says_after_it_was_replaced_is_not_believed() {
    let house = House::build(4, 3).await;
    let spare = house.site.layout().machines().iter().find(|machine| matches!(machine.role, sim::Role::SpareControlPlane));
    let spare = spare.expect("four racks have a spare").clone();
    let without_spare = |site: &mut Site| site.machines.retain(|machine| machine.name.as_str() != spare.name);
    assert!(matches!(house.describe_anew(without_spare).await, Verdict::TakenOver { .. }));
    house.settle().await;
    let slow = sim::parse_order(&format!("bmc-slow {MACHINE} ms=5000"), house.site.layout()).expect("the phrase is sound");
    house.site.add_faults(&slow).await.expect("the fault is taken up");
    let id = act(&house, MACHINE, "start").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let exchanged = house.describe_anew(|site| {
        without_spare(site);
        let machine = site.machines.iter_mut().find(|machine| machine.name.as_str() == MACHINE).expect("it is described");
        machine.hardware.serial_number = spare.serial_number.clone();
        machine.hardware.bmc_address = "http://new.bmc.invalid".to_owned();
    });
    assert!(matches!(exchanged.await, Verdict::TakenOver { .. }));
    house.until_ended(&id).await;
    let switched_on = house.site.witness(&spare.name).expect("the spare is there").counters().powered_on;
    assert_eq!(switched_on, 1);
    house.close().await;
}
