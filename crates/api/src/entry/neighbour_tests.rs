//! What a tenant can learn or touch by naming what is another's: nothing.

use access::roles::{READER, TENANT_VM_CONTRIBUTOR};
use access::{PrincipalId, Scope};
use futures::{FutureExt, StreamExt};
use gate::OpenHouse;
use http::{Method, StatusCode};
use model::{HintExecution, HintKind, HintScope, HintTarget, PlacementHint, RackName, Timestamp, Verdict, VmName};
use serde_json::{Value, json};
use store::LogQuery;
use uuid::Uuid;

use crate::Api;
use crate::fixtures::{Documents, NOW, cluster, keep, machine, operation, send, send_with, vm};

const VMS: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/virtualMachines";

/// Two virtual machines in one resource group, each with an operation; the tenant has the first, and may read its log. Somebody who may
/// has hinted it away from a rack.
struct Two {
    api: Api,
    token: String,
}

async fn two() -> Two {
    let begin = Timestamp::parse(NOW).unwrap();
    let of_vm = |id: &str, name: &str| {
        let mut operation = operation(id, "site1", "m1", begin);
        operation.target = model::Target::Vm(VmName::new(name).unwrap());
        operation
    };
    let documents = Documents::default().cluster(&cluster("site1")).machine(&machine("site1", "rack1", "m1"));
    let mut mine = vm("site1", "mine", "m1");
    mine.spec.placement_hints = vec![PlacementHint {
        kind: HintKind::AntiAffinity,
        execution: HintExecution::Hard,
        scope: HintScope::Rack,
        target: HintTarget::Rack(RackName::new("rack2").unwrap()),
    }];
    let documents = documents.vm(&mine).vm(&vm("site1", "theirs", "m1"));
    let documents = documents.operation(&of_vm("8f3c1a2b", "mine")).operation(&of_vm("8f3c9999", "theirs"));
    let api = documents.operation(&of_vm("aaaa0000", "theirs")).operation(&of_vm("aaaa1111", "theirs")).serve().await;
    let house = OpenHouse::around(api.gate.clone());
    let tenant = PrincipalId::new(Uuid::from_u128(71));
    let scope = Scope::parse(&format!("{VMS}/mine")).unwrap();
    house.assign(tenant, TENANT_VM_CONTRIBUTOR.id, scope.clone()).await;
    house.assign(tenant, READER.id, scope).await;
    let token = format!("Bearer {}", house.token_of(tenant, "tenant"));
    Two { api, token }
}

impl Two {
    async fn send(&self, method: Method, path: &str) -> (StatusCode, Value) {
        send_with(&self.api, method, path, "", &[("authorization", &self.token)]).await
    }

    async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.send(Method::GET, path).await
    }

    /// Describes the tenant's own virtual machine with a hint to what an id names.
    async fn hint(&self, id: &str, scope: &str) -> (StatusCode, Value) {
        let hint = json!({ "hintType": "AntiAffinity", "schedulingExecution": "Hard", "scope": scope, "resourceId": id });
        let body = json!({
            "location": "local",
            "properties": {
                "adminUsername": "azureuser", "cpuCores": 4, "memorySizeGB": 8, "vmImage": "registry/fw:1", "bootMethod": "UEFI",
                "storageProfile": { "osDisk": { "diskSizeGB": 20, "createOption": "Ephemeral" } },
                "placementHints": [hint],
            },
        });
        let headers = [("authorization", self.token.as_str())];
        send_with(&self.api, Method::PUT, &format!("{VMS}/mine?api-version=1"), &body.to_string(), &headers).await
    }
}

fn code(body: &Value) -> &str {
    body["error"]["code"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn an_operation_of_another_is_as_good_as_none_also_by_the_beginning_of_its_id() {
    let two = two().await;
    let (status, body) = two.get("/rackwright/v1/operations/8f3c").await;
    assert_eq!((status, &body["id"]), (StatusCode::OK, &"8f3c1a2b".into()), "another's id does not make it ambiguous: {body}");
    for id in ["8f3c9999", "8f3c9", "aaaa", "aaaa0000"] {
        for (method, path) in [(Method::GET, ""), (Method::GET, "/log"), (Method::POST, "/cancel")] {
            let (status, body) = two.send(method.clone(), &format!("/rackwright/v1/operations/{id}{path}")).await;
            assert_eq!((status, code(&body)), (StatusCode::NOT_FOUND, "ResourceNotFound"), "{method} {id}{path}");
            assert!(!body.to_string().contains("theirs"), "{body}");
        }
    }
    for collection in ["operationStatuses", "operationResults"] {
        let path = |id| format!("/subscriptions/s1/providers/Microsoft.NetworkCloud/locations/local/{collection}/{id}?api-version=1");
        assert!(two.get(&path("8f3c1a2b")).await.0.is_success());
        let (status, body) = two.get(&path("8f3c9999")).await;
        assert_eq!((status, code(&body)), (StatusCode::NOT_FOUND, "ResourceNotFound"));
        assert!(!body.to_string().contains("theirs"), "{body}");
    }
    let (_, owner) = send(&two.api, Method::GET, "/rackwright/v1/operations/8f3c", "").await;
    assert_eq!(code(&owner), "AmbiguousOperationId", "whoever sees both must say which");
}

#[tokio::test]
async fn lists_filters_and_tokens_show_only_what_is_ones_own() {
    let two = two().await;
    let (_, own) = two.get("/rackwright/v1/operations").await;
    assert_eq!(own["value"].as_array().map(Vec::len), Some(1), "{own}");
    let paths = [
        format!("{VMS}?api-version=1"),
        // Places before it, at it and behind it.
        format!("{VMS}?api-version=1&$skipToken=site1%2Fa&$top=1"),
        format!("{VMS}?api-version=1&$skipToken=site1%2Fmine"),
        format!("{VMS}?api-version=1&$skipToken=site1%2Ftheirs"),
        format!("{VMS}?api-version=1&$skipToken=site1%2Fzzz"),
        "/subscriptions/s1/resources?api-version=1&$skipToken=virtualMachines%2Fsite1%2Fmine".to_owned(),
        "/subscriptions/s1/resources?api-version=1&$skipToken=bareMetalMachines%2Fsite1%2Fm1&$top=1".to_owned(),
        "/subscriptions/s1/resources?api-version=1".to_owned(),
        "/subscriptions/s1/resources?api-version=1&$filter=name%20eq%20'theirs'".to_owned(),
        "/subscriptions/s1/resources?api-version=1&$filter=resourceGroup%20eq%20'g1'".to_owned(),
        format!("/rackwright/v1/operations?$skipToken={NOW}%2F8f3c9999"),
        "/rackwright/v1/status".to_owned(),
        log_of("theirs"),
    ];
    for path in paths {
        let (status, body) = two.get(&path).await;
        assert!(status.is_success(), "{path}: {status} {body}");
        let told = body.to_string();
        assert!(!told.contains("theirs") && !told.contains("8f3c9999") && !told.contains("aaaa"), "{path}: {told}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_placement_hint_tells_nothing_of_what_is_anothers() {
    const HINT: &str = "properties.placementHints[0].resourceId";
    let two = two().await;
    let asked = keep(&two.api, |_| Verdict::Done);
    let group = VMS.strip_suffix("/virtualMachines").unwrap();
    for (kind, there, absent) in [("virtualMachines", "theirs", "nobody"), ("bareMetalMachines", "m1", "m9"), ("racks", "rack1", "rack9")] {
        let scope = if kind == "racks" { "Rack" } else { "Machine" };
        let mut told = Vec::new();
        for name in [there, absent] {
            let (status, body) = two.hint(&format!("{group}/{kind}/{name}"), scope).await;
            assert_eq!(
                (status, code(&body), &body["error"]["target"]),
                (StatusCode::NOT_FOUND, "ResourceNotFound", &HINT.into()),
                "{body}"
            );
            told.push(body["error"]["message"].as_str().unwrap().replace(name, "…"));
        }
        assert_eq!(told[0], told[1], "what is there cannot be told from what is not");
    }
    for elsewhere in [VMS.replace("s1", "s2"), VMS.replace("g1", "g2")] {
        let (status, body) = two.hint(&format!("{elsewhere}/mine"), "Machine").await;
        assert_eq!(
            (status, code(&body), &body["error"]["target"]),
            (StatusCode::BAD_REQUEST, "InvalidRequestContent", &HINT.into()),
            "{body}"
        );
    }
    assert_eq!(asked.count(), 0, "no keeper was asked");
    let (status, body) = two.hint(&format!("{group}/racks/Rack2"), "Rack").await;
    assert_eq!((status, asked.count()), (StatusCode::OK, 1), "a hint that it has already may be sent back: {body}");
    let (status, body) = two.hint(&format!("{VMS}/mine"), "Machine").await;
    assert_eq!((status, asked.count()), (StatusCode::OK, 2), "what is one's own is the keeper's to judge: {body}");
}

#[tokio::test]
async fn where_others_are_is_not_told_by_what_can_be_had() {
    let [mut mine, mut theirs] = ["site-mine", "site-theirs"].map(cluster);
    (mine.home.resource_group, mine.home.location) = ("a".to_owned(), "here".to_owned());
    (theirs.home.resource_group, theirs.home.location) = ("b".to_owned(), "elsewhere".to_owned());
    let api = Documents::default().cluster(&mine).cluster(&theirs).serve().await;
    let house = OpenHouse::around(api.gate.clone());
    let tenant = PrincipalId::new(Uuid::from_u128(72));
    house.assign(tenant, READER.id, Scope::parse("/subscriptions/s1/resourceGroups/a").unwrap()).await;
    let two = Two { token: format!("Bearer {}", house.token_of(tenant, "tenant")), api };
    for path in ["/subscriptions/s1/providers?api-version=1", "/subscriptions/s1/providers/Microsoft.NetworkCloud?api-version=1"] {
        let (status, told) = two.get(path).await;
        assert_eq!(status, StatusCode::OK, "{told}");
        assert!(told.to_string().contains("\"here\"") && !told.to_string().contains("elsewhere"), "{told}");
        let (_, owners) = send(&two.api, Method::GET, path, "").await;
        assert!(owners.to_string().contains("elsewhere"), "{owners}");
    }
}

fn log_of(name: &str) -> String {
    let filter = format!("eventTimestamp ge 2026-11-01T00:00:00Z and resourceUri eq '{VMS}/{name}'");
    let query = crate::links::encode(&filter);
    format!("/subscriptions/s1/providers/Microsoft.Insights/eventtypes/management/values?api-version=1&$filter={query}")
}

#[tokio::test]
async fn an_entry_of_the_log_that_is_anothers_is_as_good_as_none() {
    let two = two().await;
    for name in ["mine", "theirs"] {
        let (status, _) = send(&two.api, Method::POST, &format!("{VMS}/{name}/fly?api-version=1"), "").await;
        assert_eq!(status, StatusCode::NOT_FOUND);
    }
    while two.api.store.read_log(LogQuery { limit: 9, ..LogQuery::default() }).await.unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    let events = |body: &Value| body["value"].as_array().cloned().unwrap_or_default();
    let all = "/subscriptions/s1/providers/Microsoft.Insights/eventtypes/management/values?api-version=1";
    let owners = events(&send(&two.api, Method::GET, all, "").await.1);
    assert_eq!(owners.len(), 2);
    let tenants = events(&two.get(all).await.1);
    assert_eq!(tenants.len(), 1, "{tenants:?}");
    assert_eq!(events(&two.get(&log_of("theirs")).await.1), Vec::<Value>::new());
    for event in owners {
        let id = event["eventDataId"].as_str().unwrap();
        let (status, body) = two.get(&format!("/rackwright/v1/activity/{id}")).await;
        let is_own = event["resourceId"].as_str().unwrap().ends_with("/mine");
        assert_eq!(status == StatusCode::OK, is_own, "{body}");
        assert!(is_own || (code(&body) == "ResourceNotFound" && !body.to_string().contains("theirs")), "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_denied_of_a_known_resource_is_in_its_log_and_a_flood_of_it_is_bounded() {
    let two = two().await;
    let (status, body) = two.send(Method::POST, &format!("{VMS}/theirs/restart?api-version=1")).await;
    assert_eq!((status, code(&body)), (StatusCode::FORBIDDEN, "AuthorizationFailed"));
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.contains("Microsoft.NetworkCloud/virtualMachines/restart/action") && message.contains("/theirs"), "{message}");
    for _ in 0..2 * crate::REJECTIONS_BURST {
        assert_eq!(two.send(Method::DELETE, &format!("{VMS}/theirs?api-version=1")).await.0, StatusCode::FORBIDDEN);
    }
    let read = async || two.api.store.read_log(LogQuery { limit: 9_999, ..LogQuery::default() }).await.unwrap();
    while read().await.len() < crate::REJECTIONS_BURST {
        tokio::task::yield_now().await;
    }
    tokio::task::yield_now().await;
    let records = read().await;
    assert_eq!(records.len(), crate::REJECTIONS_BURST, "the rest is counted");
    let first: Value = serde_json::from_slice(&records.last().unwrap().value).unwrap();
    assert_eq!((&first["caller"], &first["error"]["code"]), (&"tenant".into(), &"AuthorizationFailed".into()), "{first}");
    assert_eq!(two.api.rejections.dropped(), 1 + crate::REJECTIONS_BURST as u64);
}

/// What the tenant hears, as far as it was told.
async fn listen(two: &Two, query: &str) -> axum::body::BodyDataStream {
    let request = http::Request::get(format!("/rackwright/v1/events{query}")).header("host", "localhost");
    let request = request.header("authorization", &two.token).body(axum::body::Body::empty()).unwrap();
    let response = crate::answer(axum::extract::State(two.api.clone()), request).await;
    assert_eq!(response.status(), StatusCode::OK);
    response.into_body().into_data_stream()
}

#[tokio::test]
async fn events_about_anothers_resource_are_not_heard() {
    let two = two().await;
    tokio::spawn(two.api.cache.clone().follow(two.api.store.clone(), tokio_util::sync::CancellationToken::new()));
    let of_theirs = format!("?resourceId={}", crate::links::encode(&format!("{VMS}/theirs")));
    let (mut all, mut theirs) = (listen(&two, "").await, listen(&two, &of_theirs).await);
    for name in ["theirs", "mine"] {
        let mut changed = vm("site1", name, "m1");
        changed.edition = 2;
        let key = model::keys::vm(&changed.cluster, &changed.name);
        two.api.store.commit(store::Commit::default().put(key, serde_json::to_vec(&changed).unwrap())).await.unwrap();
    }
    let mut heard = String::new();
    while !heard.contains("mine") {
        heard.push_str(std::str::from_utf8(&all.next().await.unwrap().unwrap()).unwrap());
    }
    assert!(!heard.contains("theirs"), "{heard}");
    // What comes first is the greeting; whatever else there was would be there by now.
    let mut greeting = String::new();
    while let Some(piece) = theirs.next().now_or_never().flatten() {
        greeting.push_str(std::str::from_utf8(&piece.unwrap()).unwrap());
    }
    assert!(greeting.starts_with("retry: ") && !greeting.contains("event:"), "{greeting}");
}
