//! One cluster on a store in memory, with everything around it that a request or a look goes through: the keeper's books, the
//! API and its cache. Nothing of it has a thread, and nothing but the sweeping of judged requests waits for a clock.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use api::{Api, Cache, KeeperWatch};
use axum::Router;
use axum::body::Body;
use axum::response::Response;
use bench::fleet;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::join_all;
use gate::OpenHouse;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use keeper::{Books, LEASE_TTL};
use model::{BootWay, Clock, Footing, Found, KeeperState, LookAt, Looked, MachineName, Power, Seen, Survey, keys};
use plan::Plan;
use store::{Fence, Revision, SharedStore, Watch};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

pub const MACHINES: u64 = 1_000;

/// Entries that the activity log holds from the beginning: a full page.
const ACTIVITIES: usize = 100;

/// Of these, what is written at once.
const AT_ONCE: usize = 10;

/// Longer than a judged request lies in the store before it is swept away, which then falls into what is counted next.
const SWEPT_WITHIN: Duration = Duration::from_millis(300);

/// Waits until judged requests are swept away.
pub async fn until_swept() {
    tokio::time::sleep(SWEPT_WITHIN).await;
}

pub struct Site {
    store: SharedStore,
    clock: Arc<dyn Clock>,
    fence: Fence,
    books: Books,
    /// What lands on the keeper's desk.
    requests: Box<dyn Watch>,
    router: Router,
    /// What every request shows.
    token: String,
}

/// A request that lies in the store.
pub struct Filed {
    key: String,
    request: model::Request,
    revision: Revision,
    answer: JoinHandle<Response>,
}

impl Site {
    /// A site where all is well, whose log has a page of entries, and whose keeper has nothing to do.
    pub async fn open(store: SharedStore, clock: Arc<dyn Clock>) -> io::Result<Site> {
        let description = fleet::site(1, MACHINES);
        let cluster = description.cluster.clone();
        fleet::settle(&store, clock.as_ref(), &[description]).await?;
        let lease = store.acquire_lease(&keys::keeper_lease(&cluster), "counts", LEASE_TTL).await.map_err(io::Error::other)?;
        let (books, revision) = Books::open(&store, &cluster, lease.fence(), clock.now()).await.map_err(io::Error::other)?;
        let requests = store.watch(&keys::requests_of(&cluster), revision).await.map_err(io::Error::other)?;
        let cache = Cache::load(&store).await.map_err(io::Error::other)?;
        tokio::spawn(cache.clone().follow(store.clone(), CancellationToken::new()));
        let keepers = Arc::new(BTreeMap::from([(cluster, keeping(clock.as_ref()))]));
        let gate = OpenHouse::open(clock.clone()).await;
        let router = api::router(Api::new(store.clone(), clock.clone(), cache, keepers, api::Process::default(), gate.gate()));
        let token = gate.token("counts");
        let mut site = Site { store, clock, fence: lease.fence(), books, requests, router, token };
        site.look_at_all();
        site.write_log().await;
        until_swept().await;
        Ok(site)
    }

    pub fn store(&self) -> &SharedStore {
        &self.store
    }

    /// Every BMC has answered and every node was listed.
    fn look_at_all(&mut self) {
        let now = self.clock.now();
        self.books.snapshot.undercloud.answered(now);
        let machines: Vec<_> = self.books.snapshot.machines.values().cloned().collect();
        for machine in machines {
            let node = (!machine.is_spare()).then(|| fleet::ready_node(&machine.name));
            self.books.observe(&machine.name, |observation| {
                observation.node = Some(Seen { what: node, at: now });
                false
            });
            keeper::note_power(&mut self.books, &machine.name, now, Ok(Power::On), now);
        }
        let plan = self.plan_all();
        self.commit(&plan);
    }

    /// Fills the activity log with what clients wrote, a few with one plan and one commit: a request is good for five seconds only, and
    /// under callgrind those are short.
    async fn write_log(&mut self) {
        let names: Vec<String> = self.books.snapshot.machines.keys().take(ACTIVITIES).map(ToString::to_string).collect();
        for names in names.chunks(AT_ONCE) {
            let mut filed = Vec::new();
            for name in names {
                filed.push(self.file(Method::PATCH, &machine_path(name, ""), r#"{"tags":{"row":"7"}}"#).await);
            }
            for filed in &filed {
                self.books.take_request(&filed.key, filed.request.clone(), filed.revision);
            }
            let plan = self.plan();
            self.commit(&plan);
            let answers = join_all(filed.into_iter().map(|filed| filed.answer)).await;
            assert!(answers.into_iter().all(|answer| answer.expect("the handler answers").status() == StatusCode::OK));
        }
    }

    fn plan(&mut self) -> Plan {
        self.books.plan(self.clock.now()).expect("no plan breaks an invariant")
    }

    pub fn plan_all(&mut self) -> Plan {
        self.books.mark_all();
        self.plan()
    }

    /// A machine is seen off, and planned for.
    pub fn plan_look(&mut self, machine: &str) -> Plan {
        let now = self.clock.now();
        keeper::note_power(&mut self.books, &name(machine), now, Ok(Power::Off), now);
        self.plan()
    }

    pub fn plan_request(&mut self, filed: &Filed) -> Plan {
        self.books.take_request(&filed.key, filed.request.clone(), filed.revision);
        self.plan()
    }

    /// What a keeper does with a plan before it asks anybody.
    pub fn commit(&mut self, plan: &Plan) {
        let commit = self.books.commit_of(plan, self.clock.now(), self.fence.clone());
        let keys: Vec<String> = commit.writes.keys().cloned().collect();
        let committed = self.store.commit(commit).now_or_never().expect("a store in memory does not wait");
        self.books.settle(plan, &keys, Some(committed.expect("nobody else writes")));
    }

    /// A client asks for a restart. It is over when the request lies before the keeper.
    pub async fn submit(&mut self, machine: &str) -> Filed {
        self.file(Method::POST, &machine_path(machine, "/restart"), "").await
    }

    /// The same of a reimage, of a machine whose BMC was surveyed just now.
    pub async fn submit_reimage(&mut self, machine: &str) -> Filed {
        let now = self.clock.now();
        let survey = Survey { ways: BootWay::ALL.to_vec(), jobs: Some(Vec::new()) };
        let looked = Arc::new(Looked { began_at: now, ended_at: now, found: Ok(Found::Survey(survey)) });
        self.books.observe(&name(machine), |observation| {
            observation.looked.insert(LookAt::Survey, looked);
            false
        });
        self.file(Method::POST, &machine_path(machine, "/reimage"), r#"{"safeguardMode":"None"}"#).await
    }

    /// Makes the version known that the cluster runs.
    pub async fn import_runtime(&mut self) {
        let version = self.books.snapshot.cluster.version.clone();
        let home = format!("/subscriptions/{}/resourceGroups/site1", fleet::SUBSCRIPTION);
        let path = format!("{home}/providers/Microsoft.NetworkCloud/clusters/site1/runtimes/{version}?api-version=1");
        let filed = self.file(Method::PUT, &path, scenarios::runtime(&version).to_string()).await;
        let plan = self.plan_request(&filed);
        self.commit(&plan);
        let answer = filed.answer.await.expect("the handler answers");
        assert_eq!(answer.status(), StatusCode::CREATED);
        until_swept().await;
    }

    async fn file(&mut self, method: Method, path: &str, body: impl Into<Bytes>) -> Filed {
        let request = self.request(method, path, body);
        let answer = tokio::spawn(self.router.clone().oneshot(request).map(|answer| answer.unwrap_or_else(|never| match never {})));
        loop {
            for change in self.requests.next().await.expect("the store is open") {
                let Some(value) = &change.value else {
                    self.books.drop_request(&change.key);
                    continue;
                };
                let request: model::Request = serde_json::from_slice(value).expect("the API writes requests");
                // A verdict is nothing new to whoever gave it.
                if request.verdict.is_none() {
                    return Filed { key: change.key, request, revision: change.revision, answer };
                }
            }
        }
    }

    /// Reads a page of the API: its path from the subscription on, or from the root. Returns its length.
    pub async fn read(&self, path: &str) -> usize {
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/subscriptions/{}/{path}", fleet::SUBSCRIPTION) };
        let answer = self.ask(&path).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        answer.into_body().collect().await.expect("the body is whole").to_bytes().len()
    }

    /// Somebody who hears of every change, and has heard the greeting.
    pub async fn listen(&self) -> Listener {
        let mut listener = Listener(self.ask("/rackwright/v1/events").await.into_body());
        listener.hear().await;
        listener
    }

    async fn ask(&self, path: &str) -> Response {
        self.router.clone().oneshot(self.request(Method::GET, path, "")).await.unwrap_or_else(|never| match never {})
    }

    fn request(&self, method: Method, path: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
        let request = Request::builder().method(method).uri(path).header("host", "localhost").header("content-type", "application/json");
        let request = request.header("authorization", format!("Bearer {}", self.token));
        request.body(Full::new(body.into())).expect("the request is well formed")
    }
}

impl Filed {
    /// The answer that the client gets once the cache has seen the verdict.
    pub async fn answered(self) {
        let answer = self.answer.await.expect("the handler answers");
        assert_eq!(answer.status(), StatusCode::ACCEPTED);
    }
}

pub struct Listener(Body);

impl Listener {
    /// Waits for the next piece of the stream, which is what was committed since the last one.
    pub async fn hear(&mut self) -> Bytes {
        let piece = self.0.frame().await.expect("the stream goes on").expect("nothing breaks it");
        piece.into_data().expect("a stream of events has no trailers")
    }
}

fn machine_path(machine: &str, rest: &str) -> String {
    let home = format!("/subscriptions/{}/resourceGroups/site1", fleet::SUBSCRIPTION);
    format!("{home}/providers/Microsoft.NetworkCloud/bareMetalMachines/{machine}{rest}?api-version=1")
}

fn name(machine: &str) -> MachineName {
    MachineName::new(machine).expect("a constant name")
}

/// The word of a keeper that keeps. Whoever holds the other ends says nothing more.
fn keeping(clock: &dyn Clock) -> KeeperWatch {
    KeeperWatch {
        state: watch::channel(KeeperState::Keeping { since: clock.now() }).1,
        footing: watch::channel(Footing::default()).1,
        site_file: watch::channel(None).1,
    }
}
