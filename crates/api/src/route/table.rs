//! The table of paths.

use http::Method;
use model::KeySetKind;

use super::{Kind, Route, Write};
use crate::resources::key_sets::arm_type;

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
pub(super) const TABLE: &[Row] = &[
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
