//! What is so of every body and every header that clients can send to what changes something: no panic, no 5xx, and
//! nothing changed if the answer is an error.

use std::cell::Cell;

use http::{Method, StatusCode};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use scenarios::{House, machine_path};
use serde_json::{Map, Value, json};

const MACHINE: &str = "rack1compute01";

/// A thousand requests and what they begin take about ten seconds.
const CASES: u32 = 1_000;

/// A machine that is left in the middle of its installation takes little more: others begin anew.
const HOUSES: u32 = 10;

/// One request.
#[derive(Clone, Debug)]
struct Sent {
    method: Method,
    verb: &'static str,
    if_match: Option<String>,
    body: Vec<u8>,
}

fn name() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "tags",
        "properties",
        "machineDetails",
        "rackSlot",
        "bmcCredentials",
        "location",
        "extendedLocation",
        "rackwright",
        "etag",
        "powerState",
        "skipShutdown",
        "evacuate",
        "reason",
        "name",
        "type",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => ".{0,8}"]
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        prop::sample::select(vec!["True", "False", "", "local", "a\nb", "\u{1b}[2J", "slow fan"]).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        ".{250,260}".prop_map(Value::from),
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            4 => prop::collection::vec((name(), inner), 0..6).prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// JSON, JSON that breaks off, and bytes.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let torn = (any_json(), 0_usize..200).prop_map(|(json, at)| json.to_string().into_bytes().into_iter().take(at).collect());
    prop_oneof![
        6 => any_json().prop_map(|json| json.to_string().into_bytes()),
        1 => torn,
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ]
}

fn sent() -> impl Strategy<Value = Sent> {
    let verbs = vec!["", "", "", "/powerOff", "/start", "/restart", "/cordon", "/uncordon", "/unmanage", "/manage", "/explode"];
    let method = prop::sample::select(vec![Method::PATCH, Method::PUT]);
    let if_match = prop::option::weighted(0.1, prop_oneof![Just("*".to_owned()), "\"[1-9]\"", "[ -~]{0,12}"]);
    (method, prop::sample::select(verbs), if_match, body()).prop_map(|(method, verb, if_match, body)| {
        let method = if verb.is_empty() { method } else { Method::POST };
        Sent { method, verb, if_match, body }
    })
}

/// What a request can change.
async fn state(house: &House) -> Value {
    let machine = house.machine(MACHINE).await;
    let operations = house.get("/rackwright/v1/operations").await["value"].as_array().map_or(0, Vec::len);
    let ours = &machine["rackwright"];
    json!([machine["etag"], machine["tags"], machine["properties"]["machineDetails"], ours["managed"], ours["holds"], operations])
}

async fn check(house: &House, sent: &Sent) -> Result<StatusCode, TestCaseError> {
    let before = state(house).await;
    let headers: Vec<(&str, &str)> = sent.if_match.iter().map(|value| ("if-match", value.as_str())).collect();
    let path = format!("{}{}?api-version=1", machine_path(MACHINE), sent.verb);
    let reply = house.send(sent.method.clone(), &path, &headers, sent.body.clone()).await;
    prop_assert!(!reply.status.is_server_error(), "{} {}", reply.status, reply.body);
    if reply.status.is_client_error() {
        prop_assert_eq!(state(house).await, before, "{}", reply.body);
        prop_assert!(reply.body["error"]["code"].is_string());
    }
    // Whatever began is over before the next request, so that what is compared stands still.
    if let Some(id) = reply.body["name"].as_str().filter(|_| reply.status == 202) {
        house.call(Method::POST, &format!("/rackwright/v1/operations/{id}/cancel"), "alice", "").await;
        house.until_ended(id).await;
        house.settle().await;
    }
    Ok(reply.status)
}

#[test]
fn no_body_makes_the_api_fail_and_an_error_changes_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime");
    let (done, refused) = (Cell::new(0), Cell::new(0));
    for _ in 0..HOUSES {
        let house = runtime.block_on(House::build(1, 4));
        let config = Config { cases: CASES / HOUSES, source_file: Some(file!()), max_shrink_iters: 200, ..Config::default() };
        let outcome = TestRunner::new(config).run(&sent(), |sent| {
            let status = runtime.block_on(check(&house, &sent))?;
            let count = if status.is_success() { &done } else { &refused };
            count.set(count.get() + 1);
            Ok(())
        });
        outcome.unwrap_or_else(|problem| panic!("{problem}"));
        runtime.block_on(house.close());
    }
    let (done, refused) = (done.get(), refused.get());
    assert!(done > CASES / 20 && refused > CASES / 20, "{done} done and {refused} refused show little");
}
