//! What a person chooses about a simulated site.

use serde::{Deserialize, Serialize};
use std::fmt;
use world::{Layout, LayoutError, Pace};

/// A site to make or to go on with. All but the pace must stay the same over its life.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteSpec {
    pub name: String,
    pub racks: u32,
    pub machines_per_rack: u32,
    pub seed: u64,
    pub pace: Pace,
}

impl SiteSpec {
    /// A site at the pace of real servers.
    pub fn new(name: impl Into<String>, racks: u32, machines_per_rack: u32, seed: u64) -> SiteSpec {
        SiteSpec { name: name.into(), racks, machines_per_rack, seed, pace: Pace::REAL }
    }

    /// The same site, `speed` times faster than real servers.
    #[must_use]
    pub fn at_speed(mut self, speed: f64) -> SiteSpec {
        self.pace = Pace::REAL.scaled(speed);
        self
    }

    #[must_use]
    pub fn with_pace(mut self, pace: Pace) -> SiteSpec {
        self.pace = pace;
        self
    }

    pub(crate) fn layout(&self) -> Result<Layout, LayoutError> {
        Layout::new(&self.name, self.racks, self.machines_per_rack, self.seed)
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape { racks: self.racks, machines_per_rack: self.machines_per_rack, seed: self.seed }
    }
}

/// What a saved site must agree with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    racks: u32,
    machines_per_rack: u32,
    seed: u64,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} racks of {} machines and seed {}", self.racks, self.machines_per_rack, self.seed)
    }
}
