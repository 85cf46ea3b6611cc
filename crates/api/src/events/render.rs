//! What a commit changed, as listeners read it. Requests, leases and secrets are nobody's news.

use model::{Cluster, ClusterName, MachineName, OperationId, RackName, TenantClusterName, VmName, keys};
use serde_json::{Value, json};
use store::{Change, Revision};

use super::feed::{News, Subject};
use crate::cache::View;
use crate::links;
use crate::operations;
use crate::resources::etag;

/// The news of one commit, in the order of its changes.
pub(crate) fn news_of(changes: &[Change], before: &View, after: &View) -> Vec<News> {
    changes.iter().filter_map(|change| news_of_one(change, before, after)).collect()
}

fn news_of_one(change: &Change, before: &View, after: &View) -> Option<News> {
    let there = change.value.is_some();
    // What is gone is described as it was.
    let view = if there { after } else { before };
    let key = change.key.as_str();
    if let Some(name) = key.strip_prefix(keys::CLUSTERS) {
        let cluster = view.clusters.get(&ClusterName::new(name).ok()?)?;
        let (id, name) = (links::cluster_id(&cluster.document), cluster.document.name.as_str());
        return resource(Subject::Clusters, change, (cluster.revision, cluster.revision.0), id, "clusters", name);
    }
    if let Some((cluster, name)) = split(view, key, keys::RACKS) {
        let rack = view.rack(&cluster.name, &RackName::new(name).ok()?)?;
        let id = links::rack_id(cluster, &rack.document.name);
        return resource(Subject::Racks, change, (rack.revision, rack.revision.0), id, "racks", rack.document.name.as_str());
    }
    if let Some((cluster, name)) = split(view, key, keys::MACHINES) {
        let machine = view.machine(&cluster.name, &MachineName::new(name).ok()?)?;
        let id = links::machine_id(cluster, &machine.document.name);
        let shown = (machine.revision, machine.document.edition);
        return resource(Subject::Machines, change, shown, id, "bareMetalMachines", machine.document.name.as_str());
    }
    if let Some((cluster, name)) = split(view, key, keys::VMS) {
        let vm = view.vm(&cluster.name, &VmName::new(name).ok()?)?;
        let (id, shown) = (links::vm_id(cluster, &vm.document.name), (vm.revision, vm.document.edition));
        return resource(Subject::Vms, change, shown, id, "virtualMachines", vm.document.name.as_str());
    }
    if let Some((cluster, name)) = split(view, key, keys::TENANT_CLUSTERS) {
        let tenant = view.tenant_cluster(&cluster.name, &TenantClusterName::new(name).ok()?)?;
        let id = links::tenant_cluster_id(cluster, &tenant.document.name);
        let shown = (tenant.revision, tenant.document.settings.edition);
        return resource(Subject::TenantClusters, change, shown, id, "kubernetesClusters", tenant.document.name.as_str());
    }
    let (cluster, id) = split(view, key, keys::OPERATIONS)?;
    let operation = view.operations.get(&OperationId::new(id))?;
    let mut data = operations::render(operation, change.at);
    data["change"] = json!(change_word(there));
    data["revision"] = json!(change.revision.0);
    let resource_id = links::target_id(cluster, &operation.target);
    Some(News { subject: Subject::Operations, resource_id, lines: lines("operation", &data) })
}

/// The cluster that a key names, and what comes after it.
fn split<'v, 'k>(view: &'v View, key: &'k str, prefix: &str) -> Option<(&'v Cluster, &'k str)> {
    let (cluster, rest) = key.strip_prefix(prefix)?.split_once('/')?;
    let cluster = view.clusters.get(&ClusterName::new(cluster).ok()?)?;
    Some((&cluster.document, rest))
}

/// `shown` is the revision that reads show, and the edition that is the resource's ETag.
fn resource(subject: Subject, change: &Change, (shown, edition): (Revision, u64), id: String, kind: &str, name: &str) -> Option<News> {
    let there = change.value.is_some();
    // A document that cannot be read is not shown, and so it is no news either.
    if there && shown != change.revision {
        return None;
    }
    let data = json!({
        "change": change_word(there),
        "id": id,
        "type": format!("{}/{kind}", links::PROVIDER),
        "name": name,
        "etag": there.then(|| etag(edition)),
        "revision": change.revision.0,
    });
    Some(News { subject, resource_id: id, lines: lines("resource", &data) })
}

fn change_word(there: bool) -> &'static str {
    if there { "put" } else { "gone" }
}

/// JSON on one line has no line break, which would end the field.
pub(super) fn lines(event: &str, data: &Value) -> String {
    format!("event: {event}\ndata: {data}\n")
}

/// Tells a listener that it has missed something. What it lists after this shows at least this revision.
pub(super) fn lost(reason: &str, revision: Revision) -> String {
    let message = "some changes were missed: list again what you follow";
    let lines = lines("lost", &json!({ "reason": reason, "message": message }));
    format!("{lines}id: {}\n\n", revision.0)
}
