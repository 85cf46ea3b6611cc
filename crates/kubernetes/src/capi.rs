//! Tenant clusters as Cluster API reports them: a Cluster, its MachineDeployments and its Machines as one.

use std::collections::BTreeMap;

use kube::api::DynamicObject;
use model::{NodeRole, PoolName, PoolSeen, TenantClusterName, TenantClusterSeen, TenantMachineSeen, Timestamp};
use serde::Deserialize;

pub(crate) const CLUSTER_LABEL: &str = "cluster.x-k8s.io/cluster-name";
pub(crate) const DEPLOYMENT_LABEL: &str = "cluster.x-k8s.io/deployment-name";
pub(crate) const CONTROL_PLANE_LABEL: &str = "cluster.x-k8s.io/control-plane";
pub(crate) const POOL_LABEL: &str = "kubernetes.azure.com/agentpool";

/// The annotation that keeps Cluster API from replacing a Machine whose node is down.
pub(crate) const SKIP_REMEDIATION: &str = "cluster.x-k8s.io/skip-remediation";

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Body {
    spec: Spec,
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    cluster_name: Option<String>,
    version: Option<String>,
    replicas: Option<u32>,
    topology: Option<Versioned>,
    template: Option<Template>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Template {
    spec: Versioned,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Versioned {
    version: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    phase: Option<String>,
    replicas: Option<u32>,
}

fn body_of(object: &DynamicObject) -> Body {
    Body::deserialize(&object.data).unwrap_or_default()
}

/// A Cluster alone.
pub(crate) fn cluster_seen(object: &DynamicObject) -> Option<TenantClusterSeen> {
    let metadata = &object.metadata;
    let body = body_of(object);
    let phase = if metadata.deletion_timestamp.is_some() { Some("Deleting".to_owned()) } else { body.status.phase };
    Some(TenantClusterSeen {
        name: TenantClusterName::new(metadata.name.clone()?).ok()?,
        uid: metadata.uid.clone()?,
        phase: phase.unwrap_or_default(),
        version: body.spec.topology.and_then(|topology| topology.version).unwrap_or_default(),
        pools: Vec::new(),
        machines: Vec::new(),
        created_at: metadata.creation_timestamp.as_ref().map(|time| Timestamp::from_millis(time.0.as_millisecond())),
    })
}

/// A part of a tenant cluster, with the cluster that it belongs to and its own name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartOf<T> {
    pub cluster: TenantClusterName,
    pub name: String,
    pub part: T,
}

/// A MachineDeployment.
pub(crate) fn pool_seen(object: &DynamicObject) -> Option<PartOf<PoolSeen>> {
    let body = body_of(object);
    let cluster = cluster_of(object, &body)?;
    let labels = object.metadata.labels.clone().unwrap_or_default();
    let name = object.metadata.name.clone()?;
    let version = body.spec.template.and_then(|template| template.spec.version).unwrap_or_default();
    let count = body.spec.replicas.or(body.status.replicas).unwrap_or_default();
    let part = PoolSeen { name: pool_name(&labels, Some(&name), &cluster)?, count, version };
    Some(PartOf { cluster, name, part })
}

/// A Machine.
pub(crate) fn machine_seen(object: &DynamicObject) -> Option<PartOf<TenantMachineSeen>> {
    let body = body_of(object);
    let cluster = cluster_of(object, &body)?;
    let metadata = &object.metadata;
    let labels = metadata.labels.clone().unwrap_or_default();
    let is_control_plane = labels.contains_key(CONTROL_PLANE_LABEL);
    let name = metadata.name.clone()?;
    let part = TenantMachineSeen {
        name: name.clone(),
        uid: metadata.uid.clone()?,
        role: if is_control_plane { NodeRole::ControlPlane } else { NodeRole::Worker },
        pool: if is_control_plane { None } else { pool_name(&labels, None, &cluster) },
        version: body.spec.version.unwrap_or_default(),
        is_skipped: metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(SKIP_REMEDIATION)),
    };
    Some(PartOf { cluster, name, part })
}

fn cluster_of(object: &DynamicObject, body: &Body) -> Option<TenantClusterName> {
    let label = object.metadata.labels.as_ref().and_then(|labels| labels.get(CLUSTER_LABEL));
    TenantClusterName::new(label.or(body.spec.cluster_name.as_ref())?.as_str()).ok()
}

/// The pool that a MachineDeployment is or that an object belongs to: as its label says, or else by the deployment's name
/// without its cluster's before it and `-md` behind it.
pub(crate) fn pool_name(labels: &BTreeMap<String, String>, deployment: Option<&str>, cluster: &TenantClusterName) -> Option<PoolName> {
    if let Some(pool) = labels.get(POOL_LABEL).and_then(|pool| PoolName::new(pool.as_str()).ok()) {
        return Some(pool);
    }
    let deployment = deployment.or_else(|| labels.get(DEPLOYMENT_LABEL).map(String::as_str))?;
    let rest = deployment.strip_prefix(cluster.as_str()).and_then(|rest| rest.strip_prefix('-')).unwrap_or(deployment);
    // A deployment that Cluster API made from a topology has five random letters behind that.
    let bare = rest.split_once("-md").map_or(rest, |(pool, _)| pool);
    PoolName::new(if bare.is_empty() { rest } else { bare }).ok()
}

/// A cluster with its parts. Without a topology its version is that of its control plane.
pub(crate) fn joined(cluster: &TenantClusterSeen, mut pools: Vec<PoolSeen>, mut machines: Vec<TenantMachineSeen>) -> TenantClusterSeen {
    pools.sort_by(|a, b| a.name.cmp(&b.name));
    machines.sort_by(|a, b| model::natural_cmp(&a.name, &b.name));
    let mut cluster = TenantClusterSeen { pools, machines, ..cluster.clone() };
    if cluster.version.is_empty() {
        let of_control_plane =
            cluster.machines.iter().find(|machine| machine.role == NodeRole::ControlPlane).map(|machine| &machine.version);
        let of_pool = || cluster.pools.first().map(|pool| &pool.version);
        cluster.version = of_control_plane.or_else(of_pool).cloned().unwrap_or_default();
    }
    cluster
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::{Value, json};

    use super::*;

    fn object(value: Value) -> DynamicObject {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_cluster_is_joined_from_its_parts() {
        let cluster =
            cluster_seen(&object(json!({"metadata": {"name": "naks-01", "uid": "c"}, "status": {"phase": "Provisioned"}}))).unwrap();
        let pool = pool_seen(&object(json!({
            "metadata": {"name": "naks-01-agentpool1-md"},
            "spec": {"clusterName": "naks-01", "replicas": 3, "template": {"spec": {"version": "v1.30.3"}}},
        })))
        .unwrap();
        let worker = machine_seen(&object(json!({
            "metadata": {"name": "naks-01-agentpool1-md-tjr8k-4qqx4", "uid": "m", "annotations": {"cluster.x-k8s.io/skip-remediation": ""},
                "labels": {"cluster.x-k8s.io/cluster-name": "naks-01", "cluster.x-k8s.io/deployment-name": "naks-01-agentpool1-md"}},
            "spec": {"version": "v1.30.3"},
        })))
        .unwrap();
        let head = machine_seen(&object(json!({
            "metadata": {"name": "naks-01-control-plane-8lv2n", "uid": "h",
                "labels": {"cluster.x-k8s.io/cluster-name": "naks-01", "cluster.x-k8s.io/control-plane": ""}},
            "spec": {"version": "v1.30.4"},
        })))
        .unwrap();
        assert_eq!((pool.cluster.as_str(), worker.cluster.as_str()), ("naks-01", "naks-01"));
        let seen = joined(&cluster, vec![pool.part], vec![head.part, worker.part]);
        expect![[r#"
            TenantClusterSeen {
                name: naks-01,
                uid: "c",
                phase: "Provisioned",
                version: "v1.30.4",
                pools: [
                    PoolSeen {
                        name: agentpool1,
                        count: 3,
                        version: "v1.30.3",
                    },
                ],
                machines: [
                    TenantMachineSeen {
                        name: "naks-01-agentpool1-md-tjr8k-4qqx4",
                        uid: "m",
                        role: Worker,
                        pool: Some(
                            agentpool1,
                        ),
                        version: "v1.30.3",
                        is_skipped: true,
                    },
                    TenantMachineSeen {
                        name: "naks-01-control-plane-8lv2n",
                        uid: "h",
                        role: ControlPlane,
                        pool: None,
                        version: "v1.30.4",
                        is_skipped: false,
                    },
                ],
                created_at: None,
            }
        "#]]
        .assert_debug_eq(&seen);
    }

    #[test]
    fn a_pool_is_named_by_its_label_or_by_what_is_its_own_in_its_deployments_name() {
        let cluster = TenantClusterName::new("naks-01").unwrap();
        let name = |labels: &[(&str, &str)], deployment: &str| {
            let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            pool_name(&labels, Some(deployment), &cluster).map(String::from)
        };
        assert_eq!(name(&[(POOL_LABEL, "gold")], "x").as_deref(), Some("gold"));
        assert_eq!(name(&[], "naks-01-agentpool1-md").as_deref(), Some("agentpool1"));
        assert_eq!(name(&[], "naks-01-agentpool1-md-tjr8k").as_deref(), Some("agentpool1"));
        assert_eq!(name(&[], "workers").as_deref(), Some("workers"));
        assert_eq!(name(&[], "naks-01-md").as_deref(), Some("md"));
    }
}
