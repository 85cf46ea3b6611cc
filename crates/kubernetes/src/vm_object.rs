//! The KubeVirt object of a virtual machine, from what a client described.

use model::{
    BootMethod, DiskStorage, HintExecution, HintKind, HintScope, HintTarget, NetworkAttachment, PlacementHint, VirtioInterface, VmName,
    VmSpec,
};
use serde_json::{Map, Value, json};

use crate::node::MACHINE;

/// Says on each object that we made who made it.
pub const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "rackwright");

/// The label by which KubeVirt's pods name their virtual machine.
const VM_NAME: &str = "vm.kubevirt.io/name";

const HOSTNAME: &str = "kubernetes.io/hostname";

/// The label that names the rack of the machine on which a node runs.
const RACK: &str = "topology.kubernetes.io/zone";

/// How much a wish counts against others. One of several is as good as another, so that all have the most.
const WISH_WEIGHT: u32 = 100;

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

/// Placement hints as Kubernetes' affinity.
fn affinity(hints: &[PlacementHint]) -> Value {
    let mut near = Wishes::default();
    let mut apart = Wishes::default();
    let mut nodes = NodeWishes::default();
    for hint in hints {
        match &hint.target {
            HintTarget::Vm(vm) => {
                let topology_key = if hint.scope == HintScope::Rack { RACK } else { HOSTNAME };
                let term = json!({"labelSelector": {"matchLabels": {VM_NAME: vm.key()}}, "topologyKey": topology_key});
                let wishes = if hint.kind == HintKind::Affinity { &mut near } else { &mut apart };
                wishes.add(hint.execution, term);
            }
            HintTarget::Machine(machine) => nodes.add(hint, MACHINE, machine.as_str()),
            HintTarget::Rack(rack) => nodes.add(hint, RACK, rack.as_str()),
        }
    }
    let parts = [("podAffinity", near.rendered()), ("podAntiAffinity", apart.rendered()), ("nodeAffinity", nodes.rendered())];
    parts.into_iter().filter_map(|(name, part)| Some((name.to_owned(), part?))).collect::<Map<_, _>>().into()
}

/// Terms about pods.
#[derive(Default)]
struct Wishes {
    required: Vec<Value>,
    preferred: Vec<Value>,
}

impl Wishes {
    fn add(&mut self, execution: HintExecution, term: Value) {
        match execution {
            HintExecution::Hard => self.required.push(term),
            HintExecution::Soft => self.preferred.push(json!({"weight": WISH_WEIGHT, "podAffinityTerm": term})),
        }
    }

    fn rendered(self) -> Option<Value> {
        rendered((!self.required.is_empty()).then(|| json!(self.required)), self.preferred)
    }
}

/// Expressions about nodes. Those that must hold stand in one term, since several terms would be alternatives.
#[derive(Default)]
struct NodeWishes {
    required: Vec<Value>,
    preferred: Vec<Value>,
}

impl NodeWishes {
    fn add(&mut self, hint: &PlacementHint, label: &str, value: &str) {
        let operator = if hint.kind == HintKind::Affinity { "In" } else { "NotIn" };
        let expression = json!({"key": label, "operator": operator, "values": [value]});
        match hint.execution {
            HintExecution::Hard => self.required.push(expression),
            HintExecution::Soft => self.preferred.push(json!({"weight": WISH_WEIGHT, "preference": {"matchExpressions": [expression]}})),
        }
    }

    fn rendered(self) -> Option<Value> {
        let required = (!self.required.is_empty()).then(|| json!({"nodeSelectorTerms": [{"matchExpressions": self.required}]}));
        rendered(required, self.preferred)
    }
}

fn rendered(required: Option<Value>, preferred: Vec<Value>) -> Option<Value> {
    let mut parts = Map::new();
    if let Some(required) = required {
        parts.insert("requiredDuringSchedulingIgnoredDuringExecution".to_owned(), required);
    }
    if !preferred.is_empty() {
        parts.insert("preferredDuringSchedulingIgnoredDuringExecution".to_owned(), json!(preferred));
    }
    (!parts.is_empty()).then_some(Value::Object(parts))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use model::{MachineName, OsDisk, RackName, Registry, SecretRef};

    use super::*;

    fn hint(kind: HintKind, execution: HintExecution, scope: HintScope, target: HintTarget) -> PlacementHint {
        PlacementHint { kind, execution, scope, target }
    }

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
        expect![[r#"
            {
              "apiVersion": "kubevirt.io/v1",
              "kind": "VirtualMachine",
              "metadata": {
                "labels": {
                  "app.kubernetes.io/managed-by": "rackwright"
                },
                "name": "firewallvnf",
                "namespace": "tenants"
              },
              "spec": {
                "dataVolumeTemplates": [
                  {
                    "metadata": {
                      "labels": {
                        "app.kubernetes.io/managed-by": "rackwright"
                      },
                      "name": "firewallvnf-os"
                    },
                    "spec": {
                      "source": {
                        "registry": {
                          "secretRef": "firewallvnf-registry",
                          "url": "docker://registry.example/fw:1"
                        }
                      },
                      "storage": {
                        "accessModes": [
                          "ReadWriteOnce"
                        ],
                        "resources": {
                          "requests": {
                            "storage": "20Gi"
                          }
                        }
                      }
                    }
                  }
                ],
                "runStrategy": "Always",
                "template": {
                  "metadata": {
                    "labels": {
                      "app.kubernetes.io/managed-by": "rackwright",
                      "vm.kubevirt.io/name": "firewallvnf"
                    }
                  },
                  "spec": {
                    "domain": {
                      "cpu": {
                        "cores": 4
                      },
                      "devices": {
                        "disks": [
                          {
                            "bootOrder": 1,
                            "disk": {
                              "bus": "virtio"
                            },
                            "name": "os"
                          },
                          {
                            "disk": {
                              "bus": "virtio"
                            },
                            "name": "cloud-init"
                          }
                        ]
                      },
                      "firmware": {
                        "bootloader": {
                          "efi": {
                            "secureBoot": false
                          }
                        }
                      },
                      "memory": {
                        "guest": "8Gi"
                      }
                    },
                    "volumes": [
                      {
                        "dataVolume": {
                          "name": "firewallvnf-os"
                        },
                        "name": "os"
                      },
                      {
                        "cloudInitNoCloud": {
                          "secretRef": {
                            "name": "firewallvnf-cloud-init"
                          }
                        },
                        "name": "cloud-init"
                      }
                    ]
                  }
                }
              }
            }"#]]
        .assert_eq(&serde_json::to_string_pretty(&object).unwrap());
    }

    #[test]
    fn every_placement_hint_becomes_the_affinity_that_means_it() {
        use HintExecution::{Hard, Soft};
        use HintKind::{Affinity, AntiAffinity};
        let vm = HintTarget::Vm(VmName::new("Db1").unwrap());
        let machine = HintTarget::Machine(MachineName::new("rack1compute01").unwrap());
        let rack = HintTarget::Rack(RackName::new("rack2").unwrap());
        let row = |hint: PlacementHint| affinity(&[hint]).to_string() + "\n";
        let table = [
            row(hint(Affinity, Hard, HintScope::Machine, vm.clone())),
            row(hint(AntiAffinity, Hard, HintScope::Rack, vm.clone())),
            row(hint(AntiAffinity, Soft, HintScope::Machine, vm)),
            row(hint(Affinity, Hard, HintScope::Machine, machine.clone())),
            row(hint(AntiAffinity, Soft, HintScope::Machine, machine)),
            row(hint(Affinity, Soft, HintScope::Rack, rack.clone())),
            row(hint(AntiAffinity, Hard, HintScope::Rack, rack)),
        ];
        expect![[r#"
            {"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"vm.kubevirt.io/name":"db1"}},"topologyKey":"kubernetes.io/hostname"}]}}
            {"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"vm.kubevirt.io/name":"db1"}},"topologyKey":"topology.kubernetes.io/zone"}]}}
            {"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"podAffinityTerm":{"labelSelector":{"matchLabels":{"vm.kubevirt.io/name":"db1"}},"topologyKey":"kubernetes.io/hostname"},"weight":100}]}}
            {"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.kubernetes.io/baremetalmachine","operator":"In","values":["rack1compute01"]}]}]}}}
            {"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"preference":{"matchExpressions":[{"key":"topology.kubernetes.io/baremetalmachine","operator":"NotIn","values":["rack1compute01"]}]},"weight":100}]}}
            {"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"preference":{"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"In","values":["rack2"]}]},"weight":100}]}}
            {"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"NotIn","values":["rack2"]}]}]}}}
        "#]]
        .assert_eq(&table.concat());
        assert_eq!(affinity(&[]).to_string(), "{}");
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
