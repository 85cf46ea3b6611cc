//! The client of one tenant cluster, and the single calls on it.

use std::fmt;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::core::Status;
use kube::{Api, Client};
use model::{EvictionAnswer, Fault, Grace, PodRef};
use serde_json::{Value, json};

use crate::eviction::{self, is_about_uid};
use crate::fault::Purpose;
use crate::name;
use crate::node::{self, CORDONED};
use crate::tenant_node::{OutOfService, taints_with};
use crate::undercloud::{FIELD_MANAGER, within};

/// A tenant's Kubernetes cluster. Clones are cheap and share connections.
#[derive(Clone)]
pub struct TenantCluster {
    pub(crate) client: Client,
    nodes: Api<Node>,
}

impl TenantCluster {
    pub fn new(client: Client) -> Self {
        TenantCluster { nodes: Api::all(client.clone()), client }
    }

    /// Keeps new pods off a node, and marks the cordon as ours. One that is cordoned already, by whomever, is left as it is.
    pub async fn request_cordon(&self, node: &str, reason: &str) -> Result<(), Fault> {
        self.request_patch(node, |found| (!is_cordoned(found)).then(|| node::cordon_patch(reason))).await
    }

    /// Lets pods onto a node again if the cordon is marked as ours. Somebody else's is left as it is.
    pub async fn request_uncordon(&self, node: &str) -> Result<(), Fault> {
        self.request_patch(node, |found| is_marked(found).then(node::uncordon_patch)).await
    }

    /// Ends exactly this pod, if the disruption budgets allow it. Asking twice is the same as once.
    pub async fn request_eviction(&self, pod: &PodRef, grace: Grace) -> Result<EvictionAnswer, Fault> {
        eviction::request(&self.client, pod, grace).await
    }

    /// Ends exactly this pod, whatever the disruption budgets say. One that is gone, or is another by now, has ended.
    pub async fn request_pod_end(&self, pod: &PodRef, grace: Grace) -> Result<(), Fault> {
        name::check("a namespace", &pod.namespace)?;
        name::check("a pod", &pod.name)?;
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &pod.namespace);
        let params = DeleteParams {
            grace_period_seconds: eviction::grace_seconds(grace).map(|seconds| u32::try_from(seconds).unwrap_or(u32::MAX)),
            preconditions: Some(Preconditions { uid: Some(pod.uid.clone()), resource_version: None }),
            ..DeleteParams::default()
        };
        let call = async {
            match pods.delete(&pod.name, &params).await {
                Err(kube::Error::Api(status)) if is_pod_gone(&status) => Ok(()),
                answer => answer.map(drop),
            }
        };
        within(&format!("DELETE pod {pod}"), Purpose::Request, call).await
    }

    /// Says that a node is proven to be down, so that its pods may be made anew elsewhere. Whether that is proven is the
    /// caller's to know.
    pub async fn request_out_of_service(&self, node: &str) -> Result<(), Fault> {
        self.request_taint(node, OutOfService::Set).await
    }

    pub async fn request_in_service(&self, node: &str) -> Result<(), Fault> {
        self.request_taint(node, OutOfService::Cleared).await
    }

    /// A patch replaces the whole list of taints.
    async fn request_taint(&self, node: &str, wanted: OutOfService) -> Result<(), Fault> {
        self.request_patch(node, |found| Some(json!({"spec": {"taints": taints_with(found, wanted)?}}))).await
    }

    /// Patches a node as it was read, if there is anything to patch. The patch names the version that it was made for: what somebody
    /// else has done meanwhile makes it fail and stays, so that nobody's cordon is taken for ours, and no taint is lost.
    async fn request_patch(&self, node: &str, patch_of: impl FnOnce(&Node) -> Option<Value>) -> Result<(), Fault> {
        name::check("a node", node)?;
        let call = async {
            let found = self.nodes.get(node).await?;
            let Some(mut patch) = patch_of(&found) else { return Ok(()) };
            patch["metadata"]["resourceVersion"] = json!(found.metadata.resource_version);
            self.nodes.patch(node, &patch_params(), &Patch::Merge(&patch)).await.map(drop)
        };
        within(&format!("PATCH node {node}"), Purpose::Request, call).await
    }
}

fn is_cordoned(node: &Node) -> bool {
    node.spec.as_ref().and_then(|spec| spec.unschedulable).unwrap_or(false)
}

fn is_marked(node: &Node) -> bool {
    node.metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(CORDONED))
}

fn patch_params() -> PatchParams {
    PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() }
}

/// Whether the pod that was meant is no longer there. A server that does not know the path says 404 too, but names no pod.
fn is_pod_gone(status: &Status) -> bool {
    let names_pod = status.details.as_ref().is_some_and(|details| matches!(details.kind.as_str(), "pods" | "namespaces"));
    match status.code {
        404 => names_pod,
        409 => is_about_uid(&status.message),
        _ => false,
    }
}

impl fmt::Debug for TenantCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TenantCluster").finish_non_exhaustive()
    }
}
