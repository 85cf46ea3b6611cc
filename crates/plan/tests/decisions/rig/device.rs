//! A machine with its BMC and its node: it obeys after a while.

use model::{DeviceAsk, Fault, Machine, MachineReport, NodeSeen, Power, Readiness, Span, Timestamp};
use plan::Step;

use super::board::{self, Agent, Board, Disk};
use crate::desk;

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
pub(super) enum Event {
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
    /// A node that is gone registers anew for this machine when its system joins.
    pub registers_as: Option<String>,
    /// What it tells over the network.
    pub(super) told: Vec<MachineReport>,
    pub(super) has_joined: bool,
    pub(super) boot: u32,
    /// The latest boot that died before somebody's eyes. Nobody can know of a death while the BMC is silent.
    pub(super) died_in_sight: Option<u32>,
    pub(super) coming: Vec<(Timestamp, Event)>,
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
            registers_as: None,
            told: Vec::new(),
            has_joined: false,
            boot: 1,
            died_in_sight: None,
            coming: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, step: &Step, now: Timestamp) {
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
            DeviceAsk::InsertMedia
            | DeviceAsk::BootFromMedia
            | DeviceAsk::BootFromHttp
            | DeviceAsk::BootFromPxe
            | DeviceAsk::DeleteVolume
            | DeviceAsk::MakeOsVolume => {
                assert_eq!(self.power, Power::Off, "{ask} under a machine that runs");
            }
            DeviceAsk::EjectMedia
            | DeviceAsk::BootFromDisk
            | DeviceAsk::MintJoinToken
            | DeviceAsk::DropJoinToken
            | DeviceAsk::WriteAccount
            | DeviceAsk::DropAccount => {}
            other => panic!("{other} is not known to these devices"),
        }
    }

    pub fn switch(&mut self, power: Power, now: Timestamp) {
        self.coming.push((now, if power == Power::Off { Event::Off } else { Event::On }));
    }

    pub(super) fn live(&mut self, now: Timestamp) {
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
                if self.board.lacks_disk && !matches!(report, MachineReport::Exchange { .. }) {
                    return;
                }
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
            self.coming.push((up_at, Event::Tells { boot, report: MachineReport::PhonedHome { key_sets: self.board.key_sets.clone() } }));
            if self.board.agent == Agent::Stutters {
                self.coming.push((
                    up_at + Span::seconds(1),
                    Event::Tells { boot, report: MachineReport::PhonedHome { key_sets: self.board.key_sets.clone() } },
                ));
            }
        }
    }

    /// The node is there and ready, cordoned if it was.
    pub fn join(&mut self) {
        self.has_joined = true;
        if let Some(machine) = self.registers_as.clone().filter(|_| self.node.is_none()) {
            self.register(&machine, Readiness::True);
        }
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
    pub(super) fn is_down(&self) -> bool {
        let is_off = self.power == Power::Off && self.bmc_fault.is_none();
        let dead = self.died_in_sight.map(|boot| format!("boot{boot}"));
        is_off || dead.is_some() && dead == self.node.as_ref().map(|node| node.boot_id.clone())
    }

    /// Everything that was broken is mended, and what is on comes up.
    pub(super) fn heal(&mut self, now: Timestamp) {
        self.bmc_fault = None;
        self.refuses = None;
        if self.power == Power::On {
            self.coming.push((now + self.habits.boot_takes, Event::NodeReady { boot: self.boot }));
        }
    }
}
