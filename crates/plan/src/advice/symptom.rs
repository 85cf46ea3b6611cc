//! What is wrong with a machine, as far as it can be seen.

use model::{Judged, Machine, Power, ProblemKind, Provisioning, Readiness, Symptom, Timestamp, ValidationMark, WaitKind};

use super::tried;
use crate::snapshot::Snapshot;
use crate::words;

pub(super) struct Observed {
    pub symptom: Option<Symptom>,
    pub evidence: Vec<String>,
    /// Since when it is known that something is wrong.
    pub since: Option<Timestamp>,
}

/// The worst of what is seen leads; all of it is told.
pub(super) fn observe(snapshot: &Snapshot, machine: &Machine) -> Observed {
    let found = [given_up(machine), validated(machine), provisioning(snapshot, machine)]
        .into_iter()
        .flatten()
        .chain(problems(machine))
        .chain([node(machine), power(machine)].into_iter().flatten());
    let mut found: Vec<(Symptom, String)> = found.collect();
    let symptom = found.first().map(|(symptom, _)| *symptom);
    let mut evidence: Vec<String> = found.drain(..).map(|(_, words)| words).collect();
    evidence.extend(unreached(machine));
    if let Some(fault) = &machine.last_seen.bmc_fault {
        let since = fault.at.clock();
        evidence.push(format!(
            "{} since {since} ({}): what is said of its power is older",
            words::bmc_trouble(fault.what.class),
            fault.what
        ));
    }
    if evidence.is_empty() {
        evidence.push("nothing is seen to be wrong with it".into());
    }
    Observed { symptom, evidence, since: since(machine) }
}

/// The earliest of what is seen to be wrong.
fn since(machine: &Machine) -> Option<Timestamp> {
    let seen = &machine.last_seen;
    let given_up = machine.unhealthy.as_ref().map(|unhealthy| unhealthy.since);
    let failed = bad_hardware(machine).map(|mark| mark.at);
    let lost = seen.node.as_ref().filter(|node| node.what.ready != Readiness::True).map(|node| node.at);
    let off = seen.power.as_ref().filter(|_| power(machine).is_some()).map(|power| power.at);
    let problems = words::problems(machine).iter().filter_map(|problem| problem.since);
    [given_up, failed, lost, off].into_iter().flatten().chain(problems).min()
}

fn given_up(machine: &Machine) -> Option<(Symptom, String)> {
    let unhealthy = machine.unhealthy.as_ref()?;
    let words = format!("it was given up at {}: {}; only a replace brings it back", unhealthy.since.clock(), unhealthy.because);
    Some((Symptom::Hardware, words))
}

fn validated(machine: &Machine) -> Option<(Symptom, String)> {
    let mark = bad_hardware(machine)?;
    Some((Symptom::Hardware, format!("its hardware validation failed at {}", mark.at.clock())))
}

fn bad_hardware(machine: &Machine) -> Option<&ValidationMark> {
    machine.validated.as_ref().filter(|mark| mark.is_of_bad_hardware())
}

/// A BMC that was silent says nothing of its machine: that is no symptom, and nothing is done about it but to look again.
fn unreached(machine: &Machine) -> Option<String> {
    let mark = machine.validated.as_ref().filter(|mark| mark.of == Judged::Login)?;
    let (at, name) = (mark.at.clock(), &machine.name);
    Some(format!("its BMC was silent at {at}, so that its hardware could not be validated: rackwright bmm validate {name}"))
}

fn provisioning(snapshot: &Snapshot, machine: &Machine) -> Option<(Symptom, String)> {
    let is_stuck = match machine.provisioning {
        Provisioning::Provisioned | Provisioning::Available => false,
        Provisioning::Error => true,
        // Somebody is at it.
        Provisioning::Preparing | Provisioning::Provisioning | Provisioning::Deprovisioning => snapshot.running_on(&machine.name).is_none(),
    };
    let symptom = if tried::disks_at_fault(snapshot, machine) { Symptom::Hardware } else { Symptom::StuckProvisioning };
    is_stuck.then(|| (symptom, format!("it is {:?}, and nothing is at work on it", machine.provisioning)))
}

fn problems(machine: &Machine) -> Vec<(Symptom, String)> {
    let of = |kind| match kind {
        ProblemKind::ReadOnlyRoot => (Symptom::OsCorruption, "its root file system is read-only"),
        ProblemKind::PortDown => (Symptom::Hardware, "one of its ports is down"),
        ProblemKind::PortFlapping => (Symptom::Hardware, "one of its ports flaps"),
    };
    let told = words::problems(machine).iter().map(|problem| {
        let (symptom, words) = of(problem.kind);
        (symptom, format!("{words} ({})", problem.message))
    });
    told.collect()
}

fn node(machine: &Machine) -> Option<(Symptom, String)> {
    let has_system = machine.provisioning == Provisioning::Provisioned;
    let node = machine.last_seen.node.as_ref();
    let words = match node.map(|node| (node.what.ready, node.at)) {
        _ if !has_system || machine.is_ready() => return None,
        None => "it has no node in the undercloud".to_owned(),
        Some((Readiness::Unknown, at)) => format!("its node has not been heard of since {}", at.clock()),
        Some((Readiness::False, at)) => format!("its node is not ready since {}", at.clock()),
        // Its boot is over, or the machine is off.
        Some((Readiness::True, _)) => return None,
    };
    Some((Symptom::Unresponsive, words))
}

fn power(machine: &Machine) -> Option<(Symptom, String)> {
    let is_off = machine.last_seen.power.as_ref().is_some_and(|power| power.what == Power::Off);
    let is_unexpected = machine.waits.iter().any(|wait| wait.kind == WaitKind::UnexpectedlyOff);
    (is_off && is_unexpected).then(|| (Symptom::Unresponsive, "it is off, and should be on".to_owned()))
}
