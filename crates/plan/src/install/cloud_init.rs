//! The new system: it starts from its disk, phones home, and joins by a token that is made for it and taken away again.

use model::{DeviceAsk, Failure, FaultClass, StepKind, Wait, WaitKind};

use super::attempt::{current, step_began_at};
use super::insist::is_obeyed;
use super::write::source_now;
use crate::asking::ask_or_wait;
use crate::evacuate::counted_from;
use crate::operate::{Bench, Finding};

/// The token is there once the undercloud has said so. Asking again makes the same one.
pub(super) fn mint_token(bench: &Bench<'_>) -> Finding {
    if is_obeyed(bench, DeviceAsk::MintJoinToken) { Finding::Done } else { ask_or_wait(bench, DeviceAsk::MintJoinToken) }
}

/// The token is of no more use. Where it cannot be taken away in a moment it is left to expire: the machine is well.
pub(super) fn drop_token(bench: &Bench<'_>) -> Finding {
    if is_obeyed(bench, DeviceAsk::DropJoinToken) {
        return Finding::Done;
    }
    let (_, attempt) = bench.operation.last_asked(DeviceAsk::DropJoinToken).unwrap_or_default();
    let fault = bench.operation.fault_of(DeviceAsk::DropJoinToken, attempt).map(|(_, fault)| fault.class);
    if fault == Some(FaultClass::Missing) {
        return Finding::Done;
    }
    let patience_ends_at = step_began_at(bench.operation).max(bench.keeper_started_at) + bench.limits.expected_cordon;
    match ask_or_wait(bench, DeviceAsk::DropJoinToken) {
        Finding::Wait { .. } | Finding::Ask(_) if bench.now >= patience_ends_at => {
            Finding::Skip("the undercloud did not answer; the token expires by itself".into())
        }
        Finding::Fail { because, .. } => Finding::Skip(format!("{because}; the token expires by itself")),
        Finding::Wait { wait, until } => Finding::wait_until(wait, until.map_or(patience_ends_at, |until| until.min(patience_ends_at))),
        other => other,
    }
}

pub(super) fn phone_home(bench: &Bench<'_>) -> Finding {
    if current(bench.operation).is_some_and(|round| round.has_phoned_home(bench.operation)) {
        return Finding::Done;
    }
    let since = bench.operation.done_at(StepKind::SystemOn).unwrap_or(bench.operation.accepted_at);
    let until = counted_from(bench.operation, since) + bench.limits.phone_home_timeout;
    if bench.now < until {
        let wait = Wait { kind: WaitKind::PhoneHome, since, expected_by: Some(since + bench.limits.expected_phone_home) };
        return Finding::wait_until(wait, until);
    }
    match source_now(bench, until) {
        Err(finding) => finding,
        Ok(source) => {
            let because = format!(
                "the new system has not phoned home within {} of its start: {source}; look at its console, and whether it reaches us",
                bench.limits.phone_home_timeout
            );
            Finding::Fail { failure: Failure::InstallFailed, because }
        }
    }
}
