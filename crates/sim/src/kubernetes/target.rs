//! Which objects a path means.

use world::{ObjectKey, PODS, Part, RESOURCES, Resource, Scope, StatusPart};

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
    pub fn locate(path: &str) -> Option<Target> {
        let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (group, rest) = match segments[..] {
            ["api", "v1", ref rest @ ..] => ("", rest),
            ["apis", group, "v1", ref rest @ ..] => (group, rest),
            _ => return None,
        };
        match *rest {
            // `namespaces/x/status` is the status of a namespace; anything else below a namespace is a kind in it.
            ["namespaces", namespace, plural, ref rest @ ..] if plural != "status" => {
                let resource = find(group, plural).filter(|resource| resource.scope == Scope::Namespaced)?;
                Target::below(resource, Some(namespace), rest)
            }
            [plural, ref rest @ ..] => {
                let resource = find(group, plural)?;
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

fn find(group: &str, plural: &str) -> Option<&'static Resource> {
    RESOURCES.into_iter().find(|resource| resource.group == group && resource.plural == plural)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(path: &str) -> Option<String> {
        let target = Target::locate(path)?;
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
            ("/apis/policy/v1/poddisruptionbudgets", "poddisruptionbudgets in -: *"),
            ("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a", "leases in kube-node-lease: kube-node-lease/a Main"),
        ];
        for (path, expected) in cases {
            assert_eq!(describe(path).as_deref(), Some(expected), "{path}");
        }
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
            "/apis/apps/v1/deployments",
        ] {
            assert_eq!(describe(path), None, "{path}");
        }
    }
}
