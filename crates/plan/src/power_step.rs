//! Power: off and seen off, on and seen on. Asked again only when looking has shown that it must be.

use model::{Action, DeviceAsk, Power, Shutdown, StepKind, Timestamp};

use crate::asking::{Asked, ask_or_wait, asked};
use crate::operate::{Bench, Finding, effect_wait};

pub(crate) fn power_off(bench: &Bench<'_>) -> Finding {
    match bench.sight.power(bench.operation.accepted_at, bench.now) {
        Err(wait) => Finding::wait(wait),
        Ok(Power::Off) => Finding::Done,
        Ok(power) => off_ask(bench, power),
    }
}

/// Gently first, unless the request said otherwise; then the hard way.
fn off_ask(bench: &Bench<'_>, power: Power) -> Finding {
    let gentle = match bench.operation.action {
        Action::PowerOff { shutdown } => shutdown == Shutdown::Graceful,
        _ => true,
    };
    let forced = bench.operation.last_asked(DeviceAsk::ForceOff).is_some();
    if gentle && !forced {
        match asked(bench, DeviceAsk::GracefulOff) {
            Asked::Never | Asked::NotDelivered => return Finding::Ask(DeviceAsk::GracefulOff),
            Asked::Pending { until } if bench.now < until => {
                return graceful_wait(bench, power, until);
            }
            Asked::Hopeless { .. } | Asked::Pending { .. } | Asked::Force => {}
        }
    }
    ask_or_wait(bench, DeviceAsk::ForceOff)
}

/// The operating system is given its time. After a restart of ours we cannot know whether the request was sent at
/// all, so it is asked once more, when a late one would have shown itself.
fn graceful_wait(bench: &Bench<'_>, power: Power, until: Timestamp) -> Finding {
    let Some((asked_at, attempt)) = bench.operation.last_asked(DeviceAsk::GracefulOff) else { return Finding::Ask(DeviceAsk::GracefulOff) };
    let lost_with_us = asked_at < bench.keeper_started_at && power == Power::On;
    let repeat_at = asked_at + bench.limits.power_settle;
    if lost_with_us && bench.now >= repeat_at {
        return Finding::Ask(DeviceAsk::GracefulOff);
    }
    let wait = effect_wait(DeviceAsk::GracefulOff, attempt, asked_at, bench.limits);
    Finding::wait_until(wait, if lost_with_us { repeat_at.min(until) } else { until })
}

pub(crate) fn power_on(bench: &Bench<'_>) -> Finding {
    let since = bench.operation.done_at(StepKind::PowerOff).unwrap_or(bench.operation.accepted_at);
    match bench.sight.power(since, bench.now) {
        Err(wait) => Finding::wait(wait),
        Ok(Power::On) => Finding::Done,
        Ok(Power::Off | Power::PoweringOn | Power::PoweringOff) => ask_or_wait(bench, DeviceAsk::PowerOn),
    }
}
