//! The roles that there are. The ids of the first three are Azure's, so that scripts that name them work. An id never changes, because
//! assignments are stored with it.

use super::{Role, id};

pub const BUILT_IN: [Role; 7] =
    [OWNER, READER, COMPUTE_CONTRIBUTOR, KEYSET_ADMINISTRATOR, TENANT_VM_CONTRIBUTOR, TENANT_KUBERNETES_CONTRIBUTOR, TENANT_READER];

pub const OWNER: Role = Role {
    id: id(0x8e3af657_a8ff_443c_a75c_2fe8c4bcb635),
    name: "Owner",
    description: "May do everything, and give roles to others.",
    actions: &["*"],
    not_actions: &[],
};

pub const READER: Role = Role {
    id: id(0xacdd72a7_3385_48ef_bd42_f606fba81ae7),
    name: "Reader",
    description: "May see everything and change nothing.",
    actions: &["*/read"],
    not_actions: &[],
};

/// As Azure has it: every machine action but `runCommand`, which runs any program as root; clusters but for `inspect`; key sets are only
/// seen. So are runtimes: their images and user data run as root on every machine that is installed with them.
pub const COMPUTE_CONTRIBUTOR: Role = Role {
    id: id(0x4aa368ec_fba9_4e93_81ed_396b3d461cc5),
    name: "Operator Nexus Compute Contributor",
    description: "May run clusters, racks and machines: power, cordon, reimage, replace, upgrade.",
    actions: &[
        "Microsoft.Authorization/*/read",
        "Microsoft.Insights/eventtypes/*/read",
        "Microsoft.NetworkCloud/bareMetalMachines/*",
        "Microsoft.NetworkCloud/clusterManagers/*",
        "Microsoft.NetworkCloud/clusters/*/read",
        "Microsoft.NetworkCloud/clusters/continueUpdateVersion/action",
        "Microsoft.NetworkCloud/clusters/delete",
        "Microsoft.NetworkCloud/clusters/deploy/action",
        "Microsoft.NetworkCloud/clusters/metricsConfigurations/*",
        "Microsoft.NetworkCloud/clusters/read",
        "Microsoft.NetworkCloud/clusters/scanRuntime/action",
        "Microsoft.NetworkCloud/clusters/updateVersion/action",
        "Microsoft.NetworkCloud/clusters/write",
        "Microsoft.NetworkCloud/locations/*/read",
        "Microsoft.NetworkCloud/operations/read",
        "Microsoft.NetworkCloud/rackSkus/read",
        "Microsoft.NetworkCloud/racks/*",
        "Microsoft.NetworkCloud/register/action",
        "Microsoft.NetworkCloud/registeredSubscriptions/read",
        "Microsoft.NetworkCloud/storageAppliances/read",
        "Microsoft.NetworkCloud/unregister/action",
        "Microsoft.Resources/deployments/*",
        "Microsoft.Resources/subscriptions/resourceGroups/read",
    ],
    not_actions: &["Microsoft.NetworkCloud/bareMetalMachines/runCommand/action"],
};

pub const KEYSET_ADMINISTRATOR: Role = Role {
    id: id(0x2f1c8c6e_5d0b_4a0e_9a55_6b1f0c7a3e01),
    name: "Operator Nexus Keyset Administrator",
    description: "May say who logs in to machines and to their BMCs, and nothing else.",
    actions: &[
        "Microsoft.NetworkCloud/clusters/bareMetalMachineKeySets/*",
        "Microsoft.NetworkCloud/clusters/bmcKeySets/*",
        "Microsoft.Resources/subscriptions/resourceGroups/read",
    ],
    not_actions: &[],
};

pub const TENANT_VM_CONTRIBUTOR: Role = Role {
    id: id(0x2f1c8c6e_5d0b_4a0e_9a55_6b1f0c7a3e02),
    name: "Tenant Virtual Machine Contributor",
    description: "May make, run and delete a tenant's virtual machines.",
    actions: &[
        "Microsoft.Insights/eventtypes/*/read",
        "Microsoft.NetworkCloud/locations/*/read",
        "Microsoft.NetworkCloud/virtualMachines/*",
        "Microsoft.Resources/subscriptions/resourceGroups/read",
    ],
    not_actions: &[],
};

pub const TENANT_KUBERNETES_CONTRIBUTOR: Role = Role {
    id: id(0x2f1c8c6e_5d0b_4a0e_9a55_6b1f0c7a3e03),
    name: "Tenant Kubernetes Cluster Contributor",
    description: "May make, run and delete a tenant's Kubernetes clusters and their pools.",
    actions: &[
        "Microsoft.Insights/eventtypes/*/read",
        "Microsoft.NetworkCloud/kubernetesClusters/*",
        "Microsoft.NetworkCloud/locations/*/read",
        "Microsoft.Resources/subscriptions/resourceGroups/read",
    ],
    not_actions: &[],
};

pub const TENANT_READER: Role = Role {
    id: id(0x2f1c8c6e_5d0b_4a0e_9a55_6b1f0c7a3e04),
    name: "Tenant Reader",
    description: "May see a tenant's virtual machines and Kubernetes clusters, and nothing of the machines below them.",
    actions: &[
        "Microsoft.Insights/eventtypes/*/read",
        "Microsoft.NetworkCloud/kubernetesClusters/*/read",
        "Microsoft.NetworkCloud/kubernetesClusters/read",
        "Microsoft.NetworkCloud/locations/*/read",
        "Microsoft.NetworkCloud/virtualMachines/*/read",
        "Microsoft.NetworkCloud/virtualMachines/read",
        "Microsoft.Resources/subscriptions/resourceGroups/read",
    ],
    not_actions: &[],
};
