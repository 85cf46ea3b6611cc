//! What speaks against a description of a site: changes that no description can make, and machines that something is
//! being done for. One objection is enough to refuse the description as a whole.

use std::collections::BTreeMap;
use std::fmt;

use model::{
    DesiredPower, Endpoint, FaultClass, HoldOwner, Machine, MachineName, OperationId, Power, Provisioning, Site, SiteMachine, Standing,
};

use crate::enroll::Stored;
use crate::redescribe::calling;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// The cluster's documents, history and secrets lie under its name.
    ClusterName {
        from: String,
        to: String,
    },
    /// Resource ids that people's scripts hold contain these.
    Subscription {
        from: String,
        to: String,
    },
    ResourceGroup {
        from: String,
        to: String,
    },
    /// What a machine is for changes by provisioning it anew, not by calling it something else.
    Role {
        machine: MachineName,
        from: &'static str,
        to: &'static str,
    },
    /// The machine is left out, or called something else.
    LeftOut {
        machine: MachineName,
        busy: Busy,
    },
    /// A machine that something is being done for would be reached through another machine's BMC.
    Readdressed {
        machine: MachineName,
        to: MachineName,
        busy: Busy,
    },
    /// The BMC of a machine that something is being done for would be another machine's.
    BmcTaken {
        machine: MachineName,
        from: MachineName,
        busy: Busy,
    },
    /// It would share what only one machine can have with one that is kept although no description names it.
    TakenByUndescribed {
        machine: MachineName,
        by: MachineName,
        what: String,
    },
}

/// Why a machine can be neither forgotten nor exchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Busy {
    /// An operation that was accepted is carried to its end.
    Running { operation: OperationId },
    /// Forgetting a voter would make the quorum look smaller than it is.
    ControlPlane,
    /// It is off, and its node is cordoned on that account.
    PoweredOff,
    /// Its node is cordoned on our account; forgetting the machine would leave the node so for ever.
    Cordoned,
    /// It is on, though it was given up, or its installation failed: nothing but its power-off frees it.
    Lost,
    /// What ran on it was stopped on our account, and would never be brought back.
    Evacuated,
    /// A request to its node has not been seen to take effect, and may still.
    NodeAsked,
}

pub(crate) fn busy(machine: &Machine, running: Option<&OperationId>) -> Option<Busy> {
    let is_cordoned_by_us = machine.last_seen.node.as_ref().is_some_and(|node| node.what.cordoned_by_us);
    if let Some(operation) = running {
        Some(Busy::Running { operation: operation.clone() })
    } else if machine.is_active_kcp() {
        Some(Busy::ControlPlane)
    } else if machine.evacuated.is_some() {
        Some(Busy::Evacuated)
    } else if is_retired(machine) {
        None
    } else if !machine.holds.is_empty() && machine.holds.iter().all(|hold| matches!(hold.owner, HoldOwner::PoweredOff { .. })) {
        Some(Busy::PoweredOff)
    } else if is_lost(machine) && !machine.holds.is_empty() && machine.holds.iter().all(|hold| is_of_loss(machine, &hold.owner)) {
        Some(Busy::Lost)
    } else if !machine.holds.is_empty() || is_cordoned_by_us {
        Some(Busy::Cordoned)
    } else if machine.node_ask.is_some() {
        Some(Busy::NodeAsked)
    } else {
        None
    }
}

/// Whether no uncordon brings it back: it was given up, or has no system that could be relied on.
fn is_lost(machine: &Machine) -> bool {
    machine.unhealthy.is_some() || machine.provisioning == Provisioning::Error
}

fn is_of_loss(machine: &Machine, owner: &HoldOwner) -> bool {
    owner.is_powered_off() || (is_lost(machine) && owner.is_reinstalled())
}

/// Held for being switched off, or lost, and for nothing else, and either seen off as it should be, or dead with its BMC, so that
/// nobody could start it any more. Switching a machine off is how people begin to take it out; its node, which nobody
/// needs any more, is theirs to delete.
fn is_retired(machine: &Machine) -> bool {
    let is_seen_off = machine.last_seen.power.as_ref().is_some_and(|power| power.what == Power::Off);
    let is_off = machine.desired_power == DesiredPower::Off && is_seen_off;
    // One that no description names has no BMC to be dead: it waits to be put back.
    let is_dead = machine.last_seen.bmc_fault.as_ref().is_some_and(|fault| fault.what.class != FaultClass::Missing);
    let is_held_for_it = !machine.holds.is_empty() && machine.holds.iter().all(|hold| is_of_loss(machine, &hold.owner));
    (is_off || is_dead) && is_held_for_it && machine.node_ask.is_none()
}

/// Everything that speaks against taking the description over.
pub(crate) fn against(stored: &Stored, site: &Site) -> Vec<Objection> {
    let described: BTreeMap<&MachineName, &SiteMachine> = site.machines.iter().map(|machine| (&machine.name, machine)).collect();
    let mut objections = against_home(stored, site);
    for (name, known) in &stored.machines {
        let busy = busy(known, stored.running.get(name));
        match (described.get(name), busy) {
            (Some(machine), busy) => {
                let (from, to) = (calling(&as_described(known)), calling(machine));
                if from != to {
                    objections.push(Objection::Role { machine: name.clone(), from, to });
                }
                // Wrong addresses must be mendable; only what is being done through them must come to its end first.
                let busy = busy.filter(|busy| matches!(busy, Busy::Running { .. } | Busy::NodeAsked));
                objections.extend(busy.and_then(|busy| exchanged(stored, site, known, machine, &busy)));
            }
            (None, Some(busy)) if stored.described.contains(name) => {
                objections.push(Objection::LeftOut { machine: name.clone(), busy });
            }
            (None, Some(_)) => objections.extend(site.machines.iter().filter_map(|machine| shares(machine, known))),
            (None, None) => {}
        }
    }
    objections
}

fn against_home(stored: &Stored, site: &Site) -> Vec<Objection> {
    let mut objections = Vec::new();
    let Some(cluster) = &stored.cluster else { return objections };
    if cluster.name != site.cluster {
        objections.push(Objection::ClusterName { from: cluster.name.to_string(), to: site.cluster.to_string() });
    }
    let (from, to) = (cluster.home.subscription.clone(), site.home.subscription.clone());
    if from != to {
        objections.push(Objection::Subscription { from, to });
    }
    let (from, to) = (cluster.home.resource_group.clone(), site.home.resource_group.clone());
    if from != to {
        objections.push(Objection::ResourceGroup { from, to });
    }
    objections
}

/// The machine as a description would have to name it.
fn as_described(machine: &Machine) -> SiteMachine {
    let standing = if machine.is_spare() { Standing::Spare } else { Standing::Provisioned };
    let (hardware, install) = (machine.hardware.clone(), machine.install.clone());
    SiteMachine { name: machine.name.clone(), role: machine.role, standing, hardware, install }
}

/// A BMC may move to another address at any time; but not to that of a machine that is known, nor may another machine
/// come to where it was.
fn exchanged(stored: &Stored, site: &Site, known: &Machine, machine: &SiteMachine, busy: &Busy) -> Option<Objection> {
    let endpoint = |address: &str| Endpoint::of_url(address);
    let (from, to) = (endpoint(&known.hardware.bmc_address), endpoint(&machine.hardware.bmc_address));
    if from == to {
        return None;
    }
    let name = &known.name;
    let owner = stored.machines.values().find(|other| other.name != *name && endpoint(&other.hardware.bmc_address) == to);
    if let Some(owner) = owner {
        return Some(Objection::Readdressed { machine: name.clone(), to: owner.name.clone(), busy: busy.clone() });
    }
    let taker = site.machines.iter().find(|other| other.name != *name && endpoint(&other.hardware.bmc_address) == from)?;
    Some(Objection::BmcTaken { machine: taker.name.clone(), from: name.clone(), busy: busy.clone() })
}

fn shares(machine: &SiteMachine, kept: &Machine) -> Option<Objection> {
    let (new, old) = (&machine.hardware, &kept.hardware);
    let what = if Endpoint::of_url(&new.bmc_address) == Endpoint::of_url(&old.bmc_address) {
        format!("BMC {}", new.bmc_address)
    } else if new.serial_number.eq_ignore_ascii_case(&old.serial_number) {
        format!("serial number {}", new.serial_number)
    } else if (&new.rack, new.slot) == (&old.rack, old.slot) {
        format!("slot {} of rack {}", new.slot, new.rack)
    } else {
        return None;
    };
    Some(Objection::TakenByUndescribed { machine: machine.name.clone(), by: kept.name.clone(), what })
}

impl Busy {
    /// What would make it free, as a person would do it.
    pub fn remedy(&self, machine: &MachineName) -> String {
        match self {
            Busy::Running { operation } => format!(
                "wait for it with `rackwright operation wait {0}`, or stop it with `rackwright operation cancel {0}`",
                operation.short()
            ),
            Busy::ControlPlane => "a control-plane machine has to stay".to_owned(),
            Busy::PoweredOff => format!("`rackwright bmm start {machine}` first"),
            Busy::Cordoned => format!("`rackwright bmm uncordon {machine}` first"),
            Busy::Lost => format!("`rackwright bmm power-off {machine}` first"),
            Busy::Evacuated => {
                format!(
                    "bring it back first (`rackwright bmm show {machine}` names it), or start or delete it, and its tenant nodes, elsewhere"
                )
            }
            Busy::NodeAsked => "wait until it has shown".to_owned(),
        }
    }
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Busy::Running { operation } => write!(f, "operation {} is at work on it", operation.short()),
            Busy::ControlPlane => f.write_str("it is in the control plane"),
            Busy::PoweredOff => f.write_str("it was powered off, and its node is held until it is back"),
            Busy::Cordoned => f.write_str("it is cordoned"),
            Busy::Lost => f.write_str("it is on, though it was given up or its installation failed"),
            Busy::Evacuated => f.write_str("what ran on it was stopped, and has not been brought back"),
            Busy::NodeAsked => f.write_str("its node was asked for something that has not shown yet"),
        }
    }
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Objection::ClusterName { from, to } => write!(f, "cluster `{from}` cannot be renamed to `{to}` while it is kept"),
            Objection::Subscription { from, to } => write!(f, "the subscription cannot change from `{from}` to `{to}`"),
            Objection::ResourceGroup { from, to } => write!(f, "the resource group cannot change from `{from}` to `{to}`"),
            Objection::Role { machine, from, to } => write!(f, "`{machine}` is {from} and does not become {to} by being called so"),
            Objection::LeftOut { machine, busy } => {
                write!(f, "`{machine}` cannot be taken out: {busy}; {}", busy.remedy(machine))
            }
            Objection::Readdressed { machine, to, busy } => {
                write!(f, "`{machine}` cannot get the BMC of `{to}`: {busy}; {}", busy.remedy(machine))
            }
            Objection::BmcTaken { machine, from, busy } => {
                write!(f, "`{machine}` cannot get the BMC that `{from}` has: {busy}; {}", busy.remedy(from))
            }
            Objection::TakenByUndescribed { machine, by, what } => {
                write!(f, "`{machine}` cannot have {what}: it is that of `{by}`, which is still kept; put `{by}` back under its name")
            }
        }
    }
}
