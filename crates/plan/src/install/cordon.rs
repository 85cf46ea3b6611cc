//! A machine that is installed stays cordoned until a person says otherwise. Its node is kept through it; but one that was gone
//! registers anew, open to all, and would take workloads while its operation is still at work.

use model::{DeviceAsk, Fact, StepKind};

use super::attempt::of_step;
use crate::asking::ask_or_wait;
use crate::operate::{Bench, Finding};

/// Whether the new system may be there in this step.
pub(super) fn may_be_back(step: StepKind) -> bool {
    matches!(step, StepKind::SystemOn | StepKind::PhoneHome | StepKind::Rejoin | StepKind::PromoteEtcd)
}

/// Cordons a node that has come back open. An undercloud that cannot be moved to it in its usual time keeps nobody: the hold is
/// applied when the operation has ended.
pub(super) fn keep_cordoned(bench: &Bench<'_>, step: StepKind, finding: Finding) -> Finding {
    let is_open = || matches!(bench.sight.node(bench.now), Ok(Some(node)) if !node.unschedulable) && !bench.machine.holds.is_empty();
    let is_ending = finding == Finding::Done;
    if !may_be_back(step) || !(is_ending || matches!(finding, Finding::Wait { .. })) || !is_open() {
        return finding;
    }
    let asked = of_step(bench.operation).iter().find(|entry| matches!(entry.fact, Fact::Asked { ask: DeviceAsk::Cordon, .. }));
    let Some(asked) = asked else { return Finding::Ask(DeviceAsk::Cordon) };
    let patience_ends_at = asked.at.max(bench.keeper_started_at) + bench.limits.expected_cordon;
    if bench.now >= patience_ends_at {
        return finding;
    }
    match ask_or_wait(bench, DeviceAsk::Cordon) {
        Finding::Ask(ask) => Finding::Ask(ask),
        Finding::Wait { wait, until } if is_ending => {
            Finding::wait_until(wait, until.map_or(patience_ends_at, |until| until.min(patience_ends_at)))
        }
        _ => finding,
    }
}
