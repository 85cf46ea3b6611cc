//! The test plays the agent of a machine whose own one is silent: what the install face makes of calls that come twice, late, or in
//! another order.

use axum::body::to_bytes;
use bytes::Bytes;
use http::{Method, Request};
use scenarios::{House, INSTALL_URL};
use serde_json::{Value, json};
use sim::Net;

use crate::hand::{COMPUTE, ended, facts, fault, operation_of, post, unguarded, until_fact};

/// The line before the configuration in an image.
const MARKER: &str = "RACKWRIGHT-AGENT-CONFIG-v1\n";

struct Agent {
    house: House,
    operation: String,
    config: Value,
}

impl Agent {
    /// A reimage that has come to the power-on for the agent. By PXE, since the image can be had without a secret there.
    async fn started() -> Agent {
        let house = House::build(1, 4).await;
        let mut runtime = scenarios::runtime("4.9.2");
        runtime["properties"]["boot"].as_object_mut().expect("a runtime has ways").remove("http");
        house.import_runtime("4.9.2", &runtime).await;
        fault(&house, "bmc-refuses-media", COMPUTE).await;
        fault(&house, "agent-never-calls", COMPUTE).await;
        let operation = operation_of(&post(&house, COMPUTE, "reimage", &unguarded()).await);
        until_fact(&house, &operation, |fact| fact["kind"] == "seen" && fact["step"] == "agentOn").await;
        let mac = house.site.identity(COMPUTE).expect("the machine is there").boot_mac.to_ascii_lowercase();
        let mut agent = Agent { house, operation, config: Value::Null };
        let (status, image) = agent.send(Method::GET, &format!("{INSTALL_URL}/install/v1/pxe/{mac}"), "", "").await;
        assert_eq!(status, 200);
        let image = String::from_utf8_lossy(&image).into_owned();
        let (_, config) = image.split_once(MARKER).expect("the image has a configuration");
        let config = serde_json::Deserializer::from_str(config).into_iter().next().expect("it is one object");
        agent.config = config.expect("it is JSON");
        agent
    }

    async fn send(&self, method: Method, url: &str, token: &str, body: &str) -> (u16, Bytes) {
        let request = Request::builder().method(method).uri(url).header("authorization", format!("Bearer {token}"));
        let request = request.body(Bytes::from(body.to_owned())).expect("the test's request is well formed");
        let response = self.house.net.send(request).await.expect("the install face answers");
        let status = response.status().as_u16();
        (status, to_bytes(response.into_body(), 1 << 20).await.expect("the answer is whole"))
    }

    async fn tell(&self, what: &str, token: &Value, body: &Value) -> (u16, Value) {
        let field = |name: &str| self.config[name].as_str().map_or_else(|| self.config[name].to_string(), str::to_owned);
        let attempt = format!("{}/{}/{}", field("cluster"), field("operation"), field("round"));
        let url = format!("{}/install/v1/attempts/{attempt}/{what}", field("url"));
        let method = if what == "seed" { Method::GET } else { Method::POST };
        let (status, answer) = self.send(method, &url, token.as_str().unwrap_or_default(), &body.to_string()).await;
        (status, serde_json::from_slice(&answer).unwrap_or_default())
    }

    async fn exchange(&self, nonce: &str) -> (u16, Value) {
        self.tell("exchange", &self.config["token"], &json!({ "machine": COMPUTE, "nonce": nonce })).await
    }

    async fn reports(&self) -> Vec<Value> {
        let operation = self.house.operation(&self.operation).await;
        facts(&operation, "reported").map(|fact| fact["report"]["kind"].clone()).collect()
    }
}

const FIRST: &str = "drawn by the first agent";
const SECOND: &str = "drawn by another agent";

#[tokio::test(start_paused = true)]
async fn what_an_agent_tells_twice_late_or_out_of_order_changes_nothing() {
    let agent = Agent::started().await;
    let (status, session) = agent.exchange(FIRST).await;
    assert_eq!(status, 200, "{session}");
    assert_eq!(agent.exchange(FIRST).await, (200, session.clone()), "an answer that was lost is given again");
    let (token, sha256) = (&session["session"], &session["image"]["sha256"]);
    let report = async |body: Value| agent.tell("report", token, &body).await.0;
    assert_eq!(report(json!({ "kind": "progress", "percent": 50 })).await, 204);
    assert_eq!(report(json!({ "kind": "progress", "percent": 20 })).await, 204, "late");
    assert_eq!(agent.tell("report", &agent.config["token"], &json!({ "kind": "written", "sha256": sha256 })).await.0, 401);
    let (status, seed) = agent.tell("seed", token, &Value::Null).await;
    assert_eq!(status, 200);
    let seed = seed["userData"].as_str().expect("it has user data").to_owned();
    let system = seed.split("token: ").nth(1).and_then(|rest| rest.split(['\n', '}', ' ']).next()).map(|token| token.trim_matches('"'));
    let system = Value::from(system.expect("user data has a token to phone home with"));
    assert_eq!(agent.tell("phone-home", &system, &Value::Null).await.0, 409, "the new system cannot run yet");
    assert_eq!(report(json!({ "kind": "written", "sha256": sha256 })).await, 204);
    assert_eq!(report(json!({ "kind": "written", "sha256": sha256 })).await, 204, "twice");
    assert_eq!(report(json!({ "kind": "progress", "percent": 90 })).await, 204, "late");
    assert_eq!(report(json!({ "kind": "written", "sha256": "0".repeat(64) })).await, 409, "another digest");
    assert_eq!(report(json!({ "kind": "failed", "trouble": "diskFailed", "detail": "" })).await, 409, "it was written");
    assert_eq!(agent.exchange(SECOND).await.0, 409, "the token opens nothing any more");
    assert_eq!(agent.reports().await, ["exchange", "progress", "written"]);
    until_fact(&agent.house, &agent.operation, |fact| fact["kind"] == "seen" && fact["step"] == "systemOn").await;
    assert_eq!(agent.tell("phone-home", &system, &Value::Null).await.0, 204);
    assert_eq!(agent.tell("phone-home", &system, &Value::Null).await.0, 204, "twice");
    let operation = ended(&agent.house, &agent.operation).await;
    assert_eq!(operation["status"], "Succeeded", "{operation:#}");
    assert_eq!(agent.reports().await, ["exchange", "progress", "written", "phonedHome"]);
    assert_eq!(agent.tell("phone-home", &system, &Value::Null).await.0, 409, "it is over");
    agent.house.check_log().await;
    agent.house.close().await;
}

#[tokio::test(start_paused = true)]
async fn another_agent_with_the_same_token_ends_the_attempt_and_both_are_sent_away() {
    let agent = Agent::started().await;
    let (_, session) = agent.exchange(FIRST).await;
    assert_eq!(agent.exchange(SECOND).await.0, 409);
    let operation = ended(&agent.house, &agent.operation).await;
    let message = operation["message"].as_str().unwrap_or_default();
    assert!(operation["status"] == "Failed" && message.contains("the token was used twice"), "{operation:#}");
    assert_eq!(agent.exchange(FIRST).await.0, 409);
    assert_eq!(agent.tell("seed", &session["session"], &Value::Null).await.0, 409);
    assert_eq!(agent.tell("report", &session["session"], &json!({ "kind": "progress", "percent": 1 })).await.0, 409);
    let journal = operation["journal"].to_string();
    assert!(!journal.contains(FIRST) && !journal.contains(session["session"].as_str().unwrap()), "no secret is in the journal");
    agent.house.close().await;
}
