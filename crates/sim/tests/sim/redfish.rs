//! A BMC as a Redfish client meets it.

use http::StatusCode;

use crate::harness::{Harness, pass, send};

#[tokio::test(start_paused = true)]
async fn the_root_is_open_and_the_rest_wants_a_login() {
    let harness = Harness::start().await;
    let router = || harness.site.redfish("rack1compute01").unwrap();
    for path in ["/redfish", "/redfish/", "/redfish/v1", "/redfish/v1/", "/redfish/v1/odata", "/redfish/v1/$metadata"] {
        let reply = send(router(), "GET", path, &[], "").await;
        assert_eq!(reply.status, StatusCode::OK, "{path}");
        assert_eq!(reply.headers["odata-version"], "4.0", "{path}");
    }
    let refused = send(router(), "GET", "/redfish/v1/Systems", &[], "").await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    assert!(refused.headers.contains_key("www-authenticate"));
    assert_eq!(refused.body["error"]["@Message.ExtendedInfo"][0]["MessageId"], "Base.1.18.NoValidSession");
    let wrong = send(router(), "GET", "/redfish/v1/Systems", &[("authorization", "Basic cm9vdDpyb290")], "").await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test(start_paused = true)]
async fn every_link_of_every_vendor_leads_somewhere() {
    let harness = Harness::start().await;
    for machine in ["rack1compute01", "rack2compute01", "rack3compute01", "rack4compute01"] {
        let mut waiting = vec!["/redfish/v1/".to_owned()];
        let mut seen = std::collections::BTreeSet::new();
        harness.reset(machine, "On").await;
        while let Some(path) = waiting.pop() {
            if !seen.insert(path.clone()) {
                continue;
            }
            let reply = harness.bmc(machine, "GET", &path, "").await;
            assert_eq!(reply.status, StatusCode::OK, "{machine} {path}");
            assert_eq!(reply.body["@odata.id"], path, "{machine}");
            assert!(reply.headers.contains_key("etag"), "{machine} {path}");
            collect_links(&reply.body, &mut waiting);
        }
        assert!(seen.len() > 90, "{machine} {seen:?}");
    }
}

fn collect_links(value: &serde_json::Value, links: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            links.extend(fields.get("@odata.id").and_then(|link| link.as_str()).map(str::to_owned));
            fields.values().for_each(|value| collect_links(value, links));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|value| collect_links(value, links)),
        _ => {}
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_opens_the_door_until_it_is_closed() {
    let harness = Harness::start().await;
    let spec = harness.machine("rack1compute01");
    let router = || harness.site.redfish("rack1compute01").unwrap();
    let sessions = "/redfish/v1/SessionService/Sessions";
    let wrong = send(router(), "POST", sessions, &[], r#"{"UserName":"root","Password":"calvin"}"#).await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
    let login = format!(r#"{{"UserName":"{}","Password":"{}"}}"#, spec.bmc_user, spec.bmc_password);
    let opened = send(router(), "POST", sessions, &[], &login).await;
    assert_eq!(opened.status, StatusCode::CREATED);
    let token = opened.headers["x-auth-token"].to_str().unwrap();
    let location = opened.headers["location"].to_str().unwrap();
    assert_eq!(send(router(), "GET", "/redfish/v1/Systems", &[("x-auth-token", token)], "").await.status, StatusCode::OK);
    assert_eq!(send(router(), "GET", location, &[("x-auth-token", token)], "").await.body["UserName"], spec.bmc_user);
    assert_eq!(send(router(), "DELETE", location, &[("x-auth-token", token)], "").await.status, StatusCode::NO_CONTENT);
    assert_eq!(send(router(), "GET", "/redfish/v1/Systems", &[("x-auth-token", token)], "").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test(start_paused = true)]
async fn an_idle_session_runs_out() {
    let harness = Harness::start().await;
    let spec = harness.machine("rack1compute01");
    let router = || harness.site.redfish("rack1compute01").unwrap();
    let login = format!(r#"{{"UserName":"{}","Password":"{}"}}"#, spec.bmc_user, spec.bmc_password);
    let opened = send(router(), "POST", "/redfish/v1/SessionService/Sessions/", &[], &login).await;
    let token = opened.headers["x-auth-token"].to_str().unwrap();
    pass(1_799).await;
    assert_eq!(send(router(), "GET", "/redfish/v1/Systems", &[("x-auth-token", token)], "").await.status, StatusCode::OK);
    pass(1_800).await;
    assert_eq!(send(router(), "GET", "/redfish/v1/Systems", &[("x-auth-token", token)], "").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test(start_paused = true)]
async fn power_takes_its_time() {
    let harness = Harness::start().await;
    let machine = "rack1compute01";
    assert_eq!(harness.power(machine).await, "On");
    assert_eq!(harness.reset(machine, "ForceOff").await, StatusCode::NO_CONTENT);
    assert_eq!(harness.power(machine).await, "PoweringOff");
    assert_eq!(harness.reset(machine, "On").await, StatusCode::CONFLICT);
    pass(5).await;
    assert_eq!(harness.power(machine).await, "Off");
    assert_eq!(harness.reset(machine, "ForceOff").await, StatusCode::NO_CONTENT);
    assert_eq!(harness.reset(machine, "GracefulRestart").await, StatusCode::CONFLICT);
    assert_eq!(harness.reset(machine, "On").await, StatusCode::NO_CONTENT);
    assert_eq!(harness.power(machine).await, "PoweringOn");
    pass(20).await;
    assert_eq!(harness.power(machine).await, "On");
    assert_eq!(harness.reset(machine, "On").await, StatusCode::NO_CONTENT);
}

#[tokio::test(start_paused = true)]
async fn the_log_tells_over_http_what_was_asked_and_what_happened() {
    let harness = Harness::start().await;
    let machine = "rack1compute01";
    harness.reset(machine, "ForceOff").await;
    harness.reset(machine, "Nmi").await;
    pass(6).await;
    let manager =
        harness.bmc(machine, "GET", "/redfish/v1/Managers", "").await.body["Members"][0]["@odata.id"].as_str().unwrap().to_owned();
    let logs = harness.bmc(machine, "GET", &format!("{manager}/LogServices"), "").await;
    let log = logs.body["Members"][0]["@odata.id"].as_str().unwrap().to_owned();
    let entries = harness.bmc(machine, "GET", &format!("{log}/Entries"), "").await.body;
    let messages: Vec<&str> = entries["Members"].as_array().unwrap().iter().map(|entry| entry["Message"].as_str().unwrap()).collect();
    assert_eq!(
        messages,
        [
            "Reset ForceOff was requested and answered with 204.",
            "Reset Nmi was requested and answered with 400.",
            "The system powered off."
        ]
    );
    assert_eq!(harness.site.witness(machine).unwrap().counters().powered_off, 1);
}

#[tokio::test(start_paused = true)]
async fn mistakes_are_explained_in_redfish_words() {
    let harness = Harness::start().await;
    let machine = "rack1compute01";
    let system = harness.system_path(machine).await;
    let reset = format!("{system}/Actions/ComputerSystem.Reset");
    let cases = [
        ("POST", reset.as_str(), "{", 400, "Base.1.18.MalformedJSON"),
        ("POST", &reset, "[]", 400, "Base.1.18.MalformedJSON"),
        ("POST", &reset, "{}", 400, "Base.1.18.ActionParameterMissing"),
        ("POST", &reset, r#"{"ResetType":"Nmi"}"#, 400, "Base.1.18.ActionParameterValueNotInList"),
        ("GET", "/redfish/v1/Systems/Nothing", "", 404, "Base.1.18.ResourceMissingAtURI"),
        ("DELETE", &system, "", 405, "Base.1.18.OperationNotAllowed"),
        ("GET", &reset, "", 405, "Base.1.18.OperationNotAllowed"),
    ];
    for (method, path, body, status, id) in cases {
        let reply = harness.bmc(machine, method, path, body).await;
        assert_eq!(reply.status.as_u16(), status, "{method} {path} {body}");
        assert_eq!(reply.body["error"]["@Message.ExtendedInfo"][0]["MessageId"], id);
        assert_eq!(reply.body["error"]["code"], id);
    }
    assert_eq!(harness.bmc(machine, "DELETE", &system, "").await.headers["allow"], "GET, HEAD, PATCH");
    let old = send(harness.site.redfish(machine).unwrap(), "GET", "/redfish/v1/", &[("odata-version", "3.0")], "").await;
    assert_eq!(old.status, StatusCode::PRECONDITION_FAILED);
}

#[tokio::test(start_paused = true)]
async fn an_unchanged_document_is_not_sent_again() {
    let harness = Harness::start().await;
    let router = || harness.site.redfish("rack1compute01").unwrap();
    let first = send(router(), "GET", "/redfish/v1/", &[], "").await;
    let etag = first.headers["etag"].to_str().unwrap();
    let second = send(router(), "GET", "/redfish/v1/", &[("if-none-match", etag)], "").await;
    assert_eq!(second.status, StatusCode::NOT_MODIFIED);
    assert_eq!(second.body, "");
    assert_eq!(send(router(), "HEAD", "/redfish/v1/", &[], "").await.body, "");
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_does_not_exist_has_no_bmc() {
    let harness = Harness::start().await;
    assert!(harness.site.redfish("rack9compute01").is_none());
    assert!(harness.site.witness("rack9compute01").is_none());
}
