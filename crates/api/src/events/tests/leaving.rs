//! Whoever would not be let in any more does not go on listening.

use std::time::Duration;

use super::*;
use crate::HEARTBEAT_EVERY;

/// A listener with the token of a principal of its own.
async fn listen(api: &Api) -> (access::PrincipalId, Ear) {
    let id = api.gate.create_principal("listener").await.unwrap().id;
    let (principal, secret) = api.gate.add_secret(id, None, None).await.unwrap();
    let shown = gate::Shown::Secret { client: &principal.client_id.to_string(), secret: secret.text() };
    let token = api.gate.log_in(shown, std::net::Ipv4Addr::LOCALHOST.into()).unwrap();
    let request = Request::get(EVENTS).header("host", "localhost").header("authorization", format!("Bearer {}", token.text.as_str()));
    let response = crate::answer(State(api.clone()), request.body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::OK);
    (id, Ear { body: response.into_body().into_data_stream(), text: String::new(), last_id: None })
}

/// How long the stream goes on.
async fn ends_after(mut ear: Ear) -> Duration {
    let begin = tokio::time::Instant::now();
    while ear.block().await.is_some() {}
    begin.elapsed()
}

#[tokio::test(start_paused = true)]
async fn a_principal_that_is_disabled_hears_nothing_after_the_next_sign_of_life() {
    let (api, _stop, _follower) = site().await;
    let (id, ear) = listen(&api).await;
    api.gate.set_disabled(id, true).await.unwrap();
    assert!(ends_after(ear).await <= 2 * HEARTBEAT_EVERY.to_std());
}

#[tokio::test(start_paused = true)]
async fn a_token_that_has_expired_ends_the_stream() {
    let (api, _stop, _follower) = site().await;
    let (_, ear) = listen(&api).await;
    let (life, skew) = (access::token::TOKEN_LIFE.to_std(), access::token::CLOCK_SKEW.to_std());
    let ended = ends_after(ear).await;
    assert!((life..=life + skew + 2 * HEARTBEAT_EVERY.to_std()).contains(&ended), "{ended:?}");
}
