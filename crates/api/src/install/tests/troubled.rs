use model::InstallTrouble;

use super::*;
use crate::install::pace::REPORTS_BURST;

#[tokio::test(start_paused = true)]
async fn why_a_machine_cannot_be_configured_ends_its_attempt() {
    let (rig, attempt) = (rig().await, attempt("m3", "op3", 2));
    let exchanged =
        rig.tell(&attempt, "exchange", &token(Purpose::Agent, &attempt), r#"{"machine":"m3","nonce":"0123456789abcdef"}"#).await;
    assert_eq!(exchanged.status, StatusCode::OK);
    let answer = rig.tell(&attempt, "seed", &token(Purpose::Session, &attempt), "").await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    let reports = rig.reports();
    let [MachineReport::Exchange { .. }, MachineReport::Failed { trouble: InstallTrouble::SeedFailed, detail }] = &reports[..] else {
        panic!("{reports:?}")
    };
    assert!(detail.starts_with("the user data of runtime 4.9.2 cannot be rendered: "), "{detail}");
    assert_eq!(answer.json(), json!({ "error": detail }));
}

#[tokio::test(start_paused = true)]
async fn a_token_cannot_be_tried_without_end() {
    let (rig, own, other) = (rig_with(Keeper::SaysNo, None).await, attempt("m1", "op1", 2), attempt("m2", "op2", 2));
    let tried = async |token: String| rig.tell(&own, "exchange", &token, r#"{"machine":"m1","nonce":"0123456789abcdef"}"#).await.status;
    for _ in 0..REPORTS_BURST {
        assert_eq!(tried(token(Purpose::Agent, &own)).await, StatusCode::CONFLICT);
    }
    assert_eq!(tried(token(Purpose::Agent, &own)).await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(tried(token(Purpose::Agent, &other)).await, StatusCode::TOO_MANY_REQUESTS, "nor another's");
    assert_eq!(tried("made up".to_owned()).await, StatusCode::UNAUTHORIZED, "what opens nothing costs nothing");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_was_given_up_takes_nothing_while_its_machine_is_cleaned_up() {
    let (rig, attempt) = (rig().await, attempt("m1", "op1", 2));
    let mut operation = (*rig.face.api.cache.view().operations[&attempt.operation]).clone();
    let fact = Fact::CleaningUp { during: model::StepKind::WriteImage, failure: None, because: "cancelled".to_owned() };
    operation.journal.push(Entry { at: Timestamp::parse(NOW).unwrap(), fact });
    let place = keys::operation(&operation.cluster, &operation.id);
    let mut changes = rig.face.api.cache.changes();
    rig.face.api.store.commit(Commit::default().put(place, serde_json::to_vec(&operation).unwrap())).await.unwrap();
    while !rig.face.api.cache.view().operations[&attempt.operation].is_cleaning_up() {
        changes.changed().await.unwrap();
    }
    let answer = rig.tell(&attempt, "exchange", &token(Purpose::Agent, &attempt), r#"{"machine":"m1","nonce":"0123456789abcdef"}"#).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    let media = rig.send(Method::GET, &ticket::media_path(&key(), &attempt), &[], "").await;
    assert_eq!(media.status, StatusCode::NOT_FOUND);
    assert_eq!(rig.reports(), []);
}
