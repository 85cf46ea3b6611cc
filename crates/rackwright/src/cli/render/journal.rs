//! What an operation's journal says, in words.

use model::{BootWay, DeviceAsk, Errand, InstallTrouble, InventoryCount, Leftover, OsTarget, StepKind};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as Unknown;
use serde_json::Value;

use crate::cli::answer::{field, field_or_dash, items, text_of};

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
        Some("warned") => format!("warned: {}", text("/words")),
        Some("asked") => format!("asked for the {}{attempt}", ask_in_words(&text("/ask"))),
        Some("faulted") => format!("the {}{attempt} was answered with {}", ask_in_words(&text("/ask")), fault_in_words(fact)),
        Some("resumed") => "taken up again by a keeper that had just started; the time it was down does not count".to_owned(),
        Some("seen") => format!("saw {} done", step_in_words(&text("/step"))),
        Some("skipped") => format!("left out {}: {}", step_in_words(&text("/step")), text("/reason")),
        Some("evacuating") => "the machine is emptied of workloads first".to_owned(),
        Some("returning") => "workloads of before are brought back".to_owned(),
        Some("draining") => format!("began to drain node `{}` of `{}`", text("/node"), text("/cluster")),
        Some("errandAsked") => format!("asked for {}{attempt}", errand_in_words(fact)),
        Some("errandFaulted") => format!("{}{attempt} was answered with {}", errand_in_words(fact), fault_in_words(fact)),
        Some("kept") => format!("pod `{}` of `{}` is kept on its node: {}", text("/pod"), text("/cluster"), text("/why")),
        Some("left") => match Leftover::deserialize(&fact["what"]) {
            Ok(what) => format!("left behind: {}", text_of(&what.to_string())),
            Err(_) => text_of(&fact.to_string()),
        },
        Some("leavingEtcd") => "its member of etcd is to be removed".to_owned(),
        Some("outOfEtcd") => format!("etcd has no member of the machine; it will become one at {}", text("/peer_url")),
        Some("bare") => "found no system to rely on".to_owned(),
        Some("systemDisk") => system_disk_in_words(fact),
        Some("cleaningUp") => {
            let step = step_in_words(&text("/during"));
            format!("gave up at {step}: {}; the machine is switched off, to start from its disk again", text("/because"))
        }
        Some("installing") => {
            format!("began installation {} of runtime {} by {}", text("/round"), text("/version"), way_in_words(&text("/way")))
        }
        Some("inventoried") => {
            let count = |pointer| fact.pointer(pointer).and_then(Value::as_u64);
            let (disks, nics) = (count("/disks").unwrap_or_default(), count("/nics").unwrap_or_default());
            format!("the agent has found {}", InventoryCount { disks, nics, memory_bytes: count("/memory_bytes") })
        }
        Some("reported") => report_in_words(&fact["report"]),
        Some("discarding") => format!("volume `{}` is to be deleted", text("/name")),
        Some("inspecting") => {
            let left_out: Vec<String> = items(fact, "/left_out").iter().filter_map(Value::as_str).map(text_of).collect();
            let without = if left_out.is_empty() { String::new() } else { format!(", without {}", left_out.join(", ")) };
            format!("validates {} machines{without}", items(fact, "/machines").len())
        }
        Some("inspected") => {
            let count = |pointer| items(fact, pointer).len();
            format!("{} machines passed, {} failed, {} could not be validated", text("/passed"), count("/failed"), count("/unknown"))
        }
        Some("validated") => {
            let failures: Vec<String> = items(fact, "/failures").iter().filter_map(Value::as_str).map(text_of).collect();
            let failures = if failures.is_empty() { String::new() } else { format!(": {}", failures.join("; ")) };
            format!("hardware validation came to {}{failures}", text("/result"))
        }
        // A newer server may know more; its own words are better than none.
        _ => text_of(&fact.to_string()),
    }
}

fn system_disk_in_words(fact: &Value) -> String {
    let disk = OsTarget::deserialize(&fact["disk"]).map_or_else(|_| field_or_dash(fact, "/disk"), |disk| disk.to_string());
    let wiped: Vec<String> = items(fact, "/wipe").iter().filter_map(Value::as_str).map(text_of).collect();
    let wiped = if wiped.is_empty() { String::new() } else { format!("; the agent wipes {}", wiped.join(", ")) };
    format!("the system goes to {}{wiped}", text_of(&disk))
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
    DeviceAsk::deserialize(ask.into_deserializer()).map_or_else(|_: Unknown| ask.to_owned(), |ask| ask.to_string())
}

fn way_in_words(way: &str) -> String {
    BootWay::deserialize(way.into_deserializer()).map_or_else(|_: Unknown| way.to_owned(), |way| way.to_string())
}

/// What a machine that is being installed told of itself.
fn report_in_words(report: &Value) -> String {
    let text = |pointer| field_or_dash(report, pointer);
    match report["kind"].as_str() {
        Some("exchange") => "the agent called, and traded its token".to_owned(),
        Some("progress") => format!("the agent has written {} % of the image", text("/percent")),
        Some("written") => format!("the agent has written the image; what it reads back has the digest {}", text("/digest")),
        Some("failed") => {
            let trouble = InstallTrouble::deserialize(&report["trouble"]).map_or_else(|_| text("/trouble"), |trouble| trouble.to_string());
            format!("the agent has given up: {trouble} ({})", text("/detail"))
        }
        Some("phonedHome") => "the new system phoned home".to_owned(),
        _ => text_of(&report.to_string()),
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
    fn an_installation_is_told_in_words() {
        let reported = |report: Value| json!({ "kind": "reported", "round": 1, "report": report });
        let facts = [
            json!({ "kind": "asked", "ask": "insertMedia", "attempt": 1 }),
            json!({ "kind": "installing", "round": 1, "way": "virtualMedia", "version": "4.9.2", "image": "x" }),
            reported(json!({ "kind": "exchange", "nonce": "x" })),
            reported(json!({ "kind": "progress", "percent": 40 })),
            reported(json!({ "kind": "failed", "trouble": "missingDisk", "detail": "no volume `OS`" })),
            reported(json!({ "kind": "phonedHome" })),
            json!({ "kind": "systemDisk", "disk": { "volume": "OS" } }),
            json!({ "kind": "systemDisk", "disk": { "serial": "S1" } }),
            json!({ "kind": "systemDisk", "disk": { "id": "0x5002" }, "wipe": ["S2", "S3"] }),
            json!({ "kind": "inventoried", "round": 1, "disks": 2, "nics": 1, "memory_bytes": 4_294_967_296_u64 }),
            json!({ "kind": "outOfEtcd", "peer_url": "https://10.0.0.4:2380", "others": [] }),
            json!({ "kind": "cleaningUp", "during": "writeImage", "failure": "InstallFailed", "because": "the image cannot be fetched" }),
            json!({ "kind": "discarding", "path": "/v/1", "name": "data" }),
            json!({ "kind": "inspecting", "machines": ["m1", "m2"], "left_out": ["m3 is unmanaged"] }),
            json!({ "kind": "inspected", "passed": 3, "failed": ["m1"], "unknown": [] }),
            json!({ "kind": "validated", "result": "Fail", "failures": ["cpu_sockets expected: 2; observed: 1"] }),
        ];
        let told: Vec<String> = facts.iter().map(fact_in_words).collect();
        expect![[r#"
            asked for the insertion of the agent's image
            began installation 1 of runtime 4.9.2 by virtual media
            the agent called, and traded its token
            the agent has written 40 % of the image
            the agent has given up: a disk that was named is not there (no volume `OS`)
            the new system phoned home
            the system goes to volume `OS`
            the system goes to the drive with serial number S1
            the system goes to disk `0x5002`; the agent wipes S2, S3
            the agent has found 2 disks, 1 NIC, 4 GiB
            etcd has no member of the machine; it will become one at https://10.0.0.4:2380
            gave up at Write Image: the image cannot be fetched; the machine is switched off, to start from its disk again
            volume `data` is to be deleted
            validates 2 machines, without m3 is unmanaged
            3 machines passed, 1 failed, 0 could not be validated
            hardware validation came to Fail: cpu_sockets expected: 2; observed: 1"#]]
        .assert_eq(&told.join("\n"));
    }

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
            the machine is emptied of workloads first
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
