//! `BareMetalMachine`: every field of Azure's model, and what a client may do with it.
//!
//! Azure's own marks decide: what they call read-only is ignored; what may be given when a resource is created, and not
//! later, is immutable, since machines are created by the site file; the rest is what a PATCH may name.

use super::Access::{Immutable, Secret, Within, Writable};
use super::Shape::{Anything, Flag, Instant, List, Object, OneOf, Text, Texts, Whole};
use super::{EXTENDED_LOCATION, Model, SYSTEM_DATA, TEXTS, always, sometimes, unserved};

pub(crate) const MACHINE: Model = Model {
    name: "BareMetalMachine",
    about: "A physical server of a site.",
    fields: &[
        always("id", Text),
        always("name", Text),
        always("type", Text),
        always("systemData", Object(&SYSTEM_DATA)),
        always("etag", Text),
        always("tags", Texts).access(Writable),
        always("location", Text).access(Immutable),
        always("extendedLocation", Object(&EXTENDED_LOCATION)).access(Within),
        always("properties", Object(&PROPERTIES)).access(Within),
        sometimes("rackwright", Object(&OURS)),
    ],
};

const PROPERTIES: Model = Model {
    name: "BareMetalMachineProperties",
    about: "What Azure's model says of a machine.",
    fields: &[
        always("machineDetails", Text).access(Writable),
        always("bmcConnectionString", Text).access(Immutable),
        sometimes("bmcCredentials", Anything).access(Secret),
        always("bmcMacAddress", Text).access(Immutable),
        always("bootMacAddress", Text).access(Immutable),
        always("machineName", Text).access(Immutable),
        always("machineSkuId", Text).access(Immutable),
        always("rackId", Text).access(Immutable),
        always("rackSlot", Whole).access(Immutable),
        always("serialNumber", Text).access(Immutable),
        sometimes("machineClusterVersion", Text).access(Immutable),
        always("actionStates", List(&Object(&ACTION_STATE))),
        always("associatedResourceIds", TEXTS),
        unserved("bmcIpv4Address"),
        unserved("bmcIpv6Address"),
        unserved("caCertificate"),
        always("clusterId", Text),
        always("cordonStatus", OneOf(&["Cordoned", "Uncordoned"])),
        always("detailedStatus", OneOf(&["Preparing", "Error", "Available", "Provisioning", "Provisioned", "Deprovisioning"])),
        always("detailedStatusMessage", Text),
        sometimes("hardwareInventory", Object(&HARDWARE_INVENTORY)),
        sometimes("hardwareValidationStatus", Object(&VALIDATION_STATUS)),
        unserved("hybridAksClustersAssociatedIds"),
        sometimes("kubernetesNodeName", Text),
        sometimes("kubernetesVersion", Text),
        always("machineRoles", TEXTS),
        unserved("monitoringConfigurationStatus"),
        sometimes("oamIpv4Address", Text),
        unserved("oamIpv6Address"),
        sometimes("osImage", Text),
        sometimes("powerState", OneOf(&["On", "Off"])),
        always("provisioningState", OneOf(&["Succeeded", "Failed", "Canceled", "Provisioning"])),
        always("readyState", OneOf(&["True", "False"])),
        unserved("runtimeProtectionStatus"),
        unserved("secretRotationStatus"),
        always("serviceTag", Text),
        unserved("virtualMachinesAssociatedIds"),
    ],
};

pub(super) const ACTION_STATE: Model = Model {
    name: "ActionState",
    about: "How the latest action of its kind went.",
    fields: &[
        always("actionType", Text),
        always("correlationId", Text),
        always("startTime", Instant),
        always("endTime", Instant).nullable(),
        always("status", OneOf(&["Completed", "InProgress", "Failed"])),
        always("result", OneOf(&["Succeeded", "Failed", "Canceled"])).nullable(),
        always("message", Text),
        always("stepStates", List(&Object(&STEP_STATE))),
    ],
};

const STEP_STATE: Model = Model {
    name: "StepState",
    about: "How one step of an action went.",
    fields: &[
        always("stepName", Text),
        always("status", OneOf(&["NotStarted", "InProgress", "Completed", "Failed"])),
        always("startTime", Instant).nullable(),
        always("endTime", Instant).nullable(),
        always("message", Text),
    ],
};

const OURS: Model = Model {
    name: "MachineBeyondTheModel",
    about: "What Azure's model has no field for. Lists have the first six only. Since powerSeenAt the power is so, as far as was seen; while a BMC has a fault, bmcAnsweredAt tells how old that is.",
    fields: &[
        always("managed", Flag),
        always("spare", Flag),
        always("powerSeenAt", Instant).nullable(),
        always("bmcFault", Object(&FAULT)).nullable(),
        always("bmcAnsweredAt", Instant).nullable(),
        always("undercloudFault", Object(&FAULT)).nullable(),
        sometimes("unmanagedReason", Object(&UNMANAGED)).nullable(),
        sometimes("managedAgain", Object(&MANAGED_AGAIN)).nullable(),
        sometimes("holds", List(&Object(&HOLD))),
        sometimes("waits", List(&Object(&WAIT))),
        sometimes("problems", List(&Object(&PROBLEM))),
        sometimes("cordonedByOthers", Flag),
        sometimes("evacuated", Object(&EVACUATED)).nullable(),
        sometimes("unhealthy", Object(&UNHEALTHY)).nullable(),
        sometimes("installed", Object(&INSTALLED)).nullable(),
        sometimes("replacedAt", Instant).nullable(),
    ],
};

const VALIDATION_STATUS: Model = Model {
    name: "HardwareValidationStatus",
    about: "Whether the machine's hardware was what it should be, when it was last compared.",
    fields: &[always("lastValidationTime", Instant), always("result", OneOf(&["Pass", "Fail"]))],
};

const HARDWARE_INVENTORY: Model = Model {
    name: "HardwareInventory",
    about: "What the agent of the machine's latest installation found in it. What the model has no field for is a JSON text in additionalHostInformation: foundAt, operation, disks, memoryBytes, cpus, firmware.",
    fields: &[
        always("additionalHostInformation", Text),
        always("interfaces", List(&Object(&INTERFACE))),
        always("nics", List(&Object(&NIC))),
    ],
};

const INTERFACE: Model = Model {
    name: "HardwareInventoryNetworkInterface",
    about: "A port, and whether it has a link.",
    fields: &[
        always("name", Text),
        sometimes("macAddress", Text),
        sometimes("linkStatus", OneOf(&["Up", "Down"])),
        unserved("networkInterfaceId"),
    ],
};

const NIC: Model =
    Model { name: "Nic", about: "A port.", fields: &[always("name", Text), sometimes("macAddress", Text), unserved("lldpNeighbor")] };

const UNHEALTHY: Model = Model {
    name: "Unhealthy",
    about: "That the machine was given up. Only a replace that succeeds takes this away.",
    fields: &[always("since", Instant), always("because", Text)],
};

const INSTALLED: Model = Model {
    name: "Installed",
    about: "What was installed on the machine last.",
    fields: &[always("version", Text), always("image", Text), always("at", Instant)],
};

const UNMANAGED: Model = Model {
    name: "Unmanaged",
    about: "Who took the machine out of management, and why.",
    fields: &[always("by", Text), always("reason", Text), always("since", Instant)],
};

const MANAGED_AGAIN: Model = Model {
    name: "ManagedAgain",
    about: "Who let the machine be managed again, and why.",
    fields: &[always("by", Text), always("reason", Text), always("at", Instant)],
};

pub(super) const HOLD: Model = Model {
    name: "Hold",
    about: "One reason why a machine is cordoned.",
    fields: &[
        always("kind", OneOf(&["user", "operation", "evacuation", "condition", "upgrade", "reinstalled", "poweredOff"])),
        always("owner", Text),
        always("reason", Text),
        always("since", Instant),
    ],
};

const EVACUATED: Model = Model {
    name: "Evacuated",
    about: "What was stopped and cordoned to empty the machine, and waits to come back.",
    fields: &[
        always("by", Text),
        always("since", Instant),
        always("virtualMachines", TEXTS),
        always("nodes", List(&Object(&CORDONED_NODE))),
    ],
};

pub(super) const CORDONED_NODE: Model = Model {
    name: "CordonedNode",
    about: "A tenant cluster's node that was cordoned to empty the machine.",
    fields: &[always("cluster", Text), always("node", Text)],
};

pub(super) const WAIT: Model = Model {
    name: "Wait",
    about: "What is waited for, since when, and what ends it.",
    fields: &[
        always("code", Text),
        always("what", Text),
        always("brief", Text),
        always("since", Instant),
        always("endsWhen", Text),
        always("expectedBy", Instant).nullable(),
        always("late", Flag),
    ],
};

pub(super) const FAULT: Model = Model {
    name: "Fault",
    about: "Why a BMC or the undercloud does not answer as it should.",
    fields: &[always("class", Text), always("fault", Text), always("since", Instant)],
};

const PROBLEM: Model = Model {
    name: "Problem",
    about: "What the machine's node says is wrong.",
    fields: &[always("kind", Text), always("message", Text), always("since", Instant)],
};
