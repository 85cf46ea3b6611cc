//! The cluster as a whole: the calls, and which member they go to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures::future::join_all;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request};
use http_body_util::Full;
use model::{Delivery, EtcdSeen, Fault, FaultClass, Span};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::document::{self, Refusal};
use crate::endpoint::{ENDPOINTS_MAX, Endpoint};
use crate::fault::{Asked, LEARNER, Purpose};
use crate::status::{MemberStatus, with_progress};
use crate::transport::{Answer, Transport};

/// How long a call may take in all, whichever members it is put to: two that answer late, or more that do not answer.
pub const CALL_TIMEOUT: Span = Span::seconds(20);

/// The oldest etcd whose list of members can be believed.
///
/// An older one does not know that a read can be linearizable: it tells what it has last heard, even where it has been cut off
/// from the others for days. Its answer looks the same, so that only its version tells.
pub const OLDEST_VERSION: &str = "3.5";

const LIST: &str = "/v3/cluster/member/list";
const ADD: &str = "/v3/cluster/member/add";
const REMOVE: &str = "/v3/cluster/member/remove";
const PROMOTE: &str = "/v3/cluster/member/promote";
const STATUS: &str = "/v3/maintenance/status";

/// The same peer URL asked for twice within a second gives the same id, and later another one that has the URL already.
const ADDED_ALREADY: [&str; 2] = ["etcdserver: member ID already exist", "etcdserver: Peer URLs already exists"];
const VOTES_ALREADY: &str = "etcdserver: can only promote a learner member";
const NOT_IN_SYNC: &str = "etcdserver: can only promote a learner member which is in sync with leader";

/// The etcd of an undercloud. Clones are cheap and share connections.
#[derive(Clone, Debug)]
pub struct EtcdCluster {
    transport: Transport,
    endpoints: Arc<[Endpoint]>,
    /// The endpoint that is asked first: the one that answered last, or the one after it if that failed since.
    favourite: Arc<AtomicUsize>,
}

impl EtcdCluster {
    /// Endpoints beyond [`ENDPOINTS_MAX`] are not tried.
    pub fn new(transport: Transport, endpoints: impl IntoIterator<Item = Endpoint>) -> Self {
        let endpoints = endpoints.into_iter().take(ENDPOINTS_MAX).collect();
        EtcdCluster { transport, endpoints, favourite: Arc::default() }
    }

    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// Whether this is a clone of the other, with the same connections.
    pub fn is_same_as(&self, other: &EtcdCluster) -> bool {
        Arc::ptr_eq(&self.favourite, &other.favourite)
    }

    /// The members now: a majority of them agreed to the list while it was asked for.
    pub async fn observe_members(&self) -> Result<EtcdSeen, Fault> {
        self.members(deadline()).await
    }

    async fn members(&self, deadline: Instant) -> Result<EtcdSeen, Fault> {
        let seen = self.in_turn(Purpose::Observe, deadline, |endpoint| async move {
            self.check_version(endpoint, deadline).await?;
            let asked = Asked { method: "POST", path: LIST, endpoint, purpose: Purpose::Observe };
            let document = self.ask(asked, &json!({ "linearizable": true }), deadline).await?;
            let members = document::members(&document).ok_or_else(|| asked.garbled("the list of members cannot be read"))?;
            Ok(EtcdSeen { members })
        });
        seen.await.map_err(|failed| failed.fault)
    }

    /// Takes a member out, so that its vote no longer counts. One that is gone is out already.
    pub async fn request_member_remove(&self, id: &str) -> Result<(), Fault> {
        let (body, deadline) = (json!({ "ID": decimal(id)? }), deadline());
        match self.request(REMOVE, &body, deadline).await {
            Ok(_) => Ok(()),
            Err(Failed { fault, .. }) if fault.class == FaultClass::Missing => Ok(()),
            Err(Failed { fault, .. }) if fault.class == FaultClass::Unreachable && fault.delivery == Delivery::No => Err(fault),
            Err(_) if self.is_gone(id, deadline).await => Ok(()),
            Err(failed) => Err(failed.fault),
        }
    }

    /// A member that was just removed answers for a moment longer: that the cluster is unhealthy which has put it out, that it is about
    /// to stop, or nothing.
    async fn is_gone(&self, id: &str, deadline: Instant) -> bool {
        self.lists(deadline, |seen| !seen.members.iter().any(|member| member.id.eq_ignore_ascii_case(id))).await
    }

    /// Whether the list shows it. Etcd drops a change that comes before the last one is applied by its leader, and never answers it:
    /// what was asked for twice looks lost then, and is not.
    async fn lists(&self, deadline: Instant, is_so: impl FnOnce(&EtcdSeen) -> bool) -> bool {
        self.members(deadline).await.is_ok_and(|seen| is_so(&seen))
    }

    /// Adds a member that has no vote yet. One that is listed with that URL was added already.
    pub async fn request_learner_add(&self, peer_url: &str) -> Result<(), Fault> {
        let (body, deadline) = (json!({ "peerURLs": [peer_url], "isLearner": true }), deadline());
        let is_listed = |seen: &EtcdSeen| seen.members.iter().flat_map(|member| &member.peer_urls).any(|url| url == peer_url);
        match self.request(ADD, &body, deadline).await {
            Err(failed) if ADDED_ALREADY.contains(&failed.words.as_str()) => Ok(()),
            Err(failed) if failed.is_unanswered() && self.lists(deadline, is_listed).await => Ok(()),
            outcome => outcome.map(drop).map_err(|failed| failed.fault),
        }
    }

    /// Gives a learner its vote. One that votes has it already; one that has not caught up is refused as busy, and the fault
    /// says how far it is.
    pub async fn request_promote(&self, id: &str) -> Result<(), Fault> {
        let (body, deadline) = (json!({ "ID": decimal(id)? }), deadline());
        let votes = |seen: &EtcdSeen| seen.members.iter().any(|member| member.id.eq_ignore_ascii_case(id) && !member.is_learner);
        match self.request(PROMOTE, &body, deadline).await {
            Err(failed) if failed.words == VOTES_ALREADY => Ok(()),
            Err(failed) if failed.words == NOT_IN_SYNC => Err(with_progress(failed.fault, &self.statuses(deadline).await, id)),
            Err(failed) if failed.is_unanswered() && self.lists(deadline, votes).await => Ok(()),
            outcome => outcome.map(drop).map_err(|failed| failed.fault),
        }
    }

    /// What each member says of itself that answers at one of the endpoints.
    pub async fn observe_statuses(&self) -> Vec<MemberStatus> {
        self.statuses(deadline()).await
    }

    async fn statuses(&self, deadline: Instant) -> Vec<MemberStatus> {
        let asked = self.endpoints.iter().map(|endpoint| self.observe_status(endpoint, deadline));
        join_all(asked).await.into_iter().filter_map(Result::ok).collect()
    }

    /// The same by endpoint, with why it does not answer.
    pub async fn observe_endpoints(&self) -> Vec<(Endpoint, Result<MemberStatus, Fault>)> {
        let deadline = deadline();
        let asked = self.endpoints.iter().map(|endpoint| async move {
            (endpoint.clone(), self.observe_status(endpoint, deadline).await.map_err(|failed| failed.fault))
        });
        join_all(asked).await
    }

    async fn observe_status(&self, endpoint: &Endpoint, deadline: Instant) -> Result<MemberStatus, Failed> {
        let asked = Asked { method: "POST", path: STATUS, endpoint, purpose: Purpose::Observe };
        let document = self.ask(asked, &json!({}), deadline).await?;
        document::status(&document).ok_or_else(|| asked.garbled("the status cannot be read").into())
    }

    async fn check_version(&self, endpoint: &Endpoint, deadline: Instant) -> Result<(), Failed> {
        let status = self.observe_status(endpoint, deadline).await?;
        if is_recent(&status.version) {
            return Ok(());
        }
        let told = format!(
            "etcd {} at {} tells no list of members that can be believed; it must be {OLDEST_VERSION} or later",
            status.version,
            endpoint.authority()
        );
        Err(Fault::new(FaultClass::Unsupported, Delivery::No, told).into())
    }

    async fn request(&self, path: &'static str, body: &Value, deadline: Instant) -> Result<Value, Failed> {
        let asked = |endpoint| Asked { method: "POST", path, endpoint, purpose: Purpose::Request };
        self.in_turn(Purpose::Request, deadline, |endpoint| self.ask(asked(endpoint), body, deadline)).await
    }

    /// Puts a call to the endpoints, the one that answered last first, until one of them took it up.
    async fn in_turn<'a, T, F>(&'a self, purpose: Purpose, deadline: Instant, call: impl Fn(&'a Endpoint) -> F) -> Result<T, Failed>
    where
        F: Future<Output = Result<T, Failed>>,
    {
        let first = self.favourite.load(Ordering::Relaxed);
        let mut told: Option<Failed> = None;
        for turn in 0..self.endpoints.len() {
            let index = (first + turn) % self.endpoints.len();
            let failed = match call(&self.endpoints[index]).await {
                Ok(value) => {
                    self.favourite.store(index, Ordering::Relaxed);
                    return Ok(value);
                }
                Err(failed) => failed,
            };
            // Who failed is asked last the next time.
            self.favourite.store((index + 1) % self.endpoints.len(), Ordering::Relaxed);
            // A look does no harm, and a member that was removed or cut off says the oddest things before it ends.
            if purpose == Purpose::Request && !failed.leaves_others() {
                return Err(failed);
            }
            // A member that answered says more of the cluster than one that did not.
            let is_answer = failed.fault.class != FaultClass::Unreachable;
            if told.as_ref().is_none_or(|told| is_answer && told.fault.class == FaultClass::Unreachable) {
                told = Some(failed);
            }
            if Instant::now() >= deadline {
                break;
            }
        }
        Err(told.unwrap_or_else(|| Fault::new(FaultClass::Missing, Delivery::No, "no endpoint of etcd is configured").into()))
    }

    /// One request to one member.
    async fn ask(&self, asked: Asked<'_>, body: &Value, deadline: Instant) -> Result<Value, Failed> {
        let mut request = Request::new(Full::new(Bytes::from(body.to_string())));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = asked.endpoint.join(asked.path);
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Ok(host) = HeaderValue::from_str(asked.endpoint.authority()) {
            request.headers_mut().insert(http::header::HOST, host);
        }
        let answer = self.transport.send(request, deadline).await.map_err(|error| asked.unanswered(&error))?;
        read(&asked, &answer)
    }
}

/// Why a call came to nothing, with etcd's own words for it.
#[derive(Debug)]
struct Failed {
    fault: Fault,
    words: String,
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Failed {
        Failed { fault, words: String::new() }
    }
}

impl Failed {
    /// Whether a change may have come about all the same.
    fn is_unanswered(&self) -> bool {
        self.fault.class == FaultClass::Unreachable && self.fault.delivery == Delivery::Maybe
    }

    /// Whether another member may be asked the same: nothing was taken up, and the trouble is this member's alone.
    fn leaves_others(&self) -> bool {
        let is_its_own = match self.fault.class {
            FaultClass::Unreachable | FaultClass::Untrusted | FaultClass::Denied | FaultClass::Garbled | FaultClass::Unsupported => {
                self.words.is_empty() || self.words == LEARNER
            }
            // A member that was cut off from the others has no leader, while they may have one.
            FaultClass::Busy => self.words == LEARNER || self.words.contains("timed out") || self.words.contains("no leader"),
            FaultClass::OtherMachine | FaultClass::NoLogin | FaultClass::Missing => false,
        };
        self.fault.delivery == Delivery::No && is_its_own
    }
}

fn read(asked: &Asked<'_>, answer: &Answer) -> Result<Value, Failed> {
    if answer.status.is_success() {
        let document: Option<Value> = serde_json::from_slice(&answer.body).ok().filter(Value::is_object);
        return document.ok_or_else(|| asked.garbled("the answer is not a JSON object").into());
    }
    let refusal = Refusal::read(&answer.body);
    Err(Failed { fault: asked.refused(answer, &refusal), words: refusal.words })
}

fn deadline() -> Instant {
    Instant::now() + CALL_TIMEOUT.to_std()
}

fn decimal(id: &str) -> Result<String, Fault> {
    let wrong = || Fault::new(FaultClass::Missing, Delivery::No, format!("`{id}` is no id of a member of etcd"));
    document::decimal(id).ok_or_else(wrong)
}

/// Whether `3.5.1` is `3.5` or later.
fn is_recent(version: &str) -> bool {
    let parts = |text: &str| {
        let mut numbers = text.split('.').map_while(|part| part.parse::<u32>().ok());
        (numbers.next(), numbers.next())
    };
    parts(version) >= parts(OLDEST_VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        for version in ["3.5.0", "3.5", "3.10.1", "3.6.0-rc.1", "4.0.0"] {
            assert!(is_recent(version), "{version}");
        }
        for version in ["3.4.23", "3.4", "2.9.9", "", "Not decided"] {
            assert!(!is_recent(version), "{version}");
        }
    }
}
