//! Two keepers for one cluster: one keeps, the other waits, and takes over only when the first is surely gone.

use std::time::Duration;

use http::Method;
use scenarios::{House, machine_path};

const MACHINE: &str = "rack1compute01";

#[tokio::test(start_paused = true)]
async fn a_second_keeper_takes_over_in_the_middle_and_doubles_nothing() {
    let mut house = House::build(1, 4).await;
    house.start_rival("rival").await;
    let path = format!("{}/restart?api-version=1", machine_path(MACHINE));
    let accepted = house.call(Method::POST, &path, "alice", "").await;
    let id = accepted.body["name"].as_str().expect("the restart is accepted").to_owned();
    tokio::time::sleep(Duration::from_secs(5)).await;
    // The first keeper dies without giving its lease back.
    house.crash().await;
    house.start_api_only().await;
    // Its lease and its last request must run out before the rival asks anything.
    tokio::time::sleep(Duration::from_secs(50)).await;
    assert_eq!(house.operation(&id).await["status"], "InProgress");
    house.until_ended(&id).await;
    assert_eq!(house.operation(&id).await["status"], "Succeeded");
    let counters = house.site.witness(MACHINE).expect("the machine is there").counters();
    assert_eq!((counters.resets_requested, counters.powered_off, counters.powered_on), (2, 1, 1));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_keeper_that_lost_its_lease_writes_nothing_more() {
    let mut house = House::build(1, 4).await;
    house.steal_lease("thief").await;
    house.reset_by_hand(MACHINE, "ForceOff").await;
    tokio::time::sleep(Duration::from_secs(300)).await;
    // Somebody else has the right to say what is so, and has not said that the machine is off.
    assert_eq!(house.machine(MACHINE).await["properties"]["powerState"], "On");
    house.crash().await;
    house.close().await;
}
