//! A site as its owner describes it: what stands where. The store's documents are made from it.

use std::collections::BTreeSet;

use crate::cluster::Home;
use crate::install_settings::InstallSettings;
use crate::join::JoinFacts;
use crate::limits::Limits;
use crate::machine::{Hardware, Role};
use crate::name::{ClusterName, MachineName, RackName};
use crate::sku::Sku;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    pub cluster: ClusterName,
    pub home: Home,
    /// The runtime version that the site runs.
    pub version: String,
    pub limits: Limits,
    pub skus: Vec<Sku>,
    /// How a new node finds the undercloud; nothing if that cannot be told.
    pub join: Option<JoinFacts>,
    pub racks: Vec<SiteRack>,
    pub machines: Vec<SiteMachine>,
    /// Machines whose login is another one than the description of before gave. It wins over what a replace brought.
    pub new_logins: BTreeSet<MachineName>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteRack {
    pub name: RackName,
    pub availability_zone: String,
    pub location: String,
    pub serial_number: String,
    pub sku: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteMachine {
    pub name: MachineName,
    pub role: Role,
    pub standing: Standing,
    pub hardware: Hardware,
    pub install: InstallSettings,
}

/// Whether a machine is in use or kept in reserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Provisioned,
    Spare,
}
