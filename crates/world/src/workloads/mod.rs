//! Workload controllers: they keep as many pods of each workload as it asks for, and count them.
//!
//! A controller looks a moment after something changed that it watches, and then makes what is so agree with what is
//! wanted. What it writes makes others look again.

mod daemon_set;
mod deployment;
mod garbage;
mod replica_set;
mod stateful_set;
mod template;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

pub(crate) use garbage::controller_of;
pub(crate) use template::{check_change, prepare_new};

use crate::kube::{Kube, Timer};
use crate::objects::{DAEMON_SETS, DEPLOYMENTS, Durability, ObjectError, ObjectKey, PODS, Part, REPLICA_SETS, Resource, STATEFUL_SETS};
use crate::pod;
use crate::time::Instant;

/// The kinds that have a controller here, in the order in which these look: owners before what they own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Workload {
    Deployment,
    ReplicaSet,
    StatefulSet,
    DaemonSet,
}

impl Workload {
    pub const ALL: [Workload; 4] = [Workload::Deployment, Workload::ReplicaSet, Workload::StatefulSet, Workload::DaemonSet];

    pub fn resource(self) -> &'static Resource {
        match self {
            Workload::Deployment => &DEPLOYMENTS,
            Workload::ReplicaSet => &REPLICA_SETS,
            Workload::StatefulSet => &STATEFUL_SETS,
            Workload::DaemonSet => &DAEMON_SETS,
        }
    }

    pub fn of(resource: &Resource) -> Option<Workload> {
        Workload::ALL.into_iter().find(|workload| workload.resource() == resource)
    }

    /// The kind that an owner reference names.
    pub fn named(kind: &Value) -> Option<Workload> {
        Workload::ALL.into_iter().find(|workload| kind == workload.resource().kind)
    }
}

/// What the controllers remember between two looks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Controllers {
    /// The workloads that are to be looked at.
    dirty: BTreeSet<(Workload, ObjectKey)>,
    /// The pods of each controller, by its uid.
    owned: BTreeMap<String, BTreeSet<ObjectKey>>,
}

impl Kube {
    /// Lets the workload's controller look soon.
    pub(crate) fn mark_workload(&mut self, workload: Workload, key: &ObjectKey, at: Instant) {
        self.controllers.dirty.insert((workload, key.clone()));
        self.hasten(Timer::Workloads, at + self.pace.controller_lag);
    }

    pub(crate) fn mark_daemon_sets(&mut self, at: Instant) {
        let keys: Vec<ObjectKey> = self.objects.list(&DAEMON_SETS, None).map(|(key, _)| key.clone()).collect();
        for key in keys {
            self.mark_workload(Workload::DaemonSet, &key, at);
        }
    }

    /// After a restart of the simulator: every controller looks at everything.
    pub(crate) fn mark_all_workloads(&mut self, at: Instant) {
        for workload in Workload::ALL {
            let keys: Vec<ObjectKey> = self.objects.list(workload.resource(), None).map(|(key, _)| key.clone()).collect();
            for key in keys {
                self.mark_workload(workload, &key, at);
            }
        }
    }

    pub(crate) fn workload_steps(&mut self, at: Instant) {
        self.set_timer(Timer::Workloads, None);
        for (workload, key) in std::mem::take(&mut self.controllers.dirty) {
            let Some(object) = self.objects.get(workload.resource(), &key).cloned() else { continue };
            if pod::is_terminating(&object) {
                continue;
            }
            match workload {
                Workload::Deployment => self.settle_deployment(&key, &object, at),
                Workload::ReplicaSet => self.settle_replica_set(&key, &object, at),
                Workload::StatefulSet => self.settle_stateful_set(&key, &object, at),
                Workload::DaemonSet => self.settle_daemon_set(&key, &object, at),
            }
        }
    }

    /// A workload was written or is gone.
    pub(crate) fn workload_written(
        &mut self,
        workload: Workload,
        key: &ObjectKey,
        before: Option<&Value>,
        after: Option<&Value>,
        at: Instant,
    ) {
        match after {
            Some(after) => {
                self.mark_workload(workload, key, at);
                self.mark_owner(key, after, at);
            }
            None => {
                if let Some(before) = before {
                    self.mark_owner(key, before, at);
                }
            }
        }
        if let Some(object) = after.or(before) {
            self.count_workload(key, object, at);
        }
    }

    /// Lets the controller look whose child was written.
    pub(crate) fn mark_owner(&mut self, child: &ObjectKey, object: &Value, at: Instant) {
        let Some(owner) = controller_of(object) else { return };
        if let (Some(workload), Some(name)) = (Workload::named(&owner["kind"]), owner["name"].as_str()) {
            self.mark_workload(workload, &ObjectKey::namespaced(&child.namespace, name), at);
        }
    }

    /// Keeps the list of each controller's pods.
    pub(crate) fn note_owned(&mut self, key: &ObjectKey, before: Option<&Value>, after: Option<&Value>) {
        let uid = |pod: Option<&Value>| pod.and_then(controller_of).and_then(|owner| owner["uid"].as_str()).map(str::to_owned);
        let (old, new) = (uid(before), uid(after));
        if old == new && before.is_some() {
            return;
        }
        if let Some(old) = old.filter(|old| new.as_ref() != Some(old))
            && let Some(pods) = self.controllers.owned.get_mut(&old)
        {
            pods.remove(key);
            if pods.is_empty() {
                self.controllers.owned.remove(&old);
            }
        }
        if let Some(new) = new {
            self.controllers.owned.entry(new).or_default().insert(key.clone());
        }
    }

    /// The pods of a controller, in the order of their keys.
    pub(crate) fn owned_pods(&self, owner: &Value) -> Vec<(ObjectKey, Arc<Value>)> {
        let keys = owner["metadata"]["uid"].as_str().and_then(|uid| self.controllers.owned.get(uid));
        let keys = keys.into_iter().flatten();
        keys.filter_map(|key| Some((key.clone(), self.objects.get(&PODS, key)?.clone()))).collect()
    }

    /// What a controller writes about its workload. What changes nothing is no write.
    pub(crate) fn set_workload_status(&mut self, workload: Workload, key: &ObjectKey, status: &Value, at: Instant) {
        self.change_workload(workload, key, at, |object| {
            let mut new = object.clone();
            let mut status = status.clone();
            status["observedGeneration"] = object["metadata"]["generation"].clone();
            new["status"] = status;
            new
        });
    }

    fn change_workload(&mut self, workload: Workload, key: &ObjectKey, at: Instant, change: impl FnOnce(&Value) -> Value) {
        let before = self.objects.get(workload.resource(), key).cloned();
        let changed: Result<_, ObjectError> =
            self.objects.modify(workload.resource(), key, Part::Whole, Durability::Kept, |object| Ok(change(object)));
        if let (Some(before), Ok(after)) = (before, changed)
            && !Arc::ptr_eq(&before, &after)
        {
            if before["spec"] == after["spec"] {
                // A count is of interest to the owner only.
                self.mark_owner(key, &after, at);
            } else {
                self.workload_written(workload, key, Some(&before), Some(&after), at);
            }
        }
    }

    /// How many pods the workload should have that a pod belongs to, and which workload that is; nothing for a bare pod.
    pub(crate) fn scale_of(&self, pod: &Value) -> Option<(String, i64)> {
        let owner = controller_of(pod)?;
        let namespace = pod["metadata"]["namespace"].as_str().unwrap_or_default();
        let workload = Workload::named(&owner["kind"])?;
        let key = ObjectKey::namespaced(namespace, owner["name"].as_str()?);
        let object = self.objects.get(workload.resource(), &key).filter(|object| object["metadata"]["uid"] == owner["uid"])?;
        let above = controller_of(object).filter(|above| above["kind"] == DEPLOYMENTS.kind);
        let above = above.and_then(|above| self.objects.get(&DEPLOYMENTS, &ObjectKey::namespaced(namespace, above["name"].as_str()?)));
        let object = above.unwrap_or(object);
        let wanted = match workload {
            Workload::DaemonSet => object["status"]["desiredNumberScheduled"].as_i64().unwrap_or(0),
            _ => replicas(object),
        };
        Some((object["metadata"]["uid"].as_str()?.to_owned(), wanted))
    }
}

/// How many pods a workload asks for.
pub(crate) fn replicas(workload: &Value) -> i64 {
    workload["spec"]["replicas"].as_i64().unwrap_or(1)
}

/// Whether a pod still counts for its workload.
fn is_active(pod: &Value) -> bool {
    !pod::is_terminating(pod) && !pod::is_finished(pod)
}

/// A reference to the controller that an object belongs to.
pub(crate) fn controller_reference(owner: &Value) -> Value {
    json!({
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// A pod as a workload's template describes it, owned by the workload.
fn pod_of(owner: &Value) -> Value {
    let template = &owner["spec"]["template"];
    let mut pod = json!({"metadata": template["metadata"], "spec": template["spec"]});
    if !pod["metadata"].is_object() {
        pod["metadata"] = json!({});
    }
    pod["metadata"]["ownerReferences"] = json!([controller_reference(owner)]);
    pod
}

#[cfg(test)]
mod tests;
