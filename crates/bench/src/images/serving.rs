//! The measured process: store, cache, API and install face, put together as `rackwright serve` does it, without keepers. Each face has
//! threads of its own.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use gate::OpenHouse;
use http::Request;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use model::{Clock, ClusterName};
use store::{SharedStore, SqliteStore, SystemClock};
use ticket::InstallKey;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::door::Door;
use crate::process::Process;

/// The argument that makes our binary this process; the directory and the total rate follow it.
const ARGUMENT: &str = "--image-plane";

const LISTENING: &str = "listening on ";

/// Of the one cluster that there is.
pub fn key() -> io::Result<InstallKey> {
    InstallKey::from_bytes(&[7; ticket::KEY_BYTES]).ok_or_else(|| io::Error::other("a key cannot be made"))
}

/// The process, as the one that measures sees it.
pub struct Served {
    pub process: Process,
    pub api: Door,
    pub install: SocketAddr,
}

impl Served {
    /// Starts it on a directory that nobody has open. It ends when it is dropped.
    pub fn start(directory: &Path, total_rate: Option<NonZeroU64>) -> io::Result<Served> {
        let rate = total_rate.map_or(0, NonZeroU64::get).to_string();
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.arg(ARGUMENT).arg(directory).arg(rate).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("the child has no stdout"))?;
        let process = Process::of(child);
        let greeting = BufReader::new(stdout).lines().next().transpose()?.unwrap_or_default();
        let told: Vec<&str> = greeting.strip_prefix(LISTENING).unwrap_or_default().split(' ').collect();
        let served = match told[..] {
            [api, token, install] => api.parse().ok().map(|api| Door::in_the_clear(api, token)).zip(install.parse().ok()),
            _ => None,
        };
        let (api, install) = served.ok_or_else(|| io::Error::other(format!("the measured process says `{greeting}`")))?;
        Ok(Served { process, api, install })
    }
}

/// Serves until it is killed, if the arguments say so.
pub fn serve_if_asked() -> Option<io::Result<()>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [first, directory, rate] = &arguments[..] else { return None };
    (first == ARGUMENT).then(|| serve(directory.as_ref(), rate.parse().ok().and_then(NonZeroU64::new)))
}

fn serve(directory: &Path, total: Option<NonZeroU64>) -> io::Result<()> {
    let (clients, machines) = (Runtime::new()?, Runtime::new()?);
    let shutdown = CancellationToken::new();
    let (api, listener, token) = clients.block_on(async {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let store: SharedStore = Arc::new(SqliteStore::open(directory, clock.clone()).map_err(io::Error::other)?);
        let cache = api::Cache::load(&store).await.map_err(io::Error::other)?;
        tokio::spawn(cache.clone().follow(store.clone(), shutdown.clone()));
        let house = OpenHouse::open(clock.clone()).await;
        let api = api::Api::new(store, clock, cache, Arc::default(), api::Process::default(), house.gate());
        io::Result::Ok((api, TcpListener::bind("127.0.0.1:0").await?, house.token("bench")))
    })?;
    let address = listener.local_addr()?;
    clients.spawn(api::serve(listener, api::router(api.clone()), api::MAX_CONNECTIONS, shutdown.clone()));
    machines.block_on(async {
        let depot = api::Depot::in_directory(Arc::new(Web::new()), &directory.join("images"), u64::MAX)?;
        let cluster = ClusterName::new("site1").map_err(io::Error::other)?;
        let face = api::InstallFace::new(api, BTreeMap::from([(cluster, key()?)]), depot.into(), "http://install.invalid");
        let router = api::install_router(face.with_rates(api::Rates { each: None, total }));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        say(&format!("{LISTENING}{address} {token} {}", listener.local_addr()?))?;
        api::serve(listener, router, api::MAX_IN_FLIGHT, shutdown).await;
        Ok(())
    })
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// Fetches from the process that measures.
struct Web(Client<HttpConnector, Body>);

impl Web {
    fn new() -> Web {
        Web(Client::builder(TokioExecutor::new()).build(HttpConnector::new()))
    }
}

impl api::Fetch for Web {
    fn open<'a>(&'a self, url: &'a str, rest: &'a api::Rest) -> BoxFuture<'a, Result<api::Coming, api::Unfetched>> {
        async move {
            let told = |problem: &dyn std::fmt::Display| api::Unfetched(problem.to_string());
            let request = Request::get(url).body(Body::from(Bytes::new())).map_err(|problem| told(&problem))?;
            api::Coming::of(self.0.request(request).await.map_err(|problem| told(&problem))?, rest)
        }
        .boxed()
    }
}
