//! Evictions: what is posted to a pod's `eviction`, and how each answer is worded.

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};
use world::{EvictionRefusal, ObjectKey, PODS};

use super::delete::parse_options;
use super::status::{self, Failure};
use super::write::{DryRun, object_body, write};
use super::{Call, Server, json_response};

/// The versions of `Eviction` that clients send; kubectl 1.20 knows only the older one.
const VERSIONS: [&str; 2] = ["policy/v1", "policy/v1beta1"];

/// When to ask again about a budget whose pods are not counted yet.
const NOT_OBSERVED_RETRY_SECONDS: u32 = 10;

pub(super) async fn evict(server: &Server, call: &Call, key: &ObjectKey) -> Result<Response, Failure> {
    let eviction = object_body(call)?;
    let version = eviction["apiVersion"].as_str().unwrap_or_default();
    if eviction["kind"] != "Eviction" || !VERSIONS.contains(&version) {
        return Err(Failure::bad_request(format!("an Eviction of {} is expected", VERSIONS.join(" or "))));
    }
    if eviction["metadata"]["name"].as_str().is_some_and(|name| !name.is_empty() && name != key.name) {
        return Err(Failure::bad_request("name in URL does not match name in Eviction object"));
    }
    let body = &eviction["deleteOptions"];
    let options = parse_options(call, body)?;
    write(server, DryRun::of(call, body)?, |world, now| {
        world.evict_pod_in(&server.cluster, key, &options, now).map_err(|refusal| failure(refusal, key))
    })
    .await?;
    Ok(json_response(StatusCode::CREATED, &status::success(StatusCode::CREATED)))
}

fn failure(refusal: EvictionRefusal, key: &ObjectKey) -> Failure {
    let blocked = |cause: String| {
        let message = "Cannot evict pod as it would violate the pod's disruption budget.";
        let cause: Value = json!({"reason": "DisruptionBudget", "message": cause});
        Failure::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message).because(&cause)
    };
    match refusal {
        EvictionRefusal::Object(error) => Failure::of(error, &PODS, &key.name),
        EvictionRefusal::Exhausted { budget, needed, healthy } => {
            blocked(format!("The disruption budget {budget} needs {needed} healthy pods and has {healthy} currently"))
        }
        EvictionRefusal::NotObserved { budget } => {
            blocked(format!("The disruption budget {budget} is still being processed by the server."))
                .retry_after(NOT_OBSERVED_RETRY_SECONDS)
        }
        EvictionRefusal::Ambiguous => {
            let message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
            Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "", message)
        }
    }
}
