//! A Kubernetes cluster as records, and back. The keys of a tenant cluster's records begin with its name.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::events::Announce;
use crate::host::HostFacts;
use crate::kube::Kube;
use crate::kubelet::{NodeState, Verdict};
use crate::objects::{EVENTS, ObjectKey, Resource};
use crate::persist::{PROGRESS_KEY, Record, RestoreError, from_value, to_value};
use crate::time::{Instant, Span};

/// Resource versions are reserved in blocks of this size, because heartbeats take them and are not saved.
const VERSION_BLOCK: u64 = 100_000;

/// A new block is reserved when this few are left, well before the last is used.
const VERSION_MARGIN: u64 = 50_000;

/// Stands for "no group" and "no namespace" in a record's key.
const NONE: &str = "-";

/// How far a tenant cluster has come. No version above the reserved one is handed out before a higher one is saved.
#[derive(Serialize, Deserialize)]
struct TenantProgress {
    reserved_version: u64,
}

#[derive(Serialize, Deserialize)]
struct SavedHost {
    facts: HostFacts,
    node: NodeState,
    kubelet: Option<String>,
}

pub(crate) fn tenant_prefix(name: &str) -> String {
    format!("tenant/{name}/")
}

impl Kube {
    /// The objects that changed durably since the last call.
    pub(crate) fn take_object_records(&mut self, prefix: &str) -> Vec<Record> {
        let unsaved = self.objects.take_unsaved().into_iter();
        unsaved
            .map(|((group, plural), key, object)| {
                let value = object.map(|object| Value::clone(&object));
                Record { key: format!("{prefix}{}", object_key(group, plural, &key)), value }
            })
            .collect()
    }

    /// Reserves versions ahead of their use. Says whether that is news.
    pub(crate) fn reserve_versions(&mut self) -> bool {
        let version = self.objects.version();
        let is_news = self.reserved_version < version + VERSION_MARGIN;
        if is_news {
            self.reserved_version = version + VERSION_BLOCK;
        }
        is_news
    }

    /// Everything that changed durably in a tenant cluster since the last call.
    pub(crate) fn take_tenant_records(&mut self, name: &str) -> Vec<Record> {
        let prefix = tenant_prefix(name);
        let mut records = Vec::new();
        for dropped in std::mem::take(&mut self.unsaved_drops) {
            records.push(Record { key: format!("{prefix}host/{dropped}"), value: None });
        }
        for slot in std::mem::take(&mut self.unsaved_hosts) {
            // A host that was dropped meanwhile has its record above.
            let Some(host) = self.hosts.get(&slot) else { continue };
            let saved = SavedHost { facts: host.facts.clone(), node: host.node.clone(), kubelet: host.kubelet.clone() };
            records.push(Record { key: format!("{prefix}host/{}", host.facts.name), value: to_value(&saved) });
        }
        records.extend(self.take_object_records(&prefix));
        if self.reserve_versions() {
            let progress = TenantProgress { reserved_version: self.reserved_version };
            records.push(Record { key: format!("{prefix}{PROGRESS_KEY}"), value: to_value(&progress) });
        }
        records
    }

    /// The keys of all records that a tenant cluster may have.
    pub(crate) fn tenant_keys(&self, name: &str) -> Vec<String> {
        let prefix = tenant_prefix(name);
        let hosts = self.hosts.values().map(|host| format!("host/{}", host.facts.name));
        let objects = self.flavour.resources().iter().flat_map(|resource| {
            let objects = self.objects.list(resource, None);
            objects.map(|(key, _)| object_key(resource.group, resource.plural, key)).collect::<Vec<_>>()
        });
        let keys = hosts.chain(objects).chain([PROGRESS_KEY.to_owned()]);
        keys.map(|key| format!("{prefix}{key}")).collect()
    }

    /// Takes a saved object back. `None` if the cluster serves no such kind.
    pub(crate) fn restore_object(&mut self, [group, plural, namespace, name]: [&str; 4], value: Value) -> Option<()> {
        let resources: &[&Resource] = self.flavour.resources();
        let resource = resources.iter().find(|resource| resource.group == or_empty(group) && resource.plural == plural)?;
        self.objects.restore(resource, ObjectKey::namespaced(or_empty(namespace), name), value);
        Some(())
    }

    /// Takes one saved piece of a tenant cluster back; `parts` is its key without the cluster's prefix.
    pub(crate) fn restore_piece(&mut self, key: &str, parts: &[&str], value: Value) -> Result<(), RestoreError> {
        let unexpected = || RestoreError::Unexpected { key: key.to_owned() };
        match *parts {
            [PROGRESS_KEY] => self.reserved_version = from_value::<TenantProgress>(key, value)?.reserved_version,
            ["host", _] => {
                let saved: SavedHost = from_value(key, value)?;
                let slot = self.add_host(saved.facts);
                let host = self.host_mut(slot);
                (host.node, host.kubelet) = (saved.node, saved.kubelet);
            }
            ["object", group, plural, namespace, name] => {
                self.restore_object([group, plural, namespace, name], value).ok_or_else(unexpected)?;
            }
            _ => return Err(unexpected()),
        }
        Ok(())
    }

    /// Moves what was pending, forgets watchers, and finds the pods of each host.
    pub(crate) fn awake(&mut self, stood_still: Span, now: Instant) {
        self.objects.resume(self.reserved_version);
        for host in self.hosts.values_mut().filter(|host| host.node.verdict == Verdict::Reachable) {
            host.node.seen_at = host.node.seen_at.map(|at| at + stood_still);
        }
        let events = self.objects.list(&EVENTS, None);
        let mut posted: Vec<(Instant, ObjectKey)> =
            events.map(|(key, event)| (event["lastTimestamp"].as_str().and_then(Instant::parse).unwrap_or(now), key.clone())).collect();
        posted.sort();
        self.posted_events = posted.into();
        self.index_pods();
    }

    /// Lets every kubelet renew before anybody looks.
    pub(crate) fn resume(&mut self, available: bool, now: Instant) {
        self.available = available;
        let slots: Vec<usize> = self.hosts.keys().copied().collect();
        for slot in slots {
            if available {
                self.kubelet_reports(slot, now, Announce::Nothing);
            }
            self.reschedule(slot);
        }
        self.find_strangers(now);
        self.reschedule_budgets();
        self.wake_controllers(now);
    }
}

fn object_key(group: &str, plural: &str, key: &ObjectKey) -> String {
    format!("object/{}/{plural}/{}/{}", or_none(group), or_none(&key.namespace), key.name)
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { NONE } else { text }
}

fn or_empty(text: &str) -> &str {
    if text == NONE { "" } else { text }
}
