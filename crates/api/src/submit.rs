//! Handing a request to its cluster's keeper through the store, and waiting for the verdict.

use model::{Ask, ClusterName, REQUEST_LIFE, Refusal, Request, RequestId, RequestKey, Span, Verdict, keys};
use sha2::{Digest, Sha256};
use store::{Commit, Expected, StoreError};
use tracing::error;
use uuid::Uuid;

use crate::Api;
use crate::call::Call;
use crate::codes::Code;
use crate::reply::{RETRY_AFTER, Refused};

/// Requests of one cluster that may wait for their verdict at once. More are told to come back.
pub const MAX_PENDING: usize = 1_024;

/// A verdict given in the last moment of a request's life takes this long to be committed and seen.
const VERDICT_GRACE: Span = Span::seconds(1);

/// What the keeper said, once the cache has it too: a read that follows sees what was done.
pub(crate) async fn submit(api: &Api, call: &Call, cluster: &ClusterName, ask: Ask, body: &[u8]) -> Result<Verdict, Refused> {
    let pending = api.cache.view().requests.values().filter(|request| request.verdict.is_none() && request.cluster == *cluster).count();
    if pending >= MAX_PENDING {
        let message = format!("{pending} requests are waiting for cluster `{cluster}`");
        return Err(Refused::new(Code::TooManyRequests, message).retry_after(RETRY_AFTER));
    }
    let now = api.clock.now();
    let request = Request {
        id: RequestId::new(Uuid::new_v4().to_string()),
        cluster: cluster.clone(),
        ask,
        caller: call.caller(),
        correlation_id: call.correlation_id.clone(),
        key: request_key(call, body),
        received_at: now,
        expires_at: now + REQUEST_LIFE,
        verdict: None,
    };
    let key = keys::request(cluster, &request.id);
    let document = serde_json::to_vec(&request).expect("a request has string keys and no failing serializers");
    api.store
        .commit(Commit::default().expect(key.clone(), Expected::Absent).put(key.clone(), document))
        .await
        .map_err(|e| store_failed(&e))?;
    let verdict = wait_for_verdict(api, &request).await?;
    // Whoever asked sweeps up; if that fails, the keeper does later.
    if let Err(problem) = api.store.commit(Commit::default().delete(key)).await {
        error!(error = %problem, "a judged request could not be swept away");
    }
    match verdict {
        Verdict::Refused { refusal } => Err(Refused::by_rule(refusal)),
        accepted => Ok(accepted),
    }
}

async fn wait_for_verdict(api: &Api, request: &Request) -> Result<Verdict, Refused> {
    let mut changes = api.cache.changes();
    let judged = async {
        loop {
            if let Some(verdict) = api.cache.view().requests.get(&request.id).and_then(|judged| judged.verdict.clone()) {
                return verdict;
            }
            if changes.changed().await.is_err() {
                // The cache is gone: the process is stopping.
                return expired(request);
            }
        }
    };
    match tokio::time::timeout((REQUEST_LIFE + VERDICT_GRACE).to_std(), judged).await {
        Ok(verdict) => Ok(verdict),
        Err(_) => {
            let message = format!("no keeper of cluster `{}` answered in time; the request was not carried out", request.cluster);
            Err(Refused::new(Code::KeeperUnavailable, message).retry_after(RETRY_AFTER))
        }
    }
}

fn expired(request: &Request) -> Verdict {
    Verdict::Refused {
        refusal: Refusal {
            rule: model::Rule::RequestExpired,
            message: "the request was not carried out".into(),
            evidence: vec![format!("it was received at {} and the service is stopping", request.received_at.clock())],
            remedy: "send it again".into(),
        },
    }
}

/// Equal for the same caller, client request id, method, target, query and body.
fn request_key(call: &Call, body: &[u8]) -> Option<RequestKey> {
    let client_request_id = call.client_request_id()?;
    let mut hash = Sha256::new();
    let path = call.path.to_ascii_lowercase();
    let outage = call.query("acceptControlPlaneOutage").unwrap_or_default();
    for part in [call.caller().as_bytes(), client_request_id.as_bytes(), path.as_bytes(), outage.as_bytes(), body] {
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
