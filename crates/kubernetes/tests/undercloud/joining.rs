//! Bootstrap tokens: what is sent, that it is harmless to repeat, and that nothing of the secret is told.

use expect_test::expect;
use fake::{Fake, Reply, refusal};
use k8s_openapi::ByteString;
use kubernetes::JoinToken;
use model::{Fault, FaultClass, Timestamp};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::fake;

const SECRETS: &str = "/api/v1/namespaces/kube-system/secrets";

fn token() -> JoinToken {
    JoinToken {
        id: "abc234".to_owned(),
        secret: Zeroizing::new("qwertyuiopasdfgh".to_owned()),
        description: "Rackwright: rack1compute01 joins, operation 8f3c".to_owned(),
        expires_at: Timestamp::parse("2026-11-16T04:00:00Z").unwrap(),
    }
}

fn made() -> Reply {
    Reply::Answer(201, json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bootstrap-token-abc234"}}))
}

fn conflict() -> Reply {
    let status =
        json!({"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 409, "reason": "AlreadyExists", "message": "it exists"});
    Reply::Answer(409, status)
}

/// The entries of the secret that was sent, decoded.
fn entries(line: &str) -> String {
    let body: Value = serde_json::from_str(&line[line.find('{').unwrap()..]).unwrap();
    let decoded = |value: &Value| String::from_utf8(serde_json::from_value::<ByteString>(value.clone()).unwrap().0).unwrap();
    let data = body["data"].as_object().unwrap();
    let entries: String = data.iter().map(|(key, value)| format!("{key}: {}\n", decoded(value))).collect();
    format!("{} {}\n{entries}", body["type"].as_str().unwrap(), body["metadata"]["name"].as_str().unwrap())
}

#[tokio::test]
async fn a_token_is_what_kubernetes_and_kubeadm_look_for() {
    let fake = Fake::default().on(&format!("POST {SECRETS}"), made());
    assert_eq!(fake.undercloud().request_join_token(&token()).await, Ok(()));
    expect![[r#"
        bootstrap.kubernetes.io/token bootstrap-token-abc234
        auth-extra-groups: system:bootstrappers:kubeadm:default-node-token
        description: Rackwright: rack1compute01 joins, operation 8f3c
        expiration: 2026-11-16T04:00:00.000Z
        token-id: abc234
        token-secret: qwertyuiopasdfgh
        usage-bootstrap-authentication: true
        usage-bootstrap-signing: true
    "#]]
    .assert_eq(&entries(&fake.take_log()));
}

#[tokio::test]
async fn one_that_is_there_is_made_anew_with_the_later_end() {
    let put = format!("PUT {SECRETS}/bootstrap-token-abc234");
    let fake = Fake::default().on(&format!("POST {SECRETS}"), conflict()).on(&put, made());
    assert_eq!(fake.undercloud().request_join_token(&token()).await, Ok(()));
    assert!(fake.take_log().lines().any(|line| line.starts_with(&put)));
}

#[tokio::test]
async fn an_end_that_has_come_is_what_was_asked_for() {
    let delete = format!("DELETE {SECRETS}/bootstrap-token-abc234");
    let gone = Fake::default().on(&delete, refusal(404, "secrets \"bootstrap-token-abc234\" not found"));
    assert_eq!(gone.undercloud().request_join_token_end("abc234").await, Ok(()));
    let there = Fake::default().on(&delete, made());
    assert_eq!(there.undercloud().request_join_token_end("abc234").await, Ok(()));
    expect![[r#"
        DELETE /api/v1/namespaces/kube-system/secrets/bootstrap-token-abc234? application/json {}
    "#]]
    .assert_eq(&there.take_log());
}

#[tokio::test]
async fn a_refusal_is_told_without_the_secret() {
    let forbidden = || refusal(403, "cannot create secret qwertyuiopasdfgh");
    let fake = Fake::default().on(&format!("POST {SECRETS}"), forbidden());
    let fault: Fault = fake.undercloud().request_join_token(&token()).await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Denied);
    assert!(!fault.to_string().contains("qwerty"), "{fault}");
    assert!(!format!("{:?}", token()).contains("qwerty"));
}
