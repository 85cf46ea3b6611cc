//! Which member a call is put to, and when it is put to another.

use std::time::Duration;

use etcd::{ANSWER_TIMEOUT, CALL_TIMEOUT};
use model::{Delivery, FaultClass};
use tokio::time::Instant;

use crate::fake::{ADD, Fake, LIST, REMOVE, STATUS, Says, refusal, status};

const ID: &str = "5";

fn asked(fake: &Fake, path: &str) -> Vec<String> {
    fake.heard().into_iter().filter(|asked| asked.contains(path)).map(|asked| asked[..1].to_owned()).collect()
}

#[tokio::test]
async fn a_member_that_is_away_or_learns_is_passed_over_and_the_one_that_answered_is_asked_first_afterwards() {
    let fake = Fake::default();
    fake.say("b", STATUS, status("3.5.1", 2, 1, 5)).say("b", LIST, refusal(503, 14, "etcdserver: rpc not supported for learner"));
    let cluster = fake.live("c").cluster(&["a", "b", "c"]);
    assert_eq!(cluster.observe_members().await.unwrap().members.len(), 3);
    assert_eq!(asked(&fake, STATUS), ["a", "b", "c"]);
    cluster.observe_members().await.unwrap();
    assert_eq!(asked(&fake, STATUS), ["c"]);
    fake.say("c", STATUS, Says::Refused).live("a");
    cluster.observe_members().await.unwrap();
    assert_eq!(asked(&fake, STATUS), ["c", "a"], "and again from there");
}

#[tokio::test]
async fn a_change_that_may_have_been_heard_is_put_to_no_other_member() {
    let fake = Fake::default();
    fake.say("b", REMOVE, Says::Lost).say("c", REMOVE, Says::Answer(200, "{}".into()));
    let fault = fake.cluster(&["a", "b", "c"]).request_member_remove(ID).await.unwrap_err();
    assert_eq!((fault.class, fault.delivery), (FaultClass::Unreachable, Delivery::Maybe));
    assert_eq!(asked(&fake, REMOVE), ["a", "b"]);
    fake.say("b", REMOVE, Says::Refused);
    assert_eq!(fake.cluster(&["a", "b", "c"]).request_member_remove(ID).await, Ok(()));
    assert_eq!(asked(&fake, REMOVE), ["a", "b", "c"]);
}

#[tokio::test]
async fn what_the_cluster_refuses_is_refused_by_all_of_it() {
    let fake = Fake::default();
    fake.say("a", ADD, refusal(503, 14, "etcdserver: unhealthy cluster")).say("b", ADD, Says::Answer(200, "{}".into()));
    let fault = fake.cluster(&["a", "b"]).request_learner_add("https://10.1.0.4:2380").await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Busy);
    assert_eq!(asked(&fake, ADD), ["a"]);
}

#[tokio::test]
async fn the_one_that_answered_says_more_than_those_that_did_not() {
    let fake = Fake::default();
    fake.say("b", STATUS, status("3.5.1", 2, 1, 5)).say("b", LIST, refusal(503, 14, "etcdserver: request timed out"));
    let fault = fake.cluster(&["a", "b", "c"]).observe_members().await.unwrap_err();
    assert!(fault.detail.ends_with("at b:2379 answered 503: etcdserver: request timed out"), "{fault}");
    let nobody = fake.cluster(&["a", "c"]).observe_members().await.unwrap_err();
    assert_eq!(nobody.to_string(), "unreachable: POST /v3/maintenance/status at a:2379: no connection (connection refused)");
    let none = fake.cluster(&[]).observe_members().await.unwrap_err();
    assert_eq!(none.to_string(), "missing: no endpoint of etcd is configured");
}

#[tokio::test(start_paused = true)]
async fn silent_members_take_no_longer_than_a_call_may() {
    let fake = Fake::default();
    let hosts = ["a", "b", "c", "d", "e"];
    for host in hosts {
        fake.say(host, STATUS, Says::Nothing);
    }
    let began = Instant::now();
    let fault = fake.cluster(&hosts).observe_members().await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Unreachable);
    assert_eq!(began.elapsed(), CALL_TIMEOUT.to_std());
    let began = Instant::now();
    let statuses = fake.cluster(&hosts).observe_statuses().await;
    assert!(statuses.is_empty());
    assert_eq!(began.elapsed(), ANSWER_TIMEOUT.to_std(), "all are asked at once");
    assert!(ANSWER_TIMEOUT.to_std() > Duration::from_secs(7), "etcd itself says after seven seconds that it has no quorum");
}

#[tokio::test]
async fn nonsense_is_no_list() {
    let fake = Fake::default();
    let long = format!("{{\"members\":[],\"x\":\"{}\"}}", "x".repeat(etcd::MAX_ANSWER_BYTES));
    for body in ["", "[]", "<html>", "{}", r#"{"members":[{"ID":"x"}]}"#, &long] {
        fake.live("a").say("a", LIST, Says::Answer(200, body.to_owned()));
        let fault = fake.cluster(&["a"]).observe_members().await.unwrap_err();
        assert_eq!(fault.class, FaultClass::Garbled, "{body:.20}");
    }
}
