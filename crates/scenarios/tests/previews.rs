//! Previews over the API: they answer at once, say what would be done, and do nothing.

use std::collections::BTreeMap;

use expect_test::expect;
use http::{Method, StatusCode};
use scenarios::{CALLER, House, Reply, SUBSCRIPTION, machine_path, tenancy_of};
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
        {"members":3,"needed":2,"votingBefore":3,"votingAfter":2}"#]]
    .assert_eq(&told);
    assert!(text("remedy").contains("rackwright operation wait"), "{refusal}");
    assert!(refusal["evidence"][0].as_str().is_some_and(|fact| fact.contains("`rack1control01` is being restarted")), "{refusal}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn the_same_id_does_not_make_an_action_of_a_preview_nor_a_preview_of_an_action() {
    let house = House::build(1, 4).await;
    let path = |query: &str| format!("{}/restart?api-version=1{query}", machine_path("rack1compute01"));
    let headers = [(CALLER, "alice"), ("x-ms-client-request-id", "1")];
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

const TENANTS: &str = "
    vm web1 on rack1compute01 2cpu 4g
    vm spare on rack1compute01 2cpu 4g stopped
    tenant naks-01 nodes a@rack1compute01 b@rack1compute02 c@rack1compute02 cp@rack1compute02
    deployment web x3 in naks-01 500m 256Mi pdb 3
    deployment big x3 in naks-01 5000m 256Mi
    statefulset db x3 in naks-01
    daemonset agent x0 in naks-01
    bare tool x1 in naks-01
";

/// Each pod of the tenant that is placed or waits, with its node.
async fn pods(house: &House) -> BTreeMap<String, Option<String>> {
    let (_, list) = house.tenant("naks-01", Method::GET, "/api/v1/namespaces/default/pods", &Value::Null).await;
    let place = |pod: &Value| (text(&pod["metadata"]["name"]), pod["spec"]["nodeName"].as_str().map(str::to_owned));
    list["items"].as_array().into_iter().flatten().map(place).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The names that some outcome is foreseen for; of pods without their namespace.
fn foreseen(list: &Value, name: &str, outcome: &str) -> Vec<String> {
    let items = list.as_array().into_iter().flatten().filter(|item| item["outcome"] == outcome);
    items.map(|item| text(&item[name]).trim_start_matches("default/").to_owned()).collect()
}

/// The controller of a pod, which its name begins with.
fn owner(pod: &str) -> &str {
    pod.split('-').next().unwrap_or(pod)
}

/// How many of some pods there are of each owner, and where.
fn by_owner<'a>(pods: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> BTreeMap<(String, Option<String>), usize> {
    let mut counts = BTreeMap::new();
    for (pod, node) in pods {
        *counts.entry((owner(pod).to_owned(), node.map(str::to_owned))).or_default() += 1;
    }
    counts
}

#[tokio::test(start_paused = true)]
async fn an_evacuation_does_to_tenants_what_its_preview_said() {
    let house = House::build_with(1, 6, tenancy_of(TENANTS)).await;
    let before = pods(&house).await;
    let seen = preview(&house, "rack1compute01", "cordon", "", r#"{"evacuate":"True"}"#).await.body;
    assert_eq!(seen["refusal"], Value::Null, "{seen}");
    let stopped = foreseen(&seen["virtualMachines"], "name", "stopped");
    assert_eq!((stopped.as_slice(), foreseen(&seen["nodes"], "node", "drained")), (&["a".into(), "web1".into()][..], vec!["a".to_owned()]));
    let budget = &seen["budgets"][0];
    assert_eq!((&budget["budget"], &budget["allowed"], &budget["blocking"]), (&json!("default/web"), &json!(0), &json!(true)), "{seen}");
    let blocked = foreseen(&seen["pods"], "pod", "blocked");
    let [pending, stays, ends] = ["pending", "staysWithNode", "ends"].map(|outcome| foreseen(&seen["pods"], "pod", outcome));
    let path = format!("{}/cordon?api-version=1", machine_path("rack1compute01"));
    let accepted = house.call(Method::POST, &path, "alice", r#"{"evacuate":"True"}"#).await;
    let id = text(&accepted.body["name"]);
    house.until_ended(&id).await;
    let operation = house.get(&format!("/rackwright/v1/operations/{id}")).await;
    assert_eq!(operation["status"], "Succeeded", "{operation}");
    let vms = house.vms().await;
    for vm in &stopped {
        assert!(vms.contains(&format!("{vm} Stopped\n")), "{vm}: {vms}");
    }
    let after = pods(&house).await;
    assert_eq!(blocked.len(), 1, "{seen}");
    for left in &blocked {
        assert!(text(&operation["message"]).contains(left.as_str()), "{left} is named: {operation}");
        assert_eq!(after[left].as_deref(), Some("a"));
    }
    assert!(stays.iter().all(|pod| after[pod].as_deref() == Some("a")), "{stays:?} {after:?}");
    assert!(ends.iter().all(|pod| !after.contains_key(pod)), "{ends:?} {after:?}");
    // What took their place has another name: it is told by its owner, and by where it is.
    let moves = seen["pods"].as_array().into_iter().flatten().filter(|pod| pod["outcome"] == "moves");
    let moves: Vec<(String, String)> = moves.map(|pod| (text(&pod["pod"]).replace("default/", ""), text(&pod["to"]))).collect();
    assert!(!moves.is_empty() && !pending.is_empty(), "{seen}");
    let expected =
        by_owner(moves.iter().map(|(pod, to)| (pod.as_str(), Some(to.as_str()))).chain(pending.iter().map(|pod| (pod.as_str(), None))));
    let is_new = |(pod, node): &(&String, &Option<String>)| before.get(*pod) != Some(*node);
    let made = by_owner(after.iter().filter(is_new).map(|(pod, node)| (pod.as_str(), node.as_deref())));
    assert_eq!(made, expected, "{before:#?} {after:#?}");
    let (least, most) = (seen["duration"]["expectedSeconds"].as_u64(), seen["duration"]["atMostSeconds"].as_u64());
    let instant = |name: &str| operation[name].as_str().and_then(model::Timestamp::parse).expect("an instant");
    let took = instant("endedAt").since(instant("acceptedAt")).as_millis() / 1_000;
    assert!(least.is_some_and(|least| least >= took) && most >= least, "it took {took} s: {}", seen["duration"]);
    house.close().await;
}

fn tenant_path(kind: &str, name: &str) -> String {
    format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/site1/providers/Microsoft.NetworkCloud/{kind}/{name}")
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_of_tenants_is_previewed_and_not_done() {
    let house = House::build_with(1, 6, tenancy_of(TENANTS)).await;
    let (vms, before) = (house.vms().await, log(&house).await);
    let web1 = tenant_path("virtualMachines", "web1");
    for (verb, outcome) in [("powerOff", "stopped"), ("start", "untouched"), ("restart", "restarted"), ("reimage", "reimaged")] {
        let reply = house.call(Method::POST, &format!("{web1}/{verb}?api-version=1&preview=true"), "alice", "").await;
        let fate = &reply.body["virtualMachines"][0];
        assert_eq!((reply.status, &fate["name"], &fate["outcome"]), (StatusCode::OK, &json!("web1"), &json!(outcome)), "{}", reply.body);
    }
    let deletion = house.call(Method::DELETE, &format!("{web1}?api-version=1&preview=true"), "alice", "").await;
    assert_eq!(deletion.body["virtualMachines"][0]["outcome"], "deleted", "{}", deletion.body);
    let restart = format!("{}/restartNode?api-version=1&preview=true", tenant_path("kubernetesClusters", "naks-01"));
    let node = house.call(Method::POST, &restart, "alice", r#"{"nodeName":"a"}"#).await;
    assert_eq!((node.status, &node.body["nodes"][0]["outcome"]), (StatusCode::OK, &json!("restarted")), "{}", node.body);
    assert!(!foreseen(&node.body["pods"], "pod", "staysWithNode").is_empty(), "{}", node.body);
    let unknown = house.call(Method::POST, &restart, "alice", r#"{"nodeName":"nobody"}"#).await;
    assert_eq!((unknown.status, &unknown.body["error"]["code"]), (StatusCode::NOT_FOUND, &json!("TenantNodeExists")), "{}", unknown.body);
    let wrong = house.call(Method::POST, &format!("{web1}/restart?api-version=1&preview=perhaps"), "alice", "").await;
    assert_eq!((wrong.status, &wrong.body["error"]["target"]), (StatusCode::BAD_REQUEST, &json!("preview")), "{}", wrong.body);
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    assert_eq!(house.vms().await, vms);
    assert_eq!(house.get("/rackwright/v1/operations").await["value"], json!([]));
    let told = log(&house).await;
    let refused = told.as_array().map_or(0, Vec::len) - before.as_array().map_or(0, Vec::len);
    assert_eq!(refused, 1, "only the wrong value, which asks for no preview, is told: {told}");
    house.close().await;
}
