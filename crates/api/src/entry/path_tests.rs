//! For any path, what is judged is what is worked on: the same scope, or one around it, and never one beside it.

use access::roles::{OWNER, TENANT_VM_CONTRIBUTOR};
use access::{PrincipalId, Scope};
use gate::OpenHouse;
use http::{Method, StatusCode};
use proptest::prelude::*;
use uuid::Uuid;

use super::rules::{Need, need};
use crate::fixtures::{Documents, cluster, machine, send_with, vm};
use crate::route::{Route, rows};

/// Pieces that paths are made of by those who want them to be read in two ways.
const PIECES: [&str; 27] = [
    "subscriptions",
    "resourceGroups",
    "RESOURCEGROUPS",
    "providers",
    "Microsoft.NetworkCloud",
    "virtualMachines",
    "bareMetalMachines",
    "s1",
    "g1",
    "g2",
    "m1",
    "restart",
    "..",
    ".",
    "%2e%2e",
    "%2E.",
    "%2F",
    "..%2F..",
    "s1%2FresourceGroups%2Fg2",
    "g2%2Fproviders%2FMicrosoft.NetworkCloud%2FvirtualMachines%2Fvm1",
    "m1%5c..",
    "m1;a=b",
    "m1.",
    "m1%20",
    "%ef%bc%8f",
    "",
    "m1%252F",
];

/// What the values of a route say where it works, level by level, as far as a path tells. What is administered under a path of our own
/// is said behind its version.
fn levels(path: &str) -> Vec<String> {
    let segments: Vec<String> = path
        .split('/')
        .filter(|segment| !segment.is_empty())
        .map(|segment| percent_encoding::percent_decode_str(segment).decode_utf8_lossy().to_ascii_lowercase())
        .collect();
    match segments.strip_prefix(["rackwright".to_owned(), "v1".to_owned()].as_slice()) {
        Some(rest) => rest.to_vec(),
        None => segments,
    }
}

/// Shows that the scope's levels are the first of the path's.
fn assert_judged_where_it_works(method: &Method, path: &str) -> Result<(), TestCaseError> {
    let Ok(route) = Route::find(method, path) else { return Ok(()) };
    let (Need::At(_, scope) | Need::Within(_, scope)) = need(&route) else { return Ok(()) };
    let segments = levels(path);
    let judged: Vec<String> = scope.as_str().split('/').filter(|part| !part.is_empty()).map(str::to_ascii_lowercase).collect();
    prop_assert!(segments.len() >= judged.len(), "{path} is judged at {scope}");
    prop_assert_eq!(&judged[..], &segments[..judged.len()], "{} is judged at {}", path, scope);
    // A path of which every level can be a scope's is judged at its resource, not around it.
    let is_plain = segments.iter().all(|segment| !segment.contains('/') && Scope::parse(&format!("/subscriptions/{segment}")).is_ok());
    if is_plain && matches!(route, Route::Show { .. } | Route::Act { .. } | Route::ActOnVm { .. } | Route::UpdateVm { .. }) {
        let names = if matches!(route, Route::Act { .. } | Route::ActOnVm { .. }) { segments.len() - 1 } else { segments.len() };
        prop_assert_eq!(judged.len(), names, "{} is judged at {}", path, scope);
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_pieces_are_judged_where_they_lead(pieces in proptest::collection::vec(0..PIECES.len(), 1..12), method in 0..4_usize) {
        let path: String = pieces.iter().map(|piece| format!("/{}", PIECES[*piece])).collect();
        let method = [Method::GET, Method::POST, Method::PUT, Method::DELETE][method].clone();
        assert_judged_where_it_works(&method, &path)?;
    }

    /// The paths of our own routes, with any values.
    #[test]
    fn any_values_are_judged_where_they_lead(row in any::<proptest::sample::Index>(), values in proptest::collection::vec(0..PIECES.len() + 1, 6), odd in "[ -~]{0,12}") {
        let table: Vec<_> = rows().collect();
        let (method, pattern) = &table[row.index(table.len())];
        let mut values = values.into_iter();
        let segments = pattern.split('/').map(|part| match part {
            "{}" => values.next().and_then(|at| PIECES.get(at).map(|piece| (*piece).to_owned())).unwrap_or_else(|| crate::links::encode(&odd)),
            literal => literal.to_owned(),
        });
        let path = format!("/{}", segments.collect::<Vec<_>>().join("/"));
        assert_judged_where_it_works(method, &path)?;
    }
}

#[tokio::test]
async fn no_spelling_of_a_path_leads_a_tenant_out_of_its_resource_group() {
    let mut other = cluster("site2");
    other.home.resource_group = "g2".into();
    let documents = Documents::default().cluster(&cluster("site1")).cluster(&other);
    let documents = documents.machine(&machine("site1", "rack1", "m1")).vm(&vm("site1", "vm1", "m1")).vm(&vm("site2", "vm2", "m1"));
    let api = documents.serve().await;
    let house = OpenHouse::around(api.gate.clone());
    let (tenant, owner) = (PrincipalId::new(Uuid::from_u128(71)), PrincipalId::new(Uuid::from_u128(72)));
    house.assign(tenant, TENANT_VM_CONTRIBUTOR.id, Scope::group("s1", "g2").unwrap()).await;
    house.assign(owner, OWNER.id, Scope::group("s1", "g2").unwrap()).await;
    let vms = "providers/Microsoft.NetworkCloud/virtualMachines";
    let paths = [
        format!("/subscriptions/s1/resourceGroups/g1/{vms}/vm1"),
        format!("//subscriptions//s1/resourceGroups/g1//{vms}//vm1//"),
        format!("/SUBSCRIPTIONS/S1/RESOURCEGROUPS/G1/{}/VM1", vms.to_uppercase()),
        format!("/subscriptions/s1/resourceGroups/%67%31/{vms}/%76m1"),
        format!("/subscriptions/s1/resourceGroups/g2/../g1/{vms}/vm1"),
        format!("/subscriptions/s1/resourceGroups/g2/%2e%2e/g1/{vms}/vm1"),
        format!("/subscriptions/s1/resourceGroups/g2%2F..%2Fg1/{vms}/vm1"),
        format!("/subscriptions/s1%2FresourceGroups%2Fg2/resourceGroups/g1/{vms}/vm1"),
        format!("/subscriptions/s1/resourceGroups/g2/{vms}/..%2F..%2F..%2F..%2Fg1%2F{}%2Fvm1", vms.replace('/', "%2F")),
        format!("/subscriptions/s1/resourceGroups/g1;g2/{vms}/vm1"),
        format!("/subscriptions/s1/resourceGroups/g1/{vms}/vm1;g2"),
        format!("/subscriptions/s1/resourceGroups/g1./{vms}/vm1"),
        format!("/subscriptions/s1/resourceGroups/g1%00/{vms}/vm1"),
        format!("/subscriptions/s1/resourceGroups/g1/{vms}/%c1%b6m1"),
        format!("/subscriptions/s1/resourceGroups/g2/{vms}/vm1"),
    ];
    for (who, name) in [(tenant, "tenant"), (owner, "owner of g2")] {
        let token = format!("Bearer {}", house.token_of(who, name));
        for path in &paths {
            for method in [Method::GET, Method::DELETE] {
                let (status, body) =
                    send_with(&api, method.clone(), &format!("{path}?api-version=1"), "", &[("authorization", &token)]).await;
                let is_out = matches!(status, StatusCode::FORBIDDEN | StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST);
                // What is not in their own group is as good as deleted from it: no keeper hears of it.
                let is_of_nothing = method == Method::DELETE && status == StatusCode::NO_CONTENT;
                assert!(is_out || is_of_nothing || status == StatusCode::METHOD_NOT_ALLOWED, "{name}: {method} {path}: {status} {body}");
                assert_ne!(body["name"], "vm1");
            }
        }
        let own = format!("/subscriptions/s1//resourcegroups/G2/{vms}/VM2?api-version=1");
        let (status, body) = send_with(&api, Method::GET, &own, "", &[("authorization", &token)]).await;
        assert_eq!((status, &body["name"]), (StatusCode::OK, &"vm2".into()), "{name}");
    }
    assert_eq!(api.store.list(model::keys::REQUESTS).await.unwrap().documents, [], "no keeper was asked for anything");
}
