//! Resource groups: the homes of clusters. There is one because a cluster lives in it, and it goes with the last.

use std::collections::BTreeMap;

use axum::response::Response;
use http::StatusCode;
use model::Home;
use serde_json::{Value, json};

use super::filter::{Filter, Judged};
use super::{check_place, clusters_at};
use crate::cache::View;
use crate::call::Call;
use crate::entry::scope_of;
use crate::paging::{PAGE_DEFAULT, Paging};
use crate::reply::{Refused, json_response, no_content};

pub(crate) fn list(view: &View, call: &Call, subscription: &str) -> Result<Response, Refused> {
    check_place(view, subscription, None)?;
    let paging = Paging::of(call, PAGE_DEFAULT)?;
    let after = paging.after(|token| Some(token.to_ascii_lowercase()))?;
    let clusters = view.clusters_in(subscription, None);
    // By their names without case: two clusters may write their common home in two ways.
    let groups: BTreeMap<String, &Home> =
        clusters.iter().rev().map(|cluster| (cluster.document.home.resource_group.to_ascii_lowercase(), &cluster.document.home)).collect();
    let filter = Filter::parse(call.query("$filter").unwrap_or_default())?;
    let sight = call.sight()?;
    let is_seen =
        |home: &Home| sight.sees_into(&scope_of(&format!("/subscriptions/{}/resourceGroups/{}", home.subscription, home.resource_group)));
    let is_meant = |key: &String, home: &Home| after.as_ref().is_none_or(|after| key > after) && filter.admits(&judged(home));
    let rest = groups.into_iter().filter(|(key, home)| is_meant(key, home) && is_seen(home));
    Ok(json_response(StatusCode::OK, &paging.page(call, rest, |(key, _)| key.clone(), |(_, home)| render(home))))
}

pub(crate) fn show(view: &View, subscription: &str, group: &str) -> Result<Response, Refused> {
    let clusters = clusters_at(view, subscription, group)?;
    let home = clusters.first().map(|cluster| &cluster.document.home).ok_or_else(|| Refused::not_found("resource group", group))?;
    Ok(json_response(StatusCode::OK, &render(home)))
}

/// What `az group exists` asks.
pub(crate) fn exists(view: &View, subscription: &str, group: &str) -> Result<Response, Refused> {
    clusters_at(view, subscription, group)?;
    Ok(no_content())
}

const TYPE: &str = "Microsoft.Resources/resourceGroups";

/// Nobody has written tags to a resource group.
static NO_TAGS: BTreeMap<String, String> = BTreeMap::new();

fn judged(home: &Home) -> Judged<'_> {
    let Home { resource_group, location, .. } = home;
    Judged { name: resource_group, arm_type: TYPE, group: resource_group, location, tags: &NO_TAGS }
}

fn render(home: &Home) -> Value {
    json!({
        "id": format!("/subscriptions/{}/resourceGroups/{}", home.subscription, home.resource_group),
        "name": home.resource_group,
        "type": TYPE,
        "location": home.location,
        "tags": NO_TAGS,
        "properties": { "provisioningState": "Succeeded" },
    })
}
