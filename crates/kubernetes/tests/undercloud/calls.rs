//! Single calls: what is sent, and what a failure means.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::time::Duration;

use expect_test::{Expect, expect};
use fake::{Fake, Reply, list, node, refusal};
use kubernetes::{CALL_TIMEOUT, SecretData, SecretWanted, Undercloud};
use model::{EvictionAnswer, Fault, FaultClass, Grace, PodRef, Span};
use serde_json::json;
use tokio::time::Instant;

use crate::fake;

fn told(fault: &Fault) -> String {
    format!("{fault} [delivered: {:?}]", fault.delivery)
}

#[tokio::test]
async fn a_cordon_is_one_merge_patch_with_our_mark() {
    let fake = Fake::default().on("PATCH", Reply::Answer(200, node("rack1compute01", 7)));
    assert_eq!(fake.undercloud().request_cordon("rack1compute01", "restart 8f3c").await, Ok(()));
    expect![[r#"
        PATCH /api/v1/nodes/rack1compute01?&fieldManager=rackwright application/merge-patch+json {"metadata":{"annotations":{"rackwright.dev/cordoned":"restart 8f3c"}},"spec":{"unschedulable":true}}
    "#]]
    .assert_eq(&fake.take_log());
}

#[tokio::test]
async fn an_uncordon_takes_cordon_and_mark_away() {
    let fake = Fake::default().on("PATCH", Reply::Answer(200, node("rack1compute01", 7)));
    assert_eq!(fake.undercloud().request_uncordon("rack1compute01").await, Ok(()));
    expect![[r#"
        PATCH /api/v1/nodes/rack1compute01?&fieldManager=rackwright application/merge-patch+json {"metadata":{"annotations":{"rackwright.dev/cordoned":null}},"spec":{"unschedulable":null}}
    "#]]
    .assert_eq(&fake.take_log());
}

#[tokio::test]
async fn a_name_that_could_lead_elsewhere_is_not_sent() {
    let fake = Fake::default();
    let fault = fake.undercloud().request_cordon("../pods/x", "y").await.unwrap_err();
    expect!["missing: `../pods/x` cannot be the name of a node [delivered: No]"].assert_eq(&told(&fault));
    assert_eq!(fake.take_log(), "\n");
}

async fn check_cordon(reply: Reply, expected: Expect) {
    let fault = Fake::default().on("PATCH", reply).undercloud().request_cordon("n1", "x").await.unwrap_err();
    expected.assert_eq(&told(&fault));
}

#[tokio::test(start_paused = true)]
async fn a_cordon_that_fails_tells_whether_it_may_have_been_obeyed() {
    check_cordon(
        refusal(404, "nodes \"n1\" not found"),
        expect![[r#"missing: PATCH node n1 answered 404: nodes "n1" not found [delivered: No]"#]],
    )
    .await;
    check_cordon(refusal(403, "forbidden"), expect!["denied: PATCH node n1 answered 403: forbidden [delivered: No]"]).await;
    check_cordon(refusal(429, "later"), expect!["busy: PATCH node n1 answered 429: later [delivered: No]"]).await;
    check_cordon(refusal(500, "etcd"), expect!["garbled: PATCH node n1 answered 500: etcd [delivered: Maybe]"]).await;
    check_cordon(Reply::Answer(200, json!("odd")), expect!["garbled: PATCH node n1: the answer cannot be read [delivered: Maybe]"]).await;
    check_cordon(Reply::Never, expect!["unreachable: PATCH node n1: no answer in 10s [delivered: Maybe]"]).await;
    check_cordon(Reply::Break(ErrorKind::ConnectionRefused), expect!["unreachable: PATCH node n1: connection refused [delivered: No]"])
        .await;
    check_cordon(Reply::Break(ErrorKind::ConnectionReset), expect!["unreachable: PATCH node n1: connection reset [delivered: Maybe]"])
        .await;
}

#[tokio::test(start_paused = true)]
async fn contact_is_a_read_that_needs_our_credentials() {
    let fake = Fake::default().on("LIST", list(7, &[node("n1", 5)])).on("LIST", refusal(401, "Unauthorized")).on("LIST", Reply::Never);
    let undercloud = fake.undercloud();
    assert_eq!(undercloud.observe_contact().await, Ok(()));
    assert_eq!(fake.take_log(), "GET /api/v1/nodes?&limit=1\n");
    expect!["denied: GET nodes answered 401: Unauthorized [delivered: No]"]
        .assert_eq(&told(&undercloud.observe_contact().await.unwrap_err()));
    let began = Instant::now();
    expect!["unreachable: GET nodes: no answer in 10s [delivered: No]"].assert_eq(&told(&undercloud.observe_contact().await.unwrap_err()));
    assert_eq!(began.elapsed(), CALL_TIMEOUT.to_std());
}

#[tokio::test]
async fn a_broken_kubeconfig_is_refused_without_quoting_it() {
    let broken = "apiVersion: v1\nusers:\n- name: x\n  user:\n    token: [s3cret\n";
    let fault = Undercloud::from_kubeconfig(broken).await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Unsupported);
    assert!(fault.detail.starts_with("kubeconfig: "), "{fault}");
    assert!(!fault.detail.contains("s3cret"), "{fault}");
    let empty = Undercloud::from_kubeconfig("apiVersion: v1\nkind: Config\n").await.unwrap_err();
    expect!["unsupported: kubeconfig: failed to determine current context"].assert_eq(&empty.to_string());
}

fn pod_ref() -> PodRef {
    PodRef { namespace: "team".to_owned(), name: "db-0".to_owned(), uid: "u-1".to_owned() }
}

#[tokio::test]
async fn an_eviction_is_posted_with_the_uid_of_the_pod_that_is_meant() {
    let success = json!({"kind": "Status", "apiVersion": "v1", "status": "Success", "code": 201});
    let fake = Fake::default().on("POST", Reply::Answer(201, success));
    let answer = fake.undercloud().request_eviction(&pod_ref(), Grace::Within(Span::seconds(5))).await;
    assert_eq!(answer, Ok(EvictionAnswer::Accepted));
    expect![[r#"
        POST /api/v1/namespaces/team/pods/db-0/eviction?&fieldManager=rackwright application/json {"apiVersion":"policy/v1","kind":"Eviction","deleteOptions":{"gracePeriodSeconds":5,"preconditions":{"uid":"u-1"}},"metadata":{"name":"db-0","namespace":"team"}}
    "#]].assert_eq(&fake.take_log());
}

#[tokio::test(start_paused = true)]
async fn an_eviction_that_fails_tells_whether_it_may_have_been_obeyed() {
    for (reply, expected) in [
        (refusal(429, "later"), expect!["busy: eviction of pod team/db-0 answered 429: later [delivered: No]"]),
        (refusal(500, "etcd"), expect!["garbled: eviction of pod team/db-0 answered 500: etcd [delivered: Maybe]"]),
        (Reply::Never, expect!["unreachable: eviction of pod team/db-0: no answer in 10s [delivered: Maybe]"]),
        (Reply::Break(ErrorKind::ConnectionRefused), expect!["unreachable: eviction of pod team/db-0: connection refused [delivered: No]"]),
    ] {
        let fault = Fake::default().on("POST", reply).undercloud().request_eviction(&pod_ref(), Grace::Own).await.unwrap_err();
        expected.assert_eq(&told(&fault));
    }
    let elsewhere = PodRef { name: "../secrets/x".to_owned(), ..pod_ref() };
    assert_eq!(Fake::default().undercloud().request_eviction(&elsewhere, Grace::Own).await.unwrap_err().class, FaultClass::Missing);
}

fn pods_page(names: &[&str], next: &str) -> Reply {
    let pods: Vec<_> = names.iter().map(|name| json!({"metadata": {"namespace": "team", "name": name, "uid": "u"}})).collect();
    let metadata = json!({"resourceVersion": "9", "continue": next});
    Reply::Answer(200, json!({"apiVersion": "v1", "kind": "PodList", "metadata": metadata, "items": pods}))
}

#[tokio::test(start_paused = true)]
async fn the_pods_of_a_node_are_read_page_by_page_across_namespaces() {
    let fake = Fake::default().on("LIST", pods_page(&["a", "b"], "more")).on("LIST", pods_page(&["c"], "")).on("LIST", Reply::Never);
    let undercloud = fake.undercloud();
    let pods = undercloud.observe_pods("rack1compute01").await.unwrap();
    assert_eq!(pods.iter().map(|seen| seen.pod.name.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    expect![[r#"
        GET /api/v1/pods?&fieldSelector=spec.nodeName%3Drack1compute01&limit=500
        GET /api/v1/pods?&fieldSelector=spec.nodeName%3Drack1compute01&limit=500&continue=more
    "#]]
    .assert_eq(&fake.take_log());
    expect!["unreachable: GET pods of node rack1compute01: no answer in 10s [delivered: No]"]
        .assert_eq(&told(&undercloud.observe_pods("rack1compute01").await.unwrap_err()));
}

fn wanted() -> SecretWanted {
    let data = SecretData::default().with("token", "hunter2");
    SecretWanted { namespace: "kube-system".into(), name: "join".into(), kind: "Opaque".into(), labels: BTreeMap::new(), data }
}

#[tokio::test]
async fn a_secret_is_created_and_replaced_if_it_was_there() {
    let there = json!({"kind": "Status", "status": "Failure", "reason": "AlreadyExists", "code": 409});
    let stored = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "join"}});
    let fake = Fake::default().on("POST", Reply::Answer(409, there)).on("PUT", Reply::Answer(200, stored));
    assert_eq!(fake.undercloud().request_secret(&wanted()).await, Ok(()));
    expect![[r#"
        POST /api/v1/namespaces/kube-system/secrets?&fieldManager=rackwright application/json {"apiVersion":"v1","kind":"Secret","data":{"token":"aHVudGVyMg=="},"metadata":{"name":"join","namespace":"kube-system"},"type":"Opaque"}
        PUT /api/v1/namespaces/kube-system/secrets/join?&fieldManager=rackwright application/json {"apiVersion":"v1","kind":"Secret","data":{"token":"aHVudGVyMg=="},"metadata":{"name":"join","namespace":"kube-system"},"type":"Opaque"}
    "#]].assert_eq(&fake.take_log());
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_was_there_takes_no_longer_than_one_call() {
    let there = json!({"kind": "Status", "status": "Failure", "reason": "AlreadyExists", "code": 409});
    let slow = Reply::Slow(Duration::from_secs(9), Box::new(Reply::Answer(409, there)));
    let began = Instant::now();
    let fault = Fake::default().on("POST", slow).on("PUT", Reply::Never).undercloud().request_secret(&wanted()).await.unwrap_err();
    assert_eq!(began.elapsed(), CALL_TIMEOUT.to_std());
    expect!["unreachable: PUT secret kube-system/join: no answer in 10s [delivered: Maybe]"].assert_eq(&told(&fault));
}

#[tokio::test]
async fn a_refused_secret_is_not_quoted() {
    let fake = Fake::default().on("POST", refusal(422, "Secret is invalid: data: hunter2"));
    let fault = fake.undercloud().request_secret(&wanted()).await.unwrap_err();
    expect!["unsupported: POST secret kube-system/join answered 422 [delivered: No]"].assert_eq(&told(&fault));
}

#[tokio::test]
async fn what_the_server_says_is_not_there_is_nothing_and_any_other_404_is_a_fault() {
    let gone = json!({"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404});
    let fake = Fake::default().on("LIST", Reply::Answer(404, gone)).on("LIST", refusal(404, "404 page not found"));
    let undercloud = fake.undercloud();
    assert_eq!(undercloud.observe_namespace("team").await, Ok(None));
    assert_eq!(undercloud.observe_secret("team", "join").await.unwrap_err().class, FaultClass::Missing);
    assert_eq!(fake.take_log(), "GET /api/v1/namespaces/team\nGET /api/v1/namespaces/team/secrets/join\n");
}
