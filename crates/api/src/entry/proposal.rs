//! What is about to be there, held against the policies. Every request that a keeper is asked passes here.
//!
//! Policies are about what a site has; roles, locks and policies themselves are not judged by them, or one could keep itself in force.

use std::collections::BTreeMap;

use access::deny::{DenyPolicy, Proposal};
use gate::Denial;
use model::{Ask, Cluster, ClusterName, Part, PoolName, TenantCluster};
use serde_json::json;

use super::rules::type_of;
use crate::Api;
use crate::cache::View;
use crate::call::Call;
use crate::codes::Code;
use crate::reply::Refused;

type Tags = BTreeMap<String, String>;

pub(crate) fn check_policies(api: &Api, call: &Call, cluster: &ClusterName, ask: &Ask) -> Result<(), Refused> {
    // A preview changes nothing, and stopping an operation takes nothing up.
    if ask.is_preview() || !api.gate.directory().restraints().has_policies() {
        return Ok(());
    }
    let Some((permission, scope)) = call.wanted() else { return Ok(()) };
    let view = api.cache.view();
    let home = view.clusters.get(cluster).map(|cluster| &cluster.document);
    let tags = tags_afterwards(&view, cluster, home.map(|home| &**home), ask);
    let kind = type_of(scope.as_str());
    let location = home.map(|home| home.home.location.as_str());
    let proposal = Proposal { permission, scope, kind: &kind, location, tags: &tags };
    match api.gate.directory().restraints().find_denial(&proposal) {
        None => Ok(()),
        Some(Denial::ByPolicy(policy)) => Err(disallowed(scope.as_str(), &policy)),
        Some(Denial::Obscure(key)) => {
            let message =
                format!("Resource '{scope}' was disallowed by policy. The policy `{key}` is stored and cannot be understood; delete it");
            Err(Refused::new(Code::RequestDisallowedByPolicy, message).target(scope.as_str()))
        }
    }
}

fn disallowed(resource: &str, policy: &DenyPolicy) -> Refused {
    let id = crate::resources::authorization::id_of(&policy.scope, crate::route::authorization::Collection::PolicyAssignments, &policy.id);
    let name = policy.display_name.as_deref().unwrap_or(&policy.id);
    let message = format!("Resource '{resource}' was disallowed by policy. Policy `{name}` ({id}): {}", policy.reason);
    let info = json!({
        "policyAssignmentId": id,
        "policyAssignmentName": policy.id,
        "policyAssignmentDisplayName": policy.display_name,
        "policyAssignmentScope": policy.scope,
        "policyDefinitionEffect": "deny",
        "reason": policy.reason,
    });
    Refused::new(Code::RequestDisallowedByPolicy, message).target(resource).additional_info("PolicyViolation", &info)
}

/// The tags that what is asked about would have: those that are written, or else those that it has.
fn tags_afterwards(view: &View, name: &ClusterName, cluster: Option<&Cluster>, ask: &Ask) -> Tags {
    match ask {
        Ask::PutVm { tags, .. } => tags.clone(),
        Ask::PutKeySet { key_set, .. } => key_set.tags.clone(),
        Ask::Update { tags: Some(tags), .. }
        | Ask::UpdateVm { tags: Some(tags), .. }
        | Ask::UpdateTenantCluster { tags: Some(tags), .. } => tags.clone(),
        Ask::UpdateKeySet { change, .. } if change.tags.is_some() => change.tags.clone().unwrap_or_default(),
        Ask::UpdateKeySet { set, name: key_set, .. } | Ask::DeleteKeySet { set, name: key_set, .. } => {
            let mut known = view.key_sets_of(name).map(|known| &known.document);
            let found = known.find(|known| known.kind == *set && known.name == *key_set);
            found.map(|found| found.tags.clone()).unwrap_or_default()
        }
        Ask::UpdateTenantCluster { cluster: tenant, pool: Some(pool), .. } => {
            view.tenant_cluster(name, tenant).map(|tenant| tags_of_pool(&tenant.document, pool)).unwrap_or_default()
        }
        // A runtime has no tags.
        Ask::ImportRuntime { .. } | Ask::ForgetRuntime { .. } => Tags::new(),
        _ => match ask.part() {
            Some(Part::Machine(machine)) => view.machine(name, &machine).map(|machine| machine.document.tags.clone()),
            Some(Part::Vm(vm)) => view.vm(name, &vm).map(|vm| vm.document.tags.clone()),
            Some(Part::TenantCluster(tenant)) => view.tenant_cluster(name, &tenant).map(|tenant| tenant.document.settings.tags.clone()),
            Some(Part::Cluster | Part::Rack(_)) | None => cluster.map(|cluster| cluster.tags.clone()),
        }
        .unwrap_or_default(),
    }
}

fn tags_of_pool(tenant: &TenantCluster, pool: &PoolName) -> Tags {
    tenant.pools.get(pool).map(|settings| settings.tags.clone()).unwrap_or_default()
}
