//! The ARM dialect as a client meets it: resources, pages, long-running operations, and what is answered to bad input.

use std::fmt::Write;

use expect_test::{expect, expect_file};
use http::{Method, StatusCode};
use scenarios::{CALLER, House, Reply, SUBSCRIPTION, machine_path};
use serde_json::Value;

fn list_path(kind: &str, query: &str) -> String {
    format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/site1/providers/Microsoft.NetworkCloud/{kind}?api-version=2026-07-01{query}")
}

fn header<'a>(reply: &'a Reply, name: &str) -> &'a str {
    reply.headers.get(name).map_or("", |value| value.to_str().expect("our headers are text"))
}

fn names(page: &Value) -> Vec<&str> {
    page["value"].as_array().into_iter().flatten().filter_map(|item| item["name"].as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn resources_look_as_the_model_says() {
    let house = House::build(1, 4).await;
    let show = |path: String| {
        let house = &house;
        async move { serde_json::to_string_pretty(&house.get(&path).await).expect("JSON prints") }
    };
    expect_file!["../stories/machine.json"].assert_eq(&show(format!("{}?api-version=1", machine_path("rack1compute01"))).await);
    expect_file!["../stories/rack.json"].assert_eq(&show(list_path("racks/rack1", "")).await);
    expect_file!["../stories/cluster.json"].assert_eq(&show(list_path("clusters/site1", "")).await);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn lists_come_in_pages_by_group_and_by_subscription() {
    let house = House::build(4, 3).await;
    let all = house.get(&list_path("bareMetalMachines", "")).await;
    assert_eq!(names(&all).len(), 12);
    assert_eq!(all["nextLink"], Value::Null);
    let mut paged: Vec<String> = Vec::new();
    let mut next = format!("/subscriptions/{SUBSCRIPTION}/providers/Microsoft.NetworkCloud/bareMetalMachines?api-version=1&$top=5");
    let mut pages = 0;
    loop {
        let page = house.get(&next).await;
        paged.extend(names(&page).into_iter().map(str::to_owned));
        pages += 1;
        match page["nextLink"].as_str() {
            Some(link) => next = link.strip_prefix("https://localhost").expect("links lead back to where we asked").to_owned(),
            None => break,
        }
    }
    assert_eq!((pages, paged.len()), (3, 12));
    assert_eq!(paged, names(&all));
    assert_eq!(names(&house.get(&list_path("racks", "")).await), ["rack1", "rack2", "rack3", "rack4"]);
    assert_eq!(names(&house.get(&list_path("clusters", "")).await), ["site1"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_action_is_a_long_running_operation() {
    let house = House::build(1, 4).await;
    let path = format!("{}/restart?api-version=2026-07-01", machine_path("rack1compute01"));
    let accepted = house.call(Method::POST, &path, "alice", "").await;
    assert_eq!(accepted.status, StatusCode::ACCEPTED);
    assert_eq!(header(&accepted, "retry-after"), "1");
    let status_path = header(&accepted, "azure-asyncoperation").strip_prefix("https://localhost").expect("an absolute link").to_owned();
    let result_path = header(&accepted, "location").strip_prefix("https://localhost").expect("an absolute link").to_owned();
    let running = house.call(Method::GET, &status_path, "alice", "").await;
    assert_eq!((running.status, header(&running, "retry-after")), (StatusCode::OK, "1"));
    assert_eq!(running.body["status"], "InProgress");
    let pending = house.call(Method::GET, &result_path, "alice", "").await;
    assert_eq!((pending.status, header(&pending, "retry-after")), (StatusCode::ACCEPTED, "1"));
    house.until_ended(accepted.body["name"].as_str().expect("an operation has a name")).await;
    let ended = house.get(&status_path).await;
    assert_eq!((&ended["status"], &ended["percentComplete"]), (&Value::from("Succeeded"), &Value::from(100)));
    assert_eq!(ended["resourceId"], machine_path("rack1compute01"));
    assert_eq!(house.call(Method::GET, &result_path, "alice", "").await.status, StatusCode::OK);
    let states = house.machine("rack1compute01").await["properties"]["actionStates"].clone();
    assert_eq!(states[0]["status"], "Completed");
    assert_eq!(states[0]["stepStates"].as_array().map(Vec::len), Some(5));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_operation_is_an_error_where_azures_clients_look() {
    let house = House::build(1, 4).await;
    let path = format!("{}/restart?api-version=1", machine_path("rack1compute01"));
    let accepted = house.call(Method::POST, &path, "alice", "").await;
    let id = accepted.body["name"].as_str().expect("an operation has a name");
    house.call(Method::POST, &format!("/rackwright/v1/operations/{id}/cancel"), "bob", "").await;
    house.until_ended(id).await;
    let result_path = header(&accepted, "location").strip_prefix("https://localhost").expect("an absolute link").to_owned();
    let result = house.call(Method::GET, &result_path, "alice", "").await;
    assert_eq!((result.status, &result.body["error"]["code"]), (StatusCode::CONFLICT, &Value::from("OperationCanceled")));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn the_same_request_sent_twice_is_one_operation() {
    let house = House::build(1, 4).await;
    let path = format!("{}/restart?api-version=1", machine_path("rack1compute01"));
    let send = |caller: &'static str, id: &'static str| {
        let (house, path) = (&house, &path);
        async move { house.call_with(Method::POST, path, &[(CALLER, caller), ("x-ms-client-request-id", id)], "").await }
    };
    let first = send("alice", "1").await;
    let again = send("alice", "1").await;
    assert_eq!((first.status, again.status), (StatusCode::ACCEPTED, StatusCode::ACCEPTED));
    assert_eq!(first.body["name"], again.body["name"]);
    assert_eq!(header(&first, "location"), header(&again, "location"));
    assert_eq!(send("alice", "2").await.status, StatusCode::CONFLICT);
    let bob = format!("Bearer {}", house.gate.invite("bob").await);
    let of_bob = house.call_with(Method::POST, &path, &[("authorization", &bob), ("x-ms-client-request-id", "1")], "").await;
    assert_eq!(of_bob.status, StatusCode::CONFLICT);
    house.until_ended(first.body["name"].as_str().expect("an operation has a name")).await;
    assert_eq!(send("alice", "1").await.body["name"], first.body["name"], "also after it has ended");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_machine_tells_who_took_it_out_of_management_and_who_let_it_back() {
    let house = House::build(1, 4).await;
    let send = |verb: &'static str, caller: &'static str, reason: &'static str| {
        let (house, path) = (&house, format!("{}/{verb}?api-version=1", machine_path("rack1compute01")));
        async move { house.call(Method::POST, &path, caller, &format!("{{\"reason\":\"{reason}\"}}")).await.body["rackwright"].clone() }
    };
    let unmanaged = send("unmanage", "alice", "replacing a fan").await;
    assert_eq!((&unmanaged["unmanagedReason"]["by"], &unmanaged["managedAgain"]), (&Value::from("alice"), &Value::Null));
    let again = send("manage", "bob", "fan replaced").await;
    assert_eq!((&again["managed"], &again["unmanagedReason"]), (&Value::from(true), &Value::Null));
    let (by, reason) = (&again["managedAgain"]["by"], &again["managedAgain"]["reason"]);
    assert_eq!((by, reason), (&Value::from("bob"), &Value::from("fan replaced")));
    assert!(again["managedAgain"]["at"].is_string());
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn bad_input_gets_a_clear_error_and_changes_nothing() {
    let house = House::build(1, 4).await;
    let machine = machine_path("rack1compute01");
    let long = format!("{{\"reason\":\"{}\"}}", "x".repeat(300));
    let huge = "x".repeat(100_000);
    let cases: Vec<(Method, String, &str)> = vec![
        (Method::GET, machine.clone(), ""),
        (Method::GET, "/subscriptions".to_owned(), ""),
        (Method::GET, "/nowhere?api-version=1".to_owned(), ""),
        (Method::PUT, "/subscriptions?api-version=1".to_owned(), ""),
        (Method::GET, list_path("toasters", ""), ""),
        (Method::GET, list_path("bareMetalMachines", "&$top=0"), ""),
        (Method::GET, list_path("bareMetalMachines", "&$top=many"), ""),
        (Method::GET, list_path("bareMetalMachines", "&$skipToken=nowhere"), ""),
        (Method::GET, "/rackwright/v1/operations?$skipToken=site1/rack1".to_owned(), ""),
        (Method::GET, list_path("bareMetalMachines/nobody", ""), ""),
        (Method::GET, list_path("bareMetalMachines/a_b%00", ""), ""),
        (Method::GET, list_path("clusters", "").replace("site1", "elsewhere"), ""),
        (Method::GET, list_path("clusters", "").replace(SUBSCRIPTION, "nobody"), ""),
        (Method::POST, format!("{machine}/restart?api-version=1"), "{"),
        (Method::POST, format!("{machine}/restart?api-version=1"), "[]"),
        (Method::POST, format!("{machine}/restart?api-version=1"), r#"{"force":true}"#),
        (Method::POST, format!("{machine}/powerOff?api-version=1"), r#"{"skipShutdown":true}"#),
        (Method::POST, format!("{machine}/powerOff?api-version=1"), r#"{"skipShutdwon":"True"}"#),
        (Method::POST, format!("{machine}/powerOff?api-version=1&acceptControlPlaneOutage=maybe"), ""),
        (Method::POST, format!("{machine}/powerOff?api-version=1&preview=perhaps"), ""),
        (Method::POST, format!("{machine}/restart?api-version=1&preview=true"), r#"{"force":"True"}"#),
        (Method::POST, format!("{machine}/unmanage?api-version=1&preview=true"), r#"{"reason":"new fan"}"#),
        (Method::POST, format!("{machine}/cordon?api-version=1"), r#"{"force":"True"}"#),
        (Method::POST, format!("{machine}/cordon?api-version=1"), r#"{"evacuate":"True","force":true}"#),
        (Method::POST, format!("{machine}/powerOff?api-version=1"), &huge),
        (Method::POST, format!("{machine}/unmanage?api-version=1"), ""),
        (Method::POST, format!("{machine}/unmanage?api-version=1"), &long),
        (Method::POST, format!("{machine}/unmanage?api-version=1"), r#"{"reason":"a\nb"}"#),
        (Method::POST, format!("{machine}/manage?api-version=1"), r#"{"reason":"a\u001b[2Jb"}"#),
        (Method::POST, format!("{machine}/explode?api-version=1"), ""),
        (Method::GET, "/rackwright/v1/operations/00000000".to_owned(), ""),
        (Method::POST, "/rackwright/v1/operations/nobody/cancel".to_owned(), ""),
    ];
    let before = house.machine("rack1compute01").await;
    let mut table = String::new();
    for (method, path, body) in &cases {
        let reply = house.call(method.clone(), path, "mallory", body).await;
        let error = &reply.body["error"];
        let short: String = body.chars().take(30).collect();
        writeln!(
            table,
            "{method} {} {short}\n  {} {} {}",
            path.replace(SUBSCRIPTION, "S"),
            reply.status.as_u16(),
            error["code"],
            error["message"]
        )
        .expect("a string takes text");
        assert!(reply.status.is_client_error(), "{method} {path}: {}", reply.status);
        assert!(!header(&reply, "x-ms-request-id").is_empty());
    }
    assert_eq!(house.machine("rack1compute01").await, before);
    expect_file!["../stories/bad-input.golden"].assert_eq(&table);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_web_page_can_neither_act_nor_read() {
    let house = House::build(1, 4).await;
    let power_off = format!("{}/powerOff?api-version=1", machine_path("rack1compute01"));
    let headers = [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")];
    for line in headers {
        let act = house.call_with(Method::POST, &power_off, &[line, ("content-type", "text/plain")], "").await;
        let read = house.call_with(Method::GET, "/rackwright/v1/status", &[line], "").await;
        for reply in [act, read] {
            assert_eq!(
                (reply.status, &reply.body["error"]["code"]),
                (StatusCode::FORBIDDEN, &Value::from("CrossOriginRefused")),
                "{line:?}"
            );
        }
    }
    assert_eq!(house.get("/rackwright/v1/operations").await["value"], serde_json::json!([]));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn without_a_keeper_a_request_expires_and_is_never_carried_out() {
    let mut house = House::without_control_plane(1, 4).await;
    house.start_api_only().await;
    let path = format!("{}/restart?api-version=1", machine_path("rack1compute01"));
    let reply = house.call(Method::POST, &path, "alice", "").await;
    expect![[r#"503 KeeperUnavailable no keeper of cluster `site1` answered in time; the request was not carried out"#]].assert_eq(
        &format!(
            "{} {} {}",
            reply.status.as_u16(),
            reply.body["error"]["code"].as_str().unwrap_or_default(),
            reply.body["error"]["message"].as_str().unwrap_or_default()
        ),
    );
    assert_eq!(header(&reply, "retry-after"), "1");
    house.crash().await;
    house.start_control_plane().await;
    tokio::time::sleep(std::time::Duration::from_secs(600)).await;
    assert_eq!(house.get("/rackwright/v1/operations").await["value"], serde_json::json!([]));
    let counters = house.site.witness("rack1compute01").expect("the machine is there").counters();
    assert_eq!(counters.resets_requested, 0);
    house.close().await;
}
