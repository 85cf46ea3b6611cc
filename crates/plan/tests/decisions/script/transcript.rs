//! What a plan decided, as a person would read it aloud.

use std::collections::BTreeMap;
use std::fmt::Write;

use model::{Errand, Fact, Machine, MachineName, Operation, Request, RequestId, Timestamp, Verdict, Wait};
use plan::{ErrandStep, Plan, Snapshot};

#[derive(Default)]
pub struct Transcript {
    pub text: String,
    clock: Option<Timestamp>,
    waits: BTreeMap<MachineName, String>,
    late: BTreeMap<MachineName, bool>,
    open: Vec<RequestId>,
}

impl Transcript {
    pub fn command(&mut self, now: Timestamp, command: &str) {
        self.clock = Some(now);
        writeln!(self.text, "{} > {command}", now.time_of_day()).unwrap();
    }

    pub fn expect_verdict(&mut self, id: RequestId) {
        self.open.push(id);
    }

    /// A line, with the time in front of it if that has moved since the line before.
    fn line(&mut self, now: Timestamp, line: &str) {
        if self.clock == Some(now) {
            writeln!(self.text, "         {line}").unwrap();
        } else {
            self.clock = Some(now);
            writeln!(self.text, "{} {line}", now.time_of_day()).unwrap();
        }
    }

    pub fn note_plan(&mut self, before: &Snapshot, after: &Snapshot, plan: &Plan, now: Timestamp) {
        for id in std::mem::take(&mut self.open) {
            if let Some(request) = after.requests.get(&id) {
                self.verdict(now, request);
            }
        }
        if before.cluster.connection != after.cluster.connection {
            self.line(now, &format!("the cluster is {:?}", after.cluster.connection));
        }
        for (id, operation) in &plan.changes.operations {
            let known = before.operations.get(id).map_or(0, |before| before.journal.len());
            self.facts(now, operation, known);
        }
        for step in &plan.steps {
            let who = step.operation.as_ref().map_or_else(|| "its holds".to_owned(), ToString::to_string);
            let again = if step.attempt > 1 { format!(", attempt {}", step.attempt) } else { String::new() };
            self.line(now, &format!("{} <- {} for {who}{again}", step.machine, step.ask));
        }
        // An eviction that is tried again and again says nothing new.
        let is_news = |step: &&ErrandStep| step.attempt <= 2 || !matches!(step.errand, Errand::Evict { .. });
        for step in plan.errands.iter().filter(is_news) {
            let who = step
                .operation
                .as_ref()
                .map_or_else(|| step.machine.as_ref().map_or_else(String::new, ToString::to_string), ToString::to_string);
            let again = if step.attempt > 1 { format!(", attempt {}", step.attempt) } else { String::new() };
            self.line(now, &format!("asks for {} for {who}{again}", step.errand));
        }
        for operation in plan.changes.operations.values() {
            self.end(now, operation);
        }
        for (name, machine) in &plan.changes.machines {
            self.holds(now, before.machines.get(name), machine);
            self.notes(now, before.machines.get(name), machine);
            self.memory(now, before.machines.get(name), machine);
            self.waits(now, machine);
        }
    }

    fn verdict(&mut self, now: Timestamp, request: &Request) {
        match request.verdict.as_ref().expect("every request is judged at once") {
            Verdict::Accepted { operation } => self.line(now, &format!("accepted as {operation}")),
            Verdict::Done | Verdict::Advised { .. } | Verdict::Verified { .. } => self.line(now, "done"),
            Verdict::Previewed { preview } => self.line(now, &format!("previewed: {preview:?}")),
            Verdict::Refused { refusal } => {
                self.line(now, &format!("refused: {}", refusal.message));
                for evidence in &refusal.evidence {
                    self.line(now, &format!("  rule {}: {evidence}", refusal.rule.name()));
                }
                self.line(now, &format!("  remedy: {}", refusal.remedy));
            }
        }
    }

    /// Asks are not told here: they are told as they are sent.
    fn facts(&mut self, now: Timestamp, operation: &Operation, known: usize) {
        for entry in &operation.journal[known..] {
            let fact = match &entry.fact {
                Fact::Asked { .. } => continue,
                Fact::Found { boot_id, .. } => format!("found {}", boot_id.as_deref().unwrap_or("no boot")),
                Fact::Resumed => format!("resumed, to end by {}", operation.deadline_at.time_of_day()),
                Fact::Faulted { ask, fault, .. } => format!("{ask} was answered: {fault} (arrived: {:?})", fault.delivery),
                Fact::Seen { step } => format!("{} seen", step.title()),
                Fact::Skipped { step, reason } => format!("{} left out: {reason}", step.title()),
                Fact::ErrandAsked { .. } => continue,
                Fact::ErrandFaulted { errand, fault, .. } => format!("{errand} was answered: {fault}"),
                Fact::Evacuating => "there are workloads to move".to_owned(),
                Fact::Returning => "there are workloads to bring back".to_owned(),
                Fact::Draining { node, .. } => format!("draining {node}"),
                Fact::Kept { pod, why, .. } => format!("{pod} is kept: {why}"),
                Fact::Left { what } => format!("left: {what}"),
                Fact::LeavingEtcd { member, .. } => format!("etcd member {} is to go", member.id),
                Fact::SystemDisk { disk, wipe } => {
                    format!("the system goes to {disk}{}", if wipe.is_empty() { String::new() } else { format!("; wiped: {wipe:?}") })
                }
                Fact::Inventoried { disks, nics, .. } => format!("{disks} disks and {nics} ports were found"),
                Fact::CleaningUp { during, because, .. } => format!("{} is given up: {because}", during.title()),
                Fact::OutOfEtcd { peer_url, .. } => format!("etcd has no member; it will be {peer_url}"),
                Fact::Installing { round, way, version, .. } => format!("installing {version} by {way}, round {round}"),
                Fact::Reported { report, .. } => format!("told: {report:?}"),
                Fact::Warned { words } => format!("warning: {words}"),
                Fact::Discarding { name, .. } => format!("volume {name} is to go"),
                Fact::Inspecting { machines, .. } => format!("{} machines are validated", machines.len()),
                Fact::Inspected { passed, failed, unknown } => format!("{passed} pass, {failed:?} fail, {unknown:?} not known"),
                Fact::Validated { result, failures } => format!("hardware {result:?} {}", failures.join("; ")),
            };
            self.line(now, &format!("{}: {fact}", operation.id));
        }
    }

    fn end(&mut self, now: Timestamp, operation: &Operation) {
        let Some(ended) = &operation.ended else { return };
        self.line(now, &format!("{} {}: {}", operation.id, ended.result, ended.message));
        if let Some(next) = &ended.next {
            self.line(now, &format!("  next: {next}"));
        }
    }

    fn holds(&mut self, now: Timestamp, before: Option<&std::sync::Arc<Machine>>, machine: &Machine) {
        if before.is_some_and(|before| before.holds == machine.holds) {
            return;
        }
        let holds: Vec<String> = machine.holds.iter().map(|hold| hold.owner.to_string()).collect();
        let holds = if holds.is_empty() { "nobody".to_owned() } else { holds.join(", ") };
        self.line(now, &format!("{} is held by {holds}", machine.name));
    }

    /// What is remembered of an emptied machine, by name.
    fn memory(&mut self, now: Timestamp, before: Option<&std::sync::Arc<Machine>>, machine: &Machine) {
        let told = |machine: &Machine| {
            let memory = machine.evacuated.as_ref();
            let vms = memory.into_iter().flat_map(|memory| &memory.vms).map(|stopped| stopped.vm.to_string());
            let nodes = memory.into_iter().flat_map(|memory| &memory.nodes).map(|entry| {
                let marks = [(entry.is_skipped, " skipped"), (entry.is_out_of_service, " out-of-service")];
                let marks: String = marks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, mark)| mark).collect();
                format!("node {}{marks}", entry.node)
            });
            vms.chain(nodes).collect::<Vec<_>>().join(", ")
        };
        let (was, is) = (before.map(|before| told(before)).unwrap_or_default(), told(machine));
        if was != is {
            self.line(now, &format!("{} remembers {}", machine.name, if is.is_empty() { "nothing" } else { &is }));
        }
    }

    /// What clients write.
    fn notes(&mut self, now: Timestamp, before: Option<&std::sync::Arc<Machine>>, machine: &Machine) {
        if before.is_some_and(|before| before.edition == machine.edition && before.modified == machine.modified) {
            return;
        }
        let by = machine.modified.as_ref().map_or("nobody", |modified| &modified.by);
        let note = format!("edition {}, tags {:?}, details {:?}, by {by}", machine.edition, machine.tags, machine.details);
        self.line(now, &format!("{} is now {note}", machine.name));
    }

    fn waits(&mut self, now: Timestamp, machine: &Machine) {
        let told: Vec<String> = machine.waits.iter().map(tell).collect();
        let told = if told.is_empty() { "nothing".to_owned() } else { told.join("; ") };
        let before = self.waits.insert(machine.name.clone(), told.clone());
        if before.as_deref().unwrap_or("nothing") != told {
            self.line(now, &format!("{} waits for {told}", machine.name));
        }
    }

    /// Lateness comes with time alone, so it is told at the end of a command.
    pub fn note_lateness(&mut self, after: &Snapshot, now: Timestamp) {
        for machine in after.machines.values() {
            let late = machine.waits.iter().any(|wait| wait.is_late(now));
            let before = self.late.insert(machine.name.clone(), late).unwrap_or(false);
            if late && !before {
                self.line(now, &format!("{} is late", machine.name));
            }
        }
    }
}

fn tell(wait: &Wait) -> String {
    let by = wait.expected_by.map(|by| format!(", expected by {}", by.time_of_day())).unwrap_or_default();
    format!("{} since {}{by}", wait.kind, wait.since.time_of_day())
}
