//! What has become of a device request, and whether it is time to make it (again).

use model::{DeviceAsk, Limits, Operation, Timestamp};

use crate::fault::{Reaction, react};
use crate::operate::{Bench, Finding, effect_wait, settle_of};

/// Asks if it was never asked, if asking had no effect, or if the effect did not show in its time.
pub(crate) fn ask_or_wait(bench: &Bench<'_>, ask: DeviceAsk) -> Finding {
    match asked(bench, ask) {
        Asked::Never | Asked::NotDelivered | Asked::Force => Finding::Ask(ask),
        Asked::Pending { until } if bench.now >= until => Finding::Ask(ask),
        Asked::Pending { until } => {
            let (asked_at, attempt) = bench.operation.last_asked(ask).unwrap_or((bench.now, 1));
            Finding::wait_until(effect_wait(ask, attempt, asked_at, bench.limits), until)
        }
        Asked::Hopeless { failure, because } => Finding::Fail { failure, because },
    }
}

/// What has become of an ask so far.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Asked {
    Never,
    /// It was asked, and certainly had no effect.
    NotDelivered,
    /// It was asked, and may take effect until then.
    Pending { until: Timestamp },
    /// The device has no gentle way.
    Force,
    Hopeless { failure: model::Failure, because: String },
}

pub(crate) fn asked(bench: &Bench<'_>, ask: DeviceAsk) -> Asked {
    let pending = pending_until(bench.operation, ask, bench.sight.observation.ask_ended_at, bench.limits);
    let Some((_, attempt)) = bench.operation.last_asked(ask) else { return Asked::Never };
    if bench.sight.observation.asking.is_some() {
        // The request is still on its way: its settle time has not begun.
        return Asked::Pending { until: pending.max(bench.now + model::Span::millis(1)) };
    }
    match bench.operation.fault_of(ask, attempt) {
        None => Asked::Pending { until: pending },
        Some((_, fault)) => match react(ask, fault) {
            Reaction::AskAgain => Asked::NotDelivered,
            Reaction::LookFirst => Asked::Pending { until: pending },
            Reaction::Force => Asked::Force,
            Reaction::GiveUp(failure) => Asked::Hopeless { failure, because: format!("the {ask} was answered: {fault}") },
        },
    }
}

/// Until when an ask may still take effect: the settle time counts from its answer, or from the asking if none is known.
fn pending_until(operation: &Operation, ask: DeviceAsk, ended_at: Option<Timestamp>, limits: &Limits) -> Timestamp {
    let asked_at = operation.last_asked(ask).map_or(operation.accepted_at, |(at, _)| at);
    ended_at.unwrap_or(asked_at).max(asked_at) + settle_of(ask, limits)
}
