//! The undercloud's etcd: its members, and what it answers to who wants to change them.

use std::collections::BTreeSet;

use model::{Delivery, DeviceAsk, EtcdMember, EtcdSeen, Fault, FaultClass, MachineName, Span, Timestamp};
use plan::{Step, With};

#[derive(Clone, Debug)]
pub struct Etcd {
    pub members: Vec<EtcdMember>,
    pub fault: Option<Fault>,
    /// How long a learner takes to catch up once its system runs; `None` if it never does.
    pub catches_up_after: Option<Span>,
    /// The fewest voters that there were whose systems ran.
    pub fewest_voters: usize,
    caught_up: BTreeSet<String>,
    learning: Vec<(Timestamp, String)>,
    ids: u32,
}

impl Default for Etcd {
    fn default() -> Self {
        Etcd {
            members: Vec::new(),
            fault: None,
            catches_up_after: Some(Span::seconds(45)),
            fewest_voters: usize::MAX,
            caught_up: BTreeSet::new(),
            learning: Vec::new(),
            ids: 0,
        }
    }
}

pub fn peer_url(machine: &MachineName) -> String {
    format!("https://{machine}:2380")
}

impl Etcd {
    pub fn add(&mut self, machine: &MachineName) {
        self.ids += 1;
        self.members.push(EtcdMember {
            id: format!("{:x}", 0xa0 + self.ids),
            name: machine.to_string(),
            peer_urls: vec![peer_url(machine)],
            is_learner: false,
        });
    }

    pub fn seen(&self) -> Result<EtcdSeen, Fault> {
        self.fault.clone().map_or_else(|| Ok(EtcdSeen { members: self.members.clone() }), Err)
    }

    pub fn has(&self, machine: &MachineName) -> bool {
        self.members.iter().any(|member| member.peer_urls == [peer_url(machine)])
    }

    /// The machine's new system runs, and its member with it.
    pub fn start(&mut self, machine: &MachineName, peer_url: &str, now: Timestamp) {
        for member in self.members.iter_mut().filter(|member| member.is_learner && member.peer_urls == [peer_url]) {
            member.name = machine.to_string();
            self.learning.extend(self.catches_up_after.map(|span| (now + span, member.id.clone())));
        }
    }

    pub fn next_due(&self) -> impl Iterator<Item = Timestamp> + '_ {
        self.learning.iter().map(|(at, _)| *at)
    }

    pub fn live(&mut self, now: Timestamp) {
        let (due, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.learning).into_iter().partition(|(at, _)| *at <= now);
        self.learning = later;
        self.caught_up.extend(due.into_iter().map(|(_, id)| id));
    }

    pub fn take(&mut self, step: &Step) -> Result<(), Fault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let no = |class, detail: &str| Err(Fault::new(class, Delivery::No, detail));
        match (step.ask, &step.with) {
            (DeviceAsk::LeaveEtcd, With::Member { id }) => {
                let before = self.members.len();
                self.members.retain(|member| member.id != *id);
                if self.members.len() == before { no(FaultClass::Missing, "etcdserver: member not found") } else { Ok(()) }
            }
            (DeviceAsk::JoinEtcd, With::Learner { peer_url }) => {
                if self.members.iter().any(|member| member.peer_urls.contains(peer_url)) {
                    return no(FaultClass::Busy, "etcdserver: Peer URLs already exists");
                }
                self.ids += 1;
                let id = format!("{:x}", 0xa0 + self.ids);
                self.members.push(EtcdMember { id, name: String::new(), peer_urls: vec![peer_url.clone()], is_learner: true });
                Ok(())
            }
            (DeviceAsk::PromoteEtcd, With::Member { id }) => {
                if !self.caught_up.contains(id) {
                    return no(FaultClass::Busy, "etcdserver: can only promote a learner member which is in sync with leader");
                }
                let member = self.members.iter_mut().find(|member| member.id == *id);
                member.expect("a member").is_learner = false;
                Ok(())
            }
            other => panic!("{other:?} makes no sense to etcd"),
        }
    }
}
