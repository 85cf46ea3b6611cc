//! What the controllers do about one instance: its pod, its phase, its end.

use serde_json::{Value, json};

use super::controller::{has_finalizer, without_failure, without_finalizer};
use super::instance::{self, Guest};
use super::timers::Awaited;
use super::{disk, launcher};
use crate::fault::FaultKind;
use crate::node;
use crate::objects::{CLAIMS, NODES, ObjectError, ObjectKey, PODS, Part, VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES};
use crate::pod;
use crate::scheduler;
use crate::site::World;
use crate::time::{Instant, Span};
use crate::writes::DeleteOptions;

/// How long a guest takes to shut down that hears its host ask, in seconds of a pod's grace.
const SHUTDOWN_SECONDS: i64 = 20;

/// How long a guest takes that does not hear it: nobody waits that long.
const DEAF_SECONDS: i64 = 24 * 60 * 60;

/// How long a node may be silent before what runs on it counts as lost: KubeVirt's.
const LOST_NODE_AFTER: Span = Span::minutes(5);

impl World {
    /// The launcher's pod of an instance.
    pub(super) fn launcher_of(&self, key: &ObjectKey, instance: &Value) -> Option<(ObjectKey, Value)> {
        let pods = self.undercloud.objects.list(&PODS, Some(&key.namespace));
        let mut own = pods.filter(|(_, pod)| pod["metadata"]["labels"][launcher::CREATED_BY] == instance["metadata"]["uid"]);
        own.next().map(|(key, pod)| (key.clone(), Value::clone(pod)))
    }

    /// Brings an instance, its pod and its guest into agreement.
    pub(super) fn instance_settles(&mut self, key: &ObjectKey, vm: Option<&Value>, at: Instant) {
        let Some(instance) = self.undercloud.objects.get(&VIRTUAL_MACHINE_INSTANCES, key).cloned() else {
            self.guest_settles(key, None, None, at);
            return;
        };
        let found = self.launcher_of(key, &instance);
        let launcher = found.as_ref().map(|(_, pod)| pod);
        let is_up = self.guest_settles(key, launcher, Some(&instance), at);
        if is_up && self.is_vm_struck(FaultKind::VmCrashes, key) {
            self.guest_crashes(key, found.as_ref(), at);
            return;
        }
        if is_up && vm.is_some_and(|vm| !vm["status"]["startFailure"].is_null()) {
            self.virt_write(&VIRTUAL_MACHINES, key, at, without_failure);
        }
        // The API learns of a guest through its host; a host that is gone tells nothing.
        let is_silent = launcher.is_some_and(|launcher| !self.is_guest_alive(launcher));
        let guest = if is_up || (is_silent && instance::is_guest_up(&instance)) { Guest::Up } else { Guest::Booting };
        self.virt_write(&VIRTUAL_MACHINE_INSTANCES, key, at, |instance| instance::with_launcher(instance, launcher, guest, at));
        self.instance_may_be_lost(key, launcher, at);
        if pod::is_terminating(&instance) {
            self.instance_ends(key, vm, found, at);
            return;
        }
        match found {
            None if !instance::is_final(&instance) && !matches!(instance::phase(&instance), "Scheduled" | "Running") => {
                self.instance_is_launched(key, &instance, at);
            }
            Some((_, launcher)) => self.disks_are_placed(key, &launcher, at),
            None => {}
        }
    }

    fn instance_is_launched(&mut self, key: &ObjectKey, instance: &Value, at: Instant) {
        let birth = self.virt.births.get(key).cloned();
        let pod = launcher::of_instance(instance, birth.as_deref());
        // The name is drawn anew each time; a clash would be tried again at the next change.
        let _ = self.undercloud.create(&PODS, &key.namespace, pod, at);
        self.virt.births.remove(key);
    }

    /// Local storage: a disk is where its virtual machine first was.
    fn disks_are_placed(&mut self, key: &ObjectKey, launcher: &Value, at: Instant) {
        let Some(node) = pod::node_name(launcher) else { return };
        let names: Vec<String> = scheduler::claims_of(launcher).map(str::to_owned).collect();
        for name in names {
            let claim_key = ObjectKey::namespaced(&key.namespace, &name);
            if self.undercloud.objects.get(&CLAIMS, &claim_key).is_some_and(|claim| !disk::is_placed(claim)) {
                self.virt_write(&CLAIMS, &claim_key, at, |claim| disk::with_place(claim, node));
            }
        }
    }

    /// A node that is silent for too long takes its instances with it.
    fn instance_may_be_lost(&mut self, key: &ObjectKey, launcher: Option<&Value>, at: Instant) {
        let node = launcher.and_then(pod::node_name).map(ObjectKey::cluster);
        let node = node.and_then(|node| self.undercloud.objects.get(&NODES, &node));
        let is_silent = node.is_some_and(|node| node::ready_status(node) == Some("Unknown"));
        if !is_silent {
            self.virt.timers.forget(key, Awaited::LostNode);
            return;
        }
        let span = self.pace.in_site_time(LOST_NODE_AFTER);
        if self.virt.timers.is_over(key, Awaited::LostNode, span, at) {
            let lose =
                |instance: &Value| if instance::is_final(instance) { instance.clone() } else { instance::with_lost_node(instance, at) };
            self.virt_write(&VIRTUAL_MACHINE_INSTANCES, key, at, lose);
        }
    }

    /// Ends the pod of an instance that is being deleted, and then the instance.
    fn instance_ends(&mut self, key: &ObjectKey, vm: Option<&Value>, found: Option<(ObjectKey, Value)>, at: Instant) {
        let Some(instance) = self.undercloud.objects.get(&VIRTUAL_MACHINE_INSTANCES, key).cloned() else { return };
        if let Some((pod_key, launcher)) = found {
            let given = instance::grace_seconds(&instance);
            let needed = if self.ignores_shutdown(key, vm) { DEAF_SECONDS } else { SHUTDOWN_SECONDS };
            let is_forced = given == 0;
            // A kubelet ends the pod even of a forced stop: a pod that is removed unasked may still run.
            let grace = if is_forced {
                1
            } else if needed == DEAF_SECONDS {
                DEAF_SECONDS
            } else {
                needed.min(given).max(1)
            };
            let already = launcher["metadata"]["deletionGracePeriodSeconds"].as_i64();
            if !pod::is_terminating(&launcher) || already.is_some_and(|already| already > grace) {
                let options = DeleteOptions { grace_seconds: Some(grace), ..DeleteOptions::default() };
                let _ = self.undercloud.delete(&PODS, &pod_key, &options, at);
            }
            if self.undercloud.objects.get(&PODS, &pod_key).is_some() {
                return;
            }
        }
        self.guest_settles(key, None, None, at);
        self.virt.timers.forget(key, Awaited::LostNode);
        if has_finalizer(&instance, instance::FINALIZER) {
            let released: Result<_, ObjectError> = self
                .undercloud
                .modify(&VIRTUAL_MACHINE_INSTANCES, key, Part::Whole, at, |instance| Ok(without_finalizer(instance, instance::FINALIZER)));
            drop(released);
        }
    }

    /// The guest panics: its pod ends, and the controller notes why.
    fn guest_crashes(&mut self, key: &ObjectKey, found: Option<&(ObjectKey, Value)>, at: Instant) {
        self.guest_settles(key, None, None, at);
        if let Some((pod_key, _)) = found {
            self.virt_write(&PODS, pod_key, at, |pod| {
                let mut pod = pod::with_ready(pod, "False", at);
                pod["status"]["phase"] = json!("Failed");
                pod
            });
        }
        self.virt_write(&VIRTUAL_MACHINE_INSTANCES, key, at, |instance| {
            let mut instance = instance::with_lost_node(instance, at);
            instance["status"]["reason"] = json!("GuestCrashed");
            instance
        });
    }
}
