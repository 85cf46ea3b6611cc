//! `VirtualMachine`: every field of Azure's model, and what a client may do with it.
//!
//! What describes a virtual machine is settled when it is made. Here `always` of such a field means that one cannot be made
//! without it, too.

use super::Access::{Fixed, Immutable, Within, Writable, WriteOnly};
use super::Shape::{Instant, List, Object, OneOf, Text, Texts, Whole};
use super::machines::WAIT;
use super::{EXTENDED_LOCATION, Field, Model, SYSTEM_DATA, Shape, TEXTS, always, sometimes, unserved};

/// Where a field of a virtual machine comes from.
const MADE: super::Access = Fixed("is settled when the virtual machine is made");

const FLAG: &[&str] = &["True", "False"];

pub(crate) const VM_STATUS: &[&str] = &["Available", "Error", "Provisioning", "Running", "Scheduling", "Stopped", "Terminating", "Unknown"];
pub(crate) const VM_POWER: &[&str] = &["On", "Off", "Unknown"];

const fn required(name: &'static str, shape: Shape) -> Field {
    always(name, shape).access(MADE)
}

const fn possible(name: &'static str, shape: Shape) -> Field {
    sometimes(name, shape).access(MADE)
}

pub(crate) const VM: Model = Model {
    name: "VirtualMachine",
    about: "A tenant's virtual machine.",
    fields: &[
        always("id", Text),
        always("name", Text),
        always("type", Text),
        always("systemData", Object(&SYSTEM_DATA)),
        always("etag", Text),
        always("tags", Texts).access(Writable),
        always("location", Text).access(Immutable),
        always("extendedLocation", Object(&EXTENDED_LOCATION)).access(Within),
        unserved("identity"),
        always("properties", Object(&PROPERTIES)).access(Within),
        sometimes("rackwright", Object(&OURS)),
    ],
};

const PROPERTIES: Model = Model {
    name: "VirtualMachineProperties",
    about: "What Azure's model says of a virtual machine.",
    fields: &[
        required("adminUsername", Text).made_here(),
        possible("bootMethod", OneOf(&["BIOS", "UEFI"])),
        possible("cloudServicesNetworkAttachment", Object(&NETWORK_ATTACHMENT)),
        required("cpuCores", Whole),
        possible("isolateEmulatorThread", OneOf(FLAG)),
        required("memorySizeGB", Whole),
        possible("networkAttachments", List(&Object(&NETWORK_ATTACHMENT))),
        sometimes("networkData", Text).access(WriteOnly),
        sometimes("networkDataContent", Text).access(WriteOnly),
        possible("placementHints", List(&Object(&PLACEMENT_HINT))),
        possible("sshPublicKeys", List(&Object(&SSH_PUBLIC_KEY))),
        required("storageProfile", Object(&STORAGE_PROFILE)),
        sometimes("userData", Text).access(WriteOnly),
        sometimes("userDataContent", Text).access(WriteOnly),
        possible("virtioInterface", OneOf(&["Modern", "Transitional"])),
        possible("vmDeviceModel", OneOf(&["T1", "T2", "T3"])),
        required("vmImage", Text).made_here(),
        possible("vmImageRepositoryCredentials", Object(&CREDENTIALS)),
        sometimes("availabilityZone", Text),
        sometimes("bareMetalMachineId", Text),
        always("clusterId", Text),
        unserved("consoleExtendedLocation"),
        always("detailedStatus", OneOf(VM_STATUS)),
        always("detailedStatusMessage", Text),
        always("powerState", OneOf(VM_POWER)),
        always("volumes", TEXTS),
        always("provisioningState", OneOf(&["Accepted", "Canceled", "Failed", "Provisioning", "Succeeded"])),
    ],
};

pub(crate) const NETWORK_ATTACHMENT: Model = Model {
    name: "NetworkAttachment",
    about: "A network that a virtual machine is attached to.",
    fields: &[
        required("attachedNetworkId", Text),
        possible("defaultGateway", OneOf(FLAG)),
        required("ipAllocationMethod", OneOf(&["Dynamic", "Static", "Disabled"])),
        possible("ipv4Address", Text),
        possible("ipv6Address", Text),
        unserved("macAddress"),
        possible("networkAttachmentName", Text),
    ],
};

const PLACEMENT_HINT: Model = Model {
    name: "VirtualMachinePlacementHint",
    about: "Near what a virtual machine should run, or away from what.",
    fields: &[
        required("hintType", OneOf(&["Affinity", "AntiAffinity"])),
        required("resourceId", Text),
        required("schedulingExecution", OneOf(&["Hard", "Soft"])),
        required("scope", OneOf(&["Machine", "Rack"])),
    ],
};

const SSH_PUBLIC_KEY: Model = Model { name: "SshPublicKey", about: "A key that may log in.", fields: &[required("keyData", Text)] };

const STORAGE_PROFILE: Model = Model {
    name: "StorageProfile",
    about: "The disks of a virtual machine.",
    fields: &[required("osDisk", Object(&OS_DISK)), possible("volumeAttachments", TEXTS)],
};

const OS_DISK: Model = Model {
    name: "OsDisk",
    about: "The disk of the operating system.",
    fields: &[
        possible("createOption", OneOf(&["Ephemeral", "Persistent"])),
        possible("deleteOption", OneOf(&["Delete"])),
        required("diskSizeGB", Whole).made_here(),
    ],
};

const CREDENTIALS: Model = Model {
    name: "ImageRepositoryCredentials",
    about: "A login for where the image is. Its password is never answered; without one, that of before stays.",
    fields: &[sometimes("password", Text).access(WriteOnly), required("registryUrl", Text), required("username", Text)],
};

const OURS: Model = Model {
    name: "VirtualMachineBeyondTheModel",
    about: "What Azure's model has no field for: what KubeVirt says, since when, what is waited for, and which operation is at work.",
    fields: &[
        always("machine", Text).nullable(),
        always("operation", Object(&AT_WORK)).nullable(),
        always("runStrategy", Text).nullable(),
        always("seenAt", Instant).nullable(),
        always("state", Text).nullable(),
        always("waits", List(&Object(&WAIT))),
    ],
};

pub(crate) const AT_WORK: Model = Model {
    name: "OperationAtWork",
    about: "The operation that is at work on something.",
    fields: &[always("action", Text), always("caller", Text), always("id", Text), always("since", Instant)],
};

pub(crate) const POWER_OFF_VM: Model = Model {
    name: "VirtualMachinePowerOffParameters",
    about: "How to power off.",
    fields: &[sometimes("skipShutdown", OneOf(FLAG)).access(Writable)],
};
