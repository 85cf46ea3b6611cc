//! A small site whose machines can be installed.

use std::collections::BTreeMap;

use model::{
    Action, Artefact, Ask, BootArtefacts, Bundle, MachineName, Operation, OperationResult, Outage, Power, Provisioning, RequestId, Role,
    RuntimeVersion, Safeguard, Span, Verdict,
};

use crate::desk;
use crate::rig::Rig;
use crate::rig::board::image;

pub const REIMAGE: Action = Action::Reimage { safeguard: Safeguard::All };

pub fn bundle(version: &str) -> Bundle {
    let artefact = |name: &str| Artefact { url: format!("http://images/{name}"), sha256: image(), bytes: 1_000 };
    Bundle {
        version: RuntimeVersion::parse(version).unwrap(),
        os_name: "Linux".into(),
        os_image: artefact("os.img").into(),
        kubernetes_version: "1.32.7".into(),
        boot: BootArtefacts { agent_image: artefact("agent.iso"), http: Some(artefact("boot.efi")), pxe: None },
        firmware: Vec::new(),
        user_data: BTreeMap::new(),
    }
}

/// The machine that is installed.
pub fn target(role: Role) -> MachineName {
    desk::name(match role {
        Role::ControlPlane => "rack1control01",
        Role::Management => "rack1control02",
        Role::Compute => "rack1compute01",
    })
}

/// Three control-plane machines, a management machine and a compute machine, all well.
pub fn site() -> Rig {
    let mut rig = Rig::new();
    let now = rig.desk.now;
    for name in ["rack1control01", "rack2control01", "rack3control01"] {
        rig.add(desk::machine(name, Role::ControlPlane, Provisioning::Provisioned, now), Power::On);
        rig.etcd.add(&desk::name(name));
    }
    rig.add(desk::machine("rack1control02", Role::Management, Provisioning::Provisioned, now), Power::On);
    rig.add(desk::machine("rack1compute01", Role::Compute, Provisioning::Provisioned, now), Power::On);
    let bundle = bundle("4.7.8");
    rig.desk.snapshot.runtimes.insert(bundle.version, std::sync::Arc::new(bundle));
    rig.run_for(Span::minutes(1));
    rig
}

/// The machines that an installation of this one concerns.
pub fn site_of(role: Role) -> Rig {
    let mut rig = site();
    let others: Vec<MachineName> = rig.devices.keys().filter(|name| **name != target(role)).cloned().collect();
    for other in others {
        let is_concerned = role == Role::ControlPlane && rig.desk.snapshot.machines[&other].is_kcp();
        if !is_concerned {
            rig.devices.remove(&other);
            rig.desk.snapshot.forget_machine(&other);
        }
    }
    if role != Role::ControlPlane {
        rig.etcd.members.clear();
    }
    rig
}

pub fn ask(rig: &mut Rig, machine: &MachineName, action: Action) -> RequestId {
    let ask = Ask::Act { machine: machine.clone(), action, outage: Outage::Refused, replacement: None };
    let id = rig.desk.request("alice", ask, None);
    rig.run_for(Span::seconds(4));
    id
}

/// The words of the verdict.
pub fn verdict(rig: &Rig, id: &RequestId) -> String {
    match rig.desk.snapshot.requests[id].verdict.as_ref().expect("a verdict") {
        Verdict::Accepted { .. } => "accepted".into(),
        Verdict::Done => "done".into(),
        Verdict::Previewed { .. } | Verdict::Advised { .. } | Verdict::Verified { .. } => "told".into(),
        Verdict::Refused { refusal } => format!("{refusal}\nremedy: {}", refusal.remedy),
    }
}

/// Has a machine installed, and lets it come to its end.
pub fn reimage(rig: &mut Rig, role: Role) -> Operation {
    let machine = target(role);
    let id = ask(rig, &machine, REIMAGE);
    assert_eq!(verdict(rig, &id), "accepted");
    assert!(rig.run_until_idle(Span::hours(4)), "it does not end");
    rig.check_log();
    latest(rig)
}

pub fn latest(rig: &Rig) -> Operation {
    rig.operations().max_by_key(|operation| operation.accepted_at).expect("an operation").clone()
}

/// How an operation ended, in its own words.
pub fn ending(operation: &Operation) -> String {
    let ended = operation.ended.as_ref().expect("it has ended");
    let next = ended.next.as_deref().unwrap_or("nothing");
    let failure = ended.failure.map(|failure| format!(" ({failure:?})")).unwrap_or_default();
    format!("{}{failure}: {}\nnext: {next}\n", ended.result, ended.message)
}

pub fn succeeded(operation: &Operation) -> bool {
    operation.ended.as_ref().is_some_and(|ended| ended.result == OperationResult::Succeeded)
}

/// How the machine is left.
pub fn left(rig: &Rig, machine: &MachineName) -> String {
    let machine = &rig.desk.snapshot.machines[machine];
    let holds: Vec<String> = machine.holds.iter().map(|hold| format!("{} ({})", hold.owner, hold.reason)).collect();
    let installed = machine.installed.as_ref().map_or_else(|| "nothing".to_owned(), |installed| installed.version.to_string());
    let waits: Vec<String> = machine.waits.iter().map(|wait| wait.kind.to_string()).collect();
    format!("{:?}; installed {installed}; held by {}; waits for {}\n", machine.provisioning, holds.join(", "), waits.join(", "))
}
