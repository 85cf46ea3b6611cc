//! A closed loop: a keeper at its desk, and small model devices that obey after a while. Time jumps from event to event.

pub mod board;
pub mod etcd;

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Ask, Delivery, DeviceAsk, ErrandOutcome, Fault, FaultClass, Found, LookAt, Machine, MachineName, MachineReport, NodeSeen, Operation,
    Party, Power, Readiness, Span, Timestamp,
};
use plan::{ErrandStep, LookStep, Step};

use board::{Agent, Board, Disk};
use etcd::Etcd;

use crate::desk::{self, Desk};
use crate::laws;
use crate::lodging::Lodging;

/// Looks are at least this often; often enough that the undercloud never counts as silent by our own doing.
const LOOK_EVERY: Span = Span::seconds(30);
/// How long a request is on its way before it is answered.
const ANSWER_AFTER: Span = Span::millis(200);
/// A kubelet's silence is noticed after this.
const NODE_GRACE: Span = Span::seconds(40);

/// How a machine takes what it is asked.
#[derive(Clone, Debug)]
pub struct Habits {
    /// How long the operating system takes to stop; `None` if it does not listen.
    pub shutdown_takes: Option<Span>,
    /// How late the BMC obeys a request to go off, and one to go on.
    pub off_after: Span,
    pub on_after: Span,
    pub boot_takes: Span,
}

impl Default for Habits {
    fn default() -> Self {
        let moment = Span::seconds(5);
        Habits { shutdown_takes: Some(Span::seconds(40)), off_after: moment, on_after: moment, boot_takes: Span::seconds(90) }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Event {
    /// The BMC passes the wish to shut down on to whatever system is running then.
    Press,
    /// The operating system stops, if it is the one that was asked.
    Shutdown {
        boot: u32,
    },
    Off,
    On,
    NodeLost {
        boot: u32,
    },
    NodeReady {
        boot: u32,
    },
    /// The agent, or the new system, tells something.
    Tells {
        boot: u32,
        report: MachineReport,
    },
}

#[derive(Debug)]
pub struct Device {
    pub power: Power,
    pub node: Option<NodeSeen>,
    pub habits: Habits,
    pub bmc_fault: Option<Fault>,
    pub refuses: Option<Fault>,
    /// What the device itself has counted: times it went off and on, and requests that reached it.
    pub went_off: u32,
    pub went_on: u32,
    pub requests: Vec<DeviceAsk>,
    pub board: Board,
    /// What it tells over the network.
    told: Vec<MachineReport>,
    has_joined: bool,
    boot: u32,
    /// The latest boot that died before somebody's eyes. Nobody can know of a death while the BMC is silent.
    died_in_sight: Option<u32>,
    coming: Vec<(Timestamp, Event)>,
}

impl Device {
    pub fn new(machine: &Machine, power: Power) -> Self {
        let mut node = desk::node(machine.name.as_str(), 1);
        if power == Power::Off {
            node.ready = Readiness::Unknown;
        }
        Device {
            power,
            node: Some(node).filter(|_| !machine.is_spare()),
            habits: Habits::default(),
            bmc_fault: None,
            refuses: None,
            went_off: 0,
            went_on: 0,
            requests: Vec::new(),
            board: Board::default(),
            told: Vec::new(),
            has_joined: false,
            boot: 1,
            died_in_sight: None,
            coming: Vec::new(),
        }
    }

    fn take(&mut self, step: &Step, now: Timestamp) {
        let ask = step.ask;
        self.requests.push(ask);
        self.board.take(step);
        if self.board.ignored.contains(&ask) {
            return;
        }
        let off_at = now + self.habits.off_after;
        match ask {
            DeviceAsk::GracefulOff => self.coming.push((off_at, Event::Press)),
            DeviceAsk::ForceOff | DeviceAsk::AgentOff => self.coming.push((off_at, Event::Off)),
            DeviceAsk::PowerOn | DeviceAsk::AgentOn | DeviceAsk::SystemOn => self.coming.push((now + self.habits.on_after, Event::On)),
            DeviceAsk::Cordon | DeviceAsk::Uncordon => {
                if let Some(node) = &mut self.node {
                    node.unschedulable = ask == DeviceAsk::Cordon;
                    node.cordoned_by_us = ask == DeviceAsk::Cordon;
                }
            }
            DeviceAsk::InsertMedia | DeviceAsk::BootFromMedia | DeviceAsk::BootFromHttp | DeviceAsk::BootFromPxe => {
                assert_eq!(self.power, Power::Off, "{ask} under a machine that runs");
            }
            DeviceAsk::EjectMedia | DeviceAsk::BootFromDisk | DeviceAsk::MintJoinToken | DeviceAsk::DropJoinToken => {}
            other => panic!("{other} is not known to these devices"),
        }
    }

    pub fn switch(&mut self, power: Power, now: Timestamp) {
        self.coming.push((now, if power == Power::Off { Event::Off } else { Event::On }));
    }

    fn live(&mut self, now: Timestamp) {
        while let Some(at) = self.coming.iter().position(|(at, _)| *at <= now) {
            let (_, event) = self.coming.remove(at);
            self.happen(event, now);
        }
    }

    fn happen(&mut self, event: Event, now: Timestamp) {
        match event {
            Event::Press if self.power == Power::On => {
                self.coming.extend(self.habits.shutdown_takes.map(|takes| (now + takes, Event::Shutdown { boot: self.boot })));
            }
            Event::Shutdown { boot } if boot == self.boot => self.happen(Event::Off, now),
            Event::Off if self.power == Power::On => {
                self.power = Power::Off;
                self.went_off += 1;
                self.coming.push((now + NODE_GRACE, Event::NodeLost { boot: self.boot }));
            }
            Event::On if self.power == Power::Off => {
                self.power = Power::On;
                self.went_on += 1;
                self.boot += 1;
                self.start(now);
            }
            Event::NodeLost { boot } => {
                let stale = self.node.as_mut().filter(|node| node.boot_id == format!("boot{boot}"));
                if let Some(node) = stale {
                    node.ready = Readiness::Unknown;
                }
            }
            Event::NodeReady { boot } if boot == self.boot && self.power == Power::On => self.join(),
            Event::Tells { boot, report } if boot == self.boot && self.power == Power::On => {
                if report == (MachineReport::Written { digest: board::image() }) {
                    self.board.disk = Disk::New;
                }
                self.told.push(report);
            }
            Event::Press | Event::Shutdown { .. } | Event::Off | Event::On | Event::NodeReady { .. } | Event::Tells { .. } => {}
        }
    }

    /// Whatever it is set to start from starts.
    fn start(&mut self, now: Timestamp) {
        let boot = self.boot;
        if self.board.starts_agent() {
            let story = self.board.story();
            self.coming.extend(story.into_iter().map(|(after, report)| (now + after, Event::Tells { boot, report })));
            self.coming.sort_by_key(|(at, _)| *at);
            return;
        }
        let up_at = now + self.habits.boot_takes;
        self.coming.push((up_at, Event::NodeReady { boot }));
        if self.board.disk == Disk::New && self.board.phones_home {
            self.coming.push((up_at, Event::Tells { boot, report: MachineReport::PhonedHome }));
            if self.board.agent == Agent::Stutters {
                self.coming.push((up_at + Span::seconds(1), Event::Tells { boot, report: MachineReport::PhonedHome }));
            }
        }
    }

    /// The node is there and ready, cordoned if it was.
    pub fn join(&mut self) {
        self.has_joined = true;
        if let Some(node) = &mut self.node {
            node.ready = Readiness::True;
            node.boot_id = format!("boot{}", self.boot);
        }
    }

    /// The node registers anew, as the system that runs now would do it.
    pub fn register(&mut self, machine: &str, ready: Readiness) {
        self.node = Some(NodeSeen { ready, ..desk::node(machine, self.boot) });
    }

    /// Whether its system does not run, as far as an attentive onlooker can know: it is off, or the boot that its node
    /// tells of is over.
    fn is_down(&self) -> bool {
        let is_off = self.power == Power::Off && self.bmc_fault.is_none();
        let dead = self.died_in_sight.map(|boot| format!("boot{boot}"));
        is_off || dead.is_some() && dead == self.node.as_ref().map(|node| node.boot_id.clone())
    }

    /// Everything that was broken is mended, and what is on comes up.
    fn heal(&mut self, now: Timestamp) {
        self.bmc_fault = None;
        self.refuses = None;
        if self.power == Power::On {
            self.coming.push((now + self.habits.boot_takes, Event::NodeReady { boot: self.boot }));
        }
    }
}

/// What a keeper leaves undone when it dies: the commit, the requests, or the answers to them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Death {
    Uncommitted,
    Unsent,
    Unanswered,
}

pub struct Rig {
    pub desk: Desk,
    pub devices: BTreeMap<MachineName, Device>,
    pub undercloud_fault: Option<Fault>,
    /// Commits that changed something, so far.
    pub commits: u32,
    pub death: Option<(u32, Death)>,
    pub down_for: Span,
    /// Requests that are on their way, and what the device will say by itself.
    under_way: Vec<(Timestamp, Step, Result<(), Fault>)>,
    looks: Vec<(Timestamp, Timestamp, LookStep)>,
    pub etcd: Etcd,
    /// Tokens by which nodes may join.
    pub tokens: BTreeSet<String>,
    /// What is on the machines.
    pub lodging: Lodging,
    errands: Vec<(Timestamp, ErrandStep, Result<ErrandOutcome, Fault>)>,
}

impl Rig {
    pub fn new() -> Self {
        let now = desk::morning();
        Rig {
            desk: Desk::new(desk::empty_cluster(now), now),
            devices: BTreeMap::new(),
            undercloud_fault: None,
            commits: 0,
            death: None,
            down_for: Span::seconds(1),
            under_way: Vec::new(),
            looks: Vec::new(),
            etcd: Etcd::default(),
            tokens: BTreeSet::new(),
            lodging: Lodging::default(),
            errands: Vec::new(),
        }
    }

    pub fn add(&mut self, machine: Machine, power: Power) {
        self.devices.insert(machine.name.clone(), Device::new(&machine, power));
        self.desk.add(machine);
    }

    pub fn device(&mut self, machine: &MachineName) -> &mut Device {
        self.devices.get_mut(machine).expect("a machine of the rig")
    }

    pub fn run_for(&mut self, span: Span) {
        let end = self.desk.now + span;
        self.work();
        while self.desk.now < end {
            self.step(end);
        }
    }

    /// Runs until no operation is at work; false if some still are after `span`.
    pub fn run_until_idle(&mut self, span: Span) -> bool {
        let end = self.desk.now + span;
        self.work();
        while self.desk.now < end && self.desk.snapshot.running_count() > 0 {
            self.step(end);
        }
        self.desk.snapshot.running_count() == 0
    }

    fn step(&mut self, end: Timestamp) {
        let devices = self.devices.values().flat_map(|device| device.coming.iter().map(|(at, _)| *at));
        let answers = self.under_way.iter().map(|(at, ..)| *at).chain(self.looks.iter().map(|(at, ..)| *at)).chain(self.etcd.next_due());
        let answers = answers.chain(self.errands.iter().map(|(at, ..)| *at)).chain(self.lodging.next_due());
        let next = devices.chain(answers).chain(self.desk.next_due()).chain([self.desk.now + LOOK_EVERY, end]).min();
        self.desk.now = next.unwrap_or(end).max(self.desk.now + Span::millis(1));
        self.work();
    }

    /// One moment: what is due happens and is seen, and the keeper plans until it has nothing more to do.
    fn work(&mut self) {
        let now = self.desk.now;
        self.devices.values_mut().for_each(|device| device.live(now));
        for (machine, device) in &self.devices {
            self.lodging.set_power(machine, device.power != Power::Off, now);
        }
        self.lodging.live(now);
        self.etcd.live(now);
        self.deliver_answers();
        self.hear_machines();
        self.look();
        loop {
            let plan = self.desk.plan();
            let down = self.devices.iter().filter(|(_, device)| device.is_down()).map(|(machine, _)| machine.clone()).collect();
            laws::no_vote_is_taken_while_another_host_is_down(&self.desk.snapshot, &plan, &down);
            if plan.changes == plan::Changes::default() && plan.errands.is_empty() {
                self.desk.commit(&plan);
                self.begin_looks(plan.looks);
                return;
            }
            // Evictions that are repeated are no commit.
            self.commits += u32::from(plan.changes != plan::Changes::default());
            let death = self.death.filter(|(at, _)| *at == self.commits && !plan.changes.is_empty()).map(|(_, death)| death);
            if death == Some(Death::Uncommitted) {
                return self.die();
            }
            self.desk.commit(&plan);
            if death == Some(Death::Unsent) {
                return self.die();
            }
            self.begin_looks(plan.looks);
            for step in plan.steps {
                self.send(step);
            }
            for step in plan.errands {
                let outcome = self.lodging.take(&step, now);
                self.errands.push((now + ANSWER_AFTER, step, outcome));
            }
            if death == Some(Death::Unanswered) {
                return self.die();
            }
        }
    }

    /// The keeper dies and another one begins, which has seen nothing.
    pub fn die(&mut self) {
        self.under_way.clear();
        self.looks.clear();
        self.errands.clear();
        self.desk.now = self.desk.now + self.down_for;
        self.desk.crash();
    }

    fn send(&mut self, step: Step) {
        let now = self.desk.now;
        self.desk.send(&step);
        let cut_off = self.fault_of(&step);
        let mut said = Ok(());
        if cut_off.is_none_or(|fault| fault.delivery == Delivery::Maybe) {
            said = self.take(&step, now);
        }
        self.under_way.push((now + ANSWER_AFTER, step, said));
    }

    fn take(&mut self, step: &Step, now: Timestamp) -> Result<(), Fault> {
        let machine = step.machine.clone();
        if step.ask.party() == Party::Etcd {
            self.device(&machine).requests.push(step.ask);
            let result = self.etcd.take(step);
            self.count_voters();
            return result;
        }
        let of_agent = matches!(step.ask, DeviceAsk::AgentOn | DeviceAsk::InsertMedia);
        assert!(!of_agent || !self.etcd.has(&machine), "{machine} is wiped before etcd has let its member go");
        let token = || format!("{:?}", step.with);
        match step.ask {
            DeviceAsk::MintJoinToken => drop(self.tokens.insert(token())),
            DeviceAsk::DropJoinToken => drop(self.tokens.remove(&token())),
            _ => {}
        }
        let device = self.device(&machine);
        if device.board.unknown.contains(&step.ask) {
            device.requests.push(step.ask);
            return Err(Fault::new(FaultClass::Unsupported, Delivery::No, "no such action"));
        }
        device.take(step, now);
        Ok(())
    }

    /// Voters whose systems run.
    fn count_voters(&mut self) {
        let runs = |name: &str| self.devices.iter().any(|(machine, device)| machine.as_str() == name && device.power == Power::On);
        let voting = self.etcd.members.iter().filter(|member| !member.is_learner && runs(&member.name)).count();
        let needed = self.etcd.members.iter().filter(|member| !member.is_learner).count() / 2 + 1;
        if !self.etcd.members.is_empty() {
            assert!(voting >= needed, "quorum is lost: {voting} of {needed}");
            self.etcd.fewest_voters = self.etcd.fewest_voters.min(voting);
        }
    }

    fn begin_looks(&mut self, looks: BTreeSet<LookStep>) {
        let now = self.desk.now;
        for look in looks {
            if self.desk.begin_look(&look) {
                self.looks.push((now + ANSWER_AFTER, now, look));
            }
        }
    }

    /// What machines tell is a request like any other.
    fn hear_machines(&mut self) {
        let now = self.desk.now;
        let names: Vec<MachineName> = self.devices.keys().cloned().collect();
        for machine in names {
            let device = self.device(&machine);
            let attempt = device.board.attempt.clone();
            for report in std::mem::take(&mut device.told) {
                let attempt = attempt.clone().expect("an installation");
                self.desk.request("machine", Ask::Report { attempt, report }, None);
            }
            let device = self.device(&machine);
            if std::mem::take(&mut device.has_joined) && device.board.disk == Disk::New {
                self.etcd.start(&machine, now);
            }
        }
        self.count_voters();
    }

    fn fault_of(&self, step: &Step) -> Option<Fault> {
        let device = &self.devices[&step.machine];
        let line = match step.ask.party() {
            Party::Bmc => &device.bmc_fault,
            Party::Undercloud => &self.undercloud_fault,
            Party::Etcd => &None,
        };
        line.clone().or_else(|| device.refuses.clone())
    }

    fn deliver_answers(&mut self) {
        let now = self.desk.now;
        let (due, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.under_way).into_iter().partition(|(at, ..)| *at <= now);
        self.under_way = later;
        for (_, step, said) in due {
            let result = self.fault_of(&step).map_or(said, Err);
            self.desk.answer(&step, result);
        }
        let (due, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.looks).into_iter().partition(|(at, ..)| *at <= now);
        self.looks = later;
        for (_, began_at, look) in due {
            let found = self.found(&look);
            self.desk.end_look(&look, began_at, found);
        }
        let (due, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.errands).into_iter().partition(|(at, ..)| *at <= now);
        self.errands = later;
        for (_, step, outcome) in due {
            self.desk.answer_errand(&step, outcome);
        }
    }

    fn found(&self, look: &LookStep) -> Result<Found, Fault> {
        let Some(machine) = &look.machine else { return self.etcd.seen().map(Found::Etcd) };
        let device = &self.devices[machine];
        if let Some(fault) = &device.bmc_fault {
            return Err(fault.clone());
        }
        match look.at {
            LookAt::Survey => Ok(Found::Survey(device.board.survey.clone())),
            LookAt::Boot => Ok(Found::Boot(device.board.seen())),
            other => panic!("these devices do not show {other}"),
        }
    }

    fn look(&mut self) {
        self.desk.hear_undercloud(self.undercloud_fault.clone().map_or(Ok(()), Err));
        for (machine, device) in &mut self.devices {
            if device.power == Power::Off && device.bmc_fault.is_none() {
                device.died_in_sight = Some(device.boot);
            }
            self.desk.look_power(machine, device.bmc_fault.clone().map_or(Ok(device.power), Err));
            if self.undercloud_fault.is_none() {
                self.desk.look_node(machine, device.node.clone());
            }
        }
        if self.undercloud_fault.is_none() && !self.lodging.is_empty() {
            self.desk.look_tenants(&self.lodging);
        }
    }

    pub fn heal(&mut self) {
        let now = self.desk.now;
        self.undercloud_fault = None;
        self.devices.values_mut().for_each(|device| device.heal(now));
    }

    pub fn check_log(&self) {
        let log: Vec<_> = self.desk.log.iter().map(|(_, entry)| entry.clone()).collect();
        laws::the_log_agrees_with_the_journals(&self.desk.snapshot, &log);
    }

    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.desk.snapshot.operations.values().map(AsRef::as_ref)
    }
}
