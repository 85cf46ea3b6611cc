//! The BMC lets us in, with the login that a replace brings.

use model::{Action, Failure, FaultClass, LookAt};

use crate::operate::{Bench, Finding};

pub(super) fn login(_bench: &Bench<'_>) -> Finding {
    super::not_built(model::StepKind::Login)
}

/// A replace whose BMC does not accept the login fails before anything is touched: no time that passes makes it right.
pub(super) fn refused(bench: &Bench<'_>) -> Option<Finding> {
    if !matches!(bench.operation.action, Action::Replace { .. }) {
        return None;
    }
    let looked = bench.sight.observation.looked.get(&LookAt::Survey)?;
    let fault = looked.found.as_ref().err().filter(|_| looked.began_at >= bench.operation.accepted_at)?;
    (fault.class == FaultClass::Denied).then(|| Finding::Fail {
        failure: Failure::BmcLoginFailed,
        because: format!("BMC login unsuccessful: Fail - Unauthorized ({fault}); nothing was touched"),
    })
}
