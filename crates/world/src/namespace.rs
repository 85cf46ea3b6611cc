//! Namespaces: making them, and deleting them with all that is in them.
//!
//! A namespace that is being deleted takes nothing new in from that moment on. What is in it lives on for a few seconds, until
//! the namespace controller comes; the namespace stays, terminating, until the last of it has gone.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::kube::{Flavour, Kube, Timer};
use crate::objects::{Deletion, Durability, NAMESPACES, ObjectError, ObjectKey, Part, Preconditions, Resource, Scope};
use crate::pod::is_terminating;
use crate::time::Instant;
use crate::writes::{DeleteOptions, Deleted};

/// The namespaces that every cluster has, and that nobody may delete: kubelets and controllers live in them.
pub(crate) const IMMORTAL: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// The longest name of a namespace: it must be a DNS label.
const NAME_LIMIT: usize = 63;

/// A namespace with what the API server fills in.
pub(crate) fn prepare_new(namespace: &mut Value) -> Result<(), ObjectError> {
    let name = namespace["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    if name.len() > NAME_LIMIT || name.contains('.') {
        let why = format!("metadata.name: Invalid value: \"{name}\": must be no more than {NAME_LIMIT} characters and contain no '.'");
        return Err(ObjectError::Invalid(why));
    }
    if !name.is_empty() {
        namespace["metadata"]["labels"]["kubernetes.io/metadata.name"] = json!(name);
    }
    namespace["spec"]["finalizers"] = json!(["kubernetes"]);
    namespace["status"] = json!({"phase": "Active"});
    Ok(())
}

fn namespaced(flavour: Flavour) -> impl Iterator<Item = &'static Resource> {
    flavour.resources().iter().copied().filter(|resource| resource.scope == Scope::Namespaced)
}

/// When the namespace began to go. It says so in whole seconds, and so never too late.
fn deleted_at(namespace: &Value) -> Option<Instant> {
    namespace["metadata"]["deletionTimestamp"].as_str().and_then(Instant::parse)
}

impl Kube {
    /// Refuses to put anything into a namespace that is not there or is on its way out.
    pub(crate) fn check_namespace(&self, namespace: &str) -> Result<(), ObjectError> {
        match self.objects.get(&NAMESPACES, &ObjectKey::cluster(namespace)) {
            None => Err(ObjectError::NoNamespace { namespace: namespace.to_owned() }),
            Some(found) if is_terminating(found) => Err(ObjectError::NamespaceTerminating { namespace: namespace.to_owned() }),
            Some(_) => Ok(()),
        }
    }

    pub(crate) fn delete_namespace(&mut self, key: &ObjectKey, found: &Arc<Value>, at: Instant) -> Result<Deleted, ObjectError> {
        let name = key.name.as_str();
        if IMMORTAL.contains(&name) {
            return Err(ObjectError::Forbidden("this namespace may not be deleted".to_owned()));
        }
        if is_terminating(found) {
            return Ok(Deleted::Leaving(found.clone()));
        }
        self.objects.mark_deletion(&NAMESPACES, key, &Deletion { at, grace_seconds: 0 })?;
        let terminating: Arc<Value> = self.objects.modify(&NAMESPACES, key, Part::Whole, Durability::Kept, |namespace| {
            let mut namespace = namespace.clone();
            namespace["status"]["phase"] = json!("Terminating");
            Ok::<_, ObjectError>(namespace)
        })?;
        self.hasten(Timer::Namespaces, at + self.pace.namespace_lag);
        Ok(Deleted::Leaving(terminating))
    }

    /// Deletes what is in the namespaces whose time has come. Those that it comes to later, or again, are found by looking.
    pub(crate) fn namespace_steps(&mut self, at: Instant) {
        let emptied_at = |namespace: &Value| Some(deleted_at(namespace)? + self.pace.namespace_lag);
        let leaving: Vec<(String, Instant)> =
            self.objects.list(&NAMESPACES, None).filter_map(|(key, found)| Some((key.name.clone(), emptied_at(found)?))).collect();
        self.set_timer(Timer::Namespaces, leaving.iter().map(|(_, due)| *due).filter(|due| *due > at).min());
        for (name, _) in leaving.iter().filter(|(_, due)| *due <= at) {
            for resource in namespaced(self.flavour) {
                let content: Vec<ObjectKey> = self.objects.list(resource, Some(name)).map(|(key, _)| key.clone()).collect();
                for key in content {
                    // It was there a moment ago, or went with what was deleted before it; no precondition is set.
                    let _ = self.delete(resource, &key, &DeleteOptions::default(), at);
                }
            }
            self.settle_namespace(name, at);
        }
    }

    /// Removes a namespace that is being deleted once nothing is left in it.
    pub(crate) fn settle_namespace(&mut self, name: &str, at: Instant) {
        let key = ObjectKey::cluster(name);
        let deleted_at = self.objects.get(&NAMESPACES, &key).and_then(|namespace| deleted_at(namespace));
        let is_leaving = deleted_at.is_some_and(|deleted_at| at >= deleted_at + self.pace.namespace_lag);
        if is_leaving && namespaced(self.flavour).all(|resource| self.objects.list(resource, Some(name)).next().is_none()) {
            // It is there, and no precondition is set.
            let _ = self.objects.delete(&NAMESPACES, &key, &Preconditions::default());
        }
    }
}
