//! The language of the cases. First the site, a line each:
//!
//! ```text
//! machine rack1compute01 [held]
//! vm fw running|stopped rack1compute01
//! node naks-01-agentpool1-a of naks-01 agentpool1 on rack1compute01
//! ```
//!
//! Then the story, a command a line after `>`:
//!
//! ```text
//! > alice start|power-off [skip-shutdown]|restart|reimage|delete fw [key=k] [edition=3]
//! > alice create fw [cores=4] [memory=8] [image=x] [disk=ephemeral] [near=vm:db|machine:m|rack:r] [tag:row=7] [key=k] [edition=1|!*]
//! > alice update fw tag:row=7 [edition=3] · > alice restart-node naks-01 NODE · > alice cancel op1
//! > alice policy naks-01[/agentpool1] hold|wait|force [tag:row=7] [edition=1]
//! > fw has-no-disk|awaits-its-disk|keeps-its-disk|has-a-new-disk
//! > fw stops|runs|vanishes|is-made-anew|deaf · > fw|new finds-no-machine 0/4 nodes are available · > fw fails CrashLoopBackOff
//! > refuse busy [maybe] · > hang · > answer ok|busy · > obey      how KubeVirt's API answers
//! > undercloud silent|answers|timeout · > rack1compute01 dies|remembers fw
//! > wait 5m · > down 8h
//! ```

use std::collections::BTreeMap;
use std::fmt::Write;

use expect_test::Expect;
use model::{
    Action, Ask, Conditions, Delivery, DiskStorage, DrainPolicy, Editions, Evacuated, Fact, Fault, FaultClass, HintExecution, HintKind,
    HintScope, HintTarget, Hold, HoldOwner, NodeOf, NodeRole, OperationId, OsDisk, OsDiskSeen, PlacementHint, PoolName, PoolSeen, RackName,
    RequestId, RunStrategy, Shutdown, Span, StoppedVm, TenantClusterName, TenantClusterSeen, TenantMachineSeen, Timestamp, Verdict, Vm,
    VmName, VmSpec, VmState,
};
use plan::{Inside, Plan, Snapshot};

use super::rig::{Reply, Rig};
use crate::desk;

/// Plays a script and compares its transcript.
#[expect(clippy::needless_pass_by_value, reason = "a case reads best as a script and what it comes to")]
pub fn check(script: &str, expected: Expect) {
    expected.assert_eq(&play(script).1.text);
}

pub fn play(script: &str) -> (Rig, Transcript) {
    let mut rig = Rig::new();
    let lines: Vec<&str> = script.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let (story, site): (Vec<&str>, Vec<&str>) = lines.into_iter().partition(|line| line.starts_with("> "));
    for line in site {
        read(&mut rig, line);
    }
    let mut transcript = Transcript::default();
    rig.work(&mut |_, _, _, _| {});
    for command in story.iter().map(|line| line.trim_start_matches("> ")) {
        transcript.clock = Some(rig.now);
        writeln!(transcript.text, "{} > {command}", rig.now.time_of_day()).unwrap();
        happen(&mut rig, &mut transcript, command);
        rig.work(&mut |before, after, plan, now| transcript.note(before, after, plan, now));
    }
    (rig, transcript)
}

fn read(rig: &mut Rig, line: &str) {
    match line.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["machine", name, words @ ..] => {
            rig.add_machine(name);
            if words.contains(&"held") {
                let mut machine = (*rig.snapshot.machines[&desk::name(name)]).clone();
                let owner = HoldOwner::User { caller: "bob".into() };
                machine.holds.push(Hold { owner, reason: "cordoned by a person".into(), since: rig.now });
                rig.snapshot.set_machine(machine);
            }
            rig.see_machine(name, true);
        }
        ["vm", name, state, node] => rig.kubevirt.add(name, node, *state == "running", None),
        ["node", name, "of", cluster, pool, "on", machine] => {
            let (cluster, pool) = (TenantClusterName::new(*cluster).unwrap(), PoolName::new(*pool).unwrap());
            rig.kubevirt.add(name, machine, true, Some(NodeOf { cluster: cluster.clone(), pool: Some(pool.clone()) }));
            let (seen, _) = rig.clusters.entry(cluster.clone()).or_insert_with(|| (tenant_cluster(&cluster), Inside::default()));
            if !seen.pools.iter().any(|known| known.name == pool) {
                seen.pools.push(PoolSeen { name: pool.clone(), count: 0, version: "v1.36.0".into() });
            }
            seen.pools.iter_mut().filter(|known| known.name == pool).for_each(|known| known.count += 1);
            seen.machines.push(TenantMachineSeen {
                name: (*name).into(),
                uid: format!("m-{name}"),
                role: NodeRole::Worker,
                pool: Some(pool),
                version: "v1.36.0".into(),
                is_skipped: false,
            });
        }
        _ => panic!("`{line}` is nothing of a site"),
    }
}

fn tenant_cluster(name: &TenantClusterName) -> TenantClusterSeen {
    TenantClusterSeen {
        name: name.clone(),
        uid: format!("c-{name}"),
        phase: "Provisioned".into(),
        version: "v1.36.0".into(),
        pools: Vec::new(),
        machines: Vec::new(),
        created_at: None,
    }
}

fn happen(rig: &mut Rig, transcript: &mut Transcript, command: &str) {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words.as_slice() {
        ["wait", span] => rig.run_for(parse_span(span), &mut |before, after, plan, now| transcript.note(before, after, plan, now)),
        ["down", span] => rig.crash(parse_span(span)),
        ["refuse", fault @ ..] => rig.reply = Reply::Refuse(parse_fault(fault)),
        ["hang"] => rig.reply = Reply::Hang,
        ["obey"] => rig.reply = Reply::Obey,
        ["answer", "ok"] => rig.answer(&Ok(())),
        ["answer", fault @ ..] => rig.answer(&Err(parse_fault(fault))),
        ["undercloud", "silent"] => rig.silence = Some(parse_fault(&["unreachable"])),
        ["undercloud", "timeout"] => {
            rig.silence = Some(parse_fault(&["unreachable"]));
            rig.disconnect();
        }
        ["undercloud", _] => rig.silence = None,
        [machine, "dies"] => rig.see_machine(machine, false),
        [machine, "remembers", vm] => remember(rig, machine, vm),
        [vm, "stops"] => rig.kubevirt.body(vm).halt(),
        [vm, "runs"] => rig.kubevirt.body(vm).run(),
        [vm, "vanishes"] => drop(rig.kubevirt.vms.remove(&VmName::new(*vm).unwrap())),
        [vm, "is-made-anew"] => rig.kubevirt.add(vm, "rack1compute01", true, None),
        [vm, "has-no-disk"] => rig.kubevirt.body(vm).seen.os_disk = None,
        [vm, "awaits-its-disk"] => rig.kubevirt.body(vm).seen.os_disk = Some(OsDiskSeen::Absent),
        [vm, "keeps-its-disk"] => rig.kubevirt.body(vm).habits.keeps_disk = true,
        [vm, "has-a-new-disk"] => rig.kubevirt.body(vm).make_disk(),
        [vm, "deaf"] => rig.kubevirt.body(vm).habits.shutdown_takes = None,
        ["new", "finds-no-machine", why @ ..] => rig.kubevirt.full = Some(why.join(" ")),
        [vm, "finds-no-machine", why @ ..] => rig.kubevirt.body(vm).habits.unschedulable = Some(why.join(" ")),
        [vm, "fails", why @ ..] => {
            let seen = &mut rig.kubevirt.body(vm).seen;
            (seen.state, seen.message, seen.run) = (VmState::Failing, Some(why.join(" ")), RunStrategy::Always);
        }
        [caller, verb, rest @ ..] => {
            let key = rest.iter().find_map(|word| word.strip_prefix("key="));
            let id = rig.request(caller, parse_ask(verb, rest), key);
            transcript.open.push(id);
        }
        _ => panic!("`{command}` is no command"),
    }
}

fn remember(rig: &mut Rig, machine: &str, vm: &str) {
    let seen = rig.kubevirt.body(vm).seen.clone();
    let mut machine = (*rig.snapshot.machines[&desk::name(machine)]).clone();
    let stopped = StoppedVm {
        vm: seen.reference(),
        ran_as: RunStrategy::Always,
        node_of: seen.node_of,
        was_seen_stopped: true,
        start_asked_at: None,
        start_attempts: 0,
        force_asked_at: None,
        force_attempts: 0,
    };
    machine.evacuated = Some(Evacuated { by: OperationId::new("op0"), since: rig.now, vms: vec![stopped], nodes: Vec::new() });
    rig.snapshot.set_machine(machine);
}

pub fn vm_name(name: &str) -> VmName {
    VmName::new(name).unwrap()
}

fn parse_ask(verb: &str, rest: &[&str]) -> Ask {
    let has = |flag: &str| rest.contains(&flag);
    let conditions = parse_conditions(rest);
    let vm = || vm_name(rest[0]);
    let act = |action| Ask::ActOnVm { vm: vm(), action, conditions: conditions.clone() };
    match verb {
        "start" => act(Action::Start),
        "restart" => act(Action::Restart),
        "reimage" => act(Action::Reimage { safeguard: model::Safeguard::All }),
        "delete" => act(Action::Delete),
        "power-off" => act(Action::PowerOff { shutdown: if has("skip-shutdown") { Shutdown::Skip } else { Shutdown::Graceful } }),
        "create" => Ask::PutVm { vm: vm(), spec: Box::new(parse_spec(rest)), tags: parse_tags(rest).unwrap_or_default(), conditions },
        "update" => Ask::UpdateVm { vm: vm(), tags: parse_tags(rest), conditions },
        "restart-node" => Ask::RestartNode { cluster: TenantClusterName::new(rest[0]).unwrap(), node: rest[1].into() },
        "cancel" => Ask::Cancel { operation: OperationId::new(rest[0]) },
        "policy" => {
            let (cluster, pool) = rest[0].split_once('/').map_or((rest[0], None), |(cluster, pool)| (cluster, Some(pool)));
            Ask::UpdateTenantCluster {
                cluster: TenantClusterName::new(cluster).unwrap(),
                pool: pool.map(|pool| PoolName::new(pool).unwrap()),
                tags: parse_tags(rest),
                drain_policy: DrainPolicy::ALL.into_iter().find(|policy| has(policy.as_str())),
                conditions,
            }
        }
        other => panic!("`{other}` is no action"),
    }
}

fn parse_conditions(words: &[&str]) -> Conditions {
    let editions = |name: &str| {
        let value = words.iter().find_map(|word| word.strip_prefix(name))?;
        Some(if value == "*" { Editions::Any } else { Editions::Listed(vec![value.parse().expect("an edition is a number")]) })
    };
    Conditions { expected: editions("edition="), excluded: editions("edition!=") }
}

fn parse_tags(words: &[&str]) -> Option<BTreeMap<String, String>> {
    let tags = words.iter().find_map(|word| word.strip_prefix("tag:"))?;
    Some(tags.split(',').filter_map(|tag| tag.split_once('=')).map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

fn parse_spec(words: &[&str]) -> VmSpec {
    let value = |name: &str| words.iter().find_map(|word| word.strip_prefix(name));
    let number = |name, usual| value(name).map_or(usual, |text| text.parse().unwrap());
    let hint = value("near=").map(|target| {
        let (kind, name) = target.split_once(':').unwrap();
        let (scope, target) = match kind {
            "vm" => (HintScope::Machine, HintTarget::Vm(vm_name(name))),
            "machine" => (HintScope::Machine, HintTarget::Machine(desk::name(name))),
            _ => (HintScope::Rack, HintTarget::Rack(RackName::new(name).unwrap())),
        };
        PlacementHint { kind: HintKind::Affinity, execution: HintExecution::Hard, scope, target }
    });
    let storage = if value("disk=") == Some("ephemeral") { DiskStorage::Ephemeral } else { DiskStorage::Persistent };
    VmSpec {
        cpu_cores: number("cores=", 4),
        memory_gb: number("memory=", 8),
        image: value("image=").unwrap_or("fw:1").into(),
        admin_username: "admin".into(),
        os_disk: OsDisk { size_gb: 20, storage },
        placement_hints: hint.into_iter().collect(),
        ..VmSpec::default()
    }
}

pub fn parse_fault(words: &[&str]) -> Fault {
    let class = FaultClass::ALL.into_iter().find(|class| class.to_string() == words[0]).expect("a class of faults");
    let delivery = if words.get(1) == Some(&"maybe") { Delivery::Maybe } else { Delivery::No };
    Fault::new(class, delivery, "as the story says")
}

fn parse_span(text: &str) -> Span {
    let (number, unit) = text.split_at(text.len() - 1);
    let number: u64 = number.parse().unwrap();
    match unit {
        "s" => Span::seconds(number),
        "m" => Span::minutes(number),
        "h" => Span::hours(number),
        other => panic!("`{other}` is no unit of time"),
    }
}

/// What the plans decided, as a person would read it aloud.
#[derive(Default)]
pub struct Transcript {
    pub text: String,
    clock: Option<Timestamp>,
    open: Vec<RequestId>,
}

impl Transcript {
    fn line(&mut self, now: Timestamp, line: &str) {
        let time = if self.clock == Some(now) { " ".repeat(8) } else { now.time_of_day() };
        self.clock = Some(now);
        writeln!(self.text, "{time} {line}").unwrap();
    }

    fn note(&mut self, before: &Snapshot, after: &Snapshot, plan: &Plan, now: Timestamp) {
        for id in std::mem::take(&mut self.open) {
            match after.requests[&id].verdict.as_ref().expect("every request is judged at once") {
                Verdict::Refused { refusal } => {
                    self.line(now, &format!("refused: {}", refusal.message));
                    self.line(now, &format!("  rule {}: {}", refusal.rule.name(), refusal.evidence.join("; ")));
                    self.line(now, &format!("  remedy: {}", refusal.remedy));
                }
                Verdict::Accepted { operation } => self.line(now, &format!("accepted as {operation}")),
                other => self.line(now, &format!("{other:?}").to_lowercase()),
            }
        }
        for (id, operation) in &plan.changes.operations {
            let known = before.operations.get(id).map_or(0, |before| before.journal.len());
            for entry in &operation.journal[known..] {
                let fact = match &entry.fact {
                    Fact::ErrandAsked { errand, attempt: 1 } => format!("asks for {errand}"),
                    Fact::ErrandAsked { errand, attempt } => format!("asks for {errand}, attempt {attempt}"),
                    Fact::ErrandFaulted { errand, fault, .. } => format!("{errand} was answered: {fault}"),
                    Fact::Seen { step } => format!("{} seen", step.title()),
                    Fact::Skipped { step, reason } => format!("{} left out: {reason}", step.title()),
                    Fact::Resumed => format!("resumed, to end by {}", operation.deadline_at.time_of_day()),
                    other => format!("{other:?}"),
                };
                self.line(now, &format!("{id}: {fact}"));
            }
            let wait = operation.wait.as_ref().map(|wait| format!("{} since {}", wait.kind, wait.since.time_of_day()));
            let waited = before.operations.get(id).and_then(|before| before.wait.as_ref());
            let waited = waited.map(|wait| format!("{} since {}", wait.kind, wait.since.time_of_day()));
            if let Some(wait) = wait.filter(|wait| Some(wait) != waited.as_ref()) {
                self.line(now, &format!("{id} waits for {wait}"));
            }
            if let Some(ended) = &operation.ended {
                let failure = ended.failure.map(|failure| format!(" ({failure:?})")).unwrap_or_default();
                self.line(now, &format!("{id} {}{failure}: {}", ended.result, ended.message));
                if let Some(next) = &ended.next {
                    self.line(now, &format!("  next: {next}"));
                }
            }
        }
        for (name, vm) in &plan.changes.vms {
            let (was, is) = (before.vms.get(name).map(|vm| document(vm)), document(vm));
            if was.as_ref() != Some(&is) {
                self.line(now, &format!("{name}: {is}"));
            }
        }
        for name in &plan.changes.forgotten_vms {
            self.line(now, &format!("{name} is forgotten"));
        }
        for machine in plan.changes.machines.values() {
            let vms = |memory: &Option<Evacuated>| memory.iter().flat_map(|memory| memory.vms.clone()).count();
            let was = before.machines.get(&machine.name).map_or(0, |before| vms(&before.evacuated));
            if vms(&machine.evacuated) != was {
                self.line(now, &format!("{} remembers {} of {was}", machine.name, vms(&machine.evacuated)));
            }
        }
    }
}

/// What people read of a document, in a line.
fn document(vm: &Vm) -> String {
    let state = vm.last_seen.as_ref().map_or("unseen", |seen| seen.what.state.in_words());
    let machine = vm.machine.as_ref().map(|machine| format!(" on {machine}")).unwrap_or_default();
    let tags = if vm.tags.is_empty() { String::new() } else { format!(", tags {:?}", vm.tags) };
    format!("{:?}, {state}{machine}, edition {}{tags}", vm.provisioning, vm.edition)
}
