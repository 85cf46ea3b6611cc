//! What is heard of tenants' virtual machines and clusters, and how it enters the books. Facts only.

use std::collections::BTreeSet;
use std::sync::Arc;

use kubernetes::{InsideEvent, MOST_PODS, TenantCluster, TenantsEvent};
use model::{BudgetSeen, Contact, Fault, PodSeen, TenantClusterName, TenantClusterSeen, TenantNodeSeen, Timestamp, VmName, VmSeen};

use crate::books::Books;

/// What comes over the line to a tenant cluster's own API.
#[derive(Debug)]
pub(crate) enum Inside {
    /// The kubeconfig was read. Nobody has answered yet.
    Opened(TenantCluster),
    /// The kubeconfig cannot be read or used.
    Shut(Fault),
    Told(InsideEvent),
}

/// Which kinds a tenant cluster's API has listed since its line was opened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Listings {
    nodes: bool,
    pods: bool,
    budgets: bool,
}

/// Whether a tenant cluster is still small enough to be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    Yes,
    TooManyPods,
}

pub(crate) fn note_tenants(books: &mut Books, event: TenantsEvent, now: Timestamp) {
    note_contact(books, &event, now);
    match event {
        TenantsEvent::Listed { vms, clusters } => note_listing(books, vms, clusters, now),
        TenantsEvent::VmChanged(vm) => set_vm(books, vm),
        TenantsEvent::VmGone { name } => forget_vm(books, &name),
        TenantsEvent::ClusterChanged(cluster) => set_cluster(books, cluster),
        TenantsEvent::ClusterGone { name } => forget_cluster(books, &name),
        TenantsEvent::Heard | TenantsEvent::Lost(_) => {}
    }
}

/// An answer to one watch says nothing of another that is cut: only [`TenantsEvent::Heard`] says that all go on.
fn note_contact(books: &mut Books, event: &TenantsEvent, now: Timestamp) {
    let contact = &mut books.snapshot.tenants.contact;
    let was_silent = contact.fault.is_some();
    match event {
        TenantsEvent::Lost(fault) => contact.failed(now, fault.clone()),
        TenantsEvent::Heard => contact.answered(now),
        _ if !was_silent => contact.answered(now),
        _ => {}
    }
    let is_silent = contact.fault.is_some();
    if was_silent || is_silent {
        books.stir();
        books.mark_running();
    }
    if was_silent != is_silent {
        books.mark_emptied(|_| true);
        mark_busy_vms(books);
    }
}

/// Operations on virtual machines and tenant nodes may be waiting for whatever has just changed.
fn mark_busy_vms(books: &mut Books) {
    let busy: Vec<VmName> = books.snapshot.running_for_tenants().filter_map(|(target, _)| VmName::new(target.name()).ok()).collect();
    for vm in busy {
        books.mark_vm(vm);
    }
}

/// A listing speaks of everything: what is not in it is gone.
fn note_listing(books: &mut Books, vms: Vec<VmSeen>, clusters: Vec<TenantClusterSeen>, now: Timestamp) {
    let known_vms: Vec<VmName> = books.snapshot.tenants.vms().keys().cloned().collect();
    let known_clusters: Vec<TenantClusterName> = books.snapshot.tenants.clusters.keys().cloned().collect();
    let listed: BTreeSet<&VmName> = vms.iter().map(|vm| &vm.name).collect();
    for name in known_vms.iter().filter(|name| !listed.contains(name)) {
        forget_vm(books, name);
    }
    for name in known_clusters.iter().filter(|name| !clusters.iter().any(|cluster| cluster.name == **name)) {
        forget_cluster(books, name);
    }
    for vm in vms {
        set_vm(books, vm);
    }
    for cluster in clusters {
        set_cluster(books, cluster);
    }
    if books.snapshot.tenants.listed_at.is_none() {
        books.snapshot.tenants.listed_at = Some(now);
        mark_all_tenants(books);
    }
}

/// Until the first listing nothing was known, and what is stored of tenants could not be judged.
fn mark_all_tenants(books: &mut Books) {
    let vms: Vec<VmName> = books.snapshot.vms.keys().cloned().collect();
    let clusters: Vec<TenantClusterName> = books.snapshot.tenant_clusters.keys().cloned().collect();
    vms.into_iter().for_each(|vm| books.mark_vm(vm));
    clusters.into_iter().for_each(|cluster| books.mark_tenant_cluster(cluster));
    books.mark_running();
    books.mark_emptied(|_| true);
    mark_busy_vms(books);
}

fn set_vm(books: &mut Books, vm: VmSeen) {
    if books.snapshot.tenants.vms().get(&vm.name).is_some_and(|before| **before == vm) {
        return;
    }
    let name = vm.name.clone();
    let before = books.snapshot.tenants.set_vm(vm);
    let after = books.snapshot.tenants.vms().get(&name).cloned();
    mark_for_vm(books, &name, &[before, after]);
}

fn forget_vm(books: &mut Books, name: &VmName) {
    let before = books.snapshot.tenants.forget_vm(name);
    mark_for_vm(books, name, &[before, None]);
}

/// Whom a virtual machine's change concerns: itself, its tenant cluster, the machines that it ran on and runs on, and those whose
/// memory names it.
fn mark_for_vm(books: &mut Books, name: &VmName, sights: &[Option<Arc<VmSeen>>; 2]) {
    books.mark_vm(name.clone());
    for vm in sights.iter().flatten() {
        if let Some(node_of) = &vm.node_of {
            books.mark_tenant_cluster(node_of.cluster.clone());
        }
        if let Some(machine) = vm.node().and_then(|node| books.snapshot.nodes.get(node)).cloned() {
            books.mark(machine);
        }
    }
    books.mark_emptied(|memory| memory.vms.iter().any(|stopped| stopped.vm.name == *name));
}

fn set_cluster(books: &mut Books, cluster: TenantClusterSeen) {
    let name = cluster.name.clone();
    if books.snapshot.tenants.clusters.get(&name).is_some_and(|before| **before == cluster) {
        return;
    }
    books.snapshot.tenants.clusters.insert(name.clone(), Arc::new(cluster));
    mark_for_cluster(books, &name);
}

fn forget_cluster(books: &mut Books, name: &TenantClusterName) {
    books.snapshot.tenants.clusters.remove(name);
    books.snapshot.tenants.insides.remove(name);
    mark_for_cluster(books, name);
}

fn mark_for_cluster(books: &mut Books, name: &TenantClusterName) {
    books.mark_tenant_cluster(name.clone());
    books.mark_running();
    books.mark_emptied(|memory| memory.nodes.iter().any(|node| node.cluster == *name));
    mark_busy_vms(books);
}

/// What a tenant cluster's own API told, or that it could not be asked.
pub(crate) fn note_inside(
    books: &mut Books,
    cluster: &TenantClusterName,
    listings: &mut Listings,
    event: InsideEvent,
    now: Timestamp,
) -> Fit {
    note_line(books, cluster, |contact| match &event {
        InsideEvent::Lost(fault) => contact.failed(now, fault.clone()),
        InsideEvent::Heard => contact.answered(now),
        _ if contact.fault.is_none() => contact.answered(now),
        _ => {}
    });
    let mut fit = Fit::Yes;
    match event {
        InsideEvent::Nodes(nodes) => {
            listings.nodes = true;
            list_nodes(books, cluster, nodes);
        }
        InsideEvent::Pods(pods) => {
            listings.pods = true;
            list_pods(books, cluster, pods);
        }
        InsideEvent::Budgets(budgets) => {
            listings.budgets = true;
            books.snapshot.tenants.insides.entry(cluster.clone()).or_default().budgets = budgets.into_iter().map(keyed).collect();
            books.mark_running();
        }
        InsideEvent::NodeChanged(node) => set_node(books, cluster, node),
        InsideEvent::NodeGone { name } => {
            forget_node(books, cluster, &name);
        }
        InsideEvent::PodChanged(pod) => fit = set_pod(books, cluster, pod),
        InsideEvent::PodGone { namespace, name } => {
            let before = books.snapshot.tenants.insides.entry(cluster.clone()).or_default().forget_pod(&(namespace, name));
            mark_for_pods_of(books, before.as_ref().and_then(|pod| pod.node.as_deref()));
        }
        InsideEvent::BudgetChanged(budget) => {
            let (key, budget) = keyed(budget);
            books.snapshot.tenants.insides.entry(cluster.clone()).or_default().budgets.insert(key, budget);
            books.mark_running();
        }
        InsideEvent::BudgetGone { namespace, name } => {
            books.snapshot.tenants.insides.entry(cluster.clone()).or_default().budgets.remove(&(namespace, name));
            books.mark_running();
        }
        InsideEvent::Heard | InsideEvent::Lost(_) => {}
    }
    let inside = books.snapshot.tenants.insides.entry(cluster.clone()).or_default();
    if inside.listed_at.is_none() && listings.nodes && listings.pods && listings.budgets {
        inside.listed_at = Some(now);
        mark_for_cluster(books, cluster);
    }
    fit
}

/// The line to a tenant cluster's API could not even be opened.
pub(crate) fn note_shut(books: &mut Books, cluster: &TenantClusterName, fault: Fault, now: Timestamp) {
    note_line(books, cluster, |contact| contact.failed(now, fault));
}

/// Too much is in it to be kept: what is known of it is let go, so that nobody takes a part for the whole.
pub(crate) fn note_too_large(books: &mut Books, cluster: &TenantClusterName) {
    let inside = books.snapshot.tenants.insides.entry(cluster.clone()).or_default();
    let contact = std::mem::take(&mut inside.contact);
    *inside = plan::Inside::default();
    inside.contact = contact;
    mark_for_cluster(books, cluster);
}

fn note_line(books: &mut Books, cluster: &TenantClusterName, note: impl FnOnce(&mut Contact)) {
    let contact = &mut books.snapshot.tenants.insides.entry(cluster.clone()).or_default().contact;
    let was_silent = contact.fault.is_some();
    note(contact);
    let is_silent = contact.fault.is_some();
    if was_silent != is_silent {
        mark_for_cluster(books, cluster);
    } else if is_silent {
        books.mark_running();
        mark_busy_vms(books);
    }
}

fn keyed(budget: BudgetSeen) -> ((String, String), Arc<BudgetSeen>) {
    ((budget.namespace.clone(), budget.name.clone()), Arc::new(budget))
}

fn list_nodes(books: &mut Books, cluster: &TenantClusterName, nodes: Vec<TenantNodeSeen>) {
    let inside = books.snapshot.tenants.insides.entry(cluster.clone()).or_default();
    let listed: BTreeSet<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    let gone: Vec<String> = inside.nodes.keys().filter(|name| !listed.contains(name.as_str())).cloned().collect();
    for name in gone {
        forget_node(books, cluster, &name);
    }
    for node in nodes {
        set_node(books, cluster, node);
    }
}

fn set_node(books: &mut Books, cluster: &TenantClusterName, node: TenantNodeSeen) {
    let nodes = &mut books.snapshot.tenants.insides.entry(cluster.clone()).or_default().nodes;
    if nodes.get(&node.name).is_some_and(|before| **before == node) {
        return;
    }
    let name = node.name.clone();
    nodes.insert(name.clone(), Arc::new(node));
    mark_for_node(books, cluster, &name);
}

fn forget_node(books: &mut Books, cluster: &TenantClusterName, name: &str) {
    books.snapshot.tenants.insides.entry(cluster.clone()).or_default().nodes.remove(name);
    mark_for_node(books, cluster, name);
}

/// Whom a tenant node's change concerns: its cluster, whoever works on the node or on its machine, and the machines whose memory
/// names it.
fn mark_for_node(books: &mut Books, cluster: &TenantClusterName, node: &str) {
    books.mark_tenant_cluster(cluster.clone());
    mark_for_pods_of(books, Some(node));
    books.mark_emptied(|memory| memory.nodes.iter().any(|cordoned| cordoned.cluster == *cluster && cordoned.node == node));
    let target = model::Target::TenantNode { cluster: cluster.clone(), node: node.to_owned() };
    if books.snapshot.running_for(&target).is_some()
        && let Ok(vm) = VmName::new(node)
    {
        books.mark_vm(vm);
    }
}

/// A pod's change concerns the machine that its node is on, if somebody is at work there. Otherwise nobody asks.
fn mark_for_pods_of(books: &mut Books, node: Option<&str>) {
    let vm = node.and_then(|node| VmName::new(node).ok());
    let vm = vm.and_then(|vm| books.snapshot.tenants.vms().get(&vm));
    let machine = vm.and_then(|vm| books.snapshot.nodes.get(vm.node()?)).cloned();
    if let Some(machine) = machine.filter(|machine| books.is_attended(machine)) {
        books.mark(machine);
    }
}

fn list_pods(books: &mut Books, cluster: &TenantClusterName, pods: Vec<PodSeen>) {
    books.snapshot.tenants.insides.entry(cluster.clone()).or_default().set_pods(pods);
    books.mark_running();
    books.mark_emptied(|memory| memory.nodes.iter().any(|node| node.cluster == *cluster));
}

fn set_pod(books: &mut Books, cluster: &TenantClusterName, pod: PodSeen) -> Fit {
    let inside = books.snapshot.tenants.insides.entry(cluster.clone()).or_default();
    let key = (pod.pod.namespace.clone(), pod.pod.name.clone());
    let before = inside.pods().get(&key).cloned();
    if before.as_ref().is_some_and(|before| **before == pod) {
        return Fit::Yes;
    }
    if before.is_none() && inside.pods().len() >= MOST_PODS {
        return Fit::TooManyPods;
    }
    let after = pod.node.clone();
    inside.set_pod(pod);
    let before = before.and_then(|pod| pod.node.clone());
    mark_for_pods_of(books, before.as_deref());
    if after != before {
        mark_for_pods_of(books, after.as_deref());
    }
    Fit::Yes
}

#[cfg(test)]
mod tests;
