//! Resource providers: what there is of each, and what can be done with it. `az resource` asks before it does anything.

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

use super::actions::VERBS;
use super::check_place;
use crate::cache::View;
use crate::codes::Code;
use crate::links::PROVIDER;
use crate::reply::{Refused, json_response, shortened};

/// A provider: its types, and versions of the API that clients are known to send. Any other version works too.
pub(crate) struct Provider {
    pub namespace: &'static str,
    types: &'static [&'static str],
    api_versions: &'static [&'static str],
}

const PROVIDERS: [Provider; 3] = [
    Provider {
        namespace: PROVIDER,
        types: &["bareMetalMachines", "clusters", "racks", "operations", "locations/operationStatuses", "locations/operationResults"],
        api_versions: &["2026-07-01", "2025-09-01", "2025-02-01"],
    },
    Provider { namespace: "Microsoft.Insights", types: &["eventtypes"], api_versions: &["2015-04-01"] },
    Provider {
        namespace: "Microsoft.Resources",
        types: &["tenants", "subscriptions", "subscriptions/providers", "resourceGroups", "resources"],
        api_versions: &["2022-12-01", "2022-09-01", "2021-04-01"],
    },
];

pub(crate) fn find(namespace: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.namespace.eq_ignore_ascii_case(namespace))
}

pub(crate) fn unknown(namespace: &str) -> Refused {
    let [first, second, third] = PROVIDERS.map(|provider| provider.namespace);
    let namespace = shortened(namespace);
    let message = format!("there is no resource provider `{namespace}`; {first}, {second} and {third} are");
    Refused::new(Code::InvalidResourceNamespace, message).target(namespace)
}

pub(crate) fn list(view: &View, subscription: &str) -> Result<Response, Refused> {
    check_place(view, subscription, None)?;
    let value: Vec<Value> = PROVIDERS.iter().map(|provider| render(view, subscription, provider)).collect();
    Ok(json_response(StatusCode::OK, &json!({ "value": value })))
}

pub(crate) fn show(view: &View, subscription: &str, namespace: &str) -> Result<Response, Refused> {
    check_place(view, subscription, None)?;
    let provider = find(namespace).ok_or_else(|| unknown(namespace))?;
    Ok(json_response(StatusCode::OK, &render(view, subscription, provider)))
}

fn render(view: &View, subscription: &str, provider: &Provider) -> Value {
    let clusters = view.clusters_in(subscription, None);
    let mut locations: Vec<&str> = clusters.iter().map(|cluster| cluster.document.home.location.as_str()).collect();
    locations.sort_unstable();
    locations.dedup();
    let types: Vec<Value> = provider
        .types
        .iter()
        .map(|name| json!({ "resourceType": name, "locations": locations, "apiVersions": provider.api_versions }))
        .collect();
    json!({
        "id": format!("/subscriptions/{subscription}/providers/{}", provider.namespace),
        "namespace": provider.namespace,
        "registrationState": "Registered",
        "registrationPolicy": "RegistrationFree",
        "resourceTypes": types,
    })
}

/// Everything that can be done, in the words of Azure's role definitions.
pub(crate) fn operations() -> Response {
    let reads = ["clusters", "racks", "bareMetalMachines"].map(|kind| (kind, "read".to_owned(), format!("Read {kind}.")));
    let write = ("bareMetalMachines", "write".to_owned(), "Write the tags and details of a machine.".to_owned());
    let actions = VERBS.map(|verb| ("bareMetalMachines", format!("{}/action", verb.name), verb.about.to_owned()));
    let all = reads.into_iter().chain([write]).chain(actions);
    let value: Vec<Value> = all
        .map(|(kind, operation, about)| {
            json!({
                "name": format!("{PROVIDER}/{kind}/{operation}"),
                "isDataAction": false,
                "origin": "user,system",
                "display": { "provider": PROVIDER, "resource": kind, "operation": operation, "description": about },
            })
        })
        .collect();
    json_response(StatusCode::OK, &json!({ "value": value }))
}
