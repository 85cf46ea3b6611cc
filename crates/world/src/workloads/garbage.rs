//! What goes with its owner: the children of an object that was deleted are deleted too, in their own time.

use serde_json::Value;

use crate::kube::Kube;
use crate::objects::{
    DATA_VOLUMES, MACHINE_DEPLOYMENTS, MACHINES, ObjectKey, PODS, REPLICA_SETS, Resource, SECRETS, VIRTUAL_MACHINE_INSTANCES,
    VIRTUAL_MACHINES,
};
use crate::time::Instant;
use crate::writes::DeleteOptions;

/// The kinds beside pods that are ever owned.
const OWNED: [&Resource; 7] =
    [&SECRETS, &REPLICA_SETS, &VIRTUAL_MACHINES, &VIRTUAL_MACHINE_INSTANCES, &DATA_VOLUMES, &MACHINE_DEPLOYMENTS, &MACHINES];

/// The groups whose objects own others.
const OWNING_GROUPS: [&str; 3] = ["apps", "kubevirt.io", "cluster.x-k8s.io"];

/// The owner that makes and replaces an object.
pub(crate) fn controller_of(object: &Value) -> Option<&Value> {
    object["metadata"]["ownerReferences"].as_array()?.iter().find(|owner| owner["controller"] == true)
}

impl Kube {
    /// Deletes the children of an object that is gone.
    pub(crate) fn collect_children(&mut self, resource: &Resource, key: &ObjectKey, gone: &Value, at: Instant) {
        if !OWNING_GROUPS.contains(&resource.group) {
            return;
        }
        let mut children: Vec<(&'static Resource, ObjectKey)> = self.owned_pods(gone).into_iter().map(|(key, _)| (&PODS, key)).collect();
        // Whether an owner is the controller does not matter to the collector.
        let owners = |object: &Value| object["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
        let is_child = |object: &Value| owners(object).iter().any(|owner| owner["uid"] == gone["metadata"]["uid"]);
        for resource in OWNED {
            let objects = self.objects.list(resource, Some(&key.namespace)).filter(|(_, object)| is_child(object));
            children.extend(objects.map(|(key, _)| (resource, key.clone())));
        }
        for (resource, key) in children {
            // It was there a moment ago, and no precondition is set.
            let _ = self.delete(resource, &key, &DeleteOptions::default(), at);
        }
    }
}
