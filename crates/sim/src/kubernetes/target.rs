//! Which objects a path means.

use world::{ObjectKey, PODS, Part, Resource, Scope, StatusPart};

#[derive(Debug)]
pub(super) struct Target {
    pub resource: &'static Resource,
    /// The namespace in the path; none for all of them, and for kinds that have none.
    pub namespace: Option<String>,
    pub name: Name,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Name {
    All,
    One {
        key: ObjectKey,
        part: Part,
    },
    /// Where evictions of a pod are posted to.
    Eviction {
        key: ObjectKey,
    },
}

impl Target {
    /// What a path means to a cluster that serves these kinds.
    pub fn locate(path: &str, served: &[&'static Resource]) -> Option<Target> {
        let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (group, version, rest) = match segments[..] {
            ["api", version, ref rest @ ..] => ("", version, rest),
            ["apis", group, version, ref rest @ ..] => (group, version, rest),
            _ => return None,
        };
        let find = |plural: &str| {
            let is = |resource: &&&Resource| resource.group == group && resource.version == version && resource.plural == plural;
            served.iter().find(is).copied()
        };
        match *rest {
            // `namespaces/x/status` is the status of a namespace; anything else below a namespace is a kind in it.
            ["namespaces", namespace, plural, ref rest @ ..] if plural != "status" => {
                let resource = find(plural).filter(|resource| resource.scope == Scope::Namespaced)?;
                Target::below(resource, Some(namespace), rest)
            }
            [plural, ref rest @ ..] => {
                let resource = find(plural)?;
                // A namespaced kind outside a namespace can only be listed.
                if resource.scope == Scope::Namespaced && !rest.is_empty() {
                    return None;
                }
                Target::below(resource, None, rest)
            }
            [] => None,
        }
    }

    fn below(resource: &'static Resource, namespace: Option<&str>, rest: &[&str]) -> Option<Target> {
        let one = |name: &str, part| Name::One { key: ObjectKey::namespaced(namespace.unwrap_or(""), name), part };
        let name = match *rest {
            [] => Name::All,
            [name] => one(name, Part::Main),
            [name, "status"] if resource.status_part == StatusPart::Separate => one(name, Part::Status),
            [name, "eviction"] if resource == &PODS => Name::Eviction { key: ObjectKey::namespaced(namespace.unwrap_or(""), name) },
            _ => return None,
        };
        Some(Target { resource, namespace: namespace.map(str::to_owned), name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(path: &str) -> Option<String> {
        let target = Target::locate(path, &world::RESOURCES)?;
        let name = match target.name {
            Name::All => "*".to_owned(),
            Name::One { key, part } => format!("{}/{} {part:?}", key.namespace, key.name),
            Name::Eviction { key } => format!("{}/{} eviction", key.namespace, key.name),
        };
        Some(format!("{} in {}: {name}", target.resource.plural, target.namespace.as_deref().unwrap_or("-")))
    }

    #[test]
    fn paths_name_objects() {
        let cases = [
            ("/api/v1/nodes", "nodes in -: *"),
            ("/api/v1/nodes/a", "nodes in -: /a Main"),
            ("/api/v1/nodes/a/status", "nodes in -: /a Status"),
            ("/api/v1/events", "events in -: *"),
            ("/api/v1/namespaces", "namespaces in -: *"),
            ("/api/v1/namespaces/default", "namespaces in -: /default Main"),
            ("/api/v1/namespaces/default/status", "namespaces in -: /default Status"),
            ("/api/v1/namespaces/default/events/e", "events in default: default/e Main"),
            ("/api/v1/namespaces/default/pods/p/eviction", "pods in default: default/p eviction"),
            ("/api/v1/namespaces/default/secrets/s", "secrets in default: default/s Main"),
            ("/apis/cluster.x-k8s.io/v1beta2/namespaces/tenants/machines/m", "machines in tenants: tenants/m Main"),
            ("/apis/policy/v1/poddisruptionbudgets", "poddisruptionbudgets in -: *"),
            ("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a", "leases in kube-node-lease: kube-node-lease/a Main"),
        ];
        for (path, expected) in cases {
            assert_eq!(describe(path).as_deref(), Some(expected), "{path}");
        }
    }

    #[test]
    fn a_tenant_has_no_machines_of_its_own() {
        let path = "/apis/cluster.x-k8s.io/v1beta2/machines";
        assert!(Target::locate(path, &world::TENANT_RESOURCES).is_none());
        assert!(Target::locate(path, &world::RESOURCES).is_some());
    }

    #[test]
    fn other_paths_name_nothing() {
        for path in [
            "/",
            "/api/v1",
            "/api/v2/nodes",
            "/api/v1/nodes/a/b",
            "/api/v1/leases",
            "/api/v1/events/e",
            "/api/v1/namespaces/default/nodes/a",
            "/api/v1/namespaces/default/secrets/s/eviction",
            "/apis/apps/v1/widgets",
            "/apis/cluster.x-k8s.io/v1/machines",
        ] {
            assert_eq!(describe(path), None, "{path}");
        }
    }
}
