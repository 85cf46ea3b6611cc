//! What the API offers, in the plain form that every client reads. Clients that would like the aggregated form fall back to it.

use std::collections::BTreeSet;

use axum::response::Response;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use world::{KUBERNETES_VERSION, Offer, PODS, RESOURCES, Resource, Scope, StatusPart};

use super::{Call, json_response};

pub(super) fn version() -> Value {
    let minor = KUBERNETES_VERSION.split('.').nth(1).unwrap_or("0");
    json!({
        "major": "1",
        "minor": minor,
        "gitVersion": KUBERNETES_VERSION,
        "gitCommit": "0000000000000000000000000000000000000000",
        "gitTreeState": "clean",
        "buildDate": "2025-12-09T00:00:00Z",
        "goVersion": "none",
        "compiler": "rustc",
        "platform": "linux/amd64",
    })
}

pub(super) fn answer(call: &Call) -> Option<Response> {
    if call.method != Method::GET {
        return None;
    }
    let segments: Vec<&str> = call.path.trim_matches('/').split('/').collect();
    let value = match segments[..] {
        ["api"] => json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}),
        ["apis"] => json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups().into_iter().map(group).collect::<Vec<_>>()}),
        ["api", "v1"] => resources("", "v1"),
        ["apis", name] if groups().contains(name) => {
            let mut value = group(name);
            value["kind"] = json!("APIGroup");
            value["apiVersion"] = json!("v1");
            value
        }
        ["apis", name, "v1"] if groups().contains(name) => resources(name, &format!("{name}/v1")),
        _ => return None,
    };
    Some(json_response(StatusCode::OK, &value))
}

/// The named groups, without the core.
fn groups() -> BTreeSet<&'static str> {
    RESOURCES.iter().map(|resource| resource.group).filter(|group| !group.is_empty()).collect()
}

fn group(name: &str) -> Value {
    let version = json!({"groupVersion": format!("{name}/v1"), "version": "v1"});
    json!({"name": name, "versions": [version], "preferredVersion": version})
}

fn resources(group: &str, group_version: &str) -> Value {
    let resources: Vec<Value> =
        RESOURCES.iter().filter(|resource| resource.group == group).flat_map(|resource| describe(resource)).collect();
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
