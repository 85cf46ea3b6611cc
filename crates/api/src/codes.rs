//! The codes of errors, each with the status it is answered with. Every one has a page under `docs/errors/`.

use http::StatusCode;
use model::Rule;

/// Makes the codes and the list of them from one table, so that no code is left out of the list.
macro_rules! codes {
    ($($code:ident $status:ident,)*) => {
        /// The codes that are not a rule's.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Code {
            $($code,)*
        }

        impl Code {
            const ALL: &[Code] = &[$(Code::$code),*];

            /// The code of that name, as the activity log keeps it.
            pub fn named(name: &str) -> Option<Code> {
                Code::ALL.iter().copied().find(|code| code.name() == name)
            }

            pub fn name(self) -> &'static str {
                match self {
                    $(Code::$code => stringify!($code),)*
                }
            }

            pub fn status(self) -> StatusCode {
                match self {
                    $(Code::$code => StatusCode::$status,)*
                }
            }
        }
    };
}

codes! {
    AmbiguousOperationId CONFLICT,
    AuthenticationFailed UNAUTHORIZED,
    AuthorizationFailed FORBIDDEN,
    BackupRunning CONFLICT,
    BackupUnavailable NOT_IMPLEMENTED,
    CrossOriginRefused FORBIDDEN,
    ExpiredAuthenticationToken UNAUTHORIZED,
    HttpsRequired BAD_REQUEST,
    InternalError INTERNAL_SERVER_ERROR,
    InvalidAction NOT_FOUND,
    InvalidAuthenticationToken UNAUTHORIZED,
    InvalidRequestContent BAD_REQUEST,
    InvalidResourceNamespace NOT_FOUND,
    InvalidResourceType NOT_FOUND,
    KeeperUnavailable SERVICE_UNAVAILABLE,
    MethodNotAllowed METHOD_NOT_ALLOWED,
    MissingApiVersionParameter BAD_REQUEST,
    MissingSubscriptionRegistration CONFLICT,
    OperationNotAllowed CONFLICT,
    PrincipalNotFound BAD_REQUEST,
    PropertyChangeNotAllowed BAD_REQUEST,
    QuotaExceeded CONFLICT,
    ReadOnlyDisabledSubscription CONFLICT,
    RequestBodyTooLarge PAYLOAD_TOO_LARGE,
    RequestDisallowedByPolicy FORBIDDEN,
    RequestHeadersTooLarge REQUEST_HEADER_FIELDS_TOO_LARGE,
    RequestTimeout REQUEST_TIMEOUT,
    RequestUriTooLong URI_TOO_LONG,
    ResourceGroupNotFound NOT_FOUND,
    ResourceNotFound NOT_FOUND,
    RoleAssignmentExists CONFLICT,
    RoleAssignmentLimitExceeded CONFLICT,
    RoleAssignmentUpdateNotPermitted BAD_REQUEST,
    RoleDefinitionDoesNotExist NOT_FOUND,
    ScopeLocked CONFLICT,
    ServerBusy SERVICE_UNAVAILABLE,
    ServerStopping SERVICE_UNAVAILABLE,
    StoreUnavailable SERVICE_UNAVAILABLE,
    SubscriptionNotFound NOT_FOUND,
    TooManyRequests TOO_MANY_REQUESTS,
    UnsupportedMediaType UNSUPPORTED_MEDIA_TYPE,

    // How operations end that do not succeed. A 200 for their result would make `az` exit 0.
    BmcLoginFailed CONFLICT,
    DeadlineExceeded CONFLICT,
    DeviceMissing CONFLICT,
    DeviceUnsupported CONFLICT,
    EtcdFailed CONFLICT,
    HeldByBudget CONFLICT,
    InstallFailed CONFLICT,
    OperationCanceled CONFLICT,
    StorageFailed CONFLICT,
    ValidationFailed CONFLICT,
    VmFailed CONFLICT,

    // What a device answered, in the activity log only: the operation goes on, and nobody waits for this answer.
    DeviceFault BAD_GATEWAY,
}

pub(crate) fn status_of(rule: Rule) -> StatusCode {
    match rule {
        Rule::RequestExpired => StatusCode::SERVICE_UNAVAILABLE,
        Rule::MachineExists | Rule::OperationExists => StatusCode::NOT_FOUND,
        Rule::VmExists | Rule::TenantClusterExists | Rule::TenantNodeExists => StatusCode::NOT_FOUND,
        Rule::RuntimeExists | Rule::KeySetExists => StatusCode::NOT_FOUND,
        Rule::VmProvisioning | Rule::VmImmutable | Rule::VmPlacement => StatusCode::BAD_REQUEST,
        Rule::MachineNameKept | Rule::KeySetLimit | Rule::KeySetImmutable | Rule::KeySetUserTaken => StatusCode::BAD_REQUEST,
        Rule::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
        Rule::QueueFull => StatusCode::TOO_MANY_REQUESTS,
        Rule::ActionKnown
        | Rule::ClusterRunning
        | Rule::ClusterConnected
        | Rule::MachineManaged
        | Rule::MachineProvisioned
        | Rule::OneActionPerMachine
        | Rule::KcpOneAtATime
        | Rule::KcpOthersHealthy
        | Rule::KcpQuorum
        | Rule::KcpSoleVoter
        | Rule::HeldByOperation
        | Rule::OneActionPerVm
        | Rule::VmNodeOfTenant
        | Rule::ForceUnproven
        | Rule::MachineHealthy
        | Rule::MachineHasWorkloads
        | Rule::MachineUnhealthy
        | Rule::FirmwareJob
        | Rule::RuntimeInUse
        | Rule::RuntimeImmutable
        | Rule::EtcdKnown
        | Rule::InstallReady
        | Rule::AttemptRunning
        | Rule::InspectRunning
        | Rule::OperationRunning => StatusCode::CONFLICT,
    }
}

/// Every code that a client can read in an error, with its status.
pub fn error_codes() -> impl Iterator<Item = (&'static str, StatusCode)> {
    let rules = Rule::ALL.into_iter().map(|rule| (rule.code(), status_of(rule)));
    rules.chain(Code::ALL.iter().map(|code| (code.name(), code.status())))
}
