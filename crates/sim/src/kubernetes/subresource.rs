//! `start`, `stop` and `restart` of virtual machines: KubeVirt's subresources, in an API group of their own.

use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use world::{ClusterName, ObjectKey, VIRTUAL_MACHINES, VmAction, VmRefusal};

use super::status::Failure;
use super::write::{DryRun, write};
use super::{Call, Server};

pub(super) const GROUP: &str = "subresources.kubevirt.io";
pub(super) const VERSION: &str = "v1";

/// What can be asked of a virtual machine, as the last word of the path.
const VERBS: [&str; 3] = ["start", "stop", "restart"];

/// The entries of discovery.
pub(super) fn resources() -> Vec<Value> {
    let entry = |verb: &str| json!({"name": format!("virtualmachines/{verb}"), "singularName": "", "namespaced": true, "kind": "", "verbs": ["update"]});
    VERBS.into_iter().map(entry).collect()
}

/// Answers if the path is of this group.
pub(super) async fn answer(server: &Server, call: &Call) -> Option<Result<Response, Failure>> {
    let segments: Vec<&str> = call.path.trim_matches('/').split('/').collect();
    match segments[..] {
        ["apis", GROUP, VERSION, "namespaces", namespace, "virtualmachines", name, verb] if VERBS.contains(&verb) => {
            if server.cluster != ClusterName::Undercloud {
                return None;
            }
            Some(act(server, call, &ObjectKey::namespaced(namespace, name), verb).await)
        }
        _ => None,
    }
}

async fn act(server: &Server, call: &Call, key: &ObjectKey, verb: &str) -> Result<Response, Failure> {
    if call.method != Method::PUT {
        return Err(Failure::method_not_allowed());
    }
    let options = if call.body.is_empty() { Value::Null } else { call.json()? };
    let action = match verb {
        "start" => VmAction::Start,
        "stop" => VmAction::Stop { grace_seconds: grace(&options)? },
        _ => VmAction::Restart,
    };
    write(server, DryRun::of(call, &options)?, |world, now| world.act_on_vm(key, action, now).map_err(|refusal| failure(refusal, key)))
        .await?;
    Ok(StatusCode::ACCEPTED.into_response())
}

fn grace(options: &Value) -> Result<Option<i64>, Failure> {
    match &options["gracePeriod"] {
        Value::Null => Ok(None),
        seconds => match seconds.as_i64().filter(|seconds| *seconds >= 0) {
            Some(seconds) => Ok(Some(seconds)),
            None => Err(Failure::bad_request(format!("gracePeriod: Invalid value: {seconds}: must be a number of seconds"))),
        },
    }
}

fn failure(refusal: VmRefusal, key: &ObjectKey) -> Failure {
    match refusal {
        VmRefusal::Object(error) => Failure::of(error, &VIRTUAL_MACHINES, &key.name),
        VmRefusal::Conflict(why) => {
            let message = format!("Operation cannot be fulfilled on virtualmachine.kubevirt.io \"{}\": {why}", key.name);
            Failure::new(StatusCode::CONFLICT, "Conflict", message)
        }
    }
}
