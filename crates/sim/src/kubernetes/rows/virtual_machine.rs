//! What is shown of virtual machines, their disks, and the objects of Cluster API.

use serde_json::{Value, json};

use super::Shown::Always;
use super::{Column, age, name, phase};

pub(super) static VIRTUAL_MACHINES: [Column; 4] = [
    ("Name", Always, name),
    ("Age", Always, age),
    ("Status", Always, |machine, _| machine["status"]["printableStatus"].clone()),
    ("Ready", Always, |machine, _| condition(machine, "Ready")),
];

pub(super) static INSTANCES: [Column; 6] = [
    ("Name", Always, name),
    ("Age", Always, age),
    ("Phase", Always, phase),
    ("IP", Always, |instance, _| instance["status"]["interfaces"][0]["ipAddress"].clone()),
    ("NodeName", Always, |instance, _| instance["status"]["nodeName"].clone()),
    ("Ready", Always, |instance, _| condition(instance, "Ready")),
];

pub(super) static DATA_VOLUMES: [Column; 4] = [
    ("Name", Always, name),
    ("Phase", Always, phase),
    ("Progress", Always, |volume, _| volume["status"]["progress"].clone()),
    ("Age", Always, age),
];

pub(super) static CLUSTERS: [Column; 5] = [
    ("Name", Always, name),
    ("Available", Always, |cluster, _| condition(cluster, "Available")),
    ("Phase", Always, phase),
    ("Age", Always, age),
    ("Version", Always, |cluster, _| cluster["spec"]["topology"]["version"].clone()),
];

pub(super) static MACHINE_DEPLOYMENTS: [Column; 7] = [
    ("Name", Always, name),
    ("Cluster", Always, |deployment, _| deployment["spec"]["clusterName"].clone()),
    ("Desired", Always, |deployment, _| deployment["spec"]["replicas"].clone()),
    ("Ready", Always, |deployment, _| deployment["status"]["readyReplicas"].clone()),
    ("Phase", Always, phase),
    ("Age", Always, age),
    ("Version", Always, |deployment, _| deployment["spec"]["template"]["spec"]["version"].clone()),
];

pub(super) static MACHINES: [Column; 7] = [
    ("Name", Always, name),
    ("Cluster", Always, |machine, _| machine["spec"]["clusterName"].clone()),
    ("Node Name", Always, |machine, _| machine["status"]["nodeRef"]["name"].clone()),
    ("Ready", Always, |machine, _| condition(machine, "Ready")),
    ("Phase", Always, phase),
    ("Age", Always, age),
    ("Version", Always, |machine, _| machine["spec"]["version"].clone()),
];

fn condition(object: &Value, kind: &str) -> Value {
    let conditions = object["status"]["conditions"].as_array();
    let found = conditions.into_iter().flatten().find(|condition| condition["type"] == kind);
    found.map_or_else(|| json!(""), |condition| condition["status"].clone())
}
