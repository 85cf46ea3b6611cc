//! The same asked twice, at the wrong time, or of two at once.

use http::Method;
use scenarios::House;
use serde_json::json;

use crate::hand::{COMPUTE, ended, is_report, operation_of, post, post_as, refusal, site, succeed, unguarded, until_fact};

fn powered(house: &House, machine: &str) -> (u64, u64) {
    let counters = house.site.witness(machine).unwrap().counters();
    (counters.powered_off, counters.powered_on)
}

async fn operations(house: &House) -> usize {
    house.pages("/rackwright/v1/operations").await.len()
}

#[tokio::test(start_paused = true)]
async fn the_same_request_is_one_operation_and_another_one_is_refused_while_it_runs() {
    for (verb, other, cycles) in [("reimage", "replace", (2, 2)), ("replace", "reimage", (2, 2))] {
        let house = site(4).await;
        let (before, known) = (powered(&house, COMPUTE), operations(&house).await);
        let id = operation_of(&post_as(&house, COMPUTE, verb, &unguarded(), Some("one")).await);
        for moment in ["exchange", "written", "phonedHome"] {
            let again = post_as(&house, COMPUTE, verb, &unguarded(), Some("one")).await;
            assert_eq!(operation_of(&again), id, "the same request before {moment}");
            for verb in [verb, other, "restart", "powerOff"] {
                let body = if ["reimage", "replace"].contains(&verb) { unguarded() } else { json!({}) };
                let (status, code, words) = refusal(&post_as(&house, COMPUTE, verb, &body, Some("two")).await);
                assert_eq!((status, code.as_str()), (409, "OneActionPerMachine"), "{verb} before {moment}: {words}");
                assert!(words.contains(&id[..8]), "{words}");
            }
            until_fact(&house, &id, |fact| is_report(fact, moment)).await;
        }
        assert_eq!(ended(&house, &id).await["status"], "Succeeded");
        assert_eq!(operations(&house).await, known + 1);
        let after = powered(&house, COMPUTE);
        assert_eq!((after.0 - before.0, after.1 - before.1), cycles, "{verb}");
        house.check_log().await;
        house.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_reimage_that_was_cancelled_anywhere_can_be_asked_for_again() {
    // From the first power-off on there is nothing to go back to until the system is written.
    for moment in ["found", "asked", "installing", "exchange", "written"] {
        let house = site(4).await;
        let data = house.site.volumes(COMPUTE).unwrap()[1..].to_vec();
        let id = operation_of(&post(&house, COMPUTE, "reimage", &unguarded()).await);
        until_fact(&house, &id, |fact| fact["kind"] == moment || is_report(fact, moment)).await;
        let cancel = format!("/rackwright/v1/operations/{id}/cancel");
        let reply = house.call(Method::POST, &cancel, "bob", "").await;
        assert!(reply.status.is_success(), "{moment}: {}", reply.body);
        let operation = ended(&house, &id).await;
        assert_eq!(operation["status"], "Canceled", "{moment}: {operation:#}");
        tokio::time::sleep(std::time::Duration::from_secs(600)).await;
        succeed(&house, COMPUTE, "reimage", &unguarded()).await;
        succeed(&house, COMPUTE, "uncordon", &json!({})).await;
        let machine = house.machine(COMPUTE).await;
        assert_eq!((&machine["properties"]["readyState"], &machine["properties"]["cordonStatus"]), (&"True".into(), &"Uncordoned".into()));
        assert_eq!(house.site.volumes(COMPUTE).unwrap()[1..], data, "{moment}");
        house.check_log().await;
        house.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_uncordon_in_the_middle_is_refused_and_changes_nothing() {
    let house = site(4).await;
    let id = operation_of(&post(&house, COMPUTE, "reimage", &unguarded()).await);
    for moment in ["exchange", "written"] {
        until_fact(&house, &id, |fact| is_report(fact, moment)).await;
        let (status, _, words) = refusal(&post(&house, COMPUTE, "uncordon", &json!({})).await);
        assert_eq!(status, 409, "{words}");
        assert!(words.contains(&id[..8]), "{words}");
    }
    assert_eq!(ended(&house, &id).await["status"], "Succeeded");
    assert_eq!(house.machine(COMPUTE).await["properties"]["cordonStatus"], "Cordoned");
    succeed(&house, COMPUTE, "uncordon", &json!({})).await;
    assert_eq!(house.machine(COMPUTE).await["properties"]["cordonStatus"], "Uncordoned");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn of_two_members_of_a_control_plane_one_is_refused_until_the_other_votes_again() {
    let house = site(4).await;
    let (one, two) = ("rack1control01", "rack1control02");
    let (body, also) = (unguarded(), unguarded());
    let (first, second) = tokio::join!(post(&house, one, "reimage", &body), post(&house, two, "replace", &also));
    let (id, refused) = if first.status == 202 { (operation_of(&first), second) } else { (operation_of(&second), first) };
    let (status, code, words) = refusal(&refused);
    assert_eq!((status, code.as_str()), (409, "KcpOneAtATime"), "{words}");
    let (busy, idle) = if house.operation(&id).await["machine"] == one { (one, two) } else { (two, one) };
    assert!(words.contains(busy), "{words}");
    // Still so when its node is back, and its member has not been promoted.
    until_fact(&house, &id, |fact| is_report(fact, "phonedHome")).await;
    assert_eq!(refusal(&post(&house, idle, "reimage", &body).await).0, 409);
    assert_eq!(ended(&house, &id).await["status"], "Succeeded");
    succeed(&house, idle, "reimage", &body).await;
    let seen = scenarios::etcd_of(&house.site).observe_members().await.unwrap();
    assert_eq!(seen.members.iter().filter(|member| !member.is_learner).count(), 3);
    house.close().await;
}
