//! Reimages of control-plane machines whose etcd is real: keeper, API, install face and simulated machines as in every house, and
//! beside each machine of the control plane an etcd that lives and dies with its system.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use etcd::EtcdCluster;
use futures::future::BoxFuture;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use model::EtcdSeen;
use scenarios::{House, etcd_of, machine_path};
use serde_json::Value;
use tokio::sync::watch;

use crate::cluster::{Etcds, NAMES};
use crate::real::check_writes;
use crate::suite::member;
use crate::writer;

/// A boot takes 2.4 s; etcd, which is no faster than it is, has 12 s to catch up.
const SPEED: f64 = 100.0;

/// How long anything may take that is waited for here.
const PATIENCE: Duration = Duration::from_secs(90);

const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What happens in the middle of a reimage.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mishap {
    /// The control plane dies while the machine has no system.
    KeeperDies,
    /// The new member dies before it has its vote, and comes back when it was missed.
    LearnerDies,
}

/// The network of the machines, listened in to: what the last one was told of the members of etcd that it finds.
#[derive(Clone, Debug)]
struct Overheard {
    net: sim::Switchboard,
    initial_cluster: Arc<Mutex<Option<String>>>,
}

impl sim::Net for Overheard {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, std::io::Result<Response>> {
        let is_seed = request.uri().path().ends_with("/seed");
        let (sent, initial_cluster) = (self.net.send(request), self.initial_cluster.clone());
        Box::pin(async move {
            let response = sent.await?;
            if !is_seed || response.status() != StatusCode::OK {
                return Ok(response);
            }
            let (head, body) = response.into_parts();
            let bytes = body.collect().await.map_err(std::io::Error::other)?.to_bytes();
            let seed: Value = serde_json::from_slice(&bytes)?;
            let user_data = seed["userData"].as_str().unwrap_or_default();
            let told = user_data.lines().find_map(|line| line.trim().strip_prefix("initial-cluster: "));
            *initial_cluster.lock().unwrap() = told.map(serde_json::from_str).transpose()?;
            Ok(Response::from_parts(head, bytes.into()))
        })
    }
}

struct Stand {
    house: House,
    etcds: Etcds,
    overheard: Overheard,
}

impl Stand {
    async fn build() -> Stand {
        let etcds = Etcds::start().await;
        let house = House::build_around(etcds.cluster.clone(), 4, 3, SPEED).await;
        house.import_runtimes().await;
        let overheard = Overheard { net: house.net.clone(), initial_cluster: Arc::default() };
        house.site.plug(Arc::new(overheard.clone()));
        Stand { house, etcds, overheard }
    }

    async fn members(&self) -> EtcdSeen {
        self.etcds.cluster.observe_members().await.expect("there is always a quorum")
    }

    /// Whether etcd lists the machine's member, and whether that one only learns.
    async fn is_learner(&self, name: &str) -> Option<bool> {
        let seen = self.members().await;
        let url = self.etcds.peer_url(name);
        member(&seen, name, Some(&url)).map(|member| member.is_learner)
    }

    async fn leader(&self) -> &'static str {
        let (seen, statuses) = (self.members().await, self.etcds.cluster.observe_statuses().await);
        let leader = statuses.iter().find_map(|status| status.leader.clone()).expect("there is a leader");
        let member = seen.members.iter().find(|member| member.id == leader).expect("the leader is a member");
        NAMES.into_iter().find(|name| *name == member.name).expect("its name is known")
    }

    fn is_system_gone(&self, name: &str) -> bool {
        self.house.site.volumes(name).expect("the machine has volumes")[0].1 != "system as delivered"
    }

    fn times_powered_on(&self, name: &str) -> u64 {
        self.house.site.witness(name).expect("the machine has a BMC").counters().powered_on
    }

    /// Reimages a machine, and does to its etcd what happens to its system.
    async fn reimage(&mut self, name: &str, mishap: Mishap) {
        let path = format!("{}/reimage?api-version=1", machine_path(name));
        let reply = self.house.call(Method::POST, &path, "alice", r#"{"safeguardMode":"None"}"#).await;
        assert_eq!(reply.status, StatusCode::ACCEPTED, "{:#}", reply.body);
        let operation = reply.body["name"].as_str().expect("an operation has a name").to_owned();
        let powered_on = self.times_powered_on(name);

        self.until(&operation, "the system is gone", async |stand| stand.is_system_gone(name)).await;
        assert_eq!(self.is_learner(name).await, None, "{name} has left etcd before it is wiped");
        self.etcds.wipe(name);
        if mishap == Mishap::KeeperDies {
            self.house.crash().await;
            self.house.start_control_plane().await;
        }

        // Once for the agent, once for the new system.
        self.until(&operation, "the new system starts", async |stand| stand.times_powered_on(name) == powered_on + 2).await;
        assert_eq!(self.is_learner(name).await, Some(true), "{name} learns before its system starts");
        let members = self.overheard.initial_cluster.lock().unwrap().take().expect("the new system was told of etcd's members");
        self.etcds.join(name, &members).await;
        if mishap == Mishap::LearnerDies {
            self.etcds.kill(name);
            self.until(&operation, "its vote is refused", async |stand| stand.was_refused(&operation).await).await;
            assert_eq!(self.is_learner(name).await, Some(true), "nobody who has nothing votes");
            self.etcds.join(name, &members).await;
        }

        self.until(&operation, "it ends", async |stand| stand.house.operation(&operation).await["status"] != "InProgress").await;
        let ended = self.house.operation(&operation).await;
        assert_eq!(ended["status"], "Succeeded", "{ended:#}");
        assert_eq!(self.is_learner(name).await, Some(false), "{name} votes");
        assert_eq!(self.members().await.voters(), 3);
    }

    async fn was_refused(&self, operation: &str) -> bool {
        let operation = self.house.operation(operation).await;
        let journal = operation["journal"].as_array().expect("an operation has a journal");
        journal.iter().map(|entry| &entry["fact"]).any(|fact| fact["kind"] == "faulted" && fact["ask"] == "promoteEtcd")
    }

    async fn until(&self, operation: &str, what: &str, is_so: impl AsyncFn(&Stand) -> bool) {
        let waiting = async {
            while !is_so(self).await {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        if tokio::time::timeout(PATIENCE, waiting).await.is_err() {
            panic!("it is waited in vain until {what}: {:#}", self.house.operation(operation).await);
        }
    }

    /// The simulated etcd, which carries the simulated Kubernetes API, was asked for nothing by the keeper. It is brought to where
    /// the real one is.
    async fn let_the_simulated_etcd_follow(&self, name: &str) {
        let etcd: EtcdCluster = etcd_of(&self.house.site);
        let stale = member(&etcd.observe_members().await.unwrap(), name, None).expect("it is listed still").clone();
        self.house.site.configure_etcd(name, &stale.peer_urls[0]).await.expect("the machine is there");
        etcd.request_member_remove(&stale.id).await.unwrap();
        etcd.request_learner_add(&stale.peer_urls[0]).await.unwrap();
        let promoting = async {
            loop {
                let seen = etcd.observe_members().await.unwrap();
                let learner = member(&seen, name, Some(&stale.peer_urls[0])).expect("it was added");
                if etcd.request_promote(&learner.id).await.is_ok() {
                    return;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        tokio::time::timeout(PATIENCE, promoting).await.expect("it catches up");
    }
}

#[tokio::test]
async fn reimaged_members_of_a_real_etcd_vote_again_and_no_write_is_lost() {
    let mut stand = Stand::build().await;
    let (stop, stopped) = watch::channel(false);
    let writer = tokio::spawn(writer::write(stand.etcds.plain(), stopped));

    let leader = stand.leader().await;
    let follower = NAMES.into_iter().find(|name| *name != leader).expect("one of three leads");
    stand.reimage(follower, Mishap::KeeperDies).await;
    stand.let_the_simulated_etcd_follow(follower).await;
    stand.reimage(leader, Mishap::LearnerDies).await;

    stop.send_replace(true);
    check_writes(&stand.etcds, &writer.await.unwrap()).await;
    stand.house.close().await;
}
