//! Tenants' belongings as objects: what a description becomes in the undercloud and in the tenants' clusters.

use serde_json::{Map, Value, json};

use crate::clusters::ClusterName;
use crate::layout::Layout;
use crate::objects::{
    CLUSTERS, DAEMON_SETS, DEPLOYMENTS, DISRUPTION_BUDGETS, MACHINE_DEPLOYMENTS, MACHINES, NAMESPACES, ObjectError, ObjectKey, PODS, Part,
    Resource, SECRETS, STATEFUL_SETS, VIRTUAL_MACHINES,
};
use crate::pace::Pace;
use crate::site::World;
use crate::tenancy::{ClusterNode, Tenancy, TenantCluster, TenantVm, VmDisk, VmManner, VmPower, Workload, WorkloadKind};
use crate::time::{Instant, Span};
use crate::virt::{TENANT_NAMESPACE, capi, vm};

/// How long before anybody looks tenants came, in the site's time: long enough for everything to have settled.
const SETTLING: Span = Span::minutes(20);

/// What the pods of described workloads run.
const IMAGE: &str = "registry.example/app:1";

/// How the kubeconfig of a tenant cluster names its API server where nobody listens on a socket.
pub fn tenant_server(cluster: &str) -> String {
    format!("https://{cluster}.tenant.invalid")
}

/// A kubeconfig as YAML. Names are quoted as JSON, which YAML reads too; `ca_data` is in base64 already.
pub fn tenant_kubeconfig(cluster: &str, server: &str, ca_data: Option<&str>, token: &str) -> String {
    let name = Value::from(cluster);
    let trust = ca_data.map_or_else(String::new, |data| format!("    certificate-authority-data: {data}\n"));
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         current-context: {name}\n\
         clusters:\n\
         - name: {name}\n\
         \x20 cluster:\n\
         \x20   server: {server}\n\
         {trust}\
         users:\n\
         - name: {name}\n\
         \x20 user:\n\
         \x20   token: \"{token}\"\n\
         contexts:\n\
         - name: {name}\n\
         \x20 context:\n\
         \x20   cluster: {name}\n\
         \x20   user: {name}\n",
    )
}

impl World {
    /// A site with tenants, who have been there since before anybody looked.
    pub fn with_tenants(layout: Layout, pace: Pace, now: Instant, tenancy: &Tenancy) -> World {
        let began = Instant(now.0 - pace.in_site_time(SETTLING).0);
        let mut world = World::new(layout, pace, began);
        for vm in &tenancy.vms {
            world.tenant_vm(&vm.name, &vm.machine, vm_document(vm), began);
        }
        for cluster in &tenancy.clusters {
            world.tenant_cluster(cluster, began);
        }
        world.virt_settle(began);
        // The nodes of a cluster come up before anything is asked of it.
        let joined = Instant(began.0 + (now.0 - began.0) / 2);
        world.advance(joined);
        for cluster in &tenancy.clusters {
            for workload in &cluster.workloads {
                world.tenant_workload(&cluster.name, workload, joined);
            }
        }
        world.advance(now);
        world
    }

    /// Makes the namespace of tenants, if it is not there.
    pub(crate) fn found_tenants(&mut self, at: Instant) {
        if self.undercloud.objects.get(&NAMESPACES, &ObjectKey::cluster(TENANT_NAMESPACE)).is_none() {
            let _ = self.undercloud.create(&NAMESPACES, "", json!({"metadata": {"name": TENANT_NAMESPACE}}), at);
        }
    }

    /// What was checked is taken by the API as well; a name that is there already stays as it is.
    fn tenant_vm(&mut self, name: &str, machine: &str, document: Value, at: Instant) {
        self.virt.born_on(ObjectKey::namespaced(TENANT_NAMESPACE, name), machine);
        self.make(&VIRTUAL_MACHINES, document, at);
    }

    fn make(&mut self, resource: &Resource, object: Value, at: Instant) {
        let _ = self.undercloud.create(resource, TENANT_NAMESPACE, object, at);
    }

    fn tenant_cluster(&mut self, cluster: &TenantCluster, at: Instant) {
        let TenantCluster { name, version, nodes, .. } = cluster;
        self.tenant_add(name, at);
        self.make(&CLUSTERS, capi::cluster(name, version), at);
        let pools: std::collections::BTreeSet<&str> = nodes.iter().filter_map(|node| node.pool.as_deref()).collect();
        for pool in pools {
            let replicas = nodes.iter().filter(|node| node.pool.as_deref() == Some(pool)).count();
            self.make(&MACHINE_DEPLOYMENTS, capi::machine_deployment(name, pool, version, replicas), at);
        }
        let kubeconfig = tenant_kubeconfig(name, &tenant_server(name), None, &self.layout.token_of(&ClusterName::Tenant(name.clone())));
        self.make(&SECRETS, capi::kubeconfig_secret(name, &kubeconfig), at);
        for node in nodes {
            self.make(&MACHINES, capi::machine(name, node.pool.as_deref(), &node.name, version), at);
            self.tenant_vm(&node.name, &node.machine, node_document(name, node), at);
        }
    }

    /// Writes the way into a tenant cluster where Cluster API keeps it.
    pub fn set_tenant_kubeconfig(&mut self, cluster: &str, kubeconfig: &str, now: Instant) -> Result<(), ObjectError> {
        let key = ObjectKey::namespaced(TENANT_NAMESPACE, &capi::kubeconfig_name(cluster));
        self.modify_object(&SECRETS, &key, Part::Main, now, |secret| {
            let mut secret = secret.clone();
            secret["stringData"] = json!({"value": kubeconfig});
            Ok::<_, ObjectError>(secret)
        })?;
        Ok(())
    }

    fn tenant_workload(&mut self, cluster: &str, workload: &Workload, at: Instant) {
        let cluster = ClusterName::Tenant(cluster.to_owned());
        let mut make = |resource: &Resource, object: Value| {
            let _ = self.create_object_in(&cluster, resource, "default", object, at);
        };
        if let Some(least) = workload.min_available {
            let spec = json!({"minAvailable": least, "selector": {"matchLabels": {"app": workload.name}}});
            make(&DISRUPTION_BUDGETS, json!({"metadata": {"name": workload.name}, "spec": spec}));
        }
        let labels = json!({"app": workload.name});
        let template = json!({"metadata": {"labels": labels}, "spec": pod_spec(workload)});
        let spec =
            json!({"replicas": workload.replicas, "selector": {"matchLabels": labels}, "template": template, "serviceName": workload.name});
        let object = json!({"metadata": {"name": workload.name, "labels": labels}, "spec": spec});
        match workload.kind {
            WorkloadKind::Deployment => make(&DEPLOYMENTS, object),
            WorkloadKind::StatefulSet => make(&STATEFUL_SETS, object),
            WorkloadKind::DaemonSet => make(&DAEMON_SETS, object),
            WorkloadKind::Bare => {
                for number in 0..workload.replicas {
                    let name = if workload.replicas == 1 { workload.name.clone() } else { format!("{}-{number}", workload.name) };
                    make(&PODS, json!({"metadata": {"name": name, "labels": labels}, "spec": pod_spec(workload)}));
                }
            }
        }
    }
}

fn pod_spec(workload: &Workload) -> Value {
    let requests = json!({"cpu": format!("{}m", workload.cpu_millis), "memory": format!("{}Mi", workload.memory_mib)});
    json!({"containers": [{"name": "app", "image": IMAGE, "resources": {"requests": requests}}]})
}

fn vm_document(vm: &TenantVm) -> Value {
    let mut document = document(&vm.name, vm.cores, vm.memory_gib, vm.disk, &Map::new());
    document["spec"]["runStrategy"] = json!(if vm.power == VmPower::Running { "Always" } else { "Halted" });
    if vm.manner == VmManner::Stubborn {
        document["metadata"]["annotations"] = json!({vm::IGNORES_SHUTDOWN: "true"});
    }
    document
}

fn node_document(cluster: &str, node: &ClusterNode) -> Value {
    let labels = capi::node_labels(cluster, node.pool.as_deref());
    document(&node.name, node.cores, node.memory_gib, VmDisk::Persistent, &labels)
}

/// A virtual machine as a tenant would write it.
fn document(name: &str, cores: u32, memory_gib: u32, disk: VmDisk, labels: &Map<String, Value>) -> Value {
    let volume = format!("{name}-os");
    let source = match disk {
        VmDisk::Persistent => json!({"name": "os", "dataVolume": {"name": volume}}),
        VmDisk::Ephemeral => json!({"name": "os", "containerDisk": {"image": "registry.example/guest:1"}}),
    };
    let mut document = json!({
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "runStrategy": "Always",
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "domain": {
                        "cpu": {"cores": cores},
                        "memory": {"guest": format!("{memory_gib}Gi")},
                        "devices": {"disks": [{"name": "os", "disk": {"bus": "virtio"}}]},
                    },
                    "terminationGracePeriodSeconds": 180,
                    "volumes": [source],
                },
            },
        },
    });
    if disk == VmDisk::Persistent {
        document["spec"]["dataVolumeTemplates"] = json!([{
            "metadata": {"name": volume},
            "spec": {
                "source": {"registry": {"url": "docker://registry.example/guest:1"}},
                "storage": {"resources": {"requests": {"storage": "32Gi"}}},
            },
        }]);
    }
    document
}
