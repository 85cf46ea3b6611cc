//! Resources as ARM shows them: one file each.

pub(crate) mod actions;
pub(crate) mod clusters;
mod filter;
pub(crate) mod generic;
pub(crate) mod groups;
pub(crate) mod machine_update;
pub(crate) mod machines;
pub(crate) mod providers;
pub(crate) mod racks;
pub(crate) mod subscriptions;

use std::collections::BTreeMap;

use axum::response::Response;
use http::StatusCode;
use model::{Cluster, ClusterName, Machine, MachineName, RackName, Timestamp};
use serde_json::{Value, json};

use crate::cache::{Versioned, View};
use crate::call::Call;
use crate::codes::Code;
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

pub(crate) fn list(view: &View, call: &Call, kind: Kind, subscription: &str, group: Option<&str>) -> Result<Response, Refused> {
    let paging = Paging::of(call, PAGE_DEFAULT)?;
    let clusters = view.clusters_in(subscription, group);
    if clusters.is_empty() {
        check_place(view, subscription, group)?;
    }
    let body = match kind {
        Kind::Clusters => {
            let after = paging.after(|token| ClusterName::new(token).ok())?;
            let rest = clusters.into_iter().filter(|cluster| after.as_ref().is_none_or(|after| cluster.document.name > *after));
            paging.page(call, rest, |cluster| cluster.document.name.to_string(), |cluster| clusters::render(view, cluster))
        }
        Kind::Racks => {
            let after = paging.after(|token| parse_place(token, RackName::new))?;
            let rest = view.racks_after(&clusters, after.as_ref());
            paging.page(call, rest, |rack| format!("{}/{}", rack.document.cluster, rack.document.name), |rack| racks::render(view, rack))
        }
        Kind::Machines => {
            let after = paging.after(|token| parse_place(token, MachineName::new))?;
            let rest = view.machines_after(&clusters, after.as_ref());
            let token = |machine: &&Versioned<Machine>| format!("{}/{}", machine.document.cluster, machine.document.name);
            paging.page(call, rest, token, |machine| machines::render(view, machine))
        }
    };
    Ok(json_response(StatusCode::OK, &body))
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

/// What every tracked resource has around its properties.
fn envelope(cluster: &Cluster, kind: &str, id: &str, name: &str, created_at: Timestamp, edition: u64, tags: &Tags) -> Value {
    json!({
        "id": id,
        "name": name,
        "type": format!("{}/{kind}", links::PROVIDER),
        "location": cluster.home.location,
        "tags": tags,
        "etag": etag(edition),
        "extendedLocation": {
            "name": format!(
                "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.ExtendedLocation/customLocations/{}",
                cluster.home.subscription, cluster.home.resource_group, cluster.name
            ),
            "type": "CustomLocation",
        },
        "systemData": {
            "createdBy": "rackwright",
            "createdByType": "Application",
            "createdAt": created_at,
        },
    })
}
