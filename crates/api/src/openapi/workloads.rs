//! The descriptions of what can be asked of tenants' virtual machines and clusters, beyond listing and showing them.

use http::Method;

use super::described::Content::{Nothing, One, Page};
use super::described::{Described, get};
use super::paths::{CONDITIONS, GROUP, KEEPER, NETWORK_CLOUD, PAGES, PREVIEW, REQUEST_ID, SITES};
use crate::resources::tenant_write::TENANT_VERBS;
use crate::resources::vm_write::VM_VERBS;
use crate::schema;

const ACCEPTED: &str = "Accepted; `Azure-AsyncOperation` and `Location` lead to what becomes of it.";

fn vm_path() -> String {
    format!("{GROUP}{NETWORK_CLOUD}/virtualMachines/{{virtualMachineName}}")
}

fn tenant_path() -> String {
    format!("{GROUP}{NETWORK_CLOUD}/kubernetesClusters/{{kubernetesClusterName}}")
}

fn pool_path() -> String {
    format!("{}/agentPools/{{agentPoolName}}", tenant_path())
}

/// A request that changes something and may be meant for one edition only.
fn write(method: Method, id: &str, path: String, about: &str) -> Described {
    let described = Described::new(method, SITES, id, path, about);
    described.queries(&CONDITIONS).queries(&[REQUEST_ID]).refused(&[400, 404, 409, 412, 429, 503])
}

/// What becomes an operation, or is only looked at before.
fn previewable(described: Described) -> Described {
    described.queries(&[PREVIEW]).answered(202, ACCEPTED, One(&schema::OPERATION_STATUS)).answered(
        200,
        "With `preview`: what it would do. Nothing was done.",
        One(&schema::PREVIEW),
    )
}

pub(super) fn vms() -> Vec<Described> {
    let put = "Make a virtual machine. What it is like is settled then; the same description again changes its tags only.";
    let mut described = vec![
        write(Method::PUT, "createVirtualMachine", vm_path(), put)
            .body(&schema::VM, true)
            .answered(200, "It was there already, and is as described.", One(&schema::VM))
            .answered(201, "It is being made; `Azure-AsyncOperation` leads to what becomes of it.", One(&schema::VM)),
        write(Method::PATCH, "updateVirtualMachine", vm_path(), "Write the tags of a virtual machine, as a whole.")
            .change(&schema::VM)
            .answered(200, "Written; the virtual machine as it is now.", One(&schema::VM)),
        previewable(write(Method::DELETE, "deleteVirtualMachine", vm_path(), "Delete a virtual machine with its disks.")).answered(
            204,
            "There is none of that name.",
            Nothing,
        ),
    ];
    described.extend(VM_VERBS.iter().map(|verb| {
        let (path, id) = (format!("{}/{}", vm_path(), verb.name), format!("{}VirtualMachine", verb.name));
        let action = write(Method::POST, &id, path, verb.about).body(verb.body, false);
        previewable(action)
    }));
    described
}

pub(super) fn tenant_clusters() -> Vec<Described> {
    let pools = format!("{}/agentPools", tenant_path());
    let (restart, verb) = (format!("{}/{}", tenant_path(), TENANT_VERBS[0].name), &TENANT_VERBS[0]);
    vec![
        write(
            Method::PATCH,
            "updateKubernetesCluster",
            tenant_path(),
            "Write the tags (as a whole) or the drain policy of a tenant's cluster.",
        )
        .change(&schema::TENANT_CLUSTER)
        .answered(200, "Written; the cluster as it is now.", One(&schema::TENANT_CLUSTER)),
        previewable(
            Described::new(Method::POST, SITES, "restartKubernetesClusterNode", restart, verb.about)
                .queries(&[REQUEST_ID])
                .refused(&KEEPER)
                .body(verb.body, true),
        ),
        get(SITES, "listAgentPools", pools, "Pools of a tenant's cluster, a page at a time.", Page(&schema::POOL))
            .queries(&PAGES)
            .refused(&[400, 404]),
        get(SITES, "getAgentPool", pool_path(), "A pool. The header `ETag` is its etag.", One(&schema::POOL)).refused(&[404]),
        write(Method::PATCH, "updateAgentPool", pool_path(), "Write the tags (as a whole) or the drain policy of a pool.")
            .change(&schema::POOL)
            .answered(200, "Written; the pool as it is now.", One(&schema::POOL)),
    ]
}
