//! An agent that we may have missed: its firmware asked for the image while we were away, found nobody, and went on to the disk.
//!
//! The machine still starts from the same source, and the token is unused. So it is switched off and on once more, and being away
//! costs time only. One that is not started though we were there is not asked again: that would hide what is wrong with it.

use model::{DeviceAsk, Fact, Failure, Operation, Power, Readiness, StepKind};

use super::attempt::of_step;
use super::insist::{insist_on_power, tries};
use super::media;
use super::power::{late_off, power};
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

/// Whether it is about to be: an agent that calls now would be cut off while it writes. The next one has the same token.
pub(super) fn is_going_off(operation: &Operation) -> bool {
    operation.done_at(StepKind::AgentOn).is_some() && latest_ask(operation) == Some(DeviceAsk::ForceOff)
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
        Ok(_) => insist_on_power(bench, DeviceAsk::ForceOff, "it is still on"),
    }
}

fn on(bench: &Bench<'_>) -> Finding {
    match media::strayed(bench) {
        Err(finding) => finding,
        Ok(Some(seen)) => {
            let because = format!("the machine was to be started again with its agent, and {seen}");
            Finding::Fail { failure: Failure::InstallFailed, because }
        }
        Ok(None) => insist_on_power(bench, DeviceAsk::AgentOn, "it is still off"),
    }
}

/// Whether the system of before has come up instead: it has been started since, so it tells of another boot than was found.
pub(super) fn runs_old_system(bench: &Bench<'_>) -> bool {
    let node = bench.sight.node(bench.now).ok().flatten();
    node.is_some_and(|node| {
        let is_another_boot = Some(node.boot_id.as_str()) != bench.operation.found_boot_id();
        node.ready == Readiness::True && is_another_boot && bench.machine.is_node_ready(node)
    })
}

/// The boot of the system of before, where that was switched off just now: it must not pass for the new system's.
pub(super) fn note_old_boot(bench: &Bench<'_>) -> Option<Fact> {
    let is_off = latest_ask(bench.operation) == Some(DeviceAsk::ForceOff) && power(bench) == Ok(Power::Off);
    let boot_id = bench.sight.observation.boot_id().filter(|_| is_off)?;
    (Some(boot_id.as_str()) != bench.operation.found_boot_id()).then_some(Fact::Found { boot_id: Some(boot_id), provisioning: None })
}
