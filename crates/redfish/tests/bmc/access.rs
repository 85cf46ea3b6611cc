//! Sessions and basic authentication.

use expect_test::expect;
use fake::{Fake, SYSTEM, json, session, text};
use model::{Power, PowerRequest};
use serde_json::json;

use crate::fake;

const SESSIONS: &str = "POST /redfish/v1/SessionService/Sessions";

#[tokio::test]
async fn an_expired_session_is_renewed_once_and_the_request_repeated() {
    let fake = Fake::ordinary().on(SESSIONS, session(2));
    let bmc = fake.bmc();
    bmc.observe_power().await.unwrap();
    fake.take_log();
    let fake =
        fake.now("GET /redfish/v1/Systems/1", text(401, "")).on("GET /redfish/v1/Systems/1", json(200, &json!({"PowerState": "Off"})));
    assert_eq!(bmc.observe_power().await, Ok(Power::Off));
    expect![[r#"
        GET /redfish/v1/Systems/1 token1
        POST /redfish/v1/SessionService/Sessions {"Password":"calvin","UserName":"root"}
        GET /redfish/v1/Systems/1 token2
    "#]]
    .assert_eq(&fake.take_log());
}

#[tokio::test]
async fn a_reset_refused_for_an_expired_session_is_sent_again_with_a_new_one() {
    let reset = "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset";
    let fake = Fake::ordinary().on(SESSIONS, session(2));
    let bmc = fake.bmc();
    bmc.observe_power().await.unwrap();
    fake.take_log();
    let fake = fake.now(reset, text(401, "")).on(reset, text(204, ""));
    assert_eq!(bmc.request_power(PowerRequest::ForceOff).await, Ok(()));
    expect![[r#"
        GET /redfish/v1/Systems/1 token1
        POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset token1 {"ResetType":"ForceOff"}
        POST /redfish/v1/SessionService/Sessions {"Password":"calvin","UserName":"root"}
        POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset token2 {"ResetType":"ForceOff"}
    "#]]
    .assert_eq(&fake.take_log());
}

#[tokio::test]
async fn a_session_that_is_refused_by_a_message_is_renewed_too() {
    let fake = Fake::ordinary().on(SESSIONS, session(2));
    let bmc = fake.bmc();
    bmc.observe_power().await.unwrap();
    let forgotten = json!({"error": {"@Message.ExtendedInfo": [{"MessageId": "Base.1.8.NoValidSession"}]}});
    let fake = fake
        .now("GET /redfish/v1/Systems/1", json(400, &forgotten))
        .on("GET /redfish/v1/Systems/1", json(200, &json!({"PowerState": "Off"})));
    assert_eq!(bmc.observe_power().await, Ok(Power::Off));
    assert!(fake.take_log().ends_with("GET /redfish/v1/Systems/1 token2\n"));
}

#[tokio::test]
async fn a_refused_new_session_is_denied_and_not_left_behind() {
    let fake = Fake::ordinary().now("GET /redfish/v1/Systems", text(401, ""));
    let fault = fake.bmc().observe_power().await.unwrap_err();
    expect!["denied: GET /redfish/v1/Systems answered 401"].assert_eq(&fault.to_string());
    expect![[r#"
        GET /redfish/v1/
        POST /redfish/v1/SessionService/Sessions {"Password":"calvin","UserName":"root"}
        GET /redfish/v1/Systems token1
        DELETE /redfish/v1/SessionService/Sessions/1 token1
    "#]]
    .assert_eq(&fake.take_log());
}

#[tokio::test]
async fn a_wrong_password_is_denied_and_what_the_bmc_says_of_it_is_not_repeated() {
    let complaint = json!({"error": {"message": "The password calvin is wrong."}});
    let root = json!({"Links": {"Sessions": {"@odata.id": "/redfish/v1/SessionService/Sessions"}}});
    let fake = Fake::ordinary().now("GET /redfish/v1/", json(200, &root)).now(SESSIONS, json(401, &complaint));
    let fault = fake.bmc().observe_power().await.unwrap_err();
    expect!["denied: POST /redfish/v1/SessionService/Sessions answered 401"].assert_eq(&fault.to_string());
}

#[tokio::test]
async fn a_bmc_without_sessions_gets_basic_authentication_from_then_on() {
    for status in [404, 405, 501] {
        let fake = Fake::ordinary().now(SESSIONS, text(status, ""));
        let bmc = fake.bmc();
        assert_eq!(bmc.observe_power().await, Ok(Power::On));
        fake.take_log();
        assert_eq!(bmc.observe_power().await, Ok(Power::On));
        expect![[r#"
            GET /redfish/v1/Systems/1 Basic cm9vdDpjYWx2aW4=
        "#]]
        .assert_eq(&fake.take_log());
    }
}

#[tokio::test]
async fn a_bmc_that_is_starting_up_is_not_taken_for_one_without_sessions() {
    let fake = Fake::ordinary().now(SESSIONS, text(404, "")).now("GET /redfish/v1/Systems", text(404, ""));
    let bmc = fake.bmc();
    expect!["missing: GET /redfish/v1/Systems answered 404"].assert_eq(&bmc.observe_power().await.unwrap_err().to_string());
    fake.take_log();
    let fake = fake.now(SESSIONS, session(7)).now("GET /redfish/v1/Systems", json(200, &json!({"Members": [SYSTEM]})));
    assert_eq!(bmc.observe_power().await, Ok(Power::On));
    expect![[r#"
        POST /redfish/v1/SessionService/Sessions {"Password":"calvin","UserName":"root"}
        GET /redfish/v1/Systems token7
        GET /redfish/v1/Systems/1 token7
    "#]]
    .assert_eq(&fake.take_log());
}

#[tokio::test]
async fn a_bmc_without_room_for_a_session_gets_basic_authentication_until_there_is_room() {
    let full = json!({"error": {"@Message.ExtendedInfo": [{"MessageId": "Base.1.18.SessionLimitExceeded"}]}});
    let fake = Fake::ordinary().now(SESSIONS, json(503, &full));
    let bmc = fake.bmc();
    assert_eq!(bmc.observe_power().await, Ok(Power::On));
    assert!(fake.take_log().ends_with("GET /redfish/v1/Systems/1 Basic cm9vdDpjYWx2aW4=\n"));
    let fake = fake.now(SESSIONS, session(3));
    assert_eq!(bmc.observe_power().await, Ok(Power::On));
    assert!(fake.take_log().ends_with("GET /redfish/v1/Systems/1 token3\n"));
}

#[tokio::test]
async fn a_bmc_without_room_that_takes_nothing_but_sessions_is_busy() {
    let full = json!({"error": {"@Message.ExtendedInfo": [{"MessageId": "Base.1.18.SessionLimitExceeded"}]}});
    let fake = Fake::ordinary().now(SESSIONS, json(503, &full)).now("GET /redfish/v1/Systems", text(401, ""));
    expect!["busy: POST /redfish/v1/SessionService/Sessions answered 503"]
        .assert_eq(&fake.bmc().observe_power().await.unwrap_err().to_string());
}

#[tokio::test]
async fn a_guarded_root_does_not_keep_us_out() {
    let fake = Fake::ordinary().now("GET /redfish/v1/", text(401, ""));
    assert_eq!(fake.bmc().observe_power().await, Ok(Power::On));
}

#[tokio::test]
async fn a_path_that_is_none_is_missing_and_nothing_is_sent() {
    let fake = Fake::ordinary();
    let bmc = fake.bmc();
    bmc.observe_power().await.unwrap();
    fake.take_log();
    let fault = bmc.request_volume_delete("no path").await.unwrap_err();
    expect!["missing: DELETE no path: this is not a path"].assert_eq(&fault.to_string());
    assert_eq!(fake.take_log(), "\n");
}

#[tokio::test]
async fn a_bmc_that_guards_where_it_has_no_sessions_gets_basic_authentication() {
    let fake = Fake::ordinary().now(SESSIONS, text(401, ""));
    assert_eq!(fake.bmc().observe_power().await, Ok(Power::On));
    assert!(fake.take_log().ends_with("GET /redfish/v1/Systems/1 Basic cm9vdDpjYWx2aW4=\n"));
}

#[tokio::test]
async fn a_session_without_a_token_is_garbled() {
    let fake = Fake::ordinary().now(SESSIONS, text(201, "{}"));
    let fault = fake.bmc().observe_power().await.unwrap_err();
    expect!["garbled: POST /redfish/v1/SessionService/Sessions: the new session has no X-Auth-Token"].assert_eq(&fault.to_string());
}

#[tokio::test]
async fn clones_that_start_together_share_one_session() {
    let fake = Fake::ordinary().on(SESSIONS, session(2));
    let (one, other) = (fake.bmc(), fake.bmc());
    let same = one.clone();
    let (first, second) = tokio::join!(one.observe_power(), same.observe_power());
    assert_eq!((first, second), (Ok(Power::On), Ok(Power::On)));
    assert_eq!(fake.take_log().matches("POST").count(), 1);
    assert_eq!(other.observe_power().await, Ok(Power::On), "another driver has a session of its own");
    assert_eq!(fake.take_log().matches("POST").count(), 1);
}

#[tokio::test]
async fn closing_ends_the_session_and_the_next_call_opens_another() {
    let fake = Fake::ordinary().on(SESSIONS, session(2));
    let bmc = fake.bmc();
    bmc.close().await;
    bmc.observe_power().await.unwrap();
    fake.take_log();
    bmc.close().await;
    bmc.close().await;
    bmc.observe_power().await.unwrap();
    expect![[r#"
        DELETE /redfish/v1/SessionService/Sessions/1 token1
        POST /redfish/v1/SessionService/Sessions {"Password":"calvin","UserName":"root"}
        GET /redfish/v1/Systems/1 token2
    "#]]
    .assert_eq(&fake.take_log());
}

#[tokio::test]
async fn a_wrong_password_is_tried_once_a_look_where_sessions_are_only_assumed() {
    let fake = Fake::ordinary().now(SESSIONS, text(401, "")).now("GET /redfish/v1/Systems", text(401, ""));
    let bmc = fake.bmc();
    let mut tries = String::new();
    for _ in 0..4 {
        bmc.observe_power().await.unwrap_err();
        tries.push_str(&fake.take_log());
        tries.push('\n');
    }
    expect![[r#"
        GET /redfish/v1/
        POST /redfish/v1/SessionService/Sessions {"Password":"calvin","UserName":"root"}
        GET /redfish/v1/Systems Basic cm9vdDpjYWx2aW4=

        POST /redfish/v1/SessionService/Sessions {"Password":"calvin","UserName":"root"}

        GET /redfish/v1/Systems Basic cm9vdDpjYWx2aW4=

        POST /redfish/v1/SessionService/Sessions {"Password":"calvin","UserName":"root"}

    "#]]
    .assert_eq(&tries);
    // The password was mended.
    fake.now(SESSIONS, session(1)).now("GET /redfish/v1/Systems", json(200, &json!({"Members": [{"@odata.id": SYSTEM}]})));
    assert_eq!(bmc.observe_power().await, Ok(Power::On));
}
