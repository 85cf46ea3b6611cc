//! How a site's description becomes documents, and what of a later description is taken over.

use std::collections::BTreeMap;

use model::{
    Cluster, ClusterStatus, Connection, DesiredPower, LastSeen, Machine, MachineName, Management, Provisioning, Rack, RackName, Site,
    SiteMachine, Standing, Timestamp,
};

/// The documents of a site: as stored, or as they should be stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Enrolled {
    pub cluster: Option<Cluster>,
    pub racks: BTreeMap<RackName, Rack>,
    pub machines: BTreeMap<MachineName, Machine>,
}

/// What to write so that the stored documents agree with the description.
///
/// A machine that is known keeps all that was learnt and decided about it; only its hardware follows the description.
/// Machines that the description no longer names are left alone: forgetting a server is a person's decision.
pub fn enroll(stored: &Enrolled, site: &Site, now: Timestamp) -> Enrolled {
    let mut writes = Enrolled::default();
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
    writes
}

fn describe_cluster(before: Option<&Cluster>, site: &Site, now: Timestamp) -> Cluster {
    match before {
        Some(cluster) => Cluster { home: site.home.clone(), limits: site.limits.clone(), ..cluster.clone() },
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
