//! What a BMC means by the message of a refusal, where the status alone misleads.
//!
//! The messages are those of the DMTF's Base registry, and the few of vendors that stand for the same.

use model::FaultClass;

/// The class of a refusal by its message; nothing if the message adds nothing to the status.
///
/// `message_id` is `Base.1.18.NoValidSession`, `iLO.2.24.InvalidOperationForSystemState`, or the last part alone.
pub(crate) fn classify_message(message_id: &str) -> Option<FaultClass> {
    let key = message_id.rsplit('.').next().unwrap_or(message_id);
    Some(match key {
        // It does not know us, or knows us too little.
        NO_VALID_SESSION
        | "AccessDenied"
        | "AccountForSessionNoLongerExists"
        | "InsufficientPrivilege"
        | "PasswordChangeRequired"
        | "ResourceAtUriUnauthorized"
        | "UnauthorizedLoginAttempt" => FaultClass::Denied,
        // It will, but not now: somebody is at it, it is starting, or it is in the wrong state for it. A machine that is
        // asked for the power that it has is among them: the next look shows that nothing is left to ask.
        "InvalidOperationForState"
        | "InvalidOperationForSystemState"
        | "PreconditionFailed"
        | "PreconditionRequired"
        | "ResetInProgress"
        | "ResourceInStandby"
        | "ResourceInUse"
        | "UnableToModifyDuringSystemPOST"
        | "ServiceInUnknownState"
        | "ServiceShuttingDown"
        | "ServiceTemporarilyUnavailable"
        | SESSION_LIMIT_EXCEEDED
        | "UpdateInProgress" => FaultClass::Busy,
        // It knows no such thing, now or later.
        "ActionNotSupported"
        | "ActionParameterNotSupported"
        | "ActionParameterUnknown"
        | "ActionParameterValueNotInList"
        | "PropertyNotWritable"
        | "PropertyUnknown"
        | "PropertyValueNotInList"
        | "QueryNotSupported"
        | "QueryNotSupportedOnResource" => FaultClass::Unsupported,
        "ResourceMissingAtURI" | "ResourceNotFound" => FaultClass::Missing,
        _ => return None,
    })
}

/// The message of a BMC that has forgotten our session, which some send with a 400.
pub(crate) const NO_VALID_SESSION: &str = "NoValidSession";

/// The message of a BMC that has no room for another session.
pub(crate) const SESSION_LIMIT_EXCEEDED: &str = "SessionLimitExceeded";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_known_by_its_last_part() {
        use FaultClass::{Busy, Denied, Missing, Unsupported};
        let table = [
            ("Base.1.18.NoValidSession", Some(Denied)),
            ("NoValidSession", Some(Denied)),
            ("Base.1.8.1.InsufficientPrivilege", Some(Denied)),
            ("Base.1.18.SessionLimitExceeded", Some(Busy)),
            ("Base.1.18.ResourceInUse", Some(Busy)),
            ("Base.1.18.ResourceInStandby", Some(Busy)),
            ("Base.1.18.ServiceTemporarilyUnavailable", Some(Busy)),
            ("iLO.2.24.InvalidOperationForSystemState", Some(Busy)),
            ("Base.1.18.ActionNotSupported", Some(Unsupported)),
            ("Base.1.18.PropertyValueNotInList", Some(Unsupported)),
            ("Base.1.18.ResourceMissingAtURI", Some(Missing)),
            ("Base.1.18.GeneralError", None),
            ("Base.1.18.Success", None),
            ("", None),
        ];
        for (message_id, expected) in table {
            assert_eq!(classify_message(message_id), expected, "{message_id}");
        }
    }
}
