//! Users' accounts on a machine's BMC: which of them are ours, what was asked last, and what is in the way.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::device_ask::DeviceAsk;
use crate::fault::Fault;
use crate::name::KeySetName;
use crate::time::Timestamp;

/// What is remembered of a BMC's accounts. Those that are not named here are none of ours.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BmcAccounts {
    /// The board that they are on. What is remembered of one says nothing of another.
    pub board: String,
    /// Counts what was asked, so that each answer belongs to one ask.
    #[serde(default)]
    pub asks: u32,
    pub users: BTreeMap<String, BmcUser>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BmcUser {
    /// Whether the account was made by us, or is about to be. Only such a one is changed or removed.
    #[serde(default)]
    pub is_ours: bool,
    /// What was asked last for this user. Written before it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<AccountAsk>,
    /// As what the account was seen to be right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<AppliedUser>,
    /// What keeps the user from this BMC, until a person or the BMC changes that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// The key set, and the edition of its users, that an account was seen to follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AppliedUser {
    pub key_set: KeySetName,
    pub edition: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountAsk {
    pub ask: DeviceAsk,
    pub attempt: u32,
    /// How often in a row the same was asked.
    pub tries: u32,
    pub at: Timestamp,
    /// The fault that answered it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}
