//! What was answered outlives a crash, and a stopped world stands still.

use std::sync::Arc;
use std::time::Duration;

use model::{Clock, Span, Timestamp};
use sim::{DescribedMachine, Logged, Role, SimError, Site, SiteSpec};
use store::{Change, Commit, Document, Lease, Listing, MemoryStore, Revision, Store, StoreError, TokioClock, Watch};

use crate::harness::{Harness, pass, ready, spec};

#[tokio::test(start_paused = true)]
async fn what_was_answered_before_a_crash_is_so_after_it() {
    let harness = Harness::start().await;
    harness.reset("rack1compute01", "ForceOff").await;
    harness.merge_patch("/api/v1/nodes/rack1compute02", r#"{"spec":{"unschedulable":true}}"#).await;
    let uid = harness.node("rack1compute02").await["metadata"]["uid"].clone();

    let harness = harness.crash_and_reopen(Duration::from_secs(8 * 3_600)).await;
    assert_eq!(harness.power("rack1compute01").await, "PoweringOff");
    let log: Vec<Logged> = harness.site.witness("rack1compute01").unwrap().entries().map(|entry| entry.logged.clone()).collect();
    assert_eq!(log, [Logged::ResetRequested { reset: "ForceOff".to_owned(), status: 204 }]);
    let node = harness.node("rack1compute02").await;
    assert_eq!((&node["spec"]["unschedulable"], &node["metadata"]["uid"]), (&true.into(), &uid));
    pass(6).await;
    assert_eq!(harness.power("rack1compute01").await, "Off");
    assert_eq!(harness.site.witness("rack1compute01").unwrap().counters().powered_off, 1);
}

#[tokio::test(start_paused = true)]
async fn after_a_night_off_nobody_is_unknown() {
    let mut harness = Harness::start().await;
    pass(100).await;
    harness.stop().await;
    let harness = harness.crash_and_reopen(Duration::from_secs(8 * 3_600)).await;
    pass(120).await;
    let nodes = harness.get("/api/v1/nodes").await.body;
    assert!(nodes["items"].as_array().unwrap().iter().all(|node| ready(node) == "True"));
}

#[tokio::test(start_paused = true)]
async fn a_boot_goes_on_where_it_was_stopped() {
    let mut harness = Harness::start().await;
    harness.reset("rack1compute01", "PowerCycle").await;
    pass(5 + 20 + 200).await;
    harness.stop().await;
    let harness = harness.crash_and_reopen(Duration::from_secs(3_600)).await;
    assert_eq!(harness.ready("rack1compute01").await, "Unknown");
    pass(70).await;
    assert_eq!(harness.ready("rack1compute01").await, "True");
}

#[tokio::test(start_paused = true)]
async fn a_site_is_not_continued_with_another_layout() {
    let harness = Harness::start().await;
    let other = SiteSpec { racks: 5, ..spec() };
    let error = Site::open(other, harness.store.clone(), harness.clock.clone()).await.unwrap_err();
    assert!(matches!(error, SimError::DifferentLayout { .. }), "{error:?}");
    assert!(error.to_string().contains("4 racks of 4 machines and seed 1"), "{error}");
    let faster = spec().at_speed(60.0);
    assert!(Site::open(faster, harness.store.clone(), harness.clock.clone()).await.is_ok(), "the speed may change");
}

#[tokio::test(start_paused = true)]
async fn a_described_site_is_not_continued_with_another_description() {
    let harness = Harness::start().await;
    let described = |slot| DescribedMachine {
        name: "row1-a".to_owned(),
        rack: "row1".to_owned(),
        slot,
        role: Role::ControlPlane,
        vendor: None,
        serial_number: "S1".to_owned(),
        bmc_mac: "02:00:00:00:00:01".to_owned(),
        boot_mac: "02:00:00:00:00:02".to_owned(),
    };
    let spec = |slot| SiteSpec::described("west", vec![described(slot)], 1);
    let open = async |spec| Site::open(spec, harness.store.clone(), harness.clock.clone()).await;
    assert_eq!(open(spec(1)).await.unwrap().layout().machines()[0].rack_name(), "row1");
    assert!(open(spec(1)).await.is_ok(), "the same description goes on");
    let problem = open(spec(2)).await.unwrap_err().to_string();
    assert!(problem.contains("made with `row1-a` as control plane in row1 slot 1"), "{problem}");
    assert!(problem.contains("not with `row1-a` as control plane in row1 slot 2"), "{problem}");
    let problem = open(SiteSpec::new("west", 4, 4, 1)).await.unwrap_err().to_string();
    assert!(problem.contains("made with a description of 1 machines and seed 1, not with 4 racks of 4 machines"), "{problem}");
}

#[tokio::test(start_paused = true)]
async fn two_sites_share_a_store_without_meeting() {
    let harness = Harness::start().await;
    let west = Site::open(SiteSpec { name: "west".to_owned(), ..spec() }, harness.store.clone(), harness.clock.clone()).await.unwrap();
    harness.reset("rack1compute01", "ForceOff").await;
    assert_eq!(west.witness("rack1compute01").unwrap().counters().resets_requested, 0);
}

/// A store whose disk fills up after the site was made.
struct FullStore {
    inner: MemoryStore,
    commits_left: std::sync::atomic::AtomicI64,
}

#[async_trait::async_trait]
impl Store for FullStore {
    async fn get(&self, key: &str) -> Result<Option<Document>, StoreError> {
        self.inner.get(key).await
    }
    async fn list(&self, prefix: &str) -> Result<Listing, StoreError> {
        self.inner.list(prefix).await
    }
    async fn commit(&self, commit: Commit) -> Result<Revision, StoreError> {
        if self.commits_left.fetch_sub(1, std::sync::atomic::Ordering::SeqCst) <= 0 {
            return Err(StoreError::DiskFull { path: "memory".to_owned() });
        }
        self.inner.commit(commit).await
    }
    async fn watch(&self, prefix: &str, from: Revision) -> Result<Box<dyn Watch>, StoreError> {
        self.inner.watch(prefix, from).await
    }
    async fn history(&self, prefix: &str, limit: usize) -> Result<Vec<Change>, StoreError> {
        self.inner.history(prefix, limit).await
    }
    async fn read_log(&self, query: store::LogQuery) -> Result<Vec<store::Record>, StoreError> {
        self.inner.read_log(query).await
    }
    async fn acquire_lease(&self, name: &str, holder: &str, ttl: Span) -> Result<Lease, StoreError> {
        self.inner.acquire_lease(name, holder, ttl).await
    }
    async fn renew_lease(&self, lease: &Lease, ttl: Span) -> Result<Lease, StoreError> {
        self.inner.renew_lease(lease, ttl).await
    }
    async fn release_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        self.inner.release_lease(lease).await
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_saved_is_not_acknowledged() {
    let clock: Arc<dyn Clock> = Arc::new(TokioClock::starting_at(Timestamp::EPOCH));
    let store = FullStore { inner: MemoryStore::new(clock.clone()), commits_left: 1.into() };
    let harness = Harness::on(Arc::new(store), clock).await;
    let path = harness.system_path("rack1compute01").await;
    let reset = format!("{path}/Actions/ComputerSystem.Reset");
    assert_eq!(harness.bmc("rack1compute01", "POST", &reset, r#"{"ResetType":"On"}"#).await.status.as_u16(), 500);
    assert_eq!(harness.merge_patch("/api/v1/nodes/rack1compute02", r#"{"spec":{"unschedulable":true}}"#).await.status.as_u16(), 500);
}
