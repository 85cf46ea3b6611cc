//! What guests do, whatever the API says of them: they run while their pod does on a host that is up, and no longer.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use serde_json::Value;

use super::timers::Awaited;
use super::{capi, instance};
use crate::KUBERNETES_VERSION;
use crate::fault::{FaultKind, FaultTarget};
use crate::host::{TenantNode, TenantRole};
use crate::objects::{MACHINES, ObjectKey, VIRTUAL_MACHINES};
use crate::pod::{self, Work};
use crate::quantity;
use crate::random::Random;
use crate::site::World;
use crate::time::Instant;

/// A guest that runs.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    /// The pod that it runs in. Another pod is another boot.
    launcher: String,
    /// Whether its tenant cluster was told that this host is up.
    is_told: bool,
}

impl World {
    /// Whether the guest in this pod runs: not what the API says, but what is so.
    pub(super) fn is_guest_alive(&self, launcher: &Value) -> bool {
        let Some(index) = pod::node_name(launcher).and_then(|node| self.layout.index_of(node)) else { return false };
        let boot = self.states[index].machine.boot_id();
        let is_of_this_boot = boot.is_some_and(|boot| pod::work(launcher, boot) != Some(Work::Start));
        is_of_this_boot && pod::phase(launcher) == "Running" && !pod::is_terminating(launcher)
    }

    /// Looks at the guest of a virtual machine, and tells its tenant cluster what became of its host. Whether it is up.
    pub(super) fn guest_settles(&mut self, key: &ObjectKey, launcher: Option<&Value>, instance: Option<&Value>, at: Instant) -> bool {
        let alive = launcher.filter(|launcher| self.is_guest_alive(launcher));
        let Some(launcher) = alive else {
            self.virt.timers.forget(key, Awaited::Boot);
            self.guest_leaves(key, at);
            return false;
        };
        let uid = launcher["metadata"]["uid"].as_str().unwrap_or_default();
        if self.virt.guests.get(key).is_none_or(|guest| guest.launcher != uid) {
            self.guest_leaves(key, at);
            self.virt.timers.forget(key, Awaited::Boot);
            self.virt.guests.insert(key.clone(), Guest { launcher: uid.to_owned(), is_told: false });
        }
        let boot = self.pace.vm_boot;
        // One that was up when the simulator stopped does not boot again when it goes on.
        let is_up = instance.is_some_and(instance::is_guest_up) || self.virt.timers.is_over(key, Awaited::Boot, boot, at);
        let Some(index) = pod::node_name(launcher).and_then(|node| self.layout.index_of(node)) else { return is_up };
        let can_talk = is_up && self.reaches_api(index);
        let is_told = self.virt.guests.get(key).is_some_and(|guest| guest.is_told);
        if can_talk && !is_told {
            self.guest_arrives(key, launcher, index, at);
        } else if !can_talk && is_told {
            self.guest_falls_silent(key, at);
        }
        is_up
    }

    fn guest_arrives(&mut self, key: &ObjectKey, launcher: &Value, machine: usize, at: Instant) {
        if let Some(guest) = self.virt.guests.get_mut(key) {
            guest.is_told = true;
        }
        let Some(vm) = self.undercloud.objects.get(&VIRTUAL_MACHINES, key).cloned() else { return };
        let Some((cluster, node)) = self.tenant_node_of(&vm, machine) else { return };
        let boot_id = Random::new(0, &format!("guest-boot/{}", launcher["metadata"]["uid"])).uuid();
        self.tenant_host_up(&cluster, &node, &boot_id, at);
    }

    fn guest_leaves(&mut self, key: &ObjectKey, at: Instant) {
        self.guest_falls_silent(key, at);
        self.virt.guests.remove(key);
    }

    fn guest_falls_silent(&mut self, key: &ObjectKey, at: Instant) {
        let Some(guest) = self.virt.guests.get_mut(key).filter(|guest| guest.is_told) else { return };
        guest.is_told = false;
        let labels = self.undercloud.objects.get(&VIRTUAL_MACHINES, key).map(|vm| vm["metadata"]["labels"].clone());
        let cluster = labels.as_ref().and_then(|labels| labels[capi::CLUSTER_LABEL].as_str().map(str::to_owned));
        match cluster {
            Some(cluster) => self.tenant_host_down(&cluster, &key.name, at),
            // One that was deleted in the meantime is looked for where it could have been.
            None => {
                let clusters: Vec<String> = self.tenants.keys().cloned().collect();
                clusters.iter().for_each(|cluster| self.tenant_host_down(cluster, &key.name, at));
            }
        }
    }

    /// The virtual machine as a node of its tenant cluster, if it is one.
    fn tenant_node_of(&self, vm: &Value, machine: usize) -> Option<(String, TenantNode)> {
        let labels = &vm["metadata"]["labels"];
        let cluster = labels[capi::CLUSTER_LABEL].as_str()?.to_owned();
        let name = vm["metadata"]["name"].as_str()?.to_owned();
        let role = match labels[capi::POOL_LABEL].as_str() {
            Some(pool) => {
                let mode = labels[capi::MODE_LABEL].as_str().unwrap_or("User").to_owned();
                TenantRole::Worker { pool: pool.to_owned(), mode }
            }
            None => TenantRole::ControlPlane,
        };
        let spec = self.spec(machine);
        let domain = &vm["spec"]["template"]["spec"]["domain"];
        let memory_mib = quantity::ones(&domain["memory"]["guest"]) >> 20;
        let mut random = Random::new(self.layout.site_seed(), &format!("guest/{name}"));
        let address = Ipv4Addr::new(10, 128, random.below(256) as u8, 1 + random.below(254) as u8);
        let node = TenantNode {
            role,
            machine: spec.name.clone(),
            zone: spec.rack_name().to_owned(),
            cpu_cores: domain["cpu"]["cores"].as_u64().and_then(|cores| u32::try_from(cores).ok()).unwrap_or(1),
            memory_mib: u32::try_from(memory_mib).unwrap_or(u32::MAX),
            address,
            uuid: random.uuid(),
            labels: BTreeMap::new(),
            version: self.version_of(&name),
            name,
        };
        Some((cluster, node))
    }

    /// The Kubernetes of a tenant cluster's node, as its Machine has it.
    fn version_of(&self, node: &str) -> String {
        let machine = self.undercloud.objects.get(&MACHINES, &ObjectKey::namespaced(super::TENANT_NAMESPACE, node));
        let version = machine.and_then(|machine| machine["spec"]["version"].as_str());
        version.unwrap_or(KUBERNETES_VERSION).to_owned()
    }

    /// Whether a fault of this kind strikes the virtual machine now.
    pub(super) fn is_vm_struck(&self, kind: FaultKind, key: &ObjectKey) -> bool {
        key.namespace == super::TENANT_NAMESPACE && self.faults.active(kind, FaultTarget::Vm(key.name.clone())).is_some()
    }
}
