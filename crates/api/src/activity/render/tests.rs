//! How entries look.

use expect_test::{Expect, expect};
use model::HoldOwner;
use store::Revision;

use super::super::tests::{entry, restart};
use super::*;
use crate::fixtures::{NOW, of_json};

const PLACE: RecordPlace = RecordPlace { revision: Revision(42), position: 3 };

#[expect(clippy::needless_pass_by_value, reason = "a case reads best as an entry and what it comes to")]
fn check(entry: Activity, expected: Expect) {
    let event = event(PLACE, Timestamp::parse(NOW).unwrap(), &entry);
    let nested = event["properties"]["statusMessage"].as_str().map(|text| serde_json::from_str::<Value>(text).expect("it is JSON in JSON"));
    let nested = nested.map(|nested| format!("\n{nested:#}")).unwrap_or_default();
    let shown = format!(
        "{} {} {}\n{} {}\n{}\n{}{nested}\n",
        event["level"],
        event["status"]["value"],
        event["operationName"]["value"],
        event["eventName"]["value"],
        event["subStatus"],
        event["properties"]["message"],
        event["httpRequest"]
    );
    expected.assert_eq(&shown);
}

#[test]
fn a_refusal_reads_as_it_was_answered() {
    let refusal: model::Refusal = of_json(json!({
        "rule": "KcpOneAtATime", "message": "`m1` cannot be restarted", "evidence": ["`m2` is being restarted"], "remedy": "wait",
    }));
    let mut entry = entry("m1", "alice", restart(), ActivityStatus::Failed);
    let answered = Refused::by_rule(refusal.clone());
    entry.error = Some(ActivityError::Refused { refusal });
    let event = event(PLACE, Timestamp::EPOCH, &entry);
    let nested: Value = serde_json::from_str(event["properties"]["statusMessage"].as_str().unwrap()).unwrap();
    assert_eq!(nested["error"], answered.body()["error"]);
    check(
        entry,
        expect![[r#"
            "Error" "Failed" "Microsoft.NetworkCloud/bareMetalMachines/restart/action"
            "EndRequest" {"value":"Conflict","localizedValue":"Conflict (HTTP Status Code: 409)"}
            "it happened"
            {"method":"POST"}
            {
              "status": "Failed",
              "error": {
                "code": "KcpOneAtATime",
                "message": "`m1` cannot be restarted: `m2` is being restarted",
                "target": "kcp-one-at-a-time",
                "details": [
                  {
                    "code": "Evidence",
                    "message": "`m2` is being restarted"
                  },
                  {
                    "code": "Remedy",
                    "message": "wait"
                  }
                ],
                "additionalInfo": [
                  {
                    "type": "Refusal",
                    "info": {
                      "rule": "kcp-one-at-a-time",
                      "subject": "`m1` cannot be restarted",
                      "evidence": [
                        "`m2` is being restarted"
                      ],
                      "remedy": "wait"
                    }
                  }
                ]
              }
            }
        "#]],
    );
}

#[test]
fn what_was_sent_is_told_as_far_as_it_is_known() {
    let sent = |verb: &str, sent: Option<(&str, Option<&str>)>| {
        let sent = sent.map(|(method, id)| model::Sent { method: method.into(), client_request_id: id.map(str::to_owned) });
        let entry = entry("m1", "alice", ActivityKind::request(verb, sent.as_ref()), ActivityStatus::Succeeded);
        event(RecordPlace { revision: store::Revision(1), position: 0 }, Timestamp::EPOCH, &entry)["httpRequest"].clone()
    };
    assert_eq!(sent("write", Some(("PATCH", Some("r1")))), json!({ "method": "PATCH", "clientRequestId": "r1" }));
    assert_eq!(sent("write", Some(("PUT", None))), json!({ "method": "PUT" }));
    assert_eq!(sent("restart", None), json!({ "method": "POST" }), "of an earlier version");
    assert_eq!(sent("write", None), Value::Null, "of an earlier version");
}

#[test]
fn what_never_came_to_a_verdict_reads_as_it_was_answered() {
    let mut entry = entry("m1", "alice", ActivityKind::request("fly", None), ActivityStatus::Failed);
    let answered = Refused::new(Code::InvalidAction, "there is no action `fly`").target("fly");
    entry.error = Some(answered.logged());
    let (status, error) = (answered.status(), answered.body());
    let event = event(PLACE, Timestamp::EPOCH, &entry);
    let nested: Value = serde_json::from_str(event["properties"]["statusMessage"].as_str().unwrap()).unwrap();
    assert_eq!((&nested["error"], event["subStatus"]["value"].as_str()), (&error["error"], Some("NotFound")));
    assert_eq!(status, StatusCode::NOT_FOUND);
    check(
        entry,
        expect![[r#"
            "Error" "Failed" "Microsoft.NetworkCloud/bareMetalMachines/fly/action"
            "EndRequest" {"value":"NotFound","localizedValue":"NotFound (HTTP Status Code: 404)"}
            "it happened"
            {"method":"POST"}
            {
              "status": "Failed",
              "error": {
                "code": "InvalidAction",
                "message": "there is no action `fly`",
                "target": "fly"
              }
            }
        "#]],
    );
}

#[test]
fn a_device_a_hold_and_an_end_have_names_of_their_own() {
    let fault = of_json(json!({ "class": "unreachable", "delivery": "maybe", "detail": "connection refused" }));
    let mut faulted = entry("m1", "rackwright", ActivityKind::Device { ask: DeviceAsk::GracefulOff, attempt: 2 }, ActivityStatus::Failed);
    faulted.error = Some(ActivityError::Faulted { fault });
    check(
        faulted,
        expect![[r#"
            "Warning" "Failed" "Microsoft.NetworkCloud/bareMetalMachines/bmc/gracefulOff/action"
            "EndRequest" {"value":"BadGateway","localizedValue":"BadGateway (HTTP Status Code: 502)"}
            "it happened"
            null
            {
              "status": "Failed",
              "error": {
                "code": "DeviceFault",
                "message": "unreachable: connection refused",
                "target": "m1"
              }
            }
        "#]],
    );
    let owner = HoldOwner::User { caller: "alice".into() };
    check(
        entry("m1", "alice", ActivityKind::Hold { owner, change: HoldChange::Placed }, ActivityStatus::Succeeded),
        expect![[r#"
            "Informational" "Succeeded" "Microsoft.NetworkCloud/bareMetalMachines/holds/write"
            "EndRequest" {"value":"","localizedValue":""}
            "it happened"
            null
        "#]],
    );
    let ended =
        of_json(json!({ "at": NOW, "result": "Failed", "message": "no time left", "next": "do it", "failure": "DeadlineExceeded" }));
    let mut failed = entry("m1", "alice", ActivityKind::Operation { action: model::Action::Restart }, ActivityStatus::Failed);
    failed.error = Some(ActivityError::Ended { ended });
    check(
        failed,
        expect![[r#"
            "Error" "Failed" "Microsoft.NetworkCloud/bareMetalMachines/restart/action"
            "EndRequest" {"value":"Conflict","localizedValue":"Conflict (HTTP Status Code: 409)"}
            "it happened"
            null
            {
              "status": "Failed",
              "error": {
                "code": "DeadlineExceeded",
                "message": "no time left",
                "target": "m1",
                "details": [
                  {
                    "code": "Next",
                    "message": "do it"
                  }
                ]
              }
            }
        "#]],
    );
}

#[test]
fn an_accepted_request_in_full() {
    let mut entry = entry("m1", "alice", restart(), ActivityStatus::Accepted);
    entry.operation = Some(model::OperationId::new("8f3c1a2b"));
    let event = event(PLACE, Timestamp::parse(NOW).unwrap(), &entry);
    expect![[r#"
        {
          "id": "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1/events/00000000-0000-002a-0000-000000000003/ticks/639303480000000000",
          "eventDataId": "00000000-0000-002a-0000-000000000003",
          "eventTimestamp": "2026-11-15T14:00:00.000Z",
          "submissionTimestamp": "2026-11-15T14:00:00.000Z",
          "correlationId": "alice-m1",
          "operationId": "8f3c1a2b",
          "level": "Informational",
          "caller": "alice",
          "description": "it happened",
          "operationName": {
            "value": "Microsoft.NetworkCloud/bareMetalMachines/restart/action",
            "localizedValue": "Microsoft.NetworkCloud/bareMetalMachines/restart/action"
          },
          "category": {
            "value": "Administrative",
            "localizedValue": "Administrative"
          },
          "eventName": {
            "value": "BeginRequest",
            "localizedValue": "BeginRequest"
          },
          "status": {
            "value": "Accepted",
            "localizedValue": "Accepted"
          },
          "subStatus": {
            "value": "Accepted",
            "localizedValue": "Accepted (HTTP Status Code: 202)"
          },
          "resourceId": "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1",
          "resourceGroupName": "g1",
          "resourceProviderName": {
            "value": "Microsoft.NetworkCloud",
            "localizedValue": "Microsoft.NetworkCloud"
          },
          "resourceType": {
            "value": "Microsoft.NetworkCloud/bareMetalMachines",
            "localizedValue": "Microsoft.NetworkCloud/bareMetalMachines"
          },
          "subscriptionId": "s1",
          "authorization": {
            "action": "Microsoft.NetworkCloud/bareMetalMachines/restart/action",
            "scope": "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1"
          },
          "httpRequest": {
            "method": "POST"
          },
          "properties": {
            "entity": "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1",
            "message": "it happened",
            "eventCategory": "Administrative",
            "cluster": "site1",
            "statusCode": "Accepted",
            "operation": "8f3c1a2b"
          }
        }
    "#]].assert_eq(&format!("{event:#}\n"));
}
