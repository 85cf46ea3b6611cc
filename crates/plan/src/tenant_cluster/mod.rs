//! Documents of tenants' Kubernetes clusters: they follow what Cluster API, their own APIs and KubeVirt report. Transitions only.

mod nodes;
mod settings;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use model::{Settings, TenantCluster, TenantClusterName, TenantClusterSeen, Timestamp};

use crate::contact;
use crate::draft::Draft;

pub(crate) use settings::{Written, find, update};
pub use words::{TenantDetail, TenantStatusWords, agent_pool_status, tenant_cluster_status, tenant_node_status};

pub(crate) fn plan_tenant_clusters(draft: &mut Draft, clusters: &BTreeSet<TenantClusterName>, now: Timestamp) {
    // Before the first listing, what is absent may be there.
    if draft.after.tenants.listed_at.is_none() {
        return;
    }
    for name in clusters {
        match draft.after.tenants.clusters.get(name).cloned() {
            Some(seen) => {
                let cluster = followed(draft, &seen, now);
                draft.save_tenant_cluster(cluster);
            }
            None if draft.after.tenant_clusters.contains_key(name) => draft.forget_tenant_cluster(name),
            None => {}
        }
    }
}

/// One that is made anew under the same name is another, and what was written of the one before is not said of it.
fn followed(draft: &Draft, seen: &TenantClusterSeen, now: Timestamp) -> TenantCluster {
    let stored = draft.after.tenant_clusters.get(&seen.name).filter(|stored| stored.last_seen.uid == seen.uid);
    let mut cluster = stored.map_or_else(|| begun(draft, seen, now), |stored| (**stored).clone());
    let inside = draft.after.tenants.insides.get(&seen.name);
    cluster.nodes = nodes::nodes_of(&draft.after, seen, inside, &cluster.nodes, now);
    cluster.last_seen = seen.clone();
    // Not tried yet is no answer: what the last keeper knew stands.
    if let Some(inside) = inside.filter(|inside| inside.contact.tried_at.is_some()) {
        cluster.fault = contact::run_of_failures(&inside.contact, cluster.fault.as_ref(), now);
    }
    cluster
}

fn begun(draft: &Draft, seen: &TenantClusterSeen, now: Timestamp) -> TenantCluster {
    TenantCluster {
        name: seen.name.clone(),
        cluster: draft.after.cluster.name.clone(),
        settings: Settings::default(),
        pools: BTreeMap::new(),
        created_at: seen.created_at.unwrap_or(now),
        last_seen: seen.clone(),
        nodes: BTreeMap::new(),
        fault: None,
    }
}
