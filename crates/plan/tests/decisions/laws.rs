//! What must be so after every plan, said once more in the tests' own words.

use std::collections::BTreeSet;

use model::{
    Action, Activity, ActivityKind, ActivityStatus, DeviceAsk, EtcdSeen, Fact, Found, HoldOwner, Machine, MachineName, Part, Power,
    Readiness, StepKind,
};
use plan::{Plan, Snapshot};

use crate::desk::DeadBoots;
use crate::rig::etcd::peer_url;

/// Every running operation says what it waits for, and so does its machine.
pub fn running_operations_wait(snapshot: &Snapshot) {
    for (machine, id) in snapshot.running() {
        let operation = &snapshot.operations[id];
        let Some(machine) = snapshot.machines.get(machine) else { continue };
        assert!(operation.wait.is_some(), "operation {id} neither waits nor has ended");
        assert_eq!(machine.waits, operation.wait.iter().cloned().collect::<Vec<_>>());
    }
}

pub fn one_control_plane_machine_is_disrupted(snapshot: &Snapshot) {
    let disrupted: Vec<&Machine> = snapshot
        .machines
        .values()
        .filter(|machine| machine.is_kcp() && snapshot.running_on(&machine.name).is_some_and(|operation| operation.action.is_disruptive()))
        .map(AsRef::as_ref)
        .collect();
    assert!(disrupted.len() <= 1, "{:?} are disrupted together", disrupted.iter().map(|machine| &machine.name).collect::<Vec<_>>());
}

/// An operation's hold ends with it.
pub fn holds_have_living_owners(snapshot: &Snapshot) {
    for machine in snapshot.machines.values() {
        for hold in &machine.holds {
            if let HoldOwner::Operation { id } = &hold.owner {
                assert!(snapshot.operations[id].is_running(), "{} is held by {id}, which has ended", machine.name);
            }
        }
    }
}

/// A vote is taken, by an action that begins or a request that is sent, only while every other member was seen
/// healthy; but for the only member there is.
/// `dead_boots` were all seen to end; those in `surely_dead` so lately that no plan may doubt it.
pub fn votes_are_taken_safely(before: &Snapshot, plan: &Plan, dead_boots: &DeadBoots, surely_dead: &DeadBoots) {
    for name in taken_down(before, plan) {
        let machine = &before.machines[name];
        if !machine.is_active_kcp() || was_seen_without_vote(before, machine, dead_boots) || has_no_vote_in_etcd(before, plan, name) {
            continue;
        }
        for other in other_members(before, name) {
            assert!(was_seen_healthy(before, other, surely_dead), "{name} is taken down though {} was not seen healthy", other.name);
        }
    }
}

/// The same, judged by what the devices know of themselves: `down` are the machines whose system does not run.
pub fn no_vote_is_taken_while_another_host_is_down(before: &Snapshot, plan: &Plan, down: &BTreeSet<MachineName>) {
    for name in taken_down(before, plan) {
        let is_without_vote = has_no_ready_node(before, &before.machines[name]) || has_no_vote_in_etcd(before, plan, name);
        if !before.machines[name].is_active_kcp() || down.contains(name) || is_without_vote {
            continue;
        }
        for other in other_members(before, name) {
            assert!(!down.contains(&other.name), "{name} is taken down though the system of {} does not run", other.name);
        }
    }
}

fn taken_down<'a>(before: &'a Snapshot, plan: &'a Plan) -> impl Iterator<Item = &'a MachineName> {
    let new = plan.changes.operations.values().filter(|operation| !before.operations.contains_key(&operation.id));
    let begun = new.filter(|operation| operation.action.is_disruptive()).filter_map(|operation| operation.machine());
    let sent = plan
        .steps
        .iter()
        .filter(|step| matches!(step.ask, DeviceAsk::GracefulOff | DeviceAsk::ForceOff | DeviceAsk::LeaveEtcd))
        .map(|step| &step.machine);
    begun.chain(sent)
}

/// It is to be installed, and etcd has said that it has no vote, or has let it go before in the same operation.
fn has_no_vote_in_etcd(before: &Snapshot, plan: &Plan, name: &MachineName) -> bool {
    let running = before.running_on(name).map(AsRef::as_ref);
    let begun = || plan.changes.operations.values().find(|operation| operation.machine() == Some(name));
    let Some(operation) =
        running.or_else(begun).filter(|operation| matches!(operation.action, Action::Reimage { .. } | Action::Replace { .. }))
    else {
        return false;
    };
    let is_no_voter = |seen: &EtcdSeen| !seen.members.iter().any(|member| member.peer_urls == [peer_url(name)] && !member.is_learner);
    let by_list = matches!(before.etcd.as_ref().map(|looked| &looked.found), Some(Ok(Found::Etcd(seen))) if is_no_voter(seen));
    by_list || operation.done_at(StepKind::LeaveEtcd).is_some()
}

fn other_members<'a>(snapshot: &'a Snapshot, name: &'a MachineName) -> impl Iterator<Item = &'a Machine> {
    snapshot.machines.values().map(AsRef::as_ref).filter(move |other| other.is_active_kcp() && other.name != *name)
}

fn was_seen_healthy(snapshot: &Snapshot, machine: &Machine, dead_boots: &DeadBoots) -> bool {
    let seen = snapshot.observation(&machine.name);
    let off = seen.bmc.fault.is_none() && seen.power.is_some_and(|power| power.what == Power::Off);
    let ready = seen.node.and_then(|node| node.what).is_some_and(|node| {
        let is_dead = dead_boots.get(&machine.name) == Some(&node.boot_id);
        node.ready == Readiness::True && !is_dead
    });
    !off && ready && snapshot.undercloud.fault.is_none()
}

fn was_seen_without_vote(snapshot: &Snapshot, machine: &Machine, dead_boots: &DeadBoots) -> bool {
    let seen = snapshot.observation(&machine.name);
    let off = seen.bmc.fault.is_none() && seen.power.as_ref().is_some_and(|power| power.what == Power::Off);
    // A silent undercloud tells no boot, so that the last one counts which it told.
    let stored = machine.last_seen.node.as_ref().filter(|_| snapshot.undercloud.fault.is_some()).map(|node| node.what.boot_id.clone());
    let is_dead = seen.boot_id().or(stored).is_some_and(|boot_id| dead_boots.get(&machine.name) == Some(&boot_id));
    off || is_dead || has_no_ready_node(snapshot, machine)
}

fn has_no_ready_node(snapshot: &Snapshot, machine: &Machine) -> bool {
    let stored = machine.last_seen.node.clone().filter(|_| snapshot.undercloud.fault.is_some()).map(|node| node.what.ready);
    let ready = match snapshot.observation(&machine.name).node {
        Some(node) => Some(node.what.map_or(Readiness::Unknown, |node| node.ready)),
        None => stored,
    };
    ready.is_some_and(|ready| ready != Readiness::True)
}

fn is_about(entry: &Activity, machine: &MachineName) -> bool {
    entry.subject.part == Part::Machine(machine.clone())
}

/// Every request that is judged, every device that is asked (for the holds alone, only the first time), every hold and every end stands in the log of the plan that
/// brought it about, once; and the log says nothing of it that is not so.
pub fn the_log_tells_of_the_plan(before: &Snapshot, plan: &Plan, entries: &[Activity]) {
    let asked = |entry: &&Activity| matches!(entry.what, ActivityKind::Device { .. }) && entry.status == ActivityStatus::Started;
    let of_account = |ask| matches!(ask, model::DeviceAsk::WriteAccount | model::DeviceAsk::DropAccount);
    let is_told = |step: &&plan::Step| step.operation.is_some() || step.attempt == 1 || of_account(step.ask);
    for step in plan.steps.iter().filter(is_told) {
        let what = ActivityKind::Device { ask: step.ask, attempt: step.attempt };
        let told = |entry: &&Activity| entry.what == what && is_about(entry, &step.machine) && entry.operation == step.operation;
        assert_eq!(entries.iter().filter(asked).filter(told).count(), 1, "{}: the {} is told once", step.machine, step.ask);
    }
    let told = plan.steps.iter().filter(is_told).count();
    assert_eq!(entries.iter().filter(asked).count(), told, "only what is asked is told as asked");
    for machine in plan.changes.machines.values() {
        let over = before.machines.get(&machine.name).is_some_and(|earlier| earlier.node_ask.is_some() && machine.node_ask.is_none());
        let is_end = |entry: &&Activity| {
            let of_holds = matches!(entry.what, ActivityKind::Device { ask, .. } if !of_account(ask)) && entry.operation.is_none();
            of_holds && matches!(entry.status, ActivityStatus::Succeeded | ActivityStatus::Canceled) && is_about(entry, &machine.name)
        };
        assert!(!over || entries.iter().filter(is_end).count() == 1, "{}: the end of what its node was asked is told", machine.name);
    }
    let requests = || entries.iter().filter(|entry| matches!(entry.what, ActivityKind::Request { .. }));
    // What machines tell of their installations stands in the journals; a preview changes nothing.
    let is_told = |request: &&model::Request| {
        let is_heard = matches!((&request.ask, &request.verdict), (model::Ask::Report { .. }, Some(model::Verdict::Done)));
        !request.ask.is_preview() && !is_heard
    };
    assert_eq!(requests().count(), plan.changes.requests.values().filter(is_told).count(), "every verdict is told once");
    let refused = plan.changes.requests.values().filter(|request| matches!(request.verdict, Some(model::Verdict::Refused { .. })));
    assert_eq!(requests().filter(|entry| entry.error.is_some()).count(), refused.count(), "every refusal is told once");
    for machine in plan.changes.machines.values() {
        let Some(earlier) = before.machines.get(&machine.name) else { continue };
        if (&earlier.holds, &earlier.management) != (&machine.holds, &machine.management) {
            assert!(entries.iter().any(|entry| is_about(entry, &machine.name)), "what became of {} is told", machine.name);
        }
    }
    let connection = plan.changes.cluster.as_ref().filter(|after| after.connection != before.cluster.connection);
    let told = entries.iter().filter(|entry| matches!(entry.what, ActivityKind::Connection { .. })).count();
    assert_eq!(told, usize::from(connection.is_some()), "the connection is told when it changes");
}

/// The whole log agrees with the journals of the operations that are still kept, however often the keeper died.
pub fn the_log_agrees_with_the_journals(snapshot: &Snapshot, log: &[Activity]) {
    for operation in snapshot.operations.values() {
        let own: Vec<&Activity> = log.iter().filter(|entry| entry.operation.as_ref() == Some(&operation.id)).collect();
        let told = |is_so: &dyn Fn(&Activity) -> bool| own.iter().filter(|entry| is_so(entry)).count();
        let ends = told(&|entry| matches!(entry.what, ActivityKind::Operation { .. }) && entry.status != ActivityStatus::InProgress);
        assert_eq!(ends, usize::from(!operation.is_running()), "operation {} ends once", operation.id);
        for entry in &operation.journal {
            let device =
                |status, ask, attempt| told(&|entry| entry.status == status && entry.what == ActivityKind::Device { ask, attempt });
            let times = match &entry.fact {
                Fact::Asked { ask, attempt } => device(ActivityStatus::Started, *ask, *attempt),
                Fact::Faulted { ask, attempt, .. } => device(ActivityStatus::Failed, *ask, *attempt),
                Fact::Seen { step } | Fact::Skipped { step, .. } => {
                    told(&|entry| matches!(entry.what, ActivityKind::Step { step: done, .. } if done == *step))
                }
                Fact::ErrandAsked { errand, attempt } => told(&|entry| {
                    let what = ActivityKind::Errand { errand: errand.clone(), attempt: *attempt };
                    entry.status == ActivityStatus::Started && entry.what == what
                }),
                Fact::Found { .. } | Fact::Resumed | Fact::Evacuating | Fact::Returning => 1,
                // Told in words that are not compared here.
                Fact::ErrandFaulted { .. } | Fact::Draining { .. } | Fact::Kept { .. } | Fact::Left { .. } => 1,
                Fact::LeavingEtcd { .. } | Fact::OutOfEtcd { .. } | Fact::SystemDisk { .. } | Fact::Installing { .. } => 1,
                Fact::Reported { .. } | Fact::Inventoried { .. } | Fact::Validated { .. } => 1,
                Fact::CleaningUp { .. } | Fact::Discarding { .. } => 1,
                Fact::Inspecting { .. } | Fact::Inspected { .. } | Fact::Warned { .. } => 1,
            };
            assert_eq!(times, 1, "operation {}: {:?} is told once", operation.id, entry.fact);
        }
    }
}
