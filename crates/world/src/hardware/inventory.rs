//! The parts that a machine was built from. They follow from the site's seed, so they are computed when somebody looks
//! and take no memory while nobody does. What was exchanged since is in `parts.rs`.

use super::parts::Part;
use crate::layout::{MachineSpec, Role};
use crate::random::Random;

/// Ports beyond the boot port have the prefixes of a network card's maker; the rest of the address is the boot port's,
/// which no two machines of a site share.
const CARD_PREFIXES: [&str; 3] = ["B8:CE:F6", "B8:CE:F7", "B8:CE:F8"];

/// Bays 0 and 1 carry the operating system; data begins behind them.
pub const OS_BAYS: [u32; 2] = [0, 1];

const DIMM_MIB: u32 = 32 * 1_024;

const UPPER_AND_DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Processor {
    /// Counts from 1, as the print on the board does.
    pub socket: u32,
    pub model: &'static str,
    pub cores: u32,
    pub max_mhz: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimm {
    /// Counts from 1.
    pub slot: u32,
    /// The socket of the processor it hangs on.
    pub socket: u32,
    pub serial_number: String,
    pub mib: u32,
    pub mhz: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    Up,
    Down,
}

/// A port of a network card, as the host sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nic {
    /// Counts from 1; the machine boots from port 1.
    pub port: u32,
    pub mac: String,
    pub mbps: u32,
    pub link: Link,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveProtocol {
    Sata,
    Sas,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drive {
    /// Counts from 0.
    pub bay: u32,
    pub model: &'static str,
    pub serial_number: String,
    /// A World Wide Name in NAA form: 16 hexadecimal digits.
    pub wwn: String,
    pub bytes: u64,
    pub protocol: DriveProtocol,
}

/// Everything that a machine was built from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inventory {
    pub processors: Vec<Processor>,
    pub dimms: Vec<Dimm>,
    pub nics: Vec<Nic>,
    pub drives: Vec<Drive>,
    /// Of the RAID controller.
    pub controller_serial_number: String,
}

impl Inventory {
    pub(crate) fn of(spec: &MachineSpec, site_seed: u64) -> Inventory {
        Inventory::drawn(spec, &mut Random::new(site_seed, &format!("inventory/{}", spec.name)))
    }

    fn drawn(spec: &MachineSpec, random: &mut Random) -> Inventory {
        Inventory {
            processors: processors(spec.role),
            dimms: dimms(spec.role, random),
            nics: nics(&spec.boot_mac),
            drives: (0..drive_count(spec.role)).map(|bay| drive(spec, bay, random)).collect(),
            controller_serial_number: format!("{}{}", random.text(UPPER_AND_DIGITS, 6), spec.serial_number),
        }
    }

    /// The parts as they were before, with the numbers of a part that was exchanged so often.
    pub(crate) fn of_exchange(spec: &MachineSpec, site_seed: u64, part: Part, times: u32) -> Inventory {
        let mut random = Random::new(site_seed, &format!("exchange/{}/{}/{times}", spec.name, part.as_str()));
        Inventory::drawn(spec, &mut random)
    }

    /// The machine boots from port 1, and the others have the same number behind their maker's.
    pub(crate) fn set_boot_mac(&mut self, boot_mac: &str) {
        for (nic, new) in self.nics.iter_mut().zip(nics(boot_mac)) {
            nic.mac = new.mac;
        }
    }

    /// The cores of all processors together, without building the whole inventory.
    pub fn cores_of(role: Role) -> u32 {
        processors(role).iter().map(|processor| processor.cores).sum()
    }

    /// The memory of all modules but some together, without building the whole inventory.
    pub(crate) fn memory_gib_without(role: Role, missing: u32) -> u32 {
        dimm_count(role).saturating_sub(missing) * DIMM_MIB / 1_024
    }
}

/// Two disks for the operating system, and pairs for data: workers hold more of it than control servers.
pub(crate) fn drive_count(role: Role) -> u32 {
    if role == Role::Compute { 6 } else { 4 }
}

fn processors(role: Role) -> Vec<Processor> {
    let (model, cores, max_mhz) =
        if role == Role::Compute { ("Intel(R) Xeon(R) Platinum 8468", 48, 3_800) } else { ("Intel(R) Xeon(R) Gold 6430", 32, 3_400) };
    (1..=2).map(|socket| Processor { socket, model, cores, max_mhz }).collect()
}

fn dimm_count(role: Role) -> u32 {
    if role == Role::Compute { 16 } else { 8 }
}

fn dimms(role: Role, random: &mut Random) -> Vec<Dimm> {
    let count = dimm_count(role);
    (1..=count)
        .map(|slot| Dimm {
            slot,
            socket: if slot <= count / 2 { 1 } else { 2 },
            serial_number: format!("{:08X}", random.next_u64() as u32),
            mib: DIMM_MIB,
            mhz: 4_800,
        })
        .collect()
}

fn nics(boot_mac: &str) -> Vec<Nic> {
    let own = boot_mac.get(8..).unwrap_or_default();
    let first = Nic { port: 1, mac: boot_mac.to_owned(), mbps: 25_000, link: Link::Up };
    let others = CARD_PREFIXES.iter().zip(2..).map(|(prefix, port)| Nic {
        port,
        mac: format!("{prefix}{own}"),
        mbps: 25_000,
        // The last port of each machine is not cabled.
        link: if port == 4 { Link::Down } else { Link::Up },
    });
    std::iter::once(first).chain(others).collect()
}

fn drive(spec: &MachineSpec, bay: u32, random: &mut Random) -> Drive {
    let (model, bytes, protocol) = match (OS_BAYS.contains(&bay), spec.role) {
        (true, _) => ("MTFDDAK480TGA", 480_103_981_056, DriveProtocol::Sata),
        (false, Role::Compute) => ("KPM7XRUG3T84", 3_840_755_982_336, DriveProtocol::Sas),
        (false, _) => ("KPM7XRUG1T92", 1_920_383_410_176, DriveProtocol::Sas),
    };
    // The machine's own serial number inside keeps the drives of a site apart.
    let serial_number = format!("{}{}{bay}", random.text(UPPER_AND_DIGITS, 4), spec.serial_number);
    Drive { bay, model, serial_number, wwn: format!("5{:015x}", random.next_u64() >> 4), bytes, protocol }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::layout::Layout;

    #[test]
    fn the_same_machine_always_has_the_same_parts_and_boots_from_its_first_port() {
        let layout = Layout::new("east", 4, 4, 1).unwrap();
        for spec in layout.machines() {
            let inventory = Inventory::of(spec, layout.site_seed());
            assert_eq!(inventory, Inventory::of(spec, layout.site_seed()));
            assert_eq!(inventory.nics[0].mac, spec.boot_mac);
            let (cores, gib) = if spec.role == Role::Compute { (96, 512) } else { (64, 256) };
            assert_eq!((Inventory::cores_of(spec.role), inventory.processors.iter().map(|one| one.cores).sum::<u32>()), (cores, cores));
            assert_eq!(
                (Inventory::memory_gib_without(spec.role, 0), inventory.dimms.iter().map(|one| one.mib).sum::<u32>() / 1_024),
                (gib, gib)
            );
        }
    }

    #[test]
    fn no_two_drives_and_no_two_ports_of_a_site_are_the_same() {
        let layout = Layout::new("east", 10, 20, 1).unwrap();
        let parts: Vec<Inventory> = layout.machines().iter().map(|spec| Inventory::of(spec, layout.site_seed())).collect();
        let drives = parts.iter().flat_map(|part| &part.drives);
        let count = drives.clone().count();
        assert_eq!(drives.clone().map(|drive| &drive.serial_number).collect::<BTreeSet<_>>().len(), count);
        assert_eq!(drives.map(|drive| &drive.wwn).collect::<BTreeSet<_>>().len(), count);
        let macs: BTreeSet<&String> = parts.iter().flat_map(|part| &part.nics).map(|nic| &nic.mac).collect();
        assert_eq!(macs.len(), 200 * 4);
    }
}
