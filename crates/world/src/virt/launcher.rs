//! The pod in which a virtual machine runs: what the scheduler and the kubelets see of it.

use serde_json::{Value, json};

use crate::quantity;

/// What the launcher itself takes beside the guest's memory.
const OVERHEAD_MIB: i64 = 256;

/// The label of the nodes that are for tenants.
const COMPUTE: &str = "platform.afo-nc.microsoft.com/compute-plane";

/// Names the instance that a launcher belongs to, by uid.
pub(crate) const CREATED_BY: &str = "kubevirt.io/created-by";

/// Whether a pod runs a virtual machine.
pub(crate) fn is_launcher(pod: &Value) -> bool {
    pod["metadata"]["labels"]["kubevirt.io"] == "virt-launcher"
}

/// The launcher's pod of an instance. `node` is where it goes without the scheduler's say.
pub(crate) fn of_instance(instance: &Value, node: Option<&str>) -> Value {
    let metadata = &instance["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    let mut labels = metadata["labels"].as_object().cloned().unwrap_or_default();
    labels.remove("kubevirt.io/nodeName");
    labels.insert("kubevirt.io".to_owned(), json!("virt-launcher"));
    labels.insert(CREATED_BY.to_owned(), metadata["uid"].clone());
    labels.insert("vm.kubevirt.io/name".to_owned(), json!(name));
    let spec = &instance["spec"];
    let (cpu, memory) = wants(spec);
    let requests = json!({"cpu": cpu, "memory": memory});
    let mut pod_spec = json!({
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": super::instance::grace_seconds(instance),
        "containers": [{
            "name": "compute",
            "image": "quay.io/kubevirt/virt-launcher:v1.6.0",
            "resources": {"requests": requests, "limits": requests},
        }],
        "volumes": volumes(spec),
    });
    for field in ["affinity", "nodeSelector", "topologySpreadConstraints", "tolerations"] {
        if !spec[field].is_null() {
            pod_spec[field] = spec[field].clone();
        }
    }
    // Virtual machines run on compute servers and nowhere else.
    pod_spec["nodeSelector"][COMPUTE] = json!("true");
    if let Some(node) = node {
        pod_spec["nodeName"] = json!(node);
    }
    json!({
        "metadata": {
            "generateName": format!("virt-launcher-{name}-"),
            "labels": labels,
            "annotations": {"kubevirt.io/domain": name},
            "ownerReferences": [{
                "apiVersion": "kubevirt.io/v1",
                "kind": "VirtualMachineInstance",
                "name": name,
                "uid": metadata["uid"],
                "controller": true,
                "blockOwnerDeletion": true,
            }],
        },
        "spec": pod_spec,
    })
}

/// Processors and memory of the guest, from whichever of the places where a template may say it.
fn wants(spec: &Value) -> (String, String) {
    let domain = &spec["domain"];
    let count = |field: &str| domain["cpu"][field].as_i64().unwrap_or(1).max(1);
    let asked = &domain["resources"]["requests"];
    let cpu = if !asked["cpu"].is_null() {
        asked["cpu"].as_str().map_or_else(|| asked["cpu"].to_string(), str::to_owned)
    } else {
        (count("cores") * count("sockets") * count("threads")).to_string()
    };
    let given = [&domain["memory"]["guest"], &asked["memory"], &domain["resources"]["limits"]["memory"]];
    let guest = given.into_iter().find(|memory| !memory.is_null()).map_or(0, quantity::ones);
    (cpu, format!("{}Mi", guest.div_euclid(1 << 20) + OVERHEAD_MIB))
}

fn volumes(spec: &Value) -> Vec<Value> {
    let volumes = spec["volumes"].as_array().into_iter().flatten();
    let claims = volumes.filter_map(|volume| {
        let claim = volume["dataVolume"]["name"].as_str().or_else(|| volume["persistentVolumeClaim"]["claimName"].as_str())?;
        Some(json!({"name": volume["name"], "persistentVolumeClaim": {"claimName": claim}}))
    });
    claims.collect()
}
