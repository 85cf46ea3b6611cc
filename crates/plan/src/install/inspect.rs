//! The hardware of a whole site, machine by machine.

use model::{MachineName, RackName, Refusal, Request, StepKind, Timestamp, Verdict};

use crate::draft::Draft;
use crate::operate::{Bench, Finding};

pub(super) fn inspect_machines(_bench: &Bench<'_>) -> Finding {
    super::not_built(StepKind::InspectMachines)
}

pub(crate) fn inspect(
    _draft: &mut Draft,
    _request: &Request,
    _machines: &[MachineName],
    _racks: &[RackName],
    _now: Timestamp,
) -> Result<Verdict, Refusal> {
    Ok(Verdict::Done)
}
