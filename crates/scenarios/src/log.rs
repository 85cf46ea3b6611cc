//! The activity log as a client reads it, and what must be so of it after any story.

use serde_json::Value;

use crate::house::{House, machine_path};
use crate::wiring::SUBSCRIPTION;

/// The filter of a machine's own entries.
pub fn about(machine: &str) -> String {
    format!("resourceId eq '{}'", machine_path(machine))
}

impl House {
    /// The entries that pass a filter, oldest first, read page by page.
    pub async fn log(&self, filter: &str) -> Vec<Value> {
        let path = format!("/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Insights/eventtypes/management/values");
        let mut events = self.pages(&format!("{path}?api-version=2015-04-01&$filter={}", filter.replace(' ', "%20"))).await;
        events.reverse();
        events
    }

    /// All items of a list.
    pub async fn pages(&self, first: &str) -> Vec<Value> {
        let (mut items, mut next) = (Vec::new(), first.to_owned());
        loop {
            let page = self.get(&next).await;
            let value = page["value"].as_array().unwrap_or_else(|| panic!("{next} is no list: {page:#}"));
            items.extend(value.iter().cloned());
            match page["nextLink"].as_str() {
                Some(link) => next = link.strip_prefix("https://localhost").expect("a link leads back").to_owned(),
                None => return items,
            }
        }
    }

    /// Every operation that ended has one end in the log, everything that was asked of a device for it one entry, and so
    /// has every other fact of its journal that is not merely a finding. Returns the log.
    pub async fn check_log(&self) -> Vec<Value> {
        let log = self.log("").await;
        for listed in self.pages("/rackwright/v1/operations").await {
            let id = listed["id"].as_str().expect("an operation has an id");
            let operation = self.operation(id).await;
            let own: Vec<&Value> = log.iter().filter(|event| event["properties"]["operation"] == id).collect();
            assert!(own.iter().filter(|event| !is_of_canceller(event)).all(|event| event["correlationId"] == operation["correlationId"]));
            let end = format!("/{}/action", verb_of(text(&operation["action"])));
            let ends = count(&own, |event| {
                let is_end = matches!(text(&event["status"]["value"]), "Succeeded" | "Failed" | "Canceled");
                is_end && name(event).ends_with(&end) && !name(event).contains("/node/") && !name(event).contains("/bmc/")
            });
            assert_eq!(ends, usize::from(operation["status"] != "InProgress"), "operation {id} ends once in {own:#?}");
            let facts: Vec<&Value> = operation["journal"].as_array().into_iter().flatten().map(|entry| &entry["fact"]).collect();
            for fact in &facts {
                // Several keepers may take the same operation up, each once; every other fact is one of its kind.
                let is_told_alike =
                    |other: &Value| other == *fact || installation(fact).is_some_and(|words| installation(other) == Some(words));
                let times = facts.iter().filter(|other| is_told_alike(other)).count();
                let told = times_told(&own, fact).unwrap_or(times);
                assert_eq!(told, times, "operation {id}: how often {fact} is told, and how often it happened");
            }
        }
        log
    }
}

/// An action as the log's names spell it.
fn verb_of(command: &str) -> &str {
    match command {
        "power-off" => "powerOff",
        "restart-node" => "restartNode",
        "create" => "write",
        "validate" => "validateHardware",
        other => other,
    }
}

/// How often the log tells of a fact; `None` for one that it does not tell, because nothing was changed by it.
fn times_told(own: &[&Value], fact: &Value) -> Option<usize> {
    let device = |status: &str| {
        let ask = format!("/{}/action", text(&fact["ask"]));
        let attempt = fact["attempt"].to_string();
        count(own, |event| {
            let is_of_ask = name(event).ends_with(&ask) && event["properties"]["attempt"] == attempt.as_str();
            is_of_ask && event["status"]["value"] == status
        })
    };
    match text(&fact["kind"]) {
        "asked" => Some(device("Started")),
        "faulted" => Some(device("Failed")),
        "seen" | "skipped" => Some(count(own, |event| name(event).ends_with(&format!("/steps/{}", text(&fact["step"]))))),
        "resumed" => Some(count(own, |event| event["status"]["value"] == "InProgress" && name(event).ends_with("/action"))),
        "errandAsked" => Some(errand(own, fact, "Started")),
        "errandFaulted" => Some(errand(own, fact, "Failed")),
        "draining" => Some(workload(own, &format!("node `{}` of `{}` is drained", text(&fact["node"]), text(&fact["cluster"])))),
        "kept" => Some(workload(
            own,
            &format!("pod `{}` of `{}` is kept on its node: {}", text(&fact["pod"]), text(&fact["cluster"]), text(&fact["why"])),
        )),
        "left" => {
            let left: model::Leftover =
                serde_json::from_value(fact["what"].clone()).expect("the journal tells leftovers as the model does");
            Some(workload(own, &format!("left as it was: {left}")))
        }
        "systemDisk" if fact.get("wipe").is_some() => {
            Some(count(own, |event| text(&event["properties"]["message"]).contains(" are to be wiped")))
        }
        "found" | "evacuating" | "returning" | "systemDisk" | "inventoried" | "inspected" => None,
        "leavingEtcd" | "outOfEtcd" | "installing" | "reported" | "cleaningUp" | "discarding" | "inspecting" | "validated" | "warned" => {
            let words = installation(fact)?;
            let is_it = |event: &Value| name(event).ends_with("/installation") && text(&event["properties"]["message"]).contains(&words);
            Some(count(own, is_it))
        }
        kind => panic!("the log's test knows nothing of the fact `{kind}`: {fact}"),
    }
}

/// Words by which the log tells of an installation. Different facts may be told alike: an installation that begins again is.
fn installation(fact: &Value) -> Option<String> {
    let words = match (text(&fact["kind"]), text(&fact["report"]["kind"])) {
        ("leavingEtcd", _) => return Some(format!("member {} of etcd is to go", text(&fact["member"]["id"]))),
        ("installing", _) => return Some(format!("the installation of runtime {} (image ", text(&fact["version"]))),
        ("discarding", _) => return Some(format!("volume `{}` of ", text(&fact["name"]))),
        ("warned", _) => return Some(format!(" although {}", text(&fact["words"]))),
        ("outOfEtcd", _) => "etcd has no member of ",
        ("cleaningUp", _) => return Some(format!(" is given up: {}", text(&fact["because"]))),
        ("inspecting", _) => " are validated",
        ("validated", _) => "the hardware of ",
        ("reported", "exchange") => " has called",
        ("reported", "written") => " has written the image",
        ("reported", "failed") => " gives up: ",
        ("reported", "phonedHome") => " has phoned home",
        _ => return None,
    };
    Some(words.to_owned())
}

/// How often something that is asked of a tenant's cluster or a virtual machine is told.
fn errand(own: &[&Value], fact: &Value, status: &str) -> usize {
    let asked: model::Errand = serde_json::from_value(fact["errand"].clone()).expect("the journal tells errands as the model does");
    let (ask, attempt) = (asked.to_string(), fact["attempt"].to_string());
    count(own, |event| {
        let properties = &event["properties"];
        properties["ask"] == ask.as_str() && properties["attempt"] == attempt.as_str() && event["status"]["value"] == status
    })
}

fn workload(own: &[&Value], message: &str) -> usize {
    count(own, |event| name(event).ends_with("/workloads") && event["properties"]["message"] == message)
}

/// Who cancels an operation has a correlation id of their own, and so has who asks for the same once more.
fn is_of_canceller(event: &Value) -> bool {
    event["eventName"]["value"] == "BeginRequest" && event["status"]["value"] == "Accepted" || name(event).ends_with("/cancel/action")
}

/// Requests of people that were refused, by a keeper or before one saw them. What machines tell of their installation is refused, too,
/// if it is told by the wrong one or too late.
pub fn refusals(log: &[Value]) -> usize {
    let is_of_machine = |event: &Value| name(event).ends_with("/report/action");
    let is_refusal = |event: &&Value| event["status"]["value"] == "Failed" && event["httpRequest"].is_object() && !is_of_machine(event);
    log.iter().filter(is_refusal).count()
}

/// An entry on one line, as a transcript shows it.
pub fn line(event: &Value) -> String {
    let nested: Value = event["properties"]["statusMessage"].as_str().map_or(Value::Null, |text| serde_json::from_str(text).expect("JSON"));
    let error = match nested["error"]["code"].as_str() {
        Some(code) => format!(" [{} {code}: {}]", text(&event["subStatus"]["value"]), text(&nested["error"]["message"])),
        None => String::new(),
    };
    let at = &text(&event["eventTimestamp"])[11..19];
    let (status, caller, what) =
        (text(&event["status"]["value"]), text(&event["caller"]), name(event).replace("Microsoft.NetworkCloud/", ""));
    format!("{at} {status:<10} {caller:<10} {what}: {}{error}", text(&event["properties"]["message"]))
}

fn name(event: &Value) -> &str {
    text(&event["operationName"]["value"])
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn count(own: &[&Value], is_so: impl Fn(&Value) -> bool) -> usize {
    own.iter().filter(|event| is_so(event)).count()
}
