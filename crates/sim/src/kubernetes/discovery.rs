//! What the API offers, in the plain form that every client reads. Clients that would like the aggregated form fall back to it.

use std::collections::BTreeMap;

use axum::response::Response;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use world::{Offer, PODS, Resource, Scope, StatusPart, VIRTUAL_MACHINES};

use super::{Call, json_response, subresource};

pub(super) fn version(of: &str) -> Value {
    let minor = of.split('.').nth(1).unwrap_or("0");
    json!({
        "major": "1",
        "minor": minor,
        "gitVersion": of,
        "gitCommit": "0000000000000000000000000000000000000000",
        "gitTreeState": "clean",
        "buildDate": "2025-12-09T00:00:00Z",
        "goVersion": "none",
        "compiler": "rustc",
        "platform": "linux/amd64",
    })
}

/// What a cluster that serves these kinds says about itself.
pub(super) fn answer(call: &Call, served: &[&Resource]) -> Option<Response> {
    if call.method != Method::GET {
        return None;
    }
    let segments: Vec<&str> = call.path.trim_matches('/').split('/').collect();
    let groups = groups(served);
    let value = match segments[..] {
        ["api"] => json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}),
        ["apis"] => {
            json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups.iter().map(|(name, version)| group(name, version)).collect::<Vec<_>>()})
        }
        ["api", "v1"] => resources(served, "", "v1"),
        ["apis", name] => {
            let mut value = group(name, groups.get(name)?);
            value["kind"] = json!("APIGroup");
            value["apiVersion"] = json!("v1");
            value
        }
        ["apis", subresource::GROUP, subresource::VERSION] if groups.contains_key(subresource::GROUP) => {
            let group_version = format!("{}/{}", subresource::GROUP, subresource::VERSION);
            json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": subresource::resources()})
        }
        ["apis", name, version] if groups.get(name) == Some(&version) => resources(served, name, &format!("{name}/{version}")),
        _ => return None,
    };
    Some(json_response(StatusCode::OK, &value))
}

/// The named groups, without the core, each with the one version of it that is served.
fn groups(served: &[&Resource]) -> BTreeMap<&'static str, &'static str> {
    let mut groups: BTreeMap<_, _> =
        served.iter().map(|resource| (resource.group, resource.version)).filter(|(group, _)| !group.is_empty()).collect();
    // What is done to virtual machines is found where they are served.
    if served.contains(&&VIRTUAL_MACHINES) {
        groups.insert(subresource::GROUP, subresource::VERSION);
    }
    groups
}

fn group(name: &str, version: &str) -> Value {
    let version = json!({"groupVersion": format!("{name}/{version}"), "version": version});
    json!({"name": name, "versions": [version], "preferredVersion": version})
}

fn resources(served: &[&Resource], group: &str, group_version: &str) -> Value {
    let resources: Vec<Value> = served.iter().filter(|resource| resource.group == group).flat_map(|resource| describe(resource)).collect();
    json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources})
}

fn describe(resource: &Resource) -> Vec<Value> {
    let namespaced = resource.scope == Scope::Namespaced;
    let verbs = match resource.offer {
        Offer::Full => &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"][..],
        Offer::AlwaysEmpty => &["get", "list", "watch"],
    };
    let mut entries = vec![json!({
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": namespaced,
        "kind": resource.kind,
        "verbs": verbs,
        "shortNames": resource.short_names,
        "categories": resource.categories,
    })];
    if resource.status_part == StatusPart::Separate && resource.offer == Offer::Full {
        entries.push(json!({
            "name": format!("{}/status", resource.plural),
            "singularName": "",
            "namespaced": namespaced,
            "kind": resource.kind,
            "verbs": ["get", "patch", "update"],
        }));
    }
    // kubectl drain looks for this entry before it evicts rather than deletes.
    if resource == &PODS {
        entries.push(json!({
            "name": "pods/eviction",
            "singularName": "",
            "namespaced": true,
            "group": "policy",
            "version": "v1",
            "kind": "Eviction",
            "verbs": ["create"],
        }));
    }
    entries
}
