//! The HTTP client: requests to one server, pages of a list, and what is said when nobody answers.

use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderValue, IF_MATCH};
use reqwest::{Method, StatusCode, Url};
use serde_json::Value;
use uuid::Uuid;
use zeroize::Zeroizing;

use super::access::{Access, Pass, Secret};
use super::answer::{text_of, trouble_of};
use super::tokens::{Grant, Granted};
use super::trouble::{Exit, Trouble};

/// A server on this computer or in this building has accepted a connection by then, or never will.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Longer than the server waits for a keeper's verdict, so that its own explanation arrives first.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// An answer that somebody watches, as that of events, goes on for as long as they do, but not for ever.
const WATCH_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// The pause before a request whose connection broke is sent again: long enough for a server that restarts.
const RESEND_AFTER: Duration = Duration::from_millis(500);

/// The ARM paths want a version and compare it to nothing.
const API_VERSION: &str = "2026-07-01";

/// Items asked for on one page; the server's own limit.
const PAGE_SIZE: usize = 1_000;

/// A list that still goes on after these pages is going round in circles.
const PAGES_MAX: usize = 1_000;

/// What becomes of a request whose connection broke, after it may have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Broken {
    /// It is sent once more.
    Resent,
    /// Whoever asked is told, and looks.
    Told,
}

#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    server: Url,
    pass: Option<Pass>,
    /// What the server gave us for our login.
    token: Mutex<Option<Secret>>,
}

/// A request as somebody typed it.
#[derive(Clone, Debug)]
pub struct Typed {
    pub method: Method,
    /// A path with its query, or a whole address on the same server.
    pub path: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// A path on the server, and its query.
#[derive(Clone, Debug, Default)]
pub struct Target {
    segments: Vec<String>,
    query: Vec<(&'static str, String)>,
}

impl Target {
    /// A path of the ARM dialect.
    pub fn arm<'a>(segments: impl IntoIterator<Item = &'a str>) -> Target {
        Target { segments: segments.into_iter().map(str::to_owned).collect(), query: vec![("api-version", API_VERSION.to_owned())] }
    }

    /// A path of ours, under `rackwright/v1`.
    pub fn own<'a>(segments: impl IntoIterator<Item = &'a str>) -> Target {
        Target { segments: ["rackwright", "v1"].into_iter().chain(segments).map(str::to_owned).collect(), query: Vec::new() }
    }

    /// Any other path.
    pub fn bare<'a>(segments: impl IntoIterator<Item = &'a str>) -> Target {
        Target { segments: segments.into_iter().map(str::to_owned).collect(), query: Vec::new() }
    }

    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Target {
        self.query.push((name, value.into()));
        self
    }
}

impl Client {
    /// One client per command: its request id is the command's, so that a request sent twice is done once.
    pub fn new(server: &str, access: &Access) -> Result<Client, Trouble> {
        let server = parse_server(server)?;
        let mut headers = HeaderMap::new();
        let request_id = HeaderValue::from_str(&Uuid::new_v4().to_string()).expect("a UUID is plain ASCII");
        headers.insert("x-ms-client-request-id", request_id);
        let mut builder = reqwest::Client::builder()
            .default_headers(headers)
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(REQUEST_TIMEOUT)
            .tls_backend_preconfigured(access.tls()?)
            .redirect(reqwest::redirect::Policy::none());
        // A proxy between a computer and itself is always a mistake of the environment.
        if is_loopback(&server) {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|problem| Trouble::failed(format!("no HTTP client can be made: {problem}")))?;
        // A token that goes over the wire in the clear is everybody's.
        let pass = access.pass.clone().filter(|_| server.scheme() == "https");
        Ok(Client { http, server, pass, token: Mutex::default() })
    }

    pub async fn get(&self, target: &Target) -> Result<Value, Trouble> {
        self.get_url(self.url(target)).await
    }

    /// Every item of a list, page after page.
    pub async fn list(&self, target: &Target) -> Result<Vec<Value>, Trouble> {
        self.list_up_to(target, usize::MAX).await
    }

    /// The first items of a list; pages behind them are not fetched.
    pub async fn list_up_to(&self, target: &Target, max: usize) -> Result<Vec<Value>, Trouble> {
        let mut next = Some(self.url(&target.clone().with("$top", PAGE_SIZE.min(max).to_string())));
        let mut items = Vec::new();
        for _ in 0..PAGES_MAX {
            let Some(url) = next.filter(|_| items.len() < max) else {
                items.truncate(max);
                return Ok(items);
            };
            let mut page = self.get_url(url).await?;
            if let Some(Value::Array(value)) = page.get_mut("value").map(Value::take) {
                items.extend(value);
            }
            next = match page.get("nextLink").and_then(Value::as_str) {
                Some(link) => Some(self.own_link(link)?),
                None => None,
            };
        }
        Err(Trouble::failed(format!("the list at {} has more than {PAGES_MAX} pages", self.name())))
    }

    /// Sends it again, once, if the connection breaks: what is asked for is the same when it is asked for twice, or the server
    /// knows the request by its id and does it once.
    pub async fn post(&self, target: &Target, body: &Value) -> Result<Value, Trouble> {
        self.send(|| self.http.request(Method::POST, self.url(target)).json(body)).await
    }

    /// Sends what would be done twice if it were sent twice, as making a secret is: never again. `look` says how to find out whether it
    /// was done.
    pub async fn post_once(&self, target: &Target, body: &Value, look: &str) -> Result<Value, Trouble> {
        let request = || self.http.request(Method::POST, self.url(target)).json(body);
        let response = self.deliver(request, Broken::Told).await?;
        self.read_sent(response, look).await
    }

    /// Changes a resource, if it is still as the caller knows it.
    pub async fn patch(&self, target: &Target, body: &Value, if_match: Option<&HeaderValue>) -> Result<Value, Trouble> {
        self.send(|| {
            let request = self.http.request(Method::PATCH, self.url(target)).json(body);
            match if_match {
                Some(etag) => request.header(IF_MATCH, etag),
                None => request,
            }
        })
        .await
    }

    /// Makes a resource. The answer's body, and the address at which what becomes of it can be polled, if it takes longer.
    pub async fn put(&self, target: &Target, body: &Value) -> Result<(Value, Option<String>), Trouble> {
        let request = || self.http.request(Method::PUT, self.url(target)).json(body);
        let response = self.deliver(request, Broken::Resent).await?.map_err(|problem| self.no_answer(&problem))?;
        let polled = response.headers().get("azure-asyncoperation").and_then(|link| link.to_str().ok()).map(str::to_owned);
        let status = response.status();
        let text = response.bytes().await.map_err(|problem| self.no_answer(&problem))?;
        Ok((self.read(status, &text)?, polled))
    }

    pub async fn delete(&self, target: &Target) -> Result<Value, Trouble> {
        self.send(|| self.http.request(Method::DELETE, self.url(target))).await
    }

    async fn send(&self, request: impl Fn() -> reqwest::RequestBuilder) -> Result<Value, Trouble> {
        let response = self.deliver(request, Broken::Resent).await?;
        self.read_sent(response, "`rackwright operation list` tells whether it was accepted").await
    }

    /// An answer to what may have changed something, also if the answer itself was lost.
    async fn read_sent(&self, response: Result<reqwest::Response, reqwest::Error>, look: &str) -> Result<Value, Trouble> {
        let lost = |problem: reqwest::Error| {
            let trouble = self.no_answer(&problem);
            if problem.is_connect() { trouble } else { trouble.hint(look) }
        };
        let response = response.map_err(lost)?;
        let status = response.status();
        let body = response.bytes().await.map_err(lost)?;
        self.read(status, &body)
    }

    /// Sends a request with our token, and with a new token if the one we had is no longer taken.
    async fn deliver(
        &self,
        request: impl Fn() -> reqwest::RequestBuilder,
        broken: Broken,
    ) -> Result<Result<reqwest::Response, reqwest::Error>, Trouble> {
        let mut sent = self.signed(request()).await?.send().await;
        if broken == Broken::Resent && sent.as_ref().is_err_and(is_connection_loss) {
            tokio::time::sleep(RESEND_AFTER).await;
            sent = self.signed(request()).await?.send().await;
        }
        let is_refused = |response: &reqwest::Response| response.status() == StatusCode::UNAUTHORIZED;
        if sent.as_ref().is_ok_and(is_refused) && self.forget_token() {
            sent = self.signed(request()).await?.send().await;
        }
        Ok(sent)
    }

    async fn signed(&self, request: reqwest::RequestBuilder) -> Result<reqwest::RequestBuilder, Trouble> {
        Ok(match self.token().await? {
            Some(token) => request.bearer_auth(token.text()),
            None => request,
        })
    }

    /// What commands show the server, from the server itself if we have something to get a token with.
    pub async fn token(&self) -> Result<Option<Secret>, Trouble> {
        let grant = match &self.pass {
            None => return Ok(None),
            Some(Pass::Token(token)) => return Ok(Some(token.clone())),
            Some(Pass::Login(login)) => Grant::Login(login),
            Some(Pass::Person(person)) => Grant::Person(person),
        };
        if let Some(token) = self.lock_token().clone() {
            return Ok(Some(token));
        }
        let token = self.grant(grant).await?.token;
        *self.lock_token() = Some(token.clone());
        Ok(Some(token))
    }

    /// Asks the server for a token. What is shown for it is sent over https alone.
    pub async fn grant(&self, grant: Grant<'_>) -> Result<Granted, Trouble> {
        if self.server.scheme() != "https" {
            return Err(Trouble::new(Exit::Usage, format!("{} is no https address: nothing secret is sent there", self.name())));
        }
        let request = self.http.post(self.url(&Target::bare(["adfs", "oauth2", "token"]))).form(&grant.form());
        let response = request.send().await.map_err(|problem| self.no_answer(&problem))?;
        let status = response.status();
        let body = Zeroizing::new(response.bytes().await.map_err(|problem| self.no_answer(&problem))?.to_vec());
        grant.read(self.name(), status, &body)
    }

    /// Whether there was a token that can be had anew.
    fn forget_token(&self) -> bool {
        matches!(self.pass, Some(Pass::Login(_) | Pass::Person(_))) && self.lock_token().take().is_some()
    }

    fn lock_token(&self) -> std::sync::MutexGuard<'_, Option<Secret>> {
        self.token.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Asks for something that is not JSON, and hands the answer over as it comes, for at most `patience`.
    pub async fn fetch(&self, target: &Target, patience: Duration) -> Result<reqwest::Response, Trouble> {
        let request = || self.http.request(Method::POST, self.url(target)).timeout(patience);
        let response = self.deliver(request, Broken::Resent).await?.map_err(|problem| self.no_answer(&problem))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        let body = response.bytes().await.map_err(|problem| self.no_answer(&problem))?;
        self.read(status, &body)?;
        Err(Trouble::failed(format!("{} answered {status}, but not as Rackwright does", self.name())))
    }

    /// Sends what somebody typed, and hands the answer over as it comes, whatever it is.
    pub async fn ask(&self, typed: &Typed) -> Result<reqwest::Response, Trouble> {
        let url = self.typed_url(&typed.path)?;
        let request = || {
            let request = self.http.request(typed.method.clone(), url.clone()).headers(typed.headers.clone());
            request.body(typed.body.clone()).timeout(WATCH_TIMEOUT)
        };
        let silent = || Trouble::new(Exit::Unreachable, format!("{} did not answer within {}s", self.name(), REQUEST_TIMEOUT.as_secs()));
        // Only what HTTP calls idempotent: what any other request does twice, nobody here knows.
        let broken = if typed.method.is_idempotent() { Broken::Resent } else { Broken::Told };
        let answer = tokio::time::timeout(REQUEST_TIMEOUT, self.deliver(request, broken)).await.map_err(|_| silent())??;
        answer.map_err(|problem| self.no_answer(&problem))
    }

    pub async fn next_chunk(&self, response: &mut reqwest::Response) -> Result<Option<Bytes>, Trouble> {
        response.chunk().await.map_err(|problem| self.no_answer(&problem))
    }

    async fn get_url(&self, url: Url) -> Result<Value, Trouble> {
        let response = self.deliver(|| self.http.get(url.clone()), Broken::Resent).await?.map_err(|problem| self.no_answer(&problem))?;
        let status = response.status();
        let body = response.bytes().await.map_err(|problem| self.no_answer(&problem))?;
        self.read(status, &body)
    }

    fn read(&self, status: StatusCode, body: &[u8]) -> Result<Value, Trouble> {
        if status == StatusCode::NO_CONTENT && body.is_empty() {
            return Ok(Value::Null);
        }
        match serde_json::from_slice::<Value>(body) {
            Ok(value) if status.is_success() => Ok(value),
            Ok(value) if value.get("error").is_some_and(Value::is_object) => Err(trouble_of(status.as_u16(), &value)),
            _ => Err(Trouble::failed(format!("{} answered {status}, but not as Rackwright does", self.name()))
                .hint("check the address: `rackwright context show`, or `--server`")),
        }
    }

    fn url(&self, target: &Target) -> Url {
        let mut url = self.server.clone();
        url.path_segments_mut().expect("an http address has a path").pop_if_empty().extend(&target.segments);
        if !target.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&target.query);
        }
        url
    }

    fn typed_url(&self, path: &str) -> Result<Url, Trouble> {
        let is_path = path.starts_with('/') && !path.starts_with("//");
        let whole = if is_path { format!("{}{path}", self.name()) } else { path.to_owned() };
        match Url::parse(&whole) {
            Ok(url) if url.origin() == self.server.origin() => Ok(url),
            _ => Err(Trouble::new(Exit::Usage, format!("`{}` is no path on {}", text_of(path), self.name()))
                .hint("a path begins with one slash: `rackwright rest /rackwright/v1/status`")),
        }
    }

    /// A link to a next page, which must lead to the server that it came from.
    fn own_link(&self, link: &str) -> Result<Url, Trouble> {
        match self.server.join(link) {
            Ok(url) if url.origin() == self.server.origin() => Ok(url),
            _ => Err(Trouble::failed(format!("{} sends the list's next page elsewhere: {}", self.name(), text_of(link)))),
        }
    }

    /// The server as people type it.
    pub fn name(&self) -> &str {
        self.server.as_str().trim_end_matches('/')
    }

    fn no_answer(&self, problem: &reqwest::Error) -> Trouble {
        let name = self.name();
        if problem.is_timeout() && !problem.is_connect() {
            return Trouble::new(Exit::Unreachable, format!("{name} did not answer within {}s", REQUEST_TIMEOUT.as_secs()));
        }
        if problem.is_connect() {
            return Trouble::new(Exit::Unreachable, format!("nothing answers at {name}"))
                .hint("start it with `rackwright serve --config FILE` (`rackwright up` for a simulated site), or choose another with `--server` or `--context`");
        }
        Trouble::new(Exit::Unreachable, format!("the connection to {name} was lost"))
    }
}

/// The connection was there and broke: the request may have arrived.
fn is_connection_loss(problem: &reqwest::Error) -> bool {
    !problem.is_connect() && !problem.is_timeout() && !problem.is_builder()
}

fn parse_server(text: &str) -> Result<Url, Trouble> {
    let address = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let wrong = |why: &str| {
        Trouble::new(Exit::Usage, format!("`{}` is not a server's address: {why}", text_of(text)))
            .hint("for example `https://127.0.0.1:7225`")
    };
    let mut url = Url::parse(&address).map_err(|problem| wrong(&problem.to_string()))?;
    match url.scheme() {
        "http" | "https" => {}
        _ => return Err(wrong("it must begin with https://")),
    }
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

fn is_loopback(server: &Url) -> bool {
    let host = server.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_lack_its_scheme_and_keep_its_path() {
        let client = Client::new("localhost:7101/site/", &Access::default()).unwrap();
        let url = client.url(&Target::arm(["subscriptions", "s 1"]).with("$top", "5"));
        assert_eq!(url.as_str(), "https://localhost:7101/site/subscriptions/s%201?api-version=2026-07-01&%24top=5");
    }

    #[test]
    fn what_is_no_address_is_wrong_usage() {
        for text in ["ftp://example.com", "http://", "http://a b"] {
            assert_eq!(Client::new(text, &Access::default()).unwrap_err().exit, Exit::Usage, "{text}");
        }
    }

    #[test]
    fn a_next_page_on_another_server_is_not_fetched() {
        let client = Client::new("http://127.0.0.1:7101", &Access::default()).unwrap();
        assert!(client.own_link("http://127.0.0.1:7101/x?y=1").is_ok());
        assert!(client.own_link("http://127.0.0.1:7102/x").is_err());
    }

    #[test]
    fn loopback_is_known_in_all_its_spellings() {
        let is = |text: &str| is_loopback(&parse_server(text).unwrap());
        assert!(is("localhost:1") && is("127.0.0.1:1") && is("http://[::1]:1"));
        assert!(!is("http://10.0.0.1:1"));
    }
}
