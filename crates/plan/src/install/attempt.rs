//! What an operation's journal says of the installation that is going on: which attempt it is, and what the machine told of it.

use model::{Attempt, BootWay, Digest, Entry, Fact, Installing, MachineReport, Operation, RuntimeVersion, Timestamp};

/// The attempt that is going on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    pub number: u32,
    pub way: BootWay,
    pub version: RuntimeVersion,
    pub image: Digest,
}

/// The latest attempt of the operation; those before it are over.
pub(crate) fn current(operation: &Operation) -> Option<Round> {
    let Installing { round, way, version, image, .. } = operation.installing()?;
    Some(Round { number: round, way, version, image: image.clone() })
}

impl Round {
    /// How it is called outside the operation.
    pub fn attempt(&self, operation: &Operation) -> Option<Attempt> {
        let machine = operation.machine()?.clone();
        Some(Attempt { cluster: operation.cluster.clone(), machine, operation: operation.id.clone(), round: self.number })
    }

    /// What the machine told in the course of it, and when.
    pub fn reports<'a>(&self, operation: &'a Operation) -> impl DoubleEndedIterator<Item = (Timestamp, &'a MachineReport)> + use<'a> {
        let number = self.number;
        operation.journal.iter().filter_map(move |entry| match &entry.fact {
            Fact::Reported { round, report } if *round == number => Some((entry.at, report)),
            _ => None,
        })
    }

    pub fn has_exchanged(&self, operation: &Operation) -> bool {
        self.exchanged(operation).is_some()
    }

    /// What tells the agent that has traded the token from every other.
    pub fn exchanged<'a>(&self, operation: &'a Operation) -> Option<&'a Digest> {
        self.reports(operation).find_map(|(_, report)| if let MachineReport::Exchange { nonce } = report { Some(nonce) } else { None })
    }

    /// Whether the agent has told what it found in the machine.
    pub fn is_inventoried(&self, operation: &Operation) -> bool {
        operation.journal.iter().any(|entry| matches!(entry.fact, Fact::Inventoried { round, .. } if round == self.number))
    }

    pub fn has_phoned_home(&self, operation: &Operation) -> bool {
        self.reports(operation).any(|(_, report)| matches!(report, MachineReport::PhonedHome { .. }))
    }

    /// The digest of what was written, as the agent read it back.
    pub fn written<'a>(&self, operation: &'a Operation) -> Option<&'a Digest> {
        self.reports(operation).find_map(|(_, report)| if let MachineReport::Written { digest } = report { Some(digest) } else { None })
    }

    /// How much of the image is written, as far as the agent has told, and when it did.
    pub fn percent(&self, operation: &Operation) -> Option<(Timestamp, u8)> {
        let told = self.reports(operation).rev();
        told.into_iter().find_map(|(at, report)| if let MachineReport::Progress { percent } = report { Some((at, *percent)) } else { None })
    }
}

/// What the journal has gained since the step before was done, or the present attempt began, or was given up: all of it belongs to the step that
/// the operation is in.
pub(crate) fn of_step(operation: &Operation) -> &[Entry] {
    &operation.journal[mark(operation).map_or(0, |at| at + 1)..]
}

/// When the step that the operation is in began.
pub(crate) fn step_began_at(operation: &Operation) -> Timestamp {
    mark(operation).and_then(|at| operation.journal.get(at)).map_or(operation.accepted_at, |entry| entry.at)
}

fn mark(operation: &Operation) -> Option<usize> {
    let is_mark =
        |entry: &Entry| matches!(entry.fact, Fact::Seen { .. } | Fact::Skipped { .. } | Fact::Installing { .. } | Fact::CleaningUp { .. });
    operation.journal.iter().rposition(is_mark)
}
