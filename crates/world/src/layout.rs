//! Which machines a site has, where they stand, and what each is for.
//!
//! Everything here follows from the site's name, its size or its description, and its seed; nothing changes while the
//! site runs.

use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use crate::clusters::ClusterName;
use crate::random::{Random, hash_text};

/// A rack's slots are numbered from 1, bottom up, and the last octet of an address is the slot.
const MACHINES_PER_RACK_MAX: u32 = 250;

/// Addresses keep one octet for the rack within its block of 256.
const RACKS_MAX: u32 = 4_096;

/// What a machine does for the undercloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Role {
    /// Runs the Kubernetes control plane and votes in its etcd.
    ControlPlane,
    /// Waits, powered off and without an operating system, to replace a control-plane machine.
    SpareControlPlane,
    Management,
    Compute,
}

/// Whose BMC a machine's imitates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Vendor {
    Dell,
    Hpe,
    Lenovo,
    Supermicro,
}

/// One server as the site's cabling plan lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineSpec {
    pub name: String,
    /// Racks are counted from 1, in the order of the plan.
    pub rack: u32,
    pub rack_name: String,
    pub slot: u32,
    pub role: Role,
    pub vendor: Vendor,
    pub model: &'static str,
    pub serial_number: String,
    pub uuid: String,
    pub bmc_mac: String,
    pub boot_mac: String,
    pub bmc_user: String,
    pub bmc_password: String,
    /// Written into documents, never dialled.
    pub bmc_address: Ipv4Addr,
    /// Written into documents, never dialled.
    pub host_address: Ipv4Addr,
}

impl MachineSpec {
    pub fn rack_name(&self) -> &str {
        &self.rack_name
    }
}

/// One server as somebody who has such a site describes it. What is not said is made up from the seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DescribedMachine {
    pub name: String,
    pub rack: String,
    pub slot: u32,
    pub role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<Vendor>,
    pub serial_number: String,
    pub bmc_mac: String,
    pub boot_mac: String,
}

/// The machines of a site: in rack order with control servers first, or as they were described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub site: String,
    pub racks: u32,
    pub seed: u64,
    machines: Vec<MachineSpec>,
    by_name: BTreeMap<String, usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutError {
    Racks {
        asked: u32,
    },
    MachinesPerRack {
        asked: u32,
        least: u32,
    },
    Empty,
    Twice {
        name: String,
    },
    Slot {
        name: String,
        slot: u32,
    },
    /// A node is called like its machine, and Kubernetes knows no capitals.
    Capitals {
        name: String,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::Racks { asked } => write!(f, "a site has 1 to {RACKS_MAX} racks, not {asked}"),
            LayoutError::MachinesPerRack { asked, least } => {
                write!(f, "a rack of this site has {least} to {MACHINES_PER_RACK_MAX} machines, not {asked}")
            }
            LayoutError::Empty => f.write_str("a site has at least one machine"),
            LayoutError::Twice { name } => write!(f, "`{name}` is described twice"),
            LayoutError::Slot { name, slot } => {
                write!(f, "`{name}` stands in slot {slot}, but a simulated rack has slots 1 to {MACHINES_PER_RACK_MAX}")
            }
            LayoutError::Capitals { name } => write!(f, "`{name}` has capital letters, which the name of a simulated node cannot have"),
        }
    }
}

impl std::error::Error for LayoutError {}

impl Layout {
    pub fn new(site: &str, racks: u32, machines_per_rack: u32, seed: u64) -> Result<Layout, LayoutError> {
        if racks == 0 || racks > RACKS_MAX {
            return Err(LayoutError::Racks { asked: racks });
        }
        let least = control_servers(racks) + 1;
        if machines_per_rack < least || machines_per_rack > MACHINES_PER_RACK_MAX {
            return Err(LayoutError::MachinesPerRack { asked: machines_per_rack, least });
        }
        let site_seed = seed ^ hash_text(site);
        let machines: Vec<MachineSpec> = (1..=racks)
            .flat_map(|rack| (1..=machines_per_rack).map(move |slot| (rack, slot)))
            .map(|(rack, slot)| machine(site_seed, racks, rack, slot, (rack - 1) * machines_per_rack + slot - 1))
            .collect();
        Ok(Layout::of(site, racks, seed, machines))
    }

    /// A site whose names, places, roles and identifiers are given.
    pub fn described(site: &str, seed: u64, described: &[DescribedMachine]) -> Result<Layout, LayoutError> {
        if described.is_empty() {
            return Err(LayoutError::Empty);
        }
        let site_seed = seed ^ hash_text(site);
        let mut racks: Vec<&str> = Vec::new();
        let mut machines = Vec::new();
        for (index, described) in (0..).zip(described) {
            let name = || described.name.clone();
            if machines.iter().any(|known: &MachineSpec| known.name.eq_ignore_ascii_case(&described.name)) {
                return Err(LayoutError::Twice { name: name() });
            }
            if described.slot == 0 || described.slot > MACHINES_PER_RACK_MAX {
                return Err(LayoutError::Slot { name: name(), slot: described.slot });
            }
            if described.name.contains(|letter: char| letter.is_ascii_uppercase()) {
                return Err(LayoutError::Capitals { name: name() });
            }
            let known = racks.iter().position(|rack| rack.eq_ignore_ascii_case(&described.rack));
            let rack = known.unwrap_or_else(|| {
                racks.push(&described.rack);
                racks.len() - 1
            });
            let rack = u32::try_from(rack + 1).unwrap_or(u32::MAX);
            if rack > RACKS_MAX {
                return Err(LayoutError::Racks { asked: rack });
            }
            machines.push(described_machine(site_seed, described, rack, index));
        }
        let racks = u32::try_from(racks.len()).unwrap_or(u32::MAX);
        Ok(Layout::of(site, racks, seed, machines))
    }

    fn of(site: &str, racks: u32, seed: u64, machines: Vec<MachineSpec>) -> Layout {
        let by_name = machines.iter().enumerate().map(|(index, machine)| (machine.name.clone(), index)).collect();
        Layout { site: site.to_owned(), racks, seed, machines, by_name }
    }

    pub fn machines(&self) -> &[MachineSpec] {
        &self.machines
    }

    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// What the site's own random streams are drawn from: two sites of one seed still differ.
    pub fn site_seed(&self) -> u64 {
        self.seed ^ hash_text(&self.site)
    }

    /// The bearer token that the site's Kubernetes API accepts.
    pub fn kubernetes_token(&self) -> String {
        Random::new(self.site_seed(), "kubernetes-token").text(LOWER_AND_DIGITS, 32)
    }

    /// The bearer token that the API of one of the site's clusters accepts.
    pub fn token_of(&self, cluster: &ClusterName) -> String {
        match cluster {
            ClusterName::Undercloud => self.kubernetes_token(),
            ClusterName::Tenant(name) => Random::new(self.site_seed(), &format!("kubernetes-token/{name}")).text(LOWER_AND_DIGITS, 32),
        }
    }
}

/// A single rack carries the whole control plane and so has three servers for it; otherwise each rack has two.
fn control_servers(racks: u32) -> u32 {
    if racks == 1 { 3 } else { 2 }
}

/// Where the control plane stands: the tables of rack resiliency, one per number of racks.
fn role_of(racks: u32, rack: u32, slot: u32) -> Role {
    if slot > control_servers(racks) {
        return Role::Compute;
    }
    match (racks, rack, slot) {
        (1, ..) | (2, 1, 1) | (3.., 1..=3, 1) => Role::ControlPlane,
        (2, 2, 1) | (3, 1, 2) | (4.., 4, 1) => Role::SpareControlPlane,
        _ => Role::Management,
    }
}

const LOWER_AND_DIGITS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const UPPER_AND_DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const PASSWORD: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789";

fn machine(site_seed: u64, racks: u32, rack: u32, slot: u32, index: u32) -> MachineSpec {
    let control = control_servers(racks);
    let name = if slot <= control { format!("rack{rack}control{slot:02}") } else { format!("rack{rack}compute{:02}", slot - control) };
    fitted_out(site_seed, Place { rack, rack_name: format!("rack{rack}"), slot }, name, role_of(racks, rack, slot), None, index)
}

fn described_machine(site_seed: u64, described: &DescribedMachine, rack: u32, index: u32) -> MachineSpec {
    let place = Place { rack, rack_name: described.rack.clone(), slot: described.slot };
    MachineSpec {
        serial_number: described.serial_number.clone(),
        bmc_mac: described.bmc_mac.clone(),
        boot_mac: described.boot_mac.clone(),
        ..fitted_out(site_seed, place, described.name.clone(), described.role, described.vendor, index)
    }
}

struct Place {
    rack: u32,
    rack_name: String,
    slot: u32,
}

/// Racks are bought one at a time, so a rack has one vendor and a site has several.
fn vendor_of_rack(site_seed: u64, rack: u32) -> Vendor {
    let first = Random::new(site_seed, "vendor").below(4);
    match (first + u64::from(rack)) % 4 {
        0 => Vendor::Dell,
        1 => Vendor::Hpe,
        2 => Vendor::Lenovo,
        _ => Vendor::Supermicro,
    }
}

/// A server with everything that its maker gives it.
fn fitted_out(site_seed: u64, place: Place, name: String, role: Role, vendor: Option<Vendor>, index: u32) -> MachineSpec {
    let Place { rack, rack_name, slot } = place;
    let vendor = vendor.unwrap_or_else(|| vendor_of_rack(site_seed, rack));
    let mut random = Random::new(site_seed, &name);
    // The index is part of the serial number and of the MAC addresses, so that no two machines of a site share one.
    let serial_number = format!("{}{}", random.text(UPPER_AND_DIGITS, 4), base36(index));
    let mac_base = (Random::new(site_seed, "mac").next_u64() & 0x7f_ffff) as u32;
    let mac = |port: u32| {
        let [_, a, b, c] = ((mac_base + index * 2 + port) & 0xff_ffff).to_be_bytes();
        format!("{}:{a:02X}:{b:02X}:{c:02X}", mac_prefix(vendor))
    };
    let address = |block: u32| {
        let [_, high, low, _] = ((block << 16) + ((rack - 1) << 8)).to_be_bytes();
        Ipv4Addr::new(10, high, low, slot as u8)
    };
    MachineSpec {
        rack,
        rack_name,
        slot,
        role,
        vendor,
        model: model_of(vendor, role),
        serial_number,
        uuid: random.uuid(),
        bmc_mac: mac(0),
        boot_mac: mac(1),
        bmc_user: bmc_user(vendor).to_owned(),
        bmc_password: random.text(PASSWORD, 16),
        bmc_address: address(32),
        host_address: address(64),
        name,
    }
}

/// Three characters count to 46,655, and the layout's limits are far above what one site ever has; more just grow longer.
fn base36(mut number: u32) -> String {
    let mut text = Vec::new();
    while number > 0 || text.len() < 3 {
        text.push(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(number % 36) as usize]);
        number /= 36;
    }
    text.iter().rev().map(|&byte| char::from(byte)).collect()
}

fn mac_prefix(vendor: Vendor) -> &'static str {
    match vendor {
        Vendor::Dell => "D0:8E:79",
        Vendor::Hpe => "94:40:C9",
        Vendor::Lenovo => "7C:D3:0A",
        Vendor::Supermicro => "AC:1F:6B",
    }
}

fn bmc_user(vendor: Vendor) -> &'static str {
    match vendor {
        Vendor::Dell => "root",
        Vendor::Hpe => "Administrator",
        Vendor::Lenovo => "USERID",
        Vendor::Supermicro => "ADMIN",
    }
}

fn model_of(vendor: Vendor, role: Role) -> &'static str {
    match (vendor, role) {
        (Vendor::Dell, Role::Compute) => "PowerEdge R750",
        (Vendor::Dell, _) => "PowerEdge R650",
        (Vendor::Hpe, Role::Compute) => "ProLiant DL380 Gen11",
        (Vendor::Hpe, _) => "ProLiant DL360 Gen11",
        (Vendor::Lenovo, Role::Compute) => "ThinkSystem SR650 V3",
        (Vendor::Lenovo, _) => "ThinkSystem SR630 V3",
        (Vendor::Supermicro, Role::Compute) => "SYS-621C-TN12R",
        (Vendor::Supermicro, _) => "SYS-611C-TN4R",
    }
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
