//! The RAID controller's volumes: which drives form one, what fits, and what is on it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::inventory::{Drive, OS_BAYS, drive_count};
use crate::layout::Role;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Contents {
    Nothing,
    OperatingSystem,
    Data,
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
}

impl Volumes {
    /// A mirror for the operating system, and the data drives mirrored in pairs.
    pub(crate) fn factory(role: Role) -> Volumes {
        // A spare was racked and never installed.
        let (system, data) = match role {
            Role::SpareControlPlane => (Contents::Nothing, Contents::Nothing),
            _ => (Contents::OperatingSystem, Contents::Data),
        };
        let mut volumes = Volumes { list: Vec::new(), made: 0 };
        volumes.add(NewVolume { name: "OS".to_owned(), level: RaidLevel::Raid1, bays: OS_BAYS.to_vec() }, system);
        for first in (OS_BAYS.len() as u32..drive_count(role)).step_by(2) {
            let name = format!("Data{}", first / 2);
            volumes.add(NewVolume { name, level: RaidLevel::Raid1, bays: vec![first, first + 1] }, data);
        }
        volumes
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
        self.list.push(Volume { number: self.made, name, level, bays, contents });
        self.made
    }

    /// Deletes a volume and tells what was on it.
    pub(crate) fn remove(&mut self, number: u32) -> Option<Contents> {
        let position = self.list.iter().position(|volume| volume.number == number)?;
        Some(self.list.remove(position).contents)
    }

    pub(crate) fn clear(&mut self) -> Vec<Contents> {
        self.list.drain(..).map(|volume| volume.contents).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::inventory::Inventory;
    use crate::layout::Layout;

    #[test]
    fn a_volume_needs_free_drives_in_the_right_number() {
        let layout = Layout::new("east", 4, 4, 1).unwrap();
        let spec = &layout.machines()[2];
        let drives = Inventory::of(spec, layout.site_seed()).drives;
        let mut volumes = Volumes::factory(spec.role);
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
}
