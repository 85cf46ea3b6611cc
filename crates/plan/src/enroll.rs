//! How a site's description becomes documents. What speaks against a description is in `objection`.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Cluster, ClusterStatus, Connection, DesiredPower, FIRST_EDITION, Hardware, LastSeen, Machine, MachineName, Management, OperationId,
    Provisioning, Rack, RackName, Replaced, SecretRef, Site, SiteMachine, Standing, Timestamp,
};

use crate::objection::{self, Busy, Objection};

/// The documents of a site as they are stored, and what is being done to its machines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stored {
    pub cluster: Option<Cluster>,
    pub racks: BTreeMap<RackName, Rack>,
    pub machines: BTreeMap<MachineName, Machine>,
    pub running: BTreeMap<MachineName, OperationId>,
    /// Machines that the description of before names. Empty at the start of a process, which knows of no description
    /// before the first.
    pub described: BTreeSet<MachineName>,
}

/// What to write and to forget so that the stored documents agree with a description.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Enrolment {
    pub cluster: Option<Cluster>,
    pub racks: BTreeMap<RackName, Rack>,
    pub machines: BTreeMap<MachineName, Machine>,
    pub forgotten_racks: BTreeSet<RackName>,
    pub forgotten_machines: BTreeSet<MachineName>,
    /// Logins that a replace brought, and that no machine has any more.
    pub abandoned_logins: BTreeSet<SecretRef>,
    /// Machines that no description names, but that cannot be forgotten: they stay, and nothing is asked of them.
    pub undescribed: BTreeMap<MachineName, Busy>,
}

/// What to write so that the stored documents agree with the description.
///
/// A machine that is known keeps all that was learnt and decided about it; only its hardware follows the description.
/// One that the description no longer names is forgotten. If anything speaks against the description, nothing of it is
/// taken over. A machine that was left out while nobody looked is no reason against it: it stays, undescribed.
pub fn enroll(stored: &Stored, site: &Site, now: Timestamp) -> Result<Enrolment, Vec<Objection>> {
    let objections = objection::against(stored, site);
    if !objections.is_empty() {
        return Err(objections);
    }
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
    writes.abandoned_logins = abandoned_logins(stored, &writes);
    Ok(writes)
}

fn abandoned_logins(stored: &Stored, writes: &Enrolment) -> BTreeSet<SecretRef> {
    let staying = stored.machines.iter().filter(|(name, _)| !writes.forgotten_machines.contains(*name));
    let after = staying.map(|(name, before)| writes.machines.get(name).unwrap_or(before)).chain(writes.machines.values());
    let kept: BTreeSet<&SecretRef> = after.flat_map(Machine::logins).collect();
    stored.machines.values().flat_map(Machine::logins).filter(|login| !kept.contains(login)).cloned().collect()
}

fn forget_undescribed(stored: &Stored, site: &Site, writes: &mut Enrolment) {
    let machines: BTreeSet<&MachineName> = site.machines.iter().map(|machine| &machine.name).collect();
    let mut racks: BTreeSet<&RackName> = site.racks.iter().map(|rack| &rack.name).collect();
    for (name, machine) in stored.machines.iter().filter(|(name, _)| !machines.contains(name)) {
        match objection::busy(machine, stored.running.get(name)) {
            Some(busy) => {
                racks.insert(&machine.hardware.rack);
                writes.undescribed.insert(name.clone(), busy);
            }
            None => {
                writes.forgotten_machines.insert(name.clone());
            }
        }
    }
    writes.forgotten_racks = stored.racks.keys().filter(|name| !racks.contains(name)).cloned().collect();
}

fn describe_cluster(before: Option<&Cluster>, site: &Site, now: Timestamp) -> Cluster {
    match before {
        Some(cluster) => Cluster {
            home: site.home.clone(),
            version: site.version.clone(),
            limits: site.limits.clone(),
            skus: site.skus.clone(),
            join: site.join.clone(),
            ..cluster.clone()
        },
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
            skus: site.skus.clone(),
            join: site.join.clone(),
            waits: Vec::new(),
        },
    }
}

fn describe_machine(before: Option<&Machine>, described: &SiteMachine, site: &Site, now: Timestamp) -> Machine {
    if let Some(machine) = before {
        return describe_again(machine, described, site.new_logins.contains(&described.name));
    }
    let (provisioning, desired_power) = match described.standing {
        Standing::Provisioned => (Provisioning::Provisioned, DesiredPower::On),
        Standing::Spare => (Provisioning::Available, DesiredPower::Off),
    };
    Machine {
        name: described.name.clone(),
        cluster: site.cluster.clone(),
        hardware: described.hardware.clone(),
        install: described.install.clone(),
        tags: BTreeMap::new(),
        created_at: now,
        details: String::new(),
        edition: FIRST_EDITION,
        modified: None,
        role: described.role,
        provisioning,
        desired_power,
        holds: Vec::new(),
        management: Management::Managed,
        managed_again: None,
        last_seen: LastSeen::default(),
        node_ask: None,
        waits: Vec::new(),
        evacuated: None,
        installed: None,
        validated: None,
        unhealthy: None,
        replaced: None,
        baseline: None,
        accounts: None,
    }
}

/// Hardware that was replaced keeps its identity for as long as the description names the one of before, and its login for as long as
/// the description has no new one. As soon as it names another, the description has the last word again.
fn describe_again(machine: &Machine, described: &SiteMachine, has_new_login: bool) -> Machine {
    let (install, described) = (described.install.clone(), &described.hardware);
    let identity = |hardware: &Hardware| (hardware.serial_number.clone(), hardware.bmc_mac.clone(), hardware.boot_mac.clone());
    match &machine.replaced {
        Some(replaced) if identity(&replaced.described) == identity(described) => {
            let Hardware { serial_number, bmc_mac, boot_mac, credentials, .. } = machine.hardware.clone();
            let credentials = if has_new_login { described.credentials.clone() } else { credentials };
            let hardware = Hardware { serial_number, bmc_mac, boot_mac, credentials, ..described.clone() };
            let differs = hardware != *described;
            let replaced = differs.then(|| Box::new(Replaced { at: replaced.at, described: described.clone() }));
            Machine { hardware, install, replaced, ..machine.clone() }
        }
        _ => Machine { hardware: described.clone(), install, replaced: None, ..machine.clone() },
    }
}
