//! What is so of every path: none makes the router panic, and our own ids lead back to what they name.

use http::Method;
use model::{Cluster, MachineName, RackName, TenantClusterName, VmName};
use proptest::prelude::*;

use crate::fixtures;
use crate::links;
use crate::route::{Kind, Route};

const NAME: &str = "[A-Za-z0-9]([A-Za-z0-9-]{0,20}[A-Za-z0-9])?";

fn cluster(name: &str, subscription: String, group: String) -> Cluster {
    let mut cluster = fixtures::cluster(name);
    cluster.home.subscription = subscription;
    cluster.home.resource_group = group;
    cluster
}

/// The text with some of its letters in the other case, and some of its slashes doubled.
fn disguised(text: &str, mask: &[bool]) -> String {
    let bits = mask.iter().copied().cycle();
    text.chars()
        .zip(bits)
        .flat_map(|(c, flip)| match c {
            '/' if flip => vec!['/', '/'],
            c if flip && c.is_ascii_lowercase() => vec![c.to_ascii_uppercase()],
            c if flip => vec![c.to_ascii_lowercase()],
            c => vec![c],
        })
        .collect()
}

fn lower(route: &Route) -> String {
    format!("{route:?}").to_ascii_lowercase()
}

fn method() -> impl Strategy<Value = Method> {
    prop::sample::select(vec![Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS])
}

/// Parts of paths that are ours, in any order, with what nobody expects between them.
fn path() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "subscriptions",
        "resourceGroups",
        "providers",
        "Microsoft.NetworkCloud",
        "bareMetalMachines",
        "virtualMachines",
        "kubernetesClusters",
        "agentPools",
        "clusters",
        "runtimes",
        "racks",
        "locations",
        "operationStatuses",
        "rackwright",
        "v1",
        "operations",
        "cancel",
        "..",
        "%2F",
        "",
    ]);
    let part = prop_oneof![3 => known.prop_map(str::to_owned), 1 => ".{0,12}"];
    prop::collection::vec(part, 0..12).prop_map(|parts| format!("/{}", parts.join("/")))
}

proptest! {
    #[test]
    fn an_id_of_ours_leads_back_to_what_it_names_in_any_case(
        subscription in "[0-9a-f]{8}-[0-9a-f]{4}",
        group in "[A-Za-z0-9._()-]{1,30}",
        (site, rack, machine) in (NAME, NAME, NAME),
        (vm, tenant) in (NAME, NAME),
        mask in prop::collection::vec(any::<bool>(), 1..40),
    ) {
        let home = cluster(&site, subscription.clone(), group.clone());
        let ids = [
            (Kind::Clusters, links::cluster_id(&home), site),
            (Kind::Racks, links::rack_id(&home, &RackName::new(rack.as_str()).expect("a valid name")), rack),
            (Kind::Vms, links::vm_id(&home, &VmName::new(vm.as_str()).expect("a valid name")), vm),
            (Kind::TenantClusters, links::tenant_cluster_id(&home, &TenantClusterName::new(tenant.as_str()).expect("a valid name")), tenant),
            (Kind::Machines, links::machine_id(&home, &MachineName::new(machine.as_str()).expect("a valid name")), machine),
        ];
        for (kind, id, name) in ids {
            let expected = Route::Show { kind, subscription: subscription.clone(), group: group.clone(), name };
            let found = Route::find(&Method::GET, &id).expect("an id of ours is a path");
            prop_assert_eq!(&found, &expected);
            let disguised = Route::find(&Method::GET, &disguised(&id, &mask)).expect("case does not matter");
            prop_assert_eq!(lower(&disguised), lower(&expected));
        }
    }

    #[test]
    fn no_path_makes_the_router_panic_and_what_leads_nowhere_is_a_clients_mistake(method in method(), path in path(), wild in ".{0,80}") {
        for path in [path, wild] {
            if let Err(refused) = Route::find(&method, &path) {
                let expected = ["InvalidResourceType", "InvalidResourceNamespace", "MethodNotAllowed", "InvalidRequestContent"];
                prop_assert!(expected.contains(&refused.code()), "{} for {path}", refused.code());
            }
        }
    }
}
