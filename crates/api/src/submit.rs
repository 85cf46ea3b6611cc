//! Handing a request to its cluster's keeper through the store, and waiting for the verdict.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Ask, Attempt, ClusterName, MachineReport, Operation, REQUEST_LIFE, Request, RequestId, RequestKey, Span, Verdict, keys};
use sha2::{Digest, Sha256};
use store::{Commit, Expected, Revision, StoreError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::{Instrument, error, info_span};
use uuid::Uuid;

use crate::activity::rejections;
use crate::call::Call;
use crate::codes::Code;
use crate::entry;
use crate::reply::{RETRY_AFTER, Refused};
use crate::{Api, broom};

/// Requests of one cluster that may wait for their verdict at once. More are told to come back.
pub const MAX_PENDING: usize = 1_024;

/// A verdict given in the last moment of a request's life takes this long to be committed and seen.
const VERDICT_GRACE: Span = Span::seconds(1);

/// How long a request that is being answered may take when nothing is wrong but its keeper: it waits for its verdict, and is
/// taken back. Whoever stops the process waits as long for the last answers.
pub const ANSWER_TIMEOUT: Span = Span::millis(REQUEST_LIFE.as_millis() + VERDICT_GRACE.as_millis() + WITHDRAWAL.as_millis());

/// What taking a request back, and saying so, takes.
const WITHDRAWAL: Span = Span::seconds(1);

/// How long a cache that missed a verdict may take to read everything again; a client's patience ends soon after.
const CATCH_UP_TIMEOUT: Span = Span::seconds(5);

/// The requests of each cluster that wait in this process. The cache tells of those of other processes, a little late.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queues(Arc<Mutex<BTreeMap<ClusterName, Arc<Semaphore>>>>);

impl Queues {
    /// A place in a cluster's queue, kept until it is dropped.
    fn enter(&self, cluster: &ClusterName) -> Option<OwnedSemaphorePermit> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = queues.entry(cluster.clone()).or_insert_with(|| Arc::new(Semaphore::new(MAX_PENDING)));
        Arc::clone(queue).try_acquire_owned().ok()
    }
}

/// What the keeper said, once the cache has it too: a read that follows sees what was done.
pub(crate) async fn submit(api: &Api, call: &Call, cluster: &ClusterName, ask: Ask, body: &[u8]) -> Result<Verdict, Refused> {
    hand_in(api, request_of(api, call, cluster, ask, body)?).await
}

/// What a keeper is asked on somebody's behalf, if no policy denies it.
pub(crate) fn request_of(api: &Api, call: &Call, cluster: &ClusterName, ask: Ask, body: &[u8]) -> Result<Request, Refused> {
    entry::check_policies(api, call, cluster, &ask)?;
    let now = api.clock.now();
    // A preview begins nothing that could be found again.
    let key = if ask.is_preview() { None } else { request_key(call, body) };
    Ok(Request {
        id: RequestId::new(Uuid::new_v4().to_string()),
        cluster: cluster.clone(),
        ask,
        caller: call.caller(),
        correlation_id: call.correlation_id.clone(),
        key,
        sent: Some(call.sent()),
        received_at: now,
        expires_at: now + REQUEST_LIFE,
        verdict: None,
    })
}

/// The verdict on what a machine that is being installed tells of itself.
pub(crate) async fn submit_report(api: &Api, operation: &Operation, attempt: Attempt, report: MachineReport) -> Result<Verdict, Refused> {
    let now = api.clock.now();
    let request = Request {
        id: RequestId::new(Uuid::new_v4().to_string()),
        cluster: attempt.cluster.clone(),
        caller: attempt.machine.to_string(),
        correlation_id: operation.correlation_id.clone(),
        key: None,
        sent: None,
        received_at: now,
        expires_at: now + REQUEST_LIFE,
        verdict: None,
        ask: Ask::Report { attempt, report },
    };
    hand_in(api, request).await
}

/// Leaves a request with its keeper, if there is room in the queue.
pub(crate) async fn hand_in(api: &Api, request: Request) -> Result<Verdict, Refused> {
    let cluster = &request.cluster;
    let place = api.queues.enter(cluster).filter(|_| api.cache.view().pending(cluster) < MAX_PENDING).ok_or_else(|| {
        let message = format!("{MAX_PENDING} requests are waiting for cluster `{cluster}`");
        Refused::new(Code::TooManyRequests, message).retry_after(RETRY_AFTER)
    })?;
    let filing = api.clone();
    see_through(api, async move {
        let verdict = file(&filing, &request).await;
        drop(place);
        verdict
    })
    .await
}

/// Does something to its end, whether or not its client waits for it: a client that goes away leaves neither its request nor its verdict
/// in the store, and what is set aside for a request stays so for as long as it may be granted.
pub(crate) async fn see_through<T: Send + 'static>(
    api: &Api,
    work: impl Future<Output = Result<T, Refused>> + Send + 'static,
) -> Result<T, Refused> {
    // A stop waits for it as for an answer.
    let answering = api.process.answering.token();
    let done = tokio::spawn(async move {
        let _answering = answering;
        work.await
    });
    match done.await {
        Ok(done) => done,
        Err(stopped) if stopped.is_panic() => std::panic::resume_unwind(stopped.into_panic()),
        Err(_) => Err(outcome_unknown("the server is stopping")),
    }
}

/// Leaves a request for its keeper, waits for the verdict, and has both swept away.
async fn file(api: &Api, request: &Request) -> Result<Verdict, Refused> {
    let key = keys::request(&request.cluster, &request.id);
    let document = serde_json::to_vec(request).expect("a request has string keys and no failing serializers");
    let filing = Commit::default().expect(key.clone(), Expected::Absent).put(key.clone(), document);
    let revision = api.store.commit(filing).await.map_err(|e| store_failed(&e))?;
    let span = info_span!("verdict", cluster = %request.cluster, correlation_id = %request.correlation_id);
    let verdict = match wait_for_verdict(api, &request.id).instrument(span).await {
        Some(verdict) => verdict,
        None => withdraw(api, request, &key, revision).await?,
    };
    broom::sweep_soon(api, key);
    match verdict {
        // The keeper has written it down with its verdict.
        Verdict::Refused { refusal } => Err(Refused::by_rule(refusal).in_log()),
        accepted => Ok(accepted),
    }
}

/// The verdict, if the cache sees one in time.
async fn wait_for_verdict(api: &Api, id: &RequestId) -> Option<Verdict> {
    tokio::time::timeout((REQUEST_LIFE + VERDICT_GRACE).to_std(), api.cache.verdict(id)).await.ok()
}

/// Takes a request back that nobody has judged in time, so that nobody ever does. A verdict that came first counts.
async fn withdraw(api: &Api, request: &Request, key: &str, revision: Revision) -> Result<Verdict, Refused> {
    let message = format!("no keeper of cluster `{}` answered in time; the request was not carried out", request.cluster);
    let unavailable = Refused::new(Code::KeeperUnavailable, message).retry_after(RETRY_AFTER);
    let mut withdrawal = Commit::default().expect(key, Expected::At(revision)).delete(key);
    withdrawal.records.extend(rejections::withdrawn(&api.cache.view(), request, &unavailable));
    match api.store.commit(withdrawal).await {
        Ok(_) => Err(unavailable.in_log()),
        Err(StoreError::Conflict { .. }) => load_verdict(api, key).await,
        Err(problem) => {
            error!(error = %problem, "a request that nobody judged could not be taken back");
            Err(outcome_unknown("the request could not be taken back after no keeper answered in time"))
        }
    }
}

/// The verdict as the store has it, for a cache that has fallen behind.
async fn load_verdict(api: &Api, key: &str) -> Result<Verdict, Refused> {
    let document = api.store.get(key).await.map_err(|problem| {
        error!(error = %problem, "a verdict could not be read");
        outcome_unknown("the request was judged, but the verdict cannot be read")
    })?;
    let judged = document.and_then(|found| Some((serde_json::from_slice::<Request>(&found.value).ok()?.verdict?, found.revision)));
    let (verdict, revision) = judged.ok_or_else(|| outcome_unknown("the request is gone, and its verdict with it"))?;
    let mut changes = api.cache.changes();
    let caught_up = tokio::time::timeout(CATCH_UP_TIMEOUT.to_std(), changes.wait_for(|seen| *seen >= revision)).await;
    if caught_up.is_err() {
        return Err(outcome_unknown("the request was judged, but what came of it cannot be read yet"));
    }
    Ok(verdict)
}

/// For the moments in which neither yes nor no would be true. Nor would an entry of ours: whoever judges the request, or
/// finds that it has expired, writes down what came of it.
fn outcome_unknown(what: &str) -> Refused {
    let message = format!("{what}; `rackwright operation list` tells whether it was accepted");
    Refused::new(Code::StoreUnavailable, message).retry_after(RETRY_AFTER).in_log()
}

/// Equal for the same caller, client request id, method, path, acceptance of an outage, preconditions, and body: what
/// decides what is done. `api-version` is never compared, and so it is no part of it.
fn request_key(call: &Call, body: &[u8]) -> Option<RequestKey> {
    let client_request_id = call.client_request_id()?;
    let mut hash = Sha256::new();
    let path = call.path.to_ascii_lowercase();
    let outage = call.query("acceptControlPlaneOutage").unwrap_or_default();
    let conditions: Vec<&str> = ["if-match", "if-none-match"]
        .into_iter()
        .flat_map(|name| call.header_lines(name).chain([None]))
        .map(Option::unwrap_or_default)
        .collect();
    let conditions = conditions.join("\n");
    // The id rather than the name: two people may have one name, and one person may be given another.
    let caller = call.sight().map_or_else(|_| call.caller(), |sight| sight.caller().principal.to_string());
    let parts = [&caller, &client_request_id, call.method.as_str(), &path, outage, &conditions];
    for part in parts.into_iter().map(str::as_bytes).chain([body]) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let hex: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Some(RequestKey::new(hex))
}

fn store_failed(problem: &StoreError) -> Refused {
    error!(error = %problem, "a request could not be stored");
    let message = match problem {
        StoreError::DiskFull { .. } => "the store's disk is full; nothing was changed",
        StoreError::ReadOnly { .. } => "the store's disk is read-only; nothing was changed",
        _ => "the store cannot be written; nothing was changed",
    };
    Refused::new(Code::StoreUnavailable, message).retry_after(RETRY_AFTER)
}

#[cfg(test)]
mod tests {
    use http::{Method, StatusCode};
    use model::OperationId;
    use serde_json::Value;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::fixtures::{Documents, NOW, cluster, machine, operation, send};

    const PATH: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/bareMetalMachines/m1/restart?api-version=1";

    async fn service() -> Api {
        Documents::default().cluster(&cluster("site")).machine(&machine("site", "rack1", "m1")).serve().await
    }

    /// Sends a restart; the answer comes when it comes.
    fn begin_restart(api: &Api) -> tokio::task::JoinHandle<(StatusCode, Value)> {
        let api = api.clone();
        tokio::spawn(async move { send(&api, Method::POST, PATH, "").await })
    }

    /// Judges the one request there is, as a keeper would.
    async fn judge(api: &Api, verdict: Verdict) {
        tokio::time::sleep(std::time::Duration::from_secs(4)).await;
        let found = api.store.list(keys::REQUESTS).await.unwrap().documents.remove(0);
        let mut request: Request = serde_json::from_slice(&found.value).unwrap();
        let mut commit = Commit::default().expect(found.key.as_str(), Expected::At(found.revision));
        if let Verdict::Accepted { operation: id } = &verdict {
            let accepted = operation(id.as_str(), "site", "m1", model::Timestamp::parse(NOW).unwrap());
            commit = commit.put(keys::operation(&accepted.cluster, id), serde_json::to_vec(&accepted).unwrap());
        }
        request.verdict = Some(verdict);
        api.store.commit(commit.put(found.key, serde_json::to_vec(&request).unwrap())).await.unwrap();
    }

    /// How many entries the API has written; those of a keeper are not there, since nobody is one here.
    async fn logged(api: &Api) -> usize {
        // Whatever is on its way gets there while everybody else waits.
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        api.store.read_log(store::LogQuery { limit: 10, ..store::LogQuery::default() }).await.unwrap().len()
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_accepted_and_is_gone_is_not_called_a_failure() {
        let api = service().await;
        let follower = tokio::spawn(api.cache.clone().follow(api.store.clone(), CancellationToken::new()));
        let answer = begin_restart(&api);
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        let found = api.store.list(keys::REQUESTS).await.unwrap().documents.remove(0);
        let mut request: Request = serde_json::from_slice(&found.value).unwrap();
        // The operation itself is swept away before anybody reads it.
        request.verdict = Some(accepted());
        api.store.commit(Commit::default().put(found.key, serde_json::to_vec(&request).unwrap())).await.unwrap();
        let (status, body) = answer.await.unwrap();
        assert_eq!((status, &body["error"]["code"]), (StatusCode::NOT_FOUND, &Value::from("ResourceNotFound")));
        assert_eq!(logged(&api).await, 0, "its keeper has written down that it was accepted");
        follower.abort();
    }

    fn accepted() -> Verdict {
        Verdict::Accepted { operation: OperationId::new("8f3c1a2b") }
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_nobody_judges_is_taken_back() {
        let api = service().await;
        let (status, body) = begin_restart(&api).await.unwrap();
        assert_eq!((status, &body["error"]["code"]), (StatusCode::SERVICE_UNAVAILABLE, &Value::from("KeeperUnavailable")));
        assert_eq!(api.store.list(keys::REQUESTS).await.unwrap().documents, [], "a keeper that comes late finds nothing");
    }

    #[tokio::test(start_paused = true)]
    async fn a_verdict_that_the_cache_did_not_see_in_time_counts_all_the_same() {
        let api = service().await;
        let answer = begin_restart(&api);
        judge(&api, accepted()).await;
        // The cache begins to follow only after the wait for the verdict is over.
        tokio::time::sleep(std::time::Duration::from_secs(4)).await;
        assert!(!answer.is_finished());
        let follower = tokio::spawn(api.cache.clone().follow(api.store.clone(), CancellationToken::new()));
        let (status, body) = answer.await.unwrap();
        assert_eq!((status, &body["name"]), (StatusCode::ACCEPTED, &Value::from("8f3c1a2b")), "{body}");
        tokio::time::sleep(broom::SWEPT_AFTER.to_std() * 2).await;
        assert_eq!(api.store.list(keys::REQUESTS).await.unwrap().documents, []);
        follower.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn a_verdict_whose_outcome_cannot_be_read_is_not_called_a_failure() {
        let api = service().await;
        let answer = begin_restart(&api);
        judge(&api, accepted()).await;
        let (status, body) = answer.await.unwrap();
        assert_eq!((status, &body["error"]["code"]), (StatusCode::SERVICE_UNAVAILABLE, &Value::from("StoreUnavailable")));
        let message = body["error"]["message"].as_str().unwrap();
        assert_eq!(
            message,
            "the request was judged, but what came of it cannot be read yet; `rackwright operation list` tells whether it was accepted"
        );
        assert_eq!(logged(&api).await, 0, "its keeper has written down what it came to");
    }

    #[tokio::test(start_paused = true)]
    async fn the_queue_is_bounded_though_the_cache_sees_none_of_it() {
        const TOO_MANY: usize = 100;
        let api = service().await;
        let answers: Vec<_> = (0..MAX_PENDING + TOO_MANY).map(|_| begin_restart(&api)).collect();
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        assert_eq!(api.store.list(keys::REQUESTS).await.unwrap().documents.len(), MAX_PENDING);
        let mut codes: BTreeMap<String, usize> = BTreeMap::new();
        for answer in answers {
            let (_, body) = answer.await.unwrap();
            *codes.entry(body["error"]["code"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        let expected = [("KeeperUnavailable".to_owned(), MAX_PENDING), ("TooManyRequests".to_owned(), TOO_MANY)];
        assert_eq!(codes, BTreeMap::from(expected));
        assert_eq!(api.store.list(keys::REQUESTS).await.unwrap().documents, []);
        assert_eq!(begin_restart(&api).await.unwrap().1["error"]["code"], "KeeperUnavailable", "there is room again");
    }

    /// A clock whose reading is a mistake of ours.
    struct BrokenClock;

    impl model::Clock for BrokenClock {
        fn now(&self) -> model::Timestamp {
            panic!("the clock has no hands");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_gives_its_place_in_the_queue_back() {
        let broken = Api { clock: Arc::new(BrokenClock), ..service().await };
        for _ in 0..=MAX_PENDING {
            assert_eq!(begin_restart(&broken).await.unwrap().0, StatusCode::INTERNAL_SERVER_ERROR);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn requests_that_other_processes_left_count_too() {
        let api = service().await;
        let cluster = ClusterName::new("site").unwrap();
        let mut left = Commit::default();
        for n in 0..MAX_PENDING {
            let request = serde_json::json!({
                "id": format!("{n}"), "cluster": "site", "ask": { "kind": "cancel", "operation": "x" }, "caller": "x",
                "correlationId": "x", "receivedAt": NOW, "expiresAt": NOW,
            });
            left = left.put(keys::request(&cluster, &RequestId::new(format!("{n}"))), serde_json::to_vec(&request).unwrap());
        }
        api.store.commit(left).await.unwrap();
        let api = Api { cache: crate::Cache::load(&api.store).await.unwrap(), ..api };
        let (status, body) = begin_restart(&api).await.unwrap();
        assert_eq!((status, &body["error"]["code"]), (StatusCode::TOO_MANY_REQUESTS, &Value::from("TooManyRequests")));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_goes_away_leaves_nothing_in_the_store() {
        let api = service().await;
        let answer = begin_restart(&api);
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        assert_eq!(api.store.list(keys::REQUESTS).await.unwrap().documents.len(), 1);
        answer.abort();
        tokio::time::sleep((REQUEST_LIFE + VERDICT_GRACE).to_std()).await;
        assert_eq!(api.store.list(keys::REQUESTS).await.unwrap().documents, []);
    }

    #[tokio::test]
    async fn two_people_of_one_name_ask_twice() {
        let api = service().await;
        let house = gate::OpenHouse::around(api.gate.clone());
        let key = |number: u128, name: &str| {
            let request = http::Request::post("/m1/restart").header("x-ms-client-request-id", "1").body(axum::body::Body::empty());
            let call = Call::begin(request.unwrap()).0;
            let token = house.token_of(access::PrincipalId::new(Uuid::from_u128(number)), name);
            call.enter(entry::Sight::new(api.gate.clone(), 0, api.gate.authenticate(&token).unwrap()));
            request_key(&call, b"").expect("a request with an id has a key")
        };
        assert_ne!(key(7, "alice"), key(8, "alice"));
        assert_eq!(key(7, "alice"), key(7, "alice.smith"), "whoever is called something else meanwhile is the same");
    }

    #[test]
    fn the_key_of_a_request_is_made_of_what_decides_what_is_done() {
        let key = |path: &str, body: &str| {
            let request = http::Request::post(path).header("x-ms-client-request-id", "1").body(axum::body::Body::empty()).unwrap();
            request_key(&Call::begin(request).0, body.as_bytes()).expect("a request with an id has a key")
        };
        let first = key("/m1/restart?api-version=1", "");
        assert_eq!(first, key("/M1/restart?api-version=2&unknown=x", ""));
        for other in [key("/m2/restart", ""), key("/m1/restart", "{}"), key("/m1/restart?acceptControlPlaneOutage=true", "")] {
            assert_ne!(first, other);
        }
    }
}
