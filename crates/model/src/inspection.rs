//! What a BMC tells of its machine's hardware, in words that no vendor owns. A part that it does not offer is not the same as a
//! part that could not be read, and neither is an empty list.

use crate::fault::Fault;

/// A part of an inspection: told, not offered by this BMC, or not readable this time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told<T> {
    Told(T),
    NotOffered,
    Unread(Fault),
}

impl<T> Told<T> {
    pub fn told(&self) -> Option<&T> {
        if let Told::Told(value) = self { Some(value) } else { None }
    }
}

/// Everything that hardware validation compares, of one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    pub system: SystemSeen,
    pub drives: Told<Vec<DriveSeen>>,
    pub ports: Told<Vec<PortSeen>>,
    pub sensors: Told<Vec<SensorSeen>>,
    /// The BMC's own log: what it calls critical or a warning, the latest first.
    pub alarms: Told<Vec<AlarmSeen>>,
    pub log: LogSeen,
    pub firmware: Told<Vec<FirmwareSeen>>,
    pub boot: Told<BootDeviceSeen>,
    pub license: Told<LicenseSeen>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemSeen {
    pub model: Option<String>,
    pub serial_number: Option<String>,
    pub bmc_mac: Option<String>,
    pub memory_gib: Option<u64>,
    pub sockets: Option<u64>,
    pub health: Option<PartHealth>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartHealth {
    Ok,
    Warning,
    Critical,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveSeen {
    /// Counts from 0, in the order that the BMC lists bays.
    pub bay: u32,
    pub name: String,
    pub capacity_gb: Option<u64>,
    /// `SSD`, `HDD`.
    pub kind: Option<String>,
    pub serial: Option<String>,
    pub health: Option<PartHealth>,
    pub failure_predicted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSeen {
    pub name: String,
    /// In lower case with colons.
    pub mac: Option<String>,
    pub is_up: Option<bool>,
    pub health: Option<PartHealth>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SensorSeen {
    pub name: String,
    pub kind: SensorKind,
    /// `Enabled`, `Absent`, …
    pub state: Option<String>,
    pub health: Option<PartHealth>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensorKind {
    Fan,
    Temperature,
    /// A power supply: one of two may fail without harm, so it only warns.
    PowerSupply,
    Processor,
    Memory,
    Controller,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlarmSeen {
    pub health: PartHealth,
    pub message: String,
    pub created: Option<String>,
}

/// How far what was told of alarms can be relied on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSeen {
    /// What the BMC's own clock read: alarms are as old as that says.
    pub clock: Option<String>,
    /// How many entries, or pages of them, there are that could not be read.
    pub unread: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirmwareSeen {
    pub name: String,
    pub version: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BootDeviceSeen {
    pub device: Option<String>,
    pub is_enabled: Option<bool>,
    /// The port that it boots over the network from.
    pub pxe_port: Option<String>,
    pub is_pxe_enabled: Option<bool>,
}

/// The license of the BMC, where it needs one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LicenseSeen {
    pub name: String,
    pub is_trial: bool,
}
