//! A device is asked until what was asked for is seen, but not for ever: some report success and do nothing.

use model::{DeviceAsk, Fact, Failure, LookAt};

use super::attempt::of_step;
use super::looking::look_again;
use crate::asking::{Asked, ask_or_wait, asked};
use crate::operate::{Bench, Finding, effect_wait};

/// How often a device that reports success and does nothing is asked for the same.
///
/// Three, so that one lost request and one slow BMC are forgiven, and an operator hears of it within minutes.
pub(crate) const TRIES: usize = 3;

/// How often this was asked for in the present step, but for what did not reach the device.
pub(crate) fn tries(bench: &Bench<'_>, ask: DeviceAsk) -> usize {
    let asks = of_step(bench.operation).iter();
    let arrived = |attempt| !bench.operation.was_refused(ask, attempt);
    asks.filter(|entry| matches!(entry.fact, Fact::Asked { ask: asked, attempt } if asked == ask && arrived(attempt))).count()
}

pub(crate) fn was_asked_in_step(bench: &Bench<'_>, ask: DeviceAsk) -> bool {
    of_step(bench.operation).iter().any(|entry| matches!(entry.fact, Fact::Asked { ask: asked, .. } if asked == ask))
}

/// Whether the device has answered the latest ask without a fault; or whether it was asked by a keeper that died over the answer,
/// and only what is seen can tell.
pub(crate) fn may_be_obeyed(bench: &Bench<'_>, ask: DeviceAsk) -> bool {
    let Some((asked_at, _)) = bench.operation.last_asked(ask) else { return false };
    asked_at < bench.keeper_started_at || is_obeyed(bench, ask)
}

/// Whether the device has answered the latest ask without a fault.
pub(crate) fn is_obeyed(bench: &Bench<'_>, ask: DeviceAsk) -> bool {
    let Some((_, attempt)) = bench.operation.last_asked(ask) else { return false };
    let obeyed = bench.sight.observation.obeyed.as_ref();
    obeyed.is_some_and(|obeyed| obeyed.operation.as_ref() == Some(&bench.operation.id) && obeyed.ask == ask && obeyed.attempt == attempt)
}

/// Asks for what a look has shown not to be so, and looks again; a few times.
pub(crate) fn insist(bench: &Bench<'_>, ask: DeviceAsk, at: LookAt, lacking: &str) -> Finding {
    if !was_asked_in_step(bench, ask) {
        return Finding::Ask(ask);
    }
    match asked(bench, ask) {
        Asked::Pending { until } if bench.now >= until && tries(bench, ask) >= TRIES => does_nothing(bench, ask, lacking),
        Asked::Pending { until } if bench.now < until => {
            look_again(bench, at, effect_wait(bench.operation, ask, bench.now, bench.limits), until)
        }
        _ => ask_or_wait(bench, ask),
    }
}

/// The same of what is seen without a look of its own, such as the power.
pub(crate) fn insist_on_power(bench: &Bench<'_>, ask: DeviceAsk, lacking: &str) -> Finding {
    if !was_asked_in_step(bench, ask) {
        return Finding::Ask(ask);
    }
    match asked(bench, ask) {
        Asked::Pending { until } if bench.now >= until && tries(bench, ask) >= TRIES => does_nothing(bench, ask, lacking),
        _ => ask_or_wait(bench, ask),
    }
}

fn does_nothing(bench: &Bench<'_>, ask: DeviceAsk, lacking: &str) -> Finding {
    let name = &bench.machine.name;
    let because = format!("the BMC of `{name}` took the {ask} {TRIES} times and nothing came of it: {lacking}");
    Finding::Fail { failure: Failure::InstallFailed, because }
}
