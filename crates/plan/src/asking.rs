//! What has become of a device request, and whether it is time to make it (again).

use model::{DeviceAsk, Eye, Fact, Fault, Party, Span, Timestamp, Wait, WaitKind};

use crate::cadence::{backoff, bmc_pause};
use crate::fault::{Reaction, react};
use crate::operate::{Bench, Finding, effect_wait, settle_of};

/// Asks if it was never asked, if asking had no effect, or if the effect did not show in its time.
pub(crate) fn ask_or_wait(bench: &Bench<'_>, ask: DeviceAsk) -> Finding {
    match asked(bench, ask) {
        Asked::Never | Asked::Force => Finding::Ask(ask),
        Asked::Refused { again_at, .. } if bench.now >= again_at => Finding::Ask(ask),
        Asked::Refused { again_at, fault } => Finding::wait_until(fault_wait(bench, ask, fault), again_at),
        // Its answer wakes us, so there is no moment to look again at.
        Asked::UnderWay => Finding::wait(effect_wait(bench.operation, ask, bench.now, bench.limits)),
        Asked::Pending { until } if bench.now >= until => Finding::Ask(ask),
        Asked::Pending { until } => Finding::wait_until(effect_wait(bench.operation, ask, bench.now, bench.limits), until),
        Asked::Hopeless { failure, because } => Finding::Fail { failure, because },
    }
}

/// What has become of an ask so far.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Asked {
    Never,
    /// A request to this machine is still on its way: its settle time has not begun.
    UnderWay,
    /// It was asked and refused, and asking again does no harm. That is done then: a device that refuses is not pressed.
    Refused {
        fault: Fault,
        again_at: Timestamp,
    },
    /// It was asked, and may take effect until then.
    Pending {
        until: Timestamp,
    },
    /// The device has no gentle way.
    Force,
    Hopeless {
        failure: model::Failure,
        because: String,
    },
}

pub(crate) fn asked(bench: &Bench<'_>, ask: DeviceAsk) -> Asked {
    let Some((asked_at, attempt)) = bench.operation.last_asked(ask) else { return Asked::Never };
    if bench.sight.observation.asking.is_some() {
        return Asked::UnderWay;
    }
    let pending = answered_at(bench, asked_at) + settle_of(ask, bench.limits);
    let is_of_node = ask.party() == Party::Undercloud;
    match bench.operation.fault_of(ask, attempt) {
        // What was lost with us is asked of a node again at once: the patch is harmless to repeat, and the new listing
        // has shown that it had no effect.
        None if is_of_node && asked_at < bench.keeper_started_at => Asked::Pending { until: bench.now },
        None => Asked::Pending { until: pending },
        Some((fault_at, fault)) => match react(ask, fault) {
            Reaction::AskAgain => Asked::Refused { fault: fault.clone(), again_at: fault_at + pause_of(ask, fault, attempt, bench) },
            // A patch may be repeated whether or not it arrived, so what stands in its way is shown meanwhile.
            Reaction::LookFirst if is_of_node => {
                Asked::Refused { fault: fault.clone(), again_at: pending.max(fault_at + backoff(attempt, bench.limits)) }
            }
            Reaction::LookFirst => Asked::Pending { until: pending },
            Reaction::Force => Asked::Force,
            // Some devices refuse what is so already: look once more before giving up.
            Reaction::GiveUp(_) if !was_looked_at_since(bench, ask, fault_at) => {
                Asked::Pending { until: fault_at + bench.limits.power_settle }
            }
            Reaction::GiveUp(failure) => Asked::Hopeless { failure, because: format!("the {ask} was answered: {fault}") },
        },
    }
}

fn pause_of(ask: DeviceAsk, fault: &Fault, attempt: u32, bench: &Bench<'_>) -> Span {
    match ask.party() {
        Party::Bmc => bmc_pause(fault, attempt, bench.limits),
        Party::Undercloud | Party::Etcd => backoff(attempt, bench.limits),
    }
}

/// From when the settle time of an ask counts: from its answer, or from the asking if no answer is known.
pub(crate) fn answered_at(bench: &Bench<'_>, asked_at: Timestamp) -> Timestamp {
    bench.sight.observation.ask_ended_at.map_or(asked_at, |ended_at| ended_at.max(asked_at))
}

/// The device has refused since the first fault of this kind of ask.
fn fault_wait(bench: &Bench<'_>, ask: DeviceAsk, fault: Fault) -> Wait {
    let first = bench.operation.journal.iter().find(|entry| matches!(&entry.fact, Fact::Faulted { ask: faulted, .. } if *faulted == ask));
    let since = first.map_or(bench.now, |entry| entry.at);
    let (eye, expected) = match ask.party() {
        Party::Bmc => (Eye::Bmc, bench.limits.expected_power_on),
        Party::Undercloud => (Eye::Undercloud, bench.limits.expected_cordon),
        Party::Etcd => (Eye::Etcd, bench.limits.expected_cordon),
    };
    let kind = WaitKind::Device { eye, fault, retry_every: bench.limits.last_retry };
    Wait { kind, since, expected_by: Some(since + expected) }
}

fn was_looked_at_since(bench: &Bench<'_>, ask: DeviceAsk, at: Timestamp) -> bool {
    match ask.party() {
        Party::Bmc => bench.sight.observation.power.as_ref().is_some_and(|power| power.at > at),
        // Nodes are watched, not polled: what is known is what is so.
        Party::Undercloud | Party::Etcd => true,
    }
}
