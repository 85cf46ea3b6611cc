//! What may be believed of a machine: only what was seen, and seen recently enough for the question.
//!
//! A blind eye proves nothing. "Not seen on" is never taken for "off".

use model::{Contact, Eye, Fault, Machine, NodeSeen, Observation, Power, Seen, Timestamp, Wait, WaitKind};

use crate::contact;
use crate::snapshot::Snapshot;

/// One machine through both eyes.
#[derive(Debug)]
pub(crate) struct Sight<'a> {
    pub observation: Observation,
    undercloud: &'a Contact,
    /// The faults that the machine and the cluster are known by.
    bmc_fault: Option<Seen<Fault>>,
    undercloud_fault: Option<Seen<Fault>>,
    limits: &'a model::Limits,
    keeper_started_at: Timestamp,
}

impl<'a> Sight<'a> {
    pub fn of(snapshot: &'a Snapshot, machine: &Machine) -> Self {
        Sight {
            observation: snapshot.observation(&machine.name),
            undercloud: &snapshot.undercloud,
            bmc_fault: machine.last_seen.bmc_fault.clone(),
            undercloud_fault: contact::known_silence(&snapshot.cluster),
            limits: &snapshot.cluster.limits,
            keeper_started_at: snapshot.keeper_started_at,
        }
    }

    /// The power state, if the BMC told it after `since` and its latest answer was no fault; else why it is not known.
    pub fn power(&self, since: Timestamp, now: Timestamp) -> Result<Power, Wait> {
        if let Some(failing) = contact::run_of_failures(&self.observation.bmc, self.bmc_fault.as_ref(), now) {
            return Err(self.device_wait(Eye::Bmc, &failing));
        }
        match &self.observation.power {
            Some(power) if power.at >= since.max(self.keeper_started_at) => Ok(power.what),
            _ => Err(self.first_look(Eye::Bmc, since)),
        }
    }

    /// The node, if the undercloud's nodes are being watched; else why it is not known.
    pub fn node(&self, now: Timestamp) -> Result<Option<&NodeSeen>, Wait> {
        if let Some(failing) = contact::run_of_failures(self.undercloud, self.undercloud_fault.as_ref(), now) {
            return Err(self.device_wait(Eye::Undercloud, &failing));
        }
        match &self.observation.node {
            Some(node) if node.at >= self.keeper_started_at => Ok(node.what.as_ref()),
            _ => Err(self.first_look_at_node()),
        }
    }

    /// The wait of a machine whose node this keeper has never seen.
    pub fn first_look_at_node(&self) -> Wait {
        self.first_look(Eye::Undercloud, self.keeper_started_at)
    }

    /// The latest word about the node, also when the undercloud has fallen silent since; `None` before the first word.
    pub fn last_node(&self) -> Option<Option<&NodeSeen>> {
        self.observation.node.as_ref().map(|node| node.what.as_ref())
    }

    /// Whether both eyes have been tried since the keeper started: before that, nothing has failed.
    pub fn was_tried(&self) -> bool {
        let since = |contact: &Contact| contact.tried_at.is_some_and(|at| at >= self.keeper_started_at);
        since(&self.observation.bmc) && since(self.undercloud)
    }

    fn first_look(&self, eye: Eye, since: Timestamp) -> Wait {
        let since = since.max(self.keeper_started_at);
        Wait { kind: WaitKind::FirstLook { eye }, since, expected_by: Some(since + self.limits.idle_poll) }
    }

    fn device_wait(&self, eye: Eye, failing: &Seen<Fault>) -> Wait {
        let kind = WaitKind::Device { eye, fault: failing.what.clone(), retry_every: self.limits.last_retry };
        // A device that is away is late as soon as it would have come back from a restart of its own.
        Wait { kind, since: failing.at, expected_by: Some(failing.at + self.limits.expected_power_on) }
    }
}
