//! A site whose machines can be replaced.

use model::{
    Action, Ask, Fact, MachineName, Operation, Outage, Preview, Replacement, RequestId, Role, Safeguard, SecretRef, Sku, SkuDrive, SkuPort,
    Span, StoragePolicy, Verdict,
};

pub use crate::install::stage::{ending, latest, left, target, verdict};
use crate::rig::Rig;

pub const REPLACE: Action = Action::Replace { storage: StoragePolicy::DiscardAll, safeguard: Safeguard::None };
pub const PRESERVE: Action = Action::Replace { storage: StoragePolicy::Preserve, safeguard: Safeguard::None };

/// The site of installations, with a SKU that says what its machines are made of.
pub fn site() -> Rig {
    let mut rig = crate::install::stage::site();
    let sku = Sku {
        name: "sku".into(),
        models: vec!["model".into()],
        cpu_sockets: Some(2),
        memory_gb: Some(512),
        drives: vec![SkuDrive { capacity_gb: 960, kind: "SSD".into() }; 2],
        ports: vec![SkuPort { name: "NIC.1".into(), link_up: true }],
        boot_port: Some("NIC.1".into()),
        os_volume: None,
        os_drive: None,
    };
    let mut cluster = (*rig.desk.snapshot.cluster).clone();
    cluster.skus = vec![sku];
    rig.desk.snapshot.cluster = std::sync::Arc::new(cluster);
    rig
}

pub fn new_board() -> Replacement {
    Replacement { serial_number: Some("sn2".into()), credentials: Some(SecretRef::new("replace/1")), ..Replacement::default() }
}

pub fn ask(rig: &mut Rig, machine: &MachineName, action: Action, replacement: Option<Replacement>) -> RequestId {
    let replacement = replacement.map(Box::new);
    let ask = Ask::Act { machine: machine.clone(), action, outage: Outage::Refused, replacement };
    let id = rig.desk.request("alice", ask, None);
    rig.run_for(Span::seconds(4));
    id
}

/// What a replace of the compute machine would do.
pub fn preview(rig: &mut Rig, action: Action, replacement: Replacement) -> Preview {
    let ask = Ask::Preview { machine: target(Role::Compute), action, outage: Outage::Refused, replacement: Some(Box::new(replacement)) };
    let id = rig.desk.request("alice", ask, None);
    rig.run_for(Span::seconds(4));
    match rig.desk.snapshot.requests[&id].verdict.clone() {
        Some(Verdict::Previewed { preview }) => *preview,
        other => panic!("{other:?}"),
    }
}

/// Has a machine replaced, and lets it come to its end.
pub fn replace(rig: &mut Rig, role: Role, action: Action, replacement: Option<Replacement>) -> Operation {
    let machine = target(role);
    let id = ask(rig, &machine, action, replacement);
    assert_eq!(verdict(rig, &id), "accepted");
    assert!(rig.run_until_idle(Span::hours(5)), "it does not end");
    rig.check_log();
    latest(rig)
}

/// What was asked and seen, in its order; what the machine told is `install`'s to try.
pub fn told(operation: &Operation) -> String {
    let lines = operation.journal.iter().filter_map(|entry| match &entry.fact {
        Fact::Asked { ask, attempt: 1 } => Some(format!("  {ask}\n")),
        Fact::Asked { ask, attempt } => Some(format!("  {ask}, attempt {attempt}\n")),
        Fact::Seen { step } => Some(format!("{}\n", step.title())),
        Fact::Skipped { step, reason } => Some(format!("{} left out: {reason}\n", step.title())),
        Fact::Discarding { name, .. } => Some(format!("  volume {name} is to go\n")),
        Fact::Validated { result, failures } => Some(format!("  validated: {result:?} {}\n", failures.join("; "))),
        Fact::LeavingEtcd { member, .. } => Some(format!("  member {} is to go\n", member.id)),
        Fact::Faulted { ask, fault, .. } => Some(format!("  {ask} was answered: {fault}\n")),
        _ => None,
    });
    lines.collect()
}

pub fn identity(rig: &Rig, machine: &MachineName) -> String {
    let machine = &rig.desk.snapshot.machines[machine];
    let replaced = machine.replaced.as_ref().map_or_else(|| "never".to_owned(), |replaced| replaced.described.serial_number.clone());
    let unhealthy = machine.unhealthy.as_ref().map_or_else(|| "no".to_owned(), |unhealthy| unhealthy.because.clone());
    let validated = machine.validated.as_ref().map_or_else(|| "never".to_owned(), |mark| format!("{:?}", mark.result));
    format!(
        "serial {}, login {}, described as {replaced}; validated {validated}; unhealthy: {unhealthy}\n",
        machine.hardware.serial_number, machine.hardware.credentials
    )
}
