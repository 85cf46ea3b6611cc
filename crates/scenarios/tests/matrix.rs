//! Every action on every kind of machine, on a healthy site: what is answered, how it ends, what the BMC has witnessed.

use std::fmt::Write;
use std::time::Duration;

use expect_test::expect_file;
use http::Method;
use scenarios::{House, machine_path};

const ROLES: [(&str, &str); 4] =
    [("control plane", "rack1control01"), ("spare", "rack4control01"), ("management", "rack2control02"), ("compute", "rack3compute01")];

const ACTIONS: [(&str, &str); 7] = [
    ("powerOff", "{}"),
    ("powerOff", r#"{"skipShutdown":"True"}"#),
    ("start", ""),
    ("restart", ""),
    ("cordon", r#"{"evacuate":"False"}"#),
    ("cordon", r#"{"evacuate":"True"}"#),
    ("uncordon", ""),
];

async fn act_and_tell(house: &House, machine: &str, verb: &str, body: &str) -> String {
    let path = format!("{}/{verb}?api-version=2026-07-01", machine_path(machine));
    let reply = house.call(Method::POST, &path, "alice", body).await;
    let Some(id) = reply.body["name"].as_str().filter(|_| reply.status == 202) else {
        return format!("{} {}", reply.status.as_u16(), reply.body["error"]["code"]);
    };
    house.until_ended(id).await;
    let operation = house.operation(id).await;
    let log = house.site.witness(machine).expect("the machine is there");
    let resets: Vec<String> = log.entries().map(|entry| format!("{:?}", entry.logged)).collect();
    format!("202 {} {} [{}]", operation["status"], operation["message"], resets.join(" "))
}

#[tokio::test(start_paused = true)]
async fn every_action_on_every_role() {
    let mut table = String::new();
    for (role, machine) in ROLES {
        for (verb, body) in ACTIONS {
            let house = House::build(4, 3).await;
            let told = act_and_tell(&house, machine, verb, body).await;
            writeln!(table, "{role:<13} {verb:<8} {body:<24} {told}").expect("a string takes text");
            house.close().await;
        }
    }
    expect_file!["../stories/every-action-on-every-role.golden"].assert_eq(&table);
}

/// A thousand callers at once: one operation, and everybody else is told which.
#[tokio::test(start_paused = true)]
async fn a_crowd_asks_for_the_same_machine() {
    let house = House::build(4, 3).await;
    let path = format!("{}/restart?api-version=1", machine_path("rack1compute01"));
    let asks = (0..200).map(|n| {
        let (house, path) = (&house, &path);
        async move { house.call(Method::POST, path, &format!("caller{n}"), "").await }
    });
    let replies = futures::future::join_all(asks).await;
    let accepted = replies.iter().filter(|reply| reply.status == 202).count();
    let refused = replies.iter().filter(|reply| reply.body["error"]["code"] == "OneActionPerMachine").count();
    assert_eq!((accepted, refused), (1, 199));
    tokio::time::sleep(Duration::from_secs(600)).await;
    let counters = house.site.witness("rack1compute01").expect("the machine is there").counters();
    assert_eq!((counters.powered_off, counters.powered_on), (1, 1));
    house.close().await;
}
