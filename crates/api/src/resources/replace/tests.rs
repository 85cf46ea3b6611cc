use http::{Method, StatusCode};
use model::{OperationId, Refusal, Request, Rule, Safeguard};
use serde_json::{Value, json};

use super::*;
use crate::fixtures::{Documents, cluster, keep, machine, send};

const REPLACE: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1/replace?api-version=1";

async fn service() -> Api {
    Documents::default().cluster(&cluster("site")).machine(&machine("site", "rack1", "m1")).serve().await
}

fn body() -> Value {
    json!({
        "bmcCredentials": { "username": "root", "password": "correct horse" },
        "bmcMacAddress": "00:00:4f:00:57:ad", "bootMacAddress": "00-00-4e-00-58-af", "machineName": "m1", "serialNumber": "BM1219XXX",
        "storagePolicy": "Preserve", "safeguardMode": "None",
    })
}

fn accept(_: &Request) -> Verdict {
    Verdict::Accepted { operation: OperationId::new("8f3c1a2b") }
}

fn refuse(_: &Request) -> Verdict {
    let refusal = Refusal { rule: Rule::MachineHealthy, message: "no".into(), evidence: vec!["it is well".into()], remedy: "x".into() };
    Verdict::Refused { refusal }
}

async fn secrets(api: &Api) -> usize {
    api.store.list("secrets/").await.unwrap().documents.len()
}

#[tokio::test(start_paused = true)]
async fn what_is_said_of_the_new_hardware_is_asked_and_the_password_is_in_the_vault_alone() {
    let api = service().await;
    let asked = keep(&api, accept);
    let (status, answer) = send(&api, Method::POST, REPLACE, &body().to_string()).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{answer:#}");
    let request = asked.last();
    let Ask::Act { action, replacement: Some(replacement), .. } = &request.ask else { panic!("{request:?}") };
    assert_eq!(*action, Action::Replace { storage: StoragePolicy::Preserve, safeguard: Safeguard::None });
    let told = (replacement.serial_number.as_deref(), replacement.bmc_mac.as_deref(), replacement.boot_mac.as_deref());
    assert_eq!(told, (Some("BM1219XXX"), Some("00:00:4f:00:57:ad"), Some("00-00-4e-00-58-af")));
    assert_eq!(replacement.machine_name.as_deref(), Some("m1"));
    let secret = replacement.credentials.as_ref().unwrap();
    assert_eq!(&**api.vault.load(secret).await.unwrap(), b"root\ncorrect horse");
    let printed = format!("{request:?}{}{answer}", serde_json::to_string(&request).unwrap());
    assert!(!printed.contains("horse"), "{printed}");
}

#[tokio::test(start_paused = true)]
async fn a_replace_may_say_nothing_and_then_volumes_go() {
    let api = service().await;
    let asked = keep(&api, accept);
    send(&api, Method::POST, REPLACE, "").await;
    let Ask::Act { action, replacement, .. } = asked.last().ask else { panic!() };
    assert_eq!(action, Action::Replace { storage: StoragePolicy::DiscardAll, safeguard: Safeguard::All });
    assert_eq!((replacement, secrets(&api).await), (Some(Box::default()), 0));
}

#[tokio::test(start_paused = true)]
async fn a_login_whose_client_went_away_is_not_kept_either() {
    let api = service().await;
    let sender = api.clone();
    let hung_up = tokio::spawn(async move { send(&sender, Method::POST, REPLACE, &body().to_string()).await });
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(secrets(&api).await, 1);
    hung_up.abort();
    tokio::time::sleep(crate::ANSWER_TIMEOUT.to_std()).await;
    assert_eq!(secrets(&api).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_login_that_nothing_came_of_is_not_kept() {
    let api = service().await;
    let (status, answer) = send(&api, Method::POST, REPLACE, &body().to_string()).await;
    assert_eq!((status, &answer["error"]["code"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("KeeperUnavailable")));
    assert_eq!(secrets(&api).await, 0);
    keep(&api, refuse);
    let (status, _) = send(&api, Method::POST, REPLACE, &body().to_string()).await;
    assert_eq!((status, secrets(&api).await), (StatusCode::CONFLICT, 0));
}

#[tokio::test(start_paused = true)]
async fn a_preview_keeps_no_login_and_asks_about_the_action() {
    let api = service().await;
    let asked = keep(&api, refuse);
    send(&api, Method::POST, &format!("{REPLACE}&preview=true"), &body().to_string()).await;
    let Ask::Preview { action, replacement, .. } = asked.last().ask else { panic!("{:?}", asked.last().ask) };
    assert!(matches!(action, Action::Replace { storage: StoragePolicy::Preserve, .. }));
    let replacement = replacement.unwrap();
    assert_eq!((replacement.machine_name.as_deref(), replacement.credentials), (Some("m1"), None), "it is judged as the replace would be");
    assert_eq!(secrets(&api).await, 0);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_is_refused_with_its_field() {
    let api = service().await;
    let asked = keep(&api, accept);
    let long = "x".repeat(65);
    let cases = [
        (json!({ "bmcMacAddress": "00:00:4f:00:57" }), "bmcMacAddress"),
        (json!({ "bootMacAddress": "00:00:4f:00:57:ag" }), "bootMacAddress"),
        (json!({ "machineName": "a_b" }), "machineName"),
        (json!({ "serialNumber": "" }), "serialNumber"),
        (json!({ "serialNumber": long }), "serialNumber"),
        (json!({ "serialNumber": 7 }), "serialNumber"),
        (json!({ "storagePolicy": "preserve" }), "storagePolicy"),
        (json!({ "safeguardMode": "Some" }), "safeguardMode"),
        (json!({ "bmcCredentials": { "username": "root" } }), "bmcCredentials.password"),
        (json!({ "bmcCredentials": { "password": "x" } }), "bmcCredentials.username"),
        (json!({ "bmcCredentials": { "username": "root", "password": "" } }), "bmcCredentials.password"),
        (json!({ "bmcCredentials": { "username": "ro\not", "password": "x" } }), "bmcCredentials.username"),
        (json!({ "bmcCredentials": { "username": "x".repeat(LOGIN_MAX + 1), "password": "x" } }), "bmcCredentials.username"),
        (json!({ "bmcCredentials": { "username": "root", "password": "https://v.example/secrets/x" } }), "bmcCredentials.password"),
        (json!({ "bmcCredential": {} }), "bmcCredential"),
    ];
    for (body, field) in cases {
        let (status, answer) = send(&api, Method::POST, REPLACE, &body.to_string()).await;
        assert_eq!((status, &answer["error"]["target"]), (StatusCode::BAD_REQUEST, &json!(field)), "{body} {answer}");
    }
    assert_eq!((asked.count(), secrets(&api).await), (0, 0));
}

#[test]
fn a_password_is_no_part_of_what_tells_one_request_from_another() {
    let said = |password: &str| {
        let written = |path: &str, value: &str| Written { path: path.into(), value: json!(value) };
        read(&[written(USERNAME, "root"), written(PASSWORD, password)]).unwrap().said
    };
    assert_eq!(said("one"), said("other"));
    assert!(!String::from_utf8(said("one")).unwrap().contains("one"));
}
