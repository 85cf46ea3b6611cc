//! The virtual drive, and what the machine starts from. Each change is looked for: a BMC's word that it was done is not enough.
//!
//! "Once" is never trusted. The source is set for good, and set back to the disk for good afterwards.

use model::{BootWay, DeviceAsk, LookAt, SourceSeen};

use super::attempt::Round;
use super::insist::{insist, may_be_obeyed, was_asked_in_step};
use super::looking::boot;
use super::power::stay_off;
use super::survey;
use crate::operate::{Bench, Finding};

/// The agent's image is in the drive, and nothing else is.
pub(super) fn insert(bench: &Bench<'_>) -> Finding {
    let round = match ready(bench) {
        Ok(round) => round,
        Err(finding) => return finding,
    };
    if round.way != BootWay::VirtualMedia {
        return Finding::Skip(format!("it is started by {}", round.way));
    }
    let seen = match boot(bench) {
        Ok(seen) => seen,
        Err(finding) => return finding,
    };
    let asked = [DeviceAsk::InsertMedia, DeviceAsk::EjectMedia].into_iter().max_by_key(|ask| position(bench, *ask));
    let was_inserted = asked == Some(DeviceAsk::InsertMedia) && was_asked_in_step(bench, DeviceAsk::InsertMedia);
    match seen.media.as_deref() {
        None => insist(bench, DeviceAsk::InsertMedia, LookAt::Boot, "the virtual drive is still empty"),
        Some(url) if is_ours(bench, &round, url) => Finding::Done,
        // A BMC that does not tell what is in its drive is believed that it is what it was given last.
        Some("") if was_inserted && may_be_obeyed(bench, DeviceAsk::InsertMedia) => Finding::Done,
        Some(_) => insist(bench, DeviceAsk::EjectMedia, LookAt::Boot, "another image is still in the virtual drive"),
    }
}

/// Where the latest ask of a kind is in the journal.
fn position(bench: &Bench<'_>, ask: DeviceAsk) -> Option<usize> {
    bench.operation.journal.iter().rposition(|entry| matches!(entry.fact, model::Fact::Asked { ask: asked, .. } if asked == ask))
}

/// Each attempt has a URL of its own, which names it.
fn is_ours(bench: &Bench<'_>, round: &Round, url: &str) -> bool {
    let path = format!("/{}/{}/{}/", bench.operation.cluster, bench.operation.id, round.number);
    url.to_ascii_lowercase().contains(&path.to_ascii_lowercase())
}

/// The machine starts from what the attempt's way says.
pub(super) fn boot_agent(bench: &Bench<'_>) -> Finding {
    let round = match ready(bench) {
        Ok(round) => round,
        Err(finding) => return finding,
    };
    let (ask, wanted) = source_of(round.way);
    set_source(bench, ask, wanted)
}

fn source_of(way: BootWay) -> (DeviceAsk, SourceSeen) {
    match way {
        BootWay::VirtualMedia => (DeviceAsk::BootFromMedia, SourceSeen::Media),
        BootWay::UefiHttp => (DeviceAsk::BootFromHttp, SourceSeen::Http),
        BootWay::Pxe => (DeviceAsk::BootFromPxe, SourceSeen::Pxe),
    }
}

/// How a machine that was set to start the agent is set otherwise now, in words.
pub(super) fn strayed(bench: &Bench<'_>) -> Result<Option<String>, Finding> {
    let round = survey::attempt(bench)?;
    let seen = boot(bench)?;
    let is_empty = round.way == BootWay::VirtualMedia && seen.media.is_none();
    let is_elsewhere = seen.source != source_of(round.way).1;
    Ok(match (is_elsewhere, is_empty) {
        (true, _) => Some(format!("its BMC has set it to start from {} meanwhile", seen.source.in_words())),
        (false, true) => Some("its BMC has emptied the virtual drive meanwhile".to_owned()),
        (false, false) => None,
    })
}

/// The attempt, of a machine that is off.
fn ready(bench: &Bench<'_>) -> Result<Round, Finding> {
    let round = survey::attempt(bench)?;
    stay_off(bench)?;
    Ok(round)
}

/// The drive is empty. It is looked at if anything was ever put into it by us.
pub(super) fn eject(bench: &Bench<'_>) -> Finding {
    if bench.operation.last_asked(DeviceAsk::InsertMedia).is_none() {
        return Finding::Skip("nothing was put into the virtual drive".into());
    }
    if let Err(finding) = stay_off(bench) {
        return finding;
    }
    match boot(bench) {
        Err(finding) => finding,
        Ok(seen) if seen.media.is_none() => Finding::Done,
        Ok(_) => insist(bench, DeviceAsk::EjectMedia, LookAt::Boot, "an image is still in the virtual drive"),
    }
}

pub(super) fn boot_disk(bench: &Bench<'_>) -> Finding {
    if let Err(finding) = stay_off(bench) {
        return finding;
    }
    set_source(bench, DeviceAsk::BootFromDisk, SourceSeen::Disk)
}

/// It is set at least once by us, whatever it seems to be: what reads as the disk may be an order of the BMC's own.
fn set_source(bench: &Bench<'_>, ask: DeviceAsk, wanted: SourceSeen) -> Finding {
    if !was_asked_in_step(bench, ask) {
        return Finding::Ask(ask);
    }
    match boot(bench) {
        Err(finding) => finding,
        Ok(seen) if seen.source == wanted && may_be_obeyed(bench, ask) => Finding::Done,
        Ok(seen) => insist(bench, ask, LookAt::Boot, &format!("it is set to start from {}", seen.source.in_words())),
    }
}
