//! The simulated site's etcd, on virtual time.

use std::time::Duration;

use etcd::EtcdCluster;
use scenarios::{House, etcd_of};

use crate::suite::{Peer, renew_every_member};

struct Simulated {
    house: House,
    etcd: EtcdCluster,
}

impl Simulated {
    async fn reset(&self, member: &str, reset: &str) {
        assert!(self.house.reset_by_hand(member, reset).await < 300);
        tokio::time::sleep(Duration::from_secs(600)).await;
    }
}

impl Peer for Simulated {
    fn etcd(&self) -> &EtcdCluster {
        &self.etcd
    }

    fn members(&self) -> [&'static str; 3] {
        ["rack1control01", "rack2control01", "rack3control01"]
    }

    async fn wipe(&mut self, member: &str) {
        self.reset(member, "ForceOff").await;
        self.house.site.wipe_etcd(member).await.expect("the machine is in the site");
    }

    async fn start(&mut self, member: &str) {
        assert!(self.house.reset_by_hand(member, "On").await < 300);
    }
}

#[tokio::test(start_paused = true)]
async fn every_member_of_the_simulated_etcd_is_renewed() {
    let house = House::without_control_plane(4, 4).await;
    let etcd = etcd_of(&house.site);
    let mut peer = Simulated { house, etcd };
    renew_every_member(&mut peer).await;
    peer.house.close().await;
}
