//! One machine's turn: note what was seen of it, move its operation on or keep its node as its holds say, and say
//! what is waited for.

use model::{
    Action, DeviceAsk, Errand, Fact, Failure, Limits, LookAt, Machine, MachineName, Management, Operation, Party, StepKind, Target,
    Timestamp, Wait, WaitKind,
};

use crate::advance::{advance, sooner};
use crate::draft::{Draft, Step, With};
use crate::seen::{doubt_dead_boot, note_seen};
use crate::sight::Sight;
use crate::snapshot::Snapshot;
use crate::{converge, ending, evacuate, install, node_step, power_step};

/// What empties a machine, and what fills it again.
const EVACUATION: [StepKind; 3] = [StepKind::CordonTenants, StepKind::Drain, StepKind::StopVms];
const RETURN: [StepKind; 2] = [StepKind::StartVms, StepKind::UncordonTenants];

/// The steps of an action on a machine; nothing for an action that machines do not know.
pub(crate) fn steps_on_machine(action: Action) -> Option<&'static [StepKind]> {
    match action {
        Action::PowerOff { .. } => Some(&[StepKind::Cordon, StepKind::PowerOff]),
        Action::Start => Some(&[StepKind::PowerOn, StepKind::Rejoin, StepKind::Uncordon]),
        Action::Restart => Some(&[StepKind::Cordon, StepKind::PowerOff, StepKind::PowerOn, StepKind::Rejoin, StepKind::Uncordon]),
        Action::Cordon { .. } => Some(&[StepKind::Cordon]),
        Action::Uncordon => Some(&[StepKind::Uncordon]),
        Action::Reimage { .. } => Some(&install::REIMAGE),
        Action::Replace { .. } => Some(&install::REPLACE),
        Action::Validate => Some(&[StepKind::Login, StepKind::ValidateHardware]),
        Action::Create | Action::Delete | Action::RestartNode | Action::Inspect => None,
    }
}

/// The same of a virtual machine, or of the one that a tenant's node is.
pub(crate) fn steps_on_vm(action: Action) -> Option<&'static [StepKind]> {
    match action {
        Action::PowerOff { .. } => Some(&[StepKind::Stop]),
        Action::Start => Some(&[StepKind::Start]),
        Action::Restart | Action::RestartNode => Some(&[StepKind::Stop, StepKind::Start]),
        Action::Reimage { .. } => Some(&[StepKind::Stop, StepKind::DiscardOsDisk, StepKind::Start]),
        Action::Create => Some(&[StepKind::Create, StepKind::Start]),
        Action::Delete => Some(&[StepKind::Delete]),
        Action::Cordon { .. } | Action::Uncordon | Action::Replace { .. } | Action::Validate | Action::Inspect => None,
    }
}

/// The same of a whole site.
pub(crate) fn steps_on_site(action: Action) -> Option<&'static [StepKind]> {
    (action == Action::Inspect).then_some(&[StepKind::InspectMachines])
}

/// Whether what the operation is at work on knows its action. No other begins; but a keeper of another version may leave one behind.
pub(crate) fn is_known(operation: &Operation) -> bool {
    known_steps(operation).is_some()
}

fn known_steps(operation: &Operation) -> Option<&'static [StepKind]> {
    match &operation.target {
        Target::Machine(_) => steps_on_machine(operation.action),
        Target::Vm(_) | Target::TenantNode { .. } => steps_on_vm(operation.action),
        Target::Site(_) => steps_on_site(operation.action),
    }
}

/// The steps of an operation, in their order. Those that empty a machine, or fill it again, are among them once its journal says
/// so.
pub fn steps_of(operation: &Operation) -> Vec<StepKind> {
    let steps = known_steps(operation).unwrap_or_default();
    let has = |fact: &Fact| operation.journal.iter().any(|entry| entry.fact == *fact);
    let (evacuates, returns) = (has(&Fact::Evacuating), has(&Fact::Returning));
    let mut all = Vec::with_capacity(steps.len() + EVACUATION.len() + RETURN.len());
    for step in steps {
        all.push(*step);
        match step {
            StepKind::Cordon if evacuates => all.extend(EVACUATION),
            StepKind::Uncordon if returns => all.extend(RETURN),
            _ => {}
        }
    }
    all
}

/// What a look at a step's device comes to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Finding {
    /// The effect is there.
    Done,
    /// The step is left out, and why.
    Skip(String),
    /// The device is to be asked, now.
    Ask(DeviceAsk),
    /// These are to be asked for, now; what is waited for then, and when time alone changes the finding.
    Errands { errands: Vec<Errand>, wait: Wait, until: Option<Timestamp> },
    /// This is to be looked at, now; what is waited for then, and when time alone changes the finding.
    Look { at: LookAt, wait: Wait, until: Option<Timestamp> },
    /// Nothing to do but wait; `until` is when time alone changes the finding.
    Wait { wait: Wait, until: Option<Timestamp> },
    /// It cannot succeed any more.
    Fail { failure: Failure, because: String },
}

impl Finding {
    pub fn wait(wait: Wait) -> Finding {
        Finding::Wait { until: None, wait }
    }

    /// Until then, or until there is news if that has passed: what time alone no longer changes is not looked at again and again.
    pub fn wait_for_news(wait: Wait, until: Timestamp, now: Timestamp) -> Finding {
        Finding::Wait { wait, until: Some(until).filter(|at| *at > now) }
    }

    pub fn wait_until(wait: Wait, until: Timestamp) -> Finding {
        Finding::Wait { wait, until: Some(until) }
    }

    /// Asks if there is anything to ask for, and waits in any case.
    pub fn errands(errands: Vec<Errand>, wait: Wait, until: Option<Timestamp>) -> Finding {
        if errands.is_empty() { Finding::Wait { wait, until } } else { Finding::Errands { errands, wait, until } }
    }

    pub fn into_wait(self) -> Option<Wait> {
        match self {
            Finding::Wait { wait, .. } | Finding::Errands { wait, .. } | Finding::Look { wait, .. } => Some(wait),
            Finding::Done | Finding::Skip(_) | Finding::Ask(_) | Finding::Fail { .. } => None,
        }
    }
}

/// What the steps look at.
pub(crate) struct Bench<'a> {
    pub snapshot: &'a Snapshot,
    pub operation: &'a Operation,
    pub machine: &'a Machine,
    pub sight: &'a Sight<'a>,
    pub limits: &'a Limits,
    pub keeper_started_at: Timestamp,
    pub now: Timestamp,
}

pub(crate) fn plan_machine(draft: &mut Draft, name: &MachineName, now: Timestamp) {
    let Some(machine) = draft.after.machines.get(name) else { return };
    let mut machine = (**machine).clone();
    note_seen(&mut machine, &draft.after.observation(name), now);
    let doubt_at = doubt_dead_boot(&draft.after, &mut machine, now);
    evacuate::note_doings(&draft.after, &mut machine);
    if draft.after.undescribed.contains(name) {
        leave_alone(draft, &mut machine, now);
        draft.save_machine(machine);
        draft.plan.revisits.insert(name.clone(), None);
        return;
    }
    let revisit = match draft.after.running_on(name).cloned() {
        Some(operation) => advance(draft, &mut machine, (*operation).clone(), now),
        None => converge::plan_holds(draft, &mut machine, now),
    };
    draft.save_machine(machine);
    draft.plan.revisits.insert(name.clone(), sooner(revisit, doubt_at));
}

/// A machine that is no longer described has no BMC that could be asked or looked at: its operation has failed, since
/// no time that passes brings it on, and its holds stay for whoever puts it back.
fn leave_alone(draft: &mut Draft, machine: &mut Machine, now: Timestamp) {
    if let Some(operation) = draft.after.running_on(&machine.name) {
        let mut operation = (**operation).clone();
        ending::fail_undescribed(&mut operation, machine, now);
        draft.save_operation(operation);
    }
    let same = machine.waits.iter().find(|wait| wait.kind == WaitKind::Undescribed).cloned();
    machine.waits = vec![same.unwrap_or(Wait { kind: WaitKind::Undescribed, since: now, expected_by: None })];
}

pub(crate) fn examine(bench: &Bench<'_>, step: StepKind) -> Finding {
    if let Management::Unmanaged { since, .. } = &bench.machine.management {
        // No operation begins on such a machine; one that meets the state sends nothing.
        return Finding::wait(Wait { kind: WaitKind::Unmanaged, since: *since, expected_by: None });
    }
    match step {
        StepKind::Cordon => node_step::cordon(bench),
        StepKind::PowerOff => power_step::power_off(bench),
        StepKind::PowerOn => power_step::power_on(bench),
        StepKind::Rejoin => node_step::rejoin(bench),
        StepKind::Uncordon => node_step::uncordon(bench),
        StepKind::CordonTenants | StepKind::Drain | StepKind::StopVms | StepKind::StartVms | StepKind::UncordonTenants => {
            evacuate::examine(bench, step)
        }
        StepKind::Survey
        | StepKind::LeaveEtcd
        | StepKind::Login
        | StepKind::ValidateHardware
        | StepKind::AwaitOff
        | StepKind::DiscardVolumes
        | StepKind::MakeOsVolume
        | StepKind::MintJoinToken
        | StepKind::JoinEtcd
        | StepKind::InsertMedia
        | StepKind::BootAgent
        | StepKind::AgentOn
        | StepKind::WriteImage
        | StepKind::AgentOff
        | StepKind::EjectMedia
        | StepKind::BootDisk
        | StepKind::SystemOn
        | StepKind::PhoneHome
        | StepKind::PromoteEtcd
        | StepKind::DropJoinToken
        | StepKind::InspectMachines => install::examine(bench, step),
        // No action on a machine has them.
        StepKind::Create | StepKind::Stop | StepKind::DiscardOsDisk | StepKind::Start | StepKind::Delete => {
            Finding::Fail { failure: Failure::DeviceUnsupported, because: format!("a machine has no step {}", step.title()) }
        }
    }
}

pub(crate) fn step_for(machine: &Machine, operation: Option<&Operation>, ask: DeviceAsk, attempt: u32) -> Step {
    let reason = machine.holds.first().map_or_else(String::new, |hold| format!("{} ({})", hold.reason, hold.owner));
    Step {
        machine: machine.name.clone(),
        node: machine.last_seen.node.as_ref().map(|node| node.what.name.clone()),
        operation: operation.map(|operation| operation.id.clone()),
        ask,
        attempt,
        reason,
        with: With::Nothing,
    }
}

/// How long the effect of an ask may stay unseen before anything else is asked.
pub(crate) fn settle_of(ask: DeviceAsk, limits: &Limits) -> model::Span {
    match ask {
        DeviceAsk::GracefulOff => limits.graceful_timeout,
        DeviceAsk::ForceOff | DeviceAsk::PowerOn | DeviceAsk::AgentOn | DeviceAsk::AgentOff | DeviceAsk::SystemOn => limits.power_settle,
        DeviceAsk::DeleteVolume | DeviceAsk::MakeOsVolume => limits.volume_settle,
        other => match other.party() {
            Party::Bmc => limits.bmc_settle,
            Party::Undercloud | Party::Etcd => limits.node_settle,
        },
    }
}

/// The wait for an ask's effect. It counts from the first asking: asking again does not make it young.
pub(crate) fn effect_wait(operation: &Operation, ask: DeviceAsk, fallback: Timestamp, limits: &Limits) -> Wait {
    let expected = match ask {
        DeviceAsk::GracefulOff | DeviceAsk::ForceOff | DeviceAsk::AgentOff => limits.expected_power_off,
        DeviceAsk::DeleteVolume | DeviceAsk::MakeOsVolume => limits.volume_settle,
        other => match other.party() {
            Party::Bmc => limits.expected_power_on,
            Party::Undercloud | Party::Etcd => limits.expected_cordon,
        },
    };
    let since = operation.first_asked_at(ask).unwrap_or(fallback);
    let attempt = operation.last_asked(ask).map_or(1, |(_, attempt)| attempt);
    Wait { kind: WaitKind::Effect { of: ask, attempt }, since, expected_by: Some(since + expected) }
}
