//! Evictions: one request, and the table of what each answer means.
//!
//! The client's own eviction call loses the delete options and with them the uid, so that it could end a pod that nobody
//! meant. This one posts to the subresource itself.

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::policy::v1::Eviction;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{DeleteOptions, ObjectMeta, Preconditions};
use kube::api::PostParams;
use kube::core::Status;
use kube::{Api, Client};
use model::{EvictionAnswer, Fault, Grace, PodRef, Span};
use serde_json::Value;
use tokio::time::timeout;

use crate::fault::{self, Purpose};
use crate::name;
use crate::undercloud::{CALL_TIMEOUT, FIELD_MANAGER, Undercloud};

/// The shortest grace that is sent. Zero would take the pod's object away at once, while its containers may still run, and
/// a successor could start beside them.
const SHORTEST_GRACE_SECONDS: i64 = 1;

impl Undercloud {
    /// Asks the API server to end exactly this pod, if the disruption budgets allow it. Asking twice is the same as once.
    pub async fn request_eviction(&self, pod: &PodRef, grace: Grace) -> Result<EvictionAnswer, Fault> {
        request(&self.client, pod, grace).await
    }
}

pub(crate) async fn request(client: &Client, pod: &PodRef, grace: Grace) -> Result<EvictionAnswer, Fault> {
    name::check("a namespace", &pod.namespace)?;
    name::check("a pod", &pod.name)?;
    let asked = format!("eviction of pod {pod}");
    let pods: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace);
    let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
    let document = eviction(pod, grace);
    let call = pods.create_subresource::<Eviction, Value>("eviction", &pod.name, &params, &document);
    match timeout(CALL_TIMEOUT.to_std(), call).await {
        Ok(Ok(_)) => Ok(EvictionAnswer::Accepted),
        Ok(Err(error)) => {
            let answer = if let kube::Error::Api(status) = &error { classify_eviction(status) } else { None };
            answer.ok_or_else(|| fault::failed(&asked, Purpose::Request, &error))
        }
        Err(_) => Err(fault::silent(&asked, Purpose::Request, CALL_TIMEOUT)),
    }
}

/// The grace as it is sent; nothing leaves it to the pod.
pub(crate) fn grace_seconds(grace: Grace) -> Option<i64> {
    match grace {
        Grace::Own => None,
        Grace::Within(span) => Some(i64::try_from(span.as_millis().div_ceil(1_000)).unwrap_or(i64::MAX).max(SHORTEST_GRACE_SECONDS)),
    }
}

fn eviction(pod: &PodRef, grace: Grace) -> Eviction {
    let preconditions = Preconditions { uid: Some(pod.uid.clone()), ..Preconditions::default() };
    Eviction {
        metadata: ObjectMeta { name: Some(pod.name.clone()), namespace: Some(pod.namespace.clone()), ..ObjectMeta::default() },
        delete_options: Some(DeleteOptions {
            grace_period_seconds: grace_seconds(grace),
            preconditions: Some(preconditions),
            ..DeleteOptions::default()
        }),
    }
}

/// What a refusal of an eviction means; nothing if it says nothing about the pod, and is a fault like any other.
pub fn classify_eviction(status: &Status) -> Option<EvictionAnswer> {
    let details = status.details.as_ref();
    let cause = |reason: &str| details.and_then(|details| details.causes.iter().find(|cause| cause.reason == reason));
    let message = || model::shortened(&status.message);
    match status.code {
        // A server that does not know evictions, or a proxy before it, says 404 too, but names no pod.
        404 if details.is_some_and(|details| matches!(details.kind.as_str(), "pods" | "namespaces")) => Some(EvictionAnswer::AlreadyGone),
        // Two writers at once are a conflict too, and then the pod is still the one that was meant.
        409 if is_about_uid(&status.message) => Some(EvictionAnswer::AnotherPod),
        // Without this cause the server is only shedding load.
        429 => cause("DisruptionBudget").map(|cause| EvictionAnswer::Blocked {
            why: if cause.message.is_empty() { message() } else { model::shortened(&cause.message) },
            // The client reads an absent field as zero.
            retry_after: details
                .map(|details| details.retry_after_seconds)
                .filter(|seconds| *seconds > 0)
                .map(|seconds| Span::seconds(seconds.into())),
        }),
        403 => cause("NamespaceTerminating").map(|_| EvictionAnswer::NamespaceTerminating),
        500 if status.message.contains("more than one PodDisruptionBudget") => Some(EvictionAnswer::Misconfigured { why: message() }),
        _ => None,
    }
}

/// The two wordings of the API server, one for each place where it checks a precondition. It gives no other sign.
pub(crate) fn is_about_uid(message: &str) -> bool {
    message.contains("UID in the precondition") || message.contains("UID in precondition")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    fn row(name: &str, status: Value) -> String {
        let status: Status = serde_json::from_value(status).unwrap();
        match classify_eviction(&status) {
            Some(answer) => format!("{name}: {answer:?}\n"),
            None => {
                let (class, delivery) = fault::classify_status(status.code, Purpose::Request);
                format!("{name}: fault {class}, delivered {delivery:?}\n")
            }
        }
    }

    #[test]
    fn each_refusal_of_an_eviction_has_one_meaning() {
        let budget = json!({"reason": "DisruptionBudget", "message": "The disruption budget db needs 2 healthy pods and has 2 currently"});
        let violated = "Cannot evict pod as it would violate the pod's disruption budget.";
        let conflict = |why: &str| json!({"code": 409, "reason": "Conflict", "message": format!("Operation cannot be fulfilled on pods \"a\": {why}")});
        let table = [
            row("no pod", json!({"code": 404, "reason": "NotFound", "details": {"name": "a", "kind": "pods"}})),
            row("no namespace", json!({"code": 404, "reason": "NotFound", "details": {"name": "n", "kind": "namespaces"}})),
            row("no such path", json!({"code": 404, "message": "404 page not found"})),
            row(
                "uid, early check",
                conflict(
                    "the UID in the precondition (x) does not match the UID in record (y). The object might have been deleted and then recreated",
                ),
            ),
            row("uid, late check", conflict("Precondition failed: UID in precondition: x, UID in object meta: y")),
            row("version", conflict("the object has been modified; please apply your changes to the latest version and try again")),
            row("budget", json!({"code": 429, "message": violated, "details": {"causes": [budget]}})),
            row("budget, later", json!({"code": 429, "message": violated, "details": {"causes": [budget], "retryAfterSeconds": 10}})),
            row("load shed", json!({"code": 429, "message": "too many requests", "details": {"retryAfterSeconds": 1}})),
            row(
                "two budgets",
                json!({"code": 500, "message": "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."}),
            ),
            row("internal", json!({"code": 500, "message": "etcdserver: request timed out"})),
            row("namespace leaves", json!({"code": 403, "details": {"causes": [{"reason": "NamespaceTerminating"}]}})),
            row("not allowed", json!({"code": 403, "message": "pods \"a\" is forbidden"})),
        ];
        expect![[r#"
            no pod: AlreadyGone
            no namespace: AlreadyGone
            no such path: fault missing, delivered No
            uid, early check: AnotherPod
            uid, late check: AnotherPod
            version: fault busy, delivered No
            budget: Blocked { why: "The disruption budget db needs 2 healthy pods and has 2 currently", retry_after: None }
            budget, later: Blocked { why: "The disruption budget db needs 2 healthy pods and has 2 currently", retry_after: Some(10s) }
            load shed: fault busy, delivered No
            two budgets: Misconfigured { why: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support." }
            internal: fault garbled, delivered Maybe
            namespace leaves: NamespaceTerminating
            not allowed: fault denied, delivered No
        "#]].assert_eq(&table.concat());
    }

    #[test]
    fn a_grace_is_rounded_up_and_never_zero() {
        let pod = PodRef { namespace: "team".to_owned(), name: "a".to_owned(), uid: "u".to_owned() };
        let sent = |grace| eviction(&pod, grace).delete_options.unwrap().grace_period_seconds;
        assert_eq!(sent(Grace::Own), None);
        let spans = [Span::millis(0), Span::millis(1), Span::millis(1_001), Span::seconds(30)];
        assert_eq!(spans.map(|span| sent(Grace::Within(span))), [Some(1), Some(1), Some(2), Some(30)]);
    }
}
