//! The undercloud's etcd: who its members are, which of them run, and what it lets be changed about that.
//!
//! The Kubernetes API answers while most of the voting members run. A member runs on a host whose operating system belongs to the
//! cluster and whose disk holds the member's own data, or, if it never ran, none at all and the configuration of just that member: a
//! wiped disk ends it for good, and so does its removal.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::fault::FaultKind;
use crate::layout::{Layout, Role};
use crate::random::Random;
use crate::site::World;
use crate::time::{Instant, Span};

/// By which members talk to each other, and by which they take requests.
const PEER_PORT: u16 = 2380;
const CLIENT_PORT: u16 = 2379;

/// How many learners etcd takes at a time.
const LEARNERS_MAX: usize = 1;

/// How much of its log a learner that never catches up has, in percent.
const STUCK_AT: i64 = 40;

/// Every member of the undercloud's etcd, and what lies on the disks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Etcd {
    members: Vec<Member>,
    /// By machine: the member whose data is on its disk.
    data: BTreeMap<usize, u64>,
    /// By machine: the peer URL of the member that its operating system is configured to run.
    #[serde(default)]
    configured: BTreeMap<usize, String>,
    /// How many members were ever added; each gets an id of its own.
    added: u64,
    /// The machines whose members ran when it was last looked.
    #[serde(skip)]
    running: BTreeSet<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Member {
    id: u64,
    /// The machine that its peer URL leads to.
    machine: Option<usize>,
    peer_url: String,
    is_learner: bool,
    /// Whether it was ever heard from. It has no name before.
    is_started: bool,
    /// Since when a learner has been catching up, while it runs.
    learning_since: Option<Instant>,
}

/// A member as etcd lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdMember {
    pub id: u64,
    /// Empty until it was heard from.
    pub name: String,
    pub peer_url: String,
    /// Nothing until it was heard from.
    pub client_url: Option<String>,
    pub is_learner: bool,
}

/// What a member says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdStatus {
    pub id: u64,
    /// Nothing while there is no quorum.
    pub leader: Option<u64>,
    pub is_learner: bool,
    /// The last entry of the log that it has.
    pub raft_index: u64,
}

/// Why etcd does not change who its members are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EtcdRefusal {
    NoQuorum,
    MemberNotFound,
    PeerUrlExists,
    InvalidUrl,
    TooManyLearners,
    /// It would not survive the loss of another member.
    Unhealthy,
    NotEnoughStarted,
    NotLearner,
    NotInSync,
}

impl Etcd {
    /// The etcd of a site that has been running: a voting member for each machine of the control plane.
    pub fn founded(layout: &Layout) -> Etcd {
        let mut etcd = Etcd::default();
        for (index, _) in layout.machines().iter().enumerate().filter(|(_, spec)| spec.role == Role::ControlPlane) {
            let member = Member { is_learner: false, is_started: true, ..etcd.new_member(layout, peer_url(layout, index)) };
            etcd.data.insert(index, member.id);
            etcd.configured.insert(index, member.peer_url.clone());
            etcd.members.push(member);
        }
        etcd
    }

    fn new_member(&mut self, layout: &Layout, peer_url: String) -> Member {
        self.added += 1;
        let id = Random::new(layout.site_seed(), &format!("etcd/{}/{peer_url}", self.added)).next_u64();
        let machine = (0..layout.machines().len()).find(|index| self::peer_url(layout, *index) == peer_url);
        Member { id, machine, peer_url, is_learner: true, is_started: false, learning_since: None }
    }

    fn voters(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| !member.is_learner)
    }

    fn find(&self, id: u64) -> Result<usize, EtcdRefusal> {
        self.members.iter().position(|member| member.id == id).ok_or(EtcdRefusal::MemberNotFound)
    }

    pub fn shift(&mut self, by: Span) {
        for member in &mut self.members {
            member.learning_since = member.learning_since.map(|since| since + by);
        }
    }
}

fn peer_url(layout: &Layout, index: usize) -> String {
    format!("https://{}:{PEER_PORT}", layout.machines()[index].host_address)
}

impl World {
    /// Whether most of the voting members run.
    pub(crate) fn has_quorum(&self) -> bool {
        let running = self.etcd.voters().filter(|member| self.runs(member)).count();
        2 * running > self.etcd.voters().count()
    }

    fn runs(&self, member: &Member) -> bool {
        let Some(index) = member.machine else { return false };
        let has_data = match self.etcd.data.get(&index) {
            Some(id) => *id == member.id,
            None => !member.is_started && self.etcd.configured.get(&index) == Some(&member.peer_url),
        };
        has_data && self.reaches_api(index)
    }

    fn member_on(&self, machine: usize) -> Option<&Member> {
        self.etcd.members.iter().find(|member| member.machine == Some(machine) && self.runs(member))
    }

    /// Whether somebody takes requests for etcd on a machine.
    pub fn is_etcd_reachable(&self, machine: usize) -> bool {
        !self.faults.is_api_active(FaultKind::EtcdUnreachable) && self.member_on(machine).is_some()
    }

    /// Whether etcd can tell and change anything at all.
    pub fn has_etcd_quorum(&self) -> bool {
        self.has_quorum()
    }

    pub fn etcd_members(&self) -> Vec<EtcdMember> {
        self.etcd.members.iter().map(|member| self.told(member)).collect()
    }

    fn told(&self, member: &Member) -> EtcdMember {
        let spec = member.machine.filter(|_| member.is_started).map(|index| self.spec(index));
        EtcdMember {
            id: member.id,
            name: spec.map(|spec| spec.name.clone()).unwrap_or_default(),
            peer_url: member.peer_url.clone(),
            client_url: spec.map(|spec| format!("https://{}:{CLIENT_PORT}", spec.host_address)),
            is_learner: member.is_learner,
        }
    }

    /// What the member that runs on a machine says of itself.
    pub fn etcd_status(&self, machine: usize) -> Option<EtcdStatus> {
        let member = self.member_on(machine)?;
        let leader = self.etcd.voters().filter(|member| self.runs(member)).map(|member| member.id).min();
        let log = self.undercloud.objects().version();
        let raft_index = if member.is_learner { self.log_of(member, log) } else { log };
        Some(EtcdStatus { id: member.id, leader: leader.filter(|_| self.has_quorum()), is_learner: member.is_learner, raft_index })
    }

    /// How much of a log a learner has.
    fn log_of(&self, member: &Member, log: u64) -> u64 {
        let percent = match member.learning_since {
            None => 0,
            Some(since) => {
                let whole = self.pace.etcd_catch_up.0.max(1);
                let learned = if self.pace.etcd_catch_up == Span::ZERO { 100 } else { 100 * (self.now - since).0.clamp(0, whole) / whole };
                if self.is_learner_stuck(member) { learned.min(STUCK_AT) } else { learned }
            }
        };
        log * u64::try_from(percent).unwrap_or(0) / 100
    }

    fn is_learner_stuck(&self, member: &Member) -> bool {
        member.machine.is_some_and(|index| self.faults.is_active(FaultKind::EtcdLearnerNeverCatchesUp, index))
    }

    /// Adds a member without a vote.
    pub fn add_etcd_learner(&mut self, peer_url: &str, now: Instant) -> Result<EtcdMember, EtcdRefusal> {
        self.advance(now);
        if !is_peer_url(peer_url) {
            return Err(EtcdRefusal::InvalidUrl);
        }
        self.need_quorum()?;
        if self.etcd.members.iter().any(|member| member.peer_url == peer_url) {
            return Err(EtcdRefusal::PeerUrlExists);
        }
        if self.etcd.members.iter().filter(|member| member.is_learner).count() >= LEARNERS_MAX {
            return Err(EtcdRefusal::TooManyLearners);
        }
        if !self.etcd.voters().all(|member| self.runs(member)) {
            return Err(EtcdRefusal::Unhealthy);
        }
        let member = self.etcd.new_member(&self.layout, peer_url.to_owned());
        let told = self.told(&member);
        self.etcd.members.push(member);
        self.etcd_changed();
        Ok(told)
    }

    /// Takes a member out. Its process ends, and what is on its disk is of no use any more.
    pub fn remove_etcd_member(&mut self, id: u64, now: Instant) -> Result<(), EtcdRefusal> {
        self.advance(now);
        self.need_quorum()?;
        let index = self.etcd.find(id)?;
        if !self.etcd.members[index].is_learner {
            self.may_lose(&self.etcd.members[index])?;
        }
        self.etcd.members.remove(index);
        self.etcd_changed();
        Ok(())
    }

    /// etcd lets no voter go that the rest could not do without.
    fn may_lose(&self, leaving: &Member) -> Result<(), EtcdRefusal> {
        let others = || self.etcd.voters().filter(|member| member.id != leaving.id);
        if 2 * others().filter(|member| member.is_started).count() <= others().count() {
            return Err(EtcdRefusal::NotEnoughStarted);
        }
        // One that is down takes no part in the quorum that there is.
        let active = others().filter(|member| self.runs(member)).count();
        let is_safe = !self.runs(leaving) || active > others().count() / 2;
        if is_safe { Ok(()) } else { Err(EtcdRefusal::Unhealthy) }
    }

    /// Gives a learner its vote, once it has caught up.
    pub fn promote_etcd_learner(&mut self, id: u64, now: Instant) -> Result<(), EtcdRefusal> {
        self.advance(now);
        self.need_quorum()?;
        let index = self.etcd.find(id)?;
        let member = &self.etcd.members[index];
        if !member.is_learner {
            return Err(EtcdRefusal::NotLearner);
        }
        let has_caught_up = member.learning_since.is_some_and(|since| since + self.pace.etcd_catch_up <= self.now);
        if !has_caught_up || self.is_learner_stuck(member) {
            return Err(EtcdRefusal::NotInSync);
        }
        let member = &mut self.etcd.members[index];
        (member.is_learner, member.learning_since) = (false, None);
        self.etcd_changed();
        Ok(())
    }

    /// What a member wrote is gone from the machine's disk.
    pub fn wipe_etcd(&mut self, machine: usize, now: Instant) {
        if self.etcd.data.remove(&machine).is_some() {
            self.unsaved.etcd = true;
            self.weigh_quorum(now);
        }
    }

    /// The machine's new system is configured to run the member that is reached by this URL, or none.
    pub fn configure_etcd(&mut self, machine: usize, peer_url: Option<String>, now: Instant) {
        let before = match peer_url {
            Some(url) => self.etcd.configured.insert(machine, url),
            None => self.etcd.configured.remove(&machine),
        };
        if before.as_ref() != self.etcd.configured.get(&machine) {
            self.unsaved.etcd = true;
            self.weigh_quorum(now);
        }
    }

    fn need_quorum(&self) -> Result<(), EtcdRefusal> {
        if self.has_quorum() { Ok(()) } else { Err(EtcdRefusal::NoQuorum) }
    }

    fn etcd_changed(&mut self) {
        self.unsaved.etcd = true;
        self.weigh_quorum(self.now);
    }

    /// Lets members start and stop with their hosts. Whoever waits for one of them is told.
    pub(crate) fn settle_etcd(&mut self, at: Instant) {
        let states: Vec<bool> = self.etcd.members.iter().map(|member| self.runs(member)).collect();
        let mut running = BTreeSet::new();
        for (member, runs) in self.etcd.members.iter_mut().zip(states) {
            let before = member.clone();
            if let (true, Some(machine)) = (runs, member.machine) {
                running.insert(machine);
                self.etcd.data.insert(machine, member.id);
                member.is_started = true;
            }
            member.learning_since = (runs && member.is_learner).then(|| before.learning_since.unwrap_or(at));
            self.unsaved.etcd |= *member != before;
        }
        if std::mem::replace(&mut self.etcd.running, running) != self.etcd.running {
            self.faults.note_change();
        }
    }
}

/// `https://10.64.0.4:2380`, and nothing behind it.
fn is_peer_url(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let port = rest.and_then(|rest| rest.rsplit_once(':')).filter(|(host, _)| !host.is_empty() && !host.contains('/'));
    port.is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}

#[cfg(test)]
#[path = "etcd_tests.rs"]
mod tests;
