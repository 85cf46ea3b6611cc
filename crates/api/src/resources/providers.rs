//! Resource providers: what there is of each, and what can be done with it. `az resource` asks before it does anything.

use std::collections::BTreeSet;

use axum::response::Response;
use http::StatusCode;
use model::Home;
use serde_json::{Value, json};

use super::actions::{VERBS, Verb};
use super::check_place;
use super::cluster_actions::CLUSTER_VERBS;
use super::tenant_write::TENANT_VERBS;
use super::vm_write::VM_VERBS;
use crate::Api;
use crate::cache::View;
use crate::call::Call;
use crate::codes::Code;
use crate::entry::{Sight, scope_of};
use crate::links::PROVIDER;
use crate::reply::{Refused, json_response, shortened};
use crate::route::{Kind, authorization};

/// A provider: its types, and versions of the API that clients are known to send. Any other version works too.
pub(crate) struct Provider {
    pub namespace: &'static str,
    types: &'static [&'static str],
    api_versions: &'static [&'static str],
}

const PROVIDERS: [Provider; 4] = [
    Provider {
        namespace: PROVIDER,
        types: &[
            "bareMetalMachines",
            "bareMetalMachines/hardwareValidation",
            "clusters",
            "clusters/bareMetalMachineKeySets",
            "clusters/bmcKeySets",
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
    Provider {
        namespace: authorization::NAMESPACE,
        types: &["locks", "policyAssignments", "roleAssignments", "roleDefinitions"],
        api_versions: &["2022-05-01-preview", "2022-04-01", "2016-09-01"],
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
    let [first, second, third, last] = PROVIDERS.map(|provider| provider.namespace);
    let namespace = shortened(namespace);
    let message = format!("there is no resource provider `{namespace}`; {first}, {second}, {third} and {last} are");
    Refused::new(Code::InvalidResourceNamespace, message).target(namespace)
}

impl Provider {
    /// Whether every subscription has it, because it is what subscriptions are made of.
    pub fn is_always_registered(&self) -> bool {
        self.namespace != PROVIDER
    }
}

pub(crate) fn list(api: &Api, call: &Call, subscription: &str) -> Result<Response, Refused> {
    let view = api.cache.view();
    check_place(&view, subscription, None)?;
    let locations = locations(&view, call.sight()?, subscription);
    let value: Vec<Value> = PROVIDERS.iter().map(|provider| render(api, subscription, &locations, provider)).collect();
    Ok(json_response(StatusCode::OK, &json!({ "value": value })))
}

pub(crate) fn show(api: &Api, call: &Call, subscription: &str, namespace: &str) -> Result<Response, Refused> {
    let view = api.cache.view();
    check_place(&view, subscription, None)?;
    let provider = find(namespace).ok_or_else(|| unknown(namespace))?;
    let locations = locations(&view, call.sight()?, subscription);
    Ok(json_response(StatusCode::OK, &render(api, subscription, &locations, provider)))
}

/// Where there is something of a subscription that the caller may see into.
fn locations<'a>(view: &'a View, sight: &Sight, subscription: &str) -> BTreeSet<&'a str> {
    let homes = view.clusters_in(subscription, None).into_iter().map(|cluster| &cluster.document.home);
    let is_seen =
        |home: &&Home| sight.sees_into(&scope_of(&format!("/subscriptions/{}/resourceGroups/{}", home.subscription, home.resource_group)));
    homes.filter(is_seen).map(|home| home.location.as_str()).collect()
}

fn render(api: &Api, subscription: &str, locations: &BTreeSet<&str>, provider: &Provider) -> Value {
    let is_registered = api.gate.directory().restraints().subscription(subscription).is_registered(provider.namespace);
    let types: Vec<Value> = provider
        .types
        .iter()
        .map(|name| json!({ "resourceType": name, "locations": locations, "apiVersions": provider.api_versions }))
        .collect();
    json!({
        "id": format!("/subscriptions/{subscription}/providers/{}", provider.namespace),
        "namespace": provider.namespace,
        "registrationState": if is_registered { "Registered" } else { "Unregistered" },
        "registrationPolicy": if provider.is_always_registered() { "RegistrationFree" } else { "RegistrationRequired" },
        "resourceTypes": types,
    })
}

/// Everything that can be done, in the words of Azure's role definitions.
pub(crate) fn operations() -> Response {
    const POOLS: &str = "kubernetesClusters/agentPools";
    const RUNTIMES: &str = "clusters/runtimes";
    const VALIDATION: &str = "bareMetalMachines/hardwareValidation";
    const MACHINE_KEY_SETS: &str = "clusters/bareMetalMachineKeySets";
    const BMC_KEY_SETS: &str = "clusters/bmcKeySets";
    let kinds = Kind::ALL.into_iter().map(Kind::arm_type).chain([POOLS, RUNTIMES, VALIDATION, MACHINE_KEY_SETS, BMC_KEY_SETS]);
    let reads = kinds.map(|kind| (kind, "read".to_owned(), format!("Read {kind}.")));
    let writes = [
        ("bareMetalMachines", "write", "Write the tags and details of a machine."),
        ("virtualMachines", "write", "Make a virtual machine, or write its tags."),
        ("virtualMachines", "delete", "Delete a virtual machine with its disks."),
        ("kubernetesClusters", "write", "Write the tags and the drain policy of a tenant's cluster."),
        (RUNTIMES, "write", "Make a runtime known to a cluster."),
        (RUNTIMES, "delete", "Let a cluster forget a runtime."),
        (POOLS, "write", "Write the tags and the drain policy of a pool."),
        (MACHINE_KEY_SETS, "write", "Say who may log in to machines."),
        (MACHINE_KEY_SETS, "delete", "Delete a key set for machines."),
        (BMC_KEY_SETS, "write", "Say who may log in to BMCs."),
        (BMC_KEY_SETS, "delete", "Delete a key set for BMCs, and its accounts."),
    ];
    let writes = writes.into_iter().map(|(kind, what, about)| (kind, what.to_owned(), about.to_owned()));
    let of = |kind: &'static str, verbs: &'static [Verb]| {
        verbs.iter().map(move |verb| (kind, format!("{}/action", verb.name), verb.about.to_owned()))
    };
    let of_tenants = of("virtualMachines", &VM_VERBS).chain(of("kubernetesClusters", &TENANT_VERBS));
    let actions = of("bareMetalMachines", &VERBS).chain(of("clusters", &CLUSTER_VERBS)).chain(of_tenants);
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
