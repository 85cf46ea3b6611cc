//! Asks the issuers of people for their keys, as OpenID Connect says.

use std::time::Duration;

use access::token::JWKS_MAX;
use async_trait::async_trait;
use gate::KeyFetcher;
use serde_json::Value;

use crate::cli::access::Access;
use crate::cli::trouble::Trouble;

/// An issuer that has not answered by then is asked again later.
const PATIENCE: Duration = Duration::from_secs(10);

pub struct WebKeys(reqwest::Client);

impl WebKeys {
    /// Issuers are known by certificates that this computer trusts.
    pub fn new() -> Result<WebKeys, Trouble> {
        WebKeys::trusting(&Access::default())
    }

    fn trusting(access: &Access) -> Result<WebKeys, Trouble> {
        let tls = access.tls()?;
        let client = reqwest::Client::builder().timeout(PATIENCE).tls_backend_preconfigured(tls).https_only(true);
        let client = client.redirect(reqwest::redirect::Policy::none()).build();
        client.map(WebKeys).map_err(|problem| Trouble::failed(format!("issuers cannot be asked for their keys: {problem}")))
    }

    async fn get(&self, url: &str) -> Result<String, String> {
        let told = |problem: reqwest::Error| problem.without_url().to_string();
        let mut response = self.0.get(url).send().await.map_err(told)?;
        // A redirection is none that is followed: who is trusted must answer.
        if !response.status().is_success() {
            return Err(format!("it answers {}", response.status()));
        }
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(told)? {
            body.extend_from_slice(&piece);
            if body.len() > JWKS_MAX {
                return Err(format!("it answers more than {JWKS_MAX} bytes"));
            }
        }
        String::from_utf8(body).map_err(|_| "it answers no text".to_owned())
    }
}

#[async_trait]
impl KeyFetcher for WebKeys {
    async fn fetch(&self, issuer: &str) -> Result<String, String> {
        let discovery = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let found: Value =
            serde_json::from_str(&self.get(&discovery).await?).map_err(|_| "its discovery document is no JSON".to_owned())?;
        if found["issuer"].as_str() != Some(issuer) {
            return Err("its discovery document is of another issuer".to_owned());
        }
        let keys = found["jwks_uri"].as_str().ok_or("its discovery document names no keys")?;
        self.get(keys).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::Router;
    use axum::response::Redirect;
    use axum::routing::get;
    use store::{MemoryStore, SystemClock, Vault};
    use tokio::net::TcpListener;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::authority::Authority;

    /// An issuer on this computer: what it publishes, by the path that its address ends with.
    async fn publish() -> (String, WebKeys) {
        let vault = Vault::ephemeral(Arc::new(MemoryStore::new(Arc::new(SystemClock))));
        let authority = Authority::open(&vault).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("https://{}", listener.local_addr().unwrap());
        let discovery = |path: &str, issuer: String, keys: Option<String>| {
            let told = serde_json::json!({ "issuer": issuer, "jwks_uri": keys }).to_string();
            Router::new().route(&format!("{path}/.well-known/openid-configuration"), get(move || std::future::ready(told.clone())))
        };
        let keys = |name: &str| Some(format!("{address}/{name}"));
        let router = Router::new()
            .route("/keys", get(|| std::future::ready("{\"keys\":[]}")))
            .route("/endless", get(|| std::future::ready(" ".repeat(JWKS_MAX + 1))))
            .route("/elsewhere", get(|| std::future::ready(Redirect::temporary("/keys"))))
            .merge(discovery("/good", format!("{address}/good"), keys("keys")))
            .merge(discovery("/slash", format!("{address}/slash/"), keys("keys")))
            .merge(discovery("/other", address.clone(), keys("keys")))
            .merge(discovery("/without", format!("{address}/without"), None))
            .merge(discovery("/clear", format!("{address}/clear"), Some(address.replace("https", "http") + "/keys")))
            .merge(discovery("/large", format!("{address}/large"), keys("endless")))
            .merge(discovery("/sent", format!("{address}/sent"), keys("elsewhere")))
            .route("/garbled/.well-known/openid-configuration", get(|| std::future::ready("<html>")));
        let tls = authority.acceptor(&["127.0.0.1"]).unwrap();
        let welcome = api::Welcome::Either { tls, inside: router, outside: Router::new() };
        tokio::spawn(api::serve(listener, welcome, 16, CancellationToken::new()));
        let access = Access { authority: Some(authority.certificate().to_owned()), pass: None };
        (address, WebKeys::trusting(&access).unwrap())
    }

    #[tokio::test]
    async fn keys_come_from_where_the_issuer_itself_says_and_from_nowhere_else() {
        let (address, fetcher) = publish().await;
        let fetch = async |path: &str| fetcher.fetch(&format!("{address}/{path}")).await;
        assert_eq!(fetch("good").await.as_deref(), Ok("{\"keys\":[]}"));
        assert_eq!(fetch("slash/").await.as_deref(), Ok("{\"keys\":[]}"));
        assert_eq!(fetch("other").await.unwrap_err(), "its discovery document is of another issuer");
        assert_eq!(fetch("without").await.unwrap_err(), "its discovery document names no keys");
        assert_eq!(fetch("garbled").await.unwrap_err(), "its discovery document is no JSON");
        assert_eq!(fetch("large").await.unwrap_err(), format!("it answers more than {JWKS_MAX} bytes"));
        for path in ["nowhere", "sent", "clear"] {
            assert!(fetch(path).await.is_err(), "{path}: not found, sent elsewhere, or in the clear");
        }
        let stranger = WebKeys::new().unwrap();
        assert!(stranger.fetch(&format!("{address}/good")).await.is_err(), "this computer does not trust its certificate");
    }
}
