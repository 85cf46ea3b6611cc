//! What a keeper makes of its own troubles: a clock that is set, a store that cannot be written, machines without a BMC.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use http::Method;
use model::{Clock, KeeperState, Timestamp};
use scenarios::{House, machine_path};

const MACHINE: &str = "rack1compute01";

/// A clock that can be set, as people and time servers do.
struct Settable {
    inner: Arc<dyn Clock>,
    off_by: AtomicI64,
}

impl Clock for Settable {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.inner.now().as_millis() + self.off_by.load(Ordering::SeqCst))
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_or_a_computer_that_slept_fails_no_operation() {
    for jump in [8 * 3_600_000, -60_000] {
        let mut house = House::without_control_plane(1, 4).await;
        let clock = Arc::new(Settable { inner: house.clock.clone(), off_by: AtomicI64::new(0) });
        house.clock = clock.clone();
        house.start_control_plane().await;
        house.settle().await;
        let path = format!("{}/restart?api-version=1", machine_path(MACHINE));
        let accepted = house.call(Method::POST, &path, "alice", "").await;
        let id = accepted.body["name"].as_str().expect("the restart is accepted").to_owned();
        tokio::time::sleep(Duration::from_secs(5)).await;
        clock.off_by.store(jump, Ordering::SeqCst);
        house.until_ended(&id).await;
        let operation = house.operation(&id).await;
        assert_eq!(operation["status"], "Succeeded", "after a jump of {jump} ms: {operation:#}");
        let counters = house.site.witness(MACHINE).expect("the machine is there").counters();
        assert_eq!((counters.powered_off, counters.powered_on), (1, 1));
        house.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_keeper_says_how_it_is_doing() {
    let house = House::build(1, 4).await;
    let state = house.keeper_state();
    assert!(matches!(*state.borrow(), KeeperState::Keeping { .. }));
    assert_eq!(house.get("/readyz").await["missing"], serde_json::json!([]));
    house.steal_lease("thief").await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert!(matches!(&*state.borrow(), KeeperState::Failing { error, .. } if error.contains("lease")), "{:?}", state.borrow());
    let status = house.get("/rackwright/v1/status").await;
    assert_eq!(status["clusters"][0]["keeper"]["state"], "Failing", "what is shown of the cluster may be old, and says so");
    let ready = house.call(Method::GET, "/readyz", "alice", "").await;
    assert_eq!(ready.status, http::StatusCode::SERVICE_UNAVAILABLE);
    let missing = ready.body["missing"][0].as_str().expect("something is missing");
    assert!(missing.starts_with("the keeper of `site1` is failing"), "{missing}");
    let cluster = &ready.body["clusters"][0];
    assert_eq!(cluster["lease"]["holder"], "thief");
    assert!(cluster["lastKnown"]["newestAgeSeconds"].as_u64() > Some(60), "nobody has looked since: {cluster}");
    assert_eq!(house.machine(MACHINE).await["properties"]["powerState"], "On", "what was last known is still served");
    house.close().await;
}
