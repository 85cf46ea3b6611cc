//! Tenants' virtual machines, clusters and pools as clients read and write them.

use std::time::Duration;

use http::{Method, StatusCode};
use model::{Ask, Operation, OperationId, Request, Seen, Target, Timestamp, Verdict, VmName, VmSpec, keys};
use serde_json::{Value, json};
use store::Commit;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::Api;
use crate::fixtures::{Documents, NOW, cluster, machine, of_json, operation, rack, read_pages, send, send_with, tenant_cluster, vm};

const PROVIDER: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud";

fn at(kind: &str, rest: &str) -> String {
    format!("{PROVIDER}/{kind}{rest}?api-version=1")
}

async fn site() -> Api {
    let mut documents = Documents::default().cluster(&cluster("site")).rack(&rack("site", "rack1"));
    for name in ["m1", "m2", "m10"] {
        let mut machine = machine("site", "rack1", name);
        let seen = json!({
            "name": name, "ready": "True", "unschedulable": false, "cordonedByUs": false, "bootId": "b", "kubeletVersion": "v1", "osImage": "x",
            "machine": name, "internalIp": null, "problems": [],
        });
        machine.last_seen.node = Some(Seen { what: of_json(seen), at: Timestamp::parse(NOW).unwrap() });
        documents = documents.machine(&machine);
    }
    let documents = documents.vm(&vm("site", "fw", "m1")).vm(&vm("site", "fw10", "m2")).vm(&vm("site", "fw2", "m2"));
    let documents = documents.tenant_cluster(&tenant_cluster("site", "naks-01", &["m1", "m2"]));
    let mut restart: Operation = operation("0abc", "site", "m1", Timestamp::parse(NOW).unwrap());
    restart.target = Target::Vm(VmName::new("fw").unwrap());
    documents.operation(&restart).serve().await
}

/// Sends a request that goes to a keeper; the answer comes when it comes.
fn begin(api: &Api, method: Method, path: String, body: &Value) -> JoinHandle<(StatusCode, Value)> {
    let (api, body) = (api.clone(), body.to_string());
    tokio::spawn(async move { send(&api, method, &path, &body).await })
}

/// The one request that waits, with its key in the store.
async fn waiting(api: &Api) -> (String, String, Request) {
    tokio::time::sleep(Duration::from_secs(1)).await;
    let found = api.store.list(keys::REQUESTS).await.unwrap().documents.remove(0);
    let text = String::from_utf8(found.value.to_vec()).unwrap();
    let request = serde_json::from_str(&text).unwrap();
    (found.key, text, request)
}

async fn secrets(api: &Api) -> Vec<String> {
    let listing = api.store.list("secrets/").await.unwrap();
    listing.documents.into_iter().map(|document| document.key).collect()
}

fn described() -> Value {
    json!({
        "location": "local",
        "tags": { "team": "net" },
        "properties": {
            "adminUsername": "azureuser", "cpuCores": 2, "memorySizeGB": 4, "vmImage": "registry/fw:1", "bootMethod": "UEFI",
            "storageProfile": { "osDisk": { "diskSizeGB": 20, "createOption": "Ephemeral" } },
            "networkAttachments": [{ "attachedNetworkId": "/x/l3", "ipAllocationMethod": "Static", "ipv4Address": "10.0.0.9" }],
            "placementHints": [{
                "hintType": "AntiAffinity", "schedulingExecution": "Hard", "scope": "Rack",
                "resourceId": format!("{PROVIDER}/virtualMachines/FW"),
            }],
            "sshPublicKeys": [{ "keyData": "ssh-ed25519 AAAA" }],
            "userDataContent": "aGVsbG8=",
            "vmImageRepositoryCredentials": { "registryUrl": "registry", "username": "u", "password": "hunter2" },
            "detailedStatus": "Running",
        },
    })
}

#[tokio::test(start_paused = true)]
async fn a_machine_names_exactly_what_is_on_it() {
    let api = site().await;
    let ids = async |name: &str| {
        let (_, found) = send(&api, Method::GET, &at("bareMetalMachines", &format!("/{name}")), "").await;
        let ids = found["properties"]["associatedResourceIds"].as_array().unwrap().iter();
        ids.map(|id| id.as_str().unwrap().strip_prefix(PROVIDER).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids("m1").await, ["/virtualMachines/fw", "/kubernetesClusters/naks-01"]);
    assert_eq!(ids("m2").await, ["/virtualMachines/fw2", "/virtualMachines/fw10", "/kubernetesClusters/naks-01"]);
    assert_eq!(ids("m10").await, [""; 0]);
    // One moves, one goes, and the cluster leaves a machine.
    let follower = tokio::spawn(api.cache.clone().follow(api.store.clone(), CancellationToken::new()));
    let put = |commit: Commit, key: String, document: Value| commit.put(key, serde_json::to_vec(&document).unwrap());
    let (moved, gone) = (vm("site", "fw", "m10"), vm("site", "fw2", "m2"));
    let shrunk = tenant_cluster("site", "naks-01", &["m2"]);
    let commit = put(Commit::default(), keys::vm(&moved.cluster, &moved.name), json!(moved));
    let commit = put(commit, keys::tenant_cluster(&shrunk.cluster, &shrunk.name), json!(shrunk));
    api.store.commit(commit.delete(keys::vm(&gone.cluster, &gone.name))).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(ids("m1").await, [""; 0]);
    assert_eq!(ids("m2").await, ["/virtualMachines/fw10", "/kubernetesClusters/naks-01"]);
    assert_eq!(ids("m10").await, ["/virtualMachines/fw"]);
    follower.abort();
}

#[tokio::test(start_paused = true)]
async fn a_virtual_machine_tells_where_it_is_how_it_is_and_who_works_on_it() {
    let api = site().await;
    let (status, found) = send(&api, Method::GET, &at("virtualMachines", "/FW"), "").await;
    assert_eq!(status, StatusCode::OK, "{found}");
    let properties = &found["properties"];
    assert_eq!(properties["bareMetalMachineId"], format!("{PROVIDER}/bareMetalMachines/m1"));
    assert_eq!([&properties["detailedStatus"], &properties["powerState"], &properties["availabilityZone"]], ["Running", "On", "1"]);
    assert_eq!((&properties["memorySizeGB"], &found["rackwright"]["operation"]["id"]), (&json!(8), &json!("0abc")));
    assert_eq!(found.to_string(), serde_json::to_string(&found).unwrap());
    let (_, ids) = read_pages(&api, &format!("{}&$top=2", at("virtualMachines", "")), "name").await;
    assert_eq!(ids, ["fw", "fw2", "fw10"]);
    let (_, ids) = read_pages(&api, "/subscriptions/s1/resources?api-version=1&$top=1", "name").await;
    assert_eq!(ids, ["site", "rack1", "m1", "m2", "m10", "fw", "fw2", "fw10", "naks-01"]);
}

#[tokio::test(start_paused = true)]
async fn a_tenant_cluster_tells_of_its_nodes_and_pools() {
    let api = site().await;
    let (_, found) = send(&api, Method::GET, &at("kubernetesClusters", "/naks-01"), "").await;
    let node = &found["properties"]["nodes"][1];
    assert_eq!(node["bareMetalMachineId"], format!("{PROVIDER}/bareMetalMachines/m2"));
    assert_eq!(node["agentPoolId"], format!("{PROVIDER}/kubernetesClusters/naks-01/agentPools/agentpool1"));
    assert_eq!([&node["powerState"], &node["detailedStatus"], &node["role"]], ["On", "Running", "Worker"]);
    assert_eq!((&found["properties"]["drainPolicy"], &found["rackwright"]["drainPolicyFrom"]), (&json!("wait"), &json!("default")));
    let (_, pools) = send(&api, Method::GET, &at("kubernetesClusters", "/naks-01/agentPools"), "").await;
    let (_, pool) = send(&api, Method::GET, &at("kubernetesClusters", "/naks-01/agentPools/AgentPool1"), "").await;
    assert_eq!(pools["value"], json!([pool]));
    assert_eq!(pool["type"], "Microsoft.NetworkCloud/kubernetesClusters/agentPools");
    assert_eq!((&pool["properties"]["count"], &pool["rackwright"]["readyNodes"]), (&json!(2), &json!(2)));
}

#[tokio::test(start_paused = true)]
async fn unknown_names_are_not_found_and_what_is_made_elsewhere_is_not_made_here() {
    let api = site().await;
    let cases = [
        (Method::GET, "virtualMachines", "/nobody", StatusCode::NOT_FOUND, "ResourceNotFound"),
        (Method::POST, "virtualMachines", "/nobody/start", StatusCode::NOT_FOUND, "ResourceNotFound"),
        (Method::PATCH, "virtualMachines", "/nobody", StatusCode::NOT_FOUND, "ResourceNotFound"),
        (Method::POST, "virtualMachines", "/fw/fly", StatusCode::NOT_FOUND, "InvalidAction"),
        (Method::GET, "kubernetesClusters", "/nobody/agentPools", StatusCode::NOT_FOUND, "ResourceNotFound"),
        (Method::GET, "kubernetesClusters", "/naks-01/agentPools/nobody", StatusCode::NOT_FOUND, "ResourceNotFound"),
        (Method::POST, "kubernetesClusters", "/nobody/restartNode", StatusCode::NOT_FOUND, "ResourceNotFound"),
        (Method::POST, "kubernetesClusters", "/naks-01/fly", StatusCode::NOT_FOUND, "InvalidAction"),
        (Method::PUT, "kubernetesClusters", "/naks-01", StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed"),
        (Method::DELETE, "kubernetesClusters", "/naks-01/agentPools/agentpool1", StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed"),
    ];
    for (method, kind, rest, status, code) in cases {
        let (got, body) = send(&api, method.clone(), &at(kind, rest), "{}").await;
        assert_eq!((got, body["error"]["code"].as_str()), (status, Some(code)), "{method} {kind}{rest}: {body}");
    }
    assert_eq!(api.store.list(keys::REQUESTS).await.unwrap().documents, []);
}

#[tokio::test(start_paused = true)]
async fn what_is_wrong_in_a_body_is_named_with_its_path() {
    let api = site().await;
    let with = |path: &str, value: Value| {
        let mut body = described();
        *body.pointer_mut(path).unwrap() = value;
        body
    };
    let puts = [
        (with("/properties/cpuCores", json!(null)), "properties.cpuCores"),
        (with("/properties/cpuCores", json!(-1)), "properties.cpuCores"),
        (with("/properties/cpuCores", json!(3)), "properties.cpuCores"),
        (with("/properties/memorySizeGB", json!("4")), "properties.memorySizeGB"),
        (with("/properties/bootMethod", json!("uefi")), "properties.bootMethod"),
        (with("/properties/placementHints/0/scope", json!("Room")), "properties.placementHints[0].scope"),
        (with("/properties/placementHints/0/resourceId", json!("fw")), "properties.placementHints[0].resourceId"),
        (
            with("/properties/networkAttachments/0", json!({ "attachedNetworkId": "x" })),
            "properties.networkAttachments[0].ipAllocationMethod",
        ),
        (with("/properties/storageProfile/osDisk", json!({ "size": 1 })), "properties.storageProfile.osDisk.size"),
        (with("/properties/userDataContent", json!("no base64!")), "properties.userDataContent"),
        (
            with("/properties/vmImageRepositoryCredentials", json!({ "username": "u", "registryUrl": "r" })),
            "properties.vmImageRepositoryCredentials.password",
        ),
        (with("/tags", json!({ "a<b": "x" })), "tags.a<b"),
        (with("/location", json!("mars")), "location"),
        (json!({}), "properties.adminUsername"),
        (
            json!({ "extendedLocation": { "name": "/x/customLocations/other", "type": "CustomLocation" }, "properties": described()["properties"] }),
            "extendedLocation.name",
        ),
    ];
    for (body, target) in puts {
        let (status, answer) = send(&api, Method::PUT, &at("virtualMachines", "/new"), &body.to_string()).await;
        assert_eq!((status, answer["error"]["target"].as_str()), (StatusCode::BAD_REQUEST, Some(target)), "{answer}");
        assert!(!answer.to_string().contains("hunter2"));
    }
    let cases = [
        (Method::PUT, "virtualMachines", "/a_b", described(), "virtualMachineName"),
        (Method::PATCH, "virtualMachines", "/fw", json!({ "properties": { "cpuCores": 5 } }), "properties.cpuCores"),
        (Method::PATCH, "virtualMachines", "/fw", json!({ "properties": { "userData": "aGVsbG8=" } }), "properties.userData"),
        (Method::POST, "virtualMachines", "/fw/powerOff", json!({ "skipShutdown": "Yes" }), "skipShutdown"),
        (Method::PATCH, "kubernetesClusters", "/naks-01", json!({ "properties": { "drainPolicy": "maybe" } }), "properties.drainPolicy"),
        (
            Method::PATCH,
            "kubernetesClusters",
            "/naks-01",
            json!({ "properties": { "kubernetesVersion": "v2" } }),
            "properties.kubernetesVersion",
        ),
        (
            Method::PATCH,
            "kubernetesClusters",
            "/naks-01/agentPools/agentpool1",
            json!({ "properties": { "count": 9 } }),
            "properties.count",
        ),
        (Method::POST, "kubernetesClusters", "/naks-01/restartNode", json!({}), "nodeName"),
    ];
    for (method, kind, rest, body, target) in cases {
        let (status, answer) = send(&api, method, &at(kind, rest), &body.to_string()).await;
        assert_eq!((status, answer["error"]["target"].as_str()), (StatusCode::BAD_REQUEST, Some(target)), "{answer}");
    }
    assert_eq!((api.store.list(keys::REQUESTS).await.unwrap().documents.len(), secrets(&api).await.len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn secrets_go_to_the_vault_and_nowhere_else_and_stay_only_with_their_virtual_machine() {
    let api = site().await;
    let follower = tokio::spawn(api.cache.clone().follow(api.store.clone(), CancellationToken::new()));
    let answer = begin(&api, Method::PUT, at("virtualMachines", "/new"), &described());
    let (key, text, mut request) = waiting(&api).await;
    assert!(!text.contains("hunter2") && !text.contains("aGVsbG8"), "{text}");
    assert_eq!(secrets(&api).await.len(), 2);
    let Ask::PutVm { vm: name, spec, tags, .. } = request.ask.clone() else { panic!("{text}") };
    let password = spec.registry.as_ref().unwrap().password.clone();
    assert_eq!(api.vault.load(&password).await.unwrap().as_slice(), b"hunter2");
    assert_eq!((spec.cpu_cores, tags["team"].as_str()), (2, "net"));
    // A keeper takes it up.
    let mut made = vm("site", "new", "m10");
    made.spec = VmSpec::clone(&spec);
    let mut begun = operation("1abc", "site", "m1", Timestamp::parse(NOW).unwrap());
    begun.target = Target::Vm(name);
    request.verdict = Some(Verdict::Accepted { operation: OperationId::new("1abc") });
    let commit = Commit::default()
        .put(keys::vm(&made.cluster, &made.name), serde_json::to_vec(&made).unwrap())
        .put(keys::operation(&begun.cluster, &begun.id), serde_json::to_vec(&begun).unwrap())
        .put(key, serde_json::to_vec(&request).unwrap());
    api.store.commit(commit).await.unwrap();
    let (status, body) = answer.await.unwrap();
    assert_eq!((status, &body["name"]), (StatusCode::CREATED, &json!("new")), "{body}");
    assert_eq!(body["properties"]["vmImageRepositoryCredentials"], json!({ "registryUrl": "registry", "username": "u" }));
    assert!(!body.to_string().contains("hunter2") && !body.to_string().contains("aGVsbG8"));
    assert_eq!(secrets(&api).await.len(), 2);
    // What nobody judges leaves no secret behind, and takes none away.
    let (status, _) = begin(&api, Method::PUT, at("virtualMachines", "/new"), &described()).await.unwrap();
    assert_eq!((status, secrets(&api).await.len()), (StatusCode::SERVICE_UNAVAILABLE, 2));
    follower.abort();
}

#[tokio::test(start_paused = true)]
async fn secrets_of_a_client_that_went_away_go_when_nothing_comes_of_its_request() {
    let api = site().await;
    let hung_up = begin(&api, Method::PUT, at("virtualMachines", "/new"), &described());
    waiting(&api).await;
    assert_eq!(secrets(&api).await.len(), 2);
    hung_up.abort();
    tokio::time::sleep(crate::ANSWER_TIMEOUT.to_std()).await;
    assert_eq!(secrets(&api).await.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_password_that_is_kept_is_sent_to_no_other_registry_and_for_no_other_user() {
    let mut known = vm("site", "web", "m1");
    known.spec.registry = Some(of_json(json!({ "url": "registry", "username": "u", "password": "vm/web/1/registryPassword" })));
    known.uid = None;
    let documents = Documents::default().cluster(&cluster("site")).rack(&rack("site", "rack1")).machine(&machine("site", "rack1", "m1"));
    let api = documents.vm(&known).serve().await;
    let place = at("virtualMachines", "/web");
    let (_, read) = send(&api, Method::GET, &place, "").await;
    for (field, other) in [("registryUrl", "registry.evil.example"), ("username", "v")] {
        let mut changed = read.clone();
        changed["properties"]["vmImageRepositoryCredentials"][field] = json!(other);
        let (status, answer) = send(&api, Method::PUT, &place, &changed.to_string()).await;
        let target = "properties.vmImageRepositoryCredentials.password";
        assert_eq!((status, answer["error"]["target"].as_str()), (StatusCode::BAD_REQUEST, Some(target)), "{field}: {answer}");
    }
    assert_eq!(api.store.list(keys::REQUESTS).await.unwrap().documents, [], "no keeper was asked");
}

#[tokio::test(start_paused = true)]
async fn what_was_read_can_be_sent_back_without_what_is_never_told() {
    let mut known = vm("site", "web", "m1");
    known.spec.registry = Some(of_json(json!({ "url": "registry", "username": "u", "password": "vm/web/1/registryPassword" })));
    // One that was made past us: nobody knows its user, its image and its disk.
    let mut past_us = vm("site", "past", "m1");
    past_us.spec = VmSpec { cpu_cores: 4, memory_gb: 8, ..VmSpec::default() };
    let documents = Documents::default().cluster(&cluster("site")).rack(&rack("site", "rack1")).machine(&machine("site", "rack1", "m1"));
    let api = documents.vm(&known).vm(&past_us).serve().await;
    for vm in [known, past_us] {
        let place = at("virtualMachines", &format!("/{}", vm.name));
        let (_, read) = send(&api, Method::GET, &place, "").await;
        let answer = begin(&api, Method::PUT, place, &read);
        let (_, _, request) = waiting(&api).await;
        let Ask::PutVm { spec, .. } = &request.ask else { panic!("{:?}", request.ask) };
        assert_eq!(**spec, vm.spec, "{read:#}");
        assert_eq!(answer.await.unwrap().0, StatusCode::SERVICE_UNAVAILABLE);
    }
    assert_eq!(secrets(&api).await.len(), 0);
    // One that is not there yet needs all of it.
    let mut new = described();
    new["properties"]["vmImageRepositoryCredentials"].as_object_mut().unwrap().remove("password");
    let (status, answer) = send(&api, Method::PUT, &at("virtualMachines", "/new"), &new.to_string()).await;
    let target = "properties.vmImageRepositoryCredentials.password";
    assert_eq!((status, answer["error"]["target"].as_str()), (StatusCode::BAD_REQUEST, Some(target)), "{answer}");
}

#[tokio::test]
async fn what_is_gone_is_deleted() {
    let api = site().await;
    for path in
        [at("virtualMachines", "/nobody"), at("clusters", "/site/bmcKeySets/nobody"), at("clusters", "/site/bareMetalMachineKeySets/n")]
    {
        assert_eq!(send(&api, Method::DELETE, &path, "").await, (StatusCode::NO_CONTENT, Value::Null), "{path}");
    }
    let nowhere = at("virtualMachines", "/nobody").replace("/g1/", "/nowhere/");
    for path in [nowhere, at("virtualMachines", "/nobody") + "&preview=true", at("clusters", "/other/bmcKeySets/nobody")] {
        assert_eq!(send(&api, Method::DELETE, &path, "").await.0, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(api.store.list(keys::REQUESTS).await.unwrap().documents.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_reaches_the_keeper_as_it_is_meant() {
    let api = site().await;
    let cases = [
        (
            Method::POST,
            "virtualMachines",
            "/fw/powerOff",
            json!({ "skipShutdown": "True" }),
            r#"{"action":{"kind":"powerOff","shutdown":"skip"},"conditions":{},"kind":"actOnVm","vm":"fw"}"#,
        ),
        (
            Method::POST,
            "virtualMachines",
            "/fw/reimage",
            json!({}),
            r#"{"action":{"kind":"reimage","safeguard":"All"},"conditions":{},"kind":"actOnVm","vm":"fw"}"#,
        ),
        (Method::DELETE, "virtualMachines", "/fw", json!({}), r#"{"action":{"kind":"delete"},"conditions":{},"kind":"actOnVm","vm":"fw"}"#),
        (
            Method::PATCH,
            "virtualMachines",
            "/fw",
            json!({ "tags": { "a": "b" } }),
            r#"{"conditions":{},"kind":"updateVm","tags":{"a":"b"},"vm":"fw"}"#,
        ),
        (
            Method::PATCH,
            "kubernetesClusters",
            "/naks-01",
            json!({ "properties": { "drainPolicy": "hold" } }),
            r#"{"cluster":"naks-01","conditions":{},"drain_policy":"hold","kind":"updateTenantCluster","pool":null,"tags":null}"#,
        ),
        (
            Method::PATCH,
            "kubernetesClusters",
            "/naks-01/agentPools/agentpool1",
            json!({ "properties": { "drainPolicy": "force" } }),
            r#"{"cluster":"naks-01","conditions":{},"drain_policy":"force","kind":"updateTenantCluster","pool":"agentpool1","tags":null}"#,
        ),
        (
            Method::POST,
            "kubernetesClusters",
            "/naks-01/restartNode",
            json!({ "nodeName": "NAKS-01-agentpool1-md-0" }),
            r#"{"cluster":"naks-01","kind":"restartNode","node":"naks-01-agentpool1-md-0"}"#,
        ),
        // The virtual machine of a node is not found, and its keeper says why.
        (
            Method::POST,
            "virtualMachines",
            "/naks-01-agentpool1-md-0/start",
            json!({}),
            r#"{"action":{"kind":"start"},"conditions":{},"kind":"actOnVm","vm":"naks-01-agentpool1-md-0"}"#,
        ),
    ];
    for (method, kind, rest, body, expected) in cases {
        let answer = begin(&api, method, at(kind, rest), &body);
        let (_, _, request) = waiting(&api).await;
        assert_eq!(json!(request.ask), serde_json::from_str::<Value>(expected).unwrap());
        assert_eq!(answer.await.unwrap().0, StatusCode::SERVICE_UNAVAILABLE);
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_is_meant_for_the_edition_that_it_names() {
    let api = site().await;
    let sent = {
        let api = api.clone();
        tokio::spawn(async move { send_with(&api, Method::DELETE, &at("virtualMachines", "/fw"), "", &[("if-match", "\"3\"")]).await })
    };
    let (key, _, mut request) = waiting(&api).await;
    let Ask::ActOnVm { conditions, .. } = &request.ask else { panic!("{:?}", request.ask) };
    let refusal = plan::check_conditions(&machine("site", "rack1", "m1"), conditions).unwrap_err();
    request.verdict = Some(Verdict::Refused { refusal });
    let follower = tokio::spawn(api.cache.clone().follow(api.store.clone(), CancellationToken::new()));
    let commit = Commit::default().put(key, serde_json::to_vec(&request).unwrap());
    api.store.commit(commit).await.unwrap();
    assert_eq!(sent.await.unwrap().0, StatusCode::PRECONDITION_FAILED);
    follower.abort();
}
