//! Misbehaviour that the standard's schemas forbid, and that real BMCs show all the same.
//!
//! A simulated BMC shows none of it unless somebody switches it on, because the validators that others wrote would
//! rightly complain.

use std::sync::atomic::{AtomicU8, Ordering};

/// What a BMC can be told to get wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quirk {
    /// The System's links to Processors and Memory answer 404 and 501.
    DeadLinks,
    /// Instants lack their time zone and have a blank in the middle.
    MalformedDates,
    /// Capacities of memory and drives are texts with a unit.
    MalformedNumbers,
}

impl Quirk {
    pub const ALL: [Quirk; 3] = [Quirk::DeadLinks, Quirk::MalformedDates, Quirk::MalformedNumbers];

    fn bit(self) -> u8 {
        1 << (self as u8)
    }
}

/// The quirks of one BMC.
#[derive(Debug, Default)]
pub(crate) struct Quirks(AtomicU8);

impl Quirks {
    pub fn set(&self, quirks: &[Quirk]) {
        self.0.store(quirks.iter().fold(0, |bits, quirk| bits | quirk.bit()), Ordering::Relaxed);
    }

    pub fn has(&self, quirk: Quirk) -> bool {
        self.0.load(Ordering::Relaxed) & quirk.bit() != 0
    }
}
