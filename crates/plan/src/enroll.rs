//! How a site's description becomes documents, and what of a later description is taken over.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use model::{
    Cluster, ClusterStatus, Connection, DesiredPower, LastSeen, Machine, MachineName, Management, OperationId, Provisioning, Rack,
    RackName, Site, SiteMachine, Standing, Timestamp,
};

/// The documents of a site as they are stored, and what is being done to its machines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stored {
    pub cluster: Option<Cluster>,
    pub racks: BTreeMap<RackName, Rack>,
    pub machines: BTreeMap<MachineName, Machine>,
    pub running: BTreeMap<MachineName, OperationId>,
}

/// What to write and to forget so that the stored documents agree with a description.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Enrolment {
    pub cluster: Option<Cluster>,
    pub racks: BTreeMap<RackName, Rack>,
    pub machines: BTreeMap<MachineName, Machine>,
    pub forgotten_racks: BTreeSet<RackName>,
    pub forgotten_machines: BTreeSet<MachineName>,
    /// Machines that are no longer described and stay all the same, for now.
    pub kept: BTreeMap<MachineName, KeptBecause>,
}

/// Why a machine that nobody describes any more is not forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptBecause {
    /// An operation that was accepted is carried to its end.
    Running { operation: OperationId },
    /// Its node is cordoned on our account; forgetting the machine would leave the node so for ever.
    Cordoned,
    /// Forgetting a voter would make the quorum look smaller than it is.
    ControlPlane,
}

impl fmt::Display for KeptBecause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeptBecause::Running { operation } => write!(f, "operation {operation} is at work on it; it goes when that has ended"),
            KeptBecause::Cordoned => f.write_str("it is cordoned; it goes when it is uncordoned"),
            KeptBecause::ControlPlane => f.write_str("it is in the control plane"),
        }
    }
}

/// What to write so that the stored documents agree with the description.
///
/// A machine that is known keeps all that was learnt and decided about it; only its hardware follows the description.
/// One that the description no longer names is forgotten, unless something is still to be done for it.
pub fn enroll(stored: &Stored, site: &Site, now: Timestamp) -> Enrolment {
    let mut writes = Enrolment::default();
    let cluster = describe_cluster(stored.cluster.as_ref(), site, now);
    if stored.cluster.as_ref() != Some(&cluster) {
        writes.cluster = Some(cluster);
    }
    for described in &site.racks {
        let before = stored.racks.get(&described.name);
        let rack = Rack {
            name: described.name.clone(),
            cluster: site.cluster.clone(),
            tags: before.map(|rack| rack.tags.clone()).unwrap_or_default(),
            created_at: before.map_or(now, |rack| rack.created_at),
            availability_zone: described.availability_zone.clone(),
            location: described.location.clone(),
            serial_number: described.serial_number.clone(),
            sku: described.sku.clone(),
        };
        if before != Some(&rack) {
            writes.racks.insert(rack.name.clone(), rack);
        }
    }
    for described in &site.machines {
        let before = stored.machines.get(&described.name);
        let machine = describe_machine(before, described, site, now);
        if before != Some(&machine) {
            writes.machines.insert(machine.name.clone(), machine);
        }
    }
    forget_undescribed(stored, site, &mut writes);
    writes
}

fn forget_undescribed(stored: &Stored, site: &Site, writes: &mut Enrolment) {
    let machines: BTreeSet<&MachineName> = site.machines.iter().map(|machine| &machine.name).collect();
    let mut racks: BTreeSet<&RackName> = site.racks.iter().map(|rack| &rack.name).collect();
    for (name, machine) in stored.machines.iter().filter(|(name, _)| !machines.contains(name)) {
        match why_keep(machine, stored.running.get(name)) {
            Some(reason) => {
                racks.insert(&machine.hardware.rack);
                writes.kept.insert(name.clone(), reason);
            }
            None => {
                writes.forgotten_machines.insert(name.clone());
            }
        }
    }
    writes.forgotten_racks = stored.racks.keys().filter(|name| !racks.contains(name)).cloned().collect();
}

/// What is still to be done for a machine that nobody describes any more.
pub fn why_keep(machine: &Machine, running: Option<&OperationId>) -> Option<KeptBecause> {
    let is_cordoned_by_us = machine.last_seen.node.as_ref().is_some_and(|node| node.what.cordoned_by_us);
    if let Some(operation) = running {
        Some(KeptBecause::Running { operation: operation.clone() })
    } else if machine.is_active_kcp() {
        Some(KeptBecause::ControlPlane)
    } else if !machine.holds.is_empty() || is_cordoned_by_us {
        Some(KeptBecause::Cordoned)
    } else {
        None
    }
}

fn describe_cluster(before: Option<&Cluster>, site: &Site, now: Timestamp) -> Cluster {
    match before {
        Some(cluster) => Cluster { home: site.home.clone(), version: site.version.clone(), limits: site.limits.clone(), ..cluster.clone() },
        None => Cluster {
            name: site.cluster.clone(),
            home: site.home.clone(),
            tags: BTreeMap::new(),
            created_at: now,
            version: site.version.clone(),
            detailed_status: ClusterStatus::Running,
            connection: Connection::Undefined,
            connection_since: now,
            limits: site.limits.clone(),
            waits: Vec::new(),
        },
    }
}

fn describe_machine(before: Option<&Machine>, described: &SiteMachine, site: &Site, now: Timestamp) -> Machine {
    if let Some(machine) = before {
        return Machine { hardware: described.hardware.clone(), ..machine.clone() };
    }
    let (provisioning, desired_power) = match described.standing {
        Standing::Provisioned => (Provisioning::Provisioned, DesiredPower::On),
        Standing::Spare => (Provisioning::Available, DesiredPower::Off),
    };
    Machine {
        name: described.name.clone(),
        cluster: site.cluster.clone(),
        hardware: described.hardware.clone(),
        tags: BTreeMap::new(),
        created_at: now,
        details: String::new(),
        role: described.role,
        provisioning,
        desired_power,
        holds: Vec::new(),
        management: Management::Managed,
        managed_again: None,
        last_seen: LastSeen::default(),
        node_ask: None,
        waits: Vec::new(),
    }
}
