//! What a person chooses about a simulated site.

use serde::{Deserialize, Serialize};
use std::fmt;
use world::{DescribedMachine, Layout, LayoutError, Pace, Role, Tenancy};

/// A site to make or to go on with. All but the pace and the tenants must stay the same over its life.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteSpec {
    pub name: String,
    pub racks: u32,
    pub machines_per_rack: u32,
    /// The machines, if somebody described them. Then the numbers of racks and machines follow from them.
    pub described: Vec<DescribedMachine>,
    pub seed: u64,
    pub pace: Pace,
    /// What tenants have when the site is made. A site that goes on has what it has.
    pub tenancy: Tenancy,
}

impl SiteSpec {
    /// A site at the pace of real servers.
    pub fn new(name: impl Into<String>, racks: u32, machines_per_rack: u32, seed: u64) -> SiteSpec {
        SiteSpec { name: name.into(), racks, machines_per_rack, described: Vec::new(), seed, pace: Pace::REAL, tenancy: Tenancy::default() }
    }

    /// A site of the machines that somebody describes, at the pace of real servers.
    pub fn described(name: impl Into<String>, described: Vec<DescribedMachine>, seed: u64) -> SiteSpec {
        SiteSpec { name: name.into(), racks: 0, machines_per_rack: 0, described, seed, pace: Pace::REAL, tenancy: Tenancy::default() }
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

    #[must_use]
    pub fn with_tenancy(mut self, tenancy: Tenancy) -> SiteSpec {
        self.tenancy = tenancy;
        self
    }

    pub(crate) fn layout(&self) -> Result<Layout, LayoutError> {
        if self.is_described() {
            return Layout::described(&self.name, self.seed, &self.described);
        }
        Layout::new(&self.name, self.racks, self.machines_per_rack, self.seed)
    }

    fn is_described(&self) -> bool {
        self.racks == 0 && self.machines_per_rack == 0
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape { racks: self.racks, machines_per_rack: self.machines_per_rack, seed: self.seed, described: self.described.clone() }
    }
}

/// What a saved site must agree with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    racks: u32,
    machines_per_rack: u32,
    seed: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    described: Vec<DescribedMachine>,
}

impl Shape {
    /// This shape in words that tell it from `other`: of two descriptions, the first machine in which they differ.
    pub fn told_from(&self, other: &Shape) -> String {
        if self.seed != other.seed || self.described.is_empty() || other.described.is_empty() {
            return self.to_string();
        }
        let of = |shape: &Shape, name: &str| shape.described.iter().find(|machine| machine.name == name).cloned();
        let names = self.described.iter().chain(&other.described).map(|machine| machine.name.as_str());
        for name in names {
            let own = of(self, name);
            if own != of(other, name) {
                return own.map_or_else(|| format!("a description without `{name}`"), |machine| in_words(&machine));
            }
        }
        format!("{self} in another order")
    }
}

fn in_words(machine: &DescribedMachine) -> String {
    let DescribedMachine { name, rack, slot, role, vendor, serial_number, bmc_mac, boot_mac } = machine;
    let role = match role {
        Role::ControlPlane => "control plane",
        Role::SpareControlPlane => "spare",
        Role::Management => "management",
        Role::Compute => "compute",
    };
    let vendor = vendor.map_or_else(String::new, |vendor| format!("{vendor:?} "));
    format!("`{name}` as {vendor}{role} in {rack} slot {slot}, serial number {serial_number}, MACs {bmc_mac} and {boot_mac}")
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.described.len() {
            0 => write!(f, "{} racks of {} machines and seed {}", self.racks, self.machines_per_rack, self.seed),
            machines => write!(f, "a description of {machines} machines and seed {}", self.seed),
        }
    }
}
