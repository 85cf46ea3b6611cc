//! What clients send to actions. Here `always` means that it must be there.

use super::Access::{Within, Writable};
use super::Shape::{List, Object, OneOf, Text};
use super::{Model, TEXTS, always, sometimes};

/// Azure writes its booleans as words.
const FLAG: &[&str] = &["True", "False"];

pub(crate) const POWER_OFF: Model = Model {
    name: "BareMetalMachinePowerOffParameters",
    about: "How to power off.",
    fields: &[sometimes("skipShutdown", OneOf(FLAG)).access(Writable)],
};

pub(crate) const CORDON: Model = Model {
    name: "BareMetalMachineCordonParameters",
    about: "How to cordon. `force`, with `evacuate`, lets the pods of nodes go that are proven to be down.",
    fields: &[sometimes("evacuate", OneOf(FLAG)).access(Writable), sometimes("force", OneOf(FLAG)).access(Writable)],
};

pub(crate) const REASON: Model = Model {
    name: "ManagementParameters",
    about: "Say why, for whoever is on call next.",
    fields: &[always("reason", Text).access(Writable)],
};

const SAFEGUARD: &[&str] = &["All", "None"];

pub(crate) const REIMAGE: Model = Model {
    name: "BareMetalMachineReimageParameters",
    about: "How to reimage. With `safeguardMode` None the machine is evacuated first, instead of being refused for what runs on it.",
    fields: &[sometimes("safeguardMode", OneOf(SAFEGUARD)).access(Writable)],
};

pub(crate) const REPLACE: Model = Model {
    name: "BareMetalMachineReplaceParameters",
    about: "What stands in the machine's slot now. What is not named is as it was; the machine keeps its name.",
    fields: &[
        sometimes("bmcCredentials", Object(&CREDENTIALS)).access(Within),
        sometimes("bmcMacAddress", Text).access(Writable),
        sometimes("bootMacAddress", Text).access(Writable),
        sometimes("machineName", Text).access(Writable),
        sometimes("serialNumber", Text).access(Writable),
        sometimes("storagePolicy", OneOf(&["DiscardAll", "Preserve"])).access(Writable),
        sometimes("safeguardMode", OneOf(SAFEGUARD)).access(Writable),
    ],
};

const CREDENTIALS: Model = Model {
    name: "AdministrativeCredentials",
    about: "A login. The password is kept in the vault, and is never answered.",
    fields: &[sometimes("username", Text).access(Writable), sometimes("password", Text).access(Writable)],
};

pub(crate) const INSPECT: Model = Model {
    name: "ClusterInspectParameters",
    about: "Whose hardware to validate: that of the machines and racks that are named, or of all machines if none is.",
    fields: &[
        sometimes("filterDevices", Object(&FILTER_DEVICES)).access(Within),
        sometimes("additionalActions", List(&OneOf(&["ResetHardware"]))).access(Writable),
    ],
};

const FILTER_DEVICES: Model = Model {
    name: "ClusterInspectFilterDevices",
    about: "Machines, and racks with all of their machines.",
    fields: &[sometimes("bareMetalMachineNames", TEXTS).access(Writable), sometimes("rackNames", TEXTS).access(Writable)],
};

pub(crate) const NOTHING: Model = Model { name: "NoParameters", about: "An action without parameters.", fields: &[] };
