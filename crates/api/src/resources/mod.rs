//! Resources as ARM shows them: one file each.

pub(crate) mod actions;
pub(crate) mod advice;
pub(crate) mod authorization;
pub(crate) mod cluster_actions;
pub(crate) mod clusters;
mod expand;
mod filter;
pub(crate) mod generic;
pub(crate) mod groups;
mod hardware_inventory;
pub(crate) mod key_set_write;
pub(crate) mod key_sets;
pub(crate) mod machine_update;
pub(crate) mod machines;
pub(crate) mod previews;
pub(crate) mod principals;
pub(crate) mod providers;
pub(crate) mod quotas;
pub(crate) mod racks;
mod replace;
pub(crate) mod resource;
pub(crate) mod runtimes;
pub(crate) mod subscriptions;
pub(crate) mod tenant_clusters;
pub(crate) mod tenant_write;
pub(crate) mod validations;
mod vm_body;
pub(crate) mod vm_write;
pub(crate) mod vms;

use std::collections::BTreeMap;

use axum::response::Response;
use http::StatusCode;
use model::{Cluster, ClusterName, Machine, MachineName, Rack, RackName, TenantCluster, TenantClusterName, Timestamp, Vm, VmName};
use serde::Deserialize;

use crate::cache::{Member, Versioned, View};
use crate::call::Call;
use crate::codes::Code;
use crate::fields::Written;
use crate::json::not_understood;
use crate::links;
use crate::paging::{PAGE_DEFAULT, Paging};
use crate::reply::{Refused, json_response, shortened};
use crate::route::Kind;

/// Where a resource is, as a request names it.
pub(crate) struct Place {
    pub subscription: String,
    pub group: String,
    pub name: String,
}

pub(crate) fn list(
    view: &View,
    call: &Call,
    kind: Kind,
    subscription: &str,
    group: Option<&str>,
    now: Timestamp,
) -> Result<Response, Refused> {
    let paging = Paging::of(call, PAGE_DEFAULT)?;
    let clusters = view.clusters_in(subscription, group);
    if clusters.is_empty() {
        check_place(view, subscription, group)?;
    }
    let sight = call.sight()?;
    Ok(match kind {
        Kind::Clusters => {
            let after = paging.after(|token| ClusterName::new(token).ok())?;
            let rest = clusters.into_iter().filter(|cluster| after.as_ref().is_none_or(|after| cluster.document.name > *after));
            let rest = rest.filter(|cluster| sight.sees(&links::cluster_id(&cluster.document)));
            let token = |cluster: &&Versioned<Cluster>| cluster.document.name.to_string();
            json_response(StatusCode::OK, &paging.page(call, rest, token, |cluster| clusters::render(view, cluster)))
        }
        Kind::Racks => {
            let after = paging.after(|token| parse_place(token, RackName::new))?;
            let rest = view.racks_after(&clusters, after.as_ref());
            let rest = rest.filter(|(cluster, rack)| sight.sees(&links::rack_id(&cluster.document, &rack.document.name)));
            let token = |(cluster, rack): &Member<'_, Rack>| format!("{}/{}", cluster.document.name, rack.document.name);
            json_response(StatusCode::OK, &paging.page(call, rest, token, |(cluster, rack)| racks::render(view, &cluster.document, rack)))
        }
        Kind::Machines => {
            let after = paging.after(|token| parse_place(token, MachineName::new))?;
            let rest = view.machines_after(&clusters, after.as_ref());
            let rest = rest.filter(|(cluster, machine)| sight.sees(&links::machine_id(&cluster.document, &machine.document.name)));
            let token = |(cluster, machine): &Member<'_, Machine>| format!("{}/{}", cluster.document.name, machine.document.name);
            let page = paging.page(call, rest, token, |(cluster, machine)| machines::render(view, &cluster.document, &machine.document));
            json_response(StatusCode::OK, &page)
        }
        Kind::Vms => {
            let after = paging.after(|token| parse_place(token, VmName::new))?;
            let rest = view.vms_after(&clusters, after.as_ref());
            let rest = rest.filter(|(cluster, vm)| sight.sees(&links::vm_id(&cluster.document, &vm.document.name)));
            let token = |(cluster, vm): &Member<'_, Vm>| format!("{}/{}", cluster.document.name, vm.document.name);
            let page = paging.page(call, rest, token, |(cluster, vm)| vms::render(view, &cluster.document, &vm.document, now));
            json_response(StatusCode::OK, &page)
        }
        Kind::TenantClusters => {
            let after = paging.after(|token| parse_place(token, TenantClusterName::new))?;
            let rest = view.tenant_clusters_after(&clusters, after.as_ref());
            let rest = rest.filter(|(cluster, tenant)| sight.sees(&links::tenant_cluster_id(&cluster.document, &tenant.document.name)));
            let token = |(cluster, tenant): &Member<'_, TenantCluster>| format!("{}/{}", cluster.document.name, tenant.document.name);
            let render = |(cluster, tenant): &Member<'_, TenantCluster>| {
                // What is shown lives as long as the view, and not as long as the page.
                serde_json::json!(tenant_clusters::render(view, &cluster.document, &tenant.document))
            };
            json_response(StatusCode::OK, &paging.page(call, rest, token, render))
        }
    })
}

/// One of a kind.
pub(crate) fn show(view: &View, kind: Kind, place: &Place, now: Timestamp) -> Result<Response, Refused> {
    let Place { subscription, group, name } = place;
    match kind {
        Kind::Clusters => clusters::show(view, subscription, group, name),
        Kind::Racks => racks::show(view, subscription, group, name),
        Kind::Machines => machines::show(view, subscription, group, name, now),
        Kind::Vms => vms::show(view, subscription, group, name, now),
        Kind::TenantClusters => tenant_clusters::show(view, place),
    }
}

/// The tags among what was written, if there are any, and if they can be tags.
fn tags_of(written: impl IntoIterator<Item = Written>) -> Result<Option<Tags>, Refused> {
    let Some(Written { path, value }) = written.into_iter().find(|written| written.path == "tags") else { return Ok(None) };
    let tags = Tags::deserialize(value).map_err(|problem| not_understood(&problem))?;
    plan::check_tags(&tags).map_err(|flaw| match &flaw.tag {
        Some(tag) => unfit(&format!("{path}.{tag}"), &flaw.message),
        None => unfit(&path, &flaw.message),
    })?;
    Ok(Some(tags))
}

fn unfit(path: &str, why: &str) -> Refused {
    Refused::bad_content(format!("`{path}` is not possible: {why}")).target(path)
}

/// A place in a list of what clusters have: `cluster/name`. Neither name can have a slash.
fn parse_place<N, E>(token: &str, parse: impl Fn(String) -> Result<N, E>) -> Option<(ClusterName, N)> {
    let (cluster, name) = token.split_once('/')?;
    Some((ClusterName::new(cluster).ok()?, parse(name.to_owned()).ok()?))
}

/// An unknown subscription or resource group is an error, not an empty list: it is most often a typing mistake.
pub(crate) fn check_place(view: &View, subscription: &str, group: Option<&str>) -> Result<(), Refused> {
    if !view.subscriptions().iter().any(|known| known.eq_ignore_ascii_case(subscription)) {
        return Err(Refused::new(Code::SubscriptionNotFound, format!("there is no subscription `{}`", shortened(subscription))));
    }
    match group {
        Some(group) => Err(Refused::new(Code::ResourceGroupNotFound, format!("there is no resource group `{}`", shortened(group)))),
        None => Ok(()),
    }
}

/// The clusters of a resource group, or why there are none.
pub(crate) fn clusters_at<'a>(view: &'a View, subscription: &str, group: &str) -> Result<Vec<&'a Versioned<Cluster>>, Refused> {
    let clusters = view.clusters_in(subscription, Some(group));
    if clusters.is_empty() {
        check_place(view, subscription, Some(group))?;
    }
    Ok(clusters)
}

type Tags = BTreeMap<String, String>;

/// What tells one state of a resource from another.
pub(crate) fn etag(edition: u64) -> String {
    format!("\"{edition}\"")
}

#[cfg(test)]
mod tenant_tests;
