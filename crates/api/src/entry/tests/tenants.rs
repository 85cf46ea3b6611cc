//! A tenant with a role on one group sees nothing of another: lists, shows, operations, events, the log and the status.

use access::Scope;
use access::roles::{BUILT_IN, find_by_name};
use gate::OpenHouse;
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use model::{Cluster, Timestamp};
use serde_json::Value;

use super::{ask, somebody};
use crate::Api;
use crate::fixtures::{Documents, NOW, cluster, machine, operation, tenant_cluster, vm};

/// What is in the other group has this in its name.
const OTHERS: &str = "theirs";

fn home(name: &str, group: &str) -> Cluster {
    let mut cluster = cluster(name);
    cluster.home.resource_group = group.to_owned();
    cluster
}

/// Two groups, each with a cluster, a machine, a virtual machine, a tenant's cluster and an operation.
async fn two_groups() -> Api {
    let at = Timestamp::parse(NOW).unwrap();
    let mut documents = Documents::default();
    for (site, group, mark, id) in [("site-mine", "a", "mine", "aaaaaaaa"), ("site-theirs", "b", OTHERS, "bbbbbbbb")] {
        let (machine_name, vm_name, tenant) = (format!("m-{mark}"), format!("vm-{mark}"), format!("k-{mark}"));
        documents = documents
            .cluster(&home(site, group))
            .machine(&machine(site, "r1", &machine_name))
            .vm(&vm(site, &vm_name, &machine_name))
            .tenant_cluster(&tenant_cluster(site, &tenant, &[&machine_name]))
            .operation(&operation(id, site, &machine_name, at));
    }
    documents.serve().await
}

async fn text(api: &Api, number: u128, path: &str) -> (StatusCode, String) {
    let response = ask(api, Some(somebody(number)), &Method::GET, path, "").await;
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

/// An owner of one group and a tenant of it see the same nothing of the other.
#[tokio::test(start_paused = true)]
async fn whoever_has_a_role_on_one_group_sees_nothing_of_another() {
    let api = two_groups().await;
    // Something of theirs that the log tells of.
    let restart = "/subscriptions/s1/resourceGroups/b/providers/Microsoft.NetworkCloud/bareMetalMachines/m-theirs/restart?api-version=1";
    let owner = OpenHouse::around(api.gate.clone()).token("owner");
    let headers = [("authorization", format!("Bearer {owner}"))];
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    crate::fixtures::send_with(&api, Method::POST, restart, "", &headers).await;
    let log = "/subscriptions/s1/providers/Microsoft.Insights/eventtypes/management/values?api-version=1";
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let (_, whole) = crate::fixtures::send_with(&api, Method::GET, log, "", &headers).await;
    assert!(whole.to_string().contains(OTHERS), "there is something to see: {whole}");
    let house = OpenHouse::around(api.gate.clone());
    for (number, role) in (11..).zip(&BUILT_IN) {
        house.assign(somebody(number), role.id, Scope::parse("/subscriptions/s1/resourceGroups/a").unwrap()).await;
        let provider = "/subscriptions/s1/providers/Microsoft.NetworkCloud";
        let lists = [
            "/subscriptions?api-version=1".to_owned(),
            "/subscriptions/s1/resourcegroups?api-version=1".to_owned(),
            "/subscriptions/s1/resources?api-version=1".to_owned(),
            format!("{provider}/clusters?api-version=1"),
            format!("{provider}/racks?api-version=1"),
            format!("{provider}/bareMetalMachines?api-version=1"),
            format!("{provider}/virtualMachines?api-version=1"),
            format!("{provider}/kubernetesClusters?api-version=1"),
            "/subscriptions/s1/providers/Microsoft.Authorization/roleAssignments?api-version=1".to_owned(),
            log.to_owned(),
            "/rackwright/v1/status".to_owned(),
            "/rackwright/v1/operations".to_owned(),
        ];
        for path in lists {
            let (_, seen) = text(&api, number, &path).await;
            assert!(!seen.contains(OTHERS) && !seen.contains("resourceGroups/b"), "{} {path}: {seen}", role.name);
        }
        let theirs = "/subscriptions/s1/resourceGroups/b";
        let shows = [
            format!("{theirs}?api-version=1"),
            format!("{theirs}/resources?api-version=1"),
            format!("{theirs}/providers/Microsoft.NetworkCloud/clusters/site-theirs?api-version=1"),
            format!("{theirs}/providers/Microsoft.NetworkCloud/bareMetalMachines/m-theirs?api-version=1"),
            format!("{theirs}/providers/Microsoft.NetworkCloud/virtualMachines/vm-theirs?api-version=1"),
            format!("{theirs}/providers/Microsoft.NetworkCloud/kubernetesClusters/k-theirs?api-version=1"),
            format!("{theirs}/providers/Microsoft.Authorization/locks?api-version=1"),
            "/rackwright/v1/operations/bbbbbbbb".to_owned(),
            format!("{provider}/locations/local/operationStatuses/bbbbbbbb?api-version=1"),
        ];
        for path in shows {
            let (status, _) = text(&api, number, &path).await;
            assert!([StatusCode::FORBIDDEN, StatusCode::NOT_FOUND].contains(&status), "{} {path}: {status}", role.name);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_tenant_sees_their_own() {
    let api = two_groups().await;
    let role = find_by_name("Tenant Reader").unwrap();
    OpenHouse::around(api.gate.clone()).assign(somebody(11), role.id, Scope::parse("/subscriptions/s1/resourceGroups/a").unwrap()).await;
    let names = async |path: &str| {
        let (status, body) = text(&api, 11, path).await;
        assert_eq!(status, StatusCode::OK, "{path}: {body}");
        let list: Value = serde_json::from_str(&body).unwrap();
        list["value"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("/subscriptions/s1/providers/Microsoft.NetworkCloud/virtualMachines?api-version=1").await, ["vm-mine"]);
    assert_eq!(names("/subscriptions/s1/resources?api-version=1").await, ["vm-mine", "k-mine"], "and no machine");
    assert_eq!(names("/subscriptions/s1/resourcegroups?api-version=1").await, ["a"]);
}

/// Events tell a tenant of their own alone.
#[tokio::test(start_paused = true)]
async fn a_tenant_hears_of_their_own_alone() {
    let api = two_groups().await;
    tokio::spawn(api.cache.clone().follow(api.store.clone(), tokio_util::sync::CancellationToken::new()));
    let role = find_by_name("Tenant Reader").unwrap();
    OpenHouse::around(api.gate.clone()).assign(somebody(11), role.id, Scope::parse("/subscriptions/s1/resourceGroups/a").unwrap()).await;
    let response = ask(&api, Some(somebody(11)), &Method::GET, "/rackwright/v1/events", "").await;
    assert_eq!(response.status(), StatusCode::OK);
    let mut body = response.into_body();
    let mut commit = store::Commit::default();
    for (site, name) in [("site-theirs", "vm-theirs"), ("site-mine", "vm-mine")] {
        let mut changed = vm(site, name, "m1");
        changed.edition += 1;
        commit = commit.put(model::keys::vm(&changed.cluster, &changed.name), serde_json::to_vec(&changed).unwrap());
    }
    api.store.commit(commit).await.unwrap();
    let mut heard = String::new();
    while !heard.contains("vm-mine") {
        let next = tokio::time::timeout(std::time::Duration::from_secs(60), body.frame()).await;
        let frame = next.expect("an event of their own comes").expect("the stream goes on").unwrap();
        heard += &String::from_utf8_lossy(frame.data_ref().map_or(&[][..], |data| data));
    }
    assert!(!heard.contains(OTHERS), "{heard}");
}
