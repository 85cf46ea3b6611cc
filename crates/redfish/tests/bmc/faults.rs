//! Failures: what class they are given, whether the request may have been obeyed, and how long they may take.

use std::io::ErrorKind;
use std::time::Duration;

use expect_test::{Expect, expect};
use fake::{Fake, Reply, json, text};
use model::{Fault, PowerRequest};
use redfish::{ANSWER_TIMEOUT, CALL_TIMEOUT, MAX_ANSWER_BYTES};
use serde_json::json;
use tokio::time::Instant;

use crate::fake;

const LOOK: &str = "GET /redfish/v1/Systems/1";
const RESET: &str = "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset";

fn told(fault: &Fault) -> String {
    format!("{fault} [delivered: {:?}]", fault.delivery)
}

async fn check_look(reply: Reply, expected: Expect) {
    let fault = Fake::ordinary().now(LOOK, reply).bmc().observe_power().await.unwrap_err();
    expected.assert_eq(&told(&fault));
}

async fn check_reset(reply: Reply, expected: Expect) {
    let fault = Fake::ordinary().now(RESET, reply).bmc().request_power(PowerRequest::ForceOff).await.unwrap_err();
    expected.assert_eq(&told(&fault));
}

#[tokio::test(start_paused = true)]
async fn a_look_that_fails_says_what_was_asked_and_why_it_failed() {
    let busy = json!({"error": {"@Message.ExtendedInfo": [{"Message": "The service is starting."}]}});
    check_look(json(503, &busy), expect!["busy: GET /redfish/v1/Systems/1 answered 503: The service is starting. [delivered: No]"]).await;
    check_look(text(500, "<html>"), expect!["garbled: GET /redfish/v1/Systems/1 answered 500 [delivered: No]"]).await;
    check_look(text(403, ""), expect!["denied: GET /redfish/v1/Systems/1 answered 403 [delivered: No]"]).await;
    check_look(
        text(200, "{\"PowerState\": "),
        expect!["garbled: GET /redfish/v1/Systems/1: the answer is not a JSON object [delivered: No]"],
    )
    .await;
    check_look(text(200, "[]"), expect!["garbled: GET /redfish/v1/Systems/1: the answer is not a JSON object [delivered: No]"]).await;
    check_look(text(200, "{}"), expect!["garbled: GET /redfish/v1/Systems/1: there is no PowerState [delivered: No]"]).await;
    check_look(text(302, ""), expect!["garbled: GET /redfish/v1/Systems/1 answered 302 [delivered: No]"]).await;
    check_look(Reply::Never, expect!["unreachable: GET /redfish/v1/Systems/1: no answer in time [delivered: No]"]).await;
    check_look(
        text(200, &" ".repeat(MAX_ANSWER_BYTES + 1)),
        expect!["garbled: GET /redfish/v1/Systems/1: the answer is longer than 2097152 bytes [delivered: No]"],
    )
    .await;
    check_look(
        Reply::Break(ErrorKind::ConnectionReset),
        expect!["unreachable: GET /redfish/v1/Systems/1: connection lost (connection reset) [delivered: No]"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_reset_that_fails_tells_whether_it_may_have_been_obeyed() {
    check_reset(
        Reply::Break(ErrorKind::ConnectionRefused),
        expect!["unreachable: POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset: no connection (connection refused) [delivered: No]"],
    )
    .await;
    check_reset(
        Reply::Break(ErrorKind::ConnectionReset),
        expect![
            "unreachable: POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset: connection lost (connection reset) [delivered: Maybe]"
        ],
    )
    .await;
    check_reset(
        Reply::Never,
        expect!["unreachable: POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset: no answer in time [delivered: Maybe]"],
    )
    .await;
    check_reset(text(500, ""), expect!["garbled: POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset answered 500 [delivered: Maybe]"])
        .await;
    check_reset(text(409, ""), expect!["busy: POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset answered 409 [delivered: No]"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_reset_that_is_refused_without_a_reason_may_be_taken_later_and_one_that_is_not_known_never_is() {
    let said = |id: &str, message: &str| json!({"error": {"@Message.ExtendedInfo": [{"MessageId": id, "Message": message}]}});
    check_reset(json(400, &said("Base.1.8.GeneralError", "The operation could not be performed.")), expect!["busy: POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset answered 400: The operation could not be performed. [delivered: No]"]).await;
    check_reset(text(422, ""), expect!["busy: POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset answered 422 [delivered: No]"]).await;
    check_reset(
        text(405, ""),
        expect!["unsupported: POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset answered 405 [delivered: No]"],
    )
    .await;
    check_reset(json(400, &said("Base.1.8.ActionParameterValueNotInList", "ForceOff is not in the list.")), expect!["unsupported: POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset answered 400: ForceOff is not in the list. [delivered: No]"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_reset_that_cannot_be_prepared_was_surely_not_delivered() {
    let fault = Fake::ordinary().now(LOOK, Reply::Never).bmc().request_power(PowerRequest::ForceOff).await.unwrap_err();
    expect!["unreachable: GET /redfish/v1/Systems/1: no answer in time [delivered: No]"].assert_eq(&told(&fault));
    let fake = Fake::ordinary().now("POST /redfish/v1/SessionService/Sessions", Reply::Never);
    let fault = fake.bmc().request_power(PowerRequest::ForceOff).await.unwrap_err();
    expect!["unreachable: POST /redfish/v1/SessionService/Sessions: no answer in time [delivered: No]"].assert_eq(&told(&fault));
}

#[tokio::test(start_paused = true)]
async fn a_silent_bmc_costs_no_more_than_the_answer_timeout() {
    let began = Instant::now();
    Fake::default().on("GET /redfish/v1/", Reply::Never).bmc().observe_power().await.unwrap_err();
    assert_eq!(began.elapsed(), ANSWER_TIMEOUT.to_std());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_after_the_time_of_the_call_is_over() {
    let slow = |reply| Reply::Slow(Duration::from_secs(14), Box::new(reply));
    let fake = Fake::ordinary()
        .now("GET /redfish/v1/", slow(text(200, "{}")))
        .now("POST /redfish/v1/SessionService/Sessions", slow(fake::session(1)))
        .now("GET /redfish/v1/Systems", slow(text(200, "{}")));
    let began = Instant::now();
    let fault = fake.bmc().request_power(PowerRequest::ForceOff).await.unwrap_err();
    assert_eq!(began.elapsed(), CALL_TIMEOUT.to_std());
    expect!["unreachable: GET /redfish/v1/Systems: no answer in time [delivered: No]"].assert_eq(&told(&fault));
    assert!(!fake.take_log().contains("Reset"));
}

#[tokio::test]
async fn a_bmc_that_is_starting_up_and_shows_no_system_yet_may_be_asked_later() {
    let gone = || text(404, "");
    let all_gone = Fake::default().on("GET /redfish/v1/", gone());
    let empty = Fake::ordinary().now("GET /redfish/v1/Systems", json(200, &json!({"Members": []})));
    let unread = Fake::ordinary().now(LOOK, gone());
    let refused = Fake::ordinary().now(LOOK, text(400, ""));
    let no_login = Fake::ordinary().now("POST /redfish/v1/SessionService/Sessions", text(400, ""));
    for (fake, expected) in [
        (all_gone, expect!["busy: GET /redfish/v1/ answered 404 [delivered: No]"]),
        (empty, expect!["busy: GET /redfish/v1/Systems: there is no System [delivered: No]"]),
        (unread, expect!["busy: GET /redfish/v1/Systems/1 answered 404 [delivered: No]"]),
        (refused, expect!["busy: GET /redfish/v1/Systems/1 answered 400 [delivered: No]"]),
        (no_login, expect!["busy: POST /redfish/v1/SessionService/Sessions answered 400 [delivered: No]"]),
    ] {
        let fault = fake.bmc().request_power(PowerRequest::On).await.unwrap_err();
        expected.assert_eq(&told(&fault));
    }
    // The machine is there, and cannot be reset where it says.
    check_reset(gone(), expect!["missing: POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset answered 404 [delivered: No]"]).await;
}

#[tokio::test]
async fn a_site_without_a_system_is_missing_one() {
    let fake = Fake::ordinary().now("GET /redfish/v1/Systems", json(200, &json!({"Members": [{"@odata.id": null}]})));
    let fault = fake.bmc().observe_power().await.unwrap_err();
    expect!["missing: GET /redfish/v1/Systems: there is no System [delivered: No]"].assert_eq(&told(&fault));
}
