//! Previews over the API: they answer at once, say what would be done, and do nothing.

use expect_test::expect;
use http::{Method, StatusCode};
use scenarios::{House, Reply, SUBSCRIPTION, machine_path};
use serde_json::{Value, json};

async fn preview(house: &House, machine: &str, verb: &str, query: &str, body: &str) -> Reply {
    house.call(Method::POST, &format!("{}/{verb}?api-version=1&preview=true{query}", machine_path(machine)), "alice", body).await
}

async fn log(house: &House) -> Value {
    let path = format!("/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Insights/eventtypes/management/values?api-version=1");
    house.get(&path).await["value"].clone()
}

#[tokio::test(start_paused = true)]
async fn every_action_of_a_machine_is_previewed_and_none_is_done() {
    let house = House::build(1, 4).await;
    let before = (house.machine("rack1compute01").await, log(&house).await);
    for (verb, body) in [
        ("powerOff", r#"{"skipShutdown":"True"}"#),
        ("start", ""),
        ("restart", ""),
        ("cordon", r#"{"evacuate":"True"}"#),
        ("cordon", ""),
        ("uncordon", ""),
    ] {
        let reply = preview(&house, "rack1compute01", verb, "", body).await;
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
        assert_eq!((&reply.body["machine"], &reply.body["action"]), (&json!("rack1compute01"), &json!(verb)));
        assert_eq!(reply.body["refusal"], Value::Null);
        assert!(reply.body["duration"]["atMostSeconds"].as_u64() > Some(0), "{}", reply.body);
    }
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    assert_eq!((house.machine("rack1compute01").await, log(&house).await), before);
    assert_eq!(house.get("/rackwright/v1/operations").await["value"], json!([]));
    let counters = house.site.witness("rack1compute01").expect("the machine is there").counters();
    assert_eq!(counters.resets_requested, 0);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn what_would_be_refused_is_told_with_its_rule_and_is_no_error() {
    let house = House::build(1, 4).await;
    let fine = preview(&house, "rack1control02", "restart", "", "").await.body;
    assert_eq!((&fine["refusal"], &fine["quorum"]["votingAfter"]), (&Value::Null, &json!(2)), "{fine}");
    let path = format!("{}/restart?api-version=1", machine_path("rack1control01"));
    assert_eq!(house.call(Method::POST, &path, "bob", "").await.status, StatusCode::ACCEPTED);
    let reply = preview(&house, "rack1control02", "restart", "", "").await;
    assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
    let refusal = &reply.body["refusal"];
    let text = |name: &str| refusal[name].as_str().unwrap_or_default().to_owned();
    let told = format!("{}, rule {}: {}\n{}", text("code"), text("rule"), text("message"), reply.body["quorum"]);
    expect![[r#"
        KcpOneAtATime, rule kcp-one-at-a-time: `rack1control02` cannot be restarted
        {"members":3,"needed":2,"votingAfter":2,"votingBefore":3}"#]]
    .assert_eq(&told);
    assert!(text("remedy").contains("rackwright operation wait"), "{refusal}");
    assert!(refusal["evidence"][0].as_str().is_some_and(|fact| fact.contains("`rack1control01` is being restarted")), "{refusal}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn the_same_id_does_not_make_an_action_of_a_preview_nor_a_preview_of_an_action() {
    let house = House::build(1, 4).await;
    let path = |query: &str| format!("{}/restart?api-version=1{query}", machine_path("rack1compute01"));
    let headers = [("x-ms-client-principal-name", "alice"), ("x-ms-client-request-id", "1")];
    let previewed = house.call_with(Method::POST, &path("&preview=true"), &headers, "").await;
    let done = house.call_with(Method::POST, &path("&preview=false"), &headers, "").await;
    let again = house.call_with(Method::POST, &path("&preview=true"), &headers, "").await;
    assert_eq!((previewed.status, done.status, again.status), (StatusCode::OK, StatusCode::ACCEPTED, StatusCode::OK));
    assert_eq!(again.body["refusal"]["code"], "OneActionPerMachine");
    assert_eq!(again.body["holds"][0]["kind"], "operation");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_restart_that_has_ended_teaches_how_long_the_next_takes() {
    let house = House::build(1, 4).await;
    let assumed = preview(&house, "rack1compute01", "restart", "", "").await.body["duration"].clone();
    assert_eq!(assumed["basis"], "assumed: no such restart has ended here yet");
    let path = format!("{}/restart?api-version=1", machine_path("rack1compute01"));
    let accepted = house.call(Method::POST, &path, "alice", "").await;
    let id = accepted.body["name"].as_str().expect("an operation has a name").to_owned();
    house.until_ended(&id).await;
    let learned = preview(&house, "rack1compute01", "restart", "", "").await.body["duration"].clone();
    let operation = house.get(&format!("/rackwright/v1/operations/{id}")).await;
    let instant = |name: &str| operation[name].as_str().and_then(model::Timestamp::parse).expect("an instant");
    let took = instant("endedAt").since(instant("acceptedAt"));
    assert_eq!(learned["expectedSeconds"], took.as_millis().div_ceil(1_000));
    assert!(learned["basis"].as_str().unwrap_or_default().starts_with("as long as the only restart of a compute machine here took, at "));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_machine_or_a_keeper_that_is_not_there_is_an_error_and_leaves_no_trace() {
    let mut house = House::without_control_plane(1, 4).await;
    house.start_api_only().await;
    let before = log(&house).await;
    let reply = preview(&house, "nobody", "restart", "", "").await;
    assert_eq!((reply.status, &reply.body["error"]["code"]), (StatusCode::NOT_FOUND, &json!("ResourceNotFound")));
    let reply = preview(&house, "rack1compute01", "restart", "", "").await;
    assert_eq!((reply.status, &reply.body["error"]["code"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("KeeperUnavailable")));
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    assert_eq!(log(&house).await, before);
    house.crash().await;
    house.close().await;
}
