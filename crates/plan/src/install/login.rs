//! The BMC lets us in, with the login that a replace brings or the machine has.

use model::{Action, Failure, Fault, FaultClass, LookAt, WaitKind};

use super::attempt::step_began_at;
use super::looking::look;
use crate::evacuate::counted_from;
use crate::operate::{Bench, Finding};

/// Whoever answers to what it offers has let us in.
pub(super) fn login(bench: &Bench<'_>) -> Finding {
    match look(bench, LookAt::Survey, step_began_at(bench.operation)) {
        Ok(_) => Finding::Done,
        Err(finding) => judge(bench, finding),
    }
}

/// What a look that failed says of the login: refused is refused, and silence is waited out for as long as a BMC takes to restart.
pub(super) fn judge(bench: &Bench<'_>, finding: Finding) -> Finding {
    let (Finding::Wait { wait, until } | Finding::Look { wait, until, .. }) = &finding else { return finding };
    let WaitKind::Device { fault, .. } = &wait.kind else { return finding };
    if let Some(failed) = no_time_mends(bench, fault) {
        return failed;
    }
    if matches!(fault.class, FaultClass::Unsupported | FaultClass::Missing) {
        return Finding::Done;
    }
    let given_up_at = counted_from(bench.operation, step_began_at(bench.operation)) + bench.limits.expected_validation;
    if bench.now >= given_up_at {
        return failed(format!("BMC login unsuccessful: Fail - Unreachable ({fault})"));
    }
    let until = until.map_or(given_up_at, |until| until.min(given_up_at));
    match finding {
        Finding::Look { at, wait, .. } => Finding::Look { at, wait, until: Some(until) },
        Finding::Wait { wait, .. } => Finding::wait_until(wait, until),
        other => other,
    }
}

/// An installation whose BMC does not accept the login fails before anything is touched, and so does a replace whose BMC is silent
/// for longer than a restart of its own takes.
pub(super) fn refused(bench: &Bench<'_>) -> Option<Finding> {
    let looked = bench.sight.observation.looked.get(&LookAt::Survey)?;
    let fault = looked.found.as_ref().err().filter(|_| looked.began_at >= bench.operation.accepted_at)?;
    let is_silent = fault.class == FaultClass::Unreachable
        && matches!(bench.operation.action, Action::Replace { .. })
        && bench.now >= counted_from(bench.operation, bench.operation.accepted_at) + bench.limits.expected_validation;
    let silent = || is_silent.then(|| failed(format!("BMC login unsuccessful: Fail - Unreachable ({fault})")));
    match no_time_mends(bench, fault).or_else(silent)? {
        Finding::Fail { failure, because } => Some(Finding::Fail { failure, because: format!("{because}; nothing was touched") }),
        other => Some(other),
    }
}

/// A login that is refused stays refused, a certificate that is not trusted stays so, and another machine's BMC stays another's.
fn no_time_mends(bench: &Bench<'_>, fault: &Fault) -> Option<Finding> {
    match fault.class {
        FaultClass::Denied | FaultClass::NoLogin => Some(failed(format!("BMC login unsuccessful: Fail - Unauthorized ({fault})"))),
        FaultClass::Untrusted => Some(failed(format!(
            "BMC login unsuccessful: {fault}; a new board has a certificate of its own: put its `bmc-fingerprint` into the site file"
        ))),
        FaultClass::OtherMachine => {
            let name = &bench.machine.name;
            let because =
                format!("the BMC that answers is not that of `{name}` ({fault}): compare the serial number with the machine's own");
            Some(Finding::Fail { failure: Failure::ValidationFailed, because })
        }
        _ => None,
    }
}

fn failed(because: String) -> Finding {
    Finding::Fail { failure: Failure::BmcLoginFailed, because }
}
