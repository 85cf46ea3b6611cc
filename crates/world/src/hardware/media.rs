//! Virtual media: images that the BMC shows to its host as if somebody had put them into a drive.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The drives that a BMC pretends to have. The vendors name them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum MediaSlot {
    Cd,
    Usb,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MediaWrites {
    Protected,
    Allowed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsertedMedia {
    /// The URL of the image.
    pub image: String,
    pub writes: MediaWrites,
    /// Who the image's server is told that we are.
    pub user: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    slots: BTreeMap<MediaSlot, InsertedMedia>,
}

impl Media {
    pub fn inserted(&self, slot: MediaSlot) -> Option<&InsertedMedia> {
        self.slots.get(&slot)
    }

    /// Says no while another image is in the slot: it has to be ejected first.
    pub(crate) fn insert(&mut self, slot: MediaSlot, media: InsertedMedia) -> Result<(), SlotOccupied> {
        if self.slots.contains_key(&slot) {
            return Err(SlotOccupied);
        }
        self.slots.insert(slot, media);
        Ok(())
    }

    pub(crate) fn eject(&mut self, slot: MediaSlot) -> Option<InsertedMedia> {
        self.slots.remove(&slot)
    }
}

/// Another image is in the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotOccupied;
