//! virt-controller: whom a change concerns, and what becomes of each virtual machine.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::timers::Awaited;
use super::{disk, instance, launcher, vm};
use crate::fault::FaultKind;
use crate::node;
use crate::objects::{
    CLAIMS, DATA_VOLUMES, Durability, NODES, ObjectError, ObjectKey, PODS, Part, Resource, VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES,
};
use crate::pod;
use crate::site::World;
use crate::time::{Instant, Span};
use crate::writes::DeleteOptions;

/// How often the controllers look again after their own writes before they rest: a stop to what would go round in circles.
const ROUNDS: usize = 64;

/// How long a virtual machine that crashed waits before it is started again: KubeVirt's first back-off.
const CRASH_BACK_OFF: Span = Span::seconds(10);

impl World {
    /// Lets the controllers see what has changed, until nothing follows any more.
    pub(crate) fn virt_settle(&mut self, at: Instant) {
        for _ in 0..ROUNDS {
            let concerned = self.virt_concerned(at);
            if concerned.is_empty() {
                return;
            }
            for key in concerned {
                if self.undercloud.is_available() {
                    self.vm_settles(&key, at);
                } else {
                    self.guest_alone(&key, at);
                }
            }
        }
    }

    /// Without an API nothing is decided and nothing is told; a guest lives or dies all the same.
    fn guest_alone(&mut self, key: &ObjectKey, at: Instant) {
        self.virt.seen = 0;
        let instance = self.undercloud.objects.get(&VIRTUAL_MACHINE_INSTANCES, key).cloned();
        let launcher = instance.as_deref().and_then(|instance| self.launcher_of(key, instance));
        self.guest_settles(key, launcher.as_ref().map(|(_, pod)| pod), instance.as_deref(), at);
    }

    /// The virtual machines that something has happened to since the controllers last looked.
    fn virt_concerned(&mut self, at: Instant) -> BTreeSet<ObjectKey> {
        let mut concerned: BTreeSet<ObjectKey> = self.virt.timers.ring(at).into_iter().collect();
        concerned.extend(std::mem::take(&mut self.virt.touched));
        let mut nodes = std::mem::take(&mut self.virt.disturbed);
        let (seen, version) = (self.virt.seen, self.undercloud.objects.version());
        if seen != version && self.undercloud.is_available() {
            self.virt.seen = version;
            // A site without virtual machines costs nothing.
            if self.undercloud.objects.list(&VIRTUAL_MACHINES, None).next().is_none() && self.virt.guests.is_empty() {
                return concerned;
            }
            // Whoever has seen nothing yet sees everything.
            let changed = if seen == 0 { None } else { self.virt_changes(seen, &mut nodes) };
            match changed {
                Some(changed) => concerned.extend(changed),
                None => concerned.extend(self.undercloud.objects.list(&VIRTUAL_MACHINES, None).map(|(key, _)| key.clone())),
            }
        }
        if !nodes.is_empty() {
            let pods = self.undercloud.objects.list(&PODS, Some(super::TENANT_NAMESPACE));
            concerned.extend(
                pods.filter(|(_, pod)| pod::node_name(pod).is_some_and(|node| nodes.contains(node))).filter_map(|(_, pod)| vm_of(pod)),
            );
        }
        concerned
    }

    /// What the changes after a version concern; nothing if some of them are forgotten.
    fn virt_changes(&self, seen: u64, nodes: &mut BTreeSet<String>) -> Option<BTreeSet<ObjectKey>> {
        let objects = &self.undercloud.objects;
        let mut concerned = BTreeSet::new();
        for resource in [&VIRTUAL_MACHINES, &VIRTUAL_MACHINE_INSTANCES] {
            concerned.extend(objects.changes_after(resource, seen).ok()?.map(|change| change.key.clone()));
        }
        for resource in [&PODS, &DATA_VOLUMES] {
            concerned.extend(objects.changes_after(resource, seen).ok()?.filter_map(|change| vm_of(&change.object)));
        }
        for change in objects.changes_after(&NODES, seen).ok()? {
            let status = |node: &Value| node::ready_status(node).map(str::to_owned);
            if change.previous.as_deref().map(status) != Some(status(&change.object)) {
                nodes.insert(change.key.name.clone());
            }
        }
        Some(concerned)
    }

    fn vm_settles(&mut self, key: &ObjectKey, at: Instant) {
        let Some(vm) = self.undercloud.objects.get(&VIRTUAL_MACHINES, key).cloned() else {
            self.instance_settles(key, None, at);
            self.virt.births.remove(key);
            if self.undercloud.objects.get(&VIRTUAL_MACHINE_INSTANCES, key).is_none() {
                self.virt.timers.forget_all(key);
            }
            return;
        };
        if !has_finalizer(&vm, vm::FINALIZER) && !pod::is_terminating(&vm) {
            self.virt_write(&VIRTUAL_MACHINES, key, at, |vm| with_finalizer(vm, vm::FINALIZER));
        }
        let are_disks_ready = if pod::is_terminating(&vm) { true } else { self.disks_settle(key, &vm, at) };
        self.instance_settles(key, Some(&vm), at);
        self.instance_wanted(key, are_disks_ready, at);
        let instance = self.undercloud.objects.get(&VIRTUAL_MACHINE_INSTANCES, key).cloned();
        if pod::is_terminating(&vm) && instance.is_none() {
            self.vm_goes(key, &vm, at);
            return;
        }
        self.virt_write(&VIRTUAL_MACHINES, key, at, |vm| vm::with_status(vm, instance.as_deref(), are_disks_ready, at));
    }

    /// Makes or ends the instance as the virtual machine wants it.
    fn instance_wanted(&mut self, key: &ObjectKey, are_disks_ready: bool, at: Instant) {
        let Some(vm) = self.undercloud.objects.get(&VIRTUAL_MACHINES, key).cloned() else { return };
        let instance = self.undercloud.objects.get(&VIRTUAL_MACHINE_INSTANCES, key).cloned();
        match instance {
            None if pod::is_terminating(&vm) => {}
            None => {
                if vm::asked(&vm) == Some("Stop") {
                    self.virt_write(&VIRTUAL_MACHINES, key, at, without_first_request);
                }
                let Some(vm) = self.undercloud.objects.get(&VIRTUAL_MACHINES, key).cloned() else { return };
                let wanted = vm::wants_instance(&vm, None) && are_disks_ready;
                if wanted && self.may_start_again(key, &vm, at) {
                    // The name is free: there was no instance a moment ago.
                    let _ = self.undercloud.create(&VIRTUAL_MACHINE_INSTANCES, &key.namespace, instance::of_vm(&vm), at);
                    if vm::asked(&vm) == Some("Start") {
                        self.virt_write(&VIRTUAL_MACHINES, key, at, without_first_request);
                    }
                    self.instance_settles(key, Some(&vm), at);
                }
            }
            Some(instance) if pod::is_terminating(&instance) => {}
            Some(instance) => {
                let is_over = instance::is_final(&instance);
                let is_unwanted = pod::is_terminating(&vm) || !vm::wants_instance(&vm, Some(&instance));
                // A stopped one that has ended by itself is left to be seen, as KubeVirt leaves it.
                if is_unwanted || (is_over && vm::reruns(&vm, &instance)) {
                    if is_over && !is_unwanted && instance["status"]["reason"] == "GuestCrashed" {
                        self.virt_write(&VIRTUAL_MACHINES, key, at, with_failure);
                    }
                    let _ = self.undercloud.delete(&VIRTUAL_MACHINE_INSTANCES, key, &DeleteOptions::default(), at);
                    self.instance_settles(key, Some(&vm), at);
                    if self.undercloud.objects.get(&VIRTUAL_MACHINE_INSTANCES, key).is_none() {
                        self.instance_wanted(key, are_disks_ready, at);
                    }
                }
            }
        }
    }

    /// Whether one that crashed has waited long enough.
    fn may_start_again(&mut self, key: &ObjectKey, vm: &Value, at: Instant) -> bool {
        if vm["status"]["startFailure"].is_null() {
            self.virt.timers.forget(key, Awaited::Retry);
            return true;
        }
        let failures = vm["status"]["startFailure"]["consecutiveFailCount"].as_u64().unwrap_or(1).min(6);
        let span = Span(self.pace.in_site_time(CRASH_BACK_OFF).0 << (failures - 1));
        let is_over = self.virt.timers.is_over(key, Awaited::Retry, span, at);
        if is_over {
            self.virt.timers.forget(key, Awaited::Retry);
        }
        is_over
    }

    /// Makes what is missing of the disks; whether all are there and filled.
    fn disks_settle(&mut self, key: &ObjectKey, vm: &Value, at: Instant) -> bool {
        let mut are_filled = true;
        for template in disk::templates(vm) {
            let disk_key = ObjectKey::namespaced(&key.namespace, disk::name(template));
            let birth = self.virt.births.get(key).cloned();
            if self.undercloud.objects.get(&DATA_VOLUMES, &disk_key).is_none() {
                // A claim that is left from before would be another disk's.
                let _ = self.undercloud.delete(&CLAIMS, &disk_key, &DeleteOptions::default(), at);
                let mut volume = disk::data_volume(vm, template);
                if birth.is_some() {
                    volume = disk::with_content(&volume);
                }
                if self.undercloud.create(&DATA_VOLUMES, &key.namespace, volume, at).is_err() {
                    return false;
                }
            }
            let Some(volume) = self.undercloud.objects.get(&DATA_VOLUMES, &disk_key).cloned() else { return false };
            if self.undercloud.objects.get(&CLAIMS, &disk_key).is_none() {
                let claim = disk::claim(&volume, None);
                let _ = self.undercloud.create(&CLAIMS, &key.namespace, claim, at);
                if let Some(node) = &birth {
                    self.virt_write(&CLAIMS, &disk_key, at, |claim| disk::with_place(claim, node));
                }
            }
            if !disk::is_filled(&volume) {
                let import = self.pace.disk_import;
                // The disks of one virtual machine are filled side by side.
                if self.virt.timers.is_over(key, Awaited::Disk, import, at) {
                    self.virt_write(&DATA_VOLUMES, &disk_key, at, disk::with_content);
                } else {
                    are_filled = false;
                }
            }
        }
        if are_filled {
            self.virt.timers.forget(key, Awaited::Disk);
        }
        are_filled
    }

    /// A deleted virtual machine takes its disks along.
    fn vm_goes(&mut self, key: &ObjectKey, vm: &Value, at: Instant) {
        for template in disk::templates(vm) {
            let disk_key = ObjectKey::namespaced(&key.namespace, disk::name(template));
            for resource in [&DATA_VOLUMES, &CLAIMS] {
                let _ = self.undercloud.delete(resource, &disk_key, &DeleteOptions::default(), at);
            }
        }
        self.virt.timers.forget_all(key);
        let released: Result<_, ObjectError> =
            self.undercloud.modify(&VIRTUAL_MACHINES, key, Part::Whole, at, |vm| Ok(without_finalizer(vm, vm::FINALIZER)));
        drop(released);
    }

    /// Writes as a controller: the whole object, if it is there.
    pub(super) fn virt_write(&mut self, resource: &Resource, key: &ObjectKey, at: Instant, change: impl FnOnce(&Value) -> Value) {
        let before = self.undercloud.objects.get(resource, key).cloned();
        let written: Result<Arc<Value>, ObjectError> =
            self.undercloud.objects.modify(resource, key, Part::Whole, Durability::Kept, |object| Ok(change(object)));
        if let (Ok(after), Some(before)) = (written, before)
            && after != before
        {
            self.undercloud.object_written(resource, key, Some(&before), Some(&after), at);
        }
    }

    /// Whether the guest of this virtual machine does not hear a shutdown.
    pub(super) fn ignores_shutdown(&self, key: &ObjectKey, vm: Option<&Value>) -> bool {
        let is_marked = vm.is_some_and(|vm| vm["metadata"]["annotations"][vm::IGNORES_SHUTDOWN] == "true");
        is_marked || self.is_vm_struck(FaultKind::VmIgnoresShutdown, key)
    }
}

/// The virtual machine that a launcher's pod or a data volume belongs to.
fn vm_of(object: &Value) -> Option<ObjectKey> {
    let metadata = &object["metadata"];
    let namespace = metadata["namespace"].as_str()?;
    if object["kind"] == "Pod" {
        return launcher::is_launcher(object)
            .then(|| metadata["labels"]["vm.kubevirt.io/name"].as_str().map(|name| ObjectKey::namespaced(namespace, name)))?;
    }
    let owner = &metadata["ownerReferences"][0];
    (owner["kind"] == "VirtualMachine").then(|| owner["name"].as_str().map(|name| ObjectKey::namespaced(namespace, name)))?
}

pub(super) fn has_finalizer(object: &Value, finalizer: &str) -> bool {
    object["metadata"]["finalizers"].as_array().is_some_and(|finalizers| finalizers.iter().any(|found| found == finalizer))
}

fn with_finalizer(object: &Value, finalizer: &str) -> Value {
    let mut new = object.clone();
    let finalizers = &mut new["metadata"]["finalizers"];
    if !finalizers.is_array() {
        *finalizers = json!([]);
    }
    if let Some(finalizers) = finalizers.as_array_mut() {
        finalizers.push(json!(finalizer));
    }
    new
}

pub(super) fn without_finalizer(object: &Value, finalizer: &str) -> Value {
    let mut new = object.clone();
    if let Some(finalizers) = new["metadata"]["finalizers"].as_array_mut() {
        finalizers.retain(|found| found != finalizer);
    }
    new
}

fn without_first_request(vm: &Value) -> Value {
    let mut new = vm.clone();
    if let Some(requests) = new["status"]["stateChangeRequests"].as_array_mut()
        && !requests.is_empty()
    {
        requests.remove(0);
    }
    new
}

fn with_failure(vm: &Value) -> Value {
    let mut new = vm.clone();
    let count = vm["status"]["startFailure"]["consecutiveFailCount"].as_i64().unwrap_or(0) + 1;
    new["status"]["startFailure"] = json!({"consecutiveFailCount": count});
    new
}

pub(super) fn without_failure(vm: &Value) -> Value {
    let mut new = vm.clone();
    if let Some(status) = new["status"].as_object_mut() {
        status.remove("startFailure");
    }
    new
}
