//! Tenant clusters: how they are entered, what they tell, and what is asked of them.

use std::io::ErrorKind;
use std::pin::pin;

use expect_test::expect;
use fake::{End, Fake, Reply, list, node, refusal};
use futures::StreamExt;
use kubernetes::{Door, InProcessDoor, InsideEvent, MOST_BUDGETS, MOST_NODES, MOST_PODS, NetworkDoor};
use model::{Grace, PodRef, Span};
use serde_json::{Value, json};
use tokio::time::{Duration, timeout};

use crate::fake;

fn kubeconfig(user: &str) -> String {
    format!(
        "apiVersion: v1
kind: Config
current-context: t
clusters: [{{name: t, cluster: {{server: 'https://naks-01.tenant.invalid:6443'}}}}]
users: [{{name: t, user: {user}}}]
contexts: [{{name: t, context: {{cluster: t, user: t}}}}]
"
    )
}

fn pod() -> PodRef {
    PodRef { namespace: "team".to_owned(), name: "db-0".to_owned(), uid: "u-1".to_owned() }
}

async fn told(count: usize, fake: &Fake) -> Vec<String> {
    let cluster = fake.tenant_cluster();
    let mut events = pin!(cluster.watch());
    let mut told = Vec::new();
    while told.len() < count {
        told.push(match timeout(Duration::from_secs(3_600), events.next()).await.expect("the watch has more to say").unwrap() {
            InsideEvent::Nodes(nodes) => format!("{} nodes", nodes.len()),
            InsideEvent::Pods(pods) => format!("{} pods", pods.len()),
            InsideEvent::Budgets(budgets) => format!("{} budgets", budgets.len()),
            InsideEvent::Heard => "heard".to_owned(),
            InsideEvent::Lost(fault) => format!("lost: {fault}"),
            other => format!("{other:?}"),
        });
    }
    told
}

#[tokio::test(start_paused = true)]
async fn nodes_pods_and_budgets_come_in_one_stream_which_is_whole_only_when_each_is() {
    let fake = Fake::default()
        .on("LIST /api/v1/nodes", list(1, &[node("n1", 1)]))
        .on("LIST /api/v1/pods", Reply::Break(ErrorKind::ConnectionRefused))
        .on("LIST /api/v1/pods", list(1, &[]))
        .on("LIST /apis/policy/v1/poddisruptionbudgets", list(1, &[]))
        .on("WATCH", Reply::Stream(vec![], End::FallSilent));
    let mut told = told(5, &fake).await;
    told[..3].sort();
    let expected = ["0 budgets", "1 nodes", "lost: unreachable: GET pods: connection refused", "0 pods", "heard"];
    assert_eq!(told, expected, "while the pods are not heard of, what is heard of the others is no sign of health");
}

#[tokio::test(start_paused = true)]
async fn more_of_a_kind_than_are_kept_are_a_fault_that_says_how_many() {
    let object = |number: i32| json!({"metadata": {"namespace": "a", "name": format!("o{number}"), "uid": "u"}, "spec": {}});
    let objects: Vec<Value> = (0..500).map(object).collect();
    let page = Reply::Answer(200, json!({"metadata": {"resourceVersion": "1", "continue": "more"}, "items": objects}));
    for (path, lost) in [
        ("/api/v1/pods", format!("lost: unsupported: GET pods: there are more than {MOST_PODS} of them")),
        ("/api/v1/nodes", format!("lost: unsupported: GET nodes: there are more than {MOST_NODES} of them")),
        (
            "/apis/policy/v1/poddisruptionbudgets",
            format!("lost: unsupported: GET poddisruptionbudgets: there are more than {MOST_BUDGETS} of them"),
        ),
    ] {
        let fake = Fake::default()
            .on(&format!("LIST {path}"), page.clone())
            .on("LIST", list(1, &[]))
            .on("WATCH", Reply::Stream(vec![], End::FallSilent));
        let told = told(10, &fake).await;
        let since = told.iter().position(|told| *told == lost).unwrap_or_else(|| panic!("{told:?}"));
        assert!(!told[since..].contains(&"heard".to_owned()), "{told:?}");
    }
}

#[tokio::test]
async fn a_pod_is_ended_by_its_uid_and_has_ended_when_it_is_gone() {
    let gone =
        json!({"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404, "details": {"kind": "pods", "name": "db-0"}});
    let another = "Precondition failed: UID in precondition: u-1, UID in object meta: u-2";
    let fake = Fake::default()
        .on("DELETE", Reply::Answer(200, json!({"metadata": {"name": "db-0"}})))
        .on("DELETE", Reply::Answer(404, gone))
        .on("DELETE", refusal(409, another))
        .on("DELETE", refusal(404, "404 page not found"));
    let cluster = fake.tenant_cluster();
    assert_eq!(cluster.request_pod_end(&pod(), Grace::Within(Span::seconds(0))).await, Ok(()));
    expect![[r#"
        DELETE /api/v1/namespaces/team/pods/db-0? application/json {"gracePeriodSeconds":1,"preconditions":{"uid":"u-1"}}
    "#]]
    .assert_eq(&fake.take_log());
    assert_eq!(cluster.request_pod_end(&pod(), Grace::Own).await, Ok(()));
    assert_eq!(cluster.request_pod_end(&pod(), Grace::Own).await, Ok(()));
    expect!["missing: DELETE pod team/db-0 answered 404: 404 page not found"]
        .assert_eq(&cluster.request_pod_end(&pod(), Grace::Own).await.unwrap_err().to_string());
}

#[tokio::test]
async fn the_out_of_service_taint_is_patched_against_the_version_that_was_read() {
    let found = json!({"metadata": {"name": "n1", "resourceVersion": "7"}, "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}});
    let fake = Fake::default().on("LIST", Reply::Answer(200, found)).on("PATCH", Reply::Answer(200, node("n1", 8)));
    let cluster = fake.tenant_cluster();
    assert_eq!(cluster.request_in_service("n1").await, Ok(()));
    assert_eq!(cluster.request_out_of_service("n1").await, Ok(()));
    expect![[r#"
        GET /api/v1/nodes/n1
        GET /api/v1/nodes/n1
        PATCH /api/v1/nodes/n1?&fieldManager=rackwright application/merge-patch+json {"spec":{"taints":[{"effect":"NoSchedule","key":"a"},{"effect":"NoExecute","key":"node.kubernetes.io/out-of-service","value":"nodeshutdown"}]},"metadata":{"resourceVersion":"7"}}
    "#]]
    .assert_eq(&fake.take_log());
}

fn node_as(spec: &Value, annotations: &Value) -> Reply {
    Reply::Answer(200, json!({"metadata": {"name": "n1", "resourceVersion": "7", "annotations": annotations}, "spec": spec}))
}

#[tokio::test]
async fn a_cordon_is_patched_against_the_version_that_was_read_and_marked_as_ours() {
    let fake = Fake::default().on("LIST", node_as(&json!({}), &Value::Null)).on("PATCH", Reply::Answer(200, node("n1", 8)));
    assert_eq!(fake.tenant_cluster().request_cordon("n1", "evacuation").await, Ok(()));
    expect![[r#"
        GET /api/v1/nodes/n1
        PATCH /api/v1/nodes/n1?&fieldManager=rackwright application/merge-patch+json {"metadata":{"annotations":{"rackwright.dev/cordoned":"evacuation"},"resourceVersion":"7"},"spec":{"unschedulable":true}}
    "#]].assert_eq(&fake.take_log());
    let conflict = "Operation cannot be fulfilled on nodes \"n1\": the object has been modified";
    let fake = Fake::default().on("LIST", node_as(&json!({}), &Value::Null)).on("PATCH", refusal(409, conflict));
    let fault = fake.tenant_cluster().request_cordon("n1", "evacuation").await.unwrap_err();
    expect![[
        r#"busy: PATCH node n1 answered 409: Operation cannot be fulfilled on nodes "n1": the object has been modified [delivered: No]"#
    ]]
    .assert_eq(&format!("{fault} [delivered: {:?}]", fault.delivery));
}

#[tokio::test]
async fn what_somebody_else_has_cordoned_is_neither_taken_for_ours_nor_uncordoned() {
    let cordoned = json!({"unschedulable": true});
    let fake = Fake::default().on("LIST", node_as(&cordoned, &Value::Null)).on("PATCH", Reply::Answer(200, node("n1", 8)));
    assert_eq!(fake.tenant_cluster().request_cordon("n1", "evacuation").await, Ok(()));
    assert_eq!(fake.tenant_cluster().request_uncordon("n1").await, Ok(()));
    assert!(!fake.take_log().contains("PATCH"));
    let ours = json!({"rackwright.dev/cordoned": "evacuation"});
    let fake = Fake::default().on("LIST", node_as(&cordoned, &ours)).on("PATCH", Reply::Answer(200, node("n1", 8)));
    assert_eq!(fake.tenant_cluster().request_cordon("n1", "evacuation").await, Ok(()), "asking twice is the same as asking once");
    assert_eq!(fake.tenant_cluster().request_uncordon("n1").await, Ok(()));
    expect![[r#"
        GET /api/v1/nodes/n1
        GET /api/v1/nodes/n1
        PATCH /api/v1/nodes/n1?&fieldManager=rackwright application/merge-patch+json {"metadata":{"annotations":{"rackwright.dev/cordoned":null},"resourceVersion":"7"},"spec":{"unschedulable":null}}
    "#]].assert_eq(&fake.take_log());
}

#[tokio::test]
async fn a_door_leads_to_the_host_of_the_kubeconfig_with_its_token() {
    let door = InProcessDoor::new(|host: &str| {
        (host == "naks-01.tenant.invalid").then(|| {
            tower::service_fn(|request: http::Request<kube::client::Body>| async move {
                let token = request.headers().get("authorization").map(|value| value.to_str().unwrap().to_owned());
                let (code, body) =
                    if token.as_deref() == Some("Bearer s3cret") { (200, node("n1", 1)) } else { (401, fake::status(401, "Unauthorized")) };
                Ok::<_, std::io::Error>(
                    http::Response::builder().status(code).body(http_body_util::Full::new(bytes::Bytes::from(body.to_string()))).unwrap(),
                )
            })
        })
    });
    let open = async |user: &str| door.open(&kubeconfig(user)).await.unwrap().request_uncordon("n1").await;
    assert_eq!(open("{token: s3cret}").await, Ok(()));
    expect!["denied: PATCH node n1 answered 401: Unauthorized"].assert_eq(&open("{token: old}").await.unwrap_err().to_string());
    let elsewhere = kubeconfig("{token: x}").replace("naks-01", "naks-02");
    expect!["unreachable: kubeconfig: nobody listens at `naks-02.tenant.invalid`"]
        .assert_eq(&door.open(&elsewhere).await.unwrap_err().to_string());
}

#[tokio::test]
async fn a_tenants_kubeconfig_cannot_make_us_run_programs_or_read_our_files() {
    for user in
        ["{exec: {apiVersion: client.authentication.k8s.io/v1, command: id}}", "{tokenFile: /etc/passwd}", "{client-key: /etc/passwd}"]
    {
        let fault = NetworkDoor.open(&kubeconfig(user)).await.unwrap_err();
        expect!["unsupported: kubeconfig: it names a program or a file; only what it holds itself is used"].assert_eq(&fault.to_string());
    }
    assert!(NetworkDoor.open(&kubeconfig("{token: x}")).await.is_ok());
}
