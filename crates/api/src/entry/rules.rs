//! What each route needs.

use std::borrow::Cow;

use access::{Permission, Scope};

use super::{permission_of, scope_of};
use crate::links::PROVIDER;
use crate::resources::key_sets::arm_type;
use crate::route::authorization::{Collection, Errand};
use crate::route::{Kind, Route, Write};

/// What a caller must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Not even a name.
    Nothing,
    /// A name. What is shown, or what is done, is judged by what it turns out to be about.
    Somebody,
    /// A permission at the scope.
    At(Permission, Scope),
    /// A permission somewhere in the scope. What is shown is only what it holds for.
    Within(Permission, Scope),
}

/// Whoever sees anything in a resource group sees that the group is there.
const GROUP_READ: &str = "Microsoft.Resources/subscriptions/resourceGroups/read";

const LOG_READ: &str = "Microsoft.Insights/eventtypes/values/read";

/// What a route needs. It is one match over all of them, without a rest: the compiler names a route that has no rule.
pub(super) fn need(route: &Route) -> Need {
    match route {
        Route::Health | Route::Ready => Need::Nothing,
        Route::Metadata | Route::OpenIdConfiguration | Route::SigningKeys | Route::Token | Route::DeviceCode => Need::Nothing,
        Route::Subscriptions | Route::Tenants | Route::ProviderOperations | Route::OpenApi => Need::Somebody,
        Route::SiteStatus | Route::Operations | Route::Events | Route::ApproveDevice { .. } => Need::Somebody,
        Route::Issuers => at("Rackwright/issuers/read", Scope::root()),
        Route::PutIssuer { .. } => at("Rackwright/issuers/write", Scope::root()),
        Route::DeleteIssuer { .. } => at("Rackwright/issuers/delete", Scope::root()),
        // Which resource an operation or an entry of the log is about is known when it was found.
        Route::Operation { .. } | Route::OperationLog { .. } | Route::CancelOperation { .. } => Need::Somebody,
        Route::OperationStatus { .. } | Route::OperationResult { .. } | Route::ActivityEntry { .. } => Need::Somebody,
        Route::Metrics => at("Rackwright/metrics/read", Scope::root()),
        Route::Backup => at("Rackwright/backup/action", Scope::root()),
        Route::Subscription { subscription }
        | Route::ResourceGroups { subscription }
        | Route::Providers { subscription }
        | Route::Provider { subscription, .. } => within(GROUP_READ, place(subscription, None)),
        Route::Register { subscription, namespace } => at(&format!("{namespace}/register/action"), place(subscription, None)),
        Route::Unregister { subscription, namespace } => at(&format!("{namespace}/unregister/action"), place(subscription, None)),
        Route::Authorization { scope, of, errand } => of_authorization(scope, *of, errand),
        Route::ResourceGroup { subscription, group } | Route::ResourceGroupExists { subscription, group } => {
            within(GROUP_READ, place(subscription, Some(group)))
        }
        Route::Resources { subscription, group } => within(GROUP_READ, place(subscription, group.as_deref())),
        Route::ActivityLog { subscription } => within(LOG_READ, place(subscription, None)),
        Route::List { kind, subscription, group } => within(&format!("{}/read", kind.full_type()), place(subscription, group.as_deref())),
        Route::Show { kind, subscription, group, name } => of(*kind, subscription, group, name, "read"),
        Route::Update { subscription, group, name, .. } => of(Kind::Machines, subscription, group, name, "write"),
        Route::Delete { subscription, group, name } => of(Kind::Machines, subscription, group, name, "delete"),
        Route::Act { subscription, group, machine, verb } => of(Kind::Machines, subscription, group, machine, &format!("{verb}/action")),
        Route::Validation { subscription, group, machine }
        | Route::Advise { subscription, group, machine }
        | Route::Verify { subscription, group, machine } => of(Kind::Machines, subscription, group, machine, "read"),
        Route::ActOnCluster { subscription, group, cluster, verb } => {
            of(Kind::Clusters, subscription, group, cluster, &format!("{verb}/action"))
        }
        Route::UpdateVm { subscription, group, name, .. } => of(Kind::Vms, subscription, group, name, "write"),
        Route::DeleteVm { subscription, group, name } => of(Kind::Vms, subscription, group, name, "delete"),
        Route::ActOnVm { subscription, group, name, verb } => of(Kind::Vms, subscription, group, name, &format!("{verb}/action")),
        Route::UpdateTenantCluster { subscription, group, name } => of(Kind::TenantClusters, subscription, group, name, "write"),
        Route::ActOnTenantCluster { subscription, group, name, verb } => {
            of(Kind::TenantClusters, subscription, group, name, &format!("{verb}/action"))
        }
        Route::Pools { subscription, group, tenant } => of(Kind::TenantClusters, subscription, group, tenant, "agentPools/read"),
        Route::Pool { subscription, group, tenant, pool } => {
            let tenant = (Kind::TenantClusters, subscription.as_str(), group.as_str(), tenant.as_str());
            below(tenant, "agentPools", pool, "read")
        }
        Route::UpdatePool { subscription, group, tenant, pool } => {
            let tenant = (Kind::TenantClusters, subscription.as_str(), group.as_str(), tenant.as_str());
            below(tenant, "agentPools", pool, "write")
        }
        Route::Runtimes { subscription, group, cluster } => of(Kind::Clusters, subscription, group, cluster, "runtimes/read"),
        Route::Runtime { subscription, group, cluster, version } => {
            below((Kind::Clusters, subscription, group, cluster), "runtimes", version, "read")
        }
        Route::PutRuntime { subscription, group, cluster, version } => {
            below((Kind::Clusters, subscription, group, cluster), "runtimes", version, "write")
        }
        Route::DeleteRuntime { subscription, group, cluster, version } => {
            below((Kind::Clusters, subscription, group, cluster), "runtimes", version, "delete")
        }
        Route::KeySets { set, subscription, group, cluster } => {
            of(Kind::Clusters, subscription, group, cluster, &format!("{}/read", arm_type(*set)))
        }
        Route::KeySet { set, subscription, group, cluster, name } => {
            below((Kind::Clusters, subscription, group, cluster), arm_type(*set), name, "read")
        }
        Route::WriteKeySet { set, subscription, group, cluster, name, how: Write::Whole | Write::Part } => {
            below((Kind::Clusters, subscription, group, cluster), arm_type(*set), name, "write")
        }
        Route::DeleteKeySet { set, subscription, group, cluster, name } => {
            below((Kind::Clusters, subscription, group, cluster), arm_type(*set), name, "delete")
        }
        Route::Principals | Route::Principal { .. } => at("Rackwright/principals/read", Scope::root()),
        Route::DeletePrincipal { .. } => at("Rackwright/principals/delete", Scope::root()),
        Route::CreatePrincipal | Route::AddSecret { .. } | Route::RemoveSecret { .. } => at("Rackwright/principals/write", Scope::root()),
        Route::AddCertificate { .. } | Route::RemoveCertificate { .. } => at("Rackwright/principals/write", Scope::root()),
        Route::DisablePrincipal { .. } | Route::EnablePrincipal { .. } => at("Rackwright/principals/write", Scope::root()),
        Route::RotateSigningKeys => at("Rackwright/signingKeys/rotate/action", Scope::root()),
        // Quotas and states bind those who own a subscription, so they are not theirs to change.
        Route::Quota { subscription } => at("Rackwright/subscriptions/quotas/read", place(subscription, None)),
        Route::SetQuota { .. } => at("Rackwright/subscriptions/quotas/write", Scope::root()),
        Route::DisableSubscription { .. } => at("Rackwright/subscriptions/disable/action", Scope::root()),
        Route::EnableSubscription { .. } => at("Rackwright/subscriptions/enable/action", Scope::root()),
    }
}

/// A list shows what the caller may read of it; one of them is a place of its own below what it holds for.
fn of_authorization(scope: &str, of: Collection, errand: &Errand) -> Need {
    let permission = |what: &str| format!("{}/{what}", of.full_type());
    let (name, what) = match errand {
        Errand::List => return within(&permission("read"), scope_of(scope)),
        Errand::Show(name) => (name, "read"),
        Errand::Put(name) => (name, "write"),
        Errand::Delete(name) => (name, "delete"),
    };
    let stem = scope.trim_end_matches('/');
    at(&permission(what), scope_of(&format!("{stem}/providers/{}/{}", of.full_type(), level(name))))
}

fn at(permission: &str, scope: Scope) -> Need {
    Need::At(permission_of(permission), scope)
}

fn within(permission: &str, scope: Scope) -> Need {
    Need::Within(permission_of(permission), scope)
}

fn place(subscription: &str, group: Option<&str>) -> Scope {
    let (subscription, group) = (level(subscription), group.map(level));
    match group {
        Some(group) => scope_of(&format!("/subscriptions/{subscription}/resourceGroups/{group}")),
        None => scope_of(&format!("/subscriptions/{subscription}")),
    }
}

/// A value of a path as one level of a scope. An escaped slash is part of a name, and leads into no other scope: no scope has a backslash,
/// so that what is judged ends before it.
fn level(value: &str) -> Cow<'_, str> {
    if value.contains('/') { value.replace('/', "\\").into() } else { value.into() }
}

/// What is done with a resource.
fn of(kind: Kind, subscription: &str, group: &str, name: &str, what: &str) -> Need {
    let id = crate::links::resource_id(&level(subscription), &level(group), kind.arm_type(), &level(name));
    at(&format!("{}/{what}", kind.full_type()), scope_of(&id))
}

/// What is done with something below a resource.
fn below((kind, subscription, group, name): (Kind, &str, &str, &str), collection: &str, child: &str, what: &str) -> Need {
    let id = crate::links::resource_id(&level(subscription), &level(group), kind.arm_type(), &level(name));
    at(&format!("{}/{collection}/{what}", kind.full_type()), scope_of(&format!("{id}/{collection}/{}", level(child))))
}

/// What lets one see the resource with an id: `Microsoft.NetworkCloud/virtualMachines/read`.
pub(crate) fn read_permission(id: &str) -> Permission {
    let path = id.to_ascii_lowercase().rfind("/providers/").map_or("", |at| &id[at + "/providers/".len()..]);
    let mut segments = path.split('/');
    let namespace = segments.next().filter(|namespace| !namespace.is_empty());
    let kinds: Vec<&str> = segments.step_by(2).collect();
    match namespace {
        Some(namespace) => permission_of(&format!("{namespace}/{}/read", kinds.join("/"))),
        None => permission_of(GROUP_READ),
    }
}

/// What lets one see what is administered at a scope.
pub(crate) fn collection_permission(of: Collection) -> Permission {
    permission_of(&format!("{}/read", of.full_type()))
}

/// The type of the resource with an id: `Microsoft.NetworkCloud/virtualMachines`.
pub(crate) fn type_of(id: &str) -> String {
    let read = read_permission(id);
    read.as_str().strip_suffix("/read").unwrap_or(PROVIDER).to_owned()
}

/// What lets one see what the log says about a resource.
pub(crate) fn log_permission() -> Permission {
    permission_of(LOG_READ)
}

/// What lets one see that a resource group, or a subscription with one in it, is there.
pub(crate) fn group_permission() -> Permission {
    permission_of(GROUP_READ)
}

/// What lets one cancel an operation at work on a resource.
pub(crate) fn cancel_permission(id: &str) -> Permission {
    permission_of(&format!("{}/cancelOperation/action", type_of(id)))
}
