//! The control plane's votes: who has one, who is healthy, what an action would cost.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::{Action, EtcdSeen, Found, Machine, MachineName, NodeSeen, Operation, Power, Provisioning, Readiness, StepKind, Timestamp};

use crate::contact;
use crate::install;
use crate::membership;
use crate::snapshot::Snapshot;

/// Votes of the undercloud's etcd, before and after an action on one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Votes {
    pub members: usize,
    pub voting: usize,
    pub voting_after: usize,
    pub known: Known,
}

/// How fresh what is known of the members is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Now,
    /// The undercloud is silent, so it is what it said last.
    AsLastSeen,
}

impl Votes {
    pub fn quorum(self) -> usize {
        self.members / 2 + 1
    }

    pub fn breaks_quorum(self) -> bool {
        self.voting_after < self.quorum()
    }
}

impl std::fmt::Display for Votes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "etcd voters: {} of {} {}, {} of {} after; quorum is {}",
            self.voting,
            self.members,
            match self.known {
                Known::Now => "now",
                Known::AsLastSeen => "as last seen",
            },
            self.voting_after,
            self.members,
            self.quorum()
        )
    }
}

/// Whether an active control-plane machine must be counted as voting.
///
/// It is taken for voting unless it was seen not to be: off, not rejoined since it was off, or with a node that the
/// undercloud last called not ready. While the undercloud is silent the last word about the node stands; before it was
/// tried, no old word counts.
pub(crate) fn is_voting(snapshot: &Snapshot, machine: &Machine) -> bool {
    is_up(snapshot, machine, |node| machine.is_node_ready(node))
}

/// Whether taking the machine down could cost a vote. While the undercloud answers, a BMC's word that the machine was off
/// once is not enough: if that was a slip of the BMC's, the boot that the node reports is alive and votes. A silent
/// undercloud has no such word, and a machine that was off must then be free to be brought back.
pub(crate) fn may_be_voting(snapshot: &Snapshot, machine: &Machine) -> bool {
    if snapshot.undercloud.fault.is_some() {
        return is_voting(snapshot, machine);
    }
    is_up(snapshot, machine, |node| node.ready == Readiness::True)
}

fn is_up(snapshot: &Snapshot, machine: &Machine, ready: impl Fn(&NodeSeen) -> bool) -> bool {
    if !machine.is_active_kcp() {
        return false;
    }
    let observation = snapshot.observation(&machine.name);
    let seen_off = observation.bmc.fault.is_none() && observation.power.is_some_and(|power| power.what == Power::Off);
    let seen_not_ready = match &observation.node {
        Some(node) => node.what.as_ref().is_none_or(|node| !ready(node)),
        None => snapshot.undercloud.fault.is_some() && machine.last_seen.node.as_ref().is_some_and(|node| !ready(&node.what)),
    };
    !(seen_off || seen_not_ready)
}

/// Why a control-plane machine cannot be relied on; `None` if it is known to be healthy.
///
/// Healthy is a positive finding: its node was seen ready since the keeper started, by a boot that was not seen to end,
/// and the line to the undercloud is open.
pub(crate) fn ailment(snapshot: &Snapshot, machine: &Machine) -> Option<String> {
    let name = &machine.name;
    let observation = snapshot.observation(name);
    if machine.provisioning != Provisioning::Provisioned {
        return Some(format!("`{name}` is {:?}, not provisioned", machine.provisioning));
    }
    if let Some(fault) = contact::undercloud_fault(snapshot) {
        return Some(format!("`{name}` cannot be judged: the undercloud does not answer ({fault})"));
    }
    match observation.power {
        Some(power) if power.what == Power::Off && observation.bmc.fault.is_none() => {
            return Some(format!("`{name}` is off since {}", since_when(machine, power.at)));
        }
        Some(power) if power.what == Power::PoweringOff && observation.bmc.fault.is_none() => {
            return Some(format!("`{name}` is going off"));
        }
        _ => {}
    }
    match observation.node {
        None => Some(format!("`{name}` has not been seen yet: the keeper has just started")),
        Some(seen) => match seen.what {
            None => Some(format!("`{name}` has no node in the undercloud")),
            Some(node) if node.ready != Readiness::True => Some(format!("`{name}`: its node is not ready (Ready={:?})", node.ready)),
            Some(node) if machine.last_seen.is_of_dead_boot(&node) => Some(format!("`{name}` has not rejoined since it was off")),
            Some(_) => None,
        },
    }
}

/// Why a member cannot be relied on by etcd's own word, where another is to leave it. Its node may be ready all the same.
pub(crate) fn voteless(snapshot: &Snapshot, machine: &Machine, taking: Taking) -> Option<String> {
    let seen = etcd_seen(snapshot).filter(|_| taking != Taking::Down)?;
    (!membership::has_vote(snapshot, seen, machine)).then(|| format!("`{}` has no member of etcd that is known to vote", machine.name))
}

/// When it went off, if that was noted before.
fn since_when(machine: &Machine, seen_at: Timestamp) -> String {
    machine.last_seen.power.as_ref().filter(|power| power.what == Power::Off).map_or(seen_at, |power| power.at).clock()
}

pub(crate) fn members(snapshot: &Snapshot) -> Vec<Arc<Machine>> {
    snapshot.control_plane().filter(|machine| machine.is_active_kcp()).cloned().collect()
}

/// The votes if `target` stopped voting.
pub(crate) fn votes_without(snapshot: &Snapshot, target: &Machine) -> Votes {
    let members = members(snapshot);
    // One that is not, or no longer, provisioned may be a mere learner: only what could be lost with the target counts it.
    let counts = |machine: &Machine| machine.name == target.name || machine.provisioning == Provisioning::Provisioned;
    let voting = members.iter().filter(|machine| counts(machine) && is_voting(snapshot, machine)).count();
    let cost = usize::from(is_voting(snapshot, target));
    let known = if snapshot.undercloud.fault.is_some() { Known::AsLastSeen } else { Known::Now };
    Votes { members: members.len(), voting, voting_after: voting - cost, known }
}

/// What becomes of a member's vote when its machine is taken down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taking {
    /// It stops, and comes back with the machine.
    Down,
    /// The machine is installed anew: the member is taken out of etcd before, and once it has left it has nothing to lose.
    Out { has_left: bool },
}

impl Taking {
    pub fn by(operation: &Operation) -> Taking {
        match Taking::by_action(operation.action) {
            Taking::Out { .. } => Taking::Out { has_left: operation.done_at(StepKind::LeaveEtcd).is_some() },
            Taking::Down => Taking::Down,
        }
    }

    pub fn by_action(action: Action) -> Taking {
        if install::installs(action) { Taking::Out { has_left: false } } else { Taking::Down }
    }
}

/// Whether taking a member down costs a vote: the one answer that the guard, the steps and the invariants go by.
///
/// Where it is to leave etcd, etcd's own list counts if it is known: etcd may run while the kubelet does not, and a node may be
/// ready while its member is a learner.
pub(crate) fn costs_a_vote(snapshot: &Snapshot, machine: &Machine, taking: Taking) -> bool {
    match (taking, etcd_seen(snapshot)) {
        (Taking::Out { has_left: true }, _) => false,
        (Taking::Out { has_left: false }, Some(seen)) => machine.is_active_kcp() && membership::may_have_vote(snapshot, seen, machine),
        (Taking::Out { has_left: false }, None) | (Taking::Down, _) => may_be_voting(snapshot, machine),
    }
}

/// Why a member must not be taken down at this moment; `None` if it may.
///
/// An action is judged when it is accepted, and its step once more when it comes to it: minutes may lie between. The
/// only member there is has its caller's word.
pub(crate) fn objection(snapshot: &Snapshot, target: &Machine, operation: &Operation) -> Option<String> {
    if !costs_a_vote(snapshot, target, Taking::by(operation)) {
        return None;
    }
    let votes = votes_without(snapshot, target);
    if votes.members == 1 {
        return None;
    }
    let others = members(snapshot).into_iter().filter(|machine| machine.name != target.name);
    let mut ailing = others.filter_map(|machine| {
        let ailment = ailment(snapshot, &machine).or_else(|| voteless(snapshot, &machine, Taking::by(operation)));
        ailment.or_else(|| stale(snapshot, &machine, operation.accepted_at))
    });
    ailing.next().or_else(|| votes.breaks_quorum().then(|| votes.to_string()))
}

/// Why a member must not be taken out of etcd at this moment: as for its power, and those that stay must be able to agree.
pub(crate) fn objection_to_leaving(snapshot: &Snapshot, target: &Machine, operation: &Operation) -> Option<String> {
    let Some(seen) = etcd_seen(snapshot) else { return Some("etcd has not told its members".into()) };
    if !costs_a_vote(snapshot, target, Taking::by(operation)) {
        return None;
    }
    let voters = seen.voters();
    let machines = members(snapshot);
    let others = machines.iter().filter(|machine| machine.name != target.name && membership::has_vote(snapshot, seen, machine));
    let able = others.filter(|machine| is_voting(snapshot, machine)).count();
    let needed = (voters - 1) / 2 + 1;
    if able < needed {
        return Some(format!("etcd voters: {able} of {} would be left able to vote; quorum is {needed} then", voters - 1));
    }
    objection(snapshot, target, operation)
}

/// What etcd told last of its members, if it did.
pub(crate) fn etcd_seen(snapshot: &Snapshot) -> Option<&EtcdSeen> {
    match snapshot.etcd.as_ref()?.found.as_ref().ok()? {
        Found::Etcd(seen) => Some(seen),
        _ => None,
    }
}

/// A node looks ready for a while after its machine has died, so the BMCs are asked once more before a vote is taken.
/// One that does not answer proves nothing, and its node's word stands.
fn stale(snapshot: &Snapshot, machine: &Machine, accepted_at: Timestamp) -> Option<String> {
    let observation = snapshot.observation(&machine.name);
    let looked_at = observation.bmc.fault.is_some() || observation.power.is_some_and(|power| power.at >= accepted_at);
    (!looked_at).then(|| format!("`{}` has not been looked at since {}", machine.name, accepted_at.clock()))
}

/// Control-plane machines that are at work, if anything is new about the control plane: they may be waiting for it.
pub(crate) fn concerned(snapshot: &Snapshot, visited: &BTreeSet<MachineName>) -> Vec<MachineName> {
    if !snapshot.control_plane().any(|machine| visited.contains(&machine.name)) {
        return Vec::new();
    }
    let busy = snapshot.control_plane().filter(|machine| snapshot.running_on(&machine.name).is_some());
    busy.map(|machine| machine.name.clone()).collect()
}
