//! The model's words for virtual machines and for the nodes of tenant clusters, from what is stored of them.

use model::{Readiness, TenantCluster, TenantNode, Vm, VmProvisioning, VmState};

/// `detailedStatus`, `detailedStatusMessage` and `powerState`.
pub(super) struct Words {
    pub status: &'static str,
    pub message: String,
    pub power: &'static str,
}

pub(super) fn of_vm(vm: &Vm) -> Words {
    let Some(seen) = &vm.last_seen else {
        let (status, message) = match vm.provisioning {
            VmProvisioning::Accepted | VmProvisioning::Provisioning => ("Provisioning", "being provisioned"),
            VmProvisioning::Failed => ("Error", "it could not be made"),
            VmProvisioning::Canceled => ("Error", "its making was cancelled"),
            VmProvisioning::Succeeded => ("Unknown", "it was not seen yet"),
        };
        return Words { status, message: message.to_owned(), power: "Unknown" };
    };
    let state = seen.what.state;
    let message = match &seen.what.message {
        Some(why) => format!("{}: {why}", state.in_words()),
        None => state.in_words().to_owned(),
    };
    Words { status: status_of(state), message, power: power_of(state) }
}

pub(super) fn of_node(node: &TenantNode) -> Words {
    let (status, power) = node.vm.map_or(("Unknown", "Unknown"), |state| (status_of(state), power_of(state)));
    let kubelet = match node.ready {
        Readiness::True => "ready",
        Readiness::False => "not ready",
        Readiness::Unknown => "silent",
    };
    let machine = node.vm.map_or("unknown", VmState::in_words);
    let cordon = if node.is_unschedulable { ", cordoned" } else { "" };
    Words { status, message: format!("its virtual machine is {machine}; its kubelet is {kubelet}{cordon}"), power }
}

fn status_of(state: VmState) -> &'static str {
    match state {
        VmState::Stopped => "Stopped",
        VmState::Provisioning => "Provisioning",
        VmState::Starting | VmState::Unschedulable => "Scheduling",
        VmState::Running | VmState::Paused | VmState::Migrating | VmState::Stopping => "Running",
        VmState::Terminating => "Terminating",
        VmState::Failing => "Error",
        VmState::Unknown => "Unknown",
    }
}

fn power_of(state: VmState) -> &'static str {
    match state {
        VmState::Running | VmState::Paused | VmState::Migrating | VmState::Stopping => "On",
        VmState::Stopped | VmState::Provisioning | VmState::Starting | VmState::Unschedulable | VmState::Failing => "Off",
        VmState::Terminating | VmState::Unknown => "Unknown",
    }
}

/// `detailedStatus`, its message and `provisioningState` of a tenant cluster.
pub(super) struct ClusterWords {
    pub status: &'static str,
    pub message: String,
    pub provisioning: &'static str,
}

pub(super) fn of_tenant_cluster(tenant: &TenantCluster) -> ClusterWords {
    let (status, provisioning, message) = match tenant.last_seen.phase.as_str() {
        "Provisioned" => ("Available", "Succeeded", "provisioned".to_owned()),
        "Deleting" => ("Provisioning", "Deleting", "being deleted".to_owned()),
        "Failed" => ("Error", "Failed", "Cluster API says that it failed".to_owned()),
        _ => ("Provisioning", "InProgress", "being provisioned".to_owned()),
    };
    match &tenant.fault {
        Some(fault) => {
            ClusterWords { status: "Error", message: format!("{message}; its API does not answer: {}", fault.what), provisioning }
        }
        None => ClusterWords { status, message, provisioning },
    }
}
