//! Brings the stored documents of a site in line with its description. What that means is decided by `plan`.

use std::collections::BTreeMap;

use model::{Activity, Clock, ClusterName, Operation, Site, Timestamp, keys};
use plan::{Enrolment, Stored};
use serde::de::DeserializeOwned;
use store::{Commit, Document, Expected, NewRecord, Revision, SharedStore};

use crate::KeeperError;

/// Enrols a site before its keeper starts. Safe to repeat.
pub async fn enroll_site(store: &SharedStore, clock: &dyn Clock, site: &Site) -> Result<Enrolment, KeeperError> {
    let failed = |source| KeeperError::Store { cluster: site.cluster.clone(), source };
    let mut stored = Stored::default();
    let mut revisions = BTreeMap::new();
    if let Some(document) = store.get(&keys::cluster(&site.cluster)).await.map_err(failed)? {
        stored.cluster = Some(decode(&document)?);
        revisions.insert(document.key, document.revision);
    }
    load_racks(store, &site.cluster, &mut stored, &mut revisions).await?;
    for document in store.list(&keys::machines_of(&site.cluster)).await.map_err(failed)?.documents {
        let machine: model::Machine = decode(&document)?;
        revisions.insert(document.key.clone(), document.revision);
        stored.machines.insert(machine.name.clone(), machine);
    }
    for document in store.list(&keys::operations_of(&site.cluster)).await.map_err(failed)?.documents {
        let operation: Operation = decode(&document)?;
        if let Some(machine) = operation.machine().filter(|_| operation.is_running()) {
            stored.running.insert(machine.clone(), operation.id.clone());
        }
    }
    let now = clock.now();
    let judged = plan::enroll(&stored, site, now);
    let enrolment = judged.map_err(|objections| KeeperError::Objections { cluster: site.cluster.clone(), objections })?;
    let commit = commit_of(&stored, site, &enrolment, &revisions, now);
    if !commit.writes.is_empty() {
        store.commit(commit).await.map_err(failed)?;
    }
    Ok(enrolment)
}

pub(crate) async fn load_racks(
    store: &SharedStore,
    cluster: &ClusterName,
    stored: &mut Stored,
    revisions: &mut BTreeMap<String, Revision>,
) -> Result<(), KeeperError> {
    let failed = |source| KeeperError::Store { cluster: cluster.clone(), source };
    for document in store.list(&keys::racks_of(cluster)).await.map_err(failed)?.documents {
        let rack: model::Rack = decode(&document)?;
        revisions.insert(document.key, document.revision);
        stored.racks.insert(rack.name.clone(), rack);
    }
    Ok(())
}

/// A keeper may be at work on these documents: what was written since we read them is not overwritten.
pub(crate) fn commit_of(
    stored: &Stored,
    site: &Site,
    enrolment: &Enrolment,
    revisions: &BTreeMap<String, Revision>,
    now: Timestamp,
) -> Commit {
    let cluster = &site.cluster;
    let mut writes: Vec<(String, Option<Vec<u8>>)> = Vec::new();
    writes.extend(enrolment.cluster.iter().map(|document| (keys::cluster(cluster), Some(encode(document)))));
    writes.extend(enrolment.racks.iter().map(|(name, rack)| (keys::rack(cluster, name), Some(encode(rack)))));
    writes.extend(enrolment.machines.iter().map(|(name, machine)| (keys::machine(cluster, name), Some(encode(machine)))));
    writes.extend(enrolment.forgotten_racks.iter().map(|name| (keys::rack(cluster, name), None)));
    writes.extend(enrolment.forgotten_machines.iter().map(|name| (keys::machine(cluster, name), None)));
    let records = plan::chronicle_enrolment(stored, site, enrolment, now).iter().map(record_of).collect();
    let mut commit = Commit { records, ..Commit::default() };
    for (key, value) in writes {
        let expected = revisions.get(&key).map_or(Expected::Absent, |revision| Expected::At(*revision));
        commit = commit.expect(key.clone(), expected);
        commit = match value {
            Some(value) => commit.put(key, value),
            None => commit.delete(key),
        };
    }
    // What was found of hardware goes with its machine. Nobody else writes it, and there may be none.
    for name in &enrolment.forgotten_machines {
        commit = commit.delete(keys::validation(cluster, name)).delete(keys::inventory(cluster, name));
    }
    commit
}

pub(crate) fn decode<T: DeserializeOwned>(document: &Document) -> Result<T, KeeperError> {
    serde_json::from_slice(&document.value).map_err(|source| KeeperError::Unreadable { key: document.key.clone(), source })
}

/// An entry of the activity log as the store keeps it.
pub(crate) fn record_of(activity: &Activity) -> NewRecord {
    NewRecord { labels: activity.labels(), value: encode(activity).into() }
}

pub(crate) fn encode(document: &impl serde::Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec(document).expect("our documents have string keys and no failing serializers");
    // The store keeps it as it is, for as long as the document lasts, and it has grown by doubling.
    text.shrink_to_fit();
    text
}
