//! What a reimage does to a member, through the driver, and what it must find at each point.

use std::time::Duration;

use etcd::EtcdCluster;
use model::{Delivery, EtcdMember, EtcdSeen, Fault, FaultClass};

/// An etcd with hosts that can be taken away and brought back.
pub trait Peer {
    fn etcd(&self) -> &EtcdCluster;
    fn members(&self) -> [&'static str; 3];
    /// The host goes down, and all that etcd wrote on its disk is lost.
    async fn wipe(&mut self, member: &str);
    /// The host comes up with a new system, which joins the cluster that there is.
    async fn start(&mut self, member: &str);
}

/// How long anything may take that etcd or a host does by itself.
const PATIENCE: Duration = Duration::from_secs(600);

/// How often it is asked again. A keeper asks less often.
const ASK_EVERY: Duration = Duration::from_millis(200);

/// Asks until it is not refused as busy; what was last said in between.
async fn insist<F: Future<Output = Result<(), Fault>>>(ask: impl Fn() -> F) {
    let insisting = async {
        loop {
            match ask().await {
                Ok(()) => return,
                Err(fault) => {
                    assert_eq!((fault.class, fault.delivery), (FaultClass::Busy, Delivery::No), "{fault}");
                    tokio::time::sleep(ASK_EVERY).await;
                }
            }
        }
    };
    tokio::time::timeout(PATIENCE, insisting).await.expect("it is taken up at last");
}

async fn observe(etcd: &EtcdCluster) -> EtcdSeen {
    etcd.observe_members().await.expect("there is always a quorum")
}

/// The member of a machine: by name, or before it was heard from by its peer URL.
pub fn member<'a>(seen: &'a EtcdSeen, name: &str, url: Option<&str>) -> Option<&'a EtcdMember> {
    let is_added = |member: &EtcdMember| url.is_some_and(|url| member.peer_urls.iter().any(|own| own == url));
    let is_own = |member: &&EtcdMember| if member.name.is_empty() { is_added(member) } else { member.name.eq_ignore_ascii_case(name) };
    let mut found = seen.members.iter().filter(is_own);
    let member = found.next();
    assert!(found.next().is_none(), "a machine has one member at most");
    member
}

pub async fn renew_every_member(peer: &mut impl Peer) {
    for name in peer.members() {
        renew(peer, name).await;
    }
    let seen = observe(peer.etcd()).await;
    assert_eq!((seen.members.len(), seen.voters()), (3, 3));
}

/// One member, from its removal to its vote. Every change is asked for twice, and the second time too a busy etcd may say so first.
async fn renew(peer: &mut impl Peer, name: &str) {
    let etcd = peer.etcd().clone();
    let before = member(&observe(&etcd).await, name, None).expect("it is a member").clone();
    let url = before.peer_urls[0].clone();

    insist(|| etcd.request_member_remove(&before.id)).await;
    // One that is gone is out already.
    insist(|| etcd.request_member_remove(&before.id)).await;
    let seen = observe(&etcd).await;
    assert_eq!((member(&seen, name, Some(&url)), seen.voters()), (None, 2));
    peer.wipe(name).await;

    insist(|| etcd.request_learner_add(&url)).await;
    // One that is listed was added already.
    insist(|| etcd.request_learner_add(&url)).await;
    let seen = observe(&etcd).await;
    let learner = member(&seen, name, Some(&url)).expect("it is listed").clone();
    assert_eq!((learner.is_learner, learner.name.as_str(), seen.voters()), (true, "", 2));
    assert_ne!(learner.id, before.id);
    check_refusal(&etcd, &learner.id).await;

    peer.start(name).await;
    insist(|| etcd.request_promote(&learner.id)).await;
    // One that votes was promoted already.
    insist(|| etcd.request_promote(&learner.id)).await;
    let seen = observe(&etcd).await;
    let voter = member(&seen, name, Some(&url)).expect("it is listed");
    assert_eq!((voter.is_learner, voter.id.as_str(), seen.voters()), (false, learner.id.as_str(), 3));
}

/// A learner that has nothing is let vote by nobody, and etcd says why.
async fn check_refusal(etcd: &EtcdCluster, learner: &str) {
    let fault = etcd.request_promote(learner).await.unwrap_err();
    assert_eq!((fault.class, fault.delivery), (FaultClass::Busy, Delivery::No), "{fault}");
    let words = "etcdserver: can only promote a learner member which is in sync with leader: it does not answer; the others have ";
    assert!(fault.detail.contains(words), "{fault}");
}
