//! A site that is described anew while it is kept: machines come and go, and what was begun is ended.

use std::time::Duration;

use http::{Method, StatusCode};
use model::Site;
use scenarios::{House, machine_path};

const MACHINE: &str = "rack1compute01";

fn without(machine: &str) -> impl FnOnce(&mut Site) {
    move |site| site.machines.retain(|described| described.name.as_str() != machine)
}

async fn restart(house: &House) -> String {
    let path = format!("{}/restart?api-version=1", machine_path(MACHINE));
    let accepted = house.call(Method::POST, &path, "alice", "").await;
    accepted.body["name"].as_str().unwrap_or_else(|| panic!("the restart is accepted: {accepted:?}")).to_owned()
}

async fn status(house: &House) -> StatusCode {
    house.call(Method::GET, &format!("{}?api-version=1", machine_path(MACHINE)), "alice", "").await.status
}

fn power_cycles(house: &House) -> (u64, u64) {
    let counters = house.site.witness(MACHINE).expect("the machine is there").counters();
    (counters.powered_off, counters.powered_on)
}

#[tokio::test(start_paused = true)]
async fn a_machine_taken_out_in_the_middle_of_its_restart_is_restarted_to_the_end_and_then_goes() {
    let house = House::build(1, 4).await;
    let id = restart(&house).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let mut outcomes = house.describe_anew(without(MACHINE)).await;
    let first = outcomes.recv().await.expect("the keeper tells");
    let kept: Vec<String> = first.kept.iter().map(|(machine, why)| format!("{machine}: {why}")).collect();
    assert_eq!(kept, [format!("{MACHINE}: operation {id} is at work on it; it goes when that has ended")]);
    assert_eq!(status(&house).await, StatusCode::OK);
    house.until_ended(&id).await;
    assert_eq!(house.operation(&id).await["status"], "Succeeded");
    let last = outcomes.recv().await.expect("the keeper tells");
    assert_eq!((last.forgotten.len(), last.kept.len()), (1, 0));
    house.settle().await;
    assert_eq!(status(&house).await, StatusCode::NOT_FOUND);
    assert_eq!(power_cycles(&house), (1, 1));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_comes_back_is_looked_at_and_can_be_restarted() {
    let house = House::build(1, 4).await;
    let mut outcomes = house.describe_anew(without(MACHINE)).await;
    assert_eq!(outcomes.recv().await.expect("the keeper tells").forgotten.len(), 1);
    house.settle().await;
    assert_eq!(status(&house).await, StatusCode::NOT_FOUND);
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
