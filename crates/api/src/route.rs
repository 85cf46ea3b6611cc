//! The router: one table of paths. Segments are matched without case, and empty ones do not count, as Azure's clients need.

pub(crate) mod authorization;
mod table;

use std::borrow::Cow;

use http::Method;
use model::KeySetKind;
use percent_encoding::percent_decode_str;

use crate::reply::Refused;
use crate::resources::providers;
use authorization::{Collection, Errand};
use table::TABLE;

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
