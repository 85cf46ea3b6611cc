//! What kubelets and controllers do about pods: start them on a running host and end them after their grace.
//!
//! A host that is down leaves its pods as they are.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::kube::{Kube, Timer};
use crate::mirror::is_mirror;
use crate::objects::{Deletion, Durability, ObjectError, ObjectKey, PODS, Part};
use crate::pod::{self, Work};
use crate::time::{Instant, Span};
use crate::writes::has_finalizers;

/// Whether the controllers had given the node up before its kubelet reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    Noticed,
    None,
}

impl Kube {
    /// Keeps the list of the pods of each host, and when its kubelet next acts on each.
    pub(crate) fn pod_written(&mut self, key: &ObjectKey, before: Option<&Value>, after: Option<&Value>, at: Instant) {
        self.note_owned(key, before, after);
        if let Some(slot) = after.or(before).and_then(pod::node_name).and_then(|node| self.slot_of(node)) {
            match after {
                None => {
                    self.host_pods(slot).remove(key);
                    if before.is_some_and(is_mirror) {
                        self.mirror_gone(slot, at);
                    }
                }
                Some(after) => {
                    let here = pod::node_name(after);
                    let before = before.filter(|before| pod::node_name(before) == here);
                    let is_same_work = before.is_some_and(|before| self.work_of(slot, before) == self.work_of(slot, after));
                    let is_hurried =
                        before.is_some_and(|before| before["metadata"]["deletionTimestamp"] != after["metadata"]["deletionTimestamp"]);
                    let known = self.host(slot).pods.get(key).copied().flatten();
                    // A label on a starting pod does not make it start anew.
                    let due = if is_same_work && !is_hurried { known } else { self.pod_due(slot, after, at) };
                    self.host_pods(slot).insert(key.clone(), due);
                }
            }
            self.reschedule(slot);
        }
        self.weigh_doom(key, at);
        self.reschedule_dooms();
        if let Some(pod) = after {
            self.note_collectable(pod, at);
        }
        self.note_unplaced(key, before, after, at);
        if let Some(pod) = after.or(before) {
            self.mark_owner(key, pod, at);
        }
        self.count_pod(key, before, after, at);
    }

    fn host_pods(&mut self, slot: usize) -> &mut BTreeMap<ObjectKey, Option<Instant>> {
        &mut self.host_mut(slot).pods
    }

    /// The boot of a host whose kubelet can act on pods; nothing while it cannot.
    fn kubelet_boot(&self, slot: usize) -> Option<&str> {
        self.host(slot).kubelet.as_deref()
    }

    fn work_of(&self, slot: usize, pod: &Value) -> Option<Work> {
        pod::work(pod, self.kubelet_boot(slot)?)
    }

    fn pod_due(&self, slot: usize, pod: &Value, at: Instant) -> Option<Instant> {
        match self.work_of(slot, pod)? {
            Work::Start => Some(at + self.pace.pod_start),
            // Of a mirror pod only the image in the API ends.
            Work::End if is_mirror(pod) => Some(at),
            Work::End => Some(at + Span(pod::remaining_grace(pod, at).0 * self.pace.grace_second.0 / 1_000)),
        }
    }

    /// A kubelet that has just started, or found the API back, looks at its pods.
    pub(crate) fn kubelet_finds_pods(&mut self, slot: usize, absence: Absence, at: Instant) {
        let keys: Vec<ObjectKey> = self.host(slot).pods.keys().cloned().collect();
        for key in keys {
            let Some(pod) = self.objects.get(&PODS, &key).cloned() else { continue };
            let due = self.pod_due(slot, &pod, at);
            self.host_pods(slot).insert(key.clone(), due);
            // What the node controller declared unready runs on if its host never went down.
            if absence == Absence::Noticed && due.is_none() && pod::phase(&pod) == "Running" && !pod::is_terminating(&pod) {
                self.change_pod(&key, at, |pod| pod::with_ready(pod, "True", at));
            }
        }
    }

    /// A host that went down acts on nothing.
    pub(crate) fn kubelet_drops_pods(&mut self, slot: usize) {
        self.host_pods(slot).values_mut().for_each(|due| *due = None);
    }

    pub(crate) fn pod_steps(&mut self, slot: usize, at: Instant) {
        let due = self.host(slot).pods.iter().filter(|(_, due)| due.is_some_and(|due| due <= at));
        let due: Vec<ObjectKey> = due.map(|(key, _)| key.clone()).collect();
        for key in due {
            self.host_pods(slot).insert(key.clone(), None);
            self.pod_step(slot, &key, at);
        }
    }

    fn pod_step(&mut self, slot: usize, key: &ObjectKey, at: Instant) {
        let Some(pod) = self.objects.get(&PODS, key).cloned() else { return };
        let Some(boot_id) = self.kubelet_boot(slot).map(str::to_owned) else { return };
        match pod::work(&pod, &boot_id) {
            None => {}
            Some(Work::Start) => {
                let address = self.host(slot).facts.address;
                self.change_pod(key, at, |pod| pod::with_started(pod, address, &boot_id, at));
                self.post_pod_event(slot, &pod, "Started", "Started containers", at);
            }
            Some(Work::End) => {
                self.post_pod_event(slot, &pod, "Killing", "Stopped containers", at);
                self.end_pod(key, &pod, at);
            }
        }
    }

    /// The containers have ended: the object goes, or waits for its finalizers only.
    fn end_pod(&mut self, key: &ObjectKey, pod: &Value, at: Instant) {
        // The pod was there a moment ago, and nothing else runs in between.
        if has_finalizers(pod) {
            let _ = self.objects.mark_deletion(&PODS, key, &Deletion { at, grace_seconds: 0 });
            self.change_pod(key, at, |pod| pod::with_ready(pod, "False", at));
        } else {
            let _ = self.remove(&PODS, key, at);
        }
    }

    /// The node controller has lost a node, and with it sight of its pods.
    pub(crate) fn pods_lose_contact(&mut self, slot: usize, at: Instant) {
        let keys: Vec<ObjectKey> = self.host(slot).pods.keys().cloned().collect();
        for key in keys {
            let is_ready = self.objects.get(&PODS, &key).is_some_and(|pod| pod::is_ready(pod));
            if is_ready {
                self.change_pod(&key, at, |pod| pod::with_ready(pod, "False", at));
            }
        }
    }

    pub(crate) fn change_pod(&mut self, key: &ObjectKey, at: Instant, change: impl FnOnce(&Value) -> Value) {
        let before = self.objects.get(&PODS, key).cloned();
        let after: Result<Arc<Value>, ObjectError> = self.objects.modify(&PODS, key, Part::Whole, Durability::Kept, |pod| Ok(change(pod)));
        if let (Some(before), Ok(after)) = (before, after)
            && !Arc::ptr_eq(&before, &after)
        {
            self.pod_written(key, Some(&before), Some(&after), at);
        }
    }

    /// After a restart of the simulator: which pods are whose.
    pub(crate) fn index_pods(&mut self) {
        let bound: Vec<(ObjectKey, usize)> =
            self.objects.list(&PODS, None).filter_map(|(key, pod)| Some((key.clone(), self.slot_of(pod::node_name(pod)?)?))).collect();
        for (key, slot) in bound {
            self.host_pods(slot).insert(key, None);
        }
        let pods: Vec<(ObjectKey, Arc<Value>)> = self.objects.list(&PODS, None).map(|(key, pod)| (key.clone(), pod.clone())).collect();
        for (key, pod) in pods {
            self.note_owned(&key, None, Some(&pod));
        }
        self.find_all_members();
    }

    /// After a restart of the simulator: the controllers look at everything anew.
    pub(crate) fn wake_controllers(&mut self, at: Instant) {
        self.mark_all_workloads(at);
        let pods: Vec<(ObjectKey, Arc<Value>)> = self.objects.list(&PODS, None).map(|(key, pod)| (key.clone(), pod.clone())).collect();
        for (key, pod) in pods {
            self.note_unplaced(&key, None, Some(&pod), at);
            self.note_collectable(&pod, at);
            self.weigh_doom(&key, at);
        }
        self.reschedule_dooms();
        self.hasten(Timer::Namespaces, at);
    }
}
