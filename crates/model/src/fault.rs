//! What can go wrong between us and a device, as a small closed class that decisions match on.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a device did not do, or did not say, what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FaultClass {
    /// No answer: refused, timed out, or no route.
    Unreachable,
    /// It answered that it cannot just now (429, 503, 409, a lock of its own), or would not and did not say why.
    Busy,
    /// It does not accept our credentials or our right to do this.
    Denied,
    /// It knows no such action or value.
    Unsupported,
    /// What we asked about is not there.
    Missing,
    /// It answered, but not in words we understand: a 500, broken JSON, a lacking field.
    Garbled,
}

/// Whether a request that failed may have taken effect all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Delivery {
    /// It never reached the device, or the device refused it.
    No,
    /// It may have reached the device: only looking can tell.
    Maybe,
}

/// A fault as it is remembered and shown; the driver's error keeps the cause for the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    pub class: FaultClass,
    pub delivery: Delivery,
    /// One short sentence without secrets, e.g. `connection refused` or `401 from /redfish/v1/Systems`.
    pub detail: String,
}

impl Fault {
    pub fn new(class: FaultClass, delivery: Delivery, detail: impl Into<String>) -> Self {
        Fault { class, delivery, detail: detail.into() }
    }
}

impl fmt::Display for FaultClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FaultClass::Unreachable => "unreachable",
            FaultClass::Busy => "busy",
            FaultClass::Denied => "denied",
            FaultClass::Unsupported => "unsupported",
            FaultClass::Missing => "missing",
            FaultClass::Garbled => "garbled",
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class, self.detail)
    }
}

impl std::error::Error for Fault {}
