//! What an operation's journal says, in words.

use model::{Errand, Leftover, StepKind};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as Unknown;
use serde_json::Value;

use crate::cli::answer::{field, field_or_dash, text_of};

pub fn fact_in_words(fact: &Value) -> String {
    let text = |pointer| field_or_dash(fact, pointer);
    let attempt = match fact["attempt"].as_u64() {
        Some(n) if n > 1 => format!(" (attempt {n})"),
        _ => String::new(),
    };
    match fact["kind"].as_str() {
        Some("found") => match field(fact, "/boot_id").or_else(|| field(fact, "/bootId")) {
            Some(boot) => format!("found the node running boot {boot}"),
            None => "found no node running".to_owned(),
        },
        Some("asked") => format!("asked for the {}{attempt}", ask_in_words(&text("/ask"))),
        Some("faulted") => format!("the {}{attempt} was answered with {}", ask_in_words(&text("/ask")), fault_in_words(fact)),
        Some("resumed") => "taken up again by a keeper that had just started; the time it was down does not count".to_owned(),
        Some("seen") => format!("saw {} done", step_in_words(&text("/step"))),
        Some("skipped") => format!("left out {}: {}", step_in_words(&text("/step")), text("/reason")),
        Some("evacuating") => "workloads are on the machine: it is emptied first".to_owned(),
        Some("returning") => "workloads of before are brought back".to_owned(),
        Some("draining") => format!("began to drain node `{}` of `{}`", text("/node"), text("/cluster")),
        Some("errandAsked") => format!("asked for {}{attempt}", errand_in_words(fact)),
        Some("errandFaulted") => format!("{}{attempt} was answered with {}", errand_in_words(fact), fault_in_words(fact)),
        Some("kept") => format!("pod `{}` of `{}` is kept on its node: {}", text("/pod"), text("/cluster"), text("/why")),
        Some("left") => match Leftover::deserialize(&fact["what"]) {
            Ok(what) => format!("left behind: {}", text_of(&what.to_string())),
            Err(_) => text_of(&fact.to_string()),
        },
        // A newer server may know more; its own words are better than none.
        _ => text_of(&fact.to_string()),
    }
}

fn fault_in_words(fact: &Value) -> String {
    let text = |pointer| field_or_dash(fact, pointer);
    let maybe = fact.pointer("/fault/delivery").is_some_and(|delivery| delivery == "maybe");
    let delivery = if maybe { "; it may have been heard" } else { "" };
    format!("a fault: {}: {}{delivery}", text("/fault/class"), text("/fault/detail"))
}

fn errand_in_words(fact: &Value) -> String {
    let errand = &fact["errand"];
    text_of(&Errand::deserialize(errand).map_or_else(|_| errand.to_string(), |errand| errand.to_string()))
}

fn ask_in_words(ask: &str) -> String {
    match ask {
        "gracefulOff" => "graceful shutdown".to_owned(),
        "forceOff" => "forced power-off".to_owned(),
        "powerOn" => "power-on".to_owned(),
        other => other.to_owned(),
    }
}

fn step_in_words(step: &str) -> String {
    StepKind::deserialize(step.into_deserializer()).map_or_else(|_: Unknown| step.to_owned(), |step| step.title().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn what_becomes_of_workloads_is_told_in_words() {
        let facts = [
            json!({ "kind": "evacuating" }),
            json!({ "kind": "errandAsked", "attempt": 1, "errand": { "kind": "cordonNode", "cluster": "naks-01", "node": "n1" } }),
            json!({ "kind": "seen", "step": "cordonTenants" }),
            json!({ "kind": "draining", "cluster": "naks-01", "node": "n1" }),
            json!({ "kind": "kept", "cluster": "naks-01", "pod": "shop/web-1", "why": "the budget web needs 2 healthy pods" }),
            json!({ "kind": "left", "what": { "kind": "pod", "cluster": "naks-01", "pod": "shop/web-1", "why": "it had not ended" } }),
            json!({ "kind": "left", "what": { "kind": "lostVm", "vm": "fw1" } }),
            json!({
                "kind": "errandFaulted",
                "attempt": 2,
                "errand": { "kind": "stopVm", "vm": { "name": "fw1", "uid": "u1" }, "shutdown": "graceful" },
                "fault": { "class": "unreachable", "detail": "connection refused", "delivery": "maybe" },
            }),
            json!({ "kind": "returning" }),
            json!({ "kind": "errandAsked", "attempt": 1, "errand": { "kind": "danceOnTheTable" } }),
        ];
        let told: Vec<String> = facts.iter().map(fact_in_words).collect();
        expect![[r#"
            workloads are on the machine: it is emptied first
            asked for the cordon of node `n1`
            saw Cordon Tenant Nodes done
            began to drain node `n1` of `naks-01`
            pod `shop/web-1` of `naks-01` is kept on its node: the budget web needs 2 healthy pods
            left behind: pod `shop/web-1` of `naks-01` (it had not ended)
            left behind: virtual machine `fw1` was lost with the machine
            the shutdown of `fw1` (attempt 2) was answered with a fault: unreachable: connection refused; it may have been heard
            workloads of before are brought back
            asked for {"kind":"danceOnTheTable"}"#]]
        .assert_eq(&told.join("\n"));
    }
}
