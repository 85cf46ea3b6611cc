//! The machine's member of the undercloud's etcd: removed before the machine is wiped, added as a learner before its new system
//! starts, promoted when it has caught up. Etcd itself judges the latter.

use model::{
    DeviceAsk, EtcdMember, EtcdSeen, Fact, Failure, FaultClass, LookAt, MachineName, Operation, Span, StepKind, Timestamp, Wait, WaitKind,
};

use super::attempt::{of_step, step_began_at};
use super::looking::{etcd, look};
use crate::advance::sooner;
use crate::asking::ask_or_wait;
use crate::control_plane;
use crate::evacuate::counted_from;
use crate::membership;
use crate::operate::{Bench, Finding};
use crate::snapshot::Snapshot;

/// The port by which members of etcd talk to each other, where nothing else is known.
const PEER_PORT: u16 = 2380;

/// How old what etcd told of its members may be when one of them leaves. Longer than any look takes.
const LIST_AGE: Span = Span::minutes(1);

/// The member that is about to go is written down first: its peer URL is needed when the machine comes back. So it is where there
/// is none any more: the new system is told with its image how it becomes one.
pub(super) fn note_leaving(bench: &Bench<'_>) -> Option<Fact> {
    let seen = etcd(bench).ok()?;
    let Some(member) = member_of(bench, seen) else {
        let peer_url = peer_url(bench.snapshot, bench.operation).filter(|_| bench.operation.etcd_peers().is_none())?;
        return Some(Fact::OutOfEtcd { peer_url, others: seen.members.clone() });
    };
    let is_noted = leaving(bench.operation).is_some_and(|noted| noted.id == member.id);
    let may_go = control_plane::objection_to_leaving(bench.snapshot, bench.machine, bench.operation).is_none();
    let others = seen.members.iter().filter(|other| other.id != member.id).cloned();
    (!is_noted && may_go).then(|| Fact::LeavingEtcd { member: member.clone(), others: others.collect() })
}

pub(super) fn leave(bench: &Bench<'_>) -> Finding {
    if !bench.machine.is_active_kcp() {
        return Finding::Skip("the machine has no member of etcd".into());
    }
    let finding = match etcd(bench) {
        Err(finding) => finding,
        Ok(seen) => match member_of(bench, seen) {
            None if leaving(bench.operation).is_some() => Finding::Done,
            None => match doubt(bench, seen) {
                Some(doubt) => failed(doubt),
                None if peer_url(bench.snapshot, bench.operation).is_none() => return no_peer_url(bench),
                None => Finding::Skip("etcd has no member of this machine".into()),
            },
            Some(_) => ask_or_wait(bench, DeviceAsk::LeaveEtcd),
        },
    };
    within_time(bench, DeviceAsk::LeaveEtcd, finding)
}

pub(super) fn join(bench: &Bench<'_>) -> Finding {
    if !bench.machine.is_active_kcp() {
        return Finding::Skip("the machine has no member of etcd".into());
    }
    let finding = match etcd(bench) {
        Err(finding) => finding,
        Ok(seen) if member_of(bench, seen).is_some() => Finding::Done,
        Ok(_) if peer_url(bench.snapshot, bench.operation).is_none() => return no_peer_url(bench),
        Ok(_) => ask_or_wait(bench, DeviceAsk::JoinEtcd),
    };
    within_time(bench, DeviceAsk::JoinEtcd, finding)
}

pub(super) fn promote(bench: &Bench<'_>) -> Finding {
    if !bench.machine.is_active_kcp() {
        return Finding::Skip("the machine has no member of etcd".into());
    }
    let finding = match etcd(bench) {
        Err(finding) => finding,
        Ok(seen) => match member_of(bench, seen) {
            Some(member) if !member.is_learner => Finding::Done,
            Some(_) => catching_up(bench, ask_or_wait(bench, DeviceAsk::PromoteEtcd)),
            None => return failed(format!("etcd no longer lists the member of `{}` that was added", bench.machine.name)),
        },
    };
    within_time(bench, DeviceAsk::PromoteEtcd, finding)
}

/// That a new member lags behind is no fault of anybody's.
fn catching_up(bench: &Bench<'_>, finding: Finding) -> Finding {
    match finding {
        Finding::Wait { wait: Wait { kind: WaitKind::Device { fault, .. }, since, .. }, until } if fault.class == FaultClass::Busy => {
            let expected_by = Some(since + bench.limits.expected_rejoin);
            Finding::Wait { wait: Wait { kind: WaitKind::EtcdCatchUp, since, expected_by }, until }
        }
        other => other,
    }
}

/// Etcd is given its time for each step, and what it said last is the reason if that is not enough.
fn within_time(bench: &Bench<'_>, ask: DeviceAsk, finding: Finding) -> Finding {
    let until = counted_from(bench.operation, etcd_began_at(bench, ask)) + bench.limits.etcd_timeout;
    match finding {
        Finding::Fail { because, .. } => failed(because),
        // Whether a vote may be taken at all is not etcd's doing.
        Finding::Ask(DeviceAsk::LeaveEtcd) => finding,
        Finding::Ask(_) | Finding::Wait { .. } | Finding::Look { .. } if bench.now >= until => failed(overdue(bench, ask, &finding)),
        Finding::Wait { wait, until: by } => Finding::Wait { wait, until: sooner(by, Some(until)) },
        Finding::Look { at, wait, until: by } => Finding::Look { at, wait, until: sooner(by, Some(until)) },
        other => other,
    }
}

/// From when on it is etcd that is waited for: the control plane may have kept a member from leaving for longer than etcd is given.
fn etcd_began_at(bench: &Bench<'_>, ask: DeviceAsk) -> Timestamp {
    let asked_at = of_step(bench.operation).iter().find(|entry| matches!(entry.fact, Fact::Asked { ask: asked, .. } if asked == ask));
    asked_at.filter(|_| ask == DeviceAsk::LeaveEtcd).map_or_else(|| step_began_at(bench.operation), |entry| entry.at)
}

/// Nobody leaves, or is kept from it, by a list that was told long ago: while the control plane was waited for, others may have left
/// or come to vote.
pub(super) fn leave_by_fresh_list(bench: &Bench<'_>, step: StepKind, finding: Finding) -> Finding {
    let Some(looked) = bench.snapshot.etcd.as_ref().filter(|_| step == StepKind::LeaveEtcd) else { return finding };
    let too_old_at = looked.began_at + LIST_AGE;
    let fresh = || if bench.now >= too_old_at { look(bench, LookAt::Etcd, too_old_at).err() } else { None };
    match finding {
        Finding::Ask(DeviceAsk::LeaveEtcd) => fresh().unwrap_or(finding),
        Finding::Wait { wait: wait @ Wait { kind: WaitKind::ControlPlane { .. }, .. }, until } => match fresh() {
            Some(Finding::Look { at, until: by, .. }) => Finding::Look { at, wait, until: sooner(until, by) },
            Some(Finding::Wait { until: by, .. }) => Finding::Wait { wait, until: sooner(until, by) },
            _ => Finding::Wait { wait, until: sooner(until, Some(too_old_at)) },
        },
        other => other,
    }
}

fn overdue(bench: &Bench<'_>, ask: DeviceAsk, finding: &Finding) -> String {
    let said = of_step(bench.operation).iter().rev().find_map(|entry| match &entry.fact {
        Fact::Faulted { ask: asked, fault, .. } if *asked == ask => Some(format!("etcd said: {fault}")),
        _ => None,
    });
    let waited = || match finding {
        Finding::Wait { wait, .. } | Finding::Look { wait, .. } => Some(format!("it waited for {}", wait.kind)),
        _ => None,
    };
    let told = said.or_else(waited).unwrap_or_else(|| "etcd gave no reason".into());
    let what = match ask {
        DeviceAsk::PromoteEtcd => "the new member of etcd has not caught up".to_owned(),
        other => format!("the {other} was not seen"),
    };
    format!("{what} within {}: {told}", bench.limits.etcd_timeout)
}

fn no_peer_url(bench: &Bench<'_>) -> Finding {
    failed(format!("no peer URL is known for `{}`, so it cannot be added to etcd", bench.machine.name))
}

fn failed(because: String) -> Finding {
    Finding::Fail { failure: Failure::EtcdFailed, because }
}

/// The member that is, or is to be, this machine's.
fn member_of<'a>(bench: &Bench<'_>, seen: &'a EtcdSeen) -> Option<&'a EtcdMember> {
    membership::member_of(bench.snapshot, seen, bench.machine, peer_url(bench.snapshot, bench.operation).as_deref())
}

/// Why it cannot be told whether etcd has a member of this machine.
fn doubt(bench: &Bench<'_>, seen: &EtcdSeen) -> Option<String> {
    membership::doubt(bench.snapshot, seen, bench.machine, peer_url(bench.snapshot, bench.operation).as_deref())
}

/// The member that this operation took, or is about to take, out of etcd.
fn leaving(operation: &Operation) -> Option<&EtcdMember> {
    operation.journal.iter().rev().find_map(|entry| if let Fact::LeavingEtcd { member, .. } = &entry.fact { Some(member) } else { None })
}

/// How the other members reach this one: as this operation noted it, and the machine's first-boot configuration says it; else as they
/// did before it left in an earlier one that failed; or by its node's address.
pub(super) fn peer_url(snapshot: &Snapshot, operation: &Operation) -> Option<String> {
    let machine = operation.machine()?;
    let own = operation.etcd_peers().map(|(peer_url, _)| peer_url.to_owned());
    let by_address = || {
        let node = snapshot.machines.get(machine)?.last_seen.node.as_ref()?;
        node.what.internal_ip.as_ref().map(|ip| format!("https://{}:{PEER_PORT}", bracketed(ip)))
    };
    own.or_else(|| earlier_peer_url(snapshot, machine)).or_else(by_address)
}

/// How the others reached a machine's member before it left in an earlier installation.
pub(crate) fn earlier_peer_url(snapshot: &Snapshot, machine: &MachineName) -> Option<String> {
    let ended = snapshot.ended().rev().filter_map(|(_, id)| snapshot.operations.get(id));
    let mut own = ended.filter(|ended| ended.machine() == Some(machine));
    own.find_map(|ended| ended.etcd_peers().map(|(peer_url, _)| peer_url.to_owned()))
}

fn bracketed(ip: &str) -> String {
    if ip.contains(':') { format!("[{ip}]") } else { ip.to_owned() }
}

/// The member that an ask is about, as etcd lists it now.
pub(super) fn member_id(snapshot: &Snapshot, operation: &Operation, ask: DeviceAsk) -> Option<String> {
    if ask == DeviceAsk::LeaveEtcd {
        return leaving(operation).map(|member| member.id.clone());
    }
    let model::Found::Etcd(seen) = snapshot.etcd.as_ref()?.found.as_ref().ok()? else { return None };
    let machine = snapshot.machines.get(operation.machine()?)?;
    membership::member_of(snapshot, seen, machine, peer_url(snapshot, operation).as_deref()).map(|member| member.id.clone())
}
