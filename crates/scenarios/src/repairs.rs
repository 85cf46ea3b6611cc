//! Sick servers in a story: what is done to them by hand, what is asked about them, and what can be seen of their insides.
//!
//! ```text
//! with runtimes                       stands after `site …`: the site has runtimes to install machines with
//! swap rack1compute01 part=system-board serial=NEW1
//!                                     somebody exchanges parts; the words are those of `rackwright sim swap`
//! alice replace rack1compute01 serial=NEW1 bmc-mac=… boot-mac=… login=root:secret preserve safeguard-none
//!                                     what the technician wrote down, as flags
//! alice validate rack1compute01       compare its hardware with what it should be
//! alice inspect site1 rack1compute01  the same for a cluster, or for these machines of it
//! alice advise rack1compute01 symptom=hardware repaired=ssd,nic
//! alice verify rack1compute01         how it is, against how it was before the action
//! validation of rack1compute01        the latest, as far as it is no plain pass
//! actions of rack1compute01           its `actionStates`
//! disks of rack1compute01             what is on them, told apart by its beginning
//! etcd                                the members of the undercloud's, as it tells them
//! ```

use http::Method;
use serde_json::{Value, json};

use crate::foreseen::items;
use crate::house::{Reply, machine_path, resource_path};
use crate::story::{Teller, text};
use crate::wiring::etcd_of;

impl Teller {
    pub(crate) async fn swap(&mut self, phrase: &str) {
        let (machine, swap) = sim::parse_swap(phrase).unwrap_or_else(|refused| panic!("`swap {phrase}`: {refused}"));
        let now = self.house.site.swap(&machine, &swap).await.unwrap_or_else(|refused| panic!("`swap {phrase}`: {refused}"));
        self.say(&format!(
            "    serial number {}, MAC of the BMC {}, MAC that it boots from {}",
            now.serial_number, now.bmc_mac, now.boot_mac
        ));
    }

    pub(crate) async fn inspect(&mut self, caller: &str, cluster: &str, machines: &[&str]) {
        let body = if machines.is_empty() { json!({}) } else { json!({ "filterDevices": { "bareMetalMachineNames": machines } }) };
        let path = format!("{}/inspect?api-version=1", resource_path("clusters", cluster));
        let reply = self.house.call(Method::POST, &path, caller, &body.to_string()).await;
        self.answered(&reply);
    }

    pub(crate) async fn advise(&mut self, caller: &str, machine: &str, words: &[&str]) {
        let query: String = words.iter().map(|word| format!("&{word}")).collect();
        let path = format!("{}/advise?api-version=1{query}", machine_path(machine));
        let reply = self.house.call(Method::GET, &path, caller, "").await;
        if !reply.status.is_success() {
            return self.unanswered(&reply);
        }
        let advice = reply.body;
        let then: Vec<String> = items(&advice["then"]).map(text).collect();
        let then = if then.is_empty() { String::new() } else { format!("; then {}", then.join(", ")) };
        self.say(&format!("  symptom {}: next {}{then}", text(&advice["symptom"]), text(&advice["next"])));
        items(&advice["because"]).for_each(|why| self.say(&format!("    because {}", text(why))));
        for tried in items(&advice["tried"]) {
            let counts = if tried["counts"] == true { "" } else { ", which does not count" };
            self.say(&format!("    tried {}: {}{counts}", text(&tried["action"]), text(&tried["result"])));
        }
        for part in items(&advice["parts"]) {
            self.say(&format!("    part {}: replace {}; {}", text(&part["part"]), text(&part["replace"]), text(&part["words"])));
        }
        if let Some(storage) = advice["storage"].as_object() {
            self.say(&format!("    storage {}: {}", text(&storage["policy"]), text(&storage["because"])));
        }
        items(&advice["warnings"]).for_each(|warning| self.say(&format!("    warning: {}", text(warning))));
        if let Some(refusal) = advice["against"].as_object() {
            let evidence: Vec<String> = items(&refusal["evidence"]).map(text).collect();
            self.say(&format!("    just now it would be refused: {}", evidence.join("; ")));
        }
        for command in items(&advice["commands"]) {
            self.say(&format!("    {}: {}", text(&command["why"]), text(&command["command"])));
        }
    }

    /// A question that is refused changes nothing, and is not in the activity log.
    fn unanswered(&mut self, reply: &Reply) {
        let error = &reply.body["error"];
        self.say(&format!("  {} {}: {}", reply.status.as_u16(), text(&error["code"]), text(&error["message"])));
    }

    pub(crate) async fn verify(&mut self, caller: &str, machine: &str) {
        let path = format!("{}/verify?api-version=1", machine_path(machine));
        let reply = self.house.call(Method::GET, &path, caller, "").await;
        if !reply.status.is_success() {
            return self.unanswered(&reply);
        }
        self.say(&format!("  {}", text(&reply.body["result"])));
        for check in items(&reply.body["checks"]) {
            let (name, state) = (text(&check["name"]), text(&check["state"]));
            let told = format!("    {name} {state}: expected {}, found {}", text(&check["expected"]), text(&check["found"]));
            let words = text(&check["words"]);
            self.say(&if words.is_empty() { told } else { format!("{told}; {words}") });
        }
    }

    pub(crate) async fn validation(&mut self, machine: &str) {
        let reply =
            self.house.call(Method::GET, &format!("{}/hardwareValidation?api-version=1", machine_path(machine)), "anybody", "").await;
        if !reply.status.is_success() {
            return self.unanswered(&reply);
        }
        let properties = &reply.body["properties"];
        self.say(&format!("  {} with runtime {}", text(&properties["result"]), text(&properties["runtimeVersion"])));
        for (name, category) in properties.as_object().into_iter().flatten().filter(|(_, category)| category.is_object()) {
            let fields: Vec<&Value> = items(&category["result_detail"]).collect();
            let passed = fields.iter().filter(|field| field["comparison_result"] == "Pass").count();
            let result = text(&category[format!("{name}_result")]);
            self.say(&format!("    {name} {result}: {passed} of {} passed", fields.len()));
            for field in fields.iter().filter(|field| matches!(field["comparison_result"].as_str(), Some("Fail" | "Warning"))) {
                let (what, verdict) = (text(&field["field_name"]), text(&field["comparison_result"]));
                self.say(&format!("      {what} {verdict}: expected {}, fetched {}", text(&field["expected"]), text(&field["fetched"])));
            }
        }
    }

    pub(crate) async fn actions(&mut self, machine: &str) {
        let resource = self.house.machine(machine).await;
        let span = |state: &Value, key: &str| state[key].as_str().map_or("-".to_owned(), |at| at[11..19].to_owned());
        for state in items(&resource["properties"]["actionStates"]) {
            let (from, to) = (span(state, "startTime"), span(state, "endTime"));
            self.say(&format!("    {} {} {from} {to}: {}", text(&state["actionType"]), text(&state["status"]), text(&state["message"])));
            for step in items(&state["stepStates"]) {
                let (from, to) = (span(step, "startTime"), span(step, "endTime"));
                let message = text(&step["message"]);
                let line =
                    format!("      {} {} {from} {to} {}", text(&step["stepName"]), text(&step["status"]), message.trim_start_matches('-'));
                self.say(line.trim_end());
            }
        }
    }

    pub(crate) fn disks(&mut self, machine: &str) {
        let volumes = self.house.site.volumes(machine).expect("the machine is in the site");
        for (name, contents) in volumes {
            // A digest is told apart by its beginning.
            let words: Vec<String> = contents.split(' ').map(|word| word.chars().take(12).collect()).collect();
            self.say(&format!("    {name}: {}", words.join(" ")));
        }
    }

    pub(crate) async fn etcd(&mut self) {
        let members = match etcd_of(&self.house.site).observe_members().await {
            Ok(seen) => seen.members,
            Err(fault) => return self.say(&format!("    {fault}")),
        };
        let mut lines: Vec<String> = members
            .iter()
            .map(|member| {
                let name = if member.name.is_empty() { member.peer_urls.join(" ") } else { member.name.clone() };
                format!("    {name}: {}", if member.is_learner { "learner" } else { "votes" })
            })
            .collect();
        lines.sort();
        lines.iter().for_each(|line| self.say(line));
    }
}
