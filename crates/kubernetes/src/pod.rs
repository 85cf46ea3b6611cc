//! The pods of a node, as decisions see them.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{Pod, PodStatus};
use kube::Api;
use kube::api::ListParams;
use model::{Fault, PodOwner, PodPhase, PodRef, PodSeen, Readiness, Span, Termination, Timestamp};

use crate::fault::Purpose;
use crate::undercloud::{Undercloud, within};
use crate::{demands, name};

/// Pods per page of a list. A kubelet runs 110 pods unless told otherwise, so that one page is the rule.
const PAGE_SIZE: u32 = 500;

/// The annotation of a pod that its kubelet runs from a file and only shows to the API.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// The grace of a pod that does not say.
const DEFAULT_GRACE: Span = Span::seconds(30);

impl Undercloud {
    /// All pods that are bound to a node, of all namespaces, finished ones included.
    pub async fn observe_pods(&self, node: &str) -> Result<Vec<PodSeen>, Fault> {
        name::check("a node", node)?;
        let pods: Api<Pod> = Api::all(self.client.clone());
        let on_node = ListParams::default().fields(&format!("spec.nodeName={node}")).limit(PAGE_SIZE);
        within(&format!("GET pods of node {node}"), Purpose::Observe, list_all(&pods, on_node)).await
    }
}

async fn list_all(pods: &Api<Pod>, mut params: ListParams) -> kube::Result<Vec<PodSeen>> {
    let mut seen = Vec::new();
    loop {
        let page = pods.list(&params).await?;
        seen.extend(page.items.iter().filter_map(pod_seen));
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => return Ok(seen),
        }
    }
}

/// A pod as decisions see it; nothing if it lacks what names it, which no API server should send.
pub fn pod_seen(pod: &Pod) -> Option<PodSeen> {
    let metadata = &pod.metadata;
    let spec = pod.spec.as_ref();
    let owners = metadata.owner_references.iter().flatten();
    let owner = owners
        .filter(|owner| owner.controller == Some(true))
        .map(|owner| PodOwner { kind: owner.kind.clone(), name: owner.name.clone() })
        .next();
    let mut volumes = spec.and_then(|spec| spec.volumes.as_ref()).into_iter().flatten();
    Some(PodSeen {
        pod: PodRef { namespace: metadata.namespace.clone()?, name: metadata.name.clone()?, uid: metadata.uid.clone()? },
        phase: phase(pod.status.as_ref()),
        ready: readiness(pod.status.as_ref()),
        owner,
        is_mirror: metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(MIRROR)),
        has_local_storage: volumes.any(|volume| volume.empty_dir.is_some()),
        termination: termination(pod),
        grace: seconds(spec.and_then(|spec| spec.termination_grace_period_seconds)).unwrap_or(DEFAULT_GRACE),
        node: spec.and_then(|spec| spec.node_name.clone()),
        has_finalizers: metadata.finalizers.as_ref().is_some_and(|finalizers| !finalizers.is_empty()),
        requests: spec.map(demands::requests).unwrap_or_default(),
        labels: Arc::new(metadata.labels.clone().unwrap_or_default()),
        demands: spec.map(|spec| Arc::new(demands::demands(spec))).unwrap_or_default(),
    })
}

fn seconds(seconds: Option<i64>) -> Option<Span> {
    seconds.and_then(|seconds| u64::try_from(seconds).ok()).map(Span::seconds)
}

/// The API server says by when the pod should have ended, and what it was given; the beginning follows.
fn termination(pod: &Pod) -> Option<Termination> {
    let until = Timestamp::from_millis(pod.metadata.deletion_timestamp.as_ref()?.0.as_millisecond());
    let given = seconds(pod.metadata.deletion_grace_period_seconds).unwrap_or(Span::seconds(0));
    let given = i64::try_from(given.as_millis()).unwrap_or(0);
    Some(Termination { since: Timestamp::from_millis(until.as_millis().saturating_sub(given)), until })
}

fn phase(status: Option<&PodStatus>) -> PodPhase {
    match status.and_then(|status| status.phase.as_deref()) {
        Some("Pending") => PodPhase::Pending,
        Some("Running") => PodPhase::Running,
        Some("Succeeded") => PodPhase::Succeeded,
        Some("Failed") => PodPhase::Failed,
        _ => PodPhase::Unknown,
    }
}

/// A pod without the condition has not been ready yet.
fn readiness(status: Option<&PodStatus>) -> Readiness {
    let conditions = status.and_then(|status| status.conditions.as_ref()).into_iter().flatten();
    match conditions.filter(|condition| condition.type_ == "Ready").map(|condition| condition.status.as_str()).next() {
        Some("True") => Readiness::True,
        None | Some("False") => Readiness::False,
        Some(_) => Readiness::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_full_pod_is_read_in_full() {
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {
                "namespace": "team", "name": "web-1", "uid": "u-1",
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "Other", "name": "x", "uid": "a"},
                    {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "web", "uid": "b", "controller": true},
                ],
                "annotations": {"kubernetes.io/config.mirror": "hash"},
                "deletionTimestamp": "2026-11-15T09:00:30Z",
                "deletionGracePeriodSeconds": 30,
            },
            "spec": {"containers": [], "volumes": [{"name": "scratch", "emptyDir": {}}], "terminationGracePeriodSeconds": 60},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }))
        .unwrap();
        let seen = pod_seen(&pod).unwrap();
        assert_eq!(seen.termination.unwrap().since, Timestamp::parse("2026-11-15T09:00:00Z").unwrap());
        expect![[r#""team/web-1" Running True Some(PodOwner { kind: "DaemonSet", name: "web" }) mirror=true local=true grace=1m 00s"#]]
            .assert_eq(&format!(
                "{:?} {:?} {:?} {:?} mirror={} local={} grace={}",
                seen.pod.to_string(),
                seen.phase,
                seen.ready,
                seen.owner,
                seen.is_mirror,
                seen.has_local_storage,
                seen.grace
            ));
    }

    #[test]
    fn a_bare_pod_is_read_with_what_it_does_not_say() {
        let pod: Pod = serde_json::from_value(json!({"metadata": {"namespace": "team", "name": "web-1", "uid": "u-1"}})).unwrap();
        let seen = pod_seen(&pod).unwrap();
        assert_eq!((seen.phase, seen.ready, seen.grace), (PodPhase::Unknown, Readiness::False, DEFAULT_GRACE));
        assert_eq!((seen.owner, seen.termination, seen.is_mirror, seen.has_local_storage), (None, None, false, false));
        assert_eq!(pod_seen(&Pod::default()), None);
    }
}
