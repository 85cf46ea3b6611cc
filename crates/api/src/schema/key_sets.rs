//! `BareMetalMachineKeySet` and `BmcKeySet`: every field of Azure's model, and what a client may do with it.
//!
//! Here `always` of a field that is settled means that a key set cannot be made without it, too.

use super::Access::{Fixed, Immutable, Within, Writable};
use super::Shape::{Instant, List, Object, OneOf, Text, Texts};
use super::{EXTENDED_LOCATION, Field, Model, SYSTEM_DATA, Shape, TEXTS, always, sometimes};

/// Where a field of a key set comes from.
const MADE: super::Access = Fixed("is settled when the key set is made");

/// Users are written as a whole list.
const LISTED: super::Access = Fixed("is written with its list");

const fn required(name: &'static str, shape: Shape) -> Field {
    always(name, shape).access(MADE)
}

const fn possible(name: &'static str, shape: Shape) -> Field {
    sometimes(name, shape).access(MADE)
}

pub(crate) const USER_LIST: Shape = List(&Object(&KEY_SET_USER));

pub(crate) const MACHINE_KEY_SET: Model = Model {
    name: "BareMetalMachineKeySet",
    about: "Users of the machines of a cluster. They come with the next installation of a machine.",
    fields: &[
        always("id", Text),
        always("name", Text),
        always("type", Text),
        always("systemData", Object(&SYSTEM_DATA)),
        always("etag", Text),
        always("tags", Texts).access(Writable),
        always("location", Text).access(Immutable),
        always("extendedLocation", Object(&EXTENDED_LOCATION)).access(Within),
        always("properties", Object(&MACHINE_PROPERTIES)).access(Within),
    ],
};

pub(crate) const BMC_KEY_SET: Model = Model {
    name: "BmcKeySet",
    about: "Users of the BMCs of a cluster's machines.",
    fields: &[
        always("id", Text),
        always("name", Text),
        always("type", Text),
        always("systemData", Object(&SYSTEM_DATA)),
        always("etag", Text),
        always("tags", Texts).access(Writable),
        always("location", Text).access(Immutable),
        always("extendedLocation", Object(&EXTENDED_LOCATION)).access(Within),
        always("properties", Object(&BMC_PROPERTIES)).access(Within),
    ],
};

const STATUS: &[&str] = &["AllActive", "SomeInvalid", "AllInvalid", "Validating"];
const STATE: &[&str] = &["Succeeded", "Failed", "Canceled", "Accepted", "Provisioning"];

const MACHINE_PROPERTIES: Model = Model {
    name: "BareMetalMachineKeySetProperties",
    about: "What Azure's model says of such a key set. Membership of the group is not checked: there is no directory to ask.",
    fields: &[
        required("azureGroupId", Text),
        always("expiration", Instant).access(Writable),
        always("jumpHostsAllowed", TEXTS).access(Writable),
        possible("osGroupName", Text),
        required("privilegeLevel", OneOf(&["Standard", "Superuser", "Other"])),
        possible("privilegeLevelName", Text),
        always("userList", USER_LIST).access(Writable),
        always("detailedStatus", OneOf(STATUS)),
        always("detailedStatusMessage", Text),
        sometimes("lastValidation", Instant),
        always("userListStatus", List(&Object(&USER_STATUS))),
        always("provisioningState", OneOf(STATE)),
    ],
};

const BMC_PROPERTIES: Model = Model {
    name: "BmcKeySetProperties",
    about: "What Azure's model says of such a key set. Membership of the group is not checked: there is no directory to ask.",
    fields: &[
        required("azureGroupId", Text),
        always("expiration", Instant).access(Writable),
        required("privilegeLevel", OneOf(&["ReadOnly", "Administrator"])),
        always("userList", USER_LIST).access(Writable),
        always("detailedStatus", OneOf(STATUS)),
        always("detailedStatusMessage", Text),
        sometimes("lastValidation", Instant),
        always("userListStatus", List(&Object(&USER_STATUS))),
        always("provisioningState", OneOf(STATE)),
    ],
};

const KEY_SET_USER: Model = Model {
    name: "KeySetUser",
    about: "Somebody who may log in.",
    fields: &[
        always("azureUserName", Text).access(LISTED),
        sometimes("description", Text).access(LISTED),
        always("sshPublicKey", Object(&KEY)).access(Within),
        sometimes("userPrincipalName", Text).access(LISTED),
    ],
};

const KEY: Model =
    Model { name: "KeySetSshPublicKey", about: "The key that opens the account.", fields: &[always("keyData", Text).access(LISTED)] };

const USER_STATUS: Model = Model {
    name: "KeySetUserStatus",
    about: "What is known of a user. Without `status` it is not known yet.",
    fields: &[always("azureUserName", Text), sometimes("status", OneOf(&["Active", "Invalid"])), always("statusMessage", Text)],
};
