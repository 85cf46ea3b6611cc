mod routes;
mod tenants;

use access::PrincipalId;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use gate::OpenHouse;
use http::Method;
use uuid::Uuid;

use crate::Api;

/// Somebody with a number, who has what was assigned to them.
fn somebody(number: u128) -> PrincipalId {
    PrincipalId::new(Uuid::from_u128(number))
}

/// The answer to somebody; to nobody in particular if there is none. Its body is not waited for: some never end.
async fn ask(api: &Api, who: Option<PrincipalId>, method: &Method, path: &str, body: &str) -> Response {
    let mut request = http::Request::builder().method(method).uri(path).header("host", "localhost");
    if let Some(who) = who {
        // A new token each time: the clock of a test runs while nobody answers.
        let token = OpenHouse::around(api.gate.clone()).token_of(who, "somebody");
        request = request.header("authorization", format!("Bearer {token}"));
    }
    crate::answer(State(api.clone()), request.body(Body::from(body.to_owned())).expect("the request is well formed")).await
}
