//! The JSON gateway of the undercloud's etcd, as version 3.5 answers: one service for each machine that a member runs on.
//!
//! What has its default is left out of an answer, and numbers of 64 bits stand in quotes.

mod refusal;

use std::time::Duration;

use axum::extract::{Extension, Request, State};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use http::Method;
use serde_json::{Value, json};
use world::{EtcdMember, EtcdRefusal, hash_text};

use crate::site::Site;
use refusal::Refused;

/// What the members call themselves.
const VERSION: &str = "3.5.17";

const BODY_LIMIT: usize = 1024 * 1024;

/// How long a read waits for the others before it is given up, with etcd's usual timings.
const READ_TIMEOUT: Duration = Duration::from_secs(7);

/// The machine whose member is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskedOf(pub usize);

pub(crate) fn router(site: Site) -> Router {
    Router::new().fallback(serve).with_state(site)
}

async fn serve(State(site): State<Site>, Extension(AskedOf(machine)): Extension<AskedOf>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    if parts.method == Method::GET && path == "/version" {
        return Json(json!({ "etcdserver": VERSION, "etcdcluster": "3.5.0" })).into_response();
    }
    if parts.method != Method::POST {
        return Refused::no_such_path().into_response();
    }
    let Ok(body) = axum::body::to_bytes(body, BODY_LIMIT).await else { return Refused::unreadable().into_response() };
    let Ok(body) = serde_json::from_slice::<Value>(&body) else { return Refused::unreadable().into_response() };
    let member = Member { site, machine };
    let answer = match path {
        "/v3/maintenance/status" => member.status(),
        "/v3/cluster/member/list" => member.list(&body).await,
        "/v3/cluster/member/add" => member.add(&body).await,
        "/v3/cluster/member/remove" => member.remove(&body).await,
        "/v3/cluster/member/promote" => member.promote(&body).await,
        _ => Err(Refused::no_such_path()),
    };
    match answer {
        Ok(document) => Json(document).into_response(),
        Err(refused) => refused.into_response(),
    }
}

/// The member that was asked.
struct Member {
    site: Site,
    machine: usize,
}

impl Member {
    fn header(&self) -> Value {
        let cluster = hash_text(&self.site.layout().site).to_string();
        let member = self.site.look(|world| world.etcd_status(self.machine)).map(|status| status.id.to_string());
        json!({ "cluster_id": cluster, "member_id": member, "raft_term": "2" })
    }

    fn status(&self) -> Result<Value, Refused> {
        let status = self.site.look(|world| world.etcd_status(self.machine)).ok_or_else(Refused::stopped)?;
        let index = status.raft_index.to_string();
        let mut document = json!({
            "header": self.header(), "version": VERSION, "raftIndex": index, "raftAppliedIndex": index, "raftTerm": "2",
        });
        match status.leader {
            Some(leader) => document["leader"] = json!(leader.to_string()),
            None => document["errors"] = json!(["etcdserver: no leader"]),
        }
        if status.is_learner {
            document["isLearner"] = json!(true);
        }
        Ok(document)
    }

    /// A learner takes part in nothing but telling how far it is.
    fn need_voter(&self) -> Result<(), Refused> {
        let status = self.site.look(|world| world.etcd_status(self.machine)).ok_or_else(Refused::stopped)?;
        if status.is_learner { Err(Refused::learner()) } else { Ok(()) }
    }

    async fn list(&self, body: &Value) -> Result<Value, Refused> {
        self.need_voter()?;
        if body["linearizable"] == true && !self.site.look(|world| world.has_etcd_quorum()) {
            self.wait(READ_TIMEOUT).await;
            return Err(Refused::of(EtcdRefusal::NoQuorum));
        }
        self.members().await
    }

    async fn add(&self, body: &Value) -> Result<Value, Refused> {
        self.need_voter()?;
        let url = body["peerURLs"][0].as_str().ok_or_else(|| Refused::of(EtcdRefusal::InvalidUrl))?.to_owned();
        // Members with a vote from the start are not what this site is asked for.
        if body["isLearner"] != true {
            return Err(Refused::of(EtcdRefusal::NotEnoughStarted));
        }
        let added = self.change(|world, now| world.add_etcd_learner(&url, now)).await?;
        let mut document = self.members().await?;
        document["member"] = told(&added);
        Ok(document)
    }

    async fn remove(&self, body: &Value) -> Result<Value, Refused> {
        self.need_voter()?;
        let id = id(body)?;
        self.change(|world, now| world.remove_etcd_member(id, now)).await?;
        self.members().await
    }

    async fn promote(&self, body: &Value) -> Result<Value, Refused> {
        self.need_voter()?;
        let id = id(body)?;
        self.change(|world, now| world.promote_etcd_learner(id, now)).await?;
        self.members().await
    }

    /// A change that no majority hears of is neither made nor refused: whoever asked for it waits.
    async fn change<T>(&self, change: impl FnOnce(&mut world::World, world::Instant) -> Result<T, EtcdRefusal>) -> Result<T, Refused> {
        let outcome = self.site.change(change);
        if matches!(outcome, Err(EtcdRefusal::NoQuorum)) {
            self.site.inner.stopping.cancelled().await;
        }
        self.settle().await?;
        outcome.map_err(Refused::of)
    }

    async fn members(&self) -> Result<Value, Refused> {
        let header = self.header();
        let members: Vec<Value> = self.site.look(|world| world.etcd_members().iter().map(told).collect());
        self.settle().await?;
        Ok(json!({ "header": header, "members": members }))
    }

    async fn settle(&self) -> Result<(), Refused> {
        self.site.settle().await.map_err(|_| Refused::stopped())
    }

    async fn wait(&self, span: Duration) {
        tokio::select! {
            () = self.site.inner.stopping.cancelled() => {}
            () = tokio::time::sleep(span) => {}
        }
    }
}

fn id(body: &Value) -> Result<u64, Refused> {
    let id = &body["ID"];
    id.as_u64().or_else(|| id.as_str()?.parse().ok()).ok_or_else(Refused::unreadable)
}

fn told(member: &EtcdMember) -> Value {
    let mut told = json!({ "ID": member.id.to_string(), "peerURLs": [member.peer_url] });
    if !member.name.is_empty() {
        told["name"] = json!(member.name);
    }
    if let Some(url) = &member.client_url {
        told["clientURLs"] = json!([url]);
    }
    if member.is_learner {
        told["isLearner"] = json!(true);
    }
    told
}
