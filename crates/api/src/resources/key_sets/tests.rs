use http::Method;
use model::{Ask, Request, Verdict, keys};
use store::Commit;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::Api;
use crate::fixtures::{Documents, cluster, machine, send};

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBvqyFZzF9gQZ7u0x3mRrT1yZ0Jb3uK7n2mR2uDk0l6J";
const SITE: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/clusters/site";

fn path(kind: KeySetKind, name: &str) -> String {
    format!("{SITE}/{}/{name}?api-version=1", arm_type(kind))
}

fn body(kind: KeySetKind) -> Value {
    let user = json!({ "azureUserName": "alice", "sshPublicKey": { "keyData": KEY }, "userPrincipalName": "alice@example.com" });
    let mut properties =
        json!({ "azureGroupId": "g", "expiration": "2026-12-31T00:00:00Z", "privilegeLevel": "ReadOnly", "userList": [user] });
    if kind == KeySetKind::Machine {
        properties["privilegeLevel"] = json!("Other");
        properties["privilegeLevelName"] = json!("auditors");
        properties["jumpHostsAllowed"] = json!(["10.0.0.0/24"]);
        properties["osGroupName"] = json!("auditors");
    }
    json!({ "location": "eastus", "properties": properties, "tags": { "team": "blue" } })
}

/// A service whose keeper writes and deletes whatever it is asked to.
async fn service() -> Api {
    let documents = Documents::default().cluster(&cluster("site")).machine(&machine("site", "r1", "m1"));
    let api = documents.serve().await;
    tokio::spawn(api.cache.clone().follow(api.store.clone(), CancellationToken::new()));
    tokio::spawn(keep(api.clone()));
    api
}

async fn keep(api: Api) {
    let mut changes = api.cache.changes();
    while changes.changed().await.is_ok() {
        let open: Option<Arc<Request>> = api.cache.view().requests.values().find(|request| request.verdict.is_none()).cloned();
        let Some(request) = open else { continue };
        let key = |kind, name: &KeySetName| keys::keyset(&request.cluster, kind, name.as_str());
        let commit = match &request.ask {
            Ask::PutKeySet { key_set, .. } => Commit::default().put(key(key_set.kind, &key_set.name), serde_json::to_vec(key_set).unwrap()),
            Ask::UpdateKeySet { set, name, change, .. } => {
                let view = api.cache.view();
                let known = view.key_sets_of(&request.cluster).find(|known| known.document.kind == *set && known.document.name == *name);
                let mut written = (*known.unwrap().document).clone();
                written.users = change.users.clone().unwrap_or(written.users);
                written.jump_hosts = change.jump_hosts.clone().unwrap_or(written.jump_hosts);
                Commit::default().put(key(*set, name), serde_json::to_vec(&written).unwrap())
            }
            Ask::DeleteKeySet { set, name, .. } => Commit::default().delete(key(*set, name)),
            other => panic!("{other:?}"),
        };
        let judged = Request { verdict: Some(Verdict::Done), ..(*request).clone() };
        let request_key = keys::request(&request.cluster, &request.id);
        api.store.commit(commit.put(request_key, serde_json::to_vec(&judged).unwrap())).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_set_is_made_shown_listed_changed_and_deleted() {
    let api = service().await;
    for kind in [KeySetKind::Machine, KeySetKind::Bmc] {
        let sent = Value::Object({
            let mut body = body(kind).as_object().unwrap().clone();
            body.remove("location");
            body
        });
        let (status, made) = send(&api, Method::PUT, &path(kind, "ops"), &sent.to_string()).await;
        assert_eq!(status, StatusCode::CREATED, "{made:#}");
        assert_eq!(made["properties"]["detailedStatus"], "Validating");
        assert_eq!(made["properties"]["userListStatus"][0].get("status"), None);
        assert_eq!(made["type"], full_type(kind));
        let (status, shown) = send(&api, Method::GET, &path(kind, "OPS"), "").await;
        assert_eq!((status, &shown), (StatusCode::OK, &made));
        let (status, again) = send(&api, Method::PUT, &path(kind, "ops"), &shown.to_string()).await;
        assert_eq!(
            (status, &again["properties"]["userList"]),
            (StatusCode::OK, &made["properties"]["userList"]),
            "what is shown can be sent"
        );
        let change = json!({ "properties": { "userList": [] } });
        let (status, changed) = send(&api, Method::PATCH, &path(kind, "ops"), &change.to_string()).await;
        assert_eq!((status, &changed["properties"]["userList"]), (StatusCode::OK, &json!([])), "{changed:#}");
        let (_, list) = send(&api, Method::GET, &format!("{SITE}/{}?api-version=1", arm_type(kind)), "").await;
        assert_eq!((list["value"].as_array().map(Vec::len), &list["value"][0]["name"]), (Some(1), &json!("ops")));
        assert_eq!(send(&api, Method::DELETE, &path(kind, "ops"), "").await.0, StatusCode::NO_CONTENT);
        for method in [Method::GET, Method::PATCH] {
            assert_eq!(send(&api, method, &path(kind, "ops"), "").await.0, StatusCode::NOT_FOUND);
        }
        assert_eq!(send(&api, Method::DELETE, &path(kind, "ops"), "").await.0, StatusCode::NO_CONTENT, "what is gone is deleted");
    }
}

/// The target and the message of the refusal of a body that was changed like this.
async fn refused(api: &Api, kind: KeySetKind, change: impl FnOnce(&mut Value)) -> (String, String) {
    let mut wrong = body(kind);
    wrong.as_object_mut().unwrap().remove("location");
    change(&mut wrong);
    let (status, answer) = send(api, Method::PUT, &path(kind, "ops"), &wrong.to_string()).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
    let text = |name: &str| answer["error"][name].as_str().unwrap_or_default().to_owned();
    (text("target"), text("message"))
}

#[tokio::test(start_paused = true)]
async fn what_is_no_key_set_is_refused_with_the_name_of_the_field() {
    use KeySetKind::{Bmc, Machine};
    let api = service().await;
    for name in ["azureGroupId", "expiration", "privilegeLevel", "userList", "jumpHostsAllowed"] {
        let told = refused(&api, Machine, |body| drop(body["properties"].as_object_mut().unwrap().remove(name))).await;
        assert_eq!(told, (format!("properties.{name}"), format!("`properties.{name}` is missing")));
    }
    let target = |told: (String, String)| told.0;
    let other = refused(&api, Machine, |body| drop(body["properties"].as_object_mut().unwrap().remove("privilegeLevelName"))).await;
    assert_eq!(other.1, "`properties.privilegeLevelName` is missing: the privilegeLevel is Other");
    let standard = refused(&api, Machine, |body| body["properties"]["privilegeLevel"] = json!("Standard")).await;
    assert!(standard.1.ends_with("it is for the privilegeLevel Other, and this one is Standard"), "{}", standard.1);
    let day = refused(&api, Machine, |body| body["properties"]["expiration"] = json!("tomorrow")).await;
    assert_eq!(day.1, "`properties.expiration` is not possible: it must be an instant such as 2026-12-31T23:59:59Z");
    let late = refused(&api, Bmc, |body| body["properties"]["expiration"] = json!("2199-01-01T00:00:00Z")).await;
    assert_eq!(late.1, "`properties.expiration` is not possible: it must be at most one year ahead");
    let key = refused(&api, Bmc, |body| body["properties"]["userList"][0]["sshPublicKey"]["keyData"] = json!("hello")).await;
    assert_eq!(target(key), "properties.userList[0].sshPublicKey.keyData");
    let nameless =
        refused(&api, Bmc, |body| drop(body["properties"]["userList"][0].as_object_mut().unwrap().remove("azureUserName"))).await;
    assert_eq!(target(nameless), "properties.userList[0].azureUserName");
    let level = refused(&api, Bmc, |body| body["properties"]["privilegeLevel"] = json!("Standard")).await;
    assert_eq!(target(level), "properties.privilegeLevel");
    let hosts = refused(&api, Bmc, |body| body["properties"]["jumpHostsAllowed"] = json!([])).await;
    assert_eq!(target(hosts), "properties.jumpHostsAllowed");
    let place = refused(&api, Bmc, |body| body["location"] = json!("nowhere")).await;
    assert_eq!(target(place), "location");
    let (_, answer) = send(&api, Method::PUT, &path(Bmc, "a"), &body(Bmc).to_string()).await;
    assert_eq!(answer["error"]["target"], "bmcKeySetName");
    assert_eq!(api.cache.view().key_sets_of(&model::ClusterName::new("site").unwrap()).count(), 0);
}
