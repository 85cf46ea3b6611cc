//! Power in the course of an installation: off while its source is changed, on for the agent, off after it, on for the new system.

use model::{Delivery, DeviceAsk, Fact, Power, Wait, WaitKind};

use super::attempt::of_step;
use super::insist::insist_on_power;
use crate::asking::{answered_at, ask_or_wait};
use crate::operate::{Bench, Finding};

/// The machine is on, by our asking or somebody else's: what it starts from was seen set while it was off.
pub(super) fn on(bench: &Bench<'_>, ask: DeviceAsk) -> Finding {
    match power(bench) {
        Err(wait) => Finding::wait(wait),
        Ok(Power::On) => Finding::Done,
        Ok(_) => insist_on_power(bench, ask, "it is still off"),
    }
}

/// The agent has done its work, and nothing of it needs to be shut down.
pub(super) fn agent_off(bench: &Bench<'_>) -> Finding {
    match power(bench) {
        Err(wait) => Finding::wait(wait),
        Ok(Power::Off) => late_off(bench).unwrap_or(Finding::Done),
        Ok(_) => insist_on_power(bench, DeviceAsk::AgentOff, "it is still on"),
    }
}

/// Nothing is inserted, and no source changed, under a machine that runs: somebody may have switched it on meanwhile.
pub(super) fn stay_off(bench: &Bench<'_>) -> Result<(), Finding> {
    match power(bench) {
        Err(wait) => Err(Finding::wait(wait)),
        Ok(Power::Off) => late_off(bench).map_or(Ok(()), Err),
        Ok(_) => Err(ask_or_wait(bench, DeviceAsk::ForceOff)),
    }
}

/// The power as it was seen since we last asked for a change of it.
pub(super) fn power(bench: &Bench<'_>) -> Result<Power, Wait> {
    let asks = bench.operation.journal.iter().rev();
    let mut asked_at = asks.filter_map(|entry| matches!(entry.fact, Fact::Asked { ask, .. } if ask.power().is_some()).then_some(entry.at));
    bench.sight.power(asked_at.next().unwrap_or(bench.operation.accepted_at), bench.now)
}

/// Seen off, but asked more than once in this step: the other request may still be obeyed, after a power-on.
pub(super) fn late_off(bench: &Bench<'_>) -> Option<Finding> {
    let operation = bench.operation;
    let may_have_arrived = |ask, attempt| operation.fault_of(ask, attempt).is_none_or(|(_, fault)| fault.delivery == Delivery::Maybe);
    let offs = of_step(operation).iter().filter_map(|entry| match entry.fact {
        Fact::Asked { ask: ask @ (DeviceAsk::AgentOff | DeviceAsk::ForceOff), attempt } => {
            may_have_arrived(ask, attempt).then_some(entry.at)
        }
        _ => None,
    });
    let offs: Vec<_> = offs.collect();
    let asked_at = *offs.last().filter(|_| offs.len() > 1)?;
    let until = answered_at(bench, asked_at) + bench.limits.power_settle;
    (bench.now < until).then(|| {
        let wait = Wait { kind: WaitKind::LateOff { until }, since: asked_at, expected_by: Some(until) };
        Finding::wait_until(wait, until)
    })
}
