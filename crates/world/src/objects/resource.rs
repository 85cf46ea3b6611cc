//! The kinds of Kubernetes objects that the site's API serves.

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
    pub scope: Scope,
    pub status_part: StatusPart,
    pub generation: Generation,
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

impl Resource {
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_owned() } else { format!("{}/{}", self.group, self.version) }
    }
}

pub static NAMESPACES: Resource = Resource {
    group: "",
    version: "v1",
    kind: "Namespace",
    plural: "namespaces",
    singular: "namespace",
    short_names: &["ns"],
    scope: Scope::Cluster,
    status_part: StatusPart::Separate,
    generation: Generation::None,
};

pub static NODES: Resource = Resource {
    group: "",
    version: "v1",
    kind: "Node",
    plural: "nodes",
    singular: "node",
    short_names: &["no"],
    scope: Scope::Cluster,
    status_part: StatusPart::Separate,
    generation: Generation::None,
};

pub static PODS: Resource = Resource {
    group: "",
    version: "v1",
    kind: "Pod",
    plural: "pods",
    singular: "pod",
    short_names: &["po"],
    scope: Scope::Namespaced,
    status_part: StatusPart::Separate,
    generation: Generation::Counted,
};

pub static EVENTS: Resource = Resource {
    group: "",
    version: "v1",
    kind: "Event",
    plural: "events",
    singular: "event",
    short_names: &["ev"],
    scope: Scope::Namespaced,
    status_part: StatusPart::None,
    generation: Generation::None,
};

pub static LEASES: Resource = Resource {
    group: "coordination.k8s.io",
    version: "v1",
    kind: "Lease",
    plural: "leases",
    singular: "lease",
    short_names: &[],
    scope: Scope::Namespaced,
    status_part: StatusPart::None,
    generation: Generation::None,
};

/// Everything the site's API serves, in the order of discovery.
pub static RESOURCES: [&Resource; 5] = [&NAMESPACES, &NODES, &PODS, &EVENTS, &LEASES];
