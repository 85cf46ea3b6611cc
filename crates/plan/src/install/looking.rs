//! Looks that an installation needs: whether what was found is young enough for the question, and when to look again.

use model::{BootSeen, EtcdSeen, Eye, Fact, FaultClass, Found, LookAt, Looked, Party, Survey, Timestamp, Wait, WaitKind};

use super::attempt::{of_step, step_began_at};
use super::insist::is_obeyed;
use crate::asking::answered_at;
use crate::cadence::{backoff, bmc_pause};
use crate::operate::{Bench, Finding, effect_wait};

/// How patient we are with a look that fails, counted in failures: it is repeated by itself, so its pause does not grow.
const LOOK_PAUSE: u32 = 3;

/// What was found by a look that began after `since`; else the look, or the wait for it.
pub(crate) fn look<'a>(bench: &'a Bench<'_>, at: LookAt, since: Timestamp) -> Result<&'a Found, Finding> {
    let since = since.max(bench.keeper_started_at);
    let wait = Wait { kind: WaitKind::Look { at }, since, expected_by: Some(since + bench.limits.expected_power_on) };
    let Some(looked) = latest(bench, at).filter(|looked| looked.began_at >= since) else {
        return Err(if is_under_way(bench, at) { Finding::wait(wait) } else { Finding::Look { at, wait, until: None } });
    };
    looked.found.as_ref().map_err(|fault| {
        let (eye, pause) = match at {
            LookAt::Etcd => (Eye::Etcd, backoff(LOOK_PAUSE, bench.limits)),
            _ => (Eye::Bmc, bmc_pause(fault, LOOK_PAUSE, bench.limits)),
        };
        let kind = WaitKind::Device { eye, fault: fault.clone(), retry_every: pause };
        let wait = Wait { kind, ..wait.clone() };
        again(bench, at, wait, looked.ended_at + pause, None)
    })
}

/// The same look once more when it is due, for an effect that may show until `until`.
pub(crate) fn look_again(bench: &Bench<'_>, at: LookAt, wait: Wait, until: Timestamp) -> Finding {
    let due = latest(bench, at).map_or(bench.now, |looked| looked.ended_at + bench.limits.busy_poll);
    again(bench, at, wait, due, Some(until))
}

fn again(bench: &Bench<'_>, at: LookAt, wait: Wait, due: Timestamp, until: Option<Timestamp>) -> Finding {
    match (is_under_way(bench, at), bench.now >= due) {
        (true, _) => Finding::Wait { wait, until },
        (false, true) => Finding::Look { at, wait, until },
        (false, false) => Finding::wait_until(wait, until.map_or(due, |until| until.min(due))),
    }
}

fn latest<'a>(bench: &'a Bench<'_>, at: LookAt) -> Option<&'a Looked> {
    match at {
        LookAt::Etcd => bench.snapshot.etcd.as_deref(),
        _ => bench.sight.observation.looked.get(&at).map(AsRef::as_ref),
    }
}

fn is_under_way(bench: &Bench<'_>, at: LookAt) -> bool {
    match at {
        LookAt::Etcd => bench.snapshot.is_looking_at_etcd,
        _ => bench.sight.observation.looking.contains(&at),
    }
}

/// From when on a look shows what has become of what was asked in this step.
pub(crate) fn settled_since(bench: &Bench<'_>, party: Party) -> Timestamp {
    let asks = of_step(bench.operation).iter().rev();
    let mut asked_at = asks.filter_map(|entry| matches!(entry.fact, Fact::Asked { ask, .. } if ask.party() == party).then_some(entry.at));
    asked_at.next().map_or_else(|| step_began_at(bench.operation), |at| answered_at(bench, at))
}

/// What was asked in this step and not answered yet: a look beside it would see what was before.
pub(crate) fn unanswered(bench: &Bench<'_>, party: Party) -> Option<Finding> {
    let operation = bench.operation;
    let (asked_at, ask, attempt) = of_step(operation).iter().rev().find_map(|entry| match entry.fact {
        Fact::Asked { ask, attempt } if ask.party() == party => Some((entry.at, ask, attempt)),
        _ => None,
    })?;
    let observation = &bench.sight.observation;
    let is_answered = asked_at < bench.keeper_started_at
        || is_obeyed(bench, ask)
        || operation.fault_of(ask, attempt).is_some()
        || (observation.asking.is_none() && observation.ask_ended_at.is_some_and(|ended_at| ended_at > asked_at));
    (!is_answered).then(|| Finding::wait(effect_wait(operation, ask, asked_at, bench.limits)))
}

/// What is in the virtual drive, and what the machine will start from, after all that was asked in this step.
pub(crate) fn boot<'a>(bench: &'a Bench<'_>) -> Result<&'a BootSeen, Finding> {
    if let Some(finding) = unanswered(bench, Party::Bmc) {
        return Err(finding);
    }
    let found = look(bench, LookAt::Boot, settled_since(bench, Party::Bmc)).map_err(|finding| unless_never(bench, finding))?;
    if let Found::Boot(seen) = found { Ok(seen) } else { Err(other_look(LookAt::Boot)) }
}

/// What the BMC offers, as it said in the course of this operation.
pub(crate) fn survey<'a>(bench: &'a Bench<'_>) -> Result<&'a Survey, Finding> {
    survey_since(bench, bench.operation.accepted_at)
}

pub(crate) fn survey_since<'a>(bench: &'a Bench<'_>, since: Timestamp) -> Result<&'a Survey, Finding> {
    let found = look(bench, LookAt::Survey, since).map_err(|finding| unless_never(bench, finding))?;
    if let Found::Survey(survey) = found { Ok(survey) } else { Err(other_look(LookAt::Survey)) }
}

/// The members of etcd, after all that was asked of it in this step.
pub(crate) fn etcd<'a>(bench: &'a Bench<'_>) -> Result<&'a EtcdSeen, Finding> {
    if let Some(finding) = unanswered(bench, Party::Etcd) {
        return Err(finding);
    }
    let found = look(bench, LookAt::Etcd, settled_since(bench, Party::Etcd))?;
    if let Found::Etcd(seen) = found { Ok(seen) } else { Err(other_look(LookAt::Etcd)) }
}

/// A BMC that says that there is no such thing says so again however often it is asked.
fn unless_never(bench: &Bench<'_>, finding: Finding) -> Finding {
    let kind = match &finding {
        Finding::Wait { wait, .. } | Finding::Look { wait, .. } => &wait.kind,
        _ => return finding,
    };
    match kind {
        WaitKind::Device { fault, .. } if matches!(fault.class, FaultClass::Unsupported | FaultClass::Missing) => Finding::Fail {
            failure: model::Failure::DeviceUnsupported,
            because: format!("the BMC of `{}` cannot be used to install it: {fault}", bench.machine.name),
        },
        _ => finding,
    }
}

/// Whether a look came to this: the BMC has no such thing.
pub(crate) fn says_never(finding: &Finding) -> bool {
    let (Finding::Wait { wait, .. } | Finding::Look { wait, .. }) = finding else { return false };
    matches!(&wait.kind, WaitKind::Device { fault, .. } if matches!(fault.class, FaultClass::Unsupported | FaultClass::Missing))
}

/// Whoever looks keeps what was found under what was looked at, so this is a look that went wrong.
fn other_look(at: LookAt) -> Finding {
    Finding::Fail { failure: model::Failure::InstallFailed, because: format!("a look at {at} came back with something else") }
}
