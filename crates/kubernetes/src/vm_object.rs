//! The KubeVirt object of a virtual machine, from what a client described.

use model::{BootMethod, DiskStorage, NetworkAttachment, VirtioInterface, VmName, VmSpec};
use serde_json::{Value, json};

use crate::hints::affinity;

/// Says on each object that we made who made it.
pub const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "rackwright");

/// The label by which KubeVirt's pods name their virtual machine.
pub(crate) const VM_NAME: &str = "vm.kubevirt.io/name";

/// The disk with the operating system.
pub(crate) fn os_disk_name(vm: &VmName) -> String {
    format!("{}-os", vm.key())
}

/// Secrets that lie beside a virtual machine.
pub(crate) fn cloud_init_name(vm: &VmName) -> String {
    format!("{}-cloud-init", vm.key())
}

pub(crate) fn registry_name(vm: &VmName) -> String {
    format!("{}-registry", vm.key())
}

pub(crate) fn ssh_keys_name(vm: &VmName) -> String {
    format!("{}-ssh-keys", vm.key())
}

pub(crate) fn has_cloud_init(spec: &VmSpec) -> bool {
    spec.user_data.is_some() || spec.network_data.is_some() || !spec.ssh_public_keys.is_empty()
}

/// The object that asks KubeVirt to run the virtual machine.
pub(crate) fn vm_object(name: &VmName, spec: &VmSpec, namespace: &str) -> Value {
    let labels = json!({MANAGED_BY.0: MANAGED_BY.1, VM_NAME: name.key()});
    let mut body = json!({
        "runStrategy": "Always",
        "template": {"metadata": {"labels": labels}, "spec": instance_spec(name, spec)},
    });
    if spec.os_disk.storage == DiskStorage::Persistent {
        body["dataVolumeTemplates"] = json!([os_disk(name, spec)]);
    }
    json!({
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name.key(), "namespace": namespace, "labels": {MANAGED_BY.0: MANAGED_BY.1}},
        "spec": body,
    })
}

/// The disk that KubeVirt makes from the image, and makes anew when it is gone.
fn os_disk(name: &VmName, spec: &VmSpec) -> Value {
    let login = spec.registry.as_ref().map(|_| registry_name(name));
    let mut source = if spec.image.starts_with("http://") || spec.image.starts_with("https://") {
        json!({"http": {"url": spec.image}})
    } else {
        json!({"registry": {"url": format!("docker://{}", spec.image)}})
    };
    if let (Some(login), Some(kind)) = (login, source.as_object_mut().and_then(|source| source.values_mut().next())) {
        kind["secretRef"] = json!(login);
    }
    json!({
        "metadata": {"name": os_disk_name(name), "labels": {MANAGED_BY.0: MANAGED_BY.1}},
        "spec": {
            "source": source,
            "storage": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": format!("{}Gi", spec.os_disk.size_gb)}}},
        },
    })
}

fn instance_spec(name: &VmName, spec: &VmSpec) -> Value {
    let networks: Vec<&NetworkAttachment> = spec.cloud_services_network.iter().chain(&spec.networks).collect();
    let mut instance = json!({
        "domain": domain(spec, &networks),
        "volumes": volumes(name, spec),
    });
    if !networks.is_empty() {
        let named = |(index, network): (usize, &&NetworkAttachment)| json!({"name": interface_name(index), "multus": {"networkName": last_segment(&network.network_id)}});
        instance["networks"] = networks.iter().enumerate().map(named).collect();
    }
    if !spec.ssh_public_keys.is_empty() {
        let source = json!({"secret": {"secretName": ssh_keys_name(name)}});
        instance["accessCredentials"] = json!([{"sshPublicKey": {"source": source, "propagationMethod": {"noCloud": {}}}}]);
    }
    let affinity = affinity(&spec.placement_hints);
    if affinity.as_object().is_some_and(|affinity| !affinity.is_empty()) {
        instance["affinity"] = affinity;
    }
    instance
}

fn domain(spec: &VmSpec, networks: &[&NetworkAttachment]) -> Value {
    let mut disks = vec![json!({"name": "os", "bootOrder": 1, "disk": {"bus": "virtio"}})];
    disks.extend((0..spec.volume_attachments.len()).map(|index| json!({"name": volume_name(index), "disk": {"bus": "virtio"}})));
    if has_cloud_init(spec) {
        disks.push(json!({"name": "cloud-init", "disk": {"bus": "virtio"}}));
    }
    let mut devices = json!({"disks": disks});
    if !networks.is_empty() {
        devices["interfaces"] = (0..networks.len()).map(|index| json!({"name": interface_name(index), "bridge": {}})).collect();
    }
    if spec.virtio_interface == Some(VirtioInterface::Transitional) {
        devices["useVirtioTransitional"] = json!(true);
    }
    let mut cpu = json!({"cores": spec.cpu_cores});
    if spec.isolate_emulator_thread == Some(true) {
        // KubeVirt isolates the thread only of one whose processors are its own.
        cpu["dedicatedCpuPlacement"] = json!(true);
        cpu["isolateEmulatorThread"] = json!(true);
    }
    let mut domain = json!({"cpu": cpu, "memory": {"guest": format!("{}Gi", spec.memory_gb)}, "devices": devices});
    if spec.boot_method == Some(BootMethod::Uefi) {
        domain["firmware"] = json!({"bootloader": {"efi": {"secureBoot": false}}});
    }
    domain
}

fn volumes(name: &VmName, spec: &VmSpec) -> Vec<Value> {
    let os = match spec.os_disk.storage {
        DiskStorage::Persistent => json!({"name": "os", "dataVolume": {"name": os_disk_name(name)}}),
        DiskStorage::Ephemeral => {
            let mut disk = json!({"image": spec.image});
            if spec.registry.is_some() {
                disk["imagePullSecret"] = json!(registry_name(name));
            }
            json!({"name": "os", "containerDisk": disk})
        }
    };
    let attached = spec.volume_attachments.iter().enumerate();
    let attached =
        attached.map(|(index, id)| json!({"name": volume_name(index), "persistentVolumeClaim": {"claimName": last_segment(id)}}));
    let mut volumes: Vec<Value> = std::iter::once(os).chain(attached).collect();
    if has_cloud_init(spec) {
        let secret = json!({"name": cloud_init_name(name)});
        let mut cloud_init = json!({"secretRef": secret});
        if spec.network_data.is_some() {
            cloud_init["networkDataSecretRef"] = secret;
        }
        volumes.push(json!({"name": "cloud-init", "cloudInitNoCloud": cloud_init}));
    }
    volumes
}

fn interface_name(index: usize) -> String {
    format!("net{index}")
}

fn volume_name(index: usize) -> String {
    format!("volume{index}")
}

/// The name at the end of a resource id, as Kubernetes writes names.
fn last_segment(id: &str) -> String {
    id.rsplit('/').next().unwrap_or(id).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use model::{OsDisk, Registry, SecretRef};

    use super::*;

    #[test]
    fn a_virtual_machine_is_rendered_in_full() {
        let spec = VmSpec {
            cpu_cores: 4,
            memory_gb: 8,
            image: "registry.example/fw:1".to_owned(),
            boot_method: Some(BootMethod::Uefi),
            os_disk: OsDisk { size_gb: 20, storage: DiskStorage::Persistent },
            user_data: Some(SecretRef::new("x")),
            registry: Some(Registry { url: "registry.example".to_owned(), username: "u".to_owned(), password: SecretRef::new("p") }),
            ..VmSpec::default()
        };
        let object = vm_object(&VmName::new("FirewallVnf").unwrap(), &spec, "tenants");
        let parts = ["metadata", "spec/dataVolumeTemplates/0/spec", "spec/runStrategy", "spec/template/metadata"];
        let instance = ["domain", "volumes"].map(|part| format!("spec/template/spec/{part}"));
        let paths = parts.into_iter().map(str::to_owned).chain(instance);
        let told: String = paths.map(|path| format!("{path}: {}\n", object.pointer(&format!("/{path}")).unwrap())).collect();
        expect![[r#"
            metadata: {"name":"firewallvnf","namespace":"tenants","labels":{"app.kubernetes.io/managed-by":"rackwright"}}
            spec/dataVolumeTemplates/0/spec: {"source":{"registry":{"url":"docker://registry.example/fw:1","secretRef":"firewallvnf-registry"}},"storage":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"20Gi"}}}}
            spec/runStrategy: "Always"
            spec/template/metadata: {"labels":{"app.kubernetes.io/managed-by":"rackwright","vm.kubevirt.io/name":"firewallvnf"}}
            spec/template/spec/domain: {"cpu":{"cores":4},"memory":{"guest":"8Gi"},"devices":{"disks":[{"name":"os","bootOrder":1,"disk":{"bus":"virtio"}},{"name":"cloud-init","disk":{"bus":"virtio"}}]},"firmware":{"bootloader":{"efi":{"secureBoot":false}}}}
            spec/template/spec/volumes: [{"name":"os","dataVolume":{"name":"firewallvnf-os"}},{"name":"cloud-init","cloudInitNoCloud":{"secretRef":{"name":"firewallvnf-cloud-init"}}}]
        "#]].assert_eq(&told);
    }

    #[test]
    fn an_ephemeral_disk_is_the_image_itself() {
        let os_disk = OsDisk { size_gb: 20, storage: DiskStorage::Ephemeral };
        let spec = VmSpec { image: "fw:1".to_owned(), os_disk, ..VmSpec::default() };
        let object = vm_object(&VmName::new("a").unwrap(), &spec, "tenants");
        assert_eq!(object["spec"]["template"]["spec"]["volumes"][0]["containerDisk"]["image"], "fw:1");
        assert_eq!(object["spec"].get("dataVolumeTemplates"), None);
    }
}
