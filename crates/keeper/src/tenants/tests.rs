use std::sync::Arc;

use model::{
    Amount, Delivery, Errand, ErrandOutcome, FaultClass, Grace, Hardware, Home, InstancePhase, InstanceSeen, Limits, MachineName, NodeOf,
    PodDemands, PodPhase, PodRef, RackName, Readiness, Role, RunStrategy, SecretRef, Shutdown, Site, SiteMachine, SiteRack, Span, Standing,
    VmState,
};
use plan::{ErrandStep, Plan, Visit, Visited};
use store::{MemoryStore, SharedStore, SystemClock};

use super::*;
use crate::enroll_site;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn machine(number: u32) -> SiteMachine {
    SiteMachine {
        name: MachineName::new(format!("rack1compute0{number}")).unwrap(),
        role: Role::Compute,
        standing: Standing::Provisioned,
        install: model::InstallSettings::default(),
        hardware: Hardware {
            rack: RackName::new("rack1").unwrap(),
            slot: number,
            sku: "x".to_owned(),
            serial_number: format!("S{number}"),
            bmc_address: format!("http://m{number}.invalid"),
            bmc_mac: format!("00:00:00:00:00:0{number}"),
            boot_mac: format!("00:00:00:00:01:0{number}"),
            credentials: SecretRef::new("x"),
        },
    }
}

/// The books of a site with two machines, after their first plan.
async fn books() -> Books {
    let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
    let rack = SiteRack {
        name: RackName::new("rack1").unwrap(),
        availability_zone: "1".to_owned(),
        location: "x".to_owned(),
        serial_number: "R".to_owned(),
        sku: "x".to_owned(),
    };
    let site = Site {
        cluster: model::ClusterName::new("site1").unwrap(),
        home: Home { subscription: "s".to_owned(), resource_group: "g".to_owned(), location: "l".to_owned() },
        version: "4.9.2".to_owned(),
        limits: Limits::default(),
        racks: vec![rack],
        machines: vec![machine(1), machine(2)],
        skus: Vec::new(),
        join: None,
        new_logins: std::collections::BTreeSet::new(),
    };
    enroll_site(&store, &SystemClock, &site).await.unwrap();
    let lease = store.acquire_lease("keeper/site1", "test", Span::minutes(1)).await.unwrap();
    let (mut books, _) = Books::open(&store, &site.cluster, lease.fence(), NOW).await.unwrap();
    books.plan(NOW).unwrap();
    for machine in &site.machines {
        books.snapshot.nodes.insert(machine.name.as_str().to_owned(), machine.name.clone());
    }
    books
}

fn vm(name: &str, node: Option<&str>) -> VmSeen {
    let instance = node.map(|node| InstanceSeen {
        uid: "i".to_owned(),
        node: Some(node.to_owned()),
        phase: InstancePhase::Running,
        ready: Readiness::True,
        is_ending: false,
    });
    VmSeen {
        name: VmName::new(name).unwrap(),
        uid: name.to_owned(),
        run: RunStrategy::Always,
        state: VmState::Running,
        message: None,
        instance,
        cpu_cores: 1,
        memory_bytes: 1,
        grace: Span::seconds(30),
        node_of: None,
        created_at: None,
        os_disk: None,
    }
}

fn worker(name: &str, node: &str) -> VmSeen {
    VmSeen { node_of: Some(NodeOf { cluster: naks(), pool: None }), ..vm(name, Some(node)) }
}

fn naks() -> TenantClusterName {
    TenantClusterName::new("naks-01").unwrap()
}

fn pod(name: &str, node: &str) -> PodSeen {
    PodSeen {
        pod: PodRef { namespace: "a".to_owned(), name: name.to_owned(), uid: name.to_owned() },
        phase: PodPhase::Running,
        ready: Readiness::True,
        owner: None,
        is_mirror: false,
        has_local_storage: false,
        termination: None,
        grace: Span::seconds(30),
        node: Some(node.to_owned()),
        has_finalizers: false,
        requests: Amount::default(),
        labels: Arc::default(),
        demands: Arc::<PodDemands>::default(),
    }
}

fn fault() -> Fault {
    Fault::new(FaultClass::Unreachable, Delivery::No, "x")
}

/// What the next plan would visit.
fn visited(books: &mut Books) -> String {
    match books.take_visit(NOW) {
        Visit::All => "all".to_owned(),
        Visit::Only(Visited { machines, vms, tenant_clusters }) => format!("{machines:?} {vms:?} {tenant_clusters:?}"),
    }
}

#[tokio::test]
async fn a_virtual_machine_that_moves_concerns_both_machines_and_one_that_says_nothing_new_nobody() {
    let mut books = books().await;
    visited(&mut books);
    note_tenants(&mut books, TenantsEvent::Listed { vms: vec![vm("a", Some("rack1compute01"))], clusters: vec![] }, NOW);
    assert_eq!(books.snapshot.tenants.listed_at, Some(NOW));
    assert_eq!(visited(&mut books), "{rack1compute01} {a} {}");
    note_tenants(&mut books, TenantsEvent::VmChanged(vm("a", Some("rack1compute01"))), NOW);
    assert_eq!(visited(&mut books), "{} {} {}");
    note_tenants(&mut books, TenantsEvent::VmChanged(vm("a", Some("rack1compute02"))), NOW);
    assert_eq!(visited(&mut books), "{rack1compute01, rack1compute02} {a} {}");
    note_tenants(&mut books, TenantsEvent::Listed { vms: vec![], clusters: vec![] }, NOW);
    assert_eq!(visited(&mut books), "{rack1compute02} {a} {}");
    assert_eq!(books.snapshot.vms_on(&machine(2).name).count(), 0);
}

#[tokio::test]
async fn a_listing_without_tenants_makes_nobody_plan() {
    let mut books = books().await;
    visited(&mut books);
    note_tenants(&mut books, TenantsEvent::Listed { vms: vec![], clusters: vec![] }, NOW);
    note_tenants(&mut books, TenantsEvent::Heard, NOW);
    assert!(!books.needs_plan());
}

#[tokio::test]
async fn the_tenants_line_is_not_the_undercloud_s() {
    let mut books = books().await;
    visited(&mut books);
    note_tenants(&mut books, TenantsEvent::Lost(fault()), NOW);
    assert!(books.snapshot.tenants.contact.fault.is_some() && books.snapshot.undercloud.fault.is_none());
    assert!(books.needs_plan(), "the cluster's wait says so");
    note_tenants(&mut books, TenantsEvent::VmChanged(vm("a", None)), NOW);
    assert!(books.snapshot.tenants.contact.fault.is_some(), "news of one kind does not mend the watch of another");
    note_tenants(&mut books, TenantsEvent::Heard, NOW);
    assert!(books.snapshot.tenants.contact.fault.is_none());
}

#[tokio::test]
async fn a_tenant_cluster_is_listed_when_all_three_kinds_are_and_its_pods_concern_only_who_is_at_work() {
    let mut books = books().await;
    note_tenants(&mut books, TenantsEvent::VmChanged(worker("w1", "rack1compute01")), NOW);
    let mut listings = Listings::default();
    note_inside(&mut books, &naks(), &mut listings, InsideEvent::Nodes(vec![]), NOW);
    note_inside(&mut books, &naks(), &mut listings, InsideEvent::Pods(vec![pod("p", "w1")]), NOW);
    assert_eq!(books.snapshot.tenants.insides[&naks()].listed_at, None);
    note_inside(&mut books, &naks(), &mut listings, InsideEvent::Budgets(vec![]), NOW);
    assert_eq!(books.snapshot.tenants.insides[&naks()].listed_at, Some(NOW));
    visited(&mut books);
    note_inside(&mut books, &naks(), &mut listings, InsideEvent::PodChanged(pod("q", "w1")), NOW);
    assert_eq!(visited(&mut books), "{} {} {}", "nobody works on the machine");
    assert_eq!(books.snapshot.tenants.insides[&naks()].pods_on("w1").count(), 2);
    let mut emptied = (*books.snapshot.machines[&machine(1).name]).clone();
    emptied.evacuated = Some(model::Evacuated { by: model::OperationId::new("o"), since: NOW, vms: vec![], nodes: vec![] });
    let changes = plan::Changes { machines: [(emptied.name.clone(), emptied)].into(), ..plan::Changes::default() };
    books.settle(&Plan { changes, ..Plan::default() }, &[], None);
    note_inside(&mut books, &naks(), &mut listings, InsideEvent::PodGone { namespace: "a".to_owned(), name: "q".to_owned() }, NOW);
    assert_eq!(visited(&mut books), "{rack1compute01} {} {}");
    note_inside(&mut books, &naks(), &mut listings, InsideEvent::Lost(fault()), NOW);
    assert_eq!(visited(&mut books), "{} {} {naks-01}");
}

#[tokio::test]
async fn a_cluster_with_too_many_pods_is_not_taken_for_one_that_is_known() {
    let mut books = books().await;
    let mut listings = Listings::default();
    let many = (0..MOST_PODS).map(|number| pod(&format!("p{number}"), "w1")).collect();
    for event in [InsideEvent::Nodes(vec![]), InsideEvent::Budgets(vec![]), InsideEvent::Pods(many)] {
        assert_eq!(note_inside(&mut books, &naks(), &mut listings, event, NOW), Fit::Yes);
    }
    assert_eq!(note_inside(&mut books, &naks(), &mut listings, InsideEvent::PodChanged(pod("p0", "w2")), NOW), Fit::Yes);
    assert_eq!(note_inside(&mut books, &naks(), &mut listings, InsideEvent::PodChanged(pod("more", "w1")), NOW), Fit::TooManyPods);
    note_too_large(&mut books, &naks());
    let inside = &books.snapshot.tenants.insides[&naks()];
    assert_eq!((inside.listed_at, inside.pods().len()), (None, 0));
}

#[tokio::test]
async fn an_answered_errand_is_remembered_while_somebody_may_ask_about_it() {
    let mut books = books().await;
    let meant = vm("a", None).reference();
    let stop = ErrandStep {
        machine: Some(machine(1).name),
        operation: None,
        errand: Errand::StopVm { vm: meant, shutdown: Shutdown::Graceful },
        node: None,
        attempt: 1,
        reason: String::new(),
    };
    let pod = pod("p", "w1").pod;
    let evict = ErrandStep { errand: Errand::Evict { cluster: naks(), pod, grace: Grace::Own }, machine: None, ..stop.clone() };
    books.note_errand(&stop, NOW);
    books.note_errand(&evict, NOW);
    visited(&mut books);
    books.note_errand_answer(&stop, Ok(ErrandOutcome::Accepted), NOW);
    assert_eq!(visited(&mut books), "{rack1compute01} {a} {}");
    assert!(books.snapshot.tenants.errands[&stop.errand].answer.is_some());
    let document = (*books.snapshot.machines[&machine(2).name]).clone();
    let changes = plan::Changes { machines: [(document.name.clone(), document)].into(), ..plan::Changes::default() };
    books.settle(&Plan { changes, ..Plan::default() }, &[], None);
    assert!(!books.snapshot.tenants.errands.contains_key(&stop.errand), "no operation and no memory needs it");
    assert!(books.snapshot.tenants.errands.contains_key(&evict.errand), "it is under way");
}
