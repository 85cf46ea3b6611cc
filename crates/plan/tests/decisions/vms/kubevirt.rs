//! A small model of KubeVirt: it takes errands, and obeys after a while.

use std::collections::BTreeMap;

use model::{
    DiskRef, Errand, InstancePhase, InstanceSeen, NodeOf, OsDiskSeen, Readiness, RunStrategy, Shutdown, Span, Timestamp, VmName, VmRef,
    VmSeen, VmState,
};

/// How a virtual machine takes what it is asked.
#[derive(Clone, Debug)]
pub struct Habits {
    /// How long its system takes to stop; `None` if it does not listen.
    pub shutdown_takes: Option<Span>,
    pub start_takes: Span,
    /// Why no machine can take it.
    pub unschedulable: Option<String>,
    /// Whether something keeps a disk that was thrown away.
    pub keeps_disk: bool,
}

impl Default for Habits {
    fn default() -> Self {
        Habits { shutdown_takes: Some(Span::seconds(30)), start_takes: Span::seconds(20), unschedulable: None, keeps_disk: false }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Stopped,
    Running,
    DiskMade,
    Gone,
}

/// A virtual machine as it really is.
#[derive(Clone, Debug)]
pub struct Body {
    pub seen: VmSeen,
    pub habits: Habits,
    /// The undercloud's node that it goes to.
    pub node: String,
    coming: Vec<(Timestamp, Event)>,
    /// How many it has had to boot from.
    disks: u32,
}

#[derive(Debug, Default)]
pub struct KubeVirt {
    pub vms: BTreeMap<VmName, Body>,
    /// Everything that was obeyed, in order.
    pub obeyed: Vec<Errand>,
    /// Why no machine can take what is made.
    pub full: Option<String>,
    made: u32,
}

/// How long it takes to stop without a shutdown, to delete, and to make disks.
const MOMENT: Span = Span::seconds(3);

impl KubeVirt {
    /// One that is there, running on a node or stopped.
    pub fn add(&mut self, name: &str, node: &str, runs: bool, node_of: Option<NodeOf>) {
        self.made += 1;
        let name = VmName::new(name).unwrap();
        let seen = VmSeen {
            name: name.clone(),
            uid: format!("u{}", self.made),
            run: RunStrategy::Halted,
            state: VmState::Stopped,
            message: None,
            instance: None,
            cpu_cores: 4,
            memory_bytes: 8 << 30,
            grace: Span::seconds(30),
            node_of,
            created_at: None,
            os_disk: Some(os_disk(&name, 1)),
        };
        let mut body = Body { seen, habits: Habits::default(), node: node.into(), coming: Vec::new(), disks: 1 };
        if runs {
            body.seen.run = RunStrategy::Always;
            body.run();
        }
        self.vms.insert(name, body);
    }

    pub fn body(&mut self, name: &str) -> &mut Body {
        self.vms.get_mut(&VmName::new(name).unwrap()).expect("a virtual machine of the site")
    }

    pub fn obey(&mut self, errand: &Errand, now: Timestamp) {
        self.obeyed.push(errand.clone());
        match errand {
            Errand::CreateVm { vm } if !self.vms.contains_key(vm) => {
                self.add(vm.as_str(), "rack1compute01", false, None);
                let full = self.full.clone();
                let body = self.body(vm.as_str());
                body.habits.unschedulable = full;
                body.start(now);
            }
            Errand::StartVm { vm } => self.with(vm, |body| body.start(now)),
            Errand::StopVm { vm, shutdown } => self.with(vm, |body| body.stop(*shutdown, now)),
            Errand::DeleteVm { vm } => self.with(vm, |body| {
                body.seen.state = VmState::Terminating;
                body.coming = vec![(now + MOMENT, Event::Gone)];
            }),
            Errand::DiscardOsDisk { vm, disk } => self.with(vm, |body| body.discard(disk, now)),
            _ => {}
        }
    }

    fn with(&mut self, vm: &VmRef, change: impl FnOnce(&mut Body)) {
        if let Some(body) = self.vms.get_mut(&vm.name).filter(|body| body.seen.uid == vm.uid) {
            change(body);
        }
    }

    pub fn live(&mut self, now: Timestamp) {
        self.vms.retain(|_, body| !body.coming.iter().any(|(at, event)| *at <= now && *event == Event::Gone));
        for body in self.vms.values_mut() {
            while let Some(n) = body.coming.iter().position(|(at, _)| *at <= now) {
                match body.coming.remove(n).1 {
                    Event::Stopped => body.halt(),
                    Event::Running => body.run(),
                    Event::DiskMade => body.make_disk(),
                    Event::Gone => {}
                }
            }
        }
    }

    pub fn next_at(&self) -> Option<Timestamp> {
        self.vms.values().flat_map(|body| body.coming.iter().map(|(at, _)| *at)).min()
    }
}

impl Body {
    pub fn start(&mut self, now: Timestamp) {
        assert!(!self.is_disk_ending(), "{} is started on a disk that is being thrown away", self.seen.name);
        self.seen.run = RunStrategy::Always;
        if self.seen.has_instance() {
            return;
        }
        self.seen.instance = Some(instance(None, InstancePhase::Scheduling));
        self.seen.state = VmState::Starting;
        match &self.habits.unschedulable {
            Some(why) => {
                self.seen.state = VmState::Unschedulable;
                self.seen.message = Some(why.clone());
            }
            None => self.coming = vec![(now + self.habits.start_takes, Event::Running)],
        }
    }

    pub fn stop(&mut self, shutdown: Shutdown, now: Timestamp) {
        self.seen.run = RunStrategy::Halted;
        let Some(instance) = &mut self.seen.instance else { return };
        instance.is_ending = true;
        self.seen.state = VmState::Stopping;
        let takes = if shutdown == Shutdown::Skip { Some(MOMENT) } else { self.habits.shutdown_takes };
        self.coming.retain(|(_, event)| *event == Event::Stopped);
        self.coming.extend(takes.map(|takes| (now + takes, Event::Stopped)));
    }

    /// Only the disk that is meant is thrown away, and only by the first who asks.
    fn discard(&mut self, meant: &DiskRef, now: Timestamp) {
        if let Some(OsDiskSeen::There { disk, is_ending }) = &mut self.seen.os_disk
            && disk == meant
            && !*is_ending
        {
            *is_ending = true;
            self.coming.extend((!self.habits.keeps_disk).then_some((now + MOMENT, Event::DiskMade)));
        }
    }

    pub fn is_disk_ending(&self) -> bool {
        matches!(self.seen.os_disk, Some(OsDiskSeen::There { is_ending: true, .. }))
    }

    /// KubeVirt makes a disk in the place of the one that is gone.
    pub fn make_disk(&mut self) {
        self.disks += 1;
        self.seen.os_disk = Some(os_disk(&self.seen.name, self.disks));
    }

    pub fn run(&mut self) {
        self.seen.run = RunStrategy::Always;
        self.seen.instance = Some(instance(Some(self.node.clone()), InstancePhase::Running));
        self.seen.state = VmState::Running;
        self.seen.message = None;
    }

    pub fn halt(&mut self) {
        self.seen.run = RunStrategy::Halted;
        self.seen.instance = None;
        self.seen.state = VmState::Stopped;
        self.seen.message = None;
        self.coming.clear();
    }
}

fn os_disk(vm: &VmName, number: u32) -> OsDiskSeen {
    OsDiskSeen::There { disk: DiskRef { name: format!("{vm}-os"), uid: format!("d{number}") }, is_ending: false }
}

fn instance(node: Option<String>, phase: InstancePhase) -> InstanceSeen {
    let ready = if phase == InstancePhase::Running { Readiness::True } else { Readiness::False };
    InstanceSeen { uid: "i".into(), node, phase, ready, is_ending: false }
}
