//! What an agent finds in its machine: the parts that the host is shown, and which of its disks is meant by what somebody calls one.

use serde::Serialize;

use super::stage::{Choice, Trouble};
use super::{AgentTrouble, Session, WantedDisk};
use crate::fault::FaultKind;
use crate::hardware::{HostDisk, Inventory, Link, Volumes};
use crate::site::World;

/// What an agent tells of its machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundParts {
    pub disks: Vec<FoundDisk>,
    pub nics: Vec<FoundNic>,
    pub memory_bytes: u64,
    pub cpus: FoundCpus,
    pub firmware: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundDisk {
    pub name: String,
    pub serial: String,
    pub wwn: String,
    pub model: String,
    pub bytes: u64,
    pub kind: &'static str,
    pub read_only: bool,
    pub removable: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundNic {
    pub name: String,
    pub mac: String,
    pub link: bool,
    pub mbps: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundCpus {
    pub model: &'static str,
    pub sockets: usize,
    pub cores: u32,
    pub threads: u32,
}

/// A disk as the host is shown it.
struct Shown {
    disk: HostDisk,
    /// Of a volume alone; a real host does not see it.
    volume: Option<String>,
    found: FoundDisk,
}

/// Volumes, and drives that are part of none.
fn shown(volumes: &Volumes, inventory: &Inventory) -> Vec<Shown> {
    let name = |at: usize| format!("sd{}", char::from(b'a' + u8::try_from(at % 26).unwrap_or(0)));
    let of_volumes = volumes.iter().map(|volume| {
        let wwn = volume.wwn(inventory);
        let (serial, model, bytes) = (wwn[wwn.len() - 16..].to_owned(), "VIRTUAL-DISK".to_owned(), volume.bytes(&inventory.drives));
        let found = FoundDisk { name: String::new(), serial, wwn, model, bytes, kind: "virtual", read_only: false, removable: false };
        Shown { disk: HostDisk::Volume(volume.number), volume: Some(volume.name.clone()), found }
    });
    let free = inventory.drives.iter().filter(|drive| volumes.on_bay(drive.bay).is_none());
    let of_drives = free.map(|drive| {
        let found = FoundDisk {
            name: String::new(),
            serial: drive.serial_number.clone(),
            wwn: drive.wwn.clone(),
            model: drive.model.to_owned(),
            bytes: drive.bytes,
            kind: "ssd",
            read_only: false,
            removable: false,
        };
        Shown { disk: HostDisk::Drive { bay: drive.bay }, volume: None, found }
    });
    let disks = of_volumes.chain(of_drives).enumerate();
    disks.map(|(at, shown)| Shown { found: FoundDisk { name: name(at), ..shown.found }, ..shown }).collect()
}

impl Shown {
    /// Whether it is the one that is meant. What it is called on the bus says more than a name, which may be anew what another had.
    fn is(&self, wanted: &WantedDisk) -> bool {
        let same = |wanted: &str, own: &str| wanted.eq_ignore_ascii_case(own);
        let WantedDisk { serial, wwn, volume, id } = wanted;
        match (id, wwn, serial, volume) {
            (Some(id), ..) => self.answers_to(id),
            (None, Some(wwn), ..) => same(wwn, &self.found.wwn),
            (None, None, Some(serial), _) => same(serial, &self.found.serial),
            (None, None, None, Some(volume)) => self.volume.as_ref().is_some_and(|name| same(volume, name)),
            (None, None, None, None) => false,
        }
    }

    fn answers_to(&self, id: &str) -> bool {
        [&self.found.serial, &self.found.wwn].into_iter().any(|own| own.eq_ignore_ascii_case(id))
    }
}

impl World {
    pub(super) fn found_parts(&self, index: usize) -> FoundParts {
        let (hardware, inventory) = (self.hardware(index), self.inventory(index));
        let cores = inventory.processors.iter().map(|processor| processor.cores).sum();
        let nics = inventory.nics.iter().map(|nic| FoundNic {
            name: format!("eth{}", nic.port - 1),
            mac: nic.mac.clone(),
            link: nic.link == Link::Up,
            mbps: nic.mbps,
        });
        FoundParts {
            disks: shown(&hardware.volumes, &inventory).into_iter().map(|shown| shown.found).collect(),
            nics: nics.collect(),
            memory_bytes: inventory.dimms.iter().map(|dimm| u64::from(dimm.mib) << 20).sum(),
            cpus: FoundCpus {
                model: inventory.processors.first().map_or("", |processor| processor.model),
                sockets: inventory.processors.len(),
                cores,
                threads: cores * 2,
            },
            firmware: "uefi",
        }
    }

    /// The disk that the system goes to, and those that are wiped before. Nothing is done to any of them unless all are found.
    pub(super) fn choose_disks(&self, index: usize, session: &Session) -> Result<Choice, Trouble> {
        let (hardware, inventory) = (self.hardware(index), self.inventory(index));
        let shown = shown(&hardware.volumes, &inventory);
        let wanted = &session.grant.os_disk;
        let system = if *wanted == WantedDisk::default() {
            // Whoever says nothing means the volume where the system is by custom, and never tenants' data.
            let of_system = |shown: &Shown| matches!(shown.disk, HostDisk::Volume(number) if hardware.volumes.get(number).is_some_and(|volume| volume.is_in_system_bays()));
            self.one_of(index, shown.iter().filter(|shown| of_system(shown)).collect(), "the controller shows no volume for it")?
        } else {
            self.one_of(index, shown.iter().filter(|shown| shown.is(wanted)).collect(), &missing(wanted))?
        };
        if self.faults.is_active(FaultKind::DiskSmall, index) || system.found.bytes < session.grant.image.bytes {
            let detail = format!("{} has too few bytes for the {} of the image", system.found.name, session.grant.image.bytes);
            return Err(Trouble { trouble: AgentTrouble::DiskTooSmall, detail });
        }
        let mut wipe = Vec::new();
        for id in &session.grant.wipe {
            let found: Vec<&Shown> = shown.iter().filter(|shown| shown.answers_to(id)).collect();
            let [one] = found[..] else {
                let trouble = if found.is_empty() { AgentTrouble::MissingDisk } else { AgentTrouble::AmbiguousDisk };
                return Err(Trouble { trouble, detail: format!("{} disks to wipe answer to {id}", found.len()) });
            };
            if one.disk == system.disk {
                return Err(Trouble {
                    trouble: AgentTrouble::AmbiguousDisk,
                    detail: format!("{id} is to be wiped, and the system goes there"),
                });
            }
            wipe.push(one.disk);
        }
        Ok(Choice { system: system.disk, wipe })
    }

    fn one_of<'a>(&self, index: usize, mut found: Vec<&'a Shown>, missing: &str) -> Result<&'a Shown, Trouble> {
        if self.faults.is_active(FaultKind::DiskMissing, index) {
            found.clear();
        }
        match found[..] {
            [one] if !self.faults.is_active(FaultKind::DiskTwice, index) => Ok(one),
            [] => Err(Trouble { trouble: AgentTrouble::MissingDisk, detail: missing.to_owned() }),
            [one, ..] => {
                let detail = format!("{} disks are what {} is to be known by", found.len().max(2), one.found.name);
                Err(Trouble { trouble: AgentTrouble::AmbiguousDisk, detail })
            }
        }
    }
}

fn missing(wanted: &WantedDisk) -> String {
    let WantedDisk { serial, wwn, volume, id } = wanted;
    match (id, wwn, serial, volume) {
        (Some(id), ..) => format!("no disk has serial number or WWN {id}"),
        (None, Some(wwn), _, Some(volume)) => format!("no disk has WWN {wwn}, of volume {volume}"),
        (None, Some(wwn), ..) => format!("no disk has WWN {wwn}"),
        (None, None, Some(serial), _) => format!("no disk has serial number {serial}"),
        (None, None, None, volume) => format!("no disk has volume {}", volume.as_deref().unwrap_or_default()),
    }
}
