//! Which refusals get into the log, and that they cannot flood it.

use http::{Method, StatusCode};
use serde_json::Value;
use store::{LogQuery, RecordPlace};

use super::*;
use crate::fixtures::{Documents, NOW, cluster, machine, operation, send, send_with};

const MACHINES: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines";

async fn service() -> Api {
    let begin = model::Timestamp::parse(NOW).unwrap();
    let documents = Documents::default().cluster(&cluster("site1")).machine(&machine("site1", "rack1", "m1"));
    documents.operation(&operation("8f3c1a2b", "site1", "m1", begin)).serve().await
}

async fn log(api: &Api) -> Vec<Activity> {
    let records = api.store.read_log(LogQuery { limit: 1_000, ..LogQuery::default() }).await.unwrap();
    records.iter().map(|record| serde_json::from_slice(&record.value).unwrap()).collect()
}

/// Waits until nothing is on its way any more.
async fn arrived(api: &Api) {
    while !api.rejections.desk.is_idle() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_is_refused_of_a_known_machine_is_in_the_log() {
    let api = service().await;
    let cases = [
        (format!("{MACHINES}/M1/restart?api-version=1"), r#"{"colour":"red"}"#, "InvalidRequestContent", "restart"),
        (format!("{MACHINES}/m1/fly?api-version=1"), "", "InvalidAction", "fly"),
        (format!("{MACHINES}/m1/start"), "", "MissingApiVersionParameter", "start"),
        (format!("{MACHINES}/m1/cordon?api-version=1"), &"x".repeat(crate::BODY_MAX + 1), "RequestBodyTooLarge", "cordon"),
    ];
    for (n, (path, body, code, verb)) in cases.into_iter().enumerate() {
        let (_, answer) = send(&api, Method::POST, &path, body).await;
        assert_eq!(answer["error"]["code"], code);
        arrived(&api).await;
        let log = log(&api).await;
        assert_eq!(log.len(), n + 1, "{code}");
        assert_eq!(log[0].what, ActivityKind::request(verb, Some(&Sent { method: "POST".into(), client_request_id: None })));
        assert_eq!(log[0].error.as_ref().map(|error| serde_json::to_value(error).unwrap()["code"].clone()), Some(Value::from(code)));
        assert_eq!((log[0].status, log[0].caller.as_str()), (ActivityStatus::Failed, "anonymous"));
    }
}

#[tokio::test]
async fn only_what_can_be_previewed_is_left_out_of_the_log_for_being_a_preview() {
    let api = service().await;
    let key_set = MACHINES.replace("bareMetalMachines", "clusters/site1/bmcKeySets/k1");
    let changes = [
        (Method::PATCH, format!("{MACHINES}/m1?api-version=1&preview=true"), "InvalidRequestContent"),
        (Method::PUT, format!("{key_set}?api-version=1&preview=true"), "InvalidRequestContent"),
        (Method::DELETE, format!("{MACHINES}/m1?preview=true"), "MissingApiVersionParameter"),
    ];
    for (n, (method, path, code)) in changes.into_iter().enumerate() {
        let (_, answer) = send(&api, method, &path, r#"{"colour":"red"}"#).await;
        assert_eq!(answer["error"]["code"], code, "{path}");
        arrived(&api).await;
        assert_eq!(log(&api).await.len(), n + 1, "{path}");
    }
    let (_, answer) = send(&api, Method::POST, &format!("{MACHINES}/m1/restart?api-version=1&preview=true"), r#"{"colour":"red"}"#).await;
    assert_eq!(answer["error"]["code"], "InvalidRequestContent");
    arrived(&api).await;
    assert_eq!(log(&api).await.len(), 3, "a preview changes nothing");
}

#[tokio::test]
async fn a_precondition_of_an_action_that_fails_before_a_keeper_sees_it_is_in_the_log_as_it_was_answered() {
    let api = service().await;
    let cases = [
        (Method::POST, "if-match", "\"99\"", "m1/cordon?api-version=1", "cordon"),
        (Method::POST, "if-none-match", "\"1\"", "m1/restart?api-version=1", "restart"),
    ];
    for (n, (method, header, tag, path, verb)) in cases.into_iter().enumerate() {
        let headers = [(header, tag), ("x-ms-client-request-id", "r1")];
        let (status, answer) = send_with(&api, method.clone(), &format!("{MACHINES}/{path}"), "{}", &headers).await;
        assert_eq!((status, &answer["error"]["code"]), (StatusCode::PRECONDITION_FAILED, &Value::from("PreconditionFailed")), "{answer}");
        arrived(&api).await;
        let log = log(&api).await;
        assert_eq!(log.len(), n + 1, "{verb} with {header}: {tag}");
        let sent = Sent { method: method.to_string(), client_request_id: Some("r1".into()) };
        assert_eq!(log[0].what, ActivityKind::request(verb, Some(&sent)));
        let Some(model::ActivityError::Refused { refusal }) = &log[0].error else { panic!("a rule spoke against it") };
        assert_eq!(refusal.rule, model::Rule::PreconditionFailed);
    }
    assert_eq!(api.store.list(model::keys::REQUESTS).await.unwrap().documents, [], "no keeper was asked");
}

#[tokio::test]
async fn a_machine_that_nobody_has_is_told_of_the_only_cluster_that_it_can_be_of() {
    let path = format!("{MACHINES}/m9/restart?api-version=1");
    let api = service().await;
    assert_eq!(send(&api, Method::POST, &path, "").await.0, StatusCode::NOT_FOUND);
    arrived(&api).await;
    let told = log(&api).await;
    assert_eq!((told.len(), &told[0].subject.part, told[0].message.as_str()), (1, &Part::Cluster, "restart of `m9` was not taken up"));

    let two = Documents::default().cluster(&cluster("site1")).cluster(&cluster("site2")).serve().await;
    assert_eq!(send(&two, Method::POST, &path, "").await.0, StatusCode::NOT_FOUND);
    arrived(&two).await;
    assert_eq!(log(&two).await, []);
}

#[tokio::test]
async fn what_is_nobodys_and_what_is_only_read_is_not() {
    let api = service().await;
    for (method, path) in [
        (Method::POST, format!("{}/m1/restart?api-version=1", MACHINES.replace("g1", "g2"))),
        (Method::POST, "/rackwright/v1/operations/ffff/cancel".to_owned()),
        (Method::POST, "/nowhere".to_owned()),
        (Method::GET, format!("{MACHINES}/m1")),
    ] {
        let (status, _) = send(&api, method, &path, "").await;
        assert!(status.is_client_error());
    }
    arrived(&api).await;
    assert_eq!(log(&api).await, []);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_taken_back_says_so_in_the_same_commit() {
    let api = service().await;
    let before = api.store.list("").await.unwrap().revision;
    for (path, operation) in
        [(format!("{MACHINES}/m1/restart?api-version=1"), false), ("/rackwright/v1/operations/8f3c/cancel".to_owned(), true)]
    {
        let (status, body) = send(&api, Method::POST, &path, "").await;
        assert_eq!((status, &body["error"]["code"]), (StatusCode::SERVICE_UNAVAILABLE, &Value::from("KeeperUnavailable")));
        arrived(&api).await;
        let log = log(&api).await;
        assert_eq!(log[0].subject.part, Part::Machine(model::MachineName::new("m1").unwrap()));
        assert_eq!(log[0].operation.is_some(), operation);
    }
    let places: Vec<RecordPlace> =
        api.store.read_log(LogQuery { limit: 9, ..LogQuery::default() }).await.unwrap().iter().map(|record| record.place).collect();
    let place = |commits: u64| RecordPlace { revision: store::Revision(before.0 + commits), position: 0 };
    assert_eq!(places, [place(4), place(2)], "each request was filed, and taken back with its entry, in two commits");
}

#[tokio::test]
async fn what_is_in_the_log_is_not_written_again() {
    let api = service().await;
    let request = http::Request::post("/").body(axum::body::Body::empty()).unwrap();
    let (call, _) = Call::begin(request);
    let concern = Concern::Operation { id: "8f3c".into(), verb: "cancel" };
    api.rejections.note(&api, &call, &concern, &Refused::bad_content("no").in_log());
    arrived(&api).await;
    assert_eq!(log(&api).await, []);
    api.rejections.note(&api, &call, &concern, &Refused::bad_content("no"));
    arrived(&api).await;
    assert_eq!(log(&api).await.len(), 1);
}

#[tokio::test]
async fn what_a_web_page_sends_is_not_in_the_log() {
    let api = service().await;
    for header in [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")] {
        let (status, _) = send_with(&api, Method::POST, &format!("{MACHINES}/m1/fly?api-version=1"), "", &[header]).await;
        assert_eq!(status, StatusCode::FORBIDDEN);
    }
    arrived(&api).await;
    assert_eq!((log(&api).await, api.rejections.dropped()), (vec![], 0));
}
