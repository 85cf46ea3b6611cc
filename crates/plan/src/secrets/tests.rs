use std::collections::BTreeMap;

use model::{
    Action, Cluster, ClusterName, ClusterStatus, Connection, CorrelationId, DesiredPower, Ended, FIRST_EDITION, Hardware, Home, LastSeen,
    Limits, Machine, MachineName, Management, OPERATION_FORMAT, Operation, OperationId, OperationResult, Outage, Provisioning, RackName,
    Replaced, Replacement, Request, RequestId, Role, Safeguard, StoragePolicy, Target, Timestamp, Verdict,
};

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn cluster() -> Cluster {
    Cluster {
        name: ClusterName::new("site1").unwrap(),
        home: Home { subscription: "s".into(), resource_group: "g".into(), location: "here".into() },
        tags: BTreeMap::new(),
        created_at: NOW,
        version: "4.7.8".into(),
        detailed_status: ClusterStatus::Running,
        connection: Connection::Connected,
        connection_since: NOW,
        limits: Limits::default(),
        waits: Vec::new(),
        skus: Vec::new(),
        join: None,
    }
}

fn machine(name: &str, login: &str) -> Machine {
    Machine {
        name: MachineName::new(name).unwrap(),
        cluster: ClusterName::new("site1").unwrap(),
        install: model::InstallSettings::default(),
        hardware: Hardware {
            rack: RackName::new("rack1").unwrap(),
            slot: 1,
            sku: "x".into(),
            serial_number: "S1".into(),
            bmc_address: "http://m.invalid".into(),
            bmc_mac: "00:00:00:00:00:01".into(),
            boot_mac: "00:00:00:00:01:01".into(),
            credentials: SecretRef::new(login),
        },
        tags: BTreeMap::new(),
        created_at: NOW,
        details: String::new(),
        edition: FIRST_EDITION,
        modified: None,
        role: Role::Compute,
        provisioning: Provisioning::Provisioned,
        desired_power: DesiredPower::On,
        holds: Vec::new(),
        management: Management::Managed,
        managed_again: None,
        last_seen: LastSeen::default(),
        node_ask: None,
        evacuated: None,
        installed: None,
        validated: None,
        unhealthy: None,
        replaced: None,
        baseline: None,
        accounts: None,
        waits: Vec::new(),
    }
}

fn replacement(login: &str) -> Option<Box<Replacement>> {
    Some(Box::new(Replacement { credentials: Some(SecretRef::new(login)), ..Replacement::default() }))
}

const REPLACE: Action = Action::Replace { storage: StoragePolicy::DiscardAll, safeguard: Safeguard::All };

fn operation(login: &str, ended: Option<OperationResult>) -> Operation {
    Operation {
        format: OPERATION_FORMAT,
        id: OperationId::new("op1"),
        cluster: ClusterName::new("site1").unwrap(),
        target: Target::Machine(MachineName::new("a").unwrap()),
        action: REPLACE,
        caller: "alice".into(),
        correlation_id: CorrelationId::new("c"),
        request_key: None,
        accepted_at: NOW,
        deadline_at: NOW,
        journal: Vec::new(),
        cancel: None,
        ended: ended.map(|result| Ended { at: NOW, result, message: String::new(), next: None, failure: None }),
        wait: None,
        replacement: replacement(login),
    }
}

fn request(login: &str, verdict: Option<Verdict>) -> Request {
    Request {
        id: RequestId::new("r1"),
        cluster: ClusterName::new("site1").unwrap(),
        ask: Ask::Act {
            machine: MachineName::new("a").unwrap(),
            action: REPLACE,
            outage: Outage::Refused,
            replacement: replacement(login),
        },
        caller: "alice".into(),
        correlation_id: CorrelationId::new("c"),
        key: None,
        sent: None,
        received_at: NOW,
        expires_at: NOW,
        verdict,
    }
}

/// Two machines with logins of their own.
fn site() -> Snapshot {
    let mut site = Snapshot::new(cluster(), NOW);
    site.set_machine(machine("a", "old"));
    site.set_machine(machine("b", "b"));
    site
}

fn abandoned(before: &Snapshot, changes: Changes) -> Vec<String> {
    let plan = Plan { changes, ..Plan::default() };
    plan.abandoned_secrets(before).iter().map(ToString::to_string).collect()
}

fn with_machine(after: Machine) -> Changes {
    Changes { machines: [(after.name.clone(), after)].into(), ..Changes::default() }
}

fn with_operation(operation: Operation) -> Changes {
    Changes { operations: [(operation.id.clone(), operation)].into(), ..Changes::default() }
}

fn with_request(request: Request) -> Changes {
    Changes { requests: [(request.id.clone(), request)].into(), ..Changes::default() }
}

#[test]
fn the_old_login_is_abandoned_when_a_machine_has_another_unless_someone_still_has_it() {
    let mut before = site();
    before.set_operation(operation("new", None));
    assert_eq!(abandoned(&before, with_machine(machine("a", "new"))), ["old"]);
    assert_eq!(abandoned(&before, with_machine(machine("a", "old"))), Vec::<String>::new());
    before.set_machine(machine("c", "old"));
    assert_eq!(abandoned(&before, with_machine(machine("a", "new"))), Vec::<String>::new(), "another machine has the same login");
}

#[test]
fn the_login_of_the_site_file_stays_for_when_the_file_has_the_last_word_again() {
    let mut after = machine("a", "new");
    after.replaced = Some(Box::new(Replaced { at: NOW, described: machine("a", "old").hardware }));
    assert_eq!(abandoned(&site(), with_machine(after.clone())), Vec::<String>::new());
    let mut before = site();
    before.set_machine(after.clone());
    after.hardware.credentials = SecretRef::new("newer");
    assert_eq!(abandoned(&before, with_machine(after)), ["new"]);
}

#[test]
fn a_new_login_is_kept_while_its_replace_runs_and_afterwards_only_if_the_machine_has_it() {
    let mut before = site();
    before.set_operation(operation("new", None));
    assert_eq!(abandoned(&before, with_operation(operation("new", None))), Vec::<String>::new());
    assert_eq!(abandoned(&before, with_operation(operation("new", Some(OperationResult::Failed)))), ["new"]);
    assert_eq!(abandoned(&before, with_operation(operation("old", Some(OperationResult::Failed)))), Vec::<String>::new());
    let both = Changes {
        operations: with_operation(operation("new", Some(OperationResult::Succeeded))).operations,
        ..with_machine(machine("a", "new"))
    };
    assert_eq!(abandoned(&before, both), ["old"]);
}

#[test]
fn what_came_with_a_request_is_abandoned_unless_an_operation_takes_it_over() {
    let accepted = || Some(Verdict::Accepted { operation: OperationId::new("op1") });
    let begins = Changes { operations: with_operation(operation("new", None)).operations, ..with_request(request("new", accepted())) };
    assert_eq!(abandoned(&site(), begins), Vec::<String>::new());
    assert_eq!(abandoned(&site(), with_request(request("new", Some(Verdict::Done)))), ["new"]);
    let mut running = site();
    running.set_operation(operation("new", None));
    assert_eq!(abandoned(&running, with_request(request("sent-twice", accepted()))), ["sent-twice"]);
    let mut swept = site();
    swept.set_request(request("new", None));
    assert_eq!(abandoned(&swept, Changes { forgotten_requests: [RequestId::new("r1")].into(), ..Changes::default() }), ["new"]);
}
