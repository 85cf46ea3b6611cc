//! What devices are asked on behalf of operations, and which device each ask goes to.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::observation::PowerRequest;

/// What a device can be asked on behalf of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeviceAsk {
    GracefulOff,
    ForceOff,
    PowerOn,
    Cordon,
    Uncordon,
    /// Members of the undercloud's etcd.
    LeaveEtcd,
    JoinEtcd,
    PromoteEtcd,
    /// The token by which a node joins the undercloud.
    MintJoinToken,
    DropJoinToken,
    /// Virtual media, and what the machine starts from.
    InsertMedia,
    EjectMedia,
    BootFromMedia,
    BootFromHttp,
    BootFromPxe,
    BootFromDisk,
    /// Power, in the course of an installation.
    AgentOn,
    AgentOff,
    SystemOn,
    /// The controller's volumes.
    DeleteVolume,
    MakeOsVolume,
    /// Accounts of the BMC, for users of key sets.
    WriteAccount,
    DropAccount,
}

/// Who a device ask goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Party {
    Bmc,
    /// The undercloud's Kubernetes API.
    Undercloud,
    /// The undercloud's etcd.
    Etcd,
}

impl DeviceAsk {
    pub const ALL: [DeviceAsk; 23] = [
        DeviceAsk::GracefulOff,
        DeviceAsk::ForceOff,
        DeviceAsk::PowerOn,
        DeviceAsk::Cordon,
        DeviceAsk::Uncordon,
        DeviceAsk::LeaveEtcd,
        DeviceAsk::JoinEtcd,
        DeviceAsk::PromoteEtcd,
        DeviceAsk::MintJoinToken,
        DeviceAsk::DropJoinToken,
        DeviceAsk::InsertMedia,
        DeviceAsk::EjectMedia,
        DeviceAsk::BootFromMedia,
        DeviceAsk::BootFromHttp,
        DeviceAsk::BootFromPxe,
        DeviceAsk::BootFromDisk,
        DeviceAsk::AgentOn,
        DeviceAsk::AgentOff,
        DeviceAsk::SystemOn,
        DeviceAsk::DeleteVolume,
        DeviceAsk::MakeOsVolume,
        DeviceAsk::WriteAccount,
        DeviceAsk::DropAccount,
    ];

    pub fn party(self) -> Party {
        match self {
            DeviceAsk::Cordon | DeviceAsk::Uncordon | DeviceAsk::MintJoinToken | DeviceAsk::DropJoinToken => Party::Undercloud,
            DeviceAsk::LeaveEtcd | DeviceAsk::JoinEtcd | DeviceAsk::PromoteEtcd => Party::Etcd,
            DeviceAsk::GracefulOff
            | DeviceAsk::ForceOff
            | DeviceAsk::PowerOn
            | DeviceAsk::InsertMedia
            | DeviceAsk::EjectMedia
            | DeviceAsk::BootFromMedia
            | DeviceAsk::BootFromHttp
            | DeviceAsk::BootFromPxe
            | DeviceAsk::BootFromDisk
            | DeviceAsk::AgentOn
            | DeviceAsk::AgentOff
            | DeviceAsk::SystemOn
            | DeviceAsk::DeleteVolume
            | DeviceAsk::MakeOsVolume
            | DeviceAsk::WriteAccount
            | DeviceAsk::DropAccount => Party::Bmc,
        }
    }

    /// What it asks of the power, if anything.
    pub fn power(self) -> Option<PowerRequest> {
        match self {
            DeviceAsk::GracefulOff => Some(PowerRequest::GracefulOff),
            DeviceAsk::ForceOff | DeviceAsk::AgentOff => Some(PowerRequest::ForceOff),
            DeviceAsk::PowerOn | DeviceAsk::AgentOn | DeviceAsk::SystemOn => Some(PowerRequest::On),
            _ => None,
        }
    }
}

impl fmt::Display for DeviceAsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceAsk::GracefulOff => "graceful shutdown",
            DeviceAsk::ForceOff => "forced power-off",
            DeviceAsk::PowerOn => "power-on",
            DeviceAsk::Cordon => "cordon",
            DeviceAsk::Uncordon => "uncordon",
            DeviceAsk::LeaveEtcd => "removal from etcd",
            DeviceAsk::JoinEtcd => "addition to etcd",
            DeviceAsk::PromoteEtcd => "promotion in etcd",
            DeviceAsk::MintJoinToken => "join token",
            DeviceAsk::DropJoinToken => "removal of the join token",
            DeviceAsk::InsertMedia => "insertion of the agent's image",
            DeviceAsk::EjectMedia => "ejection of the agent's image",
            DeviceAsk::BootFromMedia => "boot from virtual media",
            DeviceAsk::BootFromHttp => "boot over HTTP",
            DeviceAsk::BootFromPxe => "boot over PXE",
            DeviceAsk::BootFromDisk => "boot from disk",
            DeviceAsk::AgentOn => "power-on for the agent",
            DeviceAsk::AgentOff => "power-off after the agent",
            DeviceAsk::SystemOn => "power-on of the new system",
            DeviceAsk::DeleteVolume => "deletion of a volume",
            DeviceAsk::MakeOsVolume => "making of the OS volume",
            DeviceAsk::WriteAccount => "account for a user",
            DeviceAsk::DropAccount => "removal of a user's account",
        })
    }
}
