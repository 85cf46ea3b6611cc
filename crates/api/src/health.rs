//! `/readyz`: whether this process is of use; and to those who may read metrics, what is missing if it is not, and how old what it knows is.
//!
//! Anybody may ask, as often as they like: so nobody is told more who has not shown a token, and the store is asked once a second at most.
//! What counts as ready is decided in `plan`; here are the facts that it is decided on.

use axum::response::Response;
use http::StatusCode;
use model::{Looks, Span, Timestamp};
use plan::{Lack, StoreSight, Vitals};
use serde_json::{Value, json};
use store::{Revision, StoreError};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::call::Call;
use crate::entry;
use crate::reply::{RETRY_AFTER, json_response, set_retry_after};
use crate::{Api, KeeperWatch};

/// How long the cache may take to see what the store had when it was asked. It follows within milliseconds.
const CATCH_UP_PATIENCE: Span = Span::millis(500);

/// For how long what was seen of the store is believed: no prober asks more often, and no flood of them reaches the store.
const PROBE_LIFE: Span = Span::seconds(1);

/// What was seen of the store last, for all who ask.
#[derive(Debug, Default)]
pub(crate) struct Probe(Mutex<Option<Probed>>);

#[derive(Clone, Debug)]
struct Probed {
    at: Instant,
    store: StoreSight,
    revision: Option<Revision>,
}

/// No document lies there; listing it tells the store's revision.
const NOWHERE: &str = "nowhere/";

pub(crate) async fn ready(api: &Api, call: &Call) -> Response {
    let (vitals, revision) = observe(api).await;
    let behind = match &vitals.store {
        StoreSight::Current => Some(0),
        StoreSight::Behind { by } => Some(*by),
        StoreSight::Unreadable { .. } => None,
    };
    let now = api.clock.now();
    let lacks = plan::readiness(&vitals, now);
    if !entry::may_read_metrics(api, call) {
        return answer(&lacks, &json!({ "ready": lacks.is_empty() }));
    }
    let clusters: Vec<Value> = api.keepers.iter().map(|(name, keeper)| render_keeper(name.as_str(), keeper, now)).collect();
    let cached = api.cache.view().revision.0;
    let body = json!({
        "ready": lacks.is_empty(),
        "missing": lacks.iter().map(Lack::to_string).collect::<Vec<_>>(),
        "at": now,
        "store": { "readable": revision.is_some(), "revision": revision },
        "cache": { "revision": cached, "behind": behind },
        "clusters": clusters,
    });
    answer(&lacks, &body)
}

fn answer(lacks: &[Lack], body: &Value) -> Response {
    if lacks.is_empty() {
        return json_response(StatusCode::OK, body);
    }
    let mut response = json_response(StatusCode::SERVICE_UNAVAILABLE, body);
    set_retry_after(response.headers_mut(), RETRY_AFTER);
    response
}

/// Everything that readiness is judged on, and the store's revision if it can be read. Only what is seen of the store may be a moment old.
pub(crate) async fn observe(api: &Api) -> (Vitals, Option<Revision>) {
    let Probed { store, revision, .. } = probe(api).await;
    let keepers = api.keepers.iter();
    let keepers = keepers.map(|(name, keeper)| (name.clone(), keeper.state.borrow().clone(), keeper.footing.borrow().clone()));
    (Vitals { life: api.process.life(), store, keepers: keepers.collect() }, revision)
}

/// What is seen of the store. Whoever comes while somebody looks waits for what they see.
async fn probe(api: &Api) -> Probed {
    let mut last = api.probe.0.lock().await;
    if let Some(probed) = last.as_ref().filter(|probed| probed.at.elapsed() < PROBE_LIFE.to_std()) {
        return probed.clone();
    }
    let (store, revision) = look_at_store(api).await;
    last.insert(Probed { at: Instant::now(), store, revision }).clone()
}

async fn look_at_store(api: &Api) -> (StoreSight, Option<Revision>) {
    match api.store.list(NOWHERE).await {
        Ok(listing) => match last_change(api, listing.revision).await {
            Ok(changed) => (follow_sight(api, changed).await, Some(listing.revision)),
            Err(error) => (StoreSight::Unreadable { error: error.to_string() }, None),
        },
        Err(error) => (StoreSight::Unreadable { error: error.to_string() }, None),
    }
}

/// What the cache must have seen by now: the log alone makes revisions too, of which it hears nothing.
async fn last_change(api: &Api, revision: Revision) -> Result<Revision, StoreError> {
    let cached = api.cache.view().revision;
    if cached >= revision {
        return Ok(revision);
    }
    Ok(api.store.history("", 1).await?.last().map_or(cached, |change| change.revision))
}

async fn follow_sight(api: &Api, revision: Revision) -> StoreSight {
    let mut changes = api.cache.changes();
    let caught_up = changes.wait_for(|seen| *seen >= revision);
    match tokio::time::timeout(CATCH_UP_PATIENCE.to_std(), caught_up).await {
        Ok(_) => StoreSight::Current,
        Err(_) => StoreSight::Behind { by: revision.0.saturating_sub(api.cache.view().revision.0) },
    }
}

fn render_keeper(name: &str, keeper: &KeeperWatch, now: Timestamp) -> Value {
    let footing = keeper.footing.borrow();
    json!({
        "name": name,
        "keeper": *keeper.state.borrow(),
        "lease": footing.lease,
        "lastKnown": render_looks(&footing.looks, now),
    })
}

/// How old what is known of a cluster's machines is.
pub(crate) fn render_looks(looks: &Looks, now: Timestamp) -> Value {
    let mut rendered = json!({ "unseen": looks.unseen });
    for (which, at) in [("oldest", looks.oldest_at), ("newest", looks.newest_at)] {
        if let Some(at) = at {
            rendered[format!("{which}At")] = json!(at);
            rendered[format!("{which}AgeSeconds")] = json!(now.since(at).as_millis() / 1_000);
        }
    }
    rendered
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use http::Method;
    use model::{ClusterName, Footing, HeldLease, KeeperState};
    use store::{Commit, NewRecord};
    use tokio::sync::watch;

    use super::*;
    use crate::fixtures::{Documents, NOW, cluster, send, send_with};

    fn instant(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    /// An API with one keeper, and the hands that change what it says.
    async fn kept() -> (Api, watch::Sender<KeeperState>, watch::Sender<Footing>) {
        let mut api = Documents::default().cluster(&cluster("site")).serve().await;
        let lease = HeldLease { holder: "local".to_owned(), expires_at: instant("2026-11-15T14:01:00.000Z") };
        let looks = Looks { unseen: 1, oldest_at: Some(instant("2026-11-15T13:59:00.000Z")), newest_at: Some(instant(NOW)) };
        let (state, how_it_is) = watch::channel(KeeperState::Keeping { since: instant(NOW) });
        let (footing, stands) = watch::channel(Footing { lease: Some(lease), looks });
        let watch = KeeperWatch { state: how_it_is, footing: stands, site_file: watch::channel(None).1 };
        api.keepers = Arc::new(BTreeMap::from([(ClusterName::new("site").unwrap(), watch)]));
        (api, state, footing)
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_that_keeps_is_ready_and_tells_how_old_what_it_knows_is() {
        let (api, _state, _footing) = kept().await;
        let (status, body) = send(&api, Method::GET, "/readyz", "").await;
        assert_eq!((status, &body["ready"], &body["missing"]), (StatusCode::OK, &json!(true), &json!([])));
        assert_eq!(body["store"], json!({ "readable": true, "revision": 1 }));
        assert_eq!(
            body["clusters"],
            json!([{
                "name": "site",
                "keeper": { "state": "Keeping", "since": NOW },
                "lease": { "holder": "local", "expiresAt": "2026-11-15T14:01:00.000Z" },
                "lastKnown": {
                    "oldestAt": "2026-11-15T13:59:00.000Z", "oldestAgeSeconds": 60, "newestAt": NOW, "newestAgeSeconds": 0, "unseen": 1,
                },
            }])
        );
        let (_, shown) = send(&api, Method::GET, "/rackwright/v1/status", "").await;
        assert_eq!(shown["clusters"][0]["lastKnown"]["oldestAgeSeconds"], 60);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_missing_is_named_and_reads_go_on() {
        let (api, state, _footing) = kept().await;
        state.send_replace(KeeperState::Failing { since: instant(NOW), error: "the disk is full".to_owned() });
        let (status, body) = send(&api, Method::GET, "/readyz", "").await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(body["missing"], json!(["the keeper of `site` is failing: the disk is full"]));
        let (status, _) = send(&api, Method::GET, "/rackwright/v1/status", "").await;
        assert_eq!(status, StatusCode::OK);
    }

    /// Those who ask without a token, with one that is none, or as somebody who may not read metrics.
    #[tokio::test(start_paused = true)]
    async fn strangers_learn_whether_it_is_ready_and_nothing_else() {
        let (api, state, _footing) = kept().await;
        let nobody = access::PrincipalId::new(uuid::Uuid::from_u128(9));
        let token = format!("Bearer {}", gate::OpenHouse::around(api.gate.clone()).token_of(nobody, "stranger"));
        for authorization in ["", "Bearer x", &token] {
            let answer = send_with(&api, Method::GET, "/readyz", "", &[("authorization", authorization)]).await;
            assert_eq!(answer, (StatusCode::OK, json!({ "ready": true })), "{authorization}");
        }
        state.send_replace(KeeperState::Failing { since: instant(NOW), error: "/var/lib/rackwright is full".to_owned() });
        for authorization in ["", "Bearer x", &token] {
            let answer = send_with(&api, Method::GET, "/readyz", "", &[("authorization", authorization)]).await;
            assert_eq!(answer, (StatusCode::SERVICE_UNAVAILABLE, json!({ "ready": false })), "{authorization}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_store_is_looked_at_once_a_second_at_most() {
        let (api, _state, _footing) = kept().await;
        let revision = async || send(&api, Method::GET, "/readyz", "").await.1["store"]["revision"].clone();
        assert_eq!(revision().await, 1);
        let record = NewRecord { labels: Vec::new(), value: "x".into() };
        api.store.commit(Commit { records: vec![record], ..Commit::default() }).await.unwrap();
        assert_eq!(revision().await, 1, "what was seen a moment ago is believed");
        tokio::time::advance(PROBE_LIFE.to_std()).await;
        assert_eq!(revision().await, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_that_stops_is_not_ready_but_alive() {
        let (api, _state, _footing) = kept().await;
        api.process.stopping.cancel();
        let (status, body) = send(&api, Method::GET, "/readyz", "").await;
        assert_eq!((status, &body["missing"]), (StatusCode::SERVICE_UNAVAILABLE, &json!(["the process is stopping"])));
        assert_eq!(send(&api, Method::GET, "/healthz", "").await.0, StatusCode::OK);
    }

    /// As when a request was refused, and nothing else happened since.
    #[tokio::test(start_paused = true)]
    async fn what_only_the_log_has_does_not_make_a_process_unready() {
        let (api, _state, _footing) = kept().await;
        let before = api.store.list(NOWHERE).await.unwrap().revision;
        let record = NewRecord { labels: Vec::new(), value: "x".into() };
        api.store.commit(Commit { records: vec![record], ..Commit::default() }).await.unwrap();
        assert!(api.store.list(NOWHERE).await.unwrap().revision > before);
        let (status, body) = send(&api, Method::GET, "/readyz", "").await;
        assert_eq!((status, &body["cache"]["behind"]), (StatusCode::OK, &json!(0)), "{body}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_cache_that_does_not_follow_is_told() {
        let (api, _state, _footing) = kept().await;
        api.store.commit(Commit::default().put("documents/1", "x")).await.unwrap();
        api.store.commit(Commit::default().put("documents/2", "x")).await.unwrap();
        let (status, body) = send(&api, Method::GET, "/readyz", "").await;
        assert_eq!((status, &body["missing"]), (StatusCode::SERVICE_UNAVAILABLE, &json!(["the cache is 2 revisions behind the store"])));
    }
}
