//! What the log says of denials, and how often.

use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};

use access::PrincipalId;
use access::attempts::NOTICES;
use gate::OpenHouse;
use http::Method;
use model::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::Api;
use crate::fixtures::{Documents, NOW, cluster, machine, operation, send, send_with};

/// What was logged by this thread.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    pub fn listen(&self) -> tracing::subscriber::DefaultGuard {
        // While there is one listener alone, a line that another thread comes to first is believed to interest nobody: so there is another.
        static ANOTHER: OnceLock<tracing::Dispatch> = OnceLock::new();
        let deaf = || tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(std::io::sink).finish();
        ANOTHER.get_or_init(|| tracing::Dispatch::new(deaf()));
        let writer = self.clone();
        let lines = tracing_subscriber::fmt().with_ansi(false).with_max_level(tracing::Level::TRACE);
        tracing::subscriber::set_default(lines.with_writer(move || writer.clone()).finish())
    }

    pub fn denials(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().filter(|line| line.contains(" audit: ")).map(str::to_owned).collect()
    }
}

const MACHINE: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1?api-version=1";

async fn service() -> Api {
    Documents::default().cluster(&cluster("site")).serve().await
}

async fn get(api: &Api, path: &str, authorization: &str) -> StatusCode {
    let headers = [("authorization", authorization), ("x-ms-correlation-request-id", "c-1")];
    send_with(api, Method::GET, path, "", &headers).await.0
}

#[tokio::test(start_paused = true)]
async fn every_denial_says_who_from_where_what_and_why_and_never_what_was_shown() {
    let log = Log::default();
    let _listening = log.listen();
    let api = service().await;
    let principal = PrincipalId::new(Uuid::from_u128(9));
    let token = OpenHouse::around(api.gate.clone()).token_of(principal, "mallory");
    let permission = "permission=\"Microsoft.NetworkCloud/bareMetalMachines/read\"";
    let scope = format!("scope=\"{}\"", MACHINE.split_once('?').unwrap().0);
    let id = format!("principal=\"{principal}\"");
    let cases = [
        ("Bearer MARKER", StatusCode::UNAUTHORIZED, vec!["reason=\"InvalidAuthenticationToken\"", "caller=\"anonymous\"", "why="]),
        ("Basic MARKER", StatusCode::UNAUTHORIZED, vec!["reason=\"AuthenticationFailed\""]),
        (
            &*format!("Bearer {token}"),
            StatusCode::FORBIDDEN,
            vec!["reason=\"AuthorizationFailed\"", "caller=\"mallory\"", &id, permission, &scope],
        ),
    ];
    for (n, (authorization, status, words)) in cases.into_iter().enumerate() {
        assert_eq!(get(&api, MACHINE, authorization).await, status);
        let denials = log.denials();
        assert_eq!(denials.len(), n + 1, "{denials:?}");
        let line = denials.last().unwrap();
        for word in words.into_iter().chain(["from=127.0.0.1", "method=GET", "path=\"/subscriptions/s1/", "correlation_id=\"c-1\""]) {
            assert!(line.contains(word), "{word} is not in {line}");
        }
        assert!(!line.contains("MARKER") && !line.contains(token.split('.').nth(2).unwrap()), "{line}");
    }
    assert_eq!(get(&api, "/nowhere", &format!("Bearer {token}")).await, StatusCode::NOT_FOUND);
    assert_eq!(log.denials().len(), 3, "what is not there was denied to nobody");
}

#[tokio::test(start_paused = true)]
async fn what_is_hidden_from_somebody_is_denied_to_them_in_the_log_alone() {
    let log = Log::default();
    let _listening = log.listen();
    let at = Timestamp::parse(NOW).unwrap();
    let documents = Documents::default().cluster(&cluster("site")).machine(&machine("site", "rack1", "m1"));
    let api = documents.operation(&operation("8f3c1a2b", "site", "m1", at)).serve().await;
    // Something is refused, so that there is an entry.
    send(&api, Method::POST, &MACHINE.replace("?", "/explode?"), "").await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let all = "/subscriptions/s1/providers/Microsoft.Insights/eventtypes/management/values?api-version=1";
    let entry = send(&api, Method::GET, all, "").await.1["value"][0]["eventDataId"].as_str().unwrap().to_owned();
    let token = format!("Bearer {}", OpenHouse::around(api.gate.clone()).token_of(PrincipalId::new(Uuid::from_u128(9)), "mallory"));
    let status = "/subscriptions/s1/providers/Microsoft.NetworkCloud/locations/local/operationStatuses/";
    let scope = format!("scope=\"{}\"", MACHINE.split_once('?').unwrap().0);
    let hidden = [
        ("/rackwright/v1/operations/8f3c".to_owned(), "bareMetalMachines/read"),
        ("/rackwright/v1/operations/8f3c1a2b/log".to_owned(), "bareMetalMachines/read"),
        (format!("{status}8f3c1a2b?api-version=1"), "bareMetalMachines/read"),
        (format!("/rackwright/v1/activity/{entry}"), "eventtypes/values/read"),
    ];
    for (n, (path, permission)) in hidden.into_iter().enumerate() {
        assert_eq!(get(&api, &path, &token).await, StatusCode::NOT_FOUND, "{path}");
        let denials = log.denials();
        assert_eq!(denials.len(), n + 1, "{path}: {denials:?}");
        for word in ["reason=\"AuthorizationFailed\"", "caller=\"mallory\"", permission, &scope] {
            assert!(denials[n].contains(word), "{word} is not in {}", denials[n]);
        }
    }
    for path in ["/rackwright/v1/operations/ffff", &format!("{status}ffff?api-version=1"), "/rackwright/v1/activity/x"] {
        assert_eq!(get(&api, path, &token).await, StatusCode::NOT_FOUND);
    }
    assert_eq!(log.denials().len(), 4, "what is not there was denied to nobody");
}

#[tokio::test(start_paused = true)]
async fn what_is_denied_to_everybody_is_told_with_its_reason() {
    let log = Log::default();
    let _listening = log.listen();
    let api = Documents::default().cluster(&cluster("site")).machine(&machine("site", "rack1", "m1")).serve().await;
    let group = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft";
    let vm = json!({
        "location": "local",
        "properties": {
            "adminUsername": "azureuser", "bootMethod": "UEFI", "cpuCores": 2, "memorySizeGB": 8, "vmImage": "registry.example/fw:1",
            "storageProfile": { "osDisk": { "diskSizeGB": 20, "createOption": "Ephemeral" } },
        },
    });
    let policy = json!({ "properties": { "reason": "no", "conditions": [{ "field": "name", "like": "*" }] } });
    let make = (Method::PUT, format!("{group}.NetworkCloud/virtualMachines/web1?api-version=1"), vm);
    let restart = (Method::POST, MACHINE.replace("?", "/restart?"), Value::Null);
    let ours = "/rackwright/v1/subscriptions/s1";
    let cases = [
        ((Method::PUT, format!("{ours}/quotas"), json!({ "limits": { "cores": 0 } })), &make, "QuotaExceeded"),
        ((Method::PUT, format!("{group}.Authorization/policyAssignments/p?api-version=1"), policy), &restart, "RequestDisallowedByPolicy"),
        (
            (Method::PUT, format!("{group}.Authorization/locks/l?api-version=1"), json!({ "properties": { "level": "ReadOnly" } })),
            &restart,
            "ScopeLocked",
        ),
        (
            (Method::POST, "/subscriptions/s1/providers/Microsoft.NetworkCloud/unregister?api-version=1".to_owned(), Value::Null),
            &restart,
            "MissingSubscriptionRegistration",
        ),
        ((Method::POST, format!("{ours}/disable"), Value::Null), &restart, "ReadOnlyDisabledSubscription"),
    ];
    let text = |body: &Value| if body.is_null() { String::new() } else { body.to_string() };
    for (before, (method, path, body), code) in cases {
        let (status, answer) = send(&api, before.0, &before.1, &text(&before.2)).await;
        assert!(status.is_success(), "{answer}");
        let told = log.denials().iter().filter(|line| line.contains("a request was denied")).count();
        let (_, answer) = send(&api, method.clone(), path, &text(body)).await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
        let lines = log.denials();
        let denials: Vec<_> = lines.iter().filter(|line| line.contains("a request was denied")).collect();
        assert_eq!(denials.len(), told + 1, "{code}: {denials:?}");
        let line = denials.last().unwrap();
        assert!(line.contains(&format!("reason=\"{code}\"")) && line.contains("why="), "{line}");
    }
}

/// A store that takes its time, as one on a disk does, so that there is time to hang up.
#[tokio::test]
async fn whoever_administers_and_hangs_up_is_told_of_all_the_same() {
    let log = Log::default();
    let _listening = log.listen();
    let directory = tempfile::tempdir().unwrap();
    let api = service().await;
    let store: store::SharedStore = Arc::new(store::SqliteStore::open(directory.path(), api.clock.clone()).unwrap());
    let vault = Arc::new(store::Vault::ephemeral(store.clone()));
    let gate = gate::Gate::open(store, vault, api.clock.clone()).await.unwrap();
    let (administrator, secret) = gate.make_administrator().await.unwrap().unwrap();
    let shown = gate::Shown::Secret { client: &administrator.client_id.to_string(), secret: secret.text() };
    let token = format!("Bearer {}", gate.log_in(shown, std::net::Ipv4Addr::LOCALHOST.into()).unwrap().text.as_str());
    let api = Api { gate: Arc::new(gate), ..api };
    let scope = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.Authorization";
    let ours = "/rackwright/v1";
    let role = json!({ "properties": { "roleDefinitionId": access::roles::READER.id, "principalId": Uuid::from_u128(9) } });
    let issuer = json!({ "issuer": "https://login.example.com", "audiences": ["a"] });
    let cases = [
        (Method::PUT, format!("{scope}/locks/l?api-version=1"), json!({ "properties": { "level": "CanNotDelete" } }), "lock"),
        (Method::PUT, format!("{scope}/roleAssignments/{}?api-version=1", Uuid::from_u128(7)), role, "role"),
        (Method::PUT, format!("{ours}/subscriptions/s1/quotas"), json!({ "limits": { "cores": 1 } }), "quota"),
        (Method::POST, format!("{ours}/principals"), json!({ "displayName": "backdoor" }), "principal"),
        (Method::PUT, format!("{ours}/issuers/elsewhere"), issuer, "issuer"),
    ];
    for (method, path, body, what) in cases {
        let headers = [("authorization", token.as_str())];
        let body = body.to_string();
        let mut asking = Box::pin(send_with(&api, method, &path, &body, &headers));
        assert!(futures::poll!(&mut asking).is_pending(), "{path}");
        drop(asking);
        let told = async {
            while !log.denials().iter().any(|line| line.contains(&format!("what=\"{what}\""))) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(10), told).await.unwrap_or_else(|_| panic!("{path} was not told"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_login_is_told_with_the_client_and_without_the_secret() {
    let log = Log::default();
    let _listening = log.listen();
    let api = service().await;
    let client = Uuid::from_u128(5);
    for (sent, told) in [(client.to_string(), true), ("MARKER".to_owned(), false)] {
        let body = format!("grant_type=client_credentials&client_id={sent}&client_secret=MARKER");
        let form = "application/x-www-form-urlencoded";
        let request = http::Request::post("/adfs/oauth2/token").header("host", "localhost").header("content-type", form);
        let response = crate::answer(axum::extract::State(api.clone()), request.body(axum::body::Body::from(body)).unwrap()).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        let line = log.denials().pop().unwrap();
        assert!(line.contains("reason=\"LoginFailed\"") && line.contains("no service principal with this client id"), "{line}");
        assert_eq!(line.contains(&client.to_string()), told, "{line}");
        assert!(!line.contains("MARKER"), "{line}");
    }
}

#[tokio::test]
async fn whoever_comes_without_tls_is_told_of_without_the_address_of_an_image() {
    use tower::ServiceExt;
    let log = Log::default();
    let _listening = log.listen();
    for path in ["/subscriptions", "/install/v1/media/site/op/1/MARKER/agent.iso"] {
        let request = http::Request::get(path).header("host", "localhost").body(axum::body::Body::empty()).unwrap();
        let response = crate::https_router().oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        let line = log.denials().pop().unwrap_or_default();
        assert!(line.contains("reason=\"HttpsRequired\"") && line.contains("from=127.0.0.1"), "{line}");
        assert!(!line.contains("MARKER"), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_denials_is_no_flood_of_lines() {
    let log = Log::default();
    let _listening = log.listen();
    let api = service().await;
    for _ in 0..500 {
        assert_eq!(get(&api, MACHINE, "Bearer x").await, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(log.denials().len(), NOTICES.burst as usize);
    let token = OpenHouse::around(api.gate.clone()).token_of(PrincipalId::new(Uuid::from_u128(9)), "mallory");
    assert_eq!(get(&api, MACHINE, &format!("Bearer {token}")).await, StatusCode::FORBIDDEN);
    assert_eq!(log.denials().len(), NOTICES.burst as usize + 1, "whoever is known has lines of their own");
    tokio::time::advance(NOTICES.every.to_std()).await;
    for _ in 0..5 {
        get(&api, MACHINE, "Bearer x").await;
    }
    assert_eq!(log.denials().len(), NOTICES.burst as usize + 2);
    tokio::time::sleep((ration::TELL_AFTER + NOTICES.every).to_std()).await;
    let lines = log.denials();
    assert_eq!(lines.len(), NOTICES.burst as usize + 3, "one line tells of all the others");
    let (line, left_out) = (lines.last().unwrap(), 500 - NOTICES.burst + 4);
    for word in [format!("denials={left_out}"), "from=\"127.0.0.1\"".to_owned(), "reason=\"InvalidAuthenticationToken\"".to_owned()] {
        assert!(line.contains(&word), "{word} is not in {line}");
    }
}
