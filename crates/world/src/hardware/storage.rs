//! The RAID controller's volumes: which drives form one, what fits, and what is on it.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::inventory::{Drive, Inventory, OS_BAYS, drive_count};
use super::system::System;
use crate::layout::{MachineSpec, Role};
use crate::random::{Random, hash_text};

/// What the operating system's volume is called as delivered.
const OS_VOLUME: &str = "OS";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RaidLevel {
    Raid0,
    Raid1,
    Raid5,
    Raid6,
    Raid10,
}

impl RaidLevel {
    pub const ALL: [RaidLevel; 5] = [RaidLevel::Raid0, RaidLevel::Raid1, RaidLevel::Raid5, RaidLevel::Raid6, RaidLevel::Raid10];

    /// As Redfish's `RAIDType` spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            RaidLevel::Raid0 => "RAID0",
            RaidLevel::Raid1 => "RAID1",
            RaidLevel::Raid5 => "RAID5",
            RaidLevel::Raid6 => "RAID6",
            RaidLevel::Raid10 => "RAID10",
        }
    }

    fn takes(self, drives: usize) -> bool {
        match self {
            RaidLevel::Raid0 => drives >= 1,
            RaidLevel::Raid1 => drives == 2,
            RaidLevel::Raid5 => drives >= 3,
            RaidLevel::Raid6 => drives >= 4,
            RaidLevel::Raid10 => drives >= 4 && drives.is_multiple_of(2),
        }
    }

    /// How many drives' worth of data `drives` drives hold.
    fn worth(self, drives: u64) -> u64 {
        match self {
            RaidLevel::Raid0 => drives,
            RaidLevel::Raid1 | RaidLevel::Raid10 => drives / 2,
            RaidLevel::Raid5 => drives.saturating_sub(1),
            RaidLevel::Raid6 => drives.saturating_sub(2),
        }
    }
}

impl FromStr for RaidLevel {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        RaidLevel::ALL.into_iter().find(|level| level.as_str() == text).ok_or(())
    }
}

/// What is on a volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SavedContents")]
pub enum Contents {
    Nothing,
    System(Box<System>),
    /// What tenants keep there. Whatever else is written to the volume takes the place of it.
    Data {
        digest: String,
    },
}

impl Contents {
    /// What tells one content from another.
    pub fn digest(&self) -> String {
        match self {
            Contents::Nothing => "nothing".to_owned(),
            Contents::System(system) => format!("system {}", system.image.as_deref().unwrap_or("as delivered")),
            Contents::Data { digest } => format!("data {digest}"),
        }
    }
}

/// Contents as they were ever saved: once only their kind was.
#[derive(Deserialize)]
#[serde(untagged)]
enum SavedContents {
    Kind(SavedKind),
    Whole(WholeContents),
}

#[derive(Deserialize)]
enum SavedKind {
    Nothing,
    OperatingSystem,
    Data,
}

#[derive(Deserialize)]
enum WholeContents {
    System(Box<System>),
    Data { digest: String },
}

impl From<SavedContents> for Contents {
    fn from(saved: SavedContents) -> Contents {
        match saved {
            SavedContents::Kind(SavedKind::Nothing) => Contents::Nothing,
            SavedContents::Kind(SavedKind::OperatingSystem) => Contents::System(Box::new(System::delivered())),
            SavedContents::Kind(SavedKind::Data) => Contents::Data { digest: "unknown".to_owned() },
            SavedContents::Whole(WholeContents::System(system)) => Contents::System(system),
            SavedContents::Whole(WholeContents::Data { digest }) => Contents::Data { digest },
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// Never used twice on one machine.
    pub number: u32,
    pub name: String,
    pub level: RaidLevel,
    pub bays: Vec<u32>,
    pub contents: Contents,
}

impl Volume {
    /// A World Wide Name in NAA form, by which the host knows the volume.
    pub fn wwn(&self, inventory: &Inventory) -> String {
        let name = hash_text(&format!("{}/{}", inventory.controller_serial_number, self.number));
        format!("6{:015x}{name:016x}", name >> 4)
    }

    /// Whether it is made of the drives that carry the operating system.
    pub(crate) fn is_in_system_bays(&self) -> bool {
        self.bays.iter().all(|bay| OS_BAYS.contains(bay))
    }

    /// As much as the smallest of its drives allows.
    pub fn bytes(&self, drives: &[Drive]) -> u64 {
        let own = drives.iter().filter(|drive| self.bays.contains(&drive.bay));
        own.map(|drive| drive.bytes).min().unwrap_or(0) * self.level.worth(self.bays.len() as u64)
    }
}

/// A volume that somebody wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewVolume {
    pub name: String,
    pub level: RaidLevel,
    pub bays: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumeRefusal {
    /// The controller does one thing at a time.
    Busy,
    NoSuchDrive {
        bay: u32,
    },
    DriveInUse {
        bay: u32,
    },
    DriveCount {
        level: RaidLevel,
        drives: usize,
    },
    NoSuchVolume {
        number: u32,
    },
}

impl fmt::Display for VolumeRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VolumeRefusal::Busy => f.write_str("the storage controller is busy with another task"),
            VolumeRefusal::NoSuchDrive { bay } => write!(f, "there is no drive in bay {bay}"),
            VolumeRefusal::DriveInUse { bay } => write!(f, "the drive in bay {bay} belongs to a volume"),
            VolumeRefusal::DriveCount { level, drives } => write!(f, "{} cannot be made of {drives} drives", level.as_str()),
            VolumeRefusal::NoSuchVolume { number } => write!(f, "there is no volume {number}"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volumes {
    list: Vec<Volume>,
    made: u32,
    /// By bay: what was written to drives that belong to no volume, which the host is shown as they are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    on_drives: BTreeMap<u32, Contents>,
}

/// What the host is shown as one disk. A volume is saved by its number alone, as it was before drives were shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum HostDisk {
    Volume(u32),
    Drive { bay: u32 },
}

impl Volumes {
    /// A mirror for the operating system, and the data drives mirrored in pairs.
    pub(crate) fn factory(spec: &MachineSpec, site_seed: u64) -> Volumes {
        // A spare was racked and never installed.
        let is_spare = spec.role == Role::SpareControlPlane;
        let system = if is_spare { Contents::Nothing } else { Contents::System(Box::new(System::delivered())) };
        let mut volumes = Volumes { list: Vec::new(), made: 0, on_drives: BTreeMap::new() };
        volumes.add(NewVolume { name: OS_VOLUME.to_owned(), level: RaidLevel::Raid1, bays: OS_BAYS.to_vec() }, system);
        let mut random = Random::new(site_seed, &format!("tenant-data/{}", spec.name));
        for first in (OS_BAYS.len() as u32..drive_count(spec.role)).step_by(2) {
            let name = format!("Data{}", first / 2);
            let digest = format!("{:016x}", random.next_u64());
            let data = if is_spare { Contents::Nothing } else { Contents::Data { digest } };
            volumes.add(NewVolume { name, level: RaidLevel::Raid1, bays: vec![first, first + 1] }, data);
        }
        volumes
    }

    /// What the machine starts from: the first volume, or else drive, with something to start.
    pub fn system(&self) -> Option<&System> {
        self.list.iter().map(|volume| &volume.contents).chain(self.on_drives.values()).find_map(|contents| match contents {
            Contents::System(system) if system.is_bootable() => Some(&**system),
            _ => None,
        })
    }

    pub(crate) fn system_mut(&mut self) -> Option<&mut System> {
        let on_volumes = self.list.iter_mut().map(|volume| &mut volume.contents);
        on_volumes.chain(self.on_drives.values_mut()).find_map(|contents| match contents {
            Contents::System(system) if system.is_bootable() => Some(&mut **system),
            _ => None,
        })
    }

    /// Writes something over whatever was on a disk.
    pub(crate) fn write(&mut self, disk: HostDisk, contents: Contents) {
        match disk {
            HostDisk::Volume(number) => {
                if let Some(volume) = self.list.iter_mut().find(|volume| volume.number == number) {
                    volume.contents = contents;
                }
            }
            HostDisk::Drive { bay } => drop(self.on_drives.insert(bay, contents)),
        }
    }

    /// What tells the contents of each disk apart.
    pub(crate) fn digests(&self) -> Vec<(String, String)> {
        let volumes = self.list.iter().map(|volume| (volume.name.clone(), volume.contents.digest()));
        let drives = self.on_drives.iter().map(|(bay, contents)| (format!("drive {bay}"), contents.digest()));
        volumes.chain(drives).collect()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Volume> {
        self.list.iter()
    }

    pub fn get(&self, number: u32) -> Option<&Volume> {
        self.list.iter().find(|volume| volume.number == number)
    }

    /// The volume that a drive belongs to.
    pub fn on_bay(&self, bay: u32) -> Option<&Volume> {
        self.list.iter().find(|volume| volume.bays.contains(&bay))
    }

    pub(crate) fn check(&self, wanted: &NewVolume, drives: &[Drive]) -> Result<(), VolumeRefusal> {
        for (position, bay) in wanted.bays.iter().copied().enumerate() {
            if !drives.iter().any(|drive| drive.bay == bay) {
                return Err(VolumeRefusal::NoSuchDrive { bay });
            }
            if self.on_bay(bay).is_some() || wanted.bays[..position].contains(&bay) {
                return Err(VolumeRefusal::DriveInUse { bay });
            }
        }
        let drives = wanted.bays.len();
        if wanted.level.takes(drives) { Ok(()) } else { Err(VolumeRefusal::DriveCount { level: wanted.level, drives }) }
    }

    pub(crate) fn add(&mut self, wanted: NewVolume, contents: Contents) -> u32 {
        self.made += 1;
        let NewVolume { name, level, bays } = wanted;
        self.on_drives.retain(|bay, _| !bays.contains(bay));
        self.list.push(Volume { number: self.made, name, level, bays, contents });
        self.made
    }

    /// Deletes a volume with what is on it.
    pub(crate) fn remove(&mut self, number: u32) {
        self.list.retain(|volume| volume.number != number);
    }

    /// Back to bare drives.
    pub(crate) fn clear(&mut self) {
        self.on_drives.clear();
        self.list.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;

    #[test]
    fn a_volume_needs_free_drives_in_the_right_number() {
        let layout = Layout::new("east", 4, 4, 1).unwrap();
        let spec = &layout.machines()[2];
        let drives = Inventory::of(spec, layout.site_seed()).drives;
        let mut volumes = Volumes::factory(spec, layout.site_seed());
        let wanted = |level, bays: &[u32]| NewVolume { name: "x".to_owned(), level, bays: bays.to_vec() };
        assert_eq!(volumes.check(&wanted(RaidLevel::Raid1, &[2, 3]), &drives), Err(VolumeRefusal::DriveInUse { bay: 2 }));
        volumes.clear();
        assert_eq!(volumes.check(&wanted(RaidLevel::Raid1, &[2, 9]), &drives), Err(VolumeRefusal::NoSuchDrive { bay: 9 }));
        assert_eq!(volumes.check(&wanted(RaidLevel::Raid1, &[2, 2]), &drives), Err(VolumeRefusal::DriveInUse { bay: 2 }));
        let few = VolumeRefusal::DriveCount { level: RaidLevel::Raid5, drives: 2 };
        assert_eq!(volumes.check(&wanted(RaidLevel::Raid5, &[2, 3]), &drives), Err(few));
        assert_eq!(volumes.check(&wanted(RaidLevel::Raid5, &[2, 3, 4]), &drives), Ok(()));
        let number = volumes.add(wanted(RaidLevel::Raid5, &[2, 3, 4]), Contents::Nothing);
        assert_eq!(volumes.get(number).unwrap().bytes(&drives), 2 * 3_840_755_982_336);
    }

    #[test]
    fn a_drive_without_a_volume_keeps_what_is_written_to_it_until_it_becomes_part_of_one() {
        let layout = Layout::new("east", 4, 4, 1).unwrap();
        let mut volumes = Volumes::factory(&layout.machines()[2], layout.site_seed());
        volumes.clear();
        volumes.write(HostDisk::Drive { bay: 1 }, Contents::System(Box::new(System::delivered())));
        assert!(volumes.system().is_some() && volumes.system_mut().is_some());
        assert_eq!(volumes.digests(), [("drive 1".to_owned(), "system as delivered".to_owned())]);
        let saved = serde_json::to_string(&volumes).unwrap();
        assert_eq!(serde_json::from_str::<Volumes>(&saved).unwrap(), volumes);
        volumes.add(NewVolume { name: "x".to_owned(), level: RaidLevel::Raid1, bays: vec![0, 1] }, Contents::Nothing);
        assert!(volumes.system().is_none());
        assert_eq!(serde_json::from_str::<HostDisk>("3").unwrap(), HostDisk::Volume(3), "as it was saved once");
    }

    #[test]
    fn contents_of_which_only_the_kind_was_saved_are_read_too() {
        let read = |text: &str| serde_json::from_str::<Contents>(text).unwrap();
        assert_eq!(read("\"Nothing\""), Contents::Nothing);
        assert_eq!(read("\"OperatingSystem\""), Contents::System(Box::new(System::delivered())));
        assert_eq!(read("\"Data\"").digest(), "data unknown");
        for contents in [Contents::Nothing, Contents::System(Box::new(System::delivered())), Contents::Data { digest: "1f".to_owned() }] {
            assert_eq!(read(&serde_json::to_string(&contents).unwrap()), contents);
        }
    }
}
