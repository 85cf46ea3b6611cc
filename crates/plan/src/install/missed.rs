//! An agent that we may have missed: its firmware asked for the image while we were away, found nobody, and went on to the disk.
//!
//! The machine still starts from the same source, and the token is unused. So it is switched off and on once more, and being away
//! costs time only. One that is not started though we were there is not asked again: that would hide what is wrong with it.

use model::{DeviceAsk, Fact, Operation, Power, Readiness};

use super::attempt::of_step;
use super::insist::{insist_on_power, tries};
use super::power::{late_off, power};
use crate::asking::ask_or_wait;
use crate::operate::{Bench, Finding};

/// How often a machine is started again for the same attempt.
///
/// Twice, for each time we must have been away: a third time it is likelier that its agent is what ends us.
const STARTS: usize = 2;

/// What is to be done about an agent that has not called, if it is to be started again. `is_late` says that its time is up.
pub(super) fn start_again(bench: &Bench<'_>, is_late: bool) -> Option<Finding> {
    match latest_ask(bench.operation) {
        Some(DeviceAsk::ForceOff) => Some(off_and_on(bench)),
        Some(DeviceAsk::AgentOn) if power(bench) == Ok(Power::Off) => Some(on(bench)),
        _ if was_away(bench) && tries(bench, DeviceAsk::AgentOn) < STARTS && (is_late || runs_old_system(bench)) => Some(off_and_on(bench)),
        _ => None,
    }
}

/// Whether the machine was started again in the course of this step.
pub(crate) fn is_started_again(operation: &Operation) -> bool {
    latest_ask(operation).is_some()
}

/// What was last asked of the power since the agent was first started.
fn latest_ask(operation: &Operation) -> Option<DeviceAsk> {
    of_step(operation).iter().rev().find_map(|entry| match entry.fact {
        Fact::Asked { ask: ask @ (DeviceAsk::ForceOff | DeviceAsk::AgentOn), .. } => Some(ask),
        _ => None,
    })
}

/// Whether the machine was last started before this keeper began.
fn was_away(bench: &Bench<'_>) -> bool {
    bench.operation.last_asked(DeviceAsk::AgentOn).is_some_and(|(asked_at, _)| asked_at < bench.keeper_started_at)
}

fn off_and_on(bench: &Bench<'_>) -> Finding {
    match power(bench) {
        Err(wait) => Finding::wait(wait),
        Ok(Power::Off) => late_off(bench).unwrap_or_else(|| on(bench)),
        Ok(_) => ask_or_wait(bench, DeviceAsk::ForceOff),
    }
}

fn on(bench: &Bench<'_>) -> Finding {
    insist_on_power(bench, DeviceAsk::AgentOn, "it is still off")
}

/// Whether the system of before has come up instead.
pub(super) fn runs_old_system(bench: &Bench<'_>) -> bool {
    let node = bench.sight.node(bench.now).ok().flatten();
    node.is_some_and(|node| node.ready == Readiness::True && bench.machine.is_node_ready(node))
}
