//! Who may log in and do what, over HTTP.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use sim::Vendor;

use crate::harness::{Harness, pass, send};

const ACCOUNTS: &str = "/redfish/v1/AccountService/Accounts";

fn account(user: &str, role: &str) -> Value {
    json!({"UserName": user, "Password": "passw0rd1", "RoleId": role})
}

#[tokio::test(start_paused = true)]
async fn a_new_account_can_log_in_until_it_is_deleted() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Dell);
    let made = harness.post(&machine, ACCOUNTS, &account("bob", "Operator")).await;
    assert_eq!((made.status, &made.body["Password"]), (StatusCode::CREATED, &Value::Null));
    let path = made.headers["location"].to_str().unwrap().to_owned();
    let read = |password| harness.bmc_as(&machine, ("bob", password), &[], ("GET", "/redfish/v1/Systems"), &Value::Null);
    assert_eq!(read("passw0rd1").await.status, StatusCode::OK);
    harness.patch(&machine, &path, &json!({"Password": "an0ther-one"})).await;
    assert_eq!(read("passw0rd1").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(read("an0ther-one").await.status, StatusCode::OK);
    harness.patch(&machine, &path, &json!({"Enabled": false})).await;
    assert_eq!(read("an0ther-one").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(harness.bmc(&machine, "DELETE", &path, "").await.status, StatusCode::NO_CONTENT);
    assert_eq!(harness.read(&machine, ACCOUNTS).await["Members@odata.count"], 1);
}

#[tokio::test(start_paused = true)]
async fn who_may_log_in_is_remembered_over_a_crash() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Dell);
    let spec = harness.machine(&machine);
    harness.patch(&machine, &format!("{ACCOUNTS}/2"), &json!({"Password": "an0ther-one"})).await;
    let harness = harness.crash_and_reopen(Duration::from_secs(3_600)).await;
    assert_eq!(harness.bmc(&machine, "GET", "/redfish/v1/Systems", "").await.status, StatusCode::UNAUTHORIZED);
    let login = (spec.bmc_user.as_str(), "an0ther-one");
    assert_eq!(harness.bmc_as(&machine, login, &[], ("GET", "/redfish/v1/Systems"), &Value::Null).await.status, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_session_is_worth_what_its_account_is_worth() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Hpe);
    let made = harness.post(&machine, ACCOUNTS, &account("bob", "Administrator")).await;
    let path = made.headers["location"].to_str().unwrap().to_owned();
    let router = || harness.site.redfish(&machine).unwrap();
    let login = r#"{"UserName":"bob","Password":"passw0rd1"}"#;
    let opened = send(router(), "POST", "/redfish/v1/SessionService/Sessions", &[], login).await;
    let token = opened.headers["x-auth-token"].to_str().unwrap();
    let reset = "/redfish/v1/Managers/1/Actions/Manager.Reset";
    harness.patch(&machine, &path, &json!({"RoleId": "ReadOnly"})).await;
    assert_eq!(send(router(), "POST", reset, &[("x-auth-token", token)], "{}").await.status, StatusCode::FORBIDDEN);
    harness.bmc(&machine, "DELETE", &path, "").await;
    assert_eq!(send(router(), "GET", "/redfish/v1/Systems", &[("x-auth-token", token)], "").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test(start_paused = true)]
async fn each_role_may_do_what_the_standard_gives_it() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Hpe);
    let mut paths = Vec::new();
    for role in ["Administrator", "Operator", "ReadOnly"] {
        let made = harness.post(&machine, ACCOUNTS, &account(&format!("some-{role}"), role)).await;
        paths.push(made.headers["location"].to_str().unwrap().to_owned());
    }
    let eject = "/redfish/v1/Managers/1/VirtualMedia/2/Actions/VirtualMedia.EjectMedia";
    let boot = json!({"Boot": {"BootSourceOverrideTarget": "Hdd"}});
    let requests = [
        ("GET", "/redfish/v1/Systems/1", Value::Null, [200, 200, 200]),
        ("PATCH", "/redfish/v1/Systems/1", boot, [200, 200, 403]),
        ("POST", eject, json!({}), [204, 403, 403]),
        ("POST", ACCOUNTS, json!({}), [400, 403, 403]),
        ("PATCH", paths[0].as_str(), json!({"Password": "passw0rd1"}), [200, 403, 403]),
        ("PATCH", paths[2].as_str(), json!({"Password": "passw0rd1"}), [200, 403, 200]),
        ("PATCH", paths[2].as_str(), json!({"RoleId": "ReadOnly"}), [200, 403, 403]),
        ("PATCH", "/redfish/v1/SessionService", json!({"SessionTimeout": 600}), [200, 403, 403]),
    ];
    for (method, path, body, expected) in requests {
        for (role, expected) in ["Administrator", "Operator", "ReadOnly"].into_iter().zip(expected) {
            let reply = harness.bmc_as(&machine, (&format!("some-{role}"), "passw0rd1"), &[], (method, path), &body).await;
            assert_eq!(reply.status.as_u16(), expected, "{role} {method} {path} {}", reply.body);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn accounts_have_limits_that_are_explained() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Supermicro);
    let cases = [
        (json!({"UserName": "bob"}), "PropertyMissing"),
        (json!({"UserName": "bob", "Password": "short", "RoleId": "Operator"}), "PropertyValueFormatError"),
        (json!({"UserName": "b b", "Password": "passw0rd1", "RoleId": "Operator"}), "PropertyValueFormatError"),
        (account("bob", "Emperor"), "PropertyValueNotInList"),
        (account("ADMIN", "Operator"), "ResourceAlreadyExists"),
    ];
    for (body, id) in cases {
        let reply = harness.post(&machine, ACCOUNTS, &body).await;
        assert_eq!((reply.status, &reply.body["error"]["code"]), (StatusCode::BAD_REQUEST, &json!(format!("Base.1.18.{id}"))), "{body}");
    }
    for number in 2..=16 {
        assert_eq!(harness.post(&machine, ACCOUNTS, &account(&format!("user{number}"), "Operator")).await.status, StatusCode::CREATED);
    }
    let full = harness.post(&machine, ACCOUNTS, &account("one-more", "Operator")).await;
    assert_eq!(full.body["error"]["code"], "Base.1.18.CreateLimitReachedForResource");
    let last = harness.bmc(&machine, "DELETE", &format!("{ACCOUNTS}/1"), "").await;
    assert_eq!(last.status, StatusCode::BAD_REQUEST);
    assert!(last.body.to_string().contains("last enabled administrator"), "{}", last.body);
}

#[tokio::test(start_paused = true)]
async fn sessions_run_out_when_their_timeout_says() {
    let harness = Harness::start().await;
    let machine = harness.of(Vendor::Hpe);
    let spec = harness.machine(&machine);
    let service = "/redfish/v1/SessionService";
    for wrong in [json!(5), json!("600"), json!(100_000)] {
        assert_eq!(harness.patch(&machine, service, &json!({"SessionTimeout": wrong})).await.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
    assert_eq!(harness.patch(&machine, service, &json!({"SessionTimeout": 60})).await.body["SessionTimeout"], 60);
    let router = || harness.site.redfish(&machine).unwrap();
    let login = json!({"UserName": spec.bmc_user, "Password": spec.bmc_password}).to_string();
    let opened = send(router(), "POST", "/redfish/v1/SessionService/Sessions", &[], &login).await;
    let token = opened.headers["x-auth-token"].to_str().unwrap();
    pass(59).await;
    assert_eq!(send(router(), "GET", "/redfish/v1/Systems", &[("x-auth-token", token)], "").await.status, StatusCode::OK);
    pass(60).await;
    assert_eq!(send(router(), "GET", "/redfish/v1/Systems", &[("x-auth-token", token)], "").await.status, StatusCode::UNAUTHORIZED);
}
