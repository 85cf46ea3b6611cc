//! The router: one table of paths. Segments are matched without case, and empty ones do not count, as Azure's clients need.

pub(crate) mod authorization;

use std::borrow::Cow;

use http::Method;
use model::KeySetKind;
use percent_encoding::percent_decode_str;

use crate::reply::Refused;
use crate::resources::key_sets::arm_type;
use crate::resources::providers;
use authorization::{Collection, Errand};

/// What a request is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Health,
    Ready,
    Metrics,
    Metadata,
    OpenIdConfiguration,
    SigningKeys,
    Token,
    DeviceCode,
    ApproveDevice { code: String },
    Issuers,
    PutIssuer { name: String },
    DeleteIssuer { name: String },
    Subscriptions,
    Subscription { subscription: String },
    Tenants,
    ResourceGroups { subscription: String },
    ResourceGroup { subscription: String, group: String },
    ResourceGroupExists { subscription: String, group: String },
    Resources { subscription: String, group: Option<String> },
    Providers { subscription: String },
    Provider { subscription: String, namespace: String },
    Register { subscription: String, namespace: String },
    Unregister { subscription: String, namespace: String },
    ProviderOperations,
    List { kind: Kind, subscription: String, group: Option<String> },
    Show { kind: Kind, subscription: String, group: String, name: String },
    Update { how: Write, subscription: String, group: String, name: String },
    Delete { subscription: String, group: String, name: String },
    Act { subscription: String, group: String, machine: String, verb: String },
    Validation { subscription: String, group: String, machine: String },
    Advise { subscription: String, group: String, machine: String },
    Verify { subscription: String, group: String, machine: String },
    ActOnCluster { subscription: String, group: String, cluster: String, verb: String },
    UpdateVm { how: Write, subscription: String, group: String, name: String },
    DeleteVm { subscription: String, group: String, name: String },
    ActOnVm { subscription: String, group: String, name: String, verb: String },
    UpdateTenantCluster { subscription: String, group: String, name: String },
    ActOnTenantCluster { subscription: String, group: String, name: String, verb: String },
    Pools { subscription: String, group: String, tenant: String },
    Pool { subscription: String, group: String, tenant: String, pool: String },
    UpdatePool { subscription: String, group: String, tenant: String, pool: String },
    Runtimes { subscription: String, group: String, cluster: String },
    Runtime { subscription: String, group: String, cluster: String, version: String },
    PutRuntime { subscription: String, group: String, cluster: String, version: String },
    DeleteRuntime { subscription: String, group: String, cluster: String, version: String },
    KeySets { set: KeySetKind, subscription: String, group: String, cluster: String },
    KeySet { set: KeySetKind, subscription: String, group: String, cluster: String, name: String },
    WriteKeySet { how: Write, set: KeySetKind, subscription: String, group: String, cluster: String, name: String },
    DeleteKeySet { set: KeySetKind, subscription: String, group: String, cluster: String, name: String },
    OperationStatus { subscription: String, id: String },
    OperationResult { subscription: String, id: String },
    ActivityLog { subscription: String },
    ActivityEntry { id: String },
    OpenApi,
    SiteStatus,
    Operations,
    Operation { id: String },
    OperationLog { id: String },
    CancelOperation { id: String },
    Events,
    Backup,
    Authorization { scope: String, of: Collection, errand: Errand },
    Principals,
    CreatePrincipal,
    Principal { id: String },
    DeletePrincipal { id: String },
    AddSecret { id: String },
    RemoveSecret { id: String, secret: String },
    AddCertificate { id: String },
    RemoveCertificate { id: String, thumbprint: String },
    DisablePrincipal { id: String },
    EnablePrincipal { id: String },
    RotateSigningKeys,
    Quota { subscription: String },
    SetQuota { subscription: String },
    DisableSubscription { subscription: String },
    EnableSubscription { subscription: String },
}

/// The two ways to write to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    /// PATCH: what is not named stays.
    Part,
    /// PUT: what is sent is all there is.
    Whole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Clusters,
    Racks,
    Machines,
    Vms,
    TenantClusters,
}

impl Kind {
    pub const ALL: [Kind; 5] = [Kind::Clusters, Kind::Racks, Kind::Machines, Kind::Vms, Kind::TenantClusters];

    pub fn arm_type(self) -> &'static str {
        match self {
            Kind::Clusters => "clusters",
            Kind::Racks => "racks",
            Kind::Machines => "bareMetalMachines",
            Kind::Vms => "virtualMachines",
            Kind::TenantClusters => "kubernetesClusters",
        }
    }

    /// The type as a resource names it.
    pub fn full_type(self) -> &'static str {
        match self {
            Kind::Clusters => "Microsoft.NetworkCloud/clusters",
            Kind::Racks => "Microsoft.NetworkCloud/racks",
            Kind::Machines => "Microsoft.NetworkCloud/bareMetalMachines",
            Kind::Vms => "Microsoft.NetworkCloud/virtualMachines",
            Kind::TenantClusters => "Microsoft.NetworkCloud/kubernetesClusters",
        }
    }

    pub fn parse(text: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.arm_type().eq_ignore_ascii_case(text))
    }
}

/// One row: the method, the path with `{}` for a value, and what it means.
type Row = (Method, &'static str, fn(&[&str]) -> Option<Route>);

fn owned(text: &str) -> String {
    text.to_owned()
}

/// Which key sets of a cluster a segment names.
fn key_sets(segment: &str) -> Option<KeySetKind> {
    [KeySetKind::Machine, KeySetKind::Bmc].into_iter().find(|kind| arm_type(*kind).eq_ignore_ascii_case(segment))
}

/// Every path there is.
const TABLE: &[Row] = &[
    (Method::GET, "healthz", |_| Some(Route::Health)),
    (Method::GET, "readyz", |_| Some(Route::Ready)),
    (Method::GET, "metrics", |_| Some(Route::Metrics)),
    (Method::GET, "metadata/endpoints", |_| Some(Route::Metadata)),
    (Method::GET, "adfs/.well-known/openid-configuration", |_| Some(Route::OpenIdConfiguration)),
    // Clients that are given a tenant ask for it by name, and by the version of the protocol that they know.
    (Method::GET, "adfs/{}/.well-known/openid-configuration", |_| Some(Route::OpenIdConfiguration)),
    (Method::GET, "adfs/{}/v2.0/.well-known/openid-configuration", |_| Some(Route::OpenIdConfiguration)),
    (Method::GET, "adfs/discovery/keys", |_| Some(Route::SigningKeys)),
    (Method::POST, "adfs/oauth2/token", |_| Some(Route::Token)),
    (Method::POST, "adfs/oauth2/v2.0/token", |_| Some(Route::Token)),
    (Method::POST, "adfs/oauth2/devicecode", |_| Some(Route::DeviceCode)),
    (Method::POST, "adfs/oauth2/v2.0/devicecode", |_| Some(Route::DeviceCode)),
    (Method::POST, "rackwright/v1/deviceLogins/{}/approve", |v| Some(Route::ApproveDevice { code: owned(v[0]) })),
    (Method::GET, "rackwright/v1/issuers", |_| Some(Route::Issuers)),
    (Method::PUT, "rackwright/v1/issuers/{}", |v| Some(Route::PutIssuer { name: owned(v[0]) })),
    (Method::DELETE, "rackwright/v1/issuers/{}", |v| Some(Route::DeleteIssuer { name: owned(v[0]) })),
    (Method::GET, "subscriptions", |_| Some(Route::Subscriptions)),
    (Method::GET, "subscriptions/{}", |v| Some(Route::Subscription { subscription: owned(v[0]) })),
    (Method::GET, "tenants", |_| Some(Route::Tenants)),
    (Method::GET, "subscriptions/{}/resourcegroups", |v| Some(Route::ResourceGroups { subscription: owned(v[0]) })),
    (Method::GET, "subscriptions/{}/resourcegroups/{}", |v| Some(Route::ResourceGroup { subscription: owned(v[0]), group: owned(v[1]) })),
    (Method::HEAD, "subscriptions/{}/resourcegroups/{}", |v| {
        Some(Route::ResourceGroupExists { subscription: owned(v[0]), group: owned(v[1]) })
    }),
    (Method::GET, "subscriptions/{}/resources", |v| Some(Route::Resources { subscription: owned(v[0]), group: None })),
    (Method::GET, "subscriptions/{}/resourcegroups/{}/resources", |v| {
        Some(Route::Resources { subscription: owned(v[0]), group: Some(owned(v[1])) })
    }),
    (Method::GET, "subscriptions/{}/providers", |v| Some(Route::Providers { subscription: owned(v[0]) })),
    (Method::GET, "subscriptions/{}/providers/{}", |v| Some(Route::Provider { subscription: owned(v[0]), namespace: owned(v[1]) })),
    (Method::POST, "subscriptions/{}/providers/{}/register", |v| {
        Some(Route::Register { subscription: owned(v[0]), namespace: owned(v[1]) })
    }),
    (Method::POST, "subscriptions/{}/providers/{}/unregister", |v| {
        Some(Route::Unregister { subscription: owned(v[0]), namespace: owned(v[1]) })
    }),
    (Method::GET, "providers/microsoft.networkcloud/operations", |_| Some(Route::ProviderOperations)),
    (Method::GET, "subscriptions/{}/providers/microsoft.networkcloud/{}", |v| {
        Some(Route::List { kind: Kind::parse(v[1])?, subscription: owned(v[0]), group: None })
    }),
    (Method::GET, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/{}", |v| {
        Some(Route::List { kind: Kind::parse(v[2])?, subscription: owned(v[0]), group: Some(owned(v[1])) })
    }),
    (Method::GET, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/{}/{}", |v| {
        Some(Route::Show { kind: Kind::parse(v[2])?, subscription: owned(v[0]), group: owned(v[1]), name: owned(v[3]) })
    }),
    (Method::PATCH, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/baremetalmachines/{}", |v| {
        Some(Route::Update { how: Write::Part, subscription: owned(v[0]), group: owned(v[1]), name: owned(v[2]) })
    }),
    (Method::PUT, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/baremetalmachines/{}", |v| {
        Some(Route::Update { how: Write::Whole, subscription: owned(v[0]), group: owned(v[1]), name: owned(v[2]) })
    }),
    (Method::DELETE, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/baremetalmachines/{}", |v| {
        Some(Route::Delete { subscription: owned(v[0]), group: owned(v[1]), name: owned(v[2]) })
    }),
    (Method::POST, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/baremetalmachines/{}/{}", |v| {
        Some(Route::Act { subscription: owned(v[0]), group: owned(v[1]), machine: owned(v[2]), verb: owned(v[3]) })
    }),
    (Method::GET, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/baremetalmachines/{}/hardwarevalidation", |v| {
        Some(Route::Validation { subscription: owned(v[0]), group: owned(v[1]), machine: owned(v[2]) })
    }),
    (Method::GET, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/baremetalmachines/{}/advise", |v| {
        Some(Route::Advise { subscription: owned(v[0]), group: owned(v[1]), machine: owned(v[2]) })
    }),
    (Method::GET, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/baremetalmachines/{}/verify", |v| {
        Some(Route::Verify { subscription: owned(v[0]), group: owned(v[1]), machine: owned(v[2]) })
    }),
    (Method::POST, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/clusters/{}/{}", |v| {
        Some(Route::ActOnCluster { subscription: owned(v[0]), group: owned(v[1]), cluster: owned(v[2]), verb: owned(v[3]) })
    }),
    (Method::PATCH, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/virtualmachines/{}", |v| {
        Some(Route::UpdateVm { how: Write::Part, subscription: owned(v[0]), group: owned(v[1]), name: owned(v[2]) })
    }),
    (Method::PUT, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/virtualmachines/{}", |v| {
        Some(Route::UpdateVm { how: Write::Whole, subscription: owned(v[0]), group: owned(v[1]), name: owned(v[2]) })
    }),
    (Method::DELETE, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/virtualmachines/{}", |v| {
        Some(Route::DeleteVm { subscription: owned(v[0]), group: owned(v[1]), name: owned(v[2]) })
    }),
    (Method::POST, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/virtualmachines/{}/{}", |v| {
        Some(Route::ActOnVm { subscription: owned(v[0]), group: owned(v[1]), name: owned(v[2]), verb: owned(v[3]) })
    }),
    (Method::PATCH, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/kubernetesclusters/{}", |v| {
        Some(Route::UpdateTenantCluster { subscription: owned(v[0]), group: owned(v[1]), name: owned(v[2]) })
    }),
    (Method::POST, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/kubernetesclusters/{}/{}", |v| {
        Some(Route::ActOnTenantCluster { subscription: owned(v[0]), group: owned(v[1]), name: owned(v[2]), verb: owned(v[3]) })
    }),
    (Method::GET, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/kubernetesclusters/{}/agentpools", |v| {
        Some(Route::Pools { subscription: owned(v[0]), group: owned(v[1]), tenant: owned(v[2]) })
    }),
    (Method::GET, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/kubernetesclusters/{}/agentpools/{}", |v| {
        Some(Route::Pool { subscription: owned(v[0]), group: owned(v[1]), tenant: owned(v[2]), pool: owned(v[3]) })
    }),
    (Method::PATCH, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/kubernetesclusters/{}/agentpools/{}", |v| {
        Some(Route::UpdatePool { subscription: owned(v[0]), group: owned(v[1]), tenant: owned(v[2]), pool: owned(v[3]) })
    }),
    (Method::GET, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/clusters/{}/runtimes", |v| {
        Some(Route::Runtimes { subscription: owned(v[0]), group: owned(v[1]), cluster: owned(v[2]) })
    }),
    (Method::GET, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/clusters/{}/runtimes/{}", |v| {
        Some(Route::Runtime { subscription: owned(v[0]), group: owned(v[1]), cluster: owned(v[2]), version: owned(v[3]) })
    }),
    (Method::PUT, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/clusters/{}/runtimes/{}", |v| {
        Some(Route::PutRuntime { subscription: owned(v[0]), group: owned(v[1]), cluster: owned(v[2]), version: owned(v[3]) })
    }),
    (Method::DELETE, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/clusters/{}/runtimes/{}", |v| {
        Some(Route::DeleteRuntime { subscription: owned(v[0]), group: owned(v[1]), cluster: owned(v[2]), version: owned(v[3]) })
    }),
    (Method::GET, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/clusters/{}/{}", |v| {
        Some(Route::KeySets { set: key_sets(v[3])?, subscription: owned(v[0]), group: owned(v[1]), cluster: owned(v[2]) })
    }),
    (Method::GET, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/clusters/{}/{}/{}", |v| {
        Some(Route::KeySet { set: key_sets(v[3])?, subscription: owned(v[0]), group: owned(v[1]), cluster: owned(v[2]), name: owned(v[4]) })
    }),
    (Method::PUT, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/clusters/{}/{}/{}", |v| {
        Some(Route::WriteKeySet {
            how: Write::Whole,
            set: key_sets(v[3])?,
            subscription: owned(v[0]),
            group: owned(v[1]),
            cluster: owned(v[2]),
            name: owned(v[4]),
        })
    }),
    (Method::PATCH, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/clusters/{}/{}/{}", |v| {
        Some(Route::WriteKeySet {
            how: Write::Part,
            set: key_sets(v[3])?,
            subscription: owned(v[0]),
            group: owned(v[1]),
            cluster: owned(v[2]),
            name: owned(v[4]),
        })
    }),
    (Method::DELETE, "subscriptions/{}/resourcegroups/{}/providers/microsoft.networkcloud/clusters/{}/{}/{}", |v| {
        Some(Route::DeleteKeySet {
            set: key_sets(v[3])?,
            subscription: owned(v[0]),
            group: owned(v[1]),
            cluster: owned(v[2]),
            name: owned(v[4]),
        })
    }),
    (Method::GET, "subscriptions/{}/providers/microsoft.networkcloud/locations/{}/operationstatuses/{}", |v| {
        Some(Route::OperationStatus { subscription: owned(v[0]), id: owned(v[2]) })
    }),
    (Method::GET, "subscriptions/{}/providers/microsoft.networkcloud/locations/{}/operationresults/{}", |v| {
        Some(Route::OperationResult { subscription: owned(v[0]), id: owned(v[2]) })
    }),
    (Method::GET, "subscriptions/{}/providers/microsoft.insights/eventtypes/management/values", |v| {
        Some(Route::ActivityLog { subscription: owned(v[0]) })
    }),
    (Method::GET, "rackwright/v1/activity/{}", |v| Some(Route::ActivityEntry { id: owned(v[0]) })),
    (Method::GET, "rackwright/v1/openapi.json", |_| Some(Route::OpenApi)),
    (Method::GET, "rackwright/v1/status", |_| Some(Route::SiteStatus)),
    (Method::GET, "rackwright/v1/operations", |_| Some(Route::Operations)),
    (Method::GET, "rackwright/v1/operations/{}", |v| Some(Route::Operation { id: owned(v[0]) })),
    (Method::GET, "rackwright/v1/operations/{}/log", |v| Some(Route::OperationLog { id: owned(v[0]) })),
    (Method::POST, "rackwright/v1/operations/{}/cancel", |v| Some(Route::CancelOperation { id: owned(v[0]) })),
    (Method::GET, "rackwright/v1/events", |_| Some(Route::Events)),
    (Method::POST, "rackwright/v1/backup", |_| Some(Route::Backup)),
    (Method::GET, "rackwright/v1/principals", |_| Some(Route::Principals)),
    (Method::POST, "rackwright/v1/principals", |_| Some(Route::CreatePrincipal)),
    (Method::GET, "rackwright/v1/principals/{}", |v| Some(Route::Principal { id: owned(v[0]) })),
    (Method::DELETE, "rackwright/v1/principals/{}", |v| Some(Route::DeletePrincipal { id: owned(v[0]) })),
    (Method::POST, "rackwright/v1/principals/{}/secrets", |v| Some(Route::AddSecret { id: owned(v[0]) })),
    (Method::DELETE, "rackwright/v1/principals/{}/secrets/{}", |v| Some(Route::RemoveSecret { id: owned(v[0]), secret: owned(v[1]) })),
    (Method::POST, "rackwright/v1/principals/{}/certificates", |v| Some(Route::AddCertificate { id: owned(v[0]) })),
    (Method::DELETE, "rackwright/v1/principals/{}/certificates/{}", |v| {
        Some(Route::RemoveCertificate { id: owned(v[0]), thumbprint: owned(v[1]) })
    }),
    (Method::POST, "rackwright/v1/principals/{}/disable", |v| Some(Route::DisablePrincipal { id: owned(v[0]) })),
    (Method::POST, "rackwright/v1/principals/{}/enable", |v| Some(Route::EnablePrincipal { id: owned(v[0]) })),
    (Method::POST, "rackwright/v1/signingkeys/rotate", |_| Some(Route::RotateSigningKeys)),
    (Method::GET, "rackwright/v1/subscriptions/{}/quotas", |v| Some(Route::Quota { subscription: owned(v[0]) })),
    (Method::PUT, "rackwright/v1/subscriptions/{}/quotas", |v| Some(Route::SetQuota { subscription: owned(v[0]) })),
    (Method::POST, "rackwright/v1/subscriptions/{}/disable", |v| Some(Route::DisableSubscription { subscription: owned(v[0]) })),
    (Method::POST, "rackwright/v1/subscriptions/{}/enable", |v| Some(Route::EnableSubscription { subscription: owned(v[0]) })),
];

impl Route {
    /// ARM paths must name an `api-version`; ours carry their version in the path.
    pub fn needs_api_version(&self) -> bool {
        !matches!(
            self,
            Route::Health
                | Route::Ready
                | Route::Metrics
                | Route::Metadata
                | Route::OpenIdConfiguration
                | Route::SigningKeys
                | Route::Token
                | Route::DeviceCode
                | Route::ApproveDevice { .. }
                | Route::Issuers
                | Route::PutIssuer { .. }
                | Route::DeleteIssuer { .. }
                | Route::OpenApi
                | Route::SiteStatus
                | Route::Operations
                | Route::Operation { .. }
                | Route::OperationLog { .. }
                | Route::CancelOperation { .. }
                | Route::ActivityEntry { .. }
                | Route::Events
                | Route::Backup
        ) && !self.is_administration()
    }

    /// What is administered under a path of our own.
    pub fn is_administration(&self) -> bool {
        matches!(
            self,
            Route::Principals
                | Route::CreatePrincipal
                | Route::Principal { .. }
                | Route::DeletePrincipal { .. }
                | Route::AddSecret { .. }
                | Route::RemoveSecret { .. }
                | Route::AddCertificate { .. }
                | Route::RemoveCertificate { .. }
                | Route::DisablePrincipal { .. }
                | Route::EnablePrincipal { .. }
                | Route::RotateSigningKeys
                | Route::Quota { .. }
                | Route::SetQuota { .. }
                | Route::DisableSubscription { .. }
                | Route::EnableSubscription { .. }
        )
    }

    /// The kind of route without its values, for counting: `Show`.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Route::Health => "Health",
            Route::Ready => "Ready",
            Route::Metrics => "Metrics",
            Route::Metadata => "Metadata",
            Route::OpenIdConfiguration => "OpenIdConfiguration",
            Route::SigningKeys => "SigningKeys",
            Route::Token => "Token",
            Route::DeviceCode => "DeviceCode",
            Route::ApproveDevice { .. } => "ApproveDevice",
            Route::Issuers => "Issuers",
            Route::PutIssuer { .. } => "PutIssuer",
            Route::DeleteIssuer { .. } => "DeleteIssuer",
            Route::Subscriptions => "Subscriptions",
            Route::Subscription { .. } => "Subscription",
            Route::Tenants => "Tenants",
            Route::ResourceGroups { .. } => "ResourceGroups",
            Route::ResourceGroup { .. } => "ResourceGroup",
            Route::ResourceGroupExists { .. } => "ResourceGroupExists",
            Route::Resources { .. } => "Resources",
            Route::Providers { .. } => "Providers",
            Route::Provider { .. } => "Provider",
            Route::Register { .. } => "Register",
            Route::Unregister { .. } => "Unregister",
            Route::ProviderOperations => "ProviderOperations",
            Route::List { .. } => "List",
            Route::Show { .. } => "Show",
            Route::Update { .. } => "Update",
            Route::Delete { .. } => "Delete",
            Route::Act { .. } => "Act",
            Route::Validation { .. } => "Validation",
            Route::Advise { .. } => "Advise",
            Route::Verify { .. } => "Verify",
            Route::ActOnCluster { .. } => "ActOnCluster",
            Route::UpdateVm { .. } => "UpdateVm",
            Route::DeleteVm { .. } => "DeleteVm",
            Route::ActOnVm { .. } => "ActOnVm",
            Route::UpdateTenantCluster { .. } => "UpdateTenantCluster",
            Route::ActOnTenantCluster { .. } => "ActOnTenantCluster",
            Route::Pools { .. } => "Pools",
            Route::Pool { .. } => "Pool",
            Route::UpdatePool { .. } => "UpdatePool",
            Route::Runtimes { .. } => "Runtimes",
            Route::Runtime { .. } => "Runtime",
            Route::PutRuntime { .. } => "PutRuntime",
            Route::DeleteRuntime { .. } => "DeleteRuntime",
            Route::KeySets { .. } => "KeySets",
            Route::KeySet { .. } => "KeySet",
            Route::WriteKeySet { .. } => "WriteKeySet",
            Route::DeleteKeySet { .. } => "DeleteKeySet",
            Route::OperationStatus { .. } => "OperationStatus",
            Route::OperationResult { .. } => "OperationResult",
            Route::ActivityLog { .. } => "ActivityLog",
            Route::ActivityEntry { .. } => "ActivityEntry",
            Route::OpenApi => "OpenApi",
            Route::SiteStatus => "SiteStatus",
            Route::Operations => "Operations",
            Route::Operation { .. } => "Operation",
            Route::OperationLog { .. } => "OperationLog",
            Route::CancelOperation { .. } => "CancelOperation",
            Route::Events => "Events",
            Route::Backup => "Backup",
            Route::Authorization { .. } => "Authorization",
            Route::Principals => "Principals",
            Route::CreatePrincipal => "CreatePrincipal",
            Route::Principal { .. } => "Principal",
            Route::DeletePrincipal { .. } => "DeletePrincipal",
            Route::AddSecret { .. } => "AddSecret",
            Route::RemoveSecret { .. } => "RemoveSecret",
            Route::AddCertificate { .. } => "AddCertificate",
            Route::RemoveCertificate { .. } => "RemoveCertificate",
            Route::DisablePrincipal { .. } => "DisablePrincipal",
            Route::EnablePrincipal { .. } => "EnablePrincipal",
            Route::RotateSigningKeys => "RotateSigningKeys",
            Route::Quota { .. } => "Quota",
            Route::SetQuota { .. } => "SetQuota",
            Route::DisableSubscription { .. } => "DisableSubscription",
            Route::EnableSubscription { .. } => "EnableSubscription",
        }
    }

    /// What a path means, as it was sent. Its segments are told apart before they are decoded: a `%2F` is part of a name.
    ///
    /// HEAD is GET whose answer keeps its body to itself, unless a path has a HEAD of its own.
    pub fn find(method: &Method, path: &str) -> Result<Route, Refused> {
        let segments = segments_of(path)?;
        let mut rows = rows_of(&segments);
        let place = |wanted: &Method| rows.iter().position(|(method, _)| *method == wanted);
        let found = place(method).or_else(|| if *method == Method::HEAD { place(&Method::GET) } else { None });
        match found {
            Some(at) => Ok(rows.swap_remove(at).1),
            None if rows.is_empty() => Err(nothing_at(path, &segments)),
            None => Err(Refused::method_not_allowed(method, &rows.iter().map(|(method, _)| *method).collect::<Vec<_>>())),
        }
    }

    /// The methods that a path is there for.
    pub fn methods_of(path: &str) -> Result<Vec<&'static Method>, Refused> {
        let segments = segments_of(path)?;
        let methods: Vec<&Method> = rows_of(&segments).into_iter().map(|(method, _)| method).collect();
        if methods.is_empty() { Err(nothing_at(path, &segments)) } else { Ok(methods) }
    }
}

/// A path that leads nowhere, with what is wrong about its provider if it names one.
fn nothing_at(path: &str, segments: &[Cow<'_, str>]) -> Refused {
    let named = segments.iter().rposition(|segment| segment.eq_ignore_ascii_case("providers")).and_then(|at| segments.get(at + 1));
    match named {
        Some(namespace) if providers::find(namespace).is_none() => providers::unknown(namespace),
        _ => Refused::no_such_path(path),
    }
}

fn segments_of(path: &str) -> Result<Vec<Cow<'_, str>>, Refused> {
    path.split('/').filter(|segment| !segment.is_empty()).map(decode).collect()
}

fn rows_of(segments: &[Cow<'_, str>]) -> Vec<(&'static Method, Route)> {
    if let Some(rows) = authorization::rows_of(segments) {
        return rows;
    }
    let segments: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
    TABLE.iter().filter_map(|(method, pattern, make)| Some((method, make(&matched(pattern, &segments)?)?))).collect()
}

/// One segment's text. Broken escapes stay as they are: they match nothing, and the answer says so.
fn decode(segment: &str) -> Result<Cow<'_, str>, Refused> {
    let text = percent_decode_str(segment).decode_utf8().map_err(|_| Refused::bad_content("the path is not UTF-8"))?;
    if text.chars().any(char::is_control) {
        return Err(Refused::bad_content("the path has a control character"));
    }
    Ok(text)
}

fn matched<'a>(pattern: &str, segments: &[&'a str]) -> Option<Vec<&'a str>> {
    let mut values = Vec::new();
    let mut parts = pattern.split('/');
    for segment in segments {
        match parts.next()? {
            "{}" => values.push(*segment),
            literal if literal.eq_ignore_ascii_case(segment) => {}
            _ => return None,
        }
    }
    parts.next().is_none().then_some(values)
}

/// The rows, for tests that hold something against all of them.
#[cfg(test)]
pub(crate) fn rows() -> impl Iterator<Item = (&'static Method, String)> {
    TABLE.iter().map(|(method, pattern, _)| (method, (*pattern).to_owned())).chain(authorization::patterns())
}

#[cfg(test)]
pub(crate) fn fits(pattern: &str, path: &str) -> bool {
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    matched(pattern, &segments).is_some()
}

#[cfg(test)]
mod tests;
