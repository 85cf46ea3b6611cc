//! No machine that is to be installed is switched off while its BMC writes firmware: it may never start again.
//!
//! The guard and the survey look before anything is touched. Emptying a machine takes half an hour, and an agent's work as long, so
//! the BMC is asked for its jobs once more whenever the power is about to go.

use model::{DeviceAsk, LookAt, Party, Span, Timestamp, Wait, WaitKind};

use super::looking::{self, look_again, settled_since};
use super::survey::firmware_job;
use crate::operate::{Bench, Finding};

/// How old a look at the BMC's jobs may be when the power goes.
///
/// Five minutes are longer than any look takes, so that a slow BMC is not looked at for ever; and a job that somebody begins is
/// seldom younger, since a BMC takes its time to download and check what it is to write.
const JOBS_AGE: Span = Span::minutes(5);

/// How long firmware may take to be written before somebody should look.
const EXPECTED_JOB: Span = Span::minutes(30);

/// A request to go off is held back until the BMC is seen to have no firmware job. `waited` is what the operation waited for before.
pub(super) fn spare_the_firmware(bench: &Bench<'_>, finding: Finding, waited: Option<&Wait>) -> Finding {
    let goes_off = matches!(finding, Finding::Ask(DeviceAsk::GracefulOff | DeviceAsk::ForceOff | DeviceAsk::AgentOff));
    if !goes_off {
        return finding;
    }
    let survey = match looking::survey_since(bench, since(bench)) {
        Ok(survey) => survey,
        // A BMC that has no answer to that has no job that could be waited for.
        Err(Finding::Fail { .. }) => return finding,
        Err(look) => return look,
    };
    let Some(job) = firmware_job(survey) else { return finding };
    let same = waited.filter(|wait| matches!(wait.kind, WaitKind::FirmwareJob { .. }));
    let since = same.map_or(bench.now, |wait| wait.since);
    let wait = Wait { kind: WaitKind::FirmwareJob { job: job.name.clone() }, since, expected_by: Some(since + EXPECTED_JOB) };
    look_again(bench, LookAt::Survey, wait, bench.operation.deadline_at.max(bench.now + bench.limits.busy_poll))
}

/// From when on a look counts: since the step began, and since its latest request; and never one that is too old.
fn since(bench: &Bench<'_>) -> Timestamp {
    let settled = settled_since(bench, Party::Bmc);
    let looked = bench.sight.observation.looked.get(&LookAt::Survey);
    let too_old_at = looked.map(|looked| looked.began_at + JOBS_AGE).filter(|at| bench.now >= *at);
    too_old_at.map_or(settled, |at| settled.max(at))
}
