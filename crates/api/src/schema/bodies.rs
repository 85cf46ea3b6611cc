//! What clients send. Here `always` means that it must be there.

use super::Access::{Within, Writable};
use super::Shape::{Object, OneOf, Text, Texts};
use super::{Model, always, sometimes};

pub(crate) const MACHINE_UPDATE: Model = Model {
    name: "BareMetalMachinePatchParameters",
    about: "What of a machine is to change. What is left out stays; tags are replaced as a whole.",
    fields: &[sometimes("tags", Texts).access(Writable), sometimes("properties", Object(&UPDATE_PROPERTIES)).access(Within)],
};

const UPDATE_PROPERTIES: Model = Model {
    name: "BareMetalMachinePatchProperties",
    about: "What of the properties can be written.",
    fields: &[sometimes("machineDetails", Text).access(Writable)],
};

const FLAG: &[&str] = &["True", "False"];

pub(crate) const POWER_OFF: Model = Model {
    name: "BareMetalMachinePowerOffParameters",
    about: "How to power off.",
    fields: &[sometimes("skipShutdown", OneOf(FLAG)).access(Writable)],
};

pub(crate) const CORDON: Model = Model {
    name: "BareMetalMachineCordonParameters",
    about: "How to cordon.",
    fields: &[sometimes("evacuate", OneOf(FLAG)).access(Writable)],
};

pub(crate) const REASON: Model =
    Model { name: "ManagementParameters", about: "Why, for whoever is on call next.", fields: &[always("reason", Text).access(Writable)] };

pub(crate) const NOTHING: Model = Model { name: "NoParameters", about: "An action without parameters.", fields: &[] };
