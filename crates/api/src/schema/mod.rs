//! What bodies look like: one table of fields for each kind, from which bodies are read and the OpenAPI document is made.

mod activity;
mod advice;
mod authorization;
mod bodies;
mod clusters;
mod key_sets;
mod machines;
mod neighbours;
mod operations;
mod previews;
mod principals;
mod runtimes;
mod status;
mod tenant_clusters;
mod vms;

pub(crate) use activity::ACTIVITY;
pub(crate) use advice::{ADVICE, VALIDATION, VERIFICATION};
pub(crate) use authorization::{LOCK, POLICY_ASSIGNMENT, ROLE_ASSIGNMENT, ROLE_DEFINITION};
pub(crate) use bodies::{CORDON, INSPECT, NOTHING, POWER_OFF, REASON, REIMAGE, REPLACE};
pub(crate) use clusters::{CLUSTER, RACK};
pub(crate) use key_sets::{BMC_KEY_SET, MACHINE_KEY_SET, USER_LIST};
pub(crate) use machines::MACHINE;
pub(crate) use neighbours::{OPERATION_ENTRY, PROVIDER, RESOURCE, RESOURCE_GROUP, SUBSCRIPTION, TENANT};
pub(crate) use operations::{ERROR, OPERATION, OPERATION_LOG, OPERATION_STATUS};
pub(crate) use previews::PREVIEW;
pub(crate) use principals::{NEW_CERTIFICATE, NEW_PRINCIPAL, NEW_SECRET, PRINCIPAL, QUOTA, SHOWN_SECRET, SUBSCRIPTION_STATE};
pub(crate) use runtimes::RUNTIME;
pub(crate) use status::{HEALTH, STATUS};
pub(crate) use tenant_clusters::{POOL, RESTART_NODE, TENANT_CLUSTER};
pub(crate) use vms::{POWER_OFF_VM, VM};

/// The shape of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Text,
    Instant,
    Whole,
    Flag,
    OneOf(&'static [&'static str]),
    List(&'static Shape),
    /// Texts by names that are anybody's.
    Texts,
    Object(&'static Model),
    Anything,
}

/// An object with a name of its own.
#[derive(Debug)]
pub(crate) struct Model {
    pub name: &'static str,
    pub about: &'static str,
    pub fields: &'static [Field],
}

/// What a client may do with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It is answered, and ignored in what clients send, whatever it says.
    ReadOnly,
    /// The same, but it is never answered: Azure's clients know it, and nothing here has it yet.
    Unserved,
    Writable,
    /// It comes from the site file: it may be sent back as it is, and not changed.
    Immutable,
    /// It comes from the site file and is never answered, so that nothing can be sent back.
    Secret,
    /// It was settled elsewhere, as the words say: it may be sent back as it is, and not changed.
    Fixed(&'static str),
    /// It was settled elsewhere, as the words say, and is never answered, so that nothing can be sent back.
    Elsewhere(&'static str),
    /// It is taken when the resource is made, and never answered.
    WriteOnly,
    /// An object whose fields have accesses of their own.
    Within,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub name: &'static str,
    pub shape: Shape,
    pub access: Access,
    /// Whether every answer has it.
    pub always: bool,
    pub nullable: bool,
    /// Not told of what was made past us, of which nobody knows it.
    pub made_here: bool,
}

/// A field that every answer has.
pub(crate) const fn always(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, access: Access::ReadOnly, always: true, nullable: false, made_here: false }
}

/// A field that some answers have.
pub(crate) const fn sometimes(name: &'static str, shape: Shape) -> Field {
    Field { always: false, ..always(name, shape) }
}

/// A field of Azure's model that no answer of ours has.
pub(crate) const fn unserved(name: &'static str) -> Field {
    Field { access: Access::Unserved, ..sometimes(name, Shape::Anything) }
}

impl Field {
    /// A field that may be `null`.
    pub const fn nullable(self) -> Field {
        Field { nullable: true, ..self }
    }

    /// A field that whoever makes one must give, and that is not told of what was made past us.
    pub const fn made_here(self) -> Field {
        Field { made_here: true, ..self }
    }

    pub const fn access(self, access: Access) -> Field {
        Field { access, ..self }
    }
}

pub(crate) const TEXTS: Shape = Shape::List(&Shape::Text);

/// `systemData` of every tracked resource.
pub(crate) const SYSTEM_DATA: Model = Model {
    name: "SystemData",
    about: "Who made the resource and who wrote to it last.",
    fields: &[
        always("createdAt", Shape::Instant),
        always("createdBy", Shape::Text),
        always("createdByType", Shape::Text),
        sometimes("lastModifiedAt", Shape::Instant),
        sometimes("lastModifiedBy", Shape::Text),
        sometimes("lastModifiedByType", Shape::Text),
    ],
};

pub(crate) const EXTENDED_LOCATION: Model = Model {
    name: "ExtendedLocation",
    about: "The site as a custom location of Azure.",
    fields: &[always("name", Shape::Text).access(Access::Immutable), always("type", Shape::Text).access(Access::Immutable)],
};
