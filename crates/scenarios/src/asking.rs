//! What people ask of us in a story, and how we answer.
//!
//! ```text
//! alice vm create web2 2cpu 4g        also `anti-affinity=web1`, `affinity=web1`, `soft-anti-affinity=web1`, which mean the machine,
//!                                     `rack-anti-affinity=web1`, and `bad=FIELD:VALUE`, which says something of the body that is wrong
//! alice vm power-off web1 skip-shutdown
//! alice vm delete web1                also `start`, `restart`, `reimage`
//! ```

use http::Method;
use serde_json::{Value, json};

use crate::house::{CALLER, Reply, machine_path, resource_path};
use crate::story::{Teller, text};

impl Teller {
    pub(crate) async fn ask(&mut self, caller: &str, verb: &str, machine: &str, flags: &[&str]) {
        let (query, body) = flagged(flags);
        let path = format!("{}/{}?api-version=1{query}", machine_path(machine), arm_verb(verb));
        let reply = self.house.call(Method::POST, &path, caller, &body.to_string()).await;
        self.answered(&reply);
    }

    pub(crate) async fn ask_of_vm(&mut self, caller: &str, verb: &str, vm: &str, flags: &[&str]) {
        let (query, body) = flagged(flags);
        let path = resource_path("virtualMachines", vm);
        let reply = match verb {
            "delete" => self.house.call(Method::DELETE, &format!("{path}?api-version=1"), caller, "").await,
            verb => {
                let path = format!("{path}/{}?api-version=1{query}", arm_verb(verb));
                self.house.call(Method::POST, &path, caller, &body.to_string()).await
            }
        };
        self.answered(&reply);
    }

    pub(crate) async fn create_vm(&mut self, caller: &str, vm: &str, words: &[&str]) {
        let path = format!("{}?api-version=1", resource_path("virtualMachines", vm));
        let reply = self.house.call(Method::PUT, &path, caller, &description(words).to_string()).await;
        self.answered(&reply);
    }

    pub(crate) async fn restart_node(&mut self, caller: &str, node: &str, cluster: &str) {
        let path = format!("{}/restartNode?api-version=1", resource_path("kubernetesClusters", cluster));
        let reply = self.house.call(Method::POST, &path, caller, &json!({ "nodeName": node }).to_string()).await;
        self.answered(&reply);
    }

    /// `naks-01` is the cluster, `naks-01/agentpool1` one pool of it.
    pub(crate) async fn set_drain_policy(&mut self, caller: &str, policy: &str, whose: &str) {
        let path = match whose.split_once('/') {
            Some((cluster, pool)) => format!("{}/agentPools/{pool}", resource_path("kubernetesClusters", cluster)),
            None => resource_path("kubernetesClusters", whose),
        };
        let body = json!({ "properties": { "drainPolicy": policy } });
        let reply = self.house.call(Method::PATCH, &format!("{path}?api-version=1"), caller, &body.to_string()).await;
        self.answered(&reply);
    }

    pub(crate) async fn update(&mut self, caller: &str, machine: &str, words: &[&str]) {
        let (mut headers, mut body) = (vec![(CALLER, caller)], json!({}));
        for word in words {
            match word.split_once('=').unwrap_or_else(|| panic!("`{word}` is not `what=value`")) {
                ("details", text) => body["properties"]["machineDetails"] = json!(text),
                ("if-match", etag) => headers.push(("if-match", etag)),
                (tag, value) => body["tags"][tag] = json!(value),
            }
        }
        let path = format!("{}?api-version=1", machine_path(machine));
        let reply = self.house.call_with(Method::PATCH, &path, &headers, &body.to_string()).await;
        if !reply.status.is_success() {
            return self.refused(reply.status.as_u16(), &reply.body);
        }
        let (etag, tags, details) = (&reply.body["etag"], &reply.body["tags"], &reply.body["properties"]["machineDetails"]);
        self.say(&format!("  {} etag {} tags {tags} details {details}", reply.status.as_u16(), text(etag)));
    }

    pub(crate) async fn cancel(&mut self, caller: &str) {
        let path = format!("/rackwright/v1/operations/{}/cancel", self.latest());
        let reply = self.house.call(Method::POST, &path, caller, "").await;
        if reply.status.is_success() {
            self.say(&format!("  {} will be cancelled at the next safe point", reply.status.as_u16()));
        } else {
            self.refused(reply.status.as_u16(), &reply.body);
        }
    }

    /// Tells the answer to a request that may have begun an operation.
    pub(crate) fn answered(&mut self, reply: &Reply) {
        let status = reply.status.as_u16();
        match operation_of(reply) {
            Some(id) => {
                if !self.operations.contains(&id) {
                    self.operations.push(id.clone());
                }
                self.say(&format!("  {status} operation {id}"));
            }
            None if reply.status.is_success() => self.say(&format!("  {status} done")),
            None => self.refused(status, &reply.body),
        }
    }

    pub(crate) fn refused(&mut self, status: u16, body: &Value) {
        let error = &body["error"];
        self.refused += 1;
        let info = &error["additionalInfo"][0]["info"];
        self.say(&format!("  {status} {}", text(&error["code"])));
        match info["rule"].as_str() {
            Some(rule) => {
                self.say(&format!("  error: {}", text(&info["subject"])));
                for fact in info["evidence"].as_array().into_iter().flatten() {
                    self.say(&format!("    rule {rule}: {}", text(fact)));
                }
                self.say(&format!("  hint: {}", text(&info["remedy"])));
            }
            None => self.say(&format!("  error: {}", text(&error["message"]))),
        }
    }
}

/// The operation that an answer names: in its body, or, where that is the resource, in its header.
fn operation_of(reply: &Reply) -> Option<String> {
    match reply.status.as_u16() {
        202 => reply.body["name"].as_str().map(str::to_owned),
        201 => {
            let link = reply.headers.get("azure-asyncoperation")?.to_str().ok()?;
            link.split('?').next()?.rsplit('/').next().map(str::to_owned)
        }
        _ => None,
    }
}

/// Query and body of an action, of its flags.
pub(crate) fn flagged(flags: &[&str]) -> (String, Value) {
    let (mut query, mut body) = (String::new(), json!({}));
    for flag in flags {
        match *flag {
            "skip-shutdown" => body["skipShutdown"] = json!("True"),
            "skip-shutdown=perhaps" => body["skipShutdown"] = json!("Perhaps"),
            "evacuate" => body["evacuate"] = json!("True"),
            "force" => body["force"] = json!("True"),
            "accept-outage" => query.push_str("&acceptControlPlaneOutage=true"),
            "safeguard-none" => body["safeguardMode"] = json!("None"),
            "preserve" => body["storagePolicy"] = json!("Preserve"),
            said => match said.split_once('=') {
                Some((what, value)) => replaced(&mut body, what, value),
                None => body["reason"] = json!(said),
            },
        }
    }
    (query, body)
}

/// What a replace says of the new hardware.
fn replaced(body: &mut Value, what: &str, value: &str) {
    match what {
        "serial" => body["serialNumber"] = json!(value),
        "bmc-mac" => body["bmcMacAddress"] = json!(value),
        "boot-mac" => body["bootMacAddress"] = json!(value),
        "name" => body["machineName"] = json!(value),
        "login" => {
            let (user, password) = value.split_once(':').unwrap_or_else(|| panic!("`{value}` is not `USER:PASSWORD`"));
            body["bmcCredentials"] = json!({ "username": user, "password": password });
        }
        other => panic!("`{other}={value}` is no flag"),
    }
}

/// What the API calls a verb of the command line.
pub(crate) fn arm_verb(verb: &str) -> &str {
    match verb {
        "power-off" => "powerOff",
        "validate" => "validateHardware",
        other => other,
    }
}

fn description(words: &[&str]) -> Value {
    let mut body = json!({
        "location": "local",
        "properties": {
            "adminUsername": "azureuser", "cpuCores": 2, "memorySizeGB": 4, "vmImage": "registry/app:1",
            "storageProfile": { "osDisk": { "diskSizeGB": 20, "createOption": "Persistent" } },
            "networkAttachments": [], "placementHints": [],
        },
    });
    let properties = &mut body["properties"];
    for word in words {
        if let Some((what, value)) = word.split_once('=') {
            match what {
                "bad" => {
                    let (field, value) = value.split_once(':').unwrap_or_else(|| panic!("`{word}` is not `bad=FIELD:VALUE`"));
                    properties[field] = json!(value);
                }
                hint => properties["placementHints"].as_array_mut().expect("a list").push(placement(hint, value)),
            }
        } else if let Some(cores) = word.strip_suffix("cpu") {
            properties["cpuCores"] = json!(whole(cores));
        } else if let Some(memory) = word.strip_suffix('g') {
            properties["memorySizeGB"] = json!(whole(memory));
        } else {
            panic!("`{word}` says nothing of a virtual machine");
        }
    }
    body
}

fn placement(hint: &str, vm: &str) -> Value {
    let (scope, hint) = hint.strip_prefix("rack-").map_or(("Machine", hint), |hint| ("Rack", hint));
    let (execution, hint) = hint.strip_prefix("soft-").map_or(("Hard", hint), |hint| ("Soft", hint));
    let kind = match hint {
        "affinity" => "Affinity",
        "anti-affinity" => "AntiAffinity",
        other => panic!("`{other}` is no hint"),
    };
    json!({ "hintType": kind, "schedulingExecution": execution, "scope": scope, "resourceId": resource_path("virtualMachines", vm) })
}

fn whole(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number"))
}
