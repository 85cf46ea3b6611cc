//! `KubernetesCluster` and `AgentPool`: made elsewhere, by Cluster API. Tags and drain policies can be written.

use super::Access::{Elsewhere, Fixed, Immutable, Within, Writable};
use super::Shape::{Anything, Flag, Instant, List, Object, OneOf, Text, Texts, Whole};
use super::machines::FAULT;
use super::vms::{AT_WORK, VM_POWER, VM_STATUS};
use super::{EXTENDED_LOCATION, Field, Model, SYSTEM_DATA, always, sometimes, unserved};

/// Where what describes a tenant cluster comes from.
const WHENCE: &str = "is settled by whoever made the tenant cluster";
const MADE: super::Access = Fixed(WHENCE);

/// A field that Azure's clients can write, and that nobody here knows.
const fn elsewhere(name: &'static str) -> Field {
    sometimes(name, Anything).access(Elsewhere(WHENCE))
}

/// What can be said of pods that a disruption budget keeps on their node.
pub(crate) const DRAIN_POLICIES: &[&str] = &["wait", "hold", "force"];

pub(crate) const TENANT_CLUSTER: Model = Model {
    name: "KubernetesCluster",
    about: "A tenant's Kubernetes cluster.",
    fields: &[
        always("id", Text),
        always("name", Text),
        always("type", Text),
        always("systemData", Object(&SYSTEM_DATA)),
        always("etag", Text),
        always("tags", Texts).access(Writable),
        always("location", Text).access(Immutable),
        always("extendedLocation", Object(&EXTENDED_LOCATION)).access(Within),
        always("properties", Object(&PROPERTIES)).access(Within),
        sometimes("rackwright", Object(&OURS)),
    ],
};

const PROPERTIES: Model = Model {
    name: "KubernetesClusterProperties",
    about: "What Azure's model says of a tenant's cluster, and `drainPolicy`, which is ours: what an evacuation does about pods that a disruption budget keeps.",
    fields: &[
        elsewhere("aadConfiguration"),
        elsewhere("administratorConfiguration"),
        always("controlPlaneNodeConfiguration", Object(&CONTROL_PLANE)).access(MADE),
        always("drainPolicy", OneOf(DRAIN_POLICIES)).access(Writable),
        always("initialAgentPoolConfigurations", List(&Object(&INITIAL_POOL))).access(MADE),
        always("kubernetesVersion", Text).access(MADE),
        elsewhere("managedResourceGroupConfiguration"),
        elsewhere("networkConfiguration"),
        unserved("attachedNetworkIds"),
        unserved("availableUpgrades"),
        always("clusterId", Text),
        unserved("connectedClusterId"),
        always("controlPlaneKubernetesVersion", Text),
        always("detailedStatus", OneOf(&["Available", "Error", "Provisioning"])),
        always("detailedStatusMessage", Text),
        unserved("featureStatuses"),
        always("nodes", List(&Object(&NODE))),
        always(
            "provisioningState",
            OneOf(&["Succeeded", "Failed", "Canceled", "Accepted", "InProgress", "Created", "Updating", "Deleting"]),
        ),
    ],
};

const CONTROL_PLANE: Model =
    Model { name: "ControlPlaneNodeConfiguration", about: "The nodes of the control plane.", fields: &[always("count", Whole)] };

const INITIAL_POOL: Model = Model {
    name: "InitialAgentPoolConfiguration",
    about: "A pool as it is now; how it was at first is not known.",
    fields: &[always("count", Whole), always("name", Text)],
};

const NODE: Model = Model {
    name: "KubernetesClusterNode",
    about: "A node of a tenant's cluster, with the machine that it runs on.",
    fields: &[
        sometimes("agentPoolId", Text),
        sometimes("availabilityZone", Text),
        sometimes("bareMetalMachineId", Text),
        always("cpuCores", Whole),
        always("detailedStatus", OneOf(VM_STATUS)),
        always("detailedStatusMessage", Text),
        always("kubernetesVersion", Text),
        always("memorySizeGB", Whole),
        always("name", Text),
        always("powerState", OneOf(VM_POWER)),
        always("role", OneOf(&["ControlPlane", "Worker"])),
    ],
};

const OURS: Model = Model {
    name: "KubernetesClusterBeyondTheModel",
    about: "What Azure's model has no field for: why the cluster's own API does not answer, where the drain policy comes from, and what its nodes say.",
    fields: &[
        always("apiFault", Object(&FAULT)).nullable(),
        always("drainPolicyFrom", OneOf(&["cluster", "default"])),
        always("nodes", List(&Object(&NODE_BEYOND))),
    ],
};

const NODE_BEYOND: Model = Model {
    name: "NodeBeyondTheModel",
    about: "What a tenant cluster's own API says of a node.",
    fields: &[
        always("cordoned", Flag),
        always("machine", Text).nullable(),
        always("name", Text),
        always("operation", Object(&AT_WORK)).nullable(),
        always("pool", Text).nullable(),
        always("ready", Text),
        always("since", Instant),
    ],
};

pub(crate) const POOL: Model = Model {
    name: "AgentPool",
    about: "Worker nodes of a tenant's cluster that are alike.",
    fields: &[
        always("id", Text),
        always("name", Text),
        always("type", Text),
        always("systemData", Object(&SYSTEM_DATA)),
        always("etag", Text),
        always("tags", Texts).access(Writable),
        always("location", Text).access(Immutable),
        always("extendedLocation", Object(&EXTENDED_LOCATION)).access(Within),
        always("properties", Object(&POOL_PROPERTIES)).access(Within),
        sometimes("rackwright", Object(&POOL_OURS)),
    ],
};

const POOL_PROPERTIES: Model = Model {
    name: "AgentPoolProperties",
    about: "What Azure's model says of a pool, and `drainPolicy`, which is ours.",
    fields: &[
        elsewhere("administratorConfiguration"),
        elsewhere("agentOptions"),
        elsewhere("attachedNetworkConfiguration"),
        elsewhere("availabilityZones"),
        always("count", Whole).access(MADE),
        always("drainPolicy", OneOf(DRAIN_POLICIES)).access(Writable),
        elsewhere("labels"),
        elsewhere("mode"),
        elsewhere("taints"),
        elsewhere("upgradeSettings"),
        elsewhere("vmSkuName"),
        always("detailedStatus", OneOf(&["Available", "Error", "Provisioning"])),
        always("detailedStatusMessage", Text),
        always("kubernetesVersion", Text),
        always("provisioningState", OneOf(&["Accepted", "Canceled", "Deleting", "Failed", "InProgress", "Succeeded", "Updating"])),
    ],
};

const POOL_OURS: Model = Model {
    name: "AgentPoolBeyondTheModel",
    about: "What Azure's model has no field for: where the drain policy comes from, and how many nodes are ready.",
    fields: &[always("drainPolicyFrom", OneOf(&["pool", "cluster", "default"])), always("readyNodes", Whole)],
};

pub(crate) const RESTART_NODE: Model = Model {
    name: "KubernetesClusterRestartNodeParameters",
    about: "Name the node to restart.",
    fields: &[always("nodeName", Text).access(Writable)],
};
