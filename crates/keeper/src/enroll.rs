//! Writes a site's description into the store before its keeper starts.

use std::collections::BTreeMap;

use model::{Clock, Site, keys};
use plan::Enrolled;
use serde::de::DeserializeOwned;
use store::{Commit, Document, Expected, SharedStore};

use crate::KeeperError;

/// Brings the stored documents of a site in line with its description. Safe to repeat.
pub async fn enroll_site(store: &SharedStore, clock: &dyn Clock, site: &Site) -> Result<(), KeeperError> {
    let failed = |source| KeeperError::Store { cluster: site.cluster.clone(), source };
    let mut commit = Commit::default();
    let mut stored = Enrolled::default();
    let cluster_key = keys::cluster(&site.cluster);
    match store.get(&cluster_key).await.map_err(failed)? {
        Some(document) => {
            commit = commit.expect(cluster_key.clone(), Expected::At(document.revision));
            stored.cluster = Some(decode(&document)?);
        }
        None => commit = commit.expect(cluster_key.clone(), Expected::Absent),
    }
    let mut revisions = BTreeMap::new();
    for document in store.list(&keys::racks_of(&site.cluster)).await.map_err(failed)?.documents {
        let rack: model::Rack = decode(&document)?;
        revisions.insert(document.key.clone(), document.revision);
        stored.racks.insert(rack.name.clone(), rack);
    }
    for document in store.list(&keys::machines_of(&site.cluster)).await.map_err(failed)?.documents {
        let machine: model::Machine = decode(&document)?;
        revisions.insert(document.key.clone(), document.revision);
        stored.machines.insert(machine.name.clone(), machine);
    }
    let writes = plan::enroll(&stored, site, clock.now());
    if let Some(cluster) = &writes.cluster {
        commit = commit.put(cluster_key, encode(cluster));
    }
    // A keeper may be at work on these documents: what it wrote since we read them is not overwritten.
    let expected = |key: &String| revisions.get(key).map_or(Expected::Absent, |revision| Expected::At(*revision));
    for rack in writes.racks.values() {
        let key = keys::rack(&site.cluster, &rack.name);
        commit = commit.expect(key.clone(), expected(&key)).put(key, encode(rack));
    }
    for machine in writes.machines.values() {
        let key = keys::machine(&site.cluster, &machine.name);
        commit = commit.expect(key.clone(), expected(&key)).put(key, encode(machine));
    }
    if !commit.writes.is_empty() {
        store.commit(commit).await.map_err(failed)?;
    }
    Ok(())
}

pub(crate) fn decode<T: DeserializeOwned>(document: &Document) -> Result<T, KeeperError> {
    serde_json::from_slice(&document.value).map_err(|source| KeeperError::Unreadable { key: document.key.clone(), source })
}

pub(crate) fn encode(document: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(document).expect("our documents have string keys and no failing serializers")
}
