//! The volumes of a machine that is replaced.

use model::StepKind;

use crate::operate::{Bench, Finding};

pub(super) fn await_off(_bench: &Bench<'_>) -> Finding {
    super::not_built(StepKind::AwaitOff)
}

pub(super) fn discard(_bench: &Bench<'_>) -> Finding {
    super::not_built(StepKind::DiscardVolumes)
}

pub(super) fn make_os_volume(_bench: &Bench<'_>) -> Finding {
    super::not_built(StepKind::MakeOsVolume)
}
