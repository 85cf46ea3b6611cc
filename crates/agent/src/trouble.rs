//! Why an installation ends before it is done.

use std::fmt;

use serde::Serialize;

/// Longest detail of a failure, in characters: a report has to fit into the control plane's limit.
const DETAIL_MAX: usize = 1_500;

/// Why an agent gives up, in the words of the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Trouble {
    WrongDigest,
    ImageUnreachable,
    MissingDisk,
    DiskFailed,
    SeedFailed,
    /// Two disks answer to the identity.
    AmbiguousDisk,
    DiskTooSmall,
    /// The image is longer or shorter than said, or is not what it is said to be.
    ImageMisfit,
    /// The image has no place for the first-boot configuration.
    Unconfigurable,
}

/// A trouble, and the particulars that tell an operator what to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub trouble: Trouble,
    pub detail: String,
}

/// What ends an installation early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The control plane has ended the attempt: nothing more is to be written or told.
    Over { status: u16 },
    /// Something is wrong here, and the control plane is told.
    Failed(Failure),
}

impl Failure {
    pub fn new(trouble: Trouble, detail: impl Into<String>) -> Failure {
        let detail: String = detail.into();
        let detail = if detail.chars().count() > DETAIL_MAX { detail.chars().take(DETAIL_MAX).chain(['…']).collect() } else { detail };
        Failure { trouble, detail }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.trouble, self.detail)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Failed(failure)
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Over { status } => write!(f, "the attempt is over: the control plane answered {status}"),
            Stop::Failed(failure) => failure.fmt(f),
        }
    }
}
