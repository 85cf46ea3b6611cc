//! What was seen of a machine goes into its document: transitions only, each with the moment it was first seen so.

use model::{Connection, LastSeen, Machine, Observation, Power, Readiness, Seen, Timestamp};

use crate::contact;
use crate::snapshot::Snapshot;

/// A BMC can say Off by mistake, for instance while it restarts itself. If the machine is seen on, and the undercloud
/// goes on calling the same boot Ready far longer than a dead one could seem so, the boot never ended. Returns when
/// that will be known, if the suspicion still stands.
pub(crate) fn doubt_dead_boot(snapshot: &Snapshot, machine: &mut Machine, now: Timestamp) -> Option<Timestamp> {
    let on_since = machine.last_seen.power.as_ref().filter(|power| power.what == Power::On)?.at;
    let node = machine.last_seen.node.as_ref()?;
    let claims_life = node.what.ready == Readiness::True && machine.last_seen.is_of_dead_boot(&node.what);
    let heard = snapshot.undercloud.fault.is_none() && snapshot.cluster.connection == Connection::Connected;
    if !(claims_life && heard) {
        return None;
    }
    let watched_since = on_since.max(node.at).max(snapshot.cluster.connection_since).max(snapshot.keeper_started_at);
    let known_at = watched_since + snapshot.cluster.limits.dead_boot_doubt;
    if now < known_at {
        return Some(known_at);
    }
    machine.last_seen.dead_boot_id = None;
    None
}

/// Carries transitions from what was observed over to the machine, each with the moment it was first seen so.
pub(crate) fn note_seen(machine: &mut Machine, observation: &Observation, now: Timestamp) {
    note_boots(&mut machine.last_seen, observation);
    let LastSeen { power, node, bmc_fault, bmc_answered_at, dead_boot_id: _ } = &mut machine.last_seen;
    if let Some(seen) = &observation.power
        && power.as_ref().is_none_or(|before| before.what != seen.what)
    {
        *power = Some(seen.clone());
    }
    if let Some(seen) = &observation.node {
        match &seen.what {
            None => *node = None,
            Some(current) => match node {
                // A problem that comes or goes does not make what is known of the node itself any younger.
                Some(before) if before.what.is_same_node(current) => {
                    if !before.what.has_same_problems(current) {
                        before.what = current.clone();
                    }
                }
                _ => *node = Some(Seen { what: current.clone(), at: seen.at }),
            },
        }
    }
    // Not tried yet is no answer: what the last keeper knew stands.
    if observation.bmc.tried_at.is_some() {
        *bmc_fault = contact::run_of_failures(&observation.bmc, bmc_fault.as_ref(), now);
        let answered_at = observation.bmc.answered_at.or(*bmc_answered_at);
        *bmc_answered_at = answered_at.filter(|_| bmc_fault.is_some());
    }
}

/// A boot is dead if the machine was seen off after the boot was seen: a look at the power that is older than a boot
/// says nothing about it. Only another boot makes the dead one forgotten, since nothing brings it back.
fn note_boots(last_seen: &mut LastSeen, observation: &Observation) {
    let stored = last_seen.node.as_ref().map(|node| (&node.what, node.at));
    let current = match &observation.node {
        Some(node) => node.what.as_ref().map(|what| (what, node.at)),
        None => stored,
    };
    let Some((node, seen_at)) = current else { return };
    let known_since = stored.filter(|(before, _)| before.boot_id == node.boot_id).map_or(seen_at, |(_, at)| at.min(seen_at));
    let off_at = observation.power.as_ref().filter(|power| power.what == Power::Off).map(|power| power.at);
    if off_at.is_some_and(|at| known_since <= at) {
        last_seen.dead_boot_id = Some(node.boot_id.clone()).filter(|id| !id.is_empty());
    } else if !last_seen.is_of_dead_boot(node) {
        last_seen.dead_boot_id = None;
    }
}
