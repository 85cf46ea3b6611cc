//! KubeVirt and Cluster API in the undercloud: virtual machines, their instances, pods and disks, and tenants' clusters.
//!
//! The controllers here are watchers like any other: they look at what changed in the undercloud's objects and write what
//! follows. What a guest does, as opposed to what the API says of it, is in `guest.rs`.

pub(crate) mod capi;
mod controller;
mod disk;
mod guest;
pub(crate) mod instance;
mod instance_work;
pub(crate) mod launcher;
pub(crate) mod subresource;
mod timers;
pub(crate) mod vm;

use std::collections::{BTreeMap, BTreeSet};

pub use subresource::{VmAction, VmRefusal};

use crate::objects::ObjectKey;
use guest::Guest;
use timers::Timers;

/// The one namespace of the undercloud in which tenants' objects are.
pub const TENANT_NAMESPACE: &str = "tenants";

/// What the controllers remember beside the objects. All but the guests' first places is made anew after a restart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Virt {
    /// The version up to which the undercloud's changes were looked at.
    seen: u64,
    /// Virtual machines that something else than an object's change has happened to.
    touched: BTreeSet<ObjectKey>,
    /// Machines whose hosts came, left or lost their network since the controllers last looked.
    disturbed: BTreeSet<String>,
    timers: Timers,
    guests: BTreeMap<ObjectKey, Guest>,
    /// Where virtual machines go that were there before anybody looked, until they have been placed.
    births: BTreeMap<ObjectKey, String>,
}

impl Virt {
    /// A host came, left, or lost sight of the API.
    pub fn disturb(&mut self, machine: &str) {
        self.disturbed.insert(machine.to_owned());
    }

    /// Something has happened to a virtual machine that no object tells.
    pub fn touch(&mut self, name: &str) {
        self.touched.insert(ObjectKey::namespaced(TENANT_NAMESPACE, name));
    }

    /// Notes where a virtual machine begins its life.
    pub fn born_on(&mut self, key: ObjectKey, machine: &str) {
        self.births.insert(key, machine.to_owned());
    }

    pub fn next_at(&self) -> Option<crate::time::Instant> {
        self.timers.next_at()
    }
}

#[cfg(test)]
mod tests;
