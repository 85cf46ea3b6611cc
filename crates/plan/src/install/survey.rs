//! What the BMC offers before anything is touched, and how the machine is started to be installed.

use std::sync::Arc;

use model::{
    Action, AgentNetwork, BootArtefacts, BootWay, Bundle, DeviceAsk, Fact, Failure, FaultClass, InvalidVersion, JobSeen, Machine,
    Operation, RuntimeVersion, Survey,
};

use super::attempt::{Round, current};
use super::prepare::installs;
use super::{login, looking, target};
use crate::operate::{Bench, Finding};
use crate::snapshot::Snapshot;

pub(super) fn survey(bench: &Bench<'_>) -> Finding {
    if let Some(refused) = login::refused(bench) {
        return refused;
    }
    let survey = match looking::survey(bench) {
        Ok(survey) => survey,
        Err(finding) => return finding,
    };
    if let Some(job) = firmware_job(survey) {
        let because = format!("the BMC has a firmware job: {}; nothing was touched", described(job));
        return Finding::Fail { failure: Failure::InstallFailed, because };
    }
    let Some(bundle) = bundle(bench.snapshot, bench.machine) else { return no_runtime(bench) };
    match choose(survey, &bundle.boot, &[]) {
        Some(_) if bench.operation.system_disk().is_some() => Finding::Done,
        Some(_) => target::find(bench).map_or_else(|finding| finding, |_| Finding::Done),
        None => no_way(survey, &bundle.boot, &[]),
    }
}

/// A job that changes firmware: the machine must not be switched off or on under it.
pub(crate) fn firmware_job(survey: &Survey) -> Option<&JobSeen> {
    survey.jobs.iter().flatten().find(|job| job.concerns_firmware)
}

pub(crate) fn described(job: &JobSeen) -> String {
    let percent = job.percent.map(|percent| format!(" ({percent} %)")).unwrap_or_default();
    format!("`{}`{percent}", job.name)
}

/// The version that a machine is installed with: the one that it has, since only an upgrade moves it to another. The cluster's own,
/// where nothing is known of what it has.
pub(crate) fn version(snapshot: &Snapshot, machine: &Machine) -> Result<RuntimeVersion, InvalidVersion> {
    machine.installed.as_ref().map_or_else(|| RuntimeVersion::parse(&snapshot.cluster.version), |installed| Ok(installed.version))
}

pub(crate) fn bundle<'a>(snapshot: &'a Snapshot, machine: &Machine) -> Option<&'a Arc<Bundle>> {
    version(snapshot, machine).ok().and_then(|version| snapshot.runtimes.get(&version))
}

/// What an action would install.
pub(crate) fn runtime(snapshot: &Snapshot, machine: &Machine, action: Action) -> Option<RuntimeVersion> {
    version(snapshot, machine).ok().filter(|_| installs(action))
}

/// What is written before the machine is started: an attempt by the best way that is left. Nothing, if one is going on.
pub(super) fn note_attempt(bench: &Bench<'_>) -> Option<Fact> {
    let refused = refused_ways(bench.operation);
    let before = current(bench.operation);
    if before.as_ref().is_some_and(|round| !refused.contains(&round.way)) {
        return None;
    }
    let survey = looking::survey(bench).ok()?;
    let bundle = bundle(bench.snapshot, bench.machine)?;
    let way = choose(survey, &bundle.boot, &refused)?;
    let round = before.map_or(1, |round| round.number + 1);
    let image = bundle.os_image.sha256.clone();
    Some(Fact::Installing { round, way, version: bundle.version, image, network: network(bench) })
}

/// The agent's network, settled with the attempt: its image is read in parts, and must say the same in each.
fn network(bench: &Bench<'_>) -> Option<AgentNetwork> {
    let at = bench.machine.install.network.clone()?;
    let replacement = bench.operation.replacement.as_ref().and_then(|replacement| replacement.boot_mac.clone());
    let mac = replacement.unwrap_or_else(|| bench.machine.hardware.boot_mac.clone());
    Some(AgentNetwork { mac, at })
}

/// The attempt that is going on; else why there is none.
pub(super) fn attempt(bench: &Bench<'_>) -> Result<Round, Finding> {
    let refused = refused_ways(bench.operation);
    if let Some(round) = current(bench.operation).filter(|round| !refused.contains(&round.way)) {
        return Ok(round);
    }
    let survey = looking::survey(bench)?;
    let bundle = bundle(bench.snapshot, bench.machine).ok_or_else(|| no_runtime(bench))?;
    Err(no_way(survey, &bundle.boot, &refused))
}

/// Ways that the BMC offered, and did not know when it came to it.
fn refused_ways(operation: &Operation) -> Vec<BootWay> {
    let refused = |asks: &[DeviceAsk]| {
        operation.journal.iter().any(
            |entry| matches!(&entry.fact, Fact::Faulted { ask, fault, .. } if asks.contains(ask) && fault.class == FaultClass::Unsupported),
        )
    };
    BootWay::ALL.into_iter().filter(|way| refused(asks_of(*way))).collect()
}

fn asks_of(way: BootWay) -> &'static [DeviceAsk] {
    match way {
        BootWay::VirtualMedia => &[DeviceAsk::InsertMedia, DeviceAsk::BootFromMedia],
        BootWay::UefiHttp => &[DeviceAsk::BootFromHttp],
        BootWay::Pxe => &[DeviceAsk::BootFromPxe],
    }
}

fn has_artefact(boot: &BootArtefacts, way: BootWay) -> bool {
    match way {
        BootWay::VirtualMedia => true,
        BootWay::UefiHttp => boot.http.is_some(),
        BootWay::Pxe => boot.pxe.is_some(),
    }
}

/// The best way that the BMC offers, the runtime has something for, and that was not refused.
fn choose(survey: &Survey, boot: &BootArtefacts, refused: &[BootWay]) -> Option<BootWay> {
    BootWay::ALL.into_iter().find(|way| survey.ways.contains(way) && has_artefact(boot, *way) && !refused.contains(way))
}

fn no_way(survey: &Survey, boot: &BootArtefacts, refused: &[BootWay]) -> Finding {
    let listed = |ways: Vec<BootWay>| match ways.iter().map(ToString::to_string).collect::<Vec<_>>() {
        none if none.is_empty() => "none".to_owned(),
        ways => ways.join(", "),
    };
    let offered = listed(BootWay::ALL.into_iter().filter(|way| survey.ways.contains(way)).collect());
    let known = listed(BootWay::ALL.into_iter().filter(|way| has_artefact(boot, *way)).collect());
    let refused = if refused.is_empty() { String::new() } else { format!("; it refused {}", listed(refused.to_vec())) };
    let because = format!("there is no way to start the machine: its BMC offers {offered}{refused}; the runtime can be started by {known}");
    Finding::Fail { failure: Failure::DeviceUnsupported, because }
}

fn no_runtime(bench: &Bench<'_>) -> Finding {
    let version =
        version(bench.snapshot, bench.machine).map_or_else(|_| bench.snapshot.cluster.version.clone(), |version| version.to_string());
    let because = format!("runtime {version} is not known (any more): `rackwright runtime import` makes it known");
    Finding::Fail { failure: Failure::InstallFailed, because }
}
