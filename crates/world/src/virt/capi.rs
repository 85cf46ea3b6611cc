//! Cluster API's objects of a tenant cluster. Nothing here remediates: machines are as they were made.

use serde_json::{Map, Value, json};

pub(crate) const CLUSTER_LABEL: &str = "cluster.x-k8s.io/cluster-name";
pub(crate) const DEPLOYMENT_LABEL: &str = "cluster.x-k8s.io/deployment-name";
pub(crate) const CONTROL_PLANE_LABEL: &str = "cluster.x-k8s.io/control-plane";
pub(crate) const POOL_LABEL: &str = "kubernetes.azure.com/agentpool";
pub(crate) const MODE_LABEL: &str = "kubernetes.azure.com/mode";

/// The group and version in which owners and references name these objects.
const API_VERSION: &str = "cluster.x-k8s.io/v1beta2";

/// The labels that a node's virtual machine and its Machine share.
pub(crate) fn node_labels(cluster: &str, pool: Option<&str>) -> Map<String, Value> {
    let mut labels = Map::from_iter([(CLUSTER_LABEL.to_owned(), json!(cluster))]);
    match pool {
        Some(pool) => {
            labels.insert(DEPLOYMENT_LABEL.to_owned(), json!(deployment_name(cluster, pool)));
            labels.insert(POOL_LABEL.to_owned(), json!(pool));
            labels.insert(MODE_LABEL.to_owned(), json!("User"));
        }
        None => drop(labels.insert(CONTROL_PLANE_LABEL.to_owned(), json!(""))),
    }
    labels
}

pub(crate) fn deployment_name(cluster: &str, pool: &str) -> String {
    format!("{cluster}-{pool}-md")
}

pub(crate) fn cluster(name: &str, version: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": {CLUSTER_LABEL: name}},
        "spec": {
            "clusterNetwork": {"pods": {"cidrBlocks": ["10.244.0.0/16"]}, "services": {"cidrBlocks": ["10.96.0.0/16"]}},
            "controlPlaneRef": {"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane", "name": format!("{name}-control-plane")},
            "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtCluster", "name": name},
            "topology": {"classRef": {"name": "kubevirt"}, "version": version},
        },
        "status": {"phase": "Provisioned", "conditions": [condition("Available")]},
    })
}

pub(crate) fn machine_deployment(cluster: &str, pool: &str, version: &str, replicas: usize) -> Value {
    let mut labels = node_labels(cluster, Some(pool));
    labels.remove(DEPLOYMENT_LABEL);
    json!({
        "metadata": {"name": deployment_name(cluster, pool), "labels": labels},
        "spec": {
            "clusterName": cluster,
            "replicas": replicas,
            "selector": {"matchLabels": {CLUSTER_LABEL: cluster, POOL_LABEL: pool}},
            "template": {"metadata": {"labels": labels}, "spec": {"clusterName": cluster, "version": version}},
        },
        "status": {"phase": "Running", "replicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas, "conditions": [condition("Available")]},
    })
}

pub(crate) fn machine(cluster: &str, pool: Option<&str>, node: &str, version: &str) -> Value {
    json!({
        "metadata": {"name": node, "labels": node_labels(cluster, pool)},
        "spec": {
            "clusterName": cluster,
            "version": version,
            "providerID": format!("kubevirt://{node}"),
            "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachine", "name": node},
        },
        "status": {"phase": "Running", "nodeRef": {"name": node}, "conditions": [condition("Ready")]},
    })
}

fn condition(kind: &str) -> Value {
    json!({"type": kind, "status": "True", "reason": kind})
}

/// The Secret in which Cluster API keeps the way into a cluster.
pub(crate) fn kubeconfig_secret(cluster: &str, kubeconfig: &str) -> Value {
    json!({
        "metadata": {
            "name": kubeconfig_name(cluster),
            "labels": {CLUSTER_LABEL: cluster},
            "ownerReferences": [{"apiVersion": API_VERSION, "kind": "Cluster", "name": cluster, "uid": ""}],
        },
        "type": "cluster.x-k8s.io/secret",
        "stringData": {"value": kubeconfig},
    })
}

pub(crate) fn kubeconfig_name(cluster: &str) -> String {
    format!("{cluster}-kubeconfig")
}
