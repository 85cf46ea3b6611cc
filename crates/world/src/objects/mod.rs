//! The objects of the site's Kubernetes API, with resource versions, conflicts and a bounded memory for watchers.
//!
//! Nothing here knows what a node is: the controllers' reactions to a write are in `control_plane.rs`.

mod admit;
mod error;
mod resource;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde_json::{Value, json};

pub(crate) use admit::check_shape;
pub use error::{Expired, ObjectError};
pub use resource::*;

use crate::random::Random;
use crate::time::Instant;

/// How many changes of each kind of object are remembered for watchers.
///
/// A watcher that was away for longer gets 410 and lists again. Each kind has its own memory, as in a real API server,
/// so that busy leases do not push out the changes of quiet nodes.
const HISTORY: usize = 4_096;

/// An object's name; the namespace is empty for objects of the whole cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectKey {
    pub namespace: String,
    pub name: String,
}

impl ObjectKey {
    pub fn cluster(name: &str) -> ObjectKey {
        ObjectKey { namespace: String::new(), name: name.to_owned() }
    }

    pub fn namespaced(namespace: &str, name: &str) -> ObjectKey {
        ObjectKey { namespace: namespace.to_owned(), name: name.to_owned() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// One change as watchers see it.
#[derive(Clone, Debug)]
pub struct Change {
    pub version: u64,
    pub kind: ChangeKind,
    pub key: ObjectKey,
    pub object: Arc<Value>,
    /// What the object was before, for watchers whose selector it left or entered.
    pub previous: Option<Arc<Value>>,
}

/// Which part of an object a writer may change; the rest of what it sends is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Everything, for the site's own controllers.
    Whole,
    /// Everything but the status.
    Main,
    /// Status and metadata.
    Status,
}

/// Whether a write outlives the simulator. Heartbeats need not: they are made again when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    Kept,
    Fleeting,
}

/// What must be so for a deletion to happen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    pub uid: Option<String>,
    pub resource_version: Option<String>,
}

/// When an object is to be gone, and how long it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deletion {
    pub at: Instant,
    pub grace_seconds: i64,
}

#[derive(Clone, Debug, Default)]
struct Table {
    objects: BTreeMap<ObjectKey, Arc<Value>>,
    history: VecDeque<Change>,
    /// The newest version whose change is forgotten.
    forgotten: u64,
}

/// A table's key: group and plural name the kind, as one version of each is served.
type TableName = (&'static str, &'static str);

#[derive(Clone, Debug)]
pub struct ObjectTable {
    seed: u64,
    version: u64,
    history_length: usize,
    tables: BTreeMap<TableName, Table>,
    unsaved: BTreeSet<(TableName, ObjectKey)>,
}

impl ObjectTable {
    /// An empty table. `seed` is what uids are drawn from.
    pub fn new(seed: u64) -> ObjectTable {
        ObjectTable { seed, version: 0, history_length: HISTORY, tables: BTreeMap::new(), unsaved: BTreeSet::new() }
    }

    /// Remembers fewer or more changes, for tests of forgetting.
    pub fn with_history(mut self, length: usize) -> ObjectTable {
        self.history_length = length;
        self
    }

    /// The version of the newest change to anything.
    pub fn version(&self) -> u64 {
        self.version
    }

    pub fn get(&self, resource: &Resource, key: &ObjectKey) -> Option<&Arc<Value>> {
        self.tables.get(&name_of(resource))?.objects.get(key)
    }

    /// Objects in key order, of one namespace or of all.
    pub fn list<'a>(&'a self, resource: &Resource, namespace: Option<&'a str>) -> impl Iterator<Item = (&'a ObjectKey, &'a Arc<Value>)> {
        // Keys begin with the namespace, so that one namespace is one stretch of the table.
        let first = ObjectKey::namespaced(namespace.unwrap_or_default(), "");
        let objects = self.tables.get(&name_of(resource)).map(|table| table.objects.range(first..));
        objects.into_iter().flatten().take_while(move |(key, _)| namespace.is_none_or(|namespace| key.namespace == namespace))
    }

    /// Changes to one kind of object after a version, oldest first.
    pub fn changes_after(&self, resource: &Resource, version: u64) -> Result<impl Iterator<Item = &Change>, Expired> {
        let table = self.tables.get(&name_of(resource));
        let forgotten = table.map_or(0, |table| table.forgotten);
        if version < forgotten {
            return Err(Expired { asked: version, oldest: forgotten });
        }
        let changes = table.map(|table| table.history.range(table.history.partition_point(|change| change.version <= version)..));
        Ok(changes.into_iter().flatten())
    }

    /// Adds an object. Its `metadata.generateName` names it when it has no name.
    pub fn create(&mut self, resource: &Resource, namespace: &str, mut object: Value, now: Instant) -> Result<Arc<Value>, ObjectError> {
        let version = self.version + 1;
        let mut random = Random::new(self.seed, &format!("object/{version}"));
        let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
            return Err(ObjectError::Invalid("metadata: Required value".to_owned()));
        };
        let name = match (text(metadata.get("name")), text(metadata.get("generateName"))) {
            (Some(name), _) => name.to_owned(),
            (None, Some(prefix)) => format!("{prefix}{}", random.text(b"bcdfghjklmnpqrstvwxz2456789", 5)),
            (None, None) => return Err(ObjectError::Invalid("metadata.name: Required value: name or generateName is required".to_owned())),
        };
        admit::check_name(&name)?;
        let key = ObjectKey { namespace: namespace.to_owned(), name };
        if self.get(resource, &key).is_some() {
            return Err(ObjectError::AlreadyExists);
        }
        metadata.insert("name".to_owned(), json!(key.name));
        if resource.scope == Scope::Namespaced {
            metadata.insert("namespace".to_owned(), json!(namespace));
        }
        metadata.insert("uid".to_owned(), json!(random.uuid()));
        metadata.insert("creationTimestamp".to_owned(), json!(now.to_seconds_text()));
        for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink"] {
            metadata.remove(field);
        }
        if resource.generation == Generation::Counted {
            metadata.insert("generation".to_owned(), json!(1));
        }
        object["apiVersion"] = json!(resource.api_version());
        object["kind"] = json!(resource.kind);
        Ok(self.put(resource, key, object, None, Durability::Kept))
    }

    /// Changes an object by a function of what it is. A result that differs in nothing is no change and gets no version.
    pub fn modify<E: From<ObjectError>>(
        &mut self,
        resource: &Resource,
        key: &ObjectKey,
        part: Part,
        durability: Durability,
        change: impl FnOnce(&Value) -> Result<Value, E>,
    ) -> Result<Arc<Value>, E> {
        let old = self.get(resource, key).cloned().ok_or(ObjectError::NotFound)?;
        let wanted = change(&old)?;
        let new = admit::admit(resource, part, &old, wanted)?;
        if new == *old {
            return Ok(old);
        }
        Ok(self.put(resource, key.clone(), new, Some(old), durability))
    }

    /// Replaces an object. A `metadata.resourceVersion` in it must be the current one; without one the last writer wins.
    pub fn update(&mut self, resource: &Resource, key: &ObjectKey, part: Part, object: Value) -> Result<Arc<Value>, ObjectError> {
        self.modify(resource, key, part, Durability::Kept, |_| Ok(object))
    }

    /// Notes that an object is to go at an instant, without removing it. Its controllers or its kubelet will.
    pub fn mark_deletion(&mut self, resource: &Resource, key: &ObjectKey, deletion: &Deletion) -> Result<Arc<Value>, ObjectError> {
        let old = self.get(resource, key).cloned().ok_or(ObjectError::NotFound)?;
        let mut new = Value::clone(&old);
        new["metadata"]["deletionTimestamp"] = json!(deletion.at.to_seconds_text());
        new["metadata"]["deletionGracePeriodSeconds"] = json!(deletion.grace_seconds);
        if resource.generation == Generation::Counted {
            new["metadata"]["generation"] = json!(old["metadata"]["generation"].as_u64().unwrap_or(0) + 1);
        }
        Ok(self.put(resource, key.clone(), new, Some(old), Durability::Kept))
    }

    /// Whether the object is the one that the writer means.
    pub fn check(&self, resource: &Resource, key: &ObjectKey, only_if: &Preconditions) -> Result<Arc<Value>, ObjectError> {
        let object = self.get(resource, key).ok_or(ObjectError::NotFound)?;
        admit::check_preconditions(&object["metadata"], only_if)?;
        Ok(object.clone())
    }

    pub fn delete(&mut self, resource: &Resource, key: &ObjectKey, only_if: &Preconditions) -> Result<Arc<Value>, ObjectError> {
        let old = self.check(resource, key, only_if)?;
        self.version += 1;
        let mut last = Value::clone(&old);
        last["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let last = Arc::new(last);
        let table = self.tables.entry(name_of(resource)).or_default();
        table.objects.remove(key);
        self.unsaved.insert((name_of(resource), key.clone()));
        self.remember(resource, ChangeKind::Deleted, key.clone(), last.clone(), Some(old));
        Ok(last)
    }

    fn put(
        &mut self,
        resource: &Resource,
        key: ObjectKey,
        mut object: Value,
        previous: Option<Arc<Value>>,
        durability: Durability,
    ) -> Arc<Value> {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let object = Arc::new(object);
        self.tables.entry(name_of(resource)).or_default().objects.insert(key.clone(), object.clone());
        if durability == Durability::Kept {
            self.unsaved.insert((name_of(resource), key.clone()));
        }
        let kind = if previous.is_some() { ChangeKind::Modified } else { ChangeKind::Added };
        self.remember(resource, kind, key, object.clone(), previous);
        object
    }

    fn remember(&mut self, resource: &Resource, kind: ChangeKind, key: ObjectKey, object: Arc<Value>, previous: Option<Arc<Value>>) {
        let version = self.version;
        let table = self.tables.entry(name_of(resource)).or_default();
        table.history.push_back(Change { version, kind, key, object, previous });
        while table.history.len() > self.history_length {
            if let Some(oldest) = table.history.pop_front() {
                table.forgotten = oldest.version;
            }
        }
    }

    /// Puts a saved object back as it was, resource version included. Watchers of before must list again.
    pub(crate) fn restore(&mut self, resource: &Resource, key: ObjectKey, object: Value) {
        self.tables.entry(name_of(resource)).or_default().objects.insert(key, Arc::new(object));
    }

    /// Goes on counting above everything that was ever handed out, and forgets all history.
    pub(crate) fn resume(&mut self, version: u64) {
        self.version = version;
        for resource in RESOURCES {
            let table = self.tables.entry(name_of(resource)).or_default();
            table.history.clear();
            table.forgotten = version;
        }
    }

    /// The objects that changed durably since this was last asked; `None` for deleted ones.
    pub(crate) fn take_unsaved(&mut self) -> Vec<(TableName, ObjectKey, Option<Arc<Value>>)> {
        let current = |table: &TableName, key: &ObjectKey| self.tables.get(table)?.objects.get(key).cloned();
        let unsaved = self.unsaved.iter().map(|(table, key)| (*table, key.clone(), current(table, key))).collect();
        self.unsaved.clear();
        unsaved
    }
}

fn name_of(resource: &Resource) -> TableName {
    (resource.group, resource.plural)
}

fn text(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
