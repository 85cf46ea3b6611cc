//! Writing to a machine as clients do it: PATCH, PUT of what was read, ETags, two at once, and what is refused.

use std::fmt::Write;

use expect_test::expect_file;
use http::{Method, StatusCode};
use scenarios::{CALLER, House, Reply, SUBSCRIPTION, machine_path};
use serde_json::{Value, json};

const MACHINE: &str = "rack1compute01";

async fn send(house: &House, method: Method, headers: &[(&str, &str)], body: &Value) -> Reply {
    house.call_with(method, &format!("{}?api-version=2026-07-01", machine_path(MACHINE)), headers, &body.to_string()).await
}

fn etag(reply: &Reply) -> &str {
    reply.headers.get("etag").map_or("", |value| value.to_str().expect("an ETag is text"))
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_was_read_can_be_sent_back_as_a_whole() {
    let house = House::build(1, 4).await;
    let mut machine = house.machine(MACHINE).await;
    let unchanged = send(&house, Method::PUT, &[], &machine).await;
    assert_eq!((unchanged.status, etag(&unchanged)), (StatusCode::OK, "\"1\""), "{}", unchanged.body);

    machine["tags"] = json!({ "row": "7" });
    machine["properties"]["machineDetails"] = json!("slow fan");
    // What is only answered may say anything, and ids and addresses may come back in another case.
    machine["properties"]["powerState"] = json!(42);
    machine["properties"]["hardwareInventory"] = json!({ "nonsense": [] });
    machine["rackwright"]["holds"] = json!("mine");
    for field in ["rackId", "bmcMacAddress"] {
        let lower = machine["properties"][field].as_str().expect("a text").to_ascii_lowercase();
        machine["properties"][field] = json!(lower);
    }
    let written = send(&house, Method::PUT, &[(CALLER, "alice"), ("if-match", "\"1\"")], &machine).await;
    assert_eq!((written.status, etag(&written)), (StatusCode::OK, "\"2\""), "{}", written.body);
    assert_eq!(written.body["tags"], json!({ "row": "7" }));
    assert_eq!(written.body["properties"]["machineDetails"], "slow fan");
    assert_eq!(written.body["properties"]["powerState"], "On");
    assert_eq!(written.body["systemData"]["lastModifiedBy"], "alice");
    assert_eq!(house.machine(MACHINE).await, written.body);

    let bare = send(&house, Method::PUT, &[], &json!({ "properties": { "machineDetails": "bare" } })).await;
    assert_eq!((bare.status, &bare.body["tags"]), (StatusCode::OK, &json!({})), "a PUT without tags leaves none");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_patch_leaves_alone_what_it_does_not_name() {
    let house = House::build(1, 4).await;
    let first =
        send(&house, Method::PATCH, &[], &json!({ "tags": { "row": "7", "owner": "net" }, "properties": { "machineDetails": "a" } })).await;
    assert_eq!(first.status, StatusCode::OK, "{}", first.body);
    let second = send(&house, Method::PATCH, &[], &json!({ "tags": { "row": "8" } })).await;
    assert_eq!((&second.body["tags"], &second.body["properties"]["machineDetails"]), (&json!({ "row": "8" }), &json!("a")));
    let nothing = house.call(Method::PATCH, &format!("{}?api-version=1", machine_path(MACHINE)), "alice", "").await;
    assert_eq!((nothing.status, etag(&nothing)), (StatusCode::OK, "\"3\""));
    let list = house.get(&format!("/subscriptions/{SUBSCRIPTION}/providers/Microsoft.NetworkCloud/bareMetalMachines?api-version=1")).await;
    let listed = list["value"].as_array().into_iter().flatten().find(|machine| machine["name"] == MACHINE).expect("it is listed");
    assert_eq!((&listed["etag"], &listed["tags"]), (&json!("\"3\""), &json!({ "row": "8" })));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn of_a_hundred_who_write_the_same_edition_at_once_one_wins() {
    let house = House::build(1, 4).await;
    let bodies: Vec<Value> = (0..100).map(|n| json!({ "tags": { "winner": n.to_string() } })).collect();
    let writers = bodies.iter().map(|body| send(&house, Method::PATCH, &[("if-match", "\"1\"")], body));
    let replies = futures::future::join_all(writers).await;
    let (won, lost): (Vec<&Reply>, Vec<&Reply>) = replies.iter().partition(|reply| reply.status == StatusCode::OK);
    assert_eq!((won.len(), lost.len()), (1, 99));
    assert!(
        lost.iter().all(|reply| reply.status == StatusCode::PRECONDITION_FAILED && reply.body["error"]["code"] == "PreconditionFailed")
    );
    let machine = house.machine(MACHINE).await;
    assert_eq!((&machine["etag"], &machine["tags"]), (&json!("\"2\""), &won[0].body["tags"]));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn of_several_etags_one_must_be_the_machines() {
    let house = House::build(1, 4).await;
    let write = |header: &'static str, tags: &'static str, row: &'static str| {
        let house = &house;
        async move { send(house, Method::PATCH, &[(header, tags)], &json!({ "tags": { "row": row } })).await }
    };
    assert_eq!(etag(&write("if-match", "\"1\", \"9\"", "7").await), "\"2\"");
    assert_eq!(etag(&write("if-match", "\"1\", \"2\"", "8").await), "\"3\"");
    assert_eq!(write("if-match", "\"1\", \"2\"", "9").await.status, StatusCode::PRECONDITION_FAILED);
    assert_eq!(etag(&write("if-none-match", "\"1\", W/\"2\"", "9").await), "\"4\"");
    assert_eq!(write("if-none-match", "\"3\", W/\"4\"", "10").await.status, StatusCode::PRECONDITION_FAILED);
    assert_eq!(house.machine(MACHINE).await["tags"], json!({ "row": "9" }));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn the_same_write_sent_twice_is_done_once() {
    let house = House::build(1, 4).await;
    let headers = [("x-ms-client-request-id", "1"), ("if-match", "\"1\"")];
    for _ in 0..2 {
        let reply = send(&house, Method::PATCH, &headers, &json!({ "tags": { "row": "7" } })).await;
        assert_eq!((reply.status, etag(&reply)), (StatusCode::OK, "\"2\""), "{}", reply.body);
    }
    let other = send(&house, Method::PATCH, &headers, &json!({ "tags": { "row": "8" } })).await;
    assert_eq!(other.status, StatusCode::PRECONDITION_FAILED, "the id is the same, but not the request");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_write_after_a_failure_says_that_all_is_well_again() {
    let house = House::build(1, 4).await;
    let restart = house.call(Method::POST, &format!("{}/restart?api-version=1", machine_path(MACHINE)), "alice", "").await;
    let id = restart.body["name"].as_str().expect("an operation has a name");
    house.call(Method::POST, &format!("/rackwright/v1/operations/{id}/cancel"), "alice", "").await;
    house.until_ended(id).await;
    assert_eq!(house.machine(MACHINE).await["properties"]["provisioningState"], "Canceled");
    send(&house, Method::PATCH, &[], &json!({})).await;
    assert_eq!(house.machine(MACHINE).await["properties"]["provisioningState"], "Canceled", "nothing was written");
    send(&house, Method::PATCH, &[], &json!({ "tags": { "row": "7" } })).await;
    let written = house.machine(MACHINE).await;
    assert_eq!(written["properties"]["provisioningState"], "Succeeded");
    assert_eq!(written["properties"]["actionStates"][0]["result"], "Canceled");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_write_is_done_though_an_action_is_at_work_on_the_machine() {
    let house = House::build(1, 4).await;
    house.call(Method::POST, &format!("{}/restart?api-version=1", machine_path(MACHINE)), "alice", "").await;
    let written = send(&house, Method::PATCH, &[], &json!({ "tags": { "row": "7" } })).await;
    assert_eq!(written.body["properties"]["provisioningState"], "Succeeded", "Azure's clients wait for the action if it says otherwise");
    assert_eq!(house.machine(MACHINE).await["properties"]["provisioningState"], "Provisioning");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_written_is_named_and_changes_nothing() {
    let house = House::build(1, 4).await;
    let machine = machine_path(MACHINE);
    let patch = |body: Value| (Method::PATCH, machine.clone(), "", body.to_string());
    let matching = |header: &'static str| (Method::PATCH, machine.clone(), header, json!({ "tags": { "row": "7" } }).to_string());
    let many: Value = (0..51).map(|n| (format!("t{n}"), json!(""))).collect::<serde_json::Map<_, _>>().into();
    let rack = machine.replace("bareMetalMachines/rack1compute01", "racks/rack1");
    let cases: Vec<(Method, String, &str, String)> = vec![
        patch(json!([])),
        patch(json!("text")),
        (Method::PATCH, machine.clone(), "", "{".to_owned()),
        patch(json!({ "tagz": {} })),
        patch(json!({ "properties": { "machineDetials": "x" } })),
        patch(json!({ "Properties": {} })),
        patch(json!({ "properties": [] })),
        patch(json!({ "properties": { "rackSlot": "9" } })),
        patch(json!({ "properties": { "rackSlot": 9 } })),
        patch(json!({ "properties": { "serialNumber": "X" } })),
        patch(json!({ "properties": { "bmcCredentials": { "username": "root", "password": "calvin" } } })),
        patch(json!({ "location": "elsewhere" })),
        patch(json!({ "extendedLocation": { "nmae": "x" } })),
        patch(json!({ "tags": [] })),
        patch(json!({ "tags": { "row": 7 } })),
        patch(json!({ "tags": { "row": null } })),
        patch(json!({ "tags": { "": "x" } })),
        patch(json!({ "tags": { "a/b": "x" } })),
        patch(json!({ "tags": { "a\u{1b}[2J": "x" } })),
        patch(json!({ "tags": { "Row": "7", "row": "8" } })),
        patch(json!({ "tags": { "x".repeat(513): "" } })),
        patch(json!({ "tags": { "x": "x".repeat(257) } })),
        patch(json!({ "tags": many })),
        patch(json!({ "properties": { "machineDetails": 7 } })),
        patch(json!({ "properties": { "machineDetails": "x".repeat(257) } })),
        patch(json!({ "properties": { "machineDetails": "a\nb" } })),
        matching("if-match: \"9\""),
        matching("if-match: W/\"1\""),
        matching("if-match: 1"),
        matching("if-none-match: *"),
        matching("if-none-match: W/\"1\""),
        (Method::PUT, machine.clone(), "", json!({ "tags": {} }).to_string()),
        (Method::PUT, machine.clone(), "", String::new()),
        (Method::PUT, machine.replace(MACHINE, "nobody"), "", json!({ "properties": { "machineDetails": "" } }).to_string()),
        (Method::PATCH, machine.replace(MACHINE, "nobody"), "", "{}".to_owned()),
        (Method::DELETE, machine.clone(), "", String::new()),
        (Method::DELETE, machine.replace(MACHINE, "nobody"), "", String::new()),
        (Method::PATCH, rack, "", json!({ "tags": { "row": "7" } }).to_string()),
    ];
    let before = house.machine(MACHINE).await;
    let mut table = String::new();
    for (method, path, header, body) in &cases {
        let headers: Vec<(&str, &str)> = header.split_once(": ").into_iter().collect();
        let reply = house.call_with(method.clone(), &format!("{path}?api-version=1"), &headers, body).await;
        let name = path.rsplit('/').next().unwrap_or_default();
        let short: String = body.chars().take(60).collect();
        let error = &reply.body["error"];
        writeln!(table, "{method} {name} {header} {short}\n  {} {} {}", reply.status.as_u16(), error["code"], error["message"])
            .expect("a string takes text");
        assert!(reply.status.is_client_error(), "{method} {path} {body}: {}", reply.status);
        assert!(!reply.body.to_string().contains("calvin"), "a secret is not repeated");
    }
    assert_eq!(house.machine(MACHINE).await, before);
    expect_file!["../stories/bad-writes.golden"].assert_eq(&table);
    house.close().await;
}
