//! What simulated machines ask over the network, in the words of the installation exchange.
//!
//! `world` says what is asked and makes something of the answer; here are only requests and answers.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::StreamExt;
use http::{Method, Request, StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use world::{AgentConfig, BootSource, Errand, FirstBoot, Join, Outcome, PhoneHome, Session};

use crate::images;
use crate::net::{Net, TrustedCa};

/// How long one answer may take, as long as it is. I/O is never scaled with the site's speed.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// The longest image that a machine is started from here, and the longest other answer.
const MEDIA_LIMIT: usize = 64 * 1_024 * 1_024;
const ANSWER_LIMIT: usize = 1_024 * 1_024;

/// What a machine needs beside its errand.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub net: Option<Arc<dyn Net>>,
    /// The server that answers those who start over PXE.
    pub pxe: Option<String>,
    /// Of the port that the machine starts from.
    pub boot_mac: String,
}

/// An answer that is of no use, or none.
type Heard<T> = Result<T, Outcome>;

#[expect(clippy::needless_pass_by_value, reason = "as what errors are mapped by, it is given them")]
fn silence(why: impl ToString) -> Outcome {
    Outcome::Silence { why: why.to_string() }
}

impl Way {
    pub async fn run(&self, errand: Errand) -> Outcome {
        let outcome = tokio::time::timeout(ANSWER_TIMEOUT, self.ask(errand)).await;
        match outcome.unwrap_or_else(|_| Err(silence("no answer in time"))) {
            Ok(outcome) | Err(outcome) => outcome,
        }
    }

    async fn ask(&self, errand: Errand) -> Heard<Outcome> {
        match errand {
            Errand::FetchMedia { source } => self.fetch_media(&source).await,
            Errand::Exchange { config, machine, nonce } => {
                let request = call(Method::POST, &attempt_url(&config, "exchange"), Some(&config.token), config.ca.as_deref());
                let body = self.answer(with_json(request, &json!({ "machine": machine, "nonce": nonce }))).await?;
                // The parser's own words could quote a token.
                let grant = serde_json::from_slice(&body).map_err(|_| silence("the answer is no session"))?;
                Ok(Outcome::Granted(Box::new(grant)))
            }
            Errand::FetchImage { session, is_spoiled } => self.fetch_image(&session, is_spoiled).await,
            Errand::Report { session, report } => {
                let request = in_session(Method::POST, &session, "report");
                let report = serde_json::to_value(&report).map_err(silence)?;
                self.answer(with_json(request, &report)).await.map(|_| Outcome::Done)
            }
            Errand::SendInventory { session, found } => {
                let found = serde_json::to_value(&found).map_err(silence)?;
                self.answer(with_json(in_session(Method::POST, &session, "inventory"), &found)).await.map(|_| Outcome::Done)
            }
            Errand::SendLog { session, log } => {
                let request = in_session(Method::POST, &session, "log").header(header::CONTENT_TYPE, "text/plain; charset=utf-8");
                self.answer(request.body(Bytes::from(log)).map_err(silence)).await.map(|_| Outcome::Done)
            }
            Errand::FetchSeed { session } => {
                let body = self.answer(empty(in_session(Method::GET, &session, "seed"))).await?;
                let seed: Seed = serde_json::from_slice(&body).map_err(|_| silence("the answer is no first-boot configuration"))?;
                Ok(Outcome::Seed(Box::new(read_seed(&seed.user_data, session.config.ca))))
            }
            Errand::PhoneHome { home, ca } => {
                let request = call(Method::POST, &home.url, Some(&home.token), ca.as_deref());
                self.answer(empty(request)).await.map(|_| Outcome::Done)
            }
        }
    }

    async fn fetch_media(&self, source: &BootSource) -> Heard<Outcome> {
        let url = match source {
            BootSource::Cd { image: url } | BootSource::Usb { image: url } | BootSource::Http { uri: url } => url.clone(),
            BootSource::Pxe => {
                let server = self.pxe.as_ref().ok_or_else(|| silence("no boot server answers"))?;
                format!("{server}/install/v1/pxe/{}", self.boot_mac.to_ascii_lowercase())
            }
            BootSource::Disk | BootSource::Setup => return Err(silence("nothing to fetch")),
        };
        let response = self.send(empty(call(Method::GET, &url, None, None))).await?;
        let image = axum::body::to_bytes(response.into_body(), MEDIA_LIMIT).await.map_err(silence)?;
        let config = images::read_config(&image).ok_or_else(|| silence("the image has no place for a configuration"))?;
        let config: AgentConfig = serde_json::from_slice(config).map_err(|_| silence("the image has no configuration"))?;
        Ok(Outcome::Media(Box::new(config)))
    }

    /// Nothing of the image is kept but what it says of itself. Only whoever gave the session is shown it.
    async fn fetch_image(&self, session: &Session, is_spoiled: bool) -> Heard<Outcome> {
        let Session { config, grant } = session;
        let is_ours = grant.image.url.strip_prefix(&config.url).is_some_and(|path| path.starts_with('/'));
        let token = is_ours.then_some(grant.session.as_str());
        let request = call(Method::GET, &grant.image.url, token, config.ca.as_deref());
        let mut chunks = self.send(empty(request)).await?.into_body().into_data_stream();
        let (mut digest, mut bytes, mut head) = (Sha256::new(), 0, Vec::new());
        while let Some(chunk) = chunks.next().await {
            let mut chunk = chunk.map_err(silence)?.to_vec();
            if let (true, 0, Some(first)) = (is_spoiled, bytes, chunk.first_mut()) {
                *first = !*first;
            }
            digest.update(&chunk);
            bytes += chunk.len() as u64;
            let room = images::SYSTEM_HEAD.saturating_sub(head.len());
            head.extend_from_slice(&chunk[..room.min(chunk.len())]);
        }
        Ok(Outcome::Image { bytes, sha256: images::hex(&digest.finalize()), release: images::read_release(&head) })
    }

    async fn answer(&self, request: Heard<Request<Bytes>>) -> Heard<Bytes> {
        let response = self.send(request).await?;
        axum::body::to_bytes(response.into_body(), ANSWER_LIMIT).await.map_err(silence)
    }

    /// The answer, if it is a good one. A server in trouble is no better than none; one that says no is believed.
    async fn send(&self, request: Heard<Request<Bytes>>) -> Heard<Response<Body>> {
        let net = self.net.as_ref().ok_or_else(|| silence("the machine is not plugged into any network"))?;
        let response = net.send(request?).await.map_err(silence)?;
        let status = response.status();
        let is_passing = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS].contains(&status);
        match status {
            status if status.is_success() => Ok(response),
            status if status.is_client_error() && !is_passing => Err(Outcome::Refused { status: status.as_u16() }),
            status => Err(silence(format!("it answers {status}"))),
        }
    }
}

fn attempt_url(config: &AgentConfig, what: &str) -> String {
    let AgentConfig { url, cluster, operation, round, .. } = config;
    format!("{url}/install/v1/attempts/{cluster}/{operation}/{round}/{what}")
}

fn in_session(method: Method, session: &Session, what: &str) -> http::request::Builder {
    let Session { config, grant } = session;
    call(method, &attempt_url(config, what), Some(&grant.session), config.ca.as_deref())
}

fn call(method: Method, url: &str, token: Option<&str>, ca: Option<&str>) -> http::request::Builder {
    let mut request = Request::builder().method(method).uri(url);
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    if let Some(ca) = ca {
        request = request.extension(TrustedCa(ca.to_owned()));
    }
    request
}

fn empty(request: http::request::Builder) -> Heard<Request<Bytes>> {
    request.body(Bytes::new()).map_err(silence)
}

fn with_json(request: http::request::Builder, body: &Value) -> Heard<Request<Bytes>> {
    request.header(header::CONTENT_TYPE, "application/json").body(Bytes::from(body.to_string())).map_err(silence)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Seed {
    user_data: String,
}

/// What a simulated system understands of user data; the rest is for programs that it does not have.
#[derive(Default, Deserialize)]
struct UserData {
    phone_home: Option<Home>,
    join: Option<Cluster>,
    etcd: Option<Member>,
}

#[derive(Deserialize)]
struct Home {
    url: String,
    token: String,
}

#[derive(Deserialize)]
struct Cluster {
    api_url: String,
    token: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Member {
    initial_advertise_peer_urls: String,
    initial_cluster: String,
    initial_cluster_state: String,
}

impl Member {
    /// As etcd sees it: who is not in its own initial cluster does not start, and who would found one anew finds no data.
    fn peer_url(self) -> Option<String> {
        let url = self.initial_advertise_peer_urls;
        let is_listed = self.initial_cluster.split(',').any(|member| member.split_once('=').is_some_and(|(_, listed)| listed == url));
        (is_listed && self.initial_cluster_state == "existing").then_some(url)
    }
}

/// A configuration that cannot be read does nothing, as on a real machine: nobody is there to complain to.
fn read_seed(user_data: &str, ca: Option<String>) -> FirstBoot {
    let UserData { phone_home, join, etcd } = serde_saphyr::from_str(user_data).unwrap_or_default();
    FirstBoot {
        phone_home: phone_home.map(|Home { url, token }| PhoneHome { url, token }),
        join: join.map(|Cluster { api_url, token }| Join { api_url, token }),
        etcd: etcd.and_then(Member::peer_url),
        ca,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_of_etcd_starts_only_by_a_configuration_that_lists_it() {
        let etcd = |own: &str, listed: &str, state: &str| {
            let text =
                format!("etcd:\n  initial-advertise-peer-urls: {own}\n  initial-cluster: {listed}\n  initial-cluster-state: {state}\n");
            read_seed(&text, None).etcd
        };
        let others = "b=https://b:2380,c=https://c:2380";
        assert_eq!(etcd("https://a:2380", &format!("{others},a=https://a:2380"), "existing").as_deref(), Some("https://a:2380"));
        assert_eq!(etcd("https://a:2380", others, "existing"), None);
        assert_eq!(etcd("https://a:2380", "a=https://a:2380", "new"), None);
    }

    #[test]
    fn a_seed_is_read_among_whatever_else_it_says() {
        let text = "#cloud-config\nhostname: rack1compute01\nusers:\n  - name: operator\nphone_home:\n  url: http://c/p\n  token: t\n\
                    join:\n  api_url: https://k\n  token: abcdef.0123456789abcdef\n";
        let first_boot = read_seed(text, None);
        assert_eq!(first_boot.phone_home.unwrap().url, "http://c/p");
        assert_eq!(first_boot.join.unwrap().token, "abcdef.0123456789abcdef");
        assert_eq!(first_boot.etcd, None);
        let nothing = read_seed("phone_home: [", None);
        assert!(nothing.phone_home.is_none() && nothing.join.is_none());
    }
}
