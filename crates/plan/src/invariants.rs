//! What must stay true of any plan, whoever asked for it. Written without looking at how plans are made.

use std::collections::BTreeSet;

use model::{Action, DeviceAsk, Fact, Machine, MachineName, Management, NodeSeen, Operation, Power, Provisioning, Readiness};

use crate::control_plane::{self, Taking};
use crate::draft::Plan;
use crate::snapshot::Snapshot;

/// A rule that a plan breaks. Such a plan is not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks a plan against the snapshot it was made from.
pub fn check(before: &Snapshot, plan: &Plan) -> Vec<Violation> {
    let after = apply(before, plan);
    let mut violations = Vec::new();
    intents_are_recorded(&after, plan, &mut violations);
    nothing_is_sent_to_the_unmanaged(&after, plan, &mut violations);
    control_plane_is_disrupted_once(&after, &mut violations);
    disruptions_keep_quorum(before, &after, plan, &mut violations);
    nobody_goes_before_the_last_is_back(before, &after, plan, &mut violations);
    busy_or_explained(&after, plan, &mut violations);
    facts_are_never_lost(before, plan, &mut violations);
    crate::errand_invariants::check(before, &after, plan, &mut violations);
    crate::install_invariants::check(before, &after, plan, &mut violations);
    intents_for_vms_are_recorded(&after, plan, &mut violations);
    one_operation_for_each_tenant_target(before, plan, &mut violations);
    violations
}

/// The snapshot as it is once the plan's changes are committed.
pub fn apply(before: &Snapshot, plan: &Plan) -> Snapshot {
    let mut after = before.clone();
    let changes = &plan.changes;
    if let Some(cluster) = &changes.cluster {
        after.cluster = std::sync::Arc::new(cluster.clone());
    }
    for machine in changes.machines.values() {
        after.set_machine(machine.clone());
    }
    for vm in changes.vms.values() {
        after.vms.insert(vm.name.clone(), std::sync::Arc::new(vm.clone()));
    }
    for name in &changes.forgotten_vms {
        after.vms.remove(name);
    }
    for cluster in changes.tenant_clusters.values() {
        after.tenant_clusters.insert(cluster.name.clone(), std::sync::Arc::new(cluster.clone()));
    }
    for name in &changes.forgotten_tenant_clusters {
        after.tenant_clusters.remove(name);
    }
    for bundle in changes.runtimes.values() {
        after.runtimes.insert(bundle.version, std::sync::Arc::new(bundle.clone()));
    }
    for version in &changes.forgotten_runtimes {
        after.runtimes.remove(version);
    }
    for (key, set) in &changes.key_sets {
        after.key_sets.insert(key.clone(), std::sync::Arc::new(set.clone()));
    }
    for key in &changes.forgotten_key_sets {
        after.key_sets.remove(key);
    }
    for operation in changes.operations.values() {
        after.set_operation(operation.clone());
    }
    for id in &changes.forgotten_operations {
        after.forget_operation(id);
    }
    for request in changes.requests.values() {
        after.set_request(request.clone());
    }
    for id in &changes.forgotten_requests {
        after.requests.remove(id);
    }
    after
}

fn intents_are_recorded(after: &Snapshot, plan: &Plan, violations: &mut Vec<Violation>) {
    for step in &plan.steps {
        let recorded = match &step.operation {
            Some(id) => after.operations.get(id).is_some_and(|operation| {
                operation.is_running()
                    && operation
                        .journal
                        .iter()
                        .any(|entry| matches!(&entry.fact, Fact::Asked { ask, attempt } if *ask == step.ask && *attempt == step.attempt))
            }),
            None => after.machines.get(&step.machine).is_some_and(|machine| {
                let of_node = machine.node_ask.iter().map(|intent| (intent.ask, intent.attempt));
                let users = machine.accounts.iter().flat_map(|accounts| accounts.users.values());
                let of_accounts = users.filter_map(|user| user.ask.as_ref()).map(|intent| (intent.ask, intent.attempt));
                of_node.chain(of_accounts).any(|intent| intent == (step.ask, step.attempt))
            }),
        };
        if !recorded {
            violations.push(Violation(format!("{}: the {} is not recorded as an intent", step.machine, step.ask)));
        }
    }
}

fn nothing_is_sent_to_the_unmanaged(after: &Snapshot, plan: &Plan, violations: &mut Vec<Violation>) {
    for step in &plan.steps {
        let managed = after.machines.get(&step.machine).is_some_and(|machine| machine.management == Management::Managed);
        if !managed || after.undescribed.contains(&step.machine) {
            violations.push(Violation(format!("{}: unmanaged, yet a {} is sent", step.machine, step.ask)));
        }
    }
}

fn takes_down(action: Action) -> bool {
    matches!(
        action,
        Action::PowerOff { .. }
            | Action::Restart
            | Action::Reimage { .. }
            | Action::Replace { .. }
            | Action::Cordon { evacuate: model::Evacuate::Yes | model::Evacuate::Forced }
    )
}

fn control_plane_is_disrupted_once(after: &Snapshot, violations: &mut Vec<Violation>) {
    let running = after.control_plane().filter_map(|machine| after.running_on(&machine.name));
    let disrupted: Vec<String> =
        running.filter(|operation| takes_down(operation.action)).map(|operation| operation.target.to_string()).collect();
    if disrupted.len() > 1 {
        violations.push(Violation(format!("control-plane machines disrupted together: {}", disrupted.join(", "))));
    }
}

/// Counted from what was observed, independently of the guard; of actions that begin and of requests that are sent.
fn disruptions_keep_quorum(before: &Snapshot, after: &Snapshot, plan: &Plan, violations: &mut Vec<Violation>) {
    let members = members_of(before);
    for target in voters_taken_down(before, after, plan).into_iter().filter(|_| members.len() > 1) {
        let others_voting = members.iter().filter(|machine| machine.name != target.name && has_vote(before, machine)).count();
        if others_voting < members.len() / 2 + 1 {
            violations.push(Violation(format!("{}: {} of {} would be left voting", target.name, others_voting, members.len())));
        }
    }
}

/// Nobody's vote is taken while another member's node still tells of the boot that ended when it was off.
fn nobody_goes_before_the_last_is_back(before: &Snapshot, after: &Snapshot, plan: &Plan, violations: &mut Vec<Violation>) {
    for target in voters_taken_down(before, after, plan) {
        for other in members_of(before).into_iter().filter(|other| other.name != target.name) {
            if let Some(node) = before.observation(&other.name).node.and_then(|node| node.what)
                && tells_of_dead_boot(other, &node)
            {
                violations.push(Violation(format!("{}: taken down before {} has rejoined", target.name, other.name)));
            }
        }
    }
}

fn members_of(before: &Snapshot) -> Vec<&Machine> {
    before.control_plane().map(AsRef::as_ref).filter(|machine| machine.is_active_kcp()).collect()
}

/// Who loses a vote, by an action that begins or a request that is sent.
fn voters_taken_down<'a>(before: &'a Snapshot, after: &Snapshot, plan: &Plan) -> Vec<&'a Machine> {
    let new = plan.changes.operations.values().filter(|operation| !before.operations.contains_key(&operation.id));
    let begun = new.filter(|operation| takes_down(operation.action));
    let begun = begun.filter_map(|operation| Some((operation.machine()?, Taking::by_action(operation.action))));
    let sent = plan.steps.iter().filter(|step| matches!(step.ask, DeviceAsk::GracefulOff | DeviceAsk::ForceOff | DeviceAsk::LeaveEtcd));
    let sent = sent.map(|step| {
        let operation = step.operation.as_ref().and_then(|id| after.operations.get(id));
        (&step.machine, operation.map_or(Taking::Down, |operation| Taking::by(operation)))
    });
    let targets = begun.chain(sent).filter_map(|(name, taking)| Some((before.machines.get(name)?.as_ref(), taking)));
    let has_one = |machine: &Machine, taking| match taking {
        Taking::Down => has_vote(before, machine),
        Taking::Out { .. } => control_plane::costs_a_vote(before, machine, taking),
    };
    targets.filter(|(machine, taking)| machine.is_active_kcp() && has_one(machine, *taking)).map(|(machine, _)| machine).collect()
}

fn tells_of_dead_boot(machine: &Machine, node: &NodeSeen) -> bool {
    machine.last_seen.dead_boot_id.as_deref() == Some(node.boot_id.as_str())
}

pub(crate) fn has_vote(before: &Snapshot, machine: &Machine) -> bool {
    let is_down = |node: &NodeSeen| node.ready != Readiness::True || tells_of_dead_boot(machine, node);
    let observation = before.observation(&machine.name);
    let off = observation.power.as_ref().is_some_and(|power| power.what == Power::Off) && observation.bmc.fault.is_none();
    let node_down = match &observation.node {
        Some(node) => node.what.as_ref().is_none_or(is_down),
        // Before the undercloud was tried, an old word about the node proves nothing.
        None => before.undercloud.fault.is_some() && machine.last_seen.node.as_ref().is_some_and(|node| is_down(&node.what)),
    };
    !off && !node_down
}

/// Every machine that is not where it should be, and was visited, has a step or a wait. One that nobody has looked at yet may
/// be taken for what it was, if it is visited again.
fn busy_or_explained(after: &Snapshot, plan: &Plan, violations: &mut Vec<Violation>) {
    let asked: BTreeSet<&MachineName> = plan.steps.iter().map(|step| &step.machine).collect();
    for (name, revisit) in &plan.revisits {
        let Some(machine) = after.machines.get(name) else { continue };
        let explained = !machine.waits.is_empty() || asked.contains(name);
        let stands = revisit.is_some() && is_yet_unseen(after, machine) && was_where_it_should_be(machine);
        if !explained && !stands && !is_where_it_should_be(after, machine) {
            violations.push(Violation(format!("{name}: not where it should be, with neither step nor wait")));
        }
    }
}

fn is_where_it_should_be(after: &Snapshot, machine: &Machine) -> bool {
    if after.running_on(&machine.name).is_some() {
        return false;
    }
    let Some(observation) = after.observations.get(&machine.name) else { return false };
    let on_and_ready = observation.power.as_ref().is_some_and(|power| power.what != Power::Off)
        && observation.node.as_ref().and_then(|node| node.what.as_ref()).is_some_and(|node| {
            node.ready == Readiness::True && !tells_of_dead_boot(machine, node) && (machine.holds.is_empty() || node.unschedulable)
        });
    machine.provisioning != Provisioning::Provisioned || on_and_ready
}

fn is_yet_unseen(after: &Snapshot, machine: &Machine) -> bool {
    let idle = after.running_on(&machine.name).is_none();
    idle && after.observations.get(&machine.name).is_none_or(|seen| seen.power.is_none() || seen.node.is_none())
}

fn was_where_it_should_be(machine: &Machine) -> bool {
    let seen = &machine.last_seen;
    let on_and_ready = seen.power.as_ref().is_some_and(|power| power.what == Power::On)
        && seen.node.as_ref().is_some_and(|node| node.what.ready == Readiness::True && !tells_of_dead_boot(machine, &node.what));
    on_and_ready || (machine.provisioning != Provisioning::Provisioned && seen.power.is_some())
}

/// A journal only grows, and an operation that ended stays as it ended.
fn facts_are_never_lost(before: &Snapshot, plan: &Plan, violations: &mut Vec<Violation>) {
    for (id, operation) in &plan.changes.operations {
        let Some(earlier) = before.operations.get(id) else { continue };
        if !extends(&earlier.journal, operation) || earlier.ended.is_some() {
            violations.push(Violation(format!("operation {id}: its journal was rewritten")));
        }
    }
}

/// What the operation of a virtual machine, or of a tenant's node, asks for stands in its journal.
fn intents_for_vms_are_recorded(after: &Snapshot, plan: &Plan, violations: &mut Vec<Violation>) {
    for step in plan.errands.iter().filter(|step| step.machine.is_none()) {
        let operation = step.operation.as_ref().and_then(|id| after.operations.get(id));
        let recorded = operation.is_some_and(|operation| {
            let asks =
                |fact: &Fact| matches!(fact, Fact::ErrandAsked { errand, attempt } if (errand, attempt) == (&step.errand, &step.attempt));
            operation.is_running() && operation.machine().is_none() && operation.journal.iter().any(|entry| asks(&entry.fact))
        });
        if !recorded {
            violations.push(Violation(format!("{} is not recorded as an intent", step.errand)));
        }
    }
}

/// Nothing begins on a virtual machine, or on a tenant's node, while something else is at work on it.
fn one_operation_for_each_tenant_target(before: &Snapshot, plan: &Plan, violations: &mut Vec<Violation>) {
    let changed = || plan.changes.operations.values().filter(|operation| operation.machine().is_none());
    let mut begun = BTreeSet::new();
    for operation in changed().filter(|operation| !before.operations.contains_key(&operation.id)) {
        let earlier = before.running_for(&operation.target);
        let is_over = earlier.is_none_or(|earlier| changed().any(|other| other.id == earlier.id && !other.is_running()));
        if !is_over || !begun.insert(&operation.target) {
            violations.push(Violation(format!("{}: more than one operation is at work on it", operation.target)));
        }
    }
}

fn extends(earlier: &[model::Entry], operation: &Operation) -> bool {
    operation.journal.len() >= earlier.len() && operation.journal[..earlier.len()] == *earlier
}
