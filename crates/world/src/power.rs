//! The words in which a BMC tells of power and is asked to change it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The values of Redfish's `PowerState` that these BMCs report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PowerState {
    On,
    Off,
    PoweringOn,
    PoweringOff,
}

impl PowerState {
    pub fn as_str(self) -> &'static str {
        match self {
            PowerState::On => "On",
            PowerState::Off => "Off",
            PowerState::PoweringOn => "PoweringOn",
            PowerState::PoweringOff => "PoweringOff",
        }
    }
}

/// The values of Redfish's `ResetType` that these BMCs take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResetType {
    On,
    ForceOff,
    GracefulShutdown,
    GracefulRestart,
    ForceRestart,
    PowerCycle,
}

impl ResetType {
    pub const ALL: [ResetType; 6] = [
        ResetType::On,
        ResetType::ForceOff,
        ResetType::GracefulShutdown,
        ResetType::GracefulRestart,
        ResetType::ForceRestart,
        ResetType::PowerCycle,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            ResetType::On => "On",
            ResetType::ForceOff => "ForceOff",
            ResetType::GracefulShutdown => "GracefulShutdown",
            ResetType::GracefulRestart => "GracefulRestart",
            ResetType::ForceRestart => "ForceRestart",
            ResetType::PowerCycle => "PowerCycle",
        }
    }
}

impl fmt::Display for ResetType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ResetType {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        ResetType::ALL.into_iter().find(|reset| reset.as_str() == text).ok_or(())
    }
}

/// What a BMC says to a reset it understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetAnswer {
    Accepted,
    /// The BMC says yes and nothing happens: it is there already, or there is no operating system to listen.
    Ignored,
    /// Power is on its way somewhere else.
    InTransition,
    /// There is nothing running to restart.
    NotOn,
}

impl ResetAnswer {
    /// The HTTP status that the BMC answers and writes into its log.
    pub fn status(self) -> u16 {
        match self {
            ResetAnswer::Accepted | ResetAnswer::Ignored => 204,
            ResetAnswer::InTransition | ResetAnswer::NotOn => 409,
        }
    }
}
