use model::{
    Action, Artefact, BootArtefacts, Category, CategoryResult, Comparison, CorrelationId, Digest, Ended, FieldResult, Found, Hardware,
    Home, Limits, LookAt, OperationId, OperationResult, RackName, Role, RuntimeVersion, SecretRef, Site, SiteMachine, SiteRack, Span,
    Standing, Survey, Validation, ValidationResult,
};
use plan::Changes;
use store::{MemoryStore, SystemClock};

use super::*;
use crate::enroll_site;

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_000_000);

pub(crate) fn name(number: u32) -> MachineName {
    MachineName::new(format!("rack1compute0{number}")).unwrap()
}

pub(crate) fn machine(number: u32) -> SiteMachine {
    SiteMachine {
        name: name(number),
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
            credentials: SecretRef::new(format!("bmc/site1/{}", name(number))),
        },
    }
}

pub(crate) fn site(machines: Vec<SiteMachine>) -> Site {
    let rack = SiteRack {
        name: RackName::new("rack1").unwrap(),
        availability_zone: "1".to_owned(),
        location: "x".to_owned(),
        serial_number: "R".to_owned(),
        sku: "x".to_owned(),
    };
    Site {
        cluster: ClusterName::new("site1").unwrap(),
        home: Home { subscription: "s".to_owned(), resource_group: "g".to_owned(), location: "l".to_owned() },
        version: "4.9.2".to_owned(),
        limits: Limits::default(),
        racks: vec![rack],
        machines,
        skus: Vec::new(),
        join: None,
        new_logins: std::collections::BTreeSet::new(),
    }
}

pub(crate) async fn store_of(site: &Site) -> (SharedStore, Fence) {
    let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
    enroll_site(&store, &SystemClock, site).await.unwrap();
    let lease = store.acquire_lease("keeper/site1", "test", Span::minutes(1)).await.unwrap();
    let fence = lease.fence();
    (store, fence)
}

fn bundle(version: &str, os_name: &str) -> Bundle {
    let artefact = Artefact { url: "http://images/x".to_owned(), sha256: Digest::parse(&"ab".repeat(32)).unwrap(), bytes: 1 };
    Bundle {
        version: RuntimeVersion::parse(version).unwrap(),
        os_name: os_name.to_owned(),
        os_image: artefact.clone().into(),
        kubernetes_version: "1.30.1".to_owned(),
        boot: BootArtefacts { agent_image: artefact, http: None, pxe: None },
        firmware: Vec::new(),
        user_data: BTreeMap::new(),
    }
}

fn validation(machine: &MachineName, at: Timestamp) -> Validation {
    let field = FieldResult { name: "Model".to_owned(), comparison: Comparison::Pass, expected: "x".to_owned(), fetched: "x".to_owned() };
    let category = CategoryResult { category: Category::SystemInfo, result: ValidationResult::Pass, fields: vec![field], log: Vec::new() };
    Validation {
        cluster: ClusterName::new("site1").unwrap(),
        machine: machine.clone(),
        by: OperationId::new("op1"),
        at,
        version: None,
        categories: vec![category],
    }
}

async fn carry_out(books: &mut Books, store: &SharedStore, fence: Fence, changes: Changes) {
    let plan = Plan { changes, ..Plan::default() };
    let commit = books.commit_of(&plan, NOW, fence);
    let keys: Vec<String> = commit.writes.keys().cloned().collect();
    let revision = store.commit(commit).await.unwrap();
    books.settle(&plan, &keys, Some(revision));
}

#[tokio::test]
async fn runtimes_are_written_overwritten_read_and_forgotten() {
    let site = site(vec![machine(1)]);
    let (store, fence) = store_of(&site).await;
    let (mut books, _) = Books::open(&store, &site.cluster, fence.clone(), NOW).await.unwrap();
    let version = RuntimeVersion::parse("4.4.3").unwrap();
    for os_name in ["first", "second"] {
        let changes = Changes { runtimes: [(version, bundle("4.4.3", os_name))].into(), ..Changes::default() };
        carry_out(&mut books, &store, fence.clone(), changes).await;
        let (read, _) = Books::open(&store, &site.cluster, fence.clone(), NOW).await.unwrap();
        assert_eq!(read.snapshot.runtimes, books.snapshot.runtimes);
        assert_eq!(read.snapshot.runtimes[&version].os_name, os_name);
    }
    let (mut books, _) = Books::open(&store, &site.cluster, fence.clone(), NOW).await.unwrap();
    carry_out(&mut books, &store, fence.clone(), Changes { forgotten_runtimes: [version].into(), ..Changes::default() }).await;
    assert!(books.snapshot.runtimes.is_empty());
    let again = Changes { runtimes: [(version, bundle("4.4.3", "third"))].into(), ..Changes::default() };
    carry_out(&mut books, &store, fence, again).await;
    assert_eq!(books.snapshot.runtimes[&version].os_name, "third");
}

fn inspection_of_site(ended: Option<Ended>) -> Operation {
    Operation {
        format: OPERATION_FORMAT,
        id: OperationId::new("op1"),
        cluster: ClusterName::new("site1").unwrap(),
        target: Target::Site(ClusterName::new("site1").unwrap()),
        action: Action::Inspect,
        caller: "alice".to_owned(),
        correlation_id: CorrelationId::new("c"),
        request_key: None,
        accepted_at: NOW,
        deadline_at: NOW,
        journal: Vec::new(),
        cancel: None,
        ended,
        wait: None,
        replacement: None,
    }
}

#[tokio::test]
async fn looks_are_kept_until_what_they_were_made_for_has_ended() {
    let site = site(vec![machine(1)]);
    let (store, fence) = store_of(&site).await;
    let (mut books, _) = Books::open(&store, &site.cluster, fence, NOW).await.unwrap();
    let found = Ok(Found::Survey(Survey::default()));
    crate::eyes::note_look(&mut books, &name(1), LookAt::Survey, NOW, found, NOW);
    let with = |operation: Operation| Changes { operations: [(operation.id.clone(), operation)].into(), ..Changes::default() };
    let mut settle = |ended| {
        books.settle(&Plan { changes: with(inspection_of_site(ended)), ..Plan::default() }, &[], None);
        books.snapshot.observation(&name(1)).looked.len()
    };
    assert_eq!(settle(None), 1);
    let ended = Ended { at: NOW, result: OperationResult::Succeeded, message: String::new(), next: None, failure: None };
    assert_eq!(settle(Some(ended)), 0);
}

#[tokio::test]
async fn the_latest_validation_of_a_machine_stands_in_the_store_until_its_machine_is_forgotten() {
    let site = site(vec![machine(1), machine(2)]);
    let (store, fence) = store_of(&site).await;
    let key = keys::validation(&site.cluster, &name(2));
    for at in [1, 2] {
        // Each time by another keeper, which has to know where the one before left it.
        let (mut books, _) = Books::open(&store, &site.cluster, fence.clone(), NOW).await.unwrap();
        let found = validation(&name(2), Timestamp::from_millis(at));
        carry_out(&mut books, &store, fence.clone(), Changes { validations: [(name(2), found.clone())].into(), ..Changes::default() })
            .await;
        let stored = store.get(&key).await.unwrap().unwrap();
        assert_eq!(serde_json::from_slice::<Validation>(&stored.value).unwrap(), found);
    }
    enroll_site(&store, &SystemClock, &self::site(vec![machine(1)])).await.unwrap();
    assert!(store.get(&key).await.unwrap().is_none());
}

#[tokio::test]
async fn what_an_agent_found_stands_with_its_machine_and_what_it_told_goes_with_its_operation() {
    let site = site(vec![machine(1), machine(2)]);
    let (store, fence) = store_of(&site).await;
    let mut operation = inspection_of_site(None);
    for round in 1..=2 {
        let (version, image) = (model::RuntimeVersion::parse("4.9.2").unwrap(), model::Digest::parse(&"0".repeat(64)).unwrap());
        let fact = model::Fact::Installing { round, way: model::BootWay::VirtualMedia, version, image, network: None };
        operation.journal.push(model::Entry { at: NOW, fact });
    }
    let log = |round| keys::install_log(&site.cluster, &operation.id, round);
    let inventory = keys::inventory(&site.cluster, &name(2));
    for nics in [1, 2] {
        let (mut books, _) = Books::open(&store, &site.cluster, fence.clone(), NOW).await.unwrap();
        let host = model::HostInventory { nics: vec![model::HostNic::default(); nics], ..model::HostInventory::default() };
        let found = model::Inventoried { cluster: site.cluster.clone(), machine: name(2), by: operation.id.clone(), at: NOW, host };
        let changes = Changes {
            inventories: [(name(2), found.clone())].into(),
            operations: [(operation.id.clone(), operation.clone())].into(),
            ..Changes::default()
        };
        carry_out(&mut books, &store, fence.clone(), changes).await;
        let stored = store.get(&inventory).await.unwrap().unwrap();
        assert_eq!(serde_json::from_slice::<model::Inventoried>(&stored.value).unwrap(), found);
    }
    // Whoever hears an agent writes its log, and only the keeper deletes it.
    store.commit(Commit::default().put(log(1), "one").put(log(2), "two")).await.unwrap();
    let (mut books, _) = Books::open(&store, &site.cluster, fence.clone(), NOW).await.unwrap();
    carry_out(&mut books, &store, fence, Changes { forgotten_operations: [operation.id.clone()].into(), ..Changes::default() }).await;
    for round in 1..=2 {
        assert!(store.get(&log(round)).await.unwrap().is_none());
    }
    enroll_site(&store, &SystemClock, &self::site(vec![machine(1)])).await.unwrap();
    assert!(store.get(&inventory).await.unwrap().is_none());
}
