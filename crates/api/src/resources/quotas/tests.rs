use http::{Method, StatusCode};
use model::{ClusterName, Verdict, VmName};
use serde_json::{Value, json};

use super::reserve;
use crate::Api;
use crate::fixtures::{Documents, cluster, keep, machine, of_json, send, vm};

const QUOTAS: &str = "/rackwright/v1/subscriptions/s1/quotas";
const MACHINE: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1";
const LOG: &str = "/subscriptions/s1/providers/Microsoft.Insights/eventtypes/management/values?api-version=1";

async fn service() -> Api {
    let machine = machine("site", "r1", "m1");
    Documents::default().cluster(&cluster("site")).machine(&machine).vm(&vm("site", "web1", "m1")).serve().await
}

fn code(answer: &(StatusCode, Value)) -> (u16, &str) {
    (answer.0.as_u16(), answer.1["error"]["code"].as_str().unwrap_or("-"))
}

fn described(cores: u32) -> String {
    let image = "registry.example/fw:1";
    json!({
        "location": "local",
        "properties": {
            "adminUsername": "azureuser", "bootMethod": "UEFI", "cpuCores": cores, "memorySizeGB": 8, "vmImage": image,
            "storageProfile": { "osDisk": { "diskSizeGB": 20, "createOption": "Ephemeral" } },

        },
    })
    .to_string()
}

async fn make(api: &Api, name: &str, cores: u32) -> (StatusCode, Value) {
    let path = MACHINE.replace("bareMetalMachines/m1", &format!("virtualMachines/{name}"));
    send(api, Method::PUT, &format!("{path}?api-version=1"), &described(cores)).await
}

#[tokio::test(start_paused = true)]
async fn a_virtual_machine_beyond_the_quota_is_refused_with_the_numbers() {
    let api = service().await;
    let asked = keep(&api, |_| Verdict::Done);
    let limits = r#"{"limits":{"cores":10,"virtualMachines":2,"networks":0}}"#;
    let (status, set) = send(&api, Method::PUT, QUOTAS, limits).await;
    assert_eq!((status, &set["used"]), (StatusCode::OK, &json!({ "cores": 4, "virtualMachines": 1, "networks": 0 })), "{set}");
    assert_eq!(send(&api, Method::GET, &QUOTAS.replace("s1", "S1"), "").await.1["limits"], set["limits"]);
    let refused = make(&api, "web2", 8).await;
    assert_eq!(code(&refused), (409, "QuotaExceeded"), "{}", refused.1);
    assert_eq!(
        refused.1["error"]["message"],
        "Operation results in exceeding quota limits of Core. Maximum allowed: 10, Current in use: 4, Additional requested: 8"
    );
    assert_eq!(asked.count(), 0, "no keeper was asked");
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert!(send(&api, Method::GET, LOG, "").await.1.to_string().contains("QuotaExceeded"));
    // Of what there is already nothing more is asked for, whatever the limit says.
    send(&api, Method::PUT, QUOTAS, r#"{"limits":{"virtualMachines":0}}"#).await;
    assert_eq!(make(&api, "web1", 4).await.0, StatusCode::OK);
    assert_eq!(code(&make(&api, "web2", 2).await), (409, "QuotaExceeded"));
    send(&api, Method::PUT, QUOTAS, "{}").await;
    assert_ne!(code(&make(&api, "web2", 100).await).1, "QuotaExceeded", "without limits everything fits");
}

#[tokio::test(start_paused = true)]
async fn two_requests_at_once_cannot_both_have_the_last_core() {
    let api = service().await;
    send(&api, Method::PUT, QUOTAS, r#"{"limits":{"cores":8}}"#).await;
    let view = api.cache.view();
    let cluster = ClusterName::new("site").unwrap();
    let spec = of_json(json!({ "cpuCores": 4, "memoryGb": 8, "image": "i", "adminUsername": "a", "osDisk": { "sizeGb": 20 } }));
    let named = |name: &str| VmName::new(name).unwrap();
    let first = reserve(&api, &view, &cluster, &named("web2"), &spec).unwrap();
    let second = reserve(&api, &view, &cluster, &named("web3"), &spec).map(|_| ()).unwrap_err();
    assert_eq!(second.code(), "QuotaExceeded");
    assert!(reserve(&api, &view, &cluster, &named("web2"), &spec).is_ok(), "the same again asks for nothing more");
    drop(first);
    assert!(reserve(&api, &view, &cluster, &named("web3"), &spec).is_ok(), "what came to nothing is free again");
}

/// Sends a request whose client may go away.
fn begin(api: &Api, name: &str, cores: u32) -> tokio::task::JoinHandle<(StatusCode, Value)> {
    let (api, name) = (api.clone(), name.to_owned());
    tokio::spawn(async move { make(&api, &name, cores).await })
}

#[tokio::test(start_paused = true)]
async fn whoever_hangs_up_has_reserved_what_they_asked_for_until_it_was_judged() {
    let api = service().await;
    send(&api, Method::PUT, QUOTAS, r#"{"limits":{"cores":8}}"#).await;
    let hung_up = begin(&api, "web2", 4);
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    hung_up.abort();
    assert!(hung_up.await.unwrap_err().is_cancelled());
    assert_eq!(code(&make(&api, "web3", 4).await), (409, "QuotaExceeded"), "a keeper may still grant the first");
    tokio::time::sleep(crate::ANSWER_TIMEOUT.to_std()).await;
    assert_eq!(code(&make(&api, "web3", 4).await), (503, "KeeperUnavailable"), "it was taken back, and there is room again");
}

fn attached(networks: &[&str]) -> String {
    let mut body: Value = serde_json::from_str(&described(2)).unwrap();
    let attachment = |id: &&str| json!({ "attachedNetworkId": id, "ipAllocationMethod": "Dynamic" });
    body["properties"]["networkAttachments"] = networks.iter().map(attachment).collect();
    body.to_string()
}

#[tokio::test(start_paused = true)]
async fn each_network_counts_once_however_many_virtual_machines_are_in_it() {
    let mut first = vm("site", "web1", "m1");
    let network = |id: &str| of_json::<model::NetworkAttachment>(json!({ "networkId": id, "ipAllocation": "Dynamic" }));
    first.spec.networks = vec![network("/x/L3Networks/red")];
    let mut second = vm("site", "web2", "m1");
    second.spec.networks = vec![network("/X/l3networks/RED"), network("/x/l3Networks/green")];
    let documents = Documents::default().cluster(&cluster("site")).machine(&machine("site", "r1", "m1")).vm(&first).vm(&second);
    let api = documents.serve().await;
    let (_, set) = send(&api, Method::PUT, QUOTAS, r#"{"limits":{"networks":3}}"#).await;
    assert_eq!(set["used"]["networks"], 2, "{set}");
    let put = async |networks: &[&str]| {
        let path = MACHINE.replace("bareMetalMachines/m1", "virtualMachines/web3");
        send(&api, Method::PUT, &format!("{path}?api-version=1"), &attached(networks)).await
    };
    let refused = put(&["/x/l3networks/red", "/x/l3networks/blue", "/x/l3networks/black"]).await;
    assert_eq!(code(&refused), (409, "QuotaExceeded"));
    assert_eq!(
        refused.1["error"]["message"],
        "Operation results in exceeding quota limits of Network. Maximum allowed: 3, Current in use: 2, Additional requested: 2"
    );
    let info = &refused.1["error"]["additionalInfo"][0]["info"];
    assert_eq!(*info, json!({ "what": "Network", "limit": 3, "used": 2, "asked": 2 }));
    assert_eq!(code(&put(&["/x/l3networks/red", "/x/l3networks/blue"]).await), (503, "KeeperUnavailable"), "one more fits");
    send(&api, Method::PUT, QUOTAS, r#"{"limits":{"networks":0}}"#).await;
    assert_eq!(code(&put(&["/x/l3networks/green"]).await), (503, "KeeperUnavailable"), "who takes no new one is not held up");
}

#[tokio::test(start_paused = true)]
async fn what_can_be_no_limit_is_refused_and_changes_nothing() {
    let api = service().await;
    let too_high = format!(r#"{{"limits":{{"cores":{}}}}}"#, access::quota::LIMIT_MAX + 1);
    for body in [r#"{"limits":{"cores":-1}}"#, r#"{"limits":{"cores":"8"}}"#, r#"{"limits":{"cars":8}}"#, r#"{"limits":8}"#, &too_high] {
        assert_eq!(code(&send(&api, Method::PUT, QUOTAS, body).await), (400, "InvalidRequestContent"), "{body}");
    }
    assert_eq!(send(&api, Method::GET, QUOTAS, "").await.1["limits"], json!({}));
    for method in [Method::GET, Method::PUT] {
        let unknown = send(&api, method, "/rackwright/v1/subscriptions/s9/quotas", "{}").await;
        assert_eq!(code(&unknown), (404, "SubscriptionNotFound"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_disabled_subscription_is_only_read() {
    let api = service().await;
    let (status, state) = send(&api, Method::POST, "/rackwright/v1/subscriptions/s1/disable", "").await;
    assert_eq!((status, &state["state"]), (StatusCode::OK, &json!("Disabled")));
    assert_eq!(send(&api, Method::GET, "/subscriptions/s1?api-version=1", "").await.1["state"], "Disabled");
    let refused = send(&api, Method::POST, &format!("{MACHINE}/restart?api-version=1"), "").await;
    assert_eq!(code(&refused), (409, "ReadOnlyDisabledSubscription"));
    assert_eq!(send(&api, Method::GET, &format!("{MACHINE}?api-version=1"), "").await.0, StatusCode::OK);
    let lock = "/subscriptions/s1/providers/Microsoft.Authorization/locks/l?api-version=1";
    assert_eq!(code(&send(&api, Method::PUT, lock, r#"{"properties":{"level":"ReadOnly"}}"#).await), (409, "ReadOnlyDisabledSubscription"));
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert!(send(&api, Method::GET, LOG, "").await.1.to_string().contains("ReadOnlyDisabledSubscription"));
    assert_eq!(send(&api, Method::POST, "/rackwright/v1/subscriptions/S1/enable", "").await.1["state"], "Enabled");
    assert_eq!(send(&api, Method::GET, "/subscriptions/s1?api-version=1", "").await.1["state"], "Enabled");
    assert_eq!(code(&send(&api, Method::POST, "/rackwright/v1/subscriptions/s9/disable", "").await), (404, "SubscriptionNotFound"));
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_is_not_registered_takes_nothing_of_a_provider() {
    let api = service().await;
    let provider = |rest: &str| format!("/subscriptions/s1/providers/microsoft.networkcloud{rest}?api-version=1");
    let (status, left) = send(&api, Method::POST, &provider("/unregister"), "").await;
    assert_eq!((status, &left["registrationState"]), (StatusCode::OK, &json!("Unregistered")));
    let restart = format!("{MACHINE}/restart?api-version=1");
    let refused = send(&api, Method::POST, &restart, "").await;
    assert_eq!(code(&refused), (409, "MissingSubscriptionRegistration"));
    assert_eq!(refused.1["error"]["message"], "The subscription is not registered to use namespace 'Microsoft.NetworkCloud'");
    assert_eq!(send(&api, Method::GET, &provider(""), "").await.1["registrationState"], "Unregistered");
    assert_eq!(send(&api, Method::POST, &provider("/register"), "").await.1["registrationState"], "Registered");
    assert_eq!(code(&send(&api, Method::POST, &restart, "").await), (503, "KeeperUnavailable"), "it is let through");
    let other = |verb: &str| format!("/subscriptions/s1/providers/Microsoft.Authorization/{verb}?api-version=1");
    assert_eq!(code(&send(&api, Method::POST, &other("unregister"), "").await), (409, "OperationNotAllowed"));
    assert_eq!(send(&api, Method::POST, &other("register"), "").await.1["registrationState"], "Registered");
    let unknown = "/subscriptions/s1/providers/Microsoft.Toast/register?api-version=1";
    assert_eq!(code(&send(&api, Method::POST, unknown, "").await), (404, "InvalidResourceNamespace"));
}
