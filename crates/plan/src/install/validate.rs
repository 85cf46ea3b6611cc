//! The hardware is compared with what it should be.

use crate::operate::{Bench, Finding};

pub(super) fn validate(_bench: &Bench<'_>) -> Finding {
    super::not_built(model::StepKind::ValidateHardware)
}
