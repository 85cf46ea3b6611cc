//! Each call with the answers that etcd gives to it.

use etcd::{EtcdCluster, MemberStatus};
use expect_test::expect;
use model::{Delivery, Fault, FaultClass};

use crate::fake::{ADD, Fake, LIST, PROMOTE, REMOVE, STATUS, Says, refusal, status};

const LEARNER: &str = "bfbd1a030bbb01f9";
const VOTER: &str = "9b695227a5ef28a";

#[tokio::test]
async fn the_list_is_a_linearizable_read_and_ids_are_hexadecimal() {
    let fake = Fake::default();
    let seen = fake.live("a").cluster(&["a"]).observe_members().await.unwrap();
    let told: Vec<String> =
        seen.members.iter().map(|m| format!("{} {:?} {} learner={}", m.id, m.name, m.peer_urls.join(","), m.is_learner)).collect();
    expect![[r#"
        [
            "9b695227a5ef28a \"b\" http://127.0.0.1:23073 learner=false",
            "1d4faf0a5ce531d2 \"a\" http://127.0.0.1:23071 learner=false",
            "bfbd1a030bbb01f9 \"\" http://127.0.0.1:23075 learner=true",
        ]
    "#]]
    .assert_debug_eq(&told);
    assert_eq!(fake.heard(), ["a /v3/maintenance/status {}", "a /v3/cluster/member/list {\"linearizable\":true}"]);
    assert_eq!(seen.voters(), 2);
}

#[tokio::test]
async fn the_list_of_an_etcd_that_knows_no_linearizable_one_is_not_believed() {
    let fake = Fake::default();
    let fault = fake.live("a").say("a", STATUS, status("3.4.23", 1, 1, 10)).cluster(&["a"]).observe_members().await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Unsupported);
    expect!["etcd 3.4.23 at a:2379 tells no list of members that can be believed; it must be 3.5 or later"].assert_eq(&fault.detail);
}

#[tokio::test]
async fn a_list_without_quorum_is_no_list() {
    let fake = Fake::default();
    fake.live("a").say("a", LIST, refusal(503, 14, "etcdserver: request timed out"));
    let fault = fake.cluster(&["a"]).observe_members().await.unwrap_err();
    assert_eq!((fault.class, fault.delivery), (FaultClass::Busy, Delivery::No));
    expect!["POST /v3/cluster/member/list at a:2379 answered 503: etcdserver: request timed out"].assert_eq(&fault.detail);
}

async fn removal(says: Says) -> Result<(), Fault> {
    Fake::default().live("a").say("a", REMOVE, says).cluster(&["a"]).request_member_remove(LEARNER).await
}

#[tokio::test]
async fn a_member_that_is_gone_is_removed_already() {
    let fake = Fake::default();
    fake.live("a").say("a", REMOVE, Says::Answer(200, "{}".into()));
    assert_eq!(fake.cluster(&["a"]).request_member_remove(LEARNER).await, Ok(()));
    assert_eq!(fake.heard(), ["a /v3/cluster/member/remove {\"ID\":\"13816227832226578937\"}"]);
    assert_eq!(removal(refusal(404, 5, "etcdserver: member not found")).await, Ok(()));
    let missing = removal(Says::Answer(404, "Not Found\n".into())).await.unwrap_err();
    assert_eq!(missing.class, FaultClass::Unsupported, "a path that is not there is another thing than a member that is not: {missing}");
    let unhealthy = removal(refusal(503, 14, "etcdserver: unhealthy cluster")).await.unwrap_err();
    assert_eq!((unhealthy.class, unhealthy.delivery), (FaultClass::Busy, Delivery::No), "etcd protects its quorum");
    let fake = Fake::default();
    for says in [refusal(503, 14, "etcdserver: unhealthy cluster"), refusal(500, 2, "raft: stopped")] {
        fake.live("a").say("a", REMOVE, says);
        assert_eq!(fake.cluster(&["a"]).request_member_remove("5").await, Ok(()), "so says one that was just removed, of itself");
    }
    let late = removal(refusal(503, 14, "etcdserver: request timed out")).await.unwrap_err();
    assert_eq!((late.class, late.delivery), (FaultClass::Busy, Delivery::Maybe), "it may yet come about");
}

#[tokio::test]
async fn an_id_that_is_none_is_not_sent() {
    let fake = Fake::default();
    let fault = fake.live("a").cluster(&["a"]).request_member_remove("not-an-id").await.unwrap_err();
    assert_eq!(fault.to_string(), "missing: `not-an-id` is no id of a member of etcd");
    assert!(fake.heard().is_empty());
}

async fn addition(says: Says) -> Result<(), Fault> {
    Fake::default().live("a").say("a", ADD, says).cluster(&["a"]).request_learner_add("https://10.1.0.4:2380").await
}

#[tokio::test]
async fn a_learner_that_is_listed_was_added_already() {
    let fake = Fake::default();
    fake.live("a").say("a", ADD, Says::Answer(200, "{}".into()));
    assert_eq!(fake.cluster(&["a"]).request_learner_add("https://10.1.0.4:2380").await, Ok(()));
    assert_eq!(fake.heard(), ["a /v3/cluster/member/add {\"peerURLs\":[\"https://10.1.0.4:2380\"],\"isLearner\":true}"]);
    assert_eq!(addition(refusal(400, 9, "etcdserver: member ID already exist")).await, Ok(()));
    assert_eq!(addition(refusal(412, 9, "etcdserver: Peer URLs already exists")).await, Ok(()));
    let many = addition(refusal(400, 9, "etcdserver: too many learner members in cluster")).await.unwrap_err();
    assert_eq!((many.class, many.delivery), (FaultClass::Busy, Delivery::No));
    let invalid = addition(refusal(400, 3, "etcdserver: given member URLs are invalid")).await.unwrap_err();
    assert_eq!(invalid.class, FaultClass::Unsupported);
}

#[tokio::test]
async fn one_that_votes_is_promoted_already() {
    let fake = Fake::default();
    fake.live("a").say("a", PROMOTE, refusal(400, 9, "etcdserver: can only promote a learner member"));
    assert_eq!(fake.cluster(&["a"]).request_promote(LEARNER).await, Ok(()));
    fake.say("a", PROMOTE, refusal(404, 5, "etcdserver: member not found"));
    assert_eq!(fake.cluster(&["a"]).request_promote(LEARNER).await.unwrap_err().class, FaultClass::Missing);
}

/// A fake that answers no change, with the list of [`MEMBERS`]: `a` and `b` vote, and one learns.
fn silent() -> EtcdCluster {
    let fake = Fake::default();
    fake.live("a").say("a", ADD, Says::Nothing).say("a", PROMOTE, Says::Nothing).say("a", REMOVE, Says::Nothing);
    fake.cluster(&["a"])
}

#[tokio::test(start_paused = true)]
async fn a_change_that_is_never_answered_has_come_about_if_the_list_says_so() {
    let etcd = silent();
    assert_eq!(etcd.request_learner_add("http://127.0.0.1:23075").await, Ok(()), "it is listed");
    assert_eq!(etcd.request_promote(VOTER).await, Ok(()), "it votes");
    assert_eq!(etcd.request_member_remove("5").await, Ok(()), "it is not listed");
    let unanswered = (FaultClass::Unreachable, Delivery::Maybe);
    for outcome in [
        etcd.request_learner_add("https://10.1.0.4:2380").await,
        etcd.request_promote(LEARNER).await,
        etcd.request_member_remove(LEARNER).await,
    ] {
        let fault = outcome.unwrap_err();
        assert_eq!((fault.class, fault.delivery), unanswered, "{fault}");
    }
}

#[tokio::test]
async fn one_that_is_not_in_sync_is_refused_with_how_far_it_is() {
    let fake = Fake::default();
    let words = "etcdserver: can only promote a learner member which is in sync with leader";
    fake.say("a", PROMOTE, refusal(400, 9, words)).say("a", STATUS, status("3.5.1", 1, 1, 4_100));
    fake.say("c", STATUS, status("3.5.1", 13_816_227_832_226_578_937, 1, 1_200));
    let fault = fake.cluster(&["a", "b", "c"]).request_promote(LEARNER).await.unwrap_err();
    assert_eq!((fault.class, fault.delivery), (FaultClass::Busy, Delivery::No));
    expect!["POST /v3/cluster/member/promote at a:2379 answered 400: etcdserver: can only promote a learner member which is in sync with leader: it has 1200 of 4100 entries"].assert_eq(&fault.detail);
    assert_eq!(fake.heard().iter().filter(|asked| asked.contains(PROMOTE)).count(), 1, "it is asked once");
}

#[tokio::test]
async fn a_status_says_who_leads_and_how_far_a_member_is() {
    let fake = Fake::default();
    let leaderless =
        r#"{"header":{"member_id":"2112099209303110098"},"version":"3.5.1","raftIndex":"19","errors":["etcdserver: no leader"]}"#;
    fake.say("a", STATUS, status("3.5.1", 10, 11, 7)).say("b", STATUS, Says::Answer(200, leaderless.into()));
    let told = |id: &str, leader: Option<&str>, raft_index| MemberStatus {
        id: id.into(),
        version: "3.5.1".into(),
        leader: leader.map(str::to_owned),
        is_learner: false,
        raft_index,
    };
    let statuses = fake.cluster(&["a", "b", "c"]).observe_statuses().await;
    assert_eq!(statuses, [told("a", Some("b"), 7), told("1d4faf0a5ce531d2", None, 19)]);
}
