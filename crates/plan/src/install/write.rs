//! The agent writes the image: it calls, tells how far it is, and tells the digest of what it read back. The digest is compared here.

use model::{DeviceAsk, Failure, FaultClass, Found, InstallTrouble, LookAt, MachineReport, Power, StepKind, Timestamp, Wait, WaitKind};

use super::attempt::{Round, current};
use super::looking::look;
use super::missed::{runs_old_system, start_again};
use crate::evacuate::counted_from;
use crate::operate::{Bench, Finding};

pub(super) fn write_image(bench: &Bench<'_>) -> Finding {
    let Some(round) = current(bench.operation) else { return failed("no installation is going on".into()) };
    if let Some(because) = trouble(bench, &round) {
        return failed(because);
    }
    match round.written(bench.operation) {
        Some(digest) if *digest == round.image => Finding::Done,
        Some(digest) => {
            let name = &bench.machine.name;
            failed(format!(
                "{}: what was written to `{name}` has {digest}, and the image of runtime {} has {}",
                InstallTrouble::WrongDigest,
                round.version,
                round.image
            ))
        }
        None if round.has_exchanged(bench.operation) => writing(bench, &round),
        None => calling(bench),
    }
}

/// That nothing will come of this attempt, as was told before an agent called.
pub(super) fn given_up(bench: &Bench<'_>) -> Option<Finding> {
    trouble(bench, &current(bench.operation)?).map(failed)
}

fn failed(because: String) -> Finding {
    Finding::Fail { failure: Failure::InstallFailed, because }
}

/// Why the agent has given up.
fn trouble(bench: &Bench<'_>, round: &Round) -> Option<String> {
    let (_, report) = round.reports(bench.operation).find(|(_, report)| matches!(report, MachineReport::Failed { .. }))?;
    let MachineReport::Failed { trouble, detail } = report else { return None };
    let hint = match trouble {
        InstallTrouble::ImageUnreachable => "; we fetch it from where its runtime says, and the machine from us",
        InstallTrouble::MissingDisk => "; compare the site file (`os-disk`, `data-disks`) with the disks that `rackwright bmm show` lists",
        InstallTrouble::AmbiguousDisk => {
            "; name it in the site file (`os-disk`, `data-disks`) by what no other disk has: `rackwright bmm show` lists them"
        }
        InstallTrouble::DiskTooSmall => "; name a larger one in the site file (`os-disk`): `rackwright bmm show` lists them",
        InstallTrouble::ImageMisfit => "; compare the image with what its runtime says of it: `rackwright runtime show`",
        InstallTrouble::Unconfigurable => "; it needs a GPT, so that there can be a partition for it",
        InstallTrouble::TokenMisused => "; the machine may have been restarted meanwhile, or its network is open to others",
        InstallTrouble::DiskFailed => "; `rackwright bmm advise` tells what to do about a drive that fails",
        InstallTrouble::WrongDigest | InstallTrouble::SeedFailed => "",
    };
    let detail = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
    Some(format!("{trouble}{detail}{hint}"))
}

/// From when on the agent is waited for.
fn started_at(bench: &Bench<'_>) -> Timestamp {
    let first_at = bench.operation.done_at(StepKind::AgentOn).unwrap_or(bench.operation.accepted_at);
    bench.operation.last_asked(DeviceAsk::AgentOn).map_or(first_at, |(asked_at, _)| asked_at.max(first_at))
}

fn calling(bench: &Bench<'_>) -> Finding {
    let since = started_at(bench);
    let until = counted_from(bench.operation, since) + bench.limits.agent_timeout;
    if let Some(finding) = start_again(bench, bench.now >= until) {
        return finding;
    }
    if bench.now < until {
        let wait = Wait { kind: WaitKind::AgentCall, since, expected_by: Some(since + bench.limits.expected_agent) };
        return Finding::wait_until(wait, until);
    }
    match source_now(bench, until) {
        Err(finding) => finding,
        Ok(source) => {
            let timeout = bench.limits.agent_timeout;
            let at = bench.snapshot.install_url.as_ref().map(|url| format!(" at {url}")).unwrap_or_default();
            failed(format!("no agent has called{at} within {timeout} of the power-on: {source}{}", old_system(bench)))
        }
    }
}

/// What the BMC says now that the machine starts from: whoever reads why an installation failed wants to know first.
pub(super) fn source_now(bench: &Bench<'_>, since: Timestamp) -> Result<String, Finding> {
    match look(bench, LookAt::Boot, since) {
        Ok(Found::Boot(seen)) => {
            let media = match seen.media.as_deref() {
                None => "its virtual drive is empty",
                Some(_) => "an image is in its virtual drive",
            };
            Ok(format!("the BMC reads back that it starts from {}, and {media}", seen.source.in_words()))
        }
        Ok(_) => Ok("what it starts from is not known".into()),
        // One that does not tell does not keep us waiting: the time is up.
        Err(Finding::Wait { wait, .. } | Finding::Look { wait, .. }) if matches!(wait.kind, WaitKind::Device { .. }) => {
            Ok(format!("what it starts from is not known: {}", wait.kind))
        }
        Err(finding) => Err(finding),
    }
}

/// Whether the system of before has come up instead.
fn old_system(bench: &Bench<'_>) -> String {
    if bench.sight.power(started_at(bench), bench.now) == Ok(Power::Off) {
        return "; it is off now".into();
    }
    if runs_old_system(bench) {
        "; its node is ready, so it has started its old disk".into()
    } else {
        "; it may have started its old disk".into()
    }
}

/// The agent is given its time from its latest word on.
fn writing(bench: &Bench<'_>, round: &Round) -> Finding {
    let heard_at = round.reports(bench.operation).next_back().map_or_else(|| started_at(bench), |(at, _)| at);
    let until = counted_from(bench.operation, heard_at) + bench.limits.write_timeout;
    let percent = round.percent(bench.operation).map(|(_, percent)| percent);
    let written =
        percent.map_or_else(|| "it had not told of any progress".to_owned(), |percent| format!("it had told of {percent} % written"));
    let off_until = off_since(bench, heard_at).map(|since| counted_from(bench.operation, since) + bench.limits.agent_off_timeout);
    if off_until.is_some_and(|off_until| bench.now >= off_until) {
        let timeout = bench.limits.agent_off_timeout;
        return failed(format!("the machine went off while its agent was at work, and was not on again within {timeout}: {written}"));
    }
    if bench.now < until {
        let began_at = round.reports(bench.operation).next().map_or(heard_at, |(at, _)| at);
        let wait = Wait { kind: WaitKind::Writing { percent }, since: began_at, expected_by: Some(began_at + bench.limits.expected_write) };
        return Finding::wait_until(wait, off_until.map_or(until, |off_until| off_until.min(until)));
    }
    let off = match bench.sight.power(heard_at, bench.now) {
        Ok(Power::Off) => "; the machine is off",
        Err(Wait { kind: WaitKind::Device { fault, .. }, .. }) if fault.class == FaultClass::Unreachable => {
            "; its BMC does not answer either"
        }
        _ => "",
    };
    failed(format!("the agent has not been heard of for {}: {written}{off}", bench.limits.write_timeout))
}

/// Since when the machine has been off though its agent should be writing: one that has lost its power will not be heard of again.
fn off_since(bench: &Bench<'_>, heard_at: Timestamp) -> Option<Timestamp> {
    if bench.sight.power(heard_at, bench.now) != Ok(Power::Off) {
        return None;
    }
    let went_off = bench.machine.last_seen.power.as_ref().filter(|seen| seen.what == Power::Off).map(|seen| seen.at);
    Some(went_off.unwrap_or(bench.now).max(heard_at))
}
