//! Three real etcds, with a client that writes all the time.

use std::time::Duration;

use etcd::EtcdCluster;
use model::FaultClass;
use tokio::sync::watch;

use crate::cluster::{Etcds, NAMES};
use crate::suite::{Peer, renew_every_member};
use crate::writer::{self, Written};

/// The longest that a write may take: an election, which takes one second at most here, some tries at members that are away, and a
/// busy computer. Without quorum it would take for ever.
const STALL_MAX: Duration = Duration::from_secs(8);

impl Peer for Etcds {
    fn etcd(&self) -> &EtcdCluster {
        &self.cluster
    }

    fn members(&self) -> [&'static str; 3] {
        NAMES
    }

    async fn wipe(&mut self, member: &str) {
        Etcds::wipe(self, member);
    }

    async fn start(&mut self, member: &str) {
        self.join(member, &self.initial_cluster()).await;
    }
}

#[tokio::test]
async fn every_member_of_a_real_etcd_is_renewed_and_no_write_is_lost() {
    let mut etcds = Etcds::start().await;
    let (stop, stopped) = watch::channel(false);
    let writer = tokio::spawn(writer::write(etcds.plain(), stopped));
    renew_every_member(&mut etcds).await;
    stop.send_replace(true);
    check_writes(&etcds, &writer.await.unwrap()).await;
}

/// No write was lost, and none waited for longer than an election takes.
pub async fn check_writes(etcds: &Etcds, written: &Written) {
    assert!(written.count > 100, "{written:?}");
    assert!(written.longest < STALL_MAX, "{written:?}");
    let expected: Vec<String> = (0..written.count).map(|number| number.to_string()).collect();
    for name in NAMES {
        // A follower hears of the last writes a heartbeat later.
        let port = etcds.plain_of(name);
        let caught_up = async {
            while writer::read(port).await.len() < expected.len() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let _ = tokio::time::timeout(Duration::from_secs(10), caught_up).await;
        assert!(writer::read(port).await == expected, "what was acknowledged is on {name}, and nothing else is");
    }
}

#[tokio::test]
async fn an_etcd_without_quorum_tells_no_members() {
    let mut etcds = Etcds::start().await;
    assert_eq!(etcds.cluster.observe_members().await.unwrap().voters(), 3);
    for name in &NAMES[..2] {
        etcds.wipe(name);
    }
    let fault = etcds.cluster.observe_members().await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Busy, "{fault}");
    assert!(fault.detail.ends_with("etcdserver: request timed out"), "{fault}");
    let statuses = etcds.cluster.observe_statuses().await;
    assert_eq!((statuses.len(), statuses[0].leader.as_deref()), (1, None), "one is left, and it has no leader");
}
