//! What a person sees of tenants' things through us, and what an action would do to them.

use http::Method;
use serde_json::Value;

use crate::asking::{arm_verb, flagged};
use crate::house::{machine_path, resource_path};
use crate::story::{Teller, text};

impl Teller {
    pub(crate) async fn look_at_vm(&mut self, vm: &str) {
        let reply = self.house.call(Method::GET, &format!("{}?api-version=1", resource_path("virtualMachines", vm)), "anybody", "").await;
        if !reply.status.is_success() {
            return self.say(&format!("  {} {}", reply.status.as_u16(), text(&reply.body["error"]["code"])));
        }
        let (properties, ours) = (&reply.body["properties"], &reply.body["rackwright"]);
        self.say(&format!(
            "  power {} {} {} on {}: {}",
            text(&properties["powerState"]),
            text(&properties["detailedStatus"]),
            text(&properties["provisioningState"]),
            text(&ours["machine"]),
            text(&properties["detailedStatusMessage"])
        ));
        self.waits(&ours["waits"], "    ");
    }

    /// The resources that a machine names as on it.
    pub(crate) async fn workloads(&mut self, machine: &str) {
        let resource = self.house.machine(machine).await;
        for id in items(&resource["properties"]["associatedResourceIds"]) {
            let id = text(id);
            let mut segments = id.rsplit('/');
            let (name, kind) = (segments.next().unwrap_or_default(), segments.next().unwrap_or_default());
            self.say(&format!("    {kind}/{name}"));
        }
    }

    /// Pods whose names are drawn are told by what is not drawn.
    pub(crate) async fn preview(&mut self, caller: &str, verb: &str, machine: &str, flags: &[&str]) {
        let (query, body) = flagged(flags);
        let verb = arm_verb(verb);
        let path = format!("{}/{verb}?api-version=1&preview=true{query}", machine_path(machine));
        let reply = self.house.call(Method::POST, &path, caller, &body.to_string()).await;
        if !reply.status.is_success() {
            return self.refused(reply.status.as_u16(), &reply.body);
        }
        let seen = reply.body;
        if let Some(refusal) = seen["refusal"].as_object() {
            self.say(&format!("  would be refused: {} ({})", text(&refusal["message"]), text(&refusal["rule"])));
            items(&refusal["evidence"]).for_each(|fact| self.say(&format!("    {}", text(fact))));
        }
        for vm in items(&seen["virtualMachines"]) {
            self.say(&format!("    vm {}: {}", text(&vm["name"]), text(&vm["outcome"])));
        }
        for node in items(&seen["nodes"]) {
            let why = node["why"].as_str().map_or_else(String::new, |why| format!(", {why}"));
            self.say(&format!("    node {} ({}): {}{why}", text(&node["node"]), text(&node["drainPolicy"]), text(&node["outcome"])));
        }
        let mut pods: Vec<String> = items(&seen["pods"]).map(pod_line).collect();
        pods.sort();
        pods.iter().for_each(|pod| self.say(pod));
        for budget in items(&seen["budgets"]) {
            let why = budget["why"].as_str().map_or_else(String::new, |why| format!(": {why}"));
            let (name, allowed, affected) = (text(&budget["budget"]), &budget["allowed"], &budget["affected"]);
            self.say(&format!("    budget {name} allows {allowed} of {affected}, blocks {}{why}", budget["blocking"]));
        }
        if seen["quorum"].is_object() {
            let (quorum, votes) = (&seen["quorum"], |key: &str| seen["quorum"][key].to_string());
            let (before, after, needed) = (votes("votingBefore"), votes("votingAfter"), votes("needed"));
            self.say(&format!("    control plane: {before} of {} now, {after} after, {needed} needed", quorum["members"]));
        }
        for quorum in items(&seen["tenantQuorums"]) {
            let (before, members) = (&quorum["votingBefore"], &quorum["members"]);
            let (after, needed) = (&quorum["votingAfter"], &quorum["needed"]);
            let lost = if quorum["lost"] == true { ", its API goes" } else { "" };
            let cluster = text(&quorum["cluster"]);
            self.say(&format!("    control plane of {cluster}: {before} of {members} now, {after} after, {needed} needed{lost}"));
        }
        for hold in items(&seen["holds"]) {
            self.say(&format!("    held by {}: {}", text(&hold["owner"]), text(&hold["reason"])));
        }
        let duration = &seen["duration"];
        self.say(&format!("    {} s, at most {} s: {}", duration["expectedSeconds"], duration["atMostSeconds"], text(&duration["basis"])));
        items(&seen["warnings"]).for_each(|warning| self.say(&format!("    warning: {}", text(warning))));
        items(&seen["unknowns"]).for_each(|unknown| self.say(&format!("    not known: {}", text(unknown))));
    }
}

fn pod_line(pod: &Value) -> String {
    let more: Vec<String> = ["to", "budget", "why"].iter().filter_map(|key| pod[key].as_str()).map(|word| format!(" {word}")).collect();
    let missing = pod["missing"]["inWords"].as_str().map_or_else(String::new, |missing| format!(" for want of {missing}"));
    format!("    pod {} on {}: {}{missing}{}", undrawn(&text(&pod["pod"])), text(&pod["node"]), text(&pod["outcome"]), more.concat())
}

/// `default/web-6d4cf56db6-x2x9p` is told as `default/web-*`; a name without a drawn end stays.
fn undrawn(pod: &str) -> String {
    match pod.rsplit_once('-') {
        Some((owner, end)) if end.len() == 5 => format!("{}-*", owner.rsplit_once('-').map_or(owner, |(owner, _)| owner)),
        _ => pod.to_owned(),
    }
}

pub(crate) fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
