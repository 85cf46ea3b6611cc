//! Power: off and seen off, on and seen on. Asked again only when looking has shown that it must be.

use model::{Action, Delivery, DeviceAsk, Fact, FaultClass, Power, Provisioning, Shutdown, StepKind, Timestamp, Wait, WaitKind};

use crate::asking::{Asked, answered_at, ask_or_wait, asked};
use crate::fault::{Reaction, react};
use crate::install;
use crate::operate::{Bench, Finding, effect_wait};

/// How often a shutdown is asked for gently when it cannot be known whether the request arrived.
///
/// Three, so that a lost answer or a restart of ours does not cut the power of a system that was never asked to stop,
/// and a BMC that loses every answer is not asked for ever.
const GENTLE_ATTEMPTS: usize = 3;

/// How many of the longest pauses may lie between two refusals of one run: the pause itself, the look that may come
/// between, and a slow answer to each.
const REFUSALS_APART: u32 = 3;

pub(crate) fn power_off(bench: &Bench<'_>) -> Finding {
    match bench.sight.power(bench.operation.accepted_at, bench.now) {
        Err(wait) => Finding::wait(wait),
        Ok(Power::Off) => second_off(bench).unwrap_or(Finding::Done),
        Ok(power) => off_ask(bench, power),
    }
}

/// Seen off, but asked more than once: one request did it, and the other may still be obeyed, after a power-on.
fn second_off(bench: &Bench<'_>) -> Option<Finding> {
    let offs = offs_that_may_have_arrived(bench);
    let &(asked_at, _) = offs.last().filter(|_| offs.len() > 1)?;
    let until = answered_at(bench, asked_at) + bench.limits.power_settle;
    (bench.now < until).then(|| {
        let wait = Wait { kind: WaitKind::LateOff { until }, since: asked_at, expected_by: Some(until) };
        Finding::wait_until(wait, until)
    })
}

fn offs_that_may_have_arrived(bench: &Bench<'_>) -> Vec<(Timestamp, DeviceAsk)> {
    let may_have_arrived = |ask, attempt| bench.operation.fault_of(ask, attempt).is_none_or(|(_, fault)| fault.delivery == Delivery::Maybe);
    let offs = bench.operation.journal.iter().filter_map(|entry| match entry.fact {
        Fact::Asked { ask: ask @ (DeviceAsk::GracefulOff | DeviceAsk::ForceOff), attempt } => {
            may_have_arrived(ask, attempt).then_some((entry.at, ask))
        }
        _ => None,
    });
    offs.collect()
}

/// Gently first, unless the request said otherwise or there is no operating system to ask; then the hard way.
fn off_ask(bench: &Bench<'_>, power: Power) -> Finding {
    let has_system = if install::installs(bench.operation.action) {
        // One that is to be installed may have no system, whatever it counts as: then it has no node either. What an earlier
        // installation left there, or what has just begun to boot because we looked at the hardware, need not be asked.
        let is_left_over = bench.machine.provisioning == Provisioning::Error;
        let was_off = bench.operation.last_asked(DeviceAsk::PowerOn).is_some();
        !is_left_over && !was_off && !matches!(bench.sight.last_node(), Some(None))
    } else {
        !matches!(bench.machine.provisioning, Provisioning::Available | Provisioning::Preparing)
    };
    let gentle = has_system && bench.operation.action != Action::PowerOff { shutdown: Shutdown::Skip };
    let forced = bench.operation.last_asked(DeviceAsk::ForceOff).is_some();
    if gentle && !forced {
        match asked(bench, DeviceAsk::GracefulOff) {
            // It has been refused for as long as the operating system would have been given: there is no gentle way here.
            Asked::Refused { .. } if is_refused_for_good(bench) => {}
            Asked::Never | Asked::UnderWay | Asked::Refused { .. } => return ask_or_wait(bench, DeviceAsk::GracefulOff),
            Asked::Pending { until } => {
                if let Some(finding) = gentle_time(bench, power, until) {
                    return finding;
                }
            }
            Asked::Hopeless { .. } | Asked::Force => {}
        }
    }
    ask_or_wait(bench, DeviceAsk::ForceOff)
}

/// Whether a BMC that can be talked to has not taken the gentle request for the whole of its time.
fn is_refused_for_good(bench: &Bench<'_>) -> bool {
    // A BMC that was away in between, restarting say, has not been asked in earnest before it came back.
    let same_run = bench.limits.last_retry.times(REFUSALS_APART);
    let mut since = bench.now;
    for entry in bench.operation.journal.iter().rev() {
        let Fact::Faulted { ask: DeviceAsk::GracefulOff, fault, .. } = &entry.fact else { continue };
        let is_refusal = matches!(fault.class, FaultClass::Busy | FaultClass::Garbled);
        if !is_refusal || since.since(entry.at) > same_run {
            break;
        }
        since = entry.at;
    }
    bench.now.since(since) >= bench.limits.graceful_timeout
}

/// The operating system is given its time; `None` once that is over.
///
/// A request that may have been lost is repeated when a late one would have shown itself, however long that is past.
fn gentle_time(bench: &Bench<'_>, power: Power, until: Timestamp) -> Option<Finding> {
    let (asked_at, attempt) = bench.operation.last_asked(DeviceAsk::GracefulOff)?;
    let repeat = power == Power::On && may_be_lost(bench, asked_at, attempt);
    let until = if repeat { answered_at(bench, asked_at) + bench.limits.power_settle } else { until };
    if bench.now < until {
        return Some(Finding::wait_until(effect_wait(bench.operation, DeviceAsk::GracefulOff, asked_at, bench.limits), until));
    }
    repeat.then_some(Finding::Ask(DeviceAsk::GracefulOff))
}

/// Whether the latest gentle request may never have arrived: a keeper died over it, or its answer was lost.
fn may_be_lost(bench: &Bench<'_>, asked_at: Timestamp, attempt: u32) -> bool {
    let died_over = asked_at < bench.keeper_started_at;
    let fault = bench.operation.fault_of(DeviceAsk::GracefulOff, attempt);
    let answer_lost = fault.is_some_and(|(_, fault)| react(DeviceAsk::GracefulOff, fault) == Reaction::LookFirst);
    (died_over || answer_lost) && offs_that_may_have_arrived(bench).len() < GENTLE_ATTEMPTS
}

pub(crate) fn power_on(bench: &Bench<'_>) -> Finding {
    let since = bench.operation.done_at(StepKind::PowerOff).unwrap_or(bench.operation.accepted_at);
    match bench.sight.power(since, bench.now) {
        Err(wait) => Finding::wait(wait),
        Ok(Power::On) => Finding::Done,
        Ok(Power::PoweringOff) => going_off(bench).unwrap_or_else(|| ask_or_wait(bench, DeviceAsk::PowerOn)),
        Ok(Power::Off | Power::PoweringOn) => ask_or_wait(bench, DeviceAsk::PowerOn),
    }
}

/// Somebody is switching the machine off: an On that is asked now would be refused, or undone.
fn going_off(bench: &Bench<'_>) -> Option<Finding> {
    let since = bench.machine.last_seen.power.as_ref()?.at;
    let until = since + bench.limits.power_settle;
    (bench.now < until).then(|| Finding::wait_until(effect_wait(bench.operation, DeviceAsk::ForceOff, since, bench.limits), until))
}
