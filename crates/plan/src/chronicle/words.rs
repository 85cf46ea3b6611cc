//! The sentences of the activity log.

use std::fmt::Display;

use model::{
    Action, ActivityStatus, Ask, DeviceAsk, Errand, Fact, Fault, Hold, HoldChange, MachineName, MachineReport, Operation, OperationId,
    Party, ValidationResult,
};

pub(super) fn accepted(ask: &Ask, operation: &OperationId, is_new: bool) -> String {
    let what = match ask {
        Ask::Act { machine, action, .. } => format!("{} of `{machine}`", action.command()),
        Ask::ActOnVm { vm, action, .. } => format!("{} of `{vm}`", action.command()),
        Ask::PutVm { vm, .. } => format!("{} of `{vm}`", Action::Create.command()),
        Ask::RestartNode { node, .. } => format!("{} of `{node}`", Action::RestartNode.command()),
        _ => ask.verb().to_owned(),
    };
    let short = operation.short();
    if is_new {
        format!("{what} was accepted as operation {short}")
    } else {
        format!("{what} was asked for again by the same request; it is operation {short}")
    }
}

pub(super) fn done(ask: &Ask) -> String {
    match ask {
        Ask::Act { machine, action, .. } => format!("`{machine}` was {}", action.participle()),
        Ask::Cancel { operation } => format!("operation {} is to be cancelled at its next safe point", operation.short()),
        Ask::Report { attempt, .. } => format!("`{}` told of its installation", attempt.machine),
        Ask::ImportRuntime { bundle } => format!("runtime {} was imported", bundle.version),
        Ask::ForgetRuntime { version } => format!("runtime {version} was removed"),
        Ask::PutKeySet { key_set, .. } => format!("{} `{}` was written", key_set.kind.in_words(), key_set.name),
        Ask::UpdateKeySet { set, name, .. } => format!("{} `{name}` was written", set.in_words()),
        Ask::DeleteKeySet { set, name, .. } => format!("{} `{name}` was deleted", set.in_words()),
        Ask::Inspect { .. } => "hardware was inspected".to_owned(),
        Ask::Unmanage { machine, reason } => format!("`{machine}` was taken out of management: {reason}"),
        Ask::Manage { machine, reason } => format!("`{machine}` may be managed again: {reason}"),
        Ask::Update { machine, tags, details, .. } => {
            written(machine, [tags.as_ref().map(|_| "tags"), details.as_ref().map(|_| "details")])
        }
        Ask::PutVm { vm, .. } => written(vm, [Some("tags"), None]),
        Ask::UpdateVm { vm, tags, .. } => written(vm, [tags.as_ref().map(|_| "tags"), None]),
        Ask::UpdateTenantCluster { cluster, pool, tags, drain_policy, .. } => {
            let what = [tags.as_ref().map(|_| "tags"), drain_policy.as_ref().map(|_| "drain policy")];
            match pool {
                Some(pool) => written(format!("{cluster}/{pool}"), what),
                None => written(cluster, what),
            }
        }
        Ask::ActOnVm { vm, action, .. } => format!("`{vm}` was {}", action.participle()),
        Ask::RestartNode { node, .. } => format!("`{node}` was {}", Action::RestartNode.participle()),
        Ask::PreviewForTenant { target, action } => format!("{} of `{target}` was previewed", action.command()),
        Ask::Advise { machine, .. } => format!("advice about `{machine}` was asked for"),
        Ask::Verify { machine } => format!("`{machine}` was checked"),
        Ask::Preview { machine, action, .. } => format!("{} of `{machine}` was previewed", action.command()),
    }
}

fn written(of: impl Display, what: [Option<&str>; 2]) -> String {
    match what {
        [None, None] => format!("nothing of `{of}` was written"),
        [Some(one), None] | [None, Some(one)] if one.ends_with('s') => format!("the {one} of `{of}` were written"),
        [Some(one), None] | [None, Some(one)] => format!("the {one} of `{of}` was written"),
        [Some(one), Some(other)] => format!("the {one} and {other} of `{of}` were written"),
    }
}

pub(super) fn resumed(operation: &Operation) -> String {
    let name = &operation.target;
    format!("{} of `{name}` was taken up again by a new keeper; its deadline is {}", operation.action.command(), operation.deadline_at)
}

pub(super) fn asked(machine: impl Display, ask: DeviceAsk, attempt: u32) -> String {
    let (whom, what) = whom_and_what(machine, ask);
    format!("{whom} is asked for {what}{}", again(attempt))
}

pub(super) fn faulted(machine: impl Display, ask: DeviceAsk, attempt: u32, fault: &Fault) -> String {
    let (whom, what) = whom_and_what(machine, ask);
    format!("{whom} was asked for {what}{}, and failed: {fault}", again(attempt))
}

pub(super) fn errand_asked(errand: &Errand, attempt: u32) -> String {
    format!("{errand} is asked for{}", again(attempt))
}

pub(super) fn errand_faulted(errand: &Errand, attempt: u32, fault: &Fault) -> String {
    format!("{errand} was asked for{}, and failed: {fault}", again(attempt))
}

/// What becomes of workloads, but for what is asked of somebody.
pub(super) fn workload(fact: &Fact) -> Option<String> {
    match fact {
        Fact::Draining { cluster, node } => Some(format!("node `{node}` of `{cluster}` is drained")),
        Fact::Kept { cluster, pod, why } => Some(format!("pod `{pod}` of `{cluster}` is kept on its node: {why}")),
        Fact::Left { what } => Some(format!("left as it was: {what}")),
        _ => None,
    }
}

/// What becomes of an installation, as far as people want to read it afterwards. How far the writing is, they do not.
pub(super) fn installation(operation: &Operation, fact: &Fact) -> Option<(ActivityStatus, String)> {
    let name = &operation.target;
    let message = match fact {
        Fact::LeavingEtcd { member, .. } => format!("member {} of etcd is to go: `{name}` will be wiped", member.id),
        Fact::OutOfEtcd { peer_url, .. } => format!("etcd has no member of `{name}`: it will become one at {peer_url}"),
        Fact::Installing { way, version, image, .. } => {
            format!("the installation of runtime {version} (image {}) on `{name}` begins, by {way}", image.short())
        }
        Fact::Reported { report, .. } => return reported(name, report),
        Fact::Warned { words } => format!("`{name}` is {} although {words}", operation.action.participle()),
        Fact::CleaningUp { during, because, .. } => {
            let message =
                format!("{} of `{name}` is given up: {because}; it is switched off, to start from its disk again", during.title());
            return Some((ActivityStatus::Failed, message));
        }
        Fact::SystemDisk { wipe, .. } if !wipe.is_empty() => format!("the disks {} of `{name}` are to be wiped", wipe.join(", ")),
        Fact::Discarding { name: volume, .. } => format!("volume `{volume}` of `{name}` is to be deleted"),
        Fact::Inspecting { machines, left_out } if left_out.is_empty() => format!("{} machines of `{name}` are validated", machines.len()),
        Fact::Inspecting { machines, left_out } => {
            format!("{} machines of `{name}` are validated; {} are left out", machines.len(), left_out.len())
        }
        Fact::Validated { result: ValidationResult::Pass, .. } => format!("the hardware of `{name}` is as it should be"),
        Fact::Validated { failures, .. } => {
            return Some((ActivityStatus::Failed, format!("the hardware of `{name}` is not as it should be: {}", failures.join("; "))));
        }
        _ => return None,
    };
    Some((ActivityStatus::InProgress, message))
}

fn reported(name: impl Display, report: &MachineReport) -> Option<(ActivityStatus, String)> {
    let message = match report {
        MachineReport::Progress { .. } | MachineReport::Inventory { .. } => return None,
        MachineReport::Exchange { .. } => format!("the agent of `{name}` has called"),
        MachineReport::Written { digest } => format!("the agent of `{name}` has written the image; its digest is {}", digest.short()),
        MachineReport::Failed { trouble, detail } => {
            return Some((ActivityStatus::Failed, format!("the agent of `{name}` gives up: {trouble} ({detail})")));
        }
        MachineReport::PhonedHome { .. } => format!("the new system of `{name}` has phoned home"),
    };
    Some((ActivityStatus::InProgress, message))
}

pub(super) fn shown(machine: &MachineName, ask: DeviceAsk) -> String {
    format!("{} shows the {ask} that it was asked for", whom_and_what(machine, ask).0)
}

pub(super) fn no_longer_asked(machine: &MachineName, ask: DeviceAsk) -> String {
    let (whom, what) = whom_and_what(machine, ask);
    format!("{whom} is no longer asked for {what}")
}

pub(super) fn hold(machine: &MachineName, hold: &Hold, change: HoldChange) -> String {
    let Hold { owner, reason, .. } = hold;
    match change {
        HoldChange::Placed => format!("`{machine}` is held by {owner}: {reason}"),
        HoldChange::Released => format!("`{machine}` is no longer held by {owner}"),
    }
}

/// What belongs to the whole site is asked for a machine; a machine's own devices are asked by themselves.
fn whom_and_what(machine: impl Display, ask: DeviceAsk) -> (String, String) {
    let what = match ask {
        DeviceAsk::LeaveEtcd => format!("the removal of the member of `{machine}`"),
        DeviceAsk::JoinEtcd => format!("the addition of `{machine}` as a learner"),
        DeviceAsk::PromoteEtcd => format!("the promotion of the member of `{machine}`"),
        DeviceAsk::MintJoinToken => format!("a token for `{machine}` to join with"),
        DeviceAsk::DropJoinToken => format!("the removal of the token for `{machine}` to join with"),
        DeviceAsk::Uncordon | DeviceAsk::WriteAccount => format!("an {ask}"),
        DeviceAsk::InsertMedia | DeviceAsk::EjectMedia | DeviceAsk::DeleteVolume | DeviceAsk::MakeOsVolume | DeviceAsk::DropAccount => {
            format!("the {ask}")
        }
        _ => format!("a {ask}"),
    };
    let whom = match ask.party() {
        Party::Bmc => format!("the BMC of `{machine}`"),
        Party::Undercloud if matches!(ask, DeviceAsk::Cordon | DeviceAsk::Uncordon) => format!("the node of `{machine}`"),
        Party::Undercloud => "the undercloud".to_owned(),
        Party::Etcd => "etcd".to_owned(),
    };
    (whom, what)
}

fn again(attempt: u32) -> String {
    if attempt > 1 { format!(", attempt {attempt}") } else { String::new() }
}
