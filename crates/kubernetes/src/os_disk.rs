//! The disk that a virtual machine boots from: which of its disks that is, and what is seen of it.

use kube::api::DynamicObject;
use model::{DiskRef, OsDiskSeen, VmName};
use serde_json::Value;

use crate::source::CustomResource;
use crate::tenants::VIRTUAL_MACHINE;

pub(crate) const DATA_VOLUME: CustomResource = CustomResource { group: "cdi.kubevirt.io", kind: "DataVolume", plural: "datavolumes" };
pub(crate) const DATA_VOLUME_VERSION: &str = "v1beta1";

/// The disk that a virtual machine boots from, if KubeVirt makes it from one of the templates of the virtual machine. One with an
/// image of its own boots from that, whatever else it has: then its other disks hold data, and are nobody's to throw away.
pub(crate) fn os_disk_name(vm: &DynamicObject) -> Option<String> {
    let spec = &vm.data["spec"];
    let templates = spec["dataVolumeTemplates"].as_array()?;
    let instance = &spec["template"]["spec"];
    let volumes = instance["volumes"].as_array()?;
    let boots = match boot_device(&instance["domain"]["devices"]["disks"]) {
        Some(device) => volumes.iter().find(|volume| volume["name"] == *device),
        // KubeVirt gives each volume without a disk one, in their order.
        None => volumes.first(),
    }?;
    let name = boots["dataVolume"]["name"].as_str().or_else(|| boots["persistentVolumeClaim"]["claimName"].as_str())?;
    templates.iter().any(|template| template["metadata"]["name"] == name).then(|| name.to_owned())
}

/// The first in the boot order; those that are not in it come after, as they are listed.
fn boot_device(disks: &Value) -> Option<&Value> {
    let first = disks.as_array()?.iter().min_by_key(|disk| disk["bootOrder"].as_u64().unwrap_or(u64::MAX))?;
    Some(&first["name"])
}

/// A disk that KubeVirt made for a virtual machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnedDisk {
    pub vm: VmName,
    pub disk: DiskRef,
    is_ending: bool,
}

/// Nothing for a disk that belongs to no virtual machine. KubeVirt knows its own by their owner too, and takes no others.
pub(crate) fn disk_seen(object: &DynamicObject) -> Option<OwnedDisk> {
    let metadata = &object.metadata;
    let owners = metadata.owner_references.as_deref().unwrap_or_default();
    let owner = owners.iter().find(|owner| owner.kind == VIRTUAL_MACHINE.kind)?;
    Some(OwnedDisk {
        vm: VmName::new(owner.name.as_str()).ok()?,
        disk: DiskRef { name: metadata.name.clone()?, uid: metadata.uid.clone()? },
        is_ending: metadata.deletion_timestamp.is_some(),
    })
}

pub(crate) fn os_disk_seen(found: Option<&OwnedDisk>) -> OsDiskSeen {
    match found {
        None => OsDiskSeen::Absent,
        Some(OwnedDisk { disk, is_ending, .. }) => OsDiskSeen::There { disk: disk.clone(), is_ending: *is_ending },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn name(disks: &Value, volumes: &Value) -> Option<String> {
        let instance = json!({"domain": {"devices": {"disks": disks}}, "volumes": volumes});
        let templates = json!([{"metadata": {"name": "data"}}, {"metadata": {"name": "system"}}]);
        let vm = json!({"metadata": {"name": "fw"}, "spec": {"dataVolumeTemplates": templates, "template": {"spec": instance}}});
        os_disk_name(&serde_json::from_value(vm).unwrap())
    }

    #[test]
    fn the_disk_that_boots_is_told_from_those_with_data() {
        let system = json!({"name": "os", "dataVolume": {"name": "system"}});
        let data = json!({"name": "data", "dataVolume": {"name": "data"}});
        let image = json!({"name": "os", "containerDisk": {"image": "fw:1"}});
        let claimed = json!({"name": "os", "persistentVolumeClaim": {"claimName": "system"}});
        let foreign = json!({"name": "os", "dataVolume": {"name": "made-by-somebody-else"}});
        let ordered = json!([{"name": "data"}, {"name": "os", "bootOrder": 1}]);
        let listed = json!([{"name": "os"}, {"name": "data"}]);
        let system_name = Some("system".to_owned());
        assert_eq!(name(&ordered, &json!([data, system])), system_name);
        assert_eq!(name(&listed, &json!([data, system])), system_name);
        assert_eq!(name(&listed, &json!([data, claimed])), system_name);
        assert_eq!(name(&Value::Null, &json!([system, data])), system_name, "without disks the first volume boots");
        assert_eq!(name(&listed, &json!([data, image])), None, "it boots from an image, and its data stays");
        assert_eq!(name(&listed, &json!([data, foreign])), None, "it is not made anew when it is gone");
        assert_eq!(name(&listed, &Value::Null), None);
    }

    #[test]
    fn only_what_belongs_to_a_virtual_machine_is_a_disk_of_one() {
        let disk = |owners: Value| {
            let metadata = json!({"name": "fw-os", "uid": "d-1", "ownerReferences": owners, "deletionTimestamp": "2026-11-15T14:00:00Z"});
            disk_seen(&serde_json::from_value(json!({"metadata": metadata})).unwrap())
        };
        let owner = |kind: &str| json!([{"apiVersion": "kubevirt.io/v1", "kind": kind, "name": "fw", "uid": "u-1"}]);
        let there = OsDiskSeen::There { disk: DiskRef { name: "fw-os".to_owned(), uid: "d-1".to_owned() }, is_ending: true };
        assert_eq!(os_disk_seen(disk(owner("VirtualMachine")).as_ref()), there);
        assert_eq!(disk(owner("DataImportCron")), None);
        assert_eq!(disk(Value::Null), None);
    }
}
