//! Resource providers: what there is of each, and what can be done with it. `az resource` asks before it does anything.

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

use super::actions::{VERBS, Verb};
use super::check_place;
use super::tenant_write::TENANT_VERBS;
use super::vm_write::VM_VERBS;
use crate::cache::View;
use crate::codes::Code;
use crate::links::PROVIDER;
use crate::reply::{Refused, json_response, shortened};
use crate::route::Kind;

/// A provider: its types, and versions of the API that clients are known to send. Any other version works too.
pub(crate) struct Provider {
    pub namespace: &'static str,
    types: &'static [&'static str],
    api_versions: &'static [&'static str],
}

const PROVIDERS: [Provider; 3] = [
    Provider {
        namespace: PROVIDER,
        types: &[
            "bareMetalMachines",
            "clusters",
            "clusters/runtimes",
            "racks",
            "virtualMachines",
            "kubernetesClusters",
            "kubernetesClusters/agentPools",
            "operations",
            "locations/operationStatuses",
            "locations/operationResults",
        ],
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
    const POOLS: &str = "kubernetesClusters/agentPools";
    const RUNTIMES: &str = "clusters/runtimes";
    let kinds = Kind::ALL.into_iter().map(Kind::arm_type).chain([POOLS, RUNTIMES]);
    let reads = kinds.map(|kind| (kind, "read".to_owned(), format!("Read {kind}.")));
    let writes = [
        ("bareMetalMachines", "write", "Write the tags and details of a machine."),
        ("virtualMachines", "write", "Make a virtual machine, or write its tags."),
        ("virtualMachines", "delete", "Delete a virtual machine with its disks."),
        ("kubernetesClusters", "write", "Write the tags and the drain policy of a tenant's cluster."),
        (RUNTIMES, "write", "Make a runtime known to a cluster."),
        (RUNTIMES, "delete", "Let a cluster forget a runtime."),
        (POOLS, "write", "Write the tags and the drain policy of a pool."),
    ];
    let writes = writes.into_iter().map(|(kind, what, about)| (kind, what.to_owned(), about.to_owned()));
    let of = |kind: &'static str, verbs: &'static [Verb]| {
        verbs.iter().map(move |verb| (kind, format!("{}/action", verb.name), verb.about.to_owned()))
    };
    let actions = of("bareMetalMachines", &VERBS).chain(of("virtualMachines", &VM_VERBS)).chain(of("kubernetesClusters", &TENANT_VERBS));
    let all = reads.chain(writes).chain(actions);
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
