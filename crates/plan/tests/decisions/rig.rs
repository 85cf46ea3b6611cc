//! A closed loop: a keeper at its desk, and small model devices that obey after a while. Time jumps from event to event.

pub mod accounts;
pub mod board;
pub mod device;
pub mod etcd;
pub mod parts;

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Ask, Delivery, DeviceAsk, ErrandOutcome, EtcdMember, Fault, FaultClass, Found, InstallTrouble, LookAt, Machine, MachineName,
    MachineReport, Operation, Party, Power, Span, Timestamp,
};
use plan::{ErrandStep, LookStep, Step};

use board::Disk;
pub use device::{Device, Habits};
use etcd::Etcd;

use crate::desk::{self, Desk};
use crate::laws;
use crate::lodging::Lodging;

/// Looks are at least this often; often enough that the undercloud never counts as silent by our own doing.
const LOOK_EVERY: Span = Span::seconds(30);
/// How long a request is on its way before it is answered.
const ANSWER_AFTER: Span = Span::millis(200);

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
    /// A keeper plans as soon as it is there.
    has_just_begun: bool,
    looks: Vec<(Timestamp, Timestamp, LookStep)>,
    /// How long a look takes.
    pub look_takes: Span,
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
            has_just_begun: false,
            looks: Vec::new(),
            look_takes: ANSWER_AFTER,
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

    /// Changes how the site file says that a machine is installed.
    pub fn describe(&mut self, machine: &MachineName, change: impl FnOnce(&mut model::InstallSettings)) {
        let mut described = (*self.desk.snapshot.machines[machine]).clone();
        change(&mut described.install);
        self.desk.snapshot.set_machine(described);
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

    /// The first moment at which something is so; whether there is one within this span.
    pub fn run_until(&mut self, span: Span, is_so: impl Fn(&Rig) -> bool) -> bool {
        let end = self.desk.now + span;
        self.work();
        while self.desk.now < end && !is_so(self) {
            self.step(end);
        }
        is_so(self)
    }

    fn step(&mut self, end: Timestamp) {
        let devices = self.devices.values().flat_map(|device| device.coming.iter().map(|(at, _)| *at));
        let answers = self.under_way.iter().map(|(at, ..)| *at).chain(self.looks.iter().map(|(at, ..)| *at)).chain(self.etcd.next_due());
        let answers = answers.chain(self.errands.iter().map(|(at, ..)| *at)).chain(self.lodging.next_due());
        let next = devices.chain(answers).chain(self.desk.next_due()).chain([self.desk.now + LOOK_EVERY, end]).min();
        let next = next.filter(|_| !std::mem::take(&mut self.has_just_begun)).unwrap_or(self.desk.now);
        self.desk.now = next.max(self.desk.now + Span::millis(1));
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
        self.has_just_begun = true;
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
        if let Some(fault) = device.board.accounts.refusal(step) {
            device.requests.push(step.ask);
            return Err(fault);
        }
        device.take(step, now);
        Ok(())
    }

    /// Voters whose systems run.
    fn count_voters(&mut self) {
        let is_down = |member: &EtcdMember| {
            let of = |machine: &MachineName| member.peer_urls == [etcd::peer_url(machine)];
            self.devices.iter().any(|(machine, device)| of(machine) && device.power != Power::On)
        };
        let voting = self.etcd.members.iter().filter(|member| !member.is_learner && !is_down(member)).count();
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
                self.looks.push((now + self.look_takes, now, look));
            }
        }
    }

    /// What machines tell is a request like any other.
    fn hear_machines(&mut self) {
        let names: Vec<MachineName> = self.devices.keys().cloned().collect();
        for machine in names {
            let device = self.device(&machine);
            let attempt = device.board.attempt.clone();
            for report in std::mem::take(&mut device.told) {
                let attempt = attempt.clone().expect("an installation");
                let is_call = matches!(report, MachineReport::Exchange { .. });
                self.desk.request("machine", Ask::Report { attempt: attempt.clone(), report }, None);
                if is_call && self.lacks_disk(&machine) {
                    let report = MachineReport::Failed { trouble: InstallTrouble::MissingDisk, detail: "no such disk".into() };
                    self.desk.request("machine", Ask::Report { attempt, report }, None);
                }
            }
            let device = self.device(&machine);
            if std::mem::take(&mut device.has_joined) && device.board.disk == Disk::New {
                self.start_etcd(&machine);
            }
        }
        self.count_voters();
    }

    /// Whether the disk that the agent is told is not there.
    fn lacks_disk(&mut self, machine: &MachineName) -> bool {
        let disk = self.desk.snapshot.running_on(machine).and_then(|operation| operation.system_disk()).cloned();
        let board = &mut self.device(machine).board;
        board.lacks_disk = disk.is_some_and(|disk| !board.parts.has(&disk));
        board.lacks_disk
    }

    /// A member starts if the machine's first-boot configuration, which came with its image, says how.
    fn start_etcd(&mut self, machine: &MachineName) {
        let now = self.desk.now;
        let operation = self.desk.snapshot.running_on(machine).cloned();
        if let Some((peer_url, _)) = operation.as_ref().and_then(|operation| operation.etcd_peers()) {
            self.etcd.start(machine, peer_url, now);
        }
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
        if let Some(fault) = device.board.look_faults.get(&look.at) {
            return Err(fault.clone());
        }
        match look.at {
            LookAt::Survey => Ok(Found::Survey(device.board.survey.clone())),
            LookAt::Boot => Ok(Found::Boot(device.board.seen())),
            LookAt::Volumes => Ok(Found::Volumes(device.board.parts.volumes(device.power == Power::On))),
            LookAt::Hardware => Ok(Found::Hardware(Box::new(device.board.parts.inspection(device.power == Power::On)))),
            LookAt::Accounts => Ok(Found::Accounts(device.board.accounts.seen())),
            other @ LookAt::Etcd => panic!("these devices do not show {other}"),
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
