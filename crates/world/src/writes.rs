//! Writes through the API: what each kind asks of them, and what the rest of the site makes of them.

use std::sync::Arc;

use serde_json::Value;

use crate::kube::Kube;
use crate::objects::{
    CLAIMS, CONFIG_MAPS, DISRUPTION_BUDGETS, Deletion, Durability, NAMESPACES, NODES, ObjectError, ObjectKey, Offer, PODS, Part,
    Preconditions, Resource, SECRETS, Scope, VIRTUAL_MACHINES, check_shape,
};
use crate::pod::is_terminating;
use crate::time::{Instant, Span};
use crate::virt::vm;
use crate::workloads::{self, Workload};
use crate::{budget, namespace, placing, pod, secret};

/// The longest grace: a year. A longer one could not be told from for ever, and would leave the calendar.
const LONGEST_GRACE_SECONDS: i64 = 365 * 24 * 60 * 60;

/// How an object is to be deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    pub only_if: Preconditions,
    /// How long a pod is given to end. Without it the pod's own grace counts; zero removes it without asking its kubelet.
    pub grace_seconds: Option<i64>,
}

/// What became of a deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deleted {
    Gone(Arc<Value>),
    /// It is still there, and will go when its kubelet, its finalizers or its content have.
    Leaving(Arc<Value>),
}

/// Fills in and checks a new object of the kinds that have rules.
fn prepare_new(resource: &Resource, object: &mut Value) -> Result<(), ObjectError> {
    if resource.offer == Offer::AlwaysEmpty {
        return Err(ObjectError::Forbidden(format!("this cluster offers no {}", resource.plural)));
    }
    match resource {
        _ if resource == &PODS => pod::prepare_new(object),
        _ if resource == &NAMESPACES => namespace::prepare_new(object),
        _ if resource == &SECRETS => secret::prepare_secret(object),
        _ if resource == &CONFIG_MAPS => secret::prepare_config_map(object),
        _ if resource == &DISRUPTION_BUDGETS => budget::prepare_new(object),
        _ if resource == &VIRTUAL_MACHINES => {
            if let Some(fields) = object.as_object_mut() {
                fields.remove("status");
            }
            vm::prepare(object)
        }
        _ if resource == &CLAIMS => {
            placing::prepare_claim(object);
            Ok(())
        }
        _ => Workload::of(resource).map_or(Ok(()), |workload| workloads::prepare_new(workload, object)),
    }
}

/// Fills in and checks what somebody wants to make of an object.
fn prepare_change(resource: &Resource, part: Part, old: &Value, new: &mut Value) -> Result<(), ObjectError> {
    if part == Part::Status {
        return Ok(());
    }
    match resource {
        _ if resource == &PODS => pod::check_change(old, new),
        _ if resource == &SECRETS => {
            secret::prepare_secret(new)?;
            secret::check_change(old, new)
        }
        _ if resource == &CONFIG_MAPS => {
            secret::prepare_config_map(new)?;
            secret::check_change(old, new)
        }
        // The check fills in a status too, which a write of the main part does not touch.
        _ if resource == &DISRUPTION_BUDGETS => budget::prepare_new(new),
        _ if resource == &VIRTUAL_MACHINES => vm::prepare(new),
        _ => Workload::of(resource).map_or(Ok(()), |workload| workloads::check_change(workload, old, new)),
    }
}

pub(crate) fn has_finalizers(object: &Value) -> bool {
    object["metadata"]["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty())
}

impl Kube {
    /// A creation through the API.
    pub(crate) fn create(
        &mut self,
        resource: &Resource,
        namespace: &str,
        mut object: Value,
        at: Instant,
    ) -> Result<Arc<Value>, ObjectError> {
        if resource.scope == Scope::Namespaced {
            self.check_namespace(namespace)?;
        }
        check_shape(&object)?;
        prepare_new(resource, &mut object)?;
        let created = self.objects.create(resource, namespace, object, at)?;
        let key = ObjectKey::namespaced(namespace, created["metadata"]["name"].as_str().unwrap_or_default());
        self.object_written(resource, &key, None, Some(&created), at);
        // What followed at once, such as a budget's count, is part of the answer.
        Ok(self.objects.get(resource, &key).cloned().unwrap_or(created))
    }

    /// A change through the API by a function of the object as it is.
    pub(crate) fn modify<E: From<ObjectError>>(
        &mut self,
        resource: &Resource,
        key: &ObjectKey,
        part: Part,
        at: Instant,
        change: impl FnOnce(&Value) -> Result<Value, E>,
    ) -> Result<Arc<Value>, E> {
        let before = self.objects.get(resource, key).cloned();
        let after = self.objects.modify(resource, key, part, Durability::Kept, |old| {
            let mut new = change(old)?;
            check_shape(&new)?;
            prepare_change(resource, part, old, &mut new)?;
            Ok::<_, E>(new)
        })?;
        let is_released = is_terminating(&after) && !has_finalizers(&after) && after["metadata"]["deletionGracePeriodSeconds"] == 0;
        if is_released && resource != &NAMESPACES {
            return Ok(self.remove(resource, key, at)?);
        }
        self.object_written(resource, key, before.as_deref(), Some(&after), at);
        Ok(self.objects.get(resource, key).cloned().unwrap_or(after))
    }

    /// A deletion through the API.
    pub(crate) fn delete(
        &mut self,
        resource: &Resource,
        key: &ObjectKey,
        options: &DeleteOptions,
        at: Instant,
    ) -> Result<Deleted, ObjectError> {
        let found = self.objects.check(resource, key, &options.only_if)?;
        if resource == &NAMESPACES {
            return self.delete_namespace(key, &found, at);
        }
        let own_grace = if resource == &PODS { pod::own_grace_seconds(&found) } else { 0 };
        // Whoever deletes may choose how long a pod has, but not make a pod wait that has nothing to end.
        let grace_seconds = if own_grace == 0 { 0 } else { options.grace_seconds.unwrap_or(own_grace).clamp(0, LONGEST_GRACE_SECONDS) };
        if grace_seconds == 0 && !has_finalizers(&found) {
            return self.remove(resource, key, at).map(Deleted::Gone);
        }
        // A second deletion can hurry an object, and never gives it more time.
        let already = found["metadata"]["deletionGracePeriodSeconds"].as_i64();
        if is_terminating(&found) && already.is_some_and(|already| already <= grace_seconds) {
            return Ok(Deleted::Leaving(found));
        }
        let deletion = Deletion { at: at + Span::seconds(grace_seconds), grace_seconds };
        let marked = self.objects.mark_deletion(resource, key, &deletion)?;
        self.object_written(resource, key, Some(&found), Some(&marked), at);
        Ok(Deleted::Leaving(marked))
    }

    /// Takes an object away for good.
    pub(crate) fn remove(&mut self, resource: &Resource, key: &ObjectKey, at: Instant) -> Result<Arc<Value>, ObjectError> {
        let last = self.objects.delete(resource, key, &Preconditions::default())?;
        self.object_written(resource, key, Some(&last), None, at);
        Ok(last)
    }

    /// What the rest of the site makes of a write; `after` is nothing when the object has gone.
    pub(crate) fn object_written(
        &mut self,
        resource: &Resource,
        key: &ObjectKey,
        before: Option<&Value>,
        after: Option<&Value>,
        at: Instant,
    ) {
        if resource == &NODES {
            if let Some(after) = after {
                self.node_written(after, before, at);
            }
            self.node_changed(before, after, at);
        }
        self.lease_written(resource, key, after, at);
        if let Some(workload) = Workload::of(resource) {
            self.workload_written(workload, key, before, after, at);
        }
        if let (Some(gone), None) = (before, after) {
            self.collect_children(resource, key, gone, at);
        }
        if resource == &PODS {
            self.pod_written(key, before, after, at);
        }
        if resource == &DISRUPTION_BUDGETS {
            self.budget_written(key, at);
        }
        if after.is_none() && resource.scope == Scope::Namespaced {
            self.settle_namespace(&key.namespace, at);
        }
    }
}

#[cfg(test)]
#[path = "writes_tests.rs"]
mod tests;
