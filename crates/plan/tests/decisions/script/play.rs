//! The second part of a script: what happens, and what is decided about it.

use std::collections::BTreeMap;

use model::{
    Action, Ask, Conditions, Delivery, DeviceAsk, Editions, Evacuate, Fault, FaultClass, MachineName, OperationId, Outage, Shutdown, Span,
};
use plan::Step;

use super::site::{self, Body, Reply};
use super::tenants;
use super::transcript::Transcript;
use crate::desk::{self, Desk};
use crate::lodging::Lodging;

/// Longest stride of `wait`: as often as the undercloud is heard from, so that silence is never our own.
const STRIDE: Span = Span::seconds(20);

pub struct Play {
    pub desk: Desk,
    pub transcript: Transcript,
    bodies: BTreeMap<MachineName, Body>,
    silent: bool,
    lazy: bool,
    /// Requests that were sent and not answered.
    hanging: BTreeMap<MachineName, Step>,
    story: Vec<String>,
    /// What is on the machines.
    pub lodging: Lodging,
}

impl Play {
    /// The site of a script, looked at once.
    pub fn of(script: &str) -> Play {
        let now = desk::morning();
        let desk = Desk::new(desk::empty_cluster(now), now);
        let mut play = Play {
            desk,
            transcript: Transcript::default(),
            bodies: BTreeMap::new(),
            silent: false,
            lazy: false,
            hanging: BTreeMap::new(),
            story: Vec::new(),
            lodging: Lodging::default(),
        };
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            play.read(line);
        }
        play.look();
        play.settle();
        play.transcript.text.clear();
        play
    }

    fn read(&mut self, line: &str) {
        let now = self.desk.now;
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            [">", ..] => self.story.push(line.trim_start_matches("> ").to_owned()),
            ["undercloud", "silent"] => self.silent = true,
            ["undercloud", "lazy"] => self.lazy = true,
            ["cluster", word] => {
                let mut cluster = (*self.desk.snapshot.cluster).clone();
                site::parse_cluster_word(&mut cluster, word);
                self.desk.snapshot.cluster = std::sync::Arc::new(cluster);
            }
            ["vm" | "node" | "pod" | "budget" | "policy", ..] => tenants::read(&mut self.lodging, line, now),
            _ => {
                let (machine, body) = site::parse_machine(line, now);
                self.bodies.insert(machine.name.clone(), body);
                self.desk.add(machine);
            }
        }
    }

    pub fn run(&mut self) {
        for command in std::mem::take(&mut self.story) {
            self.transcript.command(self.desk.now, &command);
            self.play(&command);
            self.settle();
            self.transcript.note_lateness(&self.desk.snapshot, self.desk.now);
        }
    }

    fn play(&mut self, command: &str) {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.as_slice() {
            [caller, "vm", verb, vm] => self.ask_of_vm(caller, verb, vm),
            ["tenants", words @ ..] => {
                tenants::happen(&mut self.lodging, words, self.desk.now);
                self.look();
            }
            ["see", machine, what] => self.see(&desk::name(machine), what),
            ["fault", machine, fault @ ..] => {
                self.body(machine).bmc_fault = Some(site::parse_fault(fault));
                self.look_at(&desk::name(machine));
            }
            ["refuse", machine, fault @ ..] => self.body(machine).reply = Reply::Refuse(site::parse_fault(fault)),
            ["obey", machine] => self.body(machine).reply = Reply::Obey,
            ["hang", machine] => self.body(machine).reply = Reply::Hang,
            ["answer", machine, "ok"] => self.answer(machine, Ok(())),
            ["answer", machine, fault @ ..] => self.answer(machine, Err(site::parse_fault(fault))),
            ["undercloud", state] => {
                self.silent = *state == "silent";
                self.look();
            }
            ["look"] => self.look(),
            ["wait", span] => self.wait(parse_span(span)),
            ["pause", span] => self.desk.now = self.desk.now + parse_span(span),
            ["crash"] => self.crash(Span::ZERO),
            ["down", span] => self.crash(parse_span(span)),
            ["without", machine] => {
                self.crash(Span::ZERO);
                self.desk.snapshot.undescribed.insert(desk::name(machine));
            }
            ["with", machine] => {
                self.crash(Span::ZERO);
                self.desk.snapshot.undescribed.remove(&desk::name(machine));
            }
            [caller, verb, rest @ ..] => self.ask(caller, verb, rest),
            _ => panic!("`{command}` is no command"),
        }
    }

    fn body(&mut self, machine: &str) -> &mut Body {
        self.bodies.get_mut(&desk::name(machine)).expect("a machine of the site")
    }

    fn see(&mut self, machine: &MachineName, what: &str) {
        let body = self.bodies.get_mut(machine).expect("a machine of the site");
        body.unseen = false;
        if let Some(power) = site::parse_power(what) {
            body.power = power;
            body.bmc_fault = None;
        } else if let Some(ready) = site::parse_readiness(what) {
            body.node.get_or_insert_with(|| desk::node(machine.as_str(), 1)).ready = ready;
        } else {
            match what {
                "gone" => body.node = None,
                "booted" => {
                    body.boots += 1;
                    let before = body.node.take();
                    let mut node = desk::node(machine.as_str(), body.boots);
                    node.unschedulable = before.as_ref().is_some_and(|node| node.unschedulable);
                    node.cordoned_by_us = before.is_some_and(|node| node.cordoned_by_us);
                    body.node = Some(node);
                }
                "cordoned" => site::set_cordon(&mut body.node, true),
                "uncordoned" => site::set_cordon(&mut body.node, false),
                "cordoned-by-hand" => body.node.as_mut().expect("a node").unschedulable = true,
                other => panic!("`{other}` cannot be seen"),
            }
        }
        self.look_at(machine);
    }

    /// Looks at everything through both eyes.
    fn look(&mut self) {
        let silence = Fault::new(FaultClass::Unreachable, Delivery::No, "connection refused");
        self.desk.hear_undercloud(if self.silent { Err(silence) } else { Ok(()) });
        for machine in self.bodies.keys().cloned().collect::<Vec<_>>() {
            self.look_at(&machine);
        }
        self.look_tenants();
    }

    fn look_tenants(&mut self) {
        if self.lodging.is_empty() || self.silent {
            return;
        }
        for (machine, body) in &self.bodies {
            self.lodging.set_power(machine, body.power != model::Power::Off, self.desk.now);
        }
        self.lodging.live(self.desk.now);
        self.desk.look_tenants(&self.lodging);
    }

    fn look_at(&mut self, machine: &MachineName) {
        let body = &self.bodies[machine];
        if body.unseen {
            return;
        }
        let seen = body.bmc_fault.clone().map_or(Ok(body.power), Err);
        let node = body.node.clone();
        self.desk.look_power(machine, seen);
        if !self.silent {
            self.desk.look_node(machine, node);
        }
    }

    fn wait(&mut self, span: Span) {
        let end = self.desk.now + span;
        while self.desk.now < end {
            // What happens on the machines while nobody looks is seen when somebody does.
            let unseen = self.lodging.next_due().filter(|at| *at > self.desk.now);
            let due = self.desk.next_due().into_iter().chain(unseen).chain([end]).min().unwrap_or(end);
            self.desk.now = due.max(self.desk.now + Span::millis(1)).min(self.desk.now + STRIDE).min(end);
            self.look();
            self.settle();
        }
    }

    fn crash(&mut self, down: Span) {
        self.desk.now = self.desk.now + down;
        self.hanging.clear();
        self.desk.crash();
    }

    fn ask(&mut self, caller: &str, verb: &str, rest: &[&str]) {
        let key = rest.iter().find_map(|word| word.strip_prefix("key="));
        let ask = match (verb, rest) {
            ("cancel", [operation]) => Ask::Cancel { operation: OperationId::new(*operation) },
            ("unmanage", [machine, reason @ ..]) => Ask::Unmanage { machine: desk::name(machine), reason: reason.join(" ") },
            ("manage", [machine, reason @ ..]) => Ask::Manage { machine: desk::name(machine), reason: reason.join(" ") },
            ("update", [machine, words @ ..]) => update(desk::name(machine), words),
            (verb, [machine, flags @ ..]) => act(desk::name(machine), verb, flags),
            _ => panic!("`{verb}` needs a machine"),
        };
        let id = self.desk.request(caller, ask, key);
        if rest.contains(&"too-late") {
            self.desk.now = self.desk.now + model::REQUEST_LIFE;
        }
        self.transcript.expect_verdict(id);
    }

    fn ask_of_vm(&mut self, caller: &str, verb: &str, vm: &str) {
        let action = match verb {
            "power-off" => Action::PowerOff { shutdown: Shutdown::Graceful },
            "start" => Action::Start,
            "restart" => Action::Restart,
            other => panic!("`{other}` is no action"),
        };
        let ask = Ask::ActOnVm { vm: crate::lodging::vm_name(vm), action, conditions: Conditions::default() };
        let id = self.desk.request(caller, ask, None);
        self.transcript.expect_verdict(id);
    }

    /// Plans, commits, asks and answers until nothing more changes.
    fn settle(&mut self) {
        loop {
            let plan = self.desk.plan();
            let before = self.desk.snapshot.clone();
            self.desk.commit(&plan);
            self.transcript.note_plan(&before, &self.desk.snapshot, &plan, self.desk.now);
            if plan.steps.is_empty() && plan.errands.is_empty() {
                return;
            }
            for step in &plan.errands {
                let outcome = self.lodging.take(step, self.desk.now);
                self.desk.answer_errand(step, outcome);
            }
            self.look_tenants();
            for step in &plan.steps {
                self.carry_out(step);
            }
        }
    }

    fn carry_out(&mut self, step: &Step) {
        self.desk.send(step);
        let body = self.bodies.get_mut(&step.machine).expect("a machine of the site");
        match &body.reply {
            Reply::Hang => {
                self.hanging.insert(step.machine.clone(), step.clone());
            }
            Reply::Refuse(fault) => {
                let fault = fault.clone();
                self.desk.answer(step, Err(fault));
            }
            Reply::Obey => {
                if !self.lazy && matches!(step.ask, DeviceAsk::Cordon | DeviceAsk::Uncordon) {
                    site::set_cordon(&mut body.node, step.ask == DeviceAsk::Cordon);
                }
                self.desk.answer(step, Ok(()));
                self.look_at(&step.machine.clone());
            }
        }
    }

    fn answer(&mut self, machine: &str, result: Result<(), Fault>) {
        let step = self.hanging.remove(&desk::name(machine)).expect("a request that hangs");
        self.desk.answer(&step, result);
    }
}

fn act(machine: MachineName, verb: &str, flags: &[&str]) -> Ask {
    let has = |flag: &str| flags.contains(&flag);
    let action = match verb {
        "power-off" => Action::PowerOff { shutdown: if has("skip-shutdown") { Shutdown::Skip } else { Shutdown::Graceful } },
        "start" => Action::Start,
        "restart" => Action::Restart,
        "cordon" if has("forced") => Action::Cordon { evacuate: Evacuate::Forced },
        "cordon" => Action::Cordon { evacuate: if has("evacuate") { Evacuate::Yes } else { Evacuate::No } },
        "uncordon" => Action::Uncordon,
        other => panic!("`{other}` is no action"),
    };
    Ask::Act { machine, action, outage: if has("accept-outage") { Outage::Accepted } else { Outage::Refused }, replacement: None }
}

fn update(machine: MachineName, words: &[&str]) -> Ask {
    let value = |name: &str| words.iter().find_map(|word| word.strip_prefix(name));
    let tags = value("tag:").map(|tags| {
        let pairs = tags.split(',').filter_map(|tag| tag.split_once('='));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    });
    let editions = |name: &str| {
        value(name).map(|numbers| match numbers {
            "*" => Editions::Any,
            listed => Editions::Listed(listed.split(',').map(|number| number.parse().expect("an edition is a number")).collect()),
        })
    };
    let conditions = Conditions { expected: editions("edition="), excluded: editions("edition!=") };
    Ask::Update { machine, tags, details: value("details=").map(str::to_owned), conditions }
}

pub fn parse_span(text: &str) -> Span {
    let (number, unit) = text.split_at(text.len() - 1);
    let number: u64 = number.parse().unwrap();
    match unit {
        "s" => Span::seconds(number),
        "m" => Span::minutes(number),
        "h" => Span::hours(number),
        other => panic!("`{other}` is no unit of time"),
    }
}
