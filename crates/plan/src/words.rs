//! What a machine's or a cluster's state is called where people read it. Exact texts of the domain.

use model::{Cluster, Connection, Machine, Operation, OperationResult, Provisioning, WaitKind};

/// `detailedStatusMessage` of a machine: what it is, then every warning.
pub fn machine_message(machine: &Machine) -> String {
    let mut parts = vec![match machine.provisioning {
        Provisioning::Preparing => "Preparing for provisioning of the machine",
        Provisioning::Error => "The machine is in error.",
        Provisioning::Available => "Available to participate in the cluster.",
        Provisioning::Provisioning => "The OS is being provisioned to the machine.",
        Provisioning::Provisioned => "The OS is provisioned to the machine.",
        Provisioning::Deprovisioning => "The machine is being deprovisioned.",
    }];
    if machine.waits.iter().any(|wait| wait.kind == WaitKind::UnexpectedlyOff) {
        parts.push("Warning: BMM power state doesn't match expected state");
    }
    parts.join(" ")
}

pub fn cluster_message(cluster: &Cluster) -> &'static str {
    match cluster.connection {
        Connection::Connected => "Cluster is up and running",
        Connection::Timeout => "Cluster has not been heard from lately",
        Connection::Disconnected => "Cluster is disconnected",
        Connection::Undefined => "Cluster has not been heard from yet",
    }
}

/// `provisioningState` as far as actions decide it: a running one shows, and so does the failure of the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProvisioningState {
    Succeeded,
    Failed,
    Canceled,
    Provisioning,
}

pub fn provisioning_state(latest: Option<&Operation>) -> ProvisioningState {
    match latest.map(|operation| operation.ended.as_ref().map(|ended| ended.result)) {
        None | Some(Some(OperationResult::Succeeded)) => ProvisioningState::Succeeded,
        Some(None) => ProvisioningState::Provisioning,
        Some(Some(OperationResult::Failed)) => ProvisioningState::Failed,
        Some(Some(OperationResult::Canceled)) => ProvisioningState::Canceled,
    }
}
