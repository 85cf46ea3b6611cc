//! The descriptions: one for each thing that can be asked. A row that is added to the route table is described here.

use http::Method;

use super::described::{Content, Described, Place, Query, get};
use super::{administration, identity, key_sets, machines, runtimes, workloads};
use crate::resources::actions::VERBS;
use crate::schema;
use Content::{Bytes, Document, Nothing, One, Page};

pub(super) const SUBSCRIPTION: &str = "/subscriptions/{subscriptionId}";
pub(super) const GROUP: &str = "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}";
pub(super) const NETWORK_CLOUD: &str = "/providers/Microsoft.NetworkCloud";

/// The groups that operations are shown in.
pub(super) const ARM: &str = "Azure Resource Manager";
pub(super) const SITES: &str = "Microsoft.NetworkCloud";
pub(super) const OURS: &str = "Rackwright";

pub(super) const API_VERSION: Query = Query { required: true, ..query("api-version", "Any text: every version is taken.") };
const TOP: Query = Query { kind: "integer", ..query("$top", "Items on a page, at most 1000.") };
const SKIP_TOKEN: Query = query("$skipToken", "Where the page begins; part of `nextLink`.");
const FILTER: Query = query("$filter", "`resourceType eq '…' and …`, of resourceType, resourceGroup, name, location, tagName, tagValue.");
const EXPAND: Query = query("$expand", "What else to tell, with commas between: createdTime, changedTime, provisioningState.");
const ACTIVITY_FILTER: Query = query(
    "$filter",
    "`eventTimestamp ge … and …`, of eventTimestamp, resourceId, resourceGroupName, correlationId, status, caller, resourceProvider, levels.",
);
const EVENT_TYPES: Query = query(
    "types",
    "Only events of these, with commas between: clusters, racks, machines, virtualMachines, kubernetesClusters, operations.",
);
const EVENT_RESOURCE: Query = query("resourceId", "Only events about this resource.");
const LAST_EVENT: Query = query("lastEventId", "Where to go on, for clients that cannot send the header.");
const LAST_EVENT_HEADER: Query = Query { place: Place::Header, ..query("Last-Event-ID", "Where to go on: the last id that came.") };
const RUNNING: Query = Query { kind: "boolean", ..query("running", "Only operations that have not ended.") };
const OUTAGE: Query = Query { kind: "boolean", ..query("acceptControlPlaneOutage", "Accept that the control plane goes away.") };
pub(super) const PREVIEW: Query = Query { kind: "boolean", ..query("preview", "Answer what the action would do, and do nothing.") };
pub(super) const PAGES: [Query; 2] = [TOP, SKIP_TOKEN];
pub(super) const CONDITIONS: [Query; 2] = [
    Query { place: Place::Header, ..query("If-Match", "The ETag that the resource must have, several, or `*`.") },
    Query { place: Place::Header, ..query("If-None-Match", "The ETags that the resource must not have, or `*`.") },
];
pub(super) const REQUEST_ID: Query =
    Query { place: Place::Header, ..query("x-ms-client-request-id", "The same request with the same id is carried out once.") };

/// What stands against whatever goes through a keeper.
pub(super) const KEEPER: [u16; 5] = [400, 404, 409, 429, 503];

pub(super) const fn query(name: &'static str, about: &'static str) -> Query {
    Query { name, place: Place::Query, kind: "string", required: false, about }
}

/// What an error's status says in general.
pub(super) fn meaning_of(status: u16) -> &'static str {
    match status {
        400 => "The request is not understood, or asks for what cannot be.",
        404 => "There is nothing of that name.",
        409 => "Refused: something speaks against it now.",
        412 => "The resource is not at the edition that the request is meant for.",
        429 => "Too much at once.",
        501 => "This server's store cannot do it.",
        _ => "Nobody could say yes or no in time, or nothing could be stored.",
    }
}

pub(super) fn all() -> Vec<Described> {
    [
        ours(),
        identity::all(),
        neighbours(),
        resources(),
        machine_writes(),
        machine_actions(),
        machines::all(),
        workloads::vms(),
        workloads::tenant_clusters(),
        runtimes::all(),
        key_sets::all(),
        operations(),
        news(),
        administration::all(),
    ]
    .concat()
}

fn ours() -> Vec<Described> {
    vec![
        get(OURS, "health", "/healthz", "Whether the process lives.", One(&schema::HEALTH)),
        get(OURS, "ready", "/readyz", "Whether the process is of use; for whoever may read the metrics, also what is missing.", Document)
            .answered(503, "It is not.", Document),
        get(OURS, "metrics", "/metrics", "Everything that is measured, for Prometheus.", Bytes("text/plain")),
        Described::new(Method::POST, OURS, "backup", "/rackwright/v1/backup", "The whole store at one revision, without its key.")
            .answered(200, "The file.", Bytes("application/vnd.sqlite3"))
            .refused(&[409, 501, 503]),
        get(OURS, "openApi", "/rackwright/v1/openapi.json", "This document.", Document),
        get(OURS, "status", "/rackwright/v1/status", "What every cluster is doing, and what waits for what.", One(&schema::STATUS)),
    ]
}

fn neighbours() -> Vec<Described> {
    let sub = |rest: &str| format!("{SUBSCRIPTION}{rest}");
    vec![
        get(ARM, "listTenants", "/tenants", "The one tenant.", Page(&schema::TENANT)),
        get(ARM, "listSubscriptions", "/subscriptions", "Every subscription that a cluster is in.", Page(&schema::SUBSCRIPTION)),
        get(ARM, "getSubscription", SUBSCRIPTION, "A subscription.", One(&schema::SUBSCRIPTION)).refused(&[404]),
        get(ARM, "listResourceGroups", sub("/resourceGroups"), "The homes of clusters.", Page(&schema::RESOURCE_GROUP))
            .queries(&[TOP, SKIP_TOKEN, FILTER])
            .refused(&[400, 404]),
        get(ARM, "getResourceGroup", GROUP, "A resource group.", One(&schema::RESOURCE_GROUP)).refused(&[404]),
        Described::new(Method::HEAD, ARM, "hasResourceGroup", GROUP, "Whether a resource group exists.")
            .answered(204, "It exists.", Nothing)
            .answered(404, "It does not.", Nothing),
        get(ARM, "listResources", sub("/resources"), "All resources of a subscription.", Page(&schema::RESOURCE))
            .queries(&[TOP, SKIP_TOKEN, FILTER, EXPAND])
            .refused(&[400, 404]),
        get(ARM, "listResourcesOfGroup", format!("{GROUP}/resources"), "All resources of a group.", Page(&schema::RESOURCE))
            .queries(&[TOP, SKIP_TOKEN, FILTER, EXPAND])
            .refused(&[400, 404]),
        get(ARM, "listProviders", sub("/providers"), "Resource providers and their types.", Page(&schema::PROVIDER)).refused(&[404]),
        get(ARM, "getProvider", sub("/providers/{namespace}"), "A resource provider.", One(&schema::PROVIDER)).refused(&[404]),
        get(
            ARM,
            "listProviderOperations",
            format!("{NETWORK_CLOUD}/operations"),
            "What can be done with sites.",
            Page(&schema::OPERATION_ENTRY),
        ),
    ]
}

/// What is read of a site: each kind listed by subscription and by group, and shown by name.
fn resources() -> Vec<Described> {
    let kinds = [
        ("Cluster", "clusters", "clusterName", &schema::CLUSTER),
        ("Rack", "racks", "rackName", &schema::RACK),
        ("BareMetalMachine", "bareMetalMachines", "bareMetalMachineName", &schema::MACHINE),
        ("VirtualMachine", "virtualMachines", "virtualMachineName", &schema::VM),
        ("KubernetesCluster", "kubernetesClusters", "kubernetesClusterName", &schema::TENANT_CLUSTER),
    ];
    let described = kinds.into_iter().flat_map(|(what, kind, name, model)| {
        let list = |id: String, place: &str, about: &str| {
            let path = format!("{place}{NETWORK_CLOUD}/{kind}");
            get(SITES, &id, path, &format!("{kind} of a {about}, a page at a time."), Page(model)).queries(&PAGES).refused(&[400, 404])
        };
        let path = format!("{GROUP}{NETWORK_CLOUD}/{kind}/{{{name}}}");
        [
            list(format!("list{what}s"), SUBSCRIPTION, "subscription"),
            list(format!("list{what}sOfGroup"), GROUP, "resource group"),
            get(SITES, &format!("get{what}"), path, &format!("One of the {kind}. The header `ETag` is its etag."), One(model))
                .refused(&[404]),
        ]
    });
    described.collect()
}

fn machine_path() -> String {
    format!("{GROUP}{NETWORK_CLOUD}/bareMetalMachines/{{bareMetalMachineName}}")
}

fn machine_writes() -> Vec<Described> {
    let written = "Written; the machine as it is now.";
    let patch = "Write the tags (as a whole) or the details of a machine. What is not named stays.";
    let put = "Write the tags and details of a machine as they are sent. Without tags it has none afterwards.";
    vec![
        Described::new(Method::PATCH, SITES, "updateBareMetalMachine", machine_path(), patch)
            .queries(&CONDITIONS)
            .queries(&[REQUEST_ID])
            .change(&schema::MACHINE)
            .answered(200, written, One(&schema::MACHINE))
            .refused(&[400, 404, 412, 429, 503]),
        Described::new(Method::PUT, SITES, "writeBareMetalMachine", machine_path(), put)
            .queries(&CONDITIONS)
            .queries(&[REQUEST_ID])
            .body(&schema::MACHINE, true)
            .answered(200, written, One(&schema::MACHINE))
            .refused(&[400, 404, 409, 412, 429, 503]),
        Described::new(Method::DELETE, SITES, "deleteBareMetalMachine", machine_path(), "Always refused: machines go with the site file.")
            .refused(&[404, 409]),
    ]
}

fn machine_actions() -> Vec<Described> {
    let described = VERBS.iter().map(|verb| {
        let (path, id) = (format!("{}/{}", machine_path(), verb.name), format!("{}BareMetalMachine", verb.name));
        let action = Described::new(Method::POST, SITES, &id, path, verb.about).queries(&[REQUEST_ID]).refused(&KEEPER);
        let accepted = "Accepted; `Azure-AsyncOperation` and `Location` lead to what becomes of it.";
        match verb.name {
            "manage" | "unmanage" => action.body(verb.body, true).answered(200, "Done; the machine as it is now.", One(&schema::MACHINE)),
            _ => action
                .queries(&[OUTAGE, PREVIEW])
                .body(verb.body, false)
                .answered(202, accepted, One(&schema::OPERATION_STATUS))
                .answered(200, "With `preview`: what it would do. Nothing was done.", One(&schema::PREVIEW)),
        }
    });
    described.collect()
}

fn operations() -> Vec<Described> {
    let located = |kind: &str| format!("{SUBSCRIPTION}{NETWORK_CLOUD}/locations/{{location}}/{kind}/{{operationId}}");
    let one = "/rackwright/v1/operations/{operationId}";
    vec![
        get(SITES, "getOperationStatus", located("operationStatuses"), "How an operation is doing.", One(&schema::OPERATION_STATUS))
            .refused(&[404]),
        get(SITES, "getOperationResult", located("operationResults"), "What became of an operation.", One(&schema::OPERATION_STATUS))
            .answered(202, "It is still running.", One(&schema::OPERATION_STATUS))
            .refused(&[404, 409]),
        get(OURS, "listOperations", "/rackwright/v1/operations", "Operations, the latest first.", Page(&schema::OPERATION))
            .queries(&[TOP, SKIP_TOKEN, RUNNING])
            .refused(&[400]),
        get(OURS, "getOperation", one, "An operation with its journal. A beginning of its id will do.", One(&schema::OPERATION))
            .refused(&[404, 409]),
        get(OURS, "getOperationLog", format!("{one}/log"), "What the agents of an installation told.", One(&schema::OPERATION_LOG))
            .refused(&[404, 409, 503]),
        Described::new(Method::POST, OURS, "cancelOperation", format!("{one}/cancel"), "Stop an operation at its next safe point.")
            .queries(&[REQUEST_ID])
            .answered(202, "It will be cancelled.", One(&schema::OPERATION))
            .refused(&[404, 409, 429, 503]),
    ]
}

/// What happened, and what happens.
fn news() -> Vec<Described> {
    let values = format!("{SUBSCRIPTION}/providers/Microsoft.Insights/eventtypes/management/values");
    let one = "/rackwright/v1/activity/{eventDataId}";
    vec![
        get(ARM, "listActivity", values, "The activity log, the latest first.", Page(&schema::ACTIVITY))
            .queries(&[TOP, SKIP_TOKEN, ACTIVITY_FILTER])
            .refused(&[400, 404, 503]),
        get(OURS, "followEvents", "/rackwright/v1/events", "What changes, as server-sent events.", Bytes("text/event-stream"))
            .queries(&[EVENT_TYPES, EVENT_RESOURCE, LAST_EVENT_HEADER, LAST_EVENT])
            .refused(&[400, 429]),
        get(OURS, "getActivity", one, "An entry of the activity log.", One(&schema::ACTIVITY)).refused(&[404, 503]),
    ]
}
