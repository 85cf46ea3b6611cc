//! What clients send to actions. Here `always` means that it must be there.

use super::Access::Writable;
use super::Shape::{OneOf, Text};
use super::{Model, always, sometimes};

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

pub(crate) const NOTHING: Model = Model { name: "NoParameters", about: "An action without parameters.", fields: &[] };
