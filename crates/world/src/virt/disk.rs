//! The disks of virtual machines: data volumes, and the claims in which they end up.

use serde_json::{Value, json};

use crate::scheduler::{LOCAL_STORAGE, SELECTED_NODE};

/// The data volumes that a virtual machine brings along.
pub(crate) fn templates(vm: &Value) -> &[Value] {
    vm["spec"]["dataVolumeTemplates"].as_array().map_or(&[], Vec::as_slice)
}

pub(crate) fn name(template: &Value) -> &str {
    template["metadata"]["name"].as_str().unwrap_or_default()
}

/// A data volume of a virtual machine, which begins to be filled.
pub(crate) fn data_volume(vm: &Value, template: &Value) -> Value {
    json!({
        "metadata": {
            "name": name(template),
            "labels": {"kubevirt.io/created-by": vm["metadata"]["uid"]},
            "ownerReferences": [{
                "apiVersion": "kubevirt.io/v1",
                "kind": "VirtualMachine",
                "name": vm["metadata"]["name"],
                "uid": vm["metadata"]["uid"],
                "controller": true,
            }],
        },
        "spec": template["spec"],
        "status": {"phase": "ImportInProgress", "progress": "0.0%", "claimName": name(template)},
    })
}

/// The claim behind a data volume. `node` is where the disk is from the beginning.
pub(crate) fn claim(volume: &Value, node: Option<&str>) -> Value {
    let spec = &volume["spec"];
    let asked = [&spec["storage"]["resources"], &spec["pvc"]["resources"]].into_iter().find(|asked| asked.is_object());
    let mut claim = json!({
        "metadata": {
            "name": volume["metadata"]["name"],
            "ownerReferences": [{
                "apiVersion": "cdi.kubevirt.io/v1beta1",
                "kind": "DataVolume",
                "name": volume["metadata"]["name"],
                "uid": volume["metadata"]["uid"],
                "controller": true,
            }],
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": asked.cloned().unwrap_or_else(|| json!({"requests": {"storage": "32Gi"}})),
            "storageClassName": LOCAL_STORAGE,
            "volumeMode": "Filesystem",
        },
        "status": {"phase": "Pending"},
    });
    if let Some(node) = node {
        claim = with_place(&claim, node);
    }
    claim
}

/// The claim on the node's own disk, where it stays.
pub(crate) fn with_place(claim: &Value, node: &str) -> Value {
    let mut new = claim.clone();
    new["metadata"]["annotations"][SELECTED_NODE] = json!(node);
    new["spec"]["volumeName"] = json!(format!("local-{}", claim["metadata"]["name"].as_str().unwrap_or_default()));
    new["status"] = json!({"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": claim["spec"]["resources"]["requests"]});
    new
}

pub(crate) fn is_placed(claim: &Value) -> bool {
    claim["metadata"]["annotations"][SELECTED_NODE].is_string()
}

pub(crate) fn is_filled(volume: &Value) -> bool {
    volume["status"]["phase"] == "Succeeded"
}

pub(crate) fn with_content(volume: &Value) -> Value {
    let mut new = volume.clone();
    new["status"]["phase"] = json!("Succeeded");
    new["status"]["progress"] = json!("100.0%");
    new
}
