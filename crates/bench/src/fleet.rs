//! Fleets to measure with: sites as their owners describe them, and their documents as they are once all is well.

use std::io;

use keeper::enroll_site;
use model::{
    Action, BootWay, Bundle, Clock, ClusterName, CorrelationId, DeviceAsk, Ended, Entry, Fact, Hardware, Home, Limits, Machine,
    MachineName, MachineReport, NodeSeen, OPERATION_FORMAT, Operation, OperationId, OperationResult, Power, RackName, Readiness, Role,
    Safeguard, SecretRef, Seen, Site, SiteMachine, SiteRack, Span, Standing, StepKind, Timestamp, keys,
};
use store::{Commit, SharedStore};

pub const SUBSCRIPTION: &str = "00000000-0000-4000-8000-000000000001";

/// Machines of one cluster of a fleet: eight racks of sixteen.
pub const CLUSTER_SIZE: u64 = 128;

const MACHINES_PER_RACK: u64 = 16;

/// Descriptions of that many machines in clusters of [`CLUSTER_SIZE`]; the last one may be smaller.
pub fn sites(machines: u64) -> Vec<Site> {
    let clusters = machines.div_ceil(CLUSTER_SIZE);
    (1..=clusters).map(|number| site(number, CLUSTER_SIZE.min(machines - (number - 1) * CLUSTER_SIZE))).collect()
}

/// The description of one cluster. Its first four racks begin with a control-plane machine; the fourth's is the spare.
pub fn site(number: u64, machines: u64) -> Site {
    let racks = machines.div_ceil(MACHINES_PER_RACK).max(1);
    Site {
        cluster: ClusterName::new(format!("site{number}")).expect("a constant shape"),
        home: Home { subscription: SUBSCRIPTION.to_owned(), resource_group: format!("site{number}"), location: "local".to_owned() },
        version: "4.9.2".to_owned(),
        limits: Limits::default(),
        racks: (1..=racks).map(rack).collect(),
        machines: (0..machines).map(|index| machine(number, index / MACHINES_PER_RACK + 1, index % MACHINES_PER_RACK + 1)).collect(),
        skus: Vec::new(),
        join: Some(model::JoinFacts { api_url: "https://undercloud.invalid:6443".to_owned(), ca_hash: None }),
        new_logins: std::collections::BTreeSet::new(),
    }
}

fn rack(number: u64) -> SiteRack {
    SiteRack {
        name: RackName::new(format!("rack{number}")).expect("a constant shape"),
        availability_zone: number.to_string(),
        location: format!("row 1, position {number}"),
        serial_number: format!("RACK{number:04}"),
        sku: "simulated".to_owned(),
    }
}

fn machine(site: u64, rack: u64, slot: u64) -> SiteMachine {
    let (role, kind, standing) = match (rack, slot) {
        (1..=3, 1) => (Role::ControlPlane, "control", Standing::Provisioned),
        (4, 1) => (Role::ControlPlane, "control", Standing::Spare),
        (_, 2) => (Role::Management, "management", Standing::Provisioned),
        _ => (Role::Compute, "compute", Standing::Provisioned),
    };
    let name = format!("rack{rack}{kind}{slot:02}");
    let octets = format!("{:02x}:{:02x}:{:02x}:{slot:02x}", site >> 8 & 0xff, site & 0xff, rack & 0xff);
    SiteMachine {
        name: MachineName::new(&name).expect("a constant shape"),
        role,
        standing,
        install: model::InstallSettings::default(),
        hardware: Hardware {
            rack: RackName::new(format!("rack{rack}")).expect("a constant shape"),
            slot: u32::try_from(slot).expect("a slot is small"),
            sku: "PowerEdge R760".to_owned(),
            serial_number: format!("S{site:04}R{rack:03}M{slot:02}"),
            bmc_address: format!("https://10.{}.{}.{slot}", site & 0xff, rack & 0xff),
            bmc_mac: format!("b0:7b:{octets}"),
            boot_mac: format!("b0:7c:{octets}"),
            credentials: SecretRef::new(name),
        },
    }
}

/// Enrols the sites and writes each machine as its keeper leaves it when it is on and its node is ready.
pub async fn settle(store: &SharedStore, clock: &dyn Clock, sites: &[Site]) -> io::Result<()> {
    for site in sites {
        let enrolment = enroll_site(store, clock, site).await.map_err(io::Error::other)?;
        let mut commit = Commit::default();
        for machine in enrolment.machines.into_values() {
            let key = keys::machine(&machine.cluster, &machine.name);
            commit = commit.put(key, serde_json::to_vec(&well(machine, clock)).map_err(io::Error::other)?);
        }
        store.commit(commit).await.map_err(io::Error::other)?;
    }
    Ok(())
}

/// Every tenth machine was restarted within the last hour; one restart in ten still runs.
pub async fn restart_some(store: &SharedStore, clock: &dyn Clock, sites: &[Site]) -> io::Result<()> {
    let now = clock.now();
    let mut nth = 0_u64;
    for site in sites {
        let mut commit = Commit::default();
        for machine in site.machines.iter().step_by(10) {
            nth += 1;
            let id = format!("{:016x}", 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(nth));
            let operation = restart(&id, site, &machine.name, now - Span::seconds(nth % 3_600), nth.is_multiple_of(10));
            commit = commit.put(keys::operation(&site.cluster, &operation.id), serde_json::to_vec(&operation)?);
        }
        store.commit(commit).await.map_err(io::Error::other)?;
    }
    Ok(())
}

fn restart(id: &str, site: &Site, machine: &MachineName, accepted_at: Timestamp, runs: bool) -> Operation {
    let seen = |step| Entry { at: accepted_at, fact: Fact::Seen { step } };
    let asked = |ask| Entry { at: accepted_at, fact: Fact::Asked { ask, attempt: 1 } };
    let (begin, end) = (
        vec![
            Entry {
                at: accepted_at,
                fact: Fact::Found { boot_id: Some("5f1d0c66-6a2b-4c1e-9d3e-000000000000".to_owned()), provisioning: None },
            },
            asked(DeviceAsk::Cordon),
            seen(StepKind::Cordon),
            asked(DeviceAsk::GracefulOff),
        ],
        vec![
            seen(StepKind::PowerOff),
            asked(DeviceAsk::PowerOn),
            seen(StepKind::PowerOn),
            seen(StepKind::Rejoin),
            seen(StepKind::Uncordon),
        ],
    );
    let ended =
        Ended { at: accepted_at, result: OperationResult::Succeeded, message: "it was restarted".to_owned(), next: None, failure: None };
    Operation {
        format: OPERATION_FORMAT,
        id: OperationId::new(id),
        cluster: site.cluster.clone(),
        target: model::Target::Machine(machine.clone()),
        action: Action::Restart,
        caller: "alice".to_owned(),
        correlation_id: CorrelationId::new(id),
        request_key: None,
        accepted_at,
        deadline_at: accepted_at + Span::minutes(60),
        journal: if runs { begin } else { [begin, end].concat() },
        cancel: None,
        ended: (!runs).then_some(ended),
        wait: None,
        replacement: None,
    }
}

/// A machine of a site that is being installed, whose agent has its session.
pub fn installation(site: &Site, machine: &MachineName, bundle: &Bundle, now: Timestamp) -> Operation {
    let (round, image) = (1, &bundle.os_image.sha256);
    let facts = [
        Fact::Installing { round, way: BootWay::VirtualMedia, version: bundle.version, image: image.clone(), network: None },
        Fact::Reported { round, report: MachineReport::Exchange { nonce: image.clone() } },
    ];
    let journal = facts.map(|fact| Entry { at: now, fact }).to_vec();
    let action = Action::Reimage { safeguard: Safeguard::None };
    Operation { action, journal, ..restart(&format!("reimage-{machine}"), site, machine, now, true) }
}

/// A machine that was seen on, with a ready node unless it is the spare.
pub fn well(mut machine: Machine, clock: &dyn Clock) -> Machine {
    let at = clock.now();
    machine.last_seen.power = Some(Seen { what: Power::On, at });
    if !machine.is_spare() {
        machine.last_seen.node = Some(Seen { what: ready_node(&machine.name), at });
    }
    machine.waits.clear();
    machine
}

/// The node of a machine that is well.
pub fn ready_node(machine: &MachineName) -> NodeSeen {
    NodeSeen {
        name: machine.to_string(),
        ready: Readiness::True,
        unschedulable: false,
        cordoned_by_us: false,
        boot_id: format!("5f1d0c66-6a2b-4c1e-9d3e-{machine:>012}"),
        kubelet_version: "v1.36.0".to_owned(),
        os_image: "Azure Linux 3.0".to_owned(),
        machine: machine.to_string(),
        internal_ip: Some("10.1.0.17".to_owned()),
        problems: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use store::{MemoryStore, TokioClock};

    use super::*;

    #[tokio::test]
    async fn a_fleet_has_as_many_machines_as_asked_and_all_are_well() {
        let clock = Arc::new(TokioClock::starting_at(Timestamp::EPOCH));
        let store: SharedStore = Arc::new(MemoryStore::new(clock.clone()));
        settle(&store, clock.as_ref(), &sites(300)).await.unwrap();
        let documents = store.list(keys::MACHINES).await.unwrap().documents;
        let machines: Vec<Machine> = documents.iter().map(|document| serde_json::from_slice(&document.value).unwrap()).collect();
        assert_eq!(machines.len(), 300);
        assert!(machines.iter().all(|machine| machine.is_spare() || machine.is_ready()));
        let spares = machines.iter().filter(|machine| machine.is_spare()).count();
        assert_eq!(spares, 2, "the third cluster has fewer than four racks");
    }
}
