//! What happens to a right while a body is on its way: whoever sends slowly is judged by how it is in the end.

use std::convert::Infallible;

use access::lock::Level;
use access::roles::OWNER;
use access::{AssignmentId, PrincipalId, Scope};
use axum::body::Body;
use axum::extract::State;
use bytes::Bytes;
use gate::OpenHouse;
use http::{Method, Request, StatusCode};
use model::Verdict;
use serde_json::json;

use crate::Api;
use crate::fixtures::{Asked, Documents, cluster, keep, machine, vm};

const GROUP: &str = "/subscriptions/s1/resourceGroups/g1";

/// What is done while a body is on its way.
#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    Nothing,
    Lock,
    TakeRole,
    DisablePrincipal,
    DisableSubscription,
}

/// A site, and a principal who owns its subscription.
struct Site {
    api: Api,
    asked: Asked,
    principal: PrincipalId,
    token: String,
}

async fn site() -> Site {
    let documents = Documents::default().cluster(&cluster("site")).machine(&machine("site", "r1", "m1"));
    let api = documents.vm(&vm("site", "web1", "m1")).serve().await;
    let asked = keep(&api, |_| Verdict::Done);
    let id = api.gate.create_principal("deployer").await.unwrap().id;
    let (principal, secret) = api.gate.add_secret(id, None, None).await.unwrap();
    OpenHouse::around(api.gate.clone()).assign(id, OWNER.id, Scope::parse("/subscriptions/s1").unwrap()).await;
    let shown = gate::Shown::Secret { client: &principal.client_id.to_string(), secret: secret.text() };
    let token = api.gate.log_in(shown, std::net::Ipv4Addr::LOCALHOST.into()).unwrap().text.as_str().to_owned();
    Site { api, asked, principal: id, token }
}

async fn happen(api: &Api, principal: PrincipalId, what: Meanwhile) {
    match what {
        Meanwhile::Nothing => {}
        Meanwhile::Lock => {
            let token = OpenHouse::around(api.gate.clone()).token("somebody else");
            let by = api.gate.authenticate(&token).unwrap();
            api.gate.put_lock(&by, Scope::parse(GROUP).unwrap(), "l", Level::ReadOnly, String::new()).await.unwrap();
        }
        Meanwhile::TakeRole => {
            let of_theirs = |id: &AssignmentId| api.gate.assignment(*id).is_some_and(|one| one.principal == principal);
            let all: Vec<AssignmentId> = api.gate.directory().judge().list(&Scope::root()).map(|one| one.id).collect();
            api.gate.unassign(all.into_iter().find(of_theirs).unwrap()).await.unwrap();
        }
        Meanwhile::DisablePrincipal => {
            api.gate.set_disabled(principal, true).await.unwrap();
        }
        Meanwhile::DisableSubscription => {
            api.gate.set_subscription_disabled("s1", true).await.unwrap();
        }
    }
}

/// The answer to a request whose body comes after something has happened.
async fn send_slowly(site: &Site, method: Method, path: &str, body: String, meanwhile: Meanwhile) -> (StatusCode, String) {
    let (api, principal) = (site.api.clone(), site.principal);
    let body = futures::stream::once(async move {
        happen(&api, principal, meanwhile).await;
        Ok::<_, Infallible>(Bytes::from(body))
    });
    let request = Request::builder().method(method).uri(path).header("host", "localhost");
    let request = request.header("authorization", format!("Bearer {}", site.token)).body(Body::from_stream(body)).unwrap();
    let response = crate::answer(State(site.api.clone()), request).await;
    let code = response.headers().get("x-ms-error-code").map(|code| code.to_str().unwrap().to_owned());
    (response.status(), code.unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn what_is_locked_or_taken_away_while_a_body_comes_holds_for_it() {
    let unmanage = (Method::POST, "NetworkCloud/bareMetalMachines/m1/unmanage", json!({ "reason": "repair" }));
    let tag = (Method::PATCH, "NetworkCloud/virtualMachines/web1", json!({ "tags": { "team": "net" } }));
    let policy = json!({ "properties": { "reason": "no", "conditions": [{ "field": "name", "like": "x*" }] } });
    let deny = (Method::PUT, "Authorization/policyAssignments/p", policy);
    let cases = [
        (Meanwhile::Lock, StatusCode::CONFLICT, "ScopeLocked"),
        (Meanwhile::TakeRole, StatusCode::FORBIDDEN, "AuthorizationFailed"),
        (Meanwhile::DisablePrincipal, StatusCode::UNAUTHORIZED, "InvalidAuthenticationToken"),
        (Meanwhile::DisableSubscription, StatusCode::CONFLICT, "ReadOnlyDisabledSubscription"),
    ];
    for (method, path, body) in [unmanage, tag, deny] {
        let path = format!("{GROUP}/providers/Microsoft.{path}?api-version=1");
        let calm = site().await;
        let (status, code) = send_slowly(&calm, method.clone(), &path, body.to_string(), Meanwhile::Nothing).await;
        assert!(status.is_success(), "{path}: {code}");
        for (meanwhile, status, code) in cases {
            let site = site().await;
            let answer = send_slowly(&site, method.clone(), &path, body.to_string(), meanwhile).await;
            assert_eq!(answer, (status, code.to_owned()), "{path}: {meanwhile:?}");
            assert_eq!(site.asked.count(), 0, "{path}: no keeper was asked");
            assert!(!site.api.gate.directory().restraints().has_policies(), "{path}: nothing was written");
        }
    }
}
