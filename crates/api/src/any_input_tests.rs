//! Paths, queries and bodies of any kind: whatever a client sends, it is the client's mistake or it is served.

use http::{Method, StatusCode};
use model::keys;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixtures::{Documents, cluster, machine, send, vm};

const MACHINE: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1";

const VMS: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/virtualMachines";

/// JSON of any shape whose fields are often those that actions know.
fn body() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        prop::sample::select(vec!["True", "False", "true", ""]).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let known =
        vec!["reason", "evacuate", "skipShutdown", "properties", "tags", "cpuCores", "userData", "placementHints", "storageProfile"];
    let name = prop_oneof![prop::sample::select(known).prop_map(str::to_owned), any::<String>()];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..4).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// A segment of a path or a part of a query, with escapes that decode to anything.
fn address() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "subscriptions",
        "s1",
        "resourceGroups",
        "g1",
        "providers",
        "Microsoft.NetworkCloud",
        "bareMetalMachines",
        "m1",
        "virtualMachines",
        "kubernetesClusters",
        "agentPools",
        "clusters",
        "runtimes",
        "rackwright/v1/operations",
        "rackwright/v1/events",
        "?api-version=1",
        "&$top=",
        "&$skipToken=",
        "&types=",
        "&resourceId=",
        "&lastEventId=",
        "..",
        "%2e",
        "",
    ]);
    let escaped = any::<u8>().prop_map(|byte| format!("%{byte:02x}"));
    let part = prop_oneof![4 => known.prop_map(str::to_owned), 1 => escaped, 1 => "[a-z0-9%=&,+]{0,8}"];
    prop::collection::vec(part, 0..12).prop_map(|parts| format!("/{}", parts.join("/").replace("/?", "?").replace("/&", "&")))
}

fn on_paused_time<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime starts");
    runtime.block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_body_of_any_shape_is_refused_clearly_or_is_a_request(
        verb in prop::sample::select(vec!["restart", "powerOff", "cordon", "unmanage", "manage", "start"]),
        body in body(),
    ) {
        let (status, answer, left) = on_paused_time(async {
            let api = Documents::default().cluster(&cluster("site")).machine(&machine("site", "rack1", "m1")).serve().await;
            let (status, answer) = send(&api, Method::POST, &format!("{MACHINE}/{verb}?api-version=1"), &body.to_string()).await;
            (status, answer, api.store.list(keys::REQUESTS).await.unwrap().documents.len())
        });
        // What is understood finds no keeper here.
        let understood = (StatusCode::SERVICE_UNAVAILABLE, "KeeperUnavailable");
        let refused = (StatusCode::BAD_REQUEST, "InvalidRequestContent");
        let got = (status, answer["error"]["code"].as_str().unwrap_or_default());
        prop_assert!(got == understood || got == refused, "{body} {answer}");
        prop_assert_eq!(left, 0);
    }

    #[test]
    fn a_description_of_any_shape_is_refused_clearly_and_leaves_no_secret(properties in body(), body in body(), half in any::<bool>()) {
        let sent = if half { json!({ "properties": properties }) } else { body };
        let (status, answer, left) = on_paused_time(async {
            let api = Documents::default().cluster(&cluster("site")).vm(&vm("site", "fw", "m1")).serve().await;
            let (status, answer) = send(&api, Method::PUT, &format!("{VMS}/new?api-version=1"), &sent.to_string()).await;
            (status, answer, api.store.list("secrets/").await.unwrap().documents.len())
        });
        let understood = (StatusCode::SERVICE_UNAVAILABLE, "KeeperUnavailable");
        let refused = (StatusCode::BAD_REQUEST, "InvalidRequestContent");
        let got = (status, answer["error"]["code"].as_str().unwrap_or_default());
        prop_assert!(got == understood || got == refused, "{sent} {answer}");
        prop_assert_eq!(left, 0);
    }

    #[test]
    fn an_address_of_any_kind_is_served_or_is_the_clients_mistake(path in address()) {
        let Ok(uri) = path.parse::<http::Uri>() else { return Ok(()) };
        let status = on_paused_time(async {
            let api = Documents::default().cluster(&cluster("site")).machine(&machine("site", "rack1", "m1")).serve().await;
            let request = http::Request::get(uri).header("host", "localhost").body(axum::body::Body::empty()).unwrap();
            crate::answer(axum::extract::State(api), request).await.status()
        });
        prop_assert!(!status.is_server_error(), "{status}");
    }
}
