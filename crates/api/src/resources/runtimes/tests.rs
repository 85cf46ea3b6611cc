use http::Method;
use model::{Request, Verdict, keys};
use store::Commit;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::fixtures::{Documents, cluster, send};

const RUNTIMES: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/clusters/site/runtimes";

fn path(version: &str) -> String {
    format!("{RUNTIMES}/{version}?api-version=1")
}

fn body() -> Value {
    let artefact = json!({ "url": "http://images/a", "sha256": "0".repeat(64), "bytes": 1_000_000 });
    json!({ "properties": {
        "osName": "Azure Linux 3.0", "kubernetesVersion": "v1.33.7", "osImage": artefact, "boot": { "agentImage": artefact },
        "userData": { "ControlPlane": "a", "Management": "b", "Compute": "c" },
    } })
}

/// A service whose keeper takes in and forgets whatever it is asked to.
async fn service() -> Api {
    let api = Documents::default().cluster(&cluster("site")).serve().await;
    tokio::spawn(api.cache.clone().follow(api.store.clone(), CancellationToken::new()));
    tokio::spawn(keep(api.clone()));
    api
}

async fn keep(api: Api) {
    let mut changes = api.cache.changes();
    while changes.changed().await.is_ok() {
        let open: Option<Arc<Request>> = api.cache.view().requests.values().find(|request| request.verdict.is_none()).cloned();
        let Some(request) = open else { continue };
        let commit = match &request.ask {
            Ask::ImportRuntime { bundle } => {
                Commit::default().put(keys::runtime(&request.cluster, bundle.version), serde_json::to_vec(bundle).unwrap())
            }
            Ask::ForgetRuntime { version } => Commit::default().delete(keys::runtime(&request.cluster, *version)),
            other => panic!("{other:?}"),
        };
        let judged = Request { verdict: Some(Verdict::Done), ..(*request).clone() };
        let key = keys::request(&request.cluster, &request.id);
        api.store.commit(commit.put(key, serde_json::to_vec(&judged).unwrap())).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_runtime_is_imported_shown_listed_and_forgotten() {
    let api = service().await;
    let (status, made) = send(&api, Method::PUT, &path("4.9.2"), &body().to_string()).await;
    assert_eq!(status, StatusCode::CREATED, "{made:#}");
    assert_eq!(made["rackwright"], json!({ "isClusterVersion": true, "machines": 0 }));
    let (status, shown) = send(&api, Method::GET, &path("4.9.2"), "").await;
    assert_eq!((status, &shown), (StatusCode::OK, &made));
    let (status, again) = send(&api, Method::PUT, &path("4.9.2"), &shown.to_string()).await;
    assert_eq!((status, &again), (StatusCode::OK, &made), "what is shown can be imported");
    send(&api, Method::PUT, &path("4.10.0"), &body().to_string()).await;
    let (_, list) = send(&api, Method::GET, &format!("{RUNTIMES}?api-version=1"), "").await;
    let names: Vec<&str> = list["value"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["4.9.2", "4.10.0"]);
    assert_eq!(list["value"][0]["properties"].get("userData"), None, "a list is short");
    let (_, page) = send(&api, Method::GET, &format!("{RUNTIMES}?api-version=1&$skipToken=4.9.2"), "").await;
    assert_eq!(page["value"][0]["name"], "4.10.0");
    assert_eq!(send(&api, Method::DELETE, &path("4.9.2"), "").await.0, StatusCode::NO_CONTENT);
    for method in [Method::GET, Method::DELETE] {
        assert_eq!(send(&api, method, &path("4.9.2"), "").await.0, StatusCode::NOT_FOUND);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_runtime_is_refused_with_the_places_of_all_that_is_wrong() {
    let api = service().await;
    let mut wrong = body();
    wrong["properties"]["osImage"]["url"] = json!("file:///etc/passwd");
    wrong["properties"]["userData"]["Compute"] = json!("{{ nobody }}");
    let (status, answer) = send(&api, Method::PUT, &path("4.9.2"), &wrong.to_string()).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let message = "the runtime is not as it must be: `properties.osImage.url`: a URL is meant that begins with http:// or https://; \
                   `properties.userData.Compute`: line 1: undefined value";
    assert_eq!(answer["error"]["message"], message);
    assert_eq!(answer["error"]["target"], "properties.osImage.url");
    for (version, body) in [("4.9", body()), ("4.9.2", json!({})), ("4.9.2", json!({ "properties": { "osNme": "x" } }))] {
        let (status, answer) = send(&api, Method::PUT, &path(version), &body.to_string()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
    }
    let (status, _) = send(&api, Method::PUT, &path("4.9.2").replace("/site/", "/nowhere/"), &body().to_string()).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert_eq!(api.cache.view().runtimes_of(&model::ClusterName::new("site").unwrap()).count(), 0);
}
