//! The suite: everything that the driver can see and ask, in an order in which nothing disturbs what follows.

use crate::peer::{Lacks, Peer};
use crate::{installation, machine, parts, service};

/// Checks all of it, and that the peer lacks exactly what it is declared to lack.
pub async fn check(peer: &Peer) {
    let bmc = peer.bmc();
    let mut lacks = Lacks::new();
    service::check_access(peer, &bmc).await;
    machine::check_identity(&bmc).await;
    machine::check_power(peer, &bmc).await;
    installation::check_survey(peer, &bmc, &mut lacks).await;
    installation::check_hardware(&bmc, &mut lacks).await;
    machine::check_media(peer, &bmc).await;
    machine::check_boot(peer, &bmc, &mut lacks).await;
    parts::check_inventory(&bmc, &mut lacks).await;
    parts::check_firmware(peer, &bmc, &mut lacks).await;
    parts::check_jobs(&bmc, &mut lacks).await;
    parts::check_storage_reset(peer, &bmc, &mut lacks).await;
    installation::check_os_volume(peer, &bmc, &mut lacks).await;
    service::check_accounts(peer, &bmc, &mut lacks).await;
    service::check_events(peer, &bmc, &mut lacks).await;
    service::check_bmc_reset(peer, &bmc, &mut lacks).await;
    bmc.close().await;
    assert_eq!(lacks, peer.lacks.iter().copied().collect::<Lacks>(), "what the peer was found to lack, and what it is declared to lack");
}
