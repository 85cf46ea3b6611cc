//! The kinds of Kubernetes objects that the site's clusters serve: one row each, and nothing else needs to know them all.

/// One kind as discovery describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Empty for the core group.
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    pub singular: &'static str,
    pub short_names: &'static [&'static str],
    /// Which of kubectl's collective names mean this kind, among others.
    pub categories: &'static [&'static str],
    pub scope: Scope,
    pub status_part: StatusPart,
    pub generation: Generation,
    pub offer: Offer,
    /// The fields, beyond name and namespace, that a real API server can select this kind by.
    pub selectable: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Cluster,
    Namespaced,
}

/// Whether `status` is written through its own subresource only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusPart {
    Separate,
    None,
}

/// Whether `metadata.generation` counts the changes of `spec`. Nodes, leases and events have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    Counted,
    None,
}

/// What clients may do with a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    Full,
    /// The kind is known and there are none of it: it can be listed, and nothing can be created.
    AlwaysEmpty,
}

impl Resource {
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_owned() } else { format!("{}/{}", self.group, self.version) }
    }

    /// `pods`, `poddisruptionbudgets.policy`: the kind as failures name it.
    pub fn qualified_plural(&self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }
}

/// What most kinds of the core group have in common.
const CORE: Resource = Resource {
    group: "",
    version: "v1",
    kind: "",
    plural: "",
    singular: "",
    short_names: &[],
    categories: &[],
    scope: Scope::Namespaced,
    status_part: StatusPart::None,
    generation: Generation::None,
    offer: Offer::Full,
    selectable: &[],
};

pub static NAMESPACES: Resource = Resource {
    kind: "Namespace",
    plural: "namespaces",
    singular: "namespace",
    short_names: &["ns"],
    scope: Scope::Cluster,
    status_part: StatusPart::Separate,
    selectable: &["status.phase"],
    ..CORE
};

pub static NODES: Resource = Resource {
    kind: "Node",
    plural: "nodes",
    singular: "node",
    short_names: &["no"],
    scope: Scope::Cluster,
    status_part: StatusPart::Separate,
    selectable: &["spec.unschedulable"],
    ..CORE
};

pub static PODS: Resource = Resource {
    kind: "Pod",
    plural: "pods",
    singular: "pod",
    short_names: &["po"],
    categories: &["all"],
    status_part: StatusPart::Separate,
    generation: Generation::Counted,
    selectable: &[
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ],
    ..CORE
};

pub static EVENTS: Resource = Resource {
    kind: "Event",
    plural: "events",
    singular: "event",
    short_names: &["ev"],
    selectable: &[
        "involvedObject.apiVersion",
        "involvedObject.fieldPath",
        "involvedObject.kind",
        "involvedObject.name",
        "involvedObject.namespace",
        "involvedObject.resourceVersion",
        "involvedObject.uid",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ],
    ..CORE
};

pub static CONFIG_MAPS: Resource =
    Resource { kind: "ConfigMap", plural: "configmaps", singular: "configmap", short_names: &["cm"], ..CORE };

pub static SECRETS: Resource = Resource { kind: "Secret", plural: "secrets", singular: "secret", selectable: &["type"], ..CORE };

/// The undercloud of a site has no services: its pods are reached through their hosts.
pub static SERVICES: Resource = Resource {
    kind: "Service",
    plural: "services",
    singular: "service",
    short_names: &["svc"],
    categories: &["all"],
    status_part: StatusPart::Separate,
    offer: Offer::AlwaysEmpty,
    selectable: &["spec.clusterIP", "spec.type"],
    ..CORE
};

pub static LEASES: Resource = Resource { group: "coordination.k8s.io", kind: "Lease", plural: "leases", singular: "lease", ..CORE };

pub static DISRUPTION_BUDGETS: Resource = Resource {
    group: "policy",
    kind: "PodDisruptionBudget",
    plural: "poddisruptionbudgets",
    singular: "poddisruptionbudget",
    short_names: &["pdb"],
    status_part: StatusPart::Separate,
    generation: Generation::Counted,
    ..CORE
};

const APPS: Resource =
    Resource { group: "apps", status_part: StatusPart::Separate, generation: Generation::Counted, categories: &["all"], ..CORE };

pub static DEPLOYMENTS: Resource =
    Resource { kind: "Deployment", plural: "deployments", singular: "deployment", short_names: &["deploy"], ..APPS };

pub static REPLICA_SETS: Resource = Resource {
    kind: "ReplicaSet",
    plural: "replicasets",
    singular: "replicaset",
    short_names: &["rs"],
    selectable: &["status.replicas"],
    ..APPS
};

pub static STATEFUL_SETS: Resource =
    Resource { kind: "StatefulSet", plural: "statefulsets", singular: "statefulset", short_names: &["sts"], ..APPS };

pub static DAEMON_SETS: Resource =
    Resource { kind: "DaemonSet", plural: "daemonsets", singular: "daemonset", short_names: &["ds"], ..APPS };

pub static CLAIMS: Resource = Resource {
    kind: "PersistentVolumeClaim",
    plural: "persistentvolumeclaims",
    singular: "persistentvolumeclaim",
    short_names: &["pvc"],
    status_part: StatusPart::Separate,
    ..CORE
};

const KUBEVIRT: Resource =
    Resource { group: "kubevirt.io", status_part: StatusPart::Separate, generation: Generation::Counted, categories: &["all"], ..CORE };

pub static VIRTUAL_MACHINES: Resource =
    Resource { kind: "VirtualMachine", plural: "virtualmachines", singular: "virtualmachine", short_names: &["vm", "vms"], ..KUBEVIRT };

pub static VIRTUAL_MACHINE_INSTANCES: Resource = Resource {
    kind: "VirtualMachineInstance",
    plural: "virtualmachineinstances",
    singular: "virtualmachineinstance",
    short_names: &["vmi", "vmis"],
    ..KUBEVIRT
};

pub static DATA_VOLUMES: Resource = Resource {
    group: "cdi.kubevirt.io",
    version: "v1beta1",
    kind: "DataVolume",
    plural: "datavolumes",
    singular: "datavolume",
    short_names: &["dv", "dvs"],
    ..KUBEVIRT
};

const CLUSTER_API: Resource = Resource {
    group: "cluster.x-k8s.io",
    version: "v1beta2",
    status_part: StatusPart::Separate,
    generation: Generation::Counted,
    categories: &["cluster-api"],
    ..CORE
};

pub static CLUSTERS: Resource = Resource { kind: "Cluster", plural: "clusters", singular: "cluster", short_names: &["cl"], ..CLUSTER_API };

pub static MACHINE_DEPLOYMENTS: Resource = Resource {
    kind: "MachineDeployment",
    plural: "machinedeployments",
    singular: "machinedeployment",
    short_names: &["md"],
    ..CLUSTER_API
};

pub static MACHINES: Resource = Resource { kind: "Machine", plural: "machines", singular: "machine", short_names: &["ma"], ..CLUSTER_API };

/// Everything the undercloud's API serves, in the order of discovery.
pub static RESOURCES: [&Resource; 20] = [
    &NAMESPACES,
    &NODES,
    &PODS,
    &CLAIMS,
    &SERVICES,
    &CONFIG_MAPS,
    &SECRETS,
    &EVENTS,
    &DEPLOYMENTS,
    &REPLICA_SETS,
    &STATEFUL_SETS,
    &DAEMON_SETS,
    &LEASES,
    &DISRUPTION_BUDGETS,
    &VIRTUAL_MACHINES,
    &VIRTUAL_MACHINE_INSTANCES,
    &DATA_VOLUMES,
    &CLUSTERS,
    &MACHINE_DEPLOYMENTS,
    &MACHINES,
];

/// Everything a tenant cluster's API serves, in the order of discovery.
pub static TENANT_RESOURCES: [&Resource; 14] = [
    &NAMESPACES,
    &NODES,
    &PODS,
    &CLAIMS,
    &SERVICES,
    &CONFIG_MAPS,
    &SECRETS,
    &EVENTS,
    &DEPLOYMENTS,
    &REPLICA_SETS,
    &STATEFUL_SETS,
    &DAEMON_SETS,
    &LEASES,
    &DISRUPTION_BUDGETS,
];
