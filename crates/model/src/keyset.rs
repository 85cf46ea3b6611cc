//! Key sets: who may log in to machines, and who may log in to their BMCs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::machine::Modified;
use crate::name::{ClusterName, KeySetName, MachineName};
use crate::time::{Span, Timestamp};

/// Key sets of one kind in a cluster. Sites have a handful: one for each team and privilege.
pub const KEY_SETS_MAX: usize = 50;

/// Users of all key sets for machines of a cluster. They all stand in one first-boot configuration of at most 64 KiB.
pub const MACHINE_USERS_MAX: usize = 100;

/// Bytes of all their keys together, for the same reason: half of the configuration.
pub const MACHINE_KEYS_MAX: usize = 32 * 1024;

/// Users of all key sets for BMCs of a cluster. A BMC has 16 slots, and up to 6 are the system's.
pub const BMC_USERS_MAX: usize = 10;

/// How far ahead the users of BMCs may expire: a year, be it a leap year.
pub const BMC_EXPIRATION_MAX: Span = Span::hours(366 * 24);

/// Bytes of one key, its comment included: far more than RSA with 16,384 bits needs.
pub const SSH_KEY_MAX: usize = 4 * 1024;

/// Jump hosts of one key set.
pub const JUMP_HOSTS_MAX: usize = 64;

/// Characters of `osGroupName`, as Linux has it.
pub const OS_GROUP_MAX: usize = 32;

/// Characters of a user's name, as Linux has it.
pub const KEY_SET_USER_MAX: usize = 32;

/// Characters of a description, of a user principal name, of a group's id and of a privilege's name.
pub const KEY_SET_TEXT_MAX: usize = 256;

/// Which of the two kinds a key set is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum KeySetKind {
    /// Users of the machines' operating systems, who come with the first-boot configuration.
    Machine,
    /// Users of the BMCs, who are made through their account service.
    Bmc,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeySet {
    pub name: KeySetName,
    pub kind: KeySetKind,
    pub cluster: ClusterName,
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
    pub created_at: Timestamp,
    pub edition: u64,
    /// The edition in which what machines must take over changed last: anything but tags.
    #[serde(default)]
    pub users_edition: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<Modified>,
    pub azure_group_id: String,
    pub expires_at: Timestamp,
    pub privilege: Privilege,
    /// Of machines: from where logins are let in.
    #[serde(default)]
    pub jump_hosts: Vec<String>,
    /// Of machines: the group of the operating system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os_group: Option<String>,
    pub users: Vec<KeySetUser>,
    /// When its users were last checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validated_at: Option<Timestamp>,
    /// Of machines: those that were installed with it, and which edition of its users they have.
    #[serde(default)]
    pub applied: BTreeMap<MachineName, u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "level")]
pub enum Privilege {
    Standard,
    Superuser,
    Other {
        name: String,
    },
    /// Of BMCs.
    ReadOnly,
    Administrator,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeySetUser {
    pub azure_user_name: String,
    #[serde(default)]
    pub description: String,
    pub user_principal_name: Option<String>,
    /// A public key, which is no secret.
    pub ssh_public_key: String,
}

/// What a client changes of a key set. What is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeySetChange {
    pub tags: Option<BTreeMap<String, String>>,
    pub expires_at: Option<Timestamp>,
    pub jump_hosts: Option<Vec<String>>,
    pub users: Option<Vec<KeySetUser>>,
}

impl KeySet {
    /// When it was written last.
    pub fn changed_at(&self) -> Timestamp {
        self.modified.as_ref().map_or(self.created_at, |modified| modified.at)
    }
}

impl KeySetKind {
    /// `key set for machines`.
    pub fn in_words(self) -> &'static str {
        match self {
            KeySetKind::Machine => "key set for machines",
            KeySetKind::Bmc => "key set for BMCs",
        }
    }

    /// The group of commands that it is written with.
    pub fn command(self) -> &'static str {
        match self {
            KeySetKind::Machine => "cluster baremetalmachinekeyset",
            KeySetKind::Bmc => "cluster bmckeyset",
        }
    }
}

impl Privilege {
    /// `privilegeLevel`.
    pub fn level(&self) -> &'static str {
        match self {
            Privilege::Standard => "Standard",
            Privilege::Superuser => "Superuser",
            Privilege::Other { .. } => "Other",
            Privilege::ReadOnly => "ReadOnly",
            Privilege::Administrator => "Administrator",
        }
    }
}
