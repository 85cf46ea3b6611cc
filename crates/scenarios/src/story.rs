//! The language of stories: what people and machines do, line by line, and the transcript of what follows.
//!
//! ```text
//! site 4 racks of 3
//! alice restart rack1compute01        ask for an action; words after the name are its flags
//! until done                          let time pass until the latest operation has ended; tell its steps
//! until op1 is done                   the same for an earlier one
//! after 5m                            let time pass
//! look at rack1compute01              what a person sees of the machine
//! look at operation                   what a person sees of the latest operation
//! status                              what is running and waiting
//! bmc log of rack1compute01           what the BMC itself has witnessed
//! kubectl uncordon rack1compute01     somebody uses another tool
//! by hand power-on rack1compute01     somebody presses the button
//! alice cancel                        cancel the latest operation
//! alice update rack1compute01 row=7 details=slow-fan if-match="3"
//!                                     write tags and details; `if-match` is the ETag it is meant for
//! crash, start                        the control plane dies; it starts again
//! fault bmc-slow rack1compute01 for 10m ms=8000
//!                                     something breaks; the words are those of `rackwright sim fault add`
//! clear fault bmc-slow rack1compute01 it is mended
//! vms                                 every tenant's virtual machine, as the undercloud tells it
//! tenant nodes of naks-01             the nodes of a tenant's cluster, as it tells them itself
//! pods of naks-01                     what runs in it
//! virtctl stop web1                   somebody stops, starts or restarts a virtual machine past us
//! kubectl delete vm web1              somebody deletes it past us
//! tenant kubectl cordon NODE          a tenant cordons, uncordons or deletes a node of its own
//! tenant evict web-0 in naks-01       a tenant evicts a pod of its own
//! tenant budget web keeps 1 in naks-01  a tenant changes a budget of its own
//! alice vm power-off web1             ask for an action of a virtual machine, `create` and `delete` among them: `asking.rs`
//! alice restart-node a of naks-01     have a node of a tenant's cluster restarted
//! alice drain-policy hold for naks-01 what its drains do about budgets; `naks-01/agentpool1` is one pool
//! alice preview cordon rack1compute01 evacuate
//!                                     what an action would do
//! look at vm web1                     what a person sees of it
//! workloads of rack1compute01         the resources that the machine names as on it
//! log of rack1compute01               what the activity log says of the machine; `log of failures` is what has failed
//! ```
//!
//! Which tenants a site begins with is said after `site …`, in the words of `tenancy.rs`. What is done about sick servers has its words
//! in `repairs.rs`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use http::{Method, Request};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::house::House;
use crate::log::{about, line, refusals};
use crate::tenancy;
use crate::wiring::authorized_kubernetes;

/// A story must come to an end: an operation that runs longer than any deadline is stuck.
const PATIENCE: Duration = Duration::from_secs(3 * 3600);

pub(crate) struct Teller {
    pub(crate) house: House,
    transcript: String,
    /// Ids are random; the story calls them op1, op2 … in the order of their appearance.
    pub(crate) operations: Vec<String>,
    /// Requests that were refused; one about a machine that there is not is told of the cluster.
    pub(crate) refused: usize,
}

/// Plays a story and returns its transcript.
pub async fn tell(story: &str) -> String {
    let mut lines = story.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let setting = lines.next().expect("a story begins with its site");
    let words: Vec<&str> = setting.split_whitespace().collect();
    let ["site", racks, "racks", "of", machines] = words[..] else { panic!("`{setting}` is not `site R racks of M`") };
    let mut tenancy = sim::Tenancy::default();
    let mut lines = lines.peekable();
    while lines.next_if(|line| tenancy::describes(&mut tenancy, line)).is_some() {}
    let house = House::build_with(number(racks), number(machines), tenancy).await;
    if lines.next_if_eq(&"with runtimes").is_some() {
        house.import_runtimes().await;
    }
    let mut teller = Teller { house, transcript: String::new(), operations: Vec::new(), refused: 0 };
    for line in lines {
        teller.say(&format!("> {line}"));
        teller.play(line).await;
    }
    let Teller { mut house, transcript, operations, refused } = teller;
    // Whatever happened, it is in the log; the control plane may be dead, but its store is there.
    house.start_api_only().await;
    house.settle().await;
    assert_eq!(refusals(&house.check_log().await), refused, "every refusal is told once:\n{transcript}");
    house.close().await;
    nicknamed(transcript, &operations)
}

fn number(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number"))
}

fn nicknamed(mut transcript: String, operations: &[String]) -> String {
    for (index, id) in operations.iter().enumerate() {
        transcript = transcript.replace(id.as_str(), &format!("op{}", index + 1)).replace(&id[..8], &format!("op{}", index + 1));
    }
    transcript
}

impl Teller {
    pub(crate) fn say(&mut self, text: &str) {
        let at = self.house.clock.now().time_of_day();
        writeln!(self.transcript, "{at} {}", whichever_watch(text)).expect("a string takes text");
    }

    async fn play(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["until", "done"] => self.until_done(self.latest()).await,
            ["until", nickname, "is", "done"] => self.until_done(self.operation_called(nickname)).await,
            ["after", span] => tokio::time::sleep(duration(span)).await,
            ["look", "at", "operation"] => self.look_at_operation().await,
            ["look", "at", "vm", vm] => self.look_at_vm(vm).await,
            ["workloads", "of", machine] => self.workloads(machine).await,
            ["look", "at", machine] => self.look_at(machine).await,
            ["log", "of", "failures"] => self.log("status eq 'Failed'").await,
            ["log", "of", machine] => self.log(&about(machine)).await,
            ["status"] => self.status().await,
            ["bmc", "log", "of", machine] => self.bmc_log(machine),
            ["etcd"] => self.etcd().await,
            ["disks", "of", machine] => self.disks(machine),
            ["actions", "of", machine] => self.actions(machine).await,
            ["validation", "of", machine] => self.validation(machine).await,
            ["swap", ..] => self.swap(line.trim_start_matches("swap ")).await,
            ["vms"] => self.tell_lines(&self.house.vms().await),
            ["tenant", "nodes", "of", cluster] => self.tell_lines(&self.house.tenant_nodes(cluster).await),
            ["pods", "of", cluster] => self.tell_lines(&self.house.tenant_pods(cluster).await),
            ["virtctl", verb, vm] => self.say(&format!("  {}", self.house.virtctl(verb, vm).await)),
            ["kubectl", "delete", "vm", vm] => self.say(&format!("  {}", self.house.delete_vm(vm).await)),
            ["tenant", "evict", pod, "in", cluster] => self.say(&format!("  {}", self.house.tenant_evict(cluster, pod).await)),
            ["tenant", "budget", budget, "keeps", least, "in", cluster] => {
                self.say(&format!("  {}", self.house.tenant_budget(cluster, budget, least).await));
            }
            ["tenant", "kubectl", verb, node] => self.say(&format!("  {}", self.house.tenant_kubectl(verb, node).await)),
            ["kubectl", verb, machine] => self.kubectl(verb, machine).await,
            ["by", "hand", verb, machine] => self.by_hand(verb, machine).await,
            ["fault", ..] => self.fault(line.trim_start_matches("fault ")).await,
            ["clear", "fault", kind, target] => self.clear_fault(kind, target).await,
            ["crash"] => self.house.crash().await,
            ["start"] => {
                self.house.start_control_plane().await;
                self.house.settle().await;
            }
            [caller, "cancel"] => self.cancel(caller).await,
            [caller, "preview", verb, machine, ref flags @ ..] => self.preview(caller, verb, machine, flags).await,
            [caller, "vm", "create", vm, ref words @ ..] => self.create_vm(caller, vm, words).await,
            [caller, "vm", verb, vm, ref flags @ ..] => self.ask_of_vm(caller, verb, vm, flags).await,
            [caller, "inspect", cluster, ref machines @ ..] => self.inspect(caller, cluster, machines).await,
            [caller, "advise", machine, ref words @ ..] => self.advise(caller, machine, words).await,
            [caller, "verify", machine] => self.verify(caller, machine).await,
            [caller, "restart-node", node, "of", cluster] => self.restart_node(caller, node, cluster).await,
            [caller, "drain-policy", policy, "for", whose] => self.set_drain_policy(caller, policy, whose).await,
            [caller, "update", machine, ref words @ ..] => self.update(caller, machine, words).await,
            [caller, verb, machine, ref flags @ ..] => self.ask(caller, verb, machine, flags).await,
            _ => panic!("`{line}` is not in the language"),
        }
    }

    fn tell_lines(&mut self, lines: &str) {
        for line in lines.lines() {
            self.say(&format!("    {line}"));
        }
    }

    pub(crate) fn latest(&self) -> String {
        self.operations.last().expect("an operation was begun earlier in the story").clone()
    }

    fn operation_called(&self, nickname: &str) -> String {
        let number: usize = nickname.trim_start_matches("op").parse().expect("operations are called op1, op2 …");
        self.operations[number - 1].clone()
    }

    /// Follows an operation, telling each change of what it waits for.
    async fn until_done(&mut self, id: String) {
        let mut last = String::new();
        let give_up_at = tokio::time::Instant::now() + PATIENCE;
        loop {
            let operation = self.house.operation(&id).await;
            let line = whichever_watch(&progress_line(&operation));
            if line != last {
                self.say(&format!("  {line}"));
                last = line;
            }
            if operation["status"] != "InProgress" {
                self.say(&format!("  {}: {}", text(&operation["status"]), text(&operation["message"])));
                if let Some(next) = operation["next"].as_str() {
                    self.say(&format!("  next: {next}"));
                }
                return;
            }
            assert!(tokio::time::Instant::now() < give_up_at, "operation {id} is stuck:\n{operation:#}\n{}", self.transcript);
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    async fn look_at_operation(&mut self) {
        let operation = self.house.operation(&self.latest()).await;
        self.say(&format!("  {} of {}: {}", text(&operation["action"]), text(&operation["target"]), progress_line(&operation)));
        for step in operation["steps"].as_array().into_iter().flatten() {
            let span = |key: &str| step[key].as_str().map_or("-".to_owned(), |at| at[11..19].to_owned());
            let line = format!(
                "    {:<10} {:<11} {} {} {}",
                text(&step["name"]),
                text(&step["status"]),
                span("startedAt"),
                span("endedAt"),
                text(&step["message"])
            );
            self.say(line.trim_end());
        }
        self.waits(&json!([operation["wait"]]), "    ");
    }

    async fn look_at(&mut self, machine: &str) {
        let resource = self.house.machine(machine).await;
        let properties = &resource["properties"];
        self.say(&format!(
            "  power {} ready {} {} {} {}: {}",
            text(&properties["powerState"]),
            text(&properties["readyState"]),
            text(&properties["cordonStatus"]),
            text(&properties["detailedStatus"]),
            text(&properties["provisioningState"]),
            text(&properties["detailedStatusMessage"])
        ));
        let ours = resource["rackwright"].clone();
        for hold in ours["holds"].as_array().into_iter().flatten() {
            self.say(&format!("    held by {}: {}", text(&hold["owner"]), text(&hold["reason"])));
        }
        if let Some(evacuated) = ours["evacuated"].as_object() {
            let nodes = evacuated["nodes"].as_array().into_iter().flatten();
            let nodes: Vec<String> = nodes.map(|node| format!("{}/{}", text(&node["cluster"]), text(&node["node"]))).collect();
            self.say(&format!("    remembers VMs: {}; nodes: {}", listed(&evacuated["virtualMachines"]), nodes.join(", ")));
        }
        if ours["managed"] == false {
            self.say(&format!("    unmanaged by {}: {}", text(&ours["unmanagedReason"]["by"]), text(&ours["unmanagedReason"]["reason"])));
        }
        for problem in ours["problems"].as_array().into_iter().flatten() {
            self.say(&format!("    problem: {} since {}", text(&problem["message"]), &text(&problem["since"])[11..19]));
        }
        self.waits(&ours["waits"], "    ");
    }

    pub(crate) fn waits(&mut self, waits: &Value, indent: &str) {
        for wait in waits.as_array().into_iter().flatten().filter(|wait| wait.is_object()) {
            let late = if wait["late"] == true { ", LATE" } else { "" };
            let since = &text(&wait["since"])[11..19];
            self.say(&format!("{indent}waits for {} since {since}{late}; ends when {}", text(&wait["what"]), text(&wait["endsWhen"])));
        }
    }

    async fn status(&mut self) {
        let status = self.house.get("/rackwright/v1/status").await;
        let cluster = status["clusters"][0].clone();
        self.say(&format!("  {} {} {}", text(&cluster["name"]), text(&cluster["detailedStatus"]), text(&cluster["connection"])));
        self.waits(&cluster["clusterWaits"], "    cluster ");
        let counts: BTreeMap<String, Value> = serde_json::from_value(cluster["machines"].clone()).expect("counts are a map");
        let counts: Vec<String> = counts.iter().map(|(what, n)| format!("{what} {n}")).collect();
        self.say(&format!("    machines: {}", counts.join(", ")));
        for wait in cluster["waits"].as_array().into_iter().flatten() {
            self.waits(&json!([wait]), &format!("    {} ", text(&wait["machine"])));
        }
    }

    async fn log(&mut self, filter: &str) {
        for event in self.house.log(filter).await {
            self.say(&format!("  {}", line(&event)));
        }
    }

    fn bmc_log(&mut self, machine: &str) {
        let log = self.house.site.witness(machine).expect("the machine is in the site");
        let lines: Vec<String> = log.entries().map(|entry| format!("    {:?}", entry.logged)).collect();
        for line in lines {
            self.say(&line);
        }
    }

    /// Somebody uses kubectl on the undercloud.
    async fn kubectl(&mut self, verb: &str, machine: &str) {
        let patch = match verb {
            "cordon" => json!({ "spec": { "unschedulable": true } }),
            "uncordon" => json!({ "spec": { "unschedulable": null } }),
            _ => panic!("`kubectl {verb}` is not in the language"),
        };
        let request = Request::builder()
            .method(Method::PATCH)
            .uri(format!("/api/v1/nodes/{machine}"))
            .header("content-type", "application/merge-patch+json")
            .body(kube::client::Body::from(patch.to_string().into_bytes()))
            .expect("a constant request");
        let response = authorized_kubernetes(&self.house.site).oneshot(request).await.expect("the service answers");
        self.say(&format!("  {}", response.status().as_u16()));
    }

    async fn fault(&mut self, phrase: &str) {
        let site = &self.house.site;
        let orders = sim::parse_order(phrase, site.layout()).unwrap_or_else(|refused| panic!("`fault {phrase}`: {refused}"));
        site.add_faults(&orders).await.expect("a checked order is taken up");
    }

    async fn clear_fault(&mut self, kind: &str, target: &str) {
        let cleared = self.house.site.clear_faults(|fault| fault.kind == kind && fault.target == target).await;
        assert!(!cleared.expect("the simulated site is saved").is_empty(), "there is no fault `{kind}` of `{target}` to clear");
    }

    /// Somebody stands at the machine, or uses the BMC's own page.
    async fn by_hand(&mut self, verb: &str, machine: &str) {
        let reset = match verb {
            "power-on" => "On",
            "power-off" => "ForceOff",
            _ => panic!("`by hand {verb}` is not in the language"),
        };
        let status = self.house.reset_by_hand(machine, reset).await;
        self.say(&format!("  {status}"));
    }
}

/// A tenant's cluster is watched three times over, and which watch is cut first is chance.
fn whichever_watch(line: &str) -> String {
    let mut line = line.to_owned();
    if line.contains("API of") || line.contains("its API") {
        for kind in ["nodes", "poddisruptionbudgets", "pods"] {
            line = line.replace(&format!("watch of {kind}"), "watch of …").replace(&format!("GET {kind}"), "GET …");
        }
    }
    line
}

fn progress_line(operation: &Value) -> String {
    let step = operation["steps"].as_array().and_then(|steps| steps.iter().find(|step| step["status"] == "InProgress"));
    match step {
        Some(step) => {
            let late = if operation["wait"]["late"] == true { " LATE" } else { "" };
            format!("{}% {}: {}{late}", operation["percentComplete"], text(&step["name"]), text(&step["message"]))
        }
        None => format!("{}%", operation["percentComplete"]),
    }
}

pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

pub(crate) fn listed(texts: &Value) -> String {
    texts.as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join(", ")
}

fn duration(text: &str) -> Duration {
    let (number, unit) = text.split_at(text.len() - 1);
    let number: u64 = number.parse().unwrap_or_else(|_| panic!("`{text}` is not a span"));
    match unit {
        "s" => Duration::from_secs(number),
        "m" => Duration::from_secs(60 * number),
        "h" => Duration::from_secs(3600 * number),
        _ => panic!("`{text}` is not a span"),
    }
}
