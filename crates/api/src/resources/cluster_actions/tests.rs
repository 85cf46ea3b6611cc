use http::{Method, StatusCode};
use model::{OperationId, Verdict};
use serde_json::json;

use super::*;
use crate::fixtures::{Documents, cluster, keep, send};

const INSPECT: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/clusters/Site/inspect?api-version=1";

#[tokio::test(start_paused = true)]
async fn an_inspection_is_of_what_is_named_or_of_all() {
    let api = Documents::default().cluster(&cluster("site")).serve().await;
    let asked = keep(&api, |_| Verdict::Accepted { operation: OperationId::new("8f3c1a2b") });
    let (status, answer) = send(&api, Method::POST, INSPECT, "").await;
    assert_eq!(status, StatusCode::ACCEPTED, "{answer:#}");
    assert_eq!(asked.last().ask, Ask::Inspect { machines: Vec::new(), racks: Vec::new() });
    let body = json!({ "filterDevices": { "bareMetalMachineNames": ["m1"], "rackNames": ["rack2"] }, "additionalActions": [] });
    send(&api, Method::POST, INSPECT, &body.to_string()).await;
    let named = Ask::Inspect { machines: vec![MachineName::new("m1").unwrap()], racks: vec![RackName::new("rack2").unwrap()] };
    assert_eq!(asked.last().ask, named);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_inspected_is_refused_with_its_field() {
    let api = Documents::default().cluster(&cluster("site")).serve().await;
    let asked = keep(&api, |_| Verdict::Done);
    let cases = [
        (json!({ "additionalActions": ["ResetHardware"] }), "OperationNotAllowed", "additionalActions"),
        (json!({ "additionalActions": [7] }), "InvalidRequestContent", "additionalActions"),
        (json!({ "filterDevices": { "rackNames": [7] } }), "InvalidRequestContent", "filterDevices.rackNames[0]"),
        (json!({ "filterDevices": { "rackNames": "r" } }), "InvalidRequestContent", "filterDevices.rackNames"),
        (
            json!({ "filterDevices": { "bareMetalMachineNames": ["m1", "a_b"] } }),
            "InvalidRequestContent",
            "filterDevices.bareMetalMachineNames[1]",
        ),
    ];
    for (body, code, field) in cases {
        let (_, answer) = send(&api, Method::POST, INSPECT, &body.to_string()).await;
        assert_eq!((&answer["error"]["code"], &answer["error"]["target"]), (&json!(code), &json!(field)), "{body} {answer}");
    }
    let (_, answer) = send(&api, Method::POST, &format!("{INSPECT}&preview=true"), "").await;
    assert_eq!(answer["error"]["target"], "preview");
    let (_, answer) = send(&api, Method::POST, &INSPECT.replace("inspect", "deploy"), "").await;
    assert_eq!(answer["error"]["message"], "there is no action `deploy`; inspect is");
    assert_eq!(asked.count(), 0);
}
