//! Hands for the tests: who asks, what is answered, and how it ended.

use http::Method;
use scenarios::{CALLER, House, Reply, machine_path};
use serde_json::{Value, json};

pub const COMPUTE: &str = "rack1compute01";

/// A small site with runtimes: three control-plane machines and some compute machines in one rack.
pub async fn site(machines: u32) -> House {
    let house = House::build(1, machines).await;
    house.import_runtimes().await;
    house
}

pub async fn post(house: &House, machine: &str, verb: &str, body: &Value) -> Reply {
    post_as(house, machine, verb, body, None).await
}

/// The same with a request id of the client's.
pub async fn post_as(house: &House, machine: &str, verb: &str, body: &Value, id: Option<&str>) -> Reply {
    let path = format!("{}/{verb}?api-version=1", machine_path(machine));
    let mut headers = vec![(CALLER, "alice")];
    headers.extend(id.map(|id| ("x-ms-client-request-id", id)));
    house.call_with(Method::POST, &path, &headers, &body.to_string()).await
}

/// The operation that an answer names.
pub fn operation_of(reply: &Reply) -> String {
    assert_eq!(reply.status, 202, "{:#}", reply.body);
    reply.body["name"].as_str().expect("an operation has an id").to_owned()
}

/// Asks, and returns the operation as it ended.
pub async fn carry_out(house: &House, machine: &str, verb: &str, body: &Value) -> Value {
    let id = operation_of(&post(house, machine, verb, body).await);
    ended(house, &id).await
}

pub async fn ended(house: &House, id: &str) -> Value {
    house.until_ended(id).await;
    house.settle().await;
    house.operation(id).await
}

/// The same of what must succeed.
pub async fn succeed(house: &House, machine: &str, verb: &str, body: &Value) -> Value {
    let operation = carry_out(house, machine, verb, body).await;
    assert_eq!(operation["status"], "Succeeded", "{operation:#}");
    operation
}

pub fn unguarded() -> Value {
    json!({ "safeguardMode": "None" })
}

/// A refusal: its status, its code and all that it says.
pub fn refusal(reply: &Reply) -> (u16, String, String) {
    let error = &reply.body["error"];
    (reply.status.as_u16(), text(&error["code"]), error.to_string())
}

pub fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Breaks something; `fault` is a kind, with its settings.
pub async fn fault(house: &House, fault: &str, machine: &str) {
    let (kind, settings) = fault.split_once(' ').unwrap_or((fault, ""));
    let orders = sim::parse_order(format!("{kind} {machine} {settings}").trim_end(), house.site.layout()).expect("a fault that there is");
    house.site.add_faults(&orders).await.expect("a fault is added");
}

pub async fn clear_faults(house: &House) {
    house.site.clear_faults(|_| true).await.expect("faults go");
}

/// The facts of an operation's journal of this kind.
pub fn facts<'a>(operation: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    operation["journal"].as_array().into_iter().flatten().map(|entry| &entry["fact"]).filter(move |fact| fact["kind"] == kind)
}

/// Lets time pass until an operation's journal has such a fact.
pub async fn until_fact(house: &House, id: &str, is_it: impl Fn(&Value) -> bool) {
    let seen = async {
        while !house.operation(id).await["journal"].as_array().into_iter().flatten().any(|entry| is_it(&entry["fact"])) {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(3_600), seen).await.expect("it is written down within an hour");
}

pub fn is_report(fact: &Value, kind: &str) -> bool {
    fact["kind"] == "reported" && fact["report"]["kind"] == kind
}
