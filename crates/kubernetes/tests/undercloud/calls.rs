//! Single calls: what is sent, and what a failure means.

use std::io::ErrorKind;

use expect_test::{Expect, expect};
use fake::{Fake, Reply, list, node, refusal};
use kubernetes::{CALL_TIMEOUT, Undercloud};
use model::{Fault, FaultClass};
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
