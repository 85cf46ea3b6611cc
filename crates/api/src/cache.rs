//! The replica's copy of the documents, kept by watching the store. Reads are served from here.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock};

use imbl::{OrdMap, OrdSet};
use model::{Cluster, ClusterName, Machine, MachineName, Operation, OperationId, Rack, RackName, Request, RequestId, Timestamp, keys};
use serde::de::DeserializeOwned;
use store::{Change, Document, Revision, SharedStore, StoreError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use crate::events::{Feed, news_of};

/// A document as it was at a revision.
#[derive(Clone, Debug)]
pub(crate) struct Versioned<T> {
    pub document: Arc<T>,
    pub revision: Revision,
}

/// An operation's place among the others: when it was accepted, and its id for those of the same moment.
pub(crate) type Acceptance = (Timestamp, OperationId);

/// All documents at one revision; cheap to clone and never changed in place.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    pub revision: Revision,
    pub clusters: OrdMap<ClusterName, Versioned<Cluster>>,
    racks: OrdMap<ClusterName, OrdMap<RackName, Versioned<Rack>>>,
    machines: OrdMap<ClusterName, OrdMap<MachineName, Versioned<Machine>>>,
    pub operations: OrdMap<OperationId, Arc<Operation>>,
    by_machine: OrdMap<(ClusterName, MachineName), OrdSet<OperationId>>,
    by_acceptance: OrdSet<Acceptance>,
    pub requests: OrdMap<RequestId, Arc<Request>>,
}

#[derive(Debug)]
pub struct Cache {
    view: RwLock<Arc<View>>,
    revision: watch::Sender<Revision>,
    feed: Feed,
}

impl Cache {
    /// Reads everything there is; [`Cache::follow`] keeps it up to date from then on.
    pub async fn load(store: &SharedStore) -> Result<Arc<Cache>, StoreError> {
        let view = read_all(store).await?;
        let (revision, feed) = (watch::Sender::new(view.revision), Feed::new(view.revision));
        Ok(Arc::new(Cache { view: RwLock::new(Arc::new(view)), revision, feed }))
    }

    pub(crate) fn view(&self) -> Arc<View> {
        self.view.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn changes(&self) -> watch::Receiver<Revision> {
        self.revision.subscribe()
    }

    /// What has changed lately, for whoever listens.
    pub(crate) fn feed(&self) -> &Feed {
        &self.feed
    }

    fn set(&self, view: View) {
        let revision = view.revision;
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(view);
        self.revision.send_replace(revision);
    }

    /// Follows the store until `shutdown`. Falling behind means reading everything again.
    ///
    /// Whoever listens to events hears nothing more once this has ended, however it did.
    pub async fn follow(self: Arc<Self>, store: SharedStore, shutdown: CancellationToken) {
        let _closing = Closing(&self.feed);
        while !shutdown.is_cancelled() {
            let result = tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                result = self.follow_once(&store) => result,
            };
            if let Err(problem) = result {
                warn!(error = %problem, "the cache lost its watch and reads everything again");
                tokio::time::sleep(REREAD_AFTER).await;
                match read_all(&store).await {
                    Ok(view) => {
                        let revision = view.revision;
                        self.set(view);
                        self.feed.read_again(revision);
                    }
                    Err(problem) => error!(error = %problem, "the store cannot be read"),
                }
            }
        }
    }

    async fn follow_once(&self, store: &SharedStore) -> Result<(), StoreError> {
        let mut watch = store.watch("", self.view().revision).await?;
        loop {
            let changes = watch.next().await?;
            let before = self.view();
            let mut view = (*before).clone();
            for change in &changes {
                view.apply(change);
            }
            let (revision, news) = (view.revision, news_of(&changes, &before, &view));
            self.set(view);
            // Only now: whoever hears of a change and reads must see it.
            self.feed.publish(revision, news);
        }
    }
}

/// Ends the listeners' streams when the cache stops following.
struct Closing<'a>(&'a Feed);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The pause before everything is read again, so that a broken store is not hammered.
const REREAD_AFTER: std::time::Duration = std::time::Duration::from_millis(200);

async fn read_all(store: &SharedStore) -> Result<View, StoreError> {
    let listing = store.list("").await?;
    let mut view = View { revision: listing.revision, ..View::default() };
    for Document { key, value, revision } in listing.documents {
        view.put(&key, &value, revision);
    }
    Ok(view)
}

fn decode<T: DeserializeOwned>(key: &str, value: &[u8]) -> Option<Arc<T>> {
    match serde_json::from_slice(value) {
        Ok(document) => Some(Arc::new(document)),
        Err(problem) => {
            error!(%key, error = %problem, "a document cannot be read and is not shown");
            None
        }
    }
}

/// What the clusters have, by cluster and name, after a place in that order. Clusters are compared before names, not
/// with them: `site` and all it has come before `site-b`.
fn members_after<'a, N: Ord + Clone, T>(
    members: &'a OrdMap<ClusterName, OrdMap<N, Versioned<T>>>,
    clusters: &[&'a Versioned<Cluster>],
    after: Option<&(ClusterName, N)>,
) -> impl Iterator<Item = &'a Versioned<T>> {
    let names = clusters.iter().map(|cluster| &cluster.document.name);
    let reached: Vec<&ClusterName> = names.filter(|name| after.is_none_or(|(last, _)| *name >= last)).collect();
    let after = after.cloned();
    reached.into_iter().flat_map(move |cluster| {
        let begin = match &after {
            Some((last, name)) if last == cluster => Bound::Excluded(name.clone()),
            _ => Bound::Unbounded,
        };
        let own = members.get(cluster).into_iter();
        own.flat_map(move |own| own.range::<_, N>((begin.clone(), Bound::Unbounded))).map(|(_, member)| member)
    })
}

impl View {
    fn apply(&mut self, change: &Change) {
        self.revision = self.revision.max(change.revision);
        match &change.value {
            Some(value) => self.put(&change.key, value, change.revision),
            None => self.remove(&change.key),
        }
    }

    fn put(&mut self, key: &str, value: &[u8], revision: Revision) {
        if key.starts_with(keys::CLUSTERS) {
            if let Some(document) = decode::<Cluster>(key, value) {
                self.clusters.insert(document.name.clone(), Versioned { document, revision });
            }
        } else if key.starts_with(keys::RACKS) {
            if let Some(document) = decode::<Rack>(key, value) {
                self.racks.entry(document.cluster.clone()).or_default().insert(document.name.clone(), Versioned { document, revision });
            }
        } else if key.starts_with(keys::MACHINES) {
            if let Some(document) = decode::<Machine>(key, value) {
                self.machines.entry(document.cluster.clone()).or_default().insert(document.name.clone(), Versioned { document, revision });
            }
        } else if key.starts_with(keys::OPERATIONS) {
            if let Some(document) = decode::<Operation>(key, value) {
                let place = (document.cluster.clone(), document.machine.clone());
                self.by_machine.entry(place).or_default().insert(document.id.clone());
                self.by_acceptance.insert((document.accepted_at, document.id.clone()));
                self.operations.insert(document.id.clone(), document);
            }
        } else if key.starts_with(keys::REQUESTS)
            && let Some(document) = decode::<Request>(key, value)
        {
            self.requests.insert(document.id.clone(), document);
        }
    }

    /// Operations and requests come and go; machines and racks go when the site's people take them out.
    fn remove(&mut self, key: &str) {
        let id = key.rsplit('/').next().unwrap_or_default();
        if let Some((cluster, name)) = key.strip_prefix(keys::MACHINES).and_then(|place| place.split_once('/')) {
            if let (Ok(cluster), Ok(name)) = (ClusterName::new(cluster), MachineName::new(name))
                && let Some(machines) = self.machines.get_mut(&cluster)
            {
                machines.remove(&name);
            }
        } else if let Some((cluster, name)) = key.strip_prefix(keys::RACKS).and_then(|place| place.split_once('/'))
            && let (Ok(cluster), Ok(name)) = (ClusterName::new(cluster), RackName::new(name))
            && let Some(racks) = self.racks.get_mut(&cluster)
        {
            racks.remove(&name);
        }
        if key.starts_with(keys::REQUESTS) {
            self.requests.remove(&RequestId::new(id));
        } else if key.starts_with(keys::OPERATIONS)
            && let Some(operation) = self.operations.remove(&OperationId::new(id))
        {
            self.by_acceptance.remove(&(operation.accepted_at, operation.id.clone()));
            let place = (operation.cluster.clone(), operation.machine.clone());
            if let Some(ids) = self.by_machine.get_mut(&place) {
                ids.remove(&operation.id);
            }
        }
    }

    /// A machine's operations, the latest first.
    pub fn operations_of(&self, machine: &Machine) -> Vec<Arc<Operation>> {
        let place = (machine.cluster.clone(), machine.name.clone());
        let ids = self.by_machine.get(&place).cloned().unwrap_or_default();
        let mut operations: Vec<Arc<Operation>> = ids.iter().filter_map(|id| self.operations.get(id).cloned()).collect();
        operations.sort_by(|a, b| (b.accepted_at, &b.id).cmp(&(a.accepted_at, &a.id)));
        operations
    }

    pub fn machine(&self, cluster: &ClusterName, name: &MachineName) -> Option<&Versioned<Machine>> {
        self.machines.get(cluster)?.get(name)
    }

    pub fn machines_of(&self, cluster: &ClusterName) -> impl Iterator<Item = &Versioned<Machine>> {
        self.machines.get(cluster).into_iter().flat_map(OrdMap::values)
    }

    /// Machines of the clusters, by cluster and name, after a place in that order.
    pub fn machines_after<'a>(
        &'a self,
        clusters: &[&'a Versioned<Cluster>],
        after: Option<&(ClusterName, MachineName)>,
    ) -> impl Iterator<Item = &'a Versioned<Machine>> {
        members_after(&self.machines, clusters, after)
    }

    /// Racks of the clusters, by cluster and name, after a place in that order.
    pub fn racks_after<'a>(
        &'a self,
        clusters: &[&'a Versioned<Cluster>],
        after: Option<&(ClusterName, RackName)>,
    ) -> impl Iterator<Item = &'a Versioned<Rack>> {
        members_after(&self.racks, clusters, after)
    }

    /// Operations, the latest first, after a place in that order.
    pub fn operations_after(&self, after: Option<&Acceptance>) -> impl Iterator<Item = &Arc<Operation>> {
        let end = after.cloned().map_or(Bound::Unbounded, Bound::Excluded);
        let accepted = self.by_acceptance.range::<_, Acceptance>((Bound::Unbounded, end)).rev();
        accepted.filter_map(|(_, id)| self.operations.get(id))
    }

    pub fn rack(&self, cluster: &ClusterName, name: &RackName) -> Option<&Versioned<Rack>> {
        self.racks.get(cluster)?.get(name)
    }

    pub fn racks_of(&self, cluster: &ClusterName) -> impl Iterator<Item = &Versioned<Rack>> {
        self.racks.get(cluster).into_iter().flat_map(OrdMap::values)
    }

    pub fn subscriptions(&self) -> BTreeSet<String> {
        self.clusters.values().map(|cluster| cluster.document.home.subscription.clone()).collect()
    }

    /// Clusters of a subscription, and of one resource group of it if one is given.
    pub fn clusters_in(&self, subscription: &str, group: Option<&str>) -> Vec<&Versioned<Cluster>> {
        self.clusters
            .values()
            .filter(|cluster| cluster.document.home.subscription.eq_ignore_ascii_case(subscription))
            .filter(|cluster| group.is_none_or(|group| cluster.document.home.resource_group.eq_ignore_ascii_case(group)))
            .collect()
    }
}
