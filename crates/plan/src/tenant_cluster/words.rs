//! `detailedStatus` and its message of tenant clusters, their pools and their nodes.

use std::fmt;

use model::{Machine, PoolName, Readiness, TenantCluster, TenantNode, VmState};

use crate::vm::{VmDetail, VmPower, VmStatusWords, is_silent, trouble_of, words_of_state};

/// `detailedStatus` of a tenant cluster, and of its pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TenantDetail {
    Available,
    Error,
    Provisioning,
}

impl fmt::Display for TenantDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantStatusWords {
    pub detailed: TenantDetail,
    pub message: String,
}

fn words(detailed: TenantDetail, message: impl Into<String>) -> TenantStatusWords {
    TenantStatusWords { detailed, message: message.into() }
}

/// Of a cluster as a whole: Cluster API's phase, whether its own API answers, and how many of its nodes are ready.
pub fn tenant_cluster_status(cluster: &TenantCluster) -> TenantStatusWords {
    match cluster.last_seen.phase.as_str() {
        "Provisioned" | "Running" => {}
        "Failed" => return words(TenantDetail::Error, "Cluster API has failed to make the cluster"),
        "Deleting" => return words(TenantDetail::Provisioning, "Cluster is being deleted"),
        _ => return words(TenantDetail::Provisioning, "Cluster is being provisioned"),
    }
    if let Some(fault) = &cluster.fault {
        return words(TenantDetail::Error, format!("The API of the cluster does not answer since {}: {}", fault.at.clock(), fault.what));
    }
    let all = cluster.nodes.len();
    let ready = cluster.nodes.values().filter(|node| node.ready == Readiness::True).count();
    if ready == all {
        return words(TenantDetail::Available, "Cluster is operational and ready");
    }
    if ready == 0 {
        return words(TenantDetail::Error, format!("None of the {all} nodes of the cluster is ready"));
    }
    words(TenantDetail::Available, format!("Cluster is operational; {} of {all} nodes are not ready", all - ready))
}

/// Of a pool: how many of the nodes that it should have are there and ready.
pub fn agent_pool_status(cluster: &TenantCluster, pool: &PoolName) -> TenantStatusWords {
    if let Some(fault) = &cluster.fault {
        return words(TenantDetail::Error, format!("The API of the cluster does not answer since {}: {}", fault.at.clock(), fault.what));
    }
    let seen = cluster.last_seen.pools.iter().find(|seen| seen.name == *pool);
    let wanted = seen.map_or(0, |seen| usize::try_from(seen.count).unwrap_or(usize::MAX));
    let nodes = || cluster.nodes.values().filter(|node| node.pool.as_ref() == Some(pool));
    let (there, ready) = (nodes().count(), nodes().filter(|node| node.ready == Readiness::True).count());
    match () {
        () if there < wanted => words(TenantDetail::Provisioning, format!("{there} of {wanted} nodes are there")),
        () if ready == 0 && wanted > 0 => words(TenantDetail::Error, format!("None of the {there} nodes is ready")),
        () if ready < there => words(TenantDetail::Available, format!("{} of {there} nodes are not ready", there - ready)),
        () => words(TenantDetail::Available, "Agent pool is operational and ready"),
    }
}

/// Of a node: its virtual machine's, and an error where that runs and the node does not answer.
pub fn tenant_node_status(cluster: &TenantCluster, node: &TenantNode, machine: Option<&Machine>) -> VmStatusWords {
    let Some(state) = node.vm else {
        return VmStatusWords::new(VmDetail::Unknown, VmPower::Unknown, "The node has no virtual machine in the undercloud");
    };
    let runs = matches!(state, VmState::Running | VmState::Paused | VmState::Migrating | VmState::Stopping);
    if runs && let Some(silent) = machine.filter(|machine| is_silent(machine)) {
        let message = format!("Machine {}; the node was last seen {}", trouble_of(silent), state.in_words());
        return VmStatusWords::new(VmDetail::Unknown, VmPower::Unknown, message);
    }
    let of_vm = words_of_state(state, runs, None);
    if state != VmState::Running {
        return of_vm;
    }
    match (&cluster.fault, node.ready) {
        (Some(_), _) => VmStatusWords { message: "The virtual machine is running; the API of the cluster does not answer".into(), ..of_vm },
        (None, Readiness::True) if node.is_unschedulable => VmStatusWords { message: "The node is ready, and cordoned".into(), ..of_vm },
        (None, Readiness::True) => VmStatusWords { message: "The node is ready".into(), ..of_vm },
        (None, Readiness::False) => VmStatusWords { detailed: VmDetail::Error, message: "The node is not ready".into(), ..of_vm },
        (None, Readiness::Unknown) => VmStatusWords { detailed: VmDetail::Error, message: "The node does not answer".into(), ..of_vm },
    }
}
