//! Key sets: who may log in to machines, and who may log in to their BMCs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::machine::Modified;
use crate::name::{ClusterName, MachineName};
use crate::secret::SecretRef;
use crate::time::Timestamp;

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
    pub name: String,
    pub kind: KeySetKind,
    pub cluster: ClusterName,
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
    pub created_at: Timestamp,
    pub edition: u64,
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
    /// Machines that have it as it is now, by the edition of the users that they have.
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
    /// Of BMCs: the password that we made for the account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<SecretRef>,
}
