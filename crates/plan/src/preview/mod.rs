//! What an action would do to a machine, said from the snapshot alone: nothing is written and nothing is asked.
//!
//! Whether it would be refused is the guards' own word, and which pods would leave is the drain's own rule; the rest is an estimate
//! of what others decide later: where a scheduler puts pods, and how long it all takes.

mod budgets;
mod duration;
mod fit;
mod nodes;
mod pods;
mod quorums;
mod tenant;
mod vms;

use model::{
    Action, BudgetFate, Evacuate, HoldOwner, Machine, NodeOutcome, Power, Preview, QuorumFate, Readiness, Replacement, Shutdown, Target,
    VmOutcome,
};

use crate::advice;
use crate::control_plane;
use crate::guard::Guarded;
use crate::install;
use crate::snapshot::Snapshot;

pub(crate) use tenant::preview_for_tenant;

/// Most pods that a preview lists one by one; the rest are counted.
///
/// Twice what a machine full of tenant nodes runs, and few enough that a preview stays a short document.
pub const PREVIEW_PODS_MAX: usize = 500;

/// What an action comes to for the workloads on its machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Empties,
    /// Its power is cut, and what runs there ends without being asked.
    Fells,
    Fills,
    LeavesAlone,
}

/// What the parts of a preview look at.
struct Scene<'a> {
    snapshot: &'a Snapshot,
    machine: &'a Machine,
    action: Action,
    effect: Effect,
    /// Whether the machine, and all that ran on it, is gone already.
    host: Host,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    Up,
    /// Its BMC reads off.
    Off,
    /// Its kubelet is not heard of any more, and its BMC does not read off.
    Silent,
}

/// What may be refused is judged as the action itself would be, with what is said of the hardware.
pub(crate) fn preview(guarded: &Guarded<'_>, replacement: Option<&Replacement>) -> Preview {
    let Guarded { snapshot, machine, action, now, .. } = *guarded;
    let scene = Scene { snapshot, machine, action, effect: effect_of(action), host: host_of(snapshot, machine) };
    let mut unknowns = unknowns_of(&scene);
    unknowns.extend(install::unknowns(snapshot, machine, action, now));
    unknowns.extend(advice::storage_unknown(machine, action, replacement).map(str::to_owned));
    let vms = vms::fates(&scene);
    let nodes = nodes::fates(&scene);
    let ending: Vec<_> = nodes.iter().filter(|_| scene.ends_workloads()).map(|node| (&node.cluster, node.node.as_str())).collect();
    let tenant_quorums = quorums::fates(snapshot, &ending, scene.is_host_gone());
    let told = pods::tell(&scene, &nodes, &mut unknowns);
    // Whoever cuts the power waits for nobody.
    let waits = scene.effect != Effect::Fells;
    let work = duration::Work {
        drains: told.leaving > 0,
        longest_grace: told.longest_grace,
        is_blocked: told.budgets.iter().any(waits_for_a_person),
        passes_over: nodes
            .iter()
            .filter(|_| waits)
            .filter_map(|node| if let NodeOutcome::PassedOver { after, .. } = node.outcome { Some(after) } else { None })
            .max(),
        stops_vms: waits && vms.iter().any(|vm| vm.outcome == VmOutcome::Stopped),
        starts_vms: vms.iter().any(|vm| vm.outcome == VmOutcome::Started),
    };
    let mut pods = told.pods;
    let more_pods = pods.len().saturating_sub(PREVIEW_PODS_MAX);
    pods.truncate(PREVIEW_PODS_MAX);
    Preview {
        target: Target::Machine(machine.name.clone()),
        action,
        refusal: guarded.check(replacement).and_then(|()| guarded.may_install_by_looks()).err(),
        vms,
        nodes,
        pods,
        more_pods,
        budgets: told.budgets,
        quorum: quorum(&scene),
        tenant_quorums,
        holds: machine.holds.clone(),
        runtime: install::runtime(snapshot, machine, action),
        duration: duration::expect(&scene, &work),
        warnings: advice::storage_warnings(snapshot, machine, action, replacement, now),
        unknowns,
    }
}

/// Whether a budget keeps pods for longer than it takes the others to come back elsewhere.
fn waits_for_a_person(budget: &BudgetFate) -> bool {
    budget.is_blocking && (budget.allowed == 0 || budget.affected <= budget.allowed)
}

fn effect_of(action: Action) -> Effect {
    match action {
        Action::PowerOff { shutdown: Shutdown::Skip } => Effect::Fells,
        Action::PowerOff { .. }
        | Action::Restart
        | Action::Cordon { evacuate: Evacuate::Yes | Evacuate::Forced }
        | Action::Reimage { .. }
        | Action::Replace { .. } => Effect::Empties,
        Action::Start | Action::Uncordon => Effect::Fills,
        Action::Cordon { evacuate: Evacuate::No }
        | Action::Create
        | Action::Delete
        | Action::RestartNode
        | Action::Validate
        | Action::Inspect => Effect::LeavesAlone,
    }
}

fn host_of(snapshot: &Snapshot, machine: &Machine) -> Host {
    let observation = snapshot.observation(&machine.name);
    if observation.bmc.fault.is_none() && observation.power.is_some_and(|power| power.what == Power::Off) {
        return Host::Off;
    }
    let node = observation.node.and_then(|node| node.what);
    if node.is_some_and(|node| node.ready == Readiness::Unknown) { Host::Silent } else { Host::Up }
}

impl Scene<'_> {
    fn is_host_gone(&self) -> bool {
        self.host != Host::Up
    }

    /// Whether what runs on the machine ends.
    fn ends_workloads(&self) -> bool {
        matches!(self.effect, Effect::Empties | Effect::Fells)
    }

    /// Whether the action leaves nothing that holds the machine, so that what was stopped comes back.
    fn frees_machine(&self) -> bool {
        self.effect == Effect::Fills
            && self.machine.holds.iter().all(|hold| match self.action {
                Action::Uncordon => hold.owner.is_a_persons_to_release(),
                _ => matches!(hold.owner, HoldOwner::PoweredOff { .. }),
            })
    }
}

/// As the guards count them.
fn quorum(scene: &Scene<'_>) -> Option<QuorumFate> {
    let Scene { snapshot, machine, action, .. } = *scene;
    if !machine.is_active_kcp() {
        return None;
    }
    let votes = control_plane::votes_without(snapshot, machine);
    let voting_after = match action {
        Action::Start if !control_plane::is_voting(snapshot, machine) => votes.voting + 1,
        Action::PowerOff { .. } | Action::Restart | Action::Reimage { .. } | Action::Replace { .. } => votes.voting_after,
        _ => votes.voting,
    };
    Some(QuorumFate { members: votes.members, needed: votes.quorum(), voting_before: votes.voting, voting_after })
}

/// What is not known of the machine and of tenants in general. A blind eye proves nothing, and a preview says where it is blind.
fn unknowns_of(scene: &Scene<'_>) -> Vec<String> {
    let Scene { snapshot, machine, .. } = *scene;
    let mut unknowns = Vec::new();
    if snapshot.tenants.listed_at.is_none() {
        unknowns.push("which virtual machines there are: they have not been listed since the keeper started".to_owned());
    }
    if let Some(fault) = crate::contact::undercloud_fault(snapshot) {
        unknowns.push(format!("how virtual machines are now: the undercloud does not answer ({fault})"));
    } else if let Some(failing) = crate::contact::tenants_silence(snapshot, snapshot.keeper_started_at) {
        unknowns.push(format!("how virtual machines are now: nothing is heard of them ({})", failing.what));
    }
    if scene.host == Host::Silent && scene.ends_workloads() {
        unknowns.push(format!("whether anything still runs on `{}`: its node is silent, and its BMC does not read off", machine.name));
    }
    unknowns
}
