//! `Cluster` and `Rack`: only read, since the site file describes them.

use super::Shape::{List, Object, OneOf, Text, Texts, Whole};
use super::machines::ACTION_STATE;
use super::{EXTENDED_LOCATION, Model, SYSTEM_DATA, always, sometimes};

pub(crate) const CLUSTER: Model = Model {
    name: "Cluster",
    about: "One site with its undercloud.",
    fields: &[
        always("id", Text),
        always("name", Text),
        always("type", Text),
        always("systemData", Object(&SYSTEM_DATA)),
        always("etag", Text),
        always("tags", Texts),
        always("location", Text),
        always("extendedLocation", Object(&EXTENDED_LOCATION)),
        always("properties", Object(&CLUSTER_PROPERTIES)),
    ],
};

const CLUSTER_STATUS: &[&str] =
    &["PendingDeployment", "Deploying", "Running", "Updating", "UpdatePaused", "Degraded", "Deleting", "Disconnected", "Failed"];

const CLUSTER_PROPERTIES: Model = Model {
    name: "ClusterProperties",
    about: "What Azure's model says of a cluster.",
    fields: &[
        always("clusterType", OneOf(&["SingleRack", "MultiRack"])),
        always("clusterVersion", Text),
        always("detailedStatus", OneOf(CLUSTER_STATUS)),
        always("detailedStatusMessage", Text),
        always("clusterConnectionStatus", OneOf(&["Connected", "Timeout", "Disconnected", "Undefined"])),
        always("provisioningState", Text),
        always("actionStates", List(&Object(&ACTION_STATE))),
        sometimes("aggregatorOrSingleRackDefinition", Object(&RACK_DEFINITION)),
        sometimes("computeRackDefinitions", List(&Object(&RACK_DEFINITION))),
    ],
};

const RACK_DEFINITION: Model = Model {
    name: "RackDefinition",
    about: "A rack as the site file describes it.",
    fields: &[
        always("availabilityZone", Text),
        always("networkRackId", Text),
        always("rackLocation", Text),
        always("rackSerialNumber", Text),
        always("rackSkuId", Text),
        always("bareMetalMachineConfigurationData", List(&Object(&MACHINE_CONFIGURATION))),
    ],
};

const MACHINE_CONFIGURATION: Model = Model {
    name: "BareMetalMachineConfigurationData",
    about: "A machine as the site file describes it.",
    fields: &[
        always("bmcConnectionString", Text),
        always("bmcMacAddress", Text),
        always("bootMacAddress", Text),
        always("machineDetails", Text),
        always("machineName", Text),
        always("rackSlot", Whole),
        always("serialNumber", Text),
    ],
};

pub(crate) const RACK: Model = Model {
    name: "Rack",
    about: "Machines that stand together.",
    fields: &[
        always("id", Text),
        always("name", Text),
        always("type", Text),
        always("systemData", Object(&SYSTEM_DATA)),
        always("etag", Text),
        always("tags", Texts),
        always("location", Text),
        always("extendedLocation", Object(&EXTENDED_LOCATION)),
        always("properties", Object(&RACK_PROPERTIES)),
    ],
};

const RACK_PROPERTIES: Model = Model {
    name: "RackProperties",
    about: "What Azure's model says of a rack.",
    fields: &[
        always("availabilityZone", Text),
        always("clusterId", Text),
        always("detailedStatus", OneOf(&["Available", "Error"])),
        always("detailedStatusMessage", Text),
        always("provisioningState", Text),
        always("rackLocation", Text),
        always("rackSerialNumber", Text),
        always("rackSkuId", Text),
    ],
};
