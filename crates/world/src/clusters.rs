//! Which Kubernetes clusters a site has: its undercloud, and the tenants' clusters that come and go.
//!
//! Writes of clients enter here. A tenant cluster's hosts are virtual machines; whoever runs those tells when one has
//! booted, has gone, or is gone for good.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::events::Announce;
use crate::eviction::EvictionRefusal;
use crate::host::{HostFacts, TenantNode};
use crate::kube::{Flavour, Kube};
use crate::kubelet::LEASE_NAMESPACE;
use crate::objects::{LEASES, NODES, ObjectError, ObjectKey, Part, Resource};
use crate::random::Random;
use crate::site::World;
use crate::time::Instant;
use crate::writes::{DeleteOptions, Deleted};

/// A Kubernetes cluster of the site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClusterName {
    Undercloud,
    Tenant(String),
}

impl fmt::Display for ClusterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClusterName::Undercloud => f.write_str("the undercloud"),
            ClusterName::Tenant(name) => f.write_str(name),
        }
    }
}

impl World {
    pub fn kube(&self, cluster: &ClusterName) -> Option<&Kube> {
        match cluster {
            ClusterName::Undercloud => Some(&self.undercloud),
            ClusterName::Tenant(name) => self.tenants.get(name),
        }
    }

    pub(crate) fn kube_mut(&mut self, cluster: &ClusterName) -> Option<&mut Kube> {
        match cluster {
            ClusterName::Undercloud => Some(&mut self.undercloud),
            ClusterName::Tenant(name) => self.tenants.get_mut(name),
        }
    }

    /// The tenants' clusters, by name.
    pub fn tenants(&self) -> impl Iterator<Item = (&str, &Kube)> {
        self.tenants.iter().map(|(name, kube)| (name.as_str(), kube))
    }

    /// Makes a tenant cluster that has no nodes yet. One that is there stays as it is.
    pub fn tenant_add(&mut self, name: &str, at: Instant) {
        if !self.tenants.contains_key(name) {
            let mut tenant = self.empty_tenant(name);
            tenant.found(at);
            self.tenants.insert(name.to_owned(), tenant);
        }
    }

    pub(crate) fn empty_tenant(&self, name: &str) -> Kube {
        let seed = Random::new(self.layout.site_seed(), &format!("tenant/{name}")).next_u64();
        Kube::empty(Flavour::Tenant, seed, self.pace)
    }

    /// Takes a tenant cluster away with everything in it.
    pub fn tenant_remove(&mut self, name: &str) {
        if let Some(tenant) = self.tenants.remove(name) {
            self.unsaved.forget_tenant(name, &tenant);
            self.faults.note_change();
        }
    }

    /// A virtual machine that is a node of the cluster has booted. At its first boot it joins.
    pub fn tenant_host_up(&mut self, cluster: &str, node: &TenantNode, boot_id: &str, at: Instant) {
        let Some(tenant) = self.tenants.get_mut(cluster) else { return };
        let slot = tenant.add_host(HostFacts::of_tenant_node(node));
        tenant.unsaved_hosts.insert(slot);
        tenant.kubelet_starts(slot, boot_id);
        let was_available = tenant.available;
        self.weigh_tenant(cluster, at);
        // A control plane that just returned has heard from every kubelet already.
        if let Some(tenant) = self.tenants.get_mut(cluster).filter(|_| was_available) {
            tenant.kubelet_reports(slot, at, Announce::Events);
        }
    }

    /// The virtual machine no longer runs, or can no longer be reached: its kubelet falls silent.
    pub fn tenant_host_down(&mut self, cluster: &str, node: &str, at: Instant) {
        let Some(tenant) = self.tenants.get_mut(cluster) else { return };
        if let Some(slot) = tenant.slot_of(node) {
            tenant.kubelet_stops(slot);
            self.weigh_tenant(cluster, at);
        }
    }

    /// The virtual machine is gone for good, and its node leaves the cluster with it.
    pub fn tenant_host_forget(&mut self, cluster: &str, node: &str, at: Instant) {
        self.tenant_host_down(cluster, node, at);
        let Some(tenant) = self.tenants.get_mut(cluster) else { return };
        let Some(slot) = tenant.slot_of(node) else { return };
        tenant.drop_host(slot);
        // A node that never registered is not there.
        let _ = tenant.remove(&NODES, &ObjectKey::cluster(node), at);
        let _ = tenant.remove(&LEASES, &ObjectKey::namespaced(LEASE_NAMESPACE, node), at);
        self.weigh_tenant(cluster, at);
    }

    /// Lets the API servers of a tenant cluster be down, whatever its hosts do, or lets them run again.
    pub fn tenant_hold_down(&mut self, cluster: &str, is_held_down: bool, at: Instant) {
        if let Some(tenant) = self.tenants.get_mut(cluster) {
            tenant.is_held_down = is_held_down;
            self.weigh_tenant(cluster, at);
        }
    }

    /// Whether anybody listens at a tenant cluster's address: at least one of its control-plane nodes runs.
    pub fn is_tenant_reachable(&self, cluster: &str) -> bool {
        self.tenants.get(cluster).is_some_and(|tenant| {
            let mut voters = tenant.hosts.values().filter(|host| host.facts.votes);
            !tenant.is_held_down && voters.any(|host| host.kubelet.is_some())
        })
    }

    fn weigh_tenant(&mut self, cluster: &str, at: Instant) {
        let Some(tenant) = self.tenants.get_mut(cluster) else { return };
        let available = tenant.has_majority() && !tenant.is_held_down;
        tenant.set_available(available, at);
        // Whoever listens for the tenant looks again whether anybody is there.
        self.faults.note_change();
    }

    /// A creation through the API of the undercloud.
    pub fn create_object(&mut self, resource: &Resource, namespace: &str, object: Value, now: Instant) -> Result<Arc<Value>, ObjectError> {
        self.create_object_in(&ClusterName::Undercloud, resource, namespace, object, now)
    }

    /// A creation through the API of a cluster.
    pub fn create_object_in(
        &mut self,
        cluster: &ClusterName,
        resource: &Resource,
        namespace: &str,
        object: Value,
        now: Instant,
    ) -> Result<Arc<Value>, ObjectError> {
        self.advance(now);
        let at = self.now;
        let kube = self.kube_mut(cluster).ok_or(ObjectError::NotFound)?;
        let answer = kube.create(resource, namespace, object, at);
        kube.count_now(at);
        self.virt_settle(at);
        answer
    }

    /// A change through the API of the undercloud by a function of the object as it is.
    pub fn modify_object<E: From<ObjectError>>(
        &mut self,
        resource: &Resource,
        key: &ObjectKey,
        part: Part,
        now: Instant,
        change: impl FnOnce(&Value) -> Result<Value, E>,
    ) -> Result<Arc<Value>, E> {
        self.modify_object_in(&ClusterName::Undercloud, resource, key, part, now, change)
    }

    /// A change through the API of a cluster by a function of the object as it is.
    pub fn modify_object_in<E: From<ObjectError>>(
        &mut self,
        cluster: &ClusterName,
        resource: &Resource,
        key: &ObjectKey,
        part: Part,
        now: Instant,
        change: impl FnOnce(&Value) -> Result<Value, E>,
    ) -> Result<Arc<Value>, E> {
        self.advance(now);
        let at = self.now;
        let kube = self.kube_mut(cluster).ok_or(ObjectError::NotFound)?;
        let answer = kube.modify(resource, key, part, at, change);
        kube.count_now(at);
        self.virt_settle(at);
        answer
    }

    /// A deletion through the API of the undercloud.
    pub fn delete_object(
        &mut self,
        resource: &Resource,
        key: &ObjectKey,
        options: &DeleteOptions,
        now: Instant,
    ) -> Result<Deleted, ObjectError> {
        self.delete_object_in(&ClusterName::Undercloud, resource, key, options, now)
    }

    /// A deletion through the API of a cluster.
    pub fn delete_object_in(
        &mut self,
        cluster: &ClusterName,
        resource: &Resource,
        key: &ObjectKey,
        options: &DeleteOptions,
        now: Instant,
    ) -> Result<Deleted, ObjectError> {
        self.advance(now);
        let at = self.now;
        let kube = self.kube_mut(cluster).ok_or(ObjectError::NotFound)?;
        let answer = kube.delete(resource, key, options, at);
        kube.count_now(at);
        self.virt_settle(at);
        answer
    }

    /// An eviction through the API of the undercloud.
    pub fn evict_pod(&mut self, key: &ObjectKey, options: &DeleteOptions, now: Instant) -> Result<(), EvictionRefusal> {
        self.evict_pod_in(&ClusterName::Undercloud, key, options, now)
    }

    /// An eviction through the API of a cluster.
    pub fn evict_pod_in(
        &mut self,
        cluster: &ClusterName,
        key: &ObjectKey,
        options: &DeleteOptions,
        now: Instant,
    ) -> Result<(), EvictionRefusal> {
        self.advance(now);
        let at = self.now;
        let kube = self.kube_mut(cluster).ok_or(ObjectError::NotFound)?;
        let answer = kube.evict(key, options, at);
        kube.count_now(at);
        self.virt_settle(at);
        answer
    }
}
