//! The replica's copy of the documents, kept by watching the store. Reads are served from here.

mod catalogue;
mod verdicts;
mod workloads;

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock};

use imbl::{OrdMap, OrdSet};
use model::{
    Bundle, Cluster, ClusterName, KeySet, Machine, MachineName, Operation, OperationId, Rack, RackName, Request, RequestId, RuntimeVersion,
    Target, TenantCluster, TenantClusterName, Timestamp, Vm, VmName, keys,
};
use serde::de::DeserializeOwned;
use store::{Change, Document, Revision, SharedStore, StoreError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use crate::events::{Feed, news_of};
use catalogue::Catalogue;
use verdicts::Verdicts;
pub(crate) use workloads::Workload;
use workloads::Workloads;

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
    by_group: OrdMap<GroupKey, OrdSet<ClusterName>>,
    racks: OrdMap<ClusterName, OrdMap<RackName, Versioned<Rack>>>,
    machines: OrdMap<ClusterName, OrdMap<MachineName, Versioned<Machine>>>,
    workloads: Workloads,
    catalogue: Catalogue,
    pub operations: OrdMap<OperationId, Arc<Operation>>,
    by_target: OrdMap<ClusterName, OrdMap<Target, OrdSet<OperationId>>>,
    by_acceptance: OrdSet<Acceptance>,
    pub requests: OrdMap<RequestId, Arc<Request>>,
    /// How many requests of each cluster wait for their verdict.
    pending: OrdMap<ClusterName, usize>,
}

/// A subscription and a resource group, without case.
type GroupKey = (String, String);

fn group_key(subscription: &str, group: &str) -> GroupKey {
    (subscription.to_ascii_lowercase(), group.to_ascii_lowercase())
}

#[derive(Debug)]
pub struct Cache {
    view: RwLock<Arc<View>>,
    revision: watch::Sender<Revision>,
    feed: Feed,
    verdicts: Verdicts,
}

impl Cache {
    /// Reads everything there is; [`Cache::follow`] keeps it up to date from then on.
    pub async fn load(store: &SharedStore) -> Result<Arc<Cache>, StoreError> {
        let view = read_all(store).await?;
        let (revision, feed) = (watch::Sender::new(view.revision), Feed::new(view.revision));
        Ok(Arc::new(Cache { view: RwLock::new(Arc::new(view)), revision, feed, verdicts: Verdicts::default() }))
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
                        self.verdicts.tell_all(&self.view());
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
            self.verdicts.tell(&changes, &self.view());
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

/// What the clusters have, by cluster and name, after a place in that order, each with its cluster. Clusters are compared
/// before names, not with them: `site` and all it has come before `site-b`.
fn members_after<'a, N: Ord + Clone, T>(
    members: &'a OrdMap<ClusterName, OrdMap<N, Versioned<T>>>,
    clusters: &[&'a Versioned<Cluster>],
    after: Option<&(ClusterName, N)>,
) -> impl Iterator<Item = Member<'a, T>> {
    let is_reached = |cluster: &&&Versioned<Cluster>| after.is_none_or(|(last, _)| cluster.document.name >= *last);
    let reached: Vec<&Versioned<Cluster>> = clusters.iter().filter(is_reached).copied().collect();
    let after = after.cloned();
    reached.into_iter().flat_map(move |cluster| {
        let begin = match &after {
            Some((last, name)) if *last == cluster.document.name => Bound::Excluded(name.clone()),
            _ => Bound::Unbounded,
        };
        let own = members.get(&cluster.document.name).into_iter();
        own.flat_map(move |own| own.range::<_, N>((begin.clone(), Bound::Unbounded))).map(move |(_, member)| (cluster, member))
    })
}

/// Something that a cluster has, and the cluster.
pub(crate) type Member<'a, T> = (&'a Versioned<Cluster>, &'a Versioned<T>);

impl View {
    fn apply(&mut self, change: &Change) {
        self.revision = self.revision.max(change.revision);
        match &change.value {
            Some(value) => self.put(&change.key, value, change.revision),
            None => self.remove(&change.key),
        }
    }

    fn put(&mut self, key: &str, value: &[u8], revision: Revision) {
        if self.workloads.put(key, value, revision) || self.catalogue.put(key, value, revision) {
            return;
        }
        if key.starts_with(keys::CLUSTERS) {
            if let Some(document) = decode::<Cluster>(key, value) {
                self.put_cluster(Versioned { document, revision });
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
                let before = self.operations.insert(document.id.clone(), document.clone());
                // Where an operation is found never changes, and most of what is told of one is told of a known one.
                if before.is_none() {
                    let of_cluster = self.by_target.entry(document.cluster.clone()).or_default();
                    of_cluster.entry(document.target.clone()).or_default().insert(document.id.clone());
                    self.by_acceptance.insert((document.accepted_at, document.id.clone()));
                }
            }
        } else if key.starts_with(keys::REQUESTS)
            && let Some(document) = decode::<Request>(key, value)
        {
            let (cluster, waits) = (document.cluster.clone(), document.verdict.is_none());
            let before = self.requests.insert(document.id.clone(), document);
            self.count_pending(&cluster, before.as_deref(), waits);
        }
    }

    fn put_cluster(&mut self, cluster: Versioned<Cluster>) {
        let home = |cluster: &Cluster| group_key(&cluster.home.subscription, &cluster.home.resource_group);
        let (name, group) = (cluster.document.name.clone(), home(&cluster.document));
        if let Some(before) = self.clusters.insert(name.clone(), cluster)
            && let Some(others) = self.by_group.get_mut(&home(&before.document))
        {
            others.remove(&name);
        }
        self.by_group.entry(group).or_default().insert(name);
    }

    /// A request of the cluster was `before`, and now waits for its verdict or does not.
    fn count_pending(&mut self, cluster: &ClusterName, before: Option<&Request>, waits: bool) {
        let waited = before.is_some_and(|request| request.verdict.is_none());
        if waited != waits {
            let count = self.pending.entry(cluster.clone()).or_default();
            *count = if waits { *count + 1 } else { count.saturating_sub(1) };
        }
    }

    /// Operations and requests come and go; machines and racks go when the site's people take them out.
    fn remove(&mut self, key: &str) {
        self.workloads.remove(key);
        self.catalogue.remove(key);
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
            if let Some(request) = self.requests.remove(&RequestId::new(id)) {
                self.count_pending(&request.cluster, Some(request.as_ref()), false);
            }
        } else if key.starts_with(keys::OPERATIONS)
            && let Some(operation) = self.operations.remove(&OperationId::new(id))
        {
            self.by_acceptance.remove(&(operation.accepted_at, operation.id.clone()));
            if let Some(ids) = self.by_target.get_mut(&operation.cluster).and_then(|targets| targets.get_mut(&operation.target)) {
                ids.remove(&operation.id);
            }
        }
    }

    /// A machine's operations, the latest first.
    pub fn operations_of(&self, machine: &Machine) -> Vec<&Operation> {
        self.operations_for(&machine.cluster, &Target::Machine(machine.name.clone()))
    }

    /// The operations of a machine, a virtual machine or a tenant node, the latest first.
    pub fn operations_for(&self, cluster: &ClusterName, target: &Target) -> Vec<&Operation> {
        let ids = self.by_target.get(cluster).and_then(|targets| targets.get(target)).into_iter().flatten();
        let mut operations: Vec<&Operation> = ids.filter_map(|id| self.operations.get(id)).map(Arc::as_ref).collect();
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
    ) -> impl Iterator<Item = Member<'a, Machine>> {
        members_after(&self.machines, clusters, after)
    }

    /// Racks of the clusters, by cluster and name, after a place in that order.
    pub fn racks_after<'a>(
        &'a self,
        clusters: &[&'a Versioned<Cluster>],
        after: Option<&(ClusterName, RackName)>,
    ) -> impl Iterator<Item = Member<'a, Rack>> {
        members_after(&self.racks, clusters, after)
    }

    /// Virtual machines of the clusters, by cluster and name, after a place in that order.
    pub fn vms_after<'a>(
        &'a self,
        clusters: &[&'a Versioned<Cluster>],
        after: Option<&(ClusterName, VmName)>,
    ) -> impl Iterator<Item = Member<'a, Vm>> {
        members_after(&self.workloads.vms, clusters, after)
    }

    /// Tenant clusters of the clusters, by cluster and name, after a place in that order.
    pub fn tenant_clusters_after<'a>(
        &'a self,
        clusters: &[&'a Versioned<Cluster>],
        after: Option<&(ClusterName, TenantClusterName)>,
    ) -> impl Iterator<Item = Member<'a, TenantCluster>> {
        members_after(&self.workloads.clusters, clusters, after)
    }

    pub fn vm(&self, cluster: &ClusterName, name: &VmName) -> Option<&Versioned<Vm>> {
        self.workloads.vms.get(cluster)?.get(name)
    }

    pub fn vms_of(&self, cluster: &ClusterName) -> impl Iterator<Item = &Versioned<Vm>> {
        self.workloads.vms.get(cluster).into_iter().flat_map(OrdMap::values)
    }

    pub fn tenant_cluster(&self, cluster: &ClusterName, name: &TenantClusterName) -> Option<&Versioned<TenantCluster>> {
        self.workloads.clusters.get(cluster)?.get(name)
    }

    pub fn tenant_clusters_of(&self, cluster: &ClusterName) -> impl Iterator<Item = &Versioned<TenantCluster>> {
        self.workloads.clusters.get(cluster).into_iter().flat_map(OrdMap::values)
    }

    /// What is on a machine, or was last: clusters first, each by name.
    pub fn workloads_on(&self, machine: &Machine) -> impl Iterator<Item = &Workload> {
        self.workloads.on(&machine.cluster, &machine.name)
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
        match group {
            Some(group) => {
                let names = self.by_group.get(&group_key(subscription, group)).into_iter().flatten();
                names.filter_map(|name| self.clusters.get(name)).collect()
            }
            None => {
                self.clusters.values().filter(|cluster| cluster.document.home.subscription.eq_ignore_ascii_case(subscription)).collect()
            }
        }
    }

    pub fn runtime(&self, cluster: &ClusterName, version: RuntimeVersion) -> Option<&Versioned<Bundle>> {
        self.catalogue.runtimes.get(cluster)?.get(&version)
    }

    /// The runtimes that a cluster knows, the oldest version first.
    pub fn runtimes_of(&self, cluster: &ClusterName) -> impl Iterator<Item = &Versioned<Bundle>> {
        self.catalogue.runtimes.get(cluster).into_iter().flat_map(OrdMap::values)
    }

    pub fn key_sets_of(&self, cluster: &ClusterName) -> impl Iterator<Item = &Versioned<KeySet>> {
        self.catalogue.key_sets.get(cluster).into_iter().flat_map(OrdMap::values)
    }

    /// Requests of a cluster that wait for their verdict.
    pub fn pending(&self, cluster: &ClusterName) -> usize {
        self.pending.get(cluster).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
