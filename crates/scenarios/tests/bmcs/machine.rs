//! Power, media and boot source: asked for, and seen.

use model::{Power, PowerRequest};
use redfish::{Bmc, BootSource, BootTarget, MediaSeen, Persistence};

use crate::peer::{Ability, Lacks, Peer, offered};

pub async fn check_identity(bmc: &Bmc) {
    let identity = bmc.observe_identity().await.unwrap();
    assert!(identity.vendor.is_some() && identity.uuid.is_some() && identity.bmc_firmware.is_some(), "{identity:?}");
}

/// Every power request, until it is seen. The machine is left off.
pub async fn check_power(peer: &Peer, bmc: &Bmc) {
    for (request, expected) in [
        (PowerRequest::On, Power::On),
        (PowerRequest::GracefulOff, Power::Off),
        (PowerRequest::On, Power::On),
        (PowerRequest::ForceOff, Power::Off),
    ] {
        if request == PowerRequest::GracefulOff {
            tokio::time::sleep(peer.boot_time).await;
        }
        if bmc.observe_power().await.unwrap() != expected {
            bmc.request_power(request).await.unwrap();
        }
        peer.until(&format!("{expected:?}"), async || bmc.observe_power().await.unwrap() == expected).await;
    }
}

/// Insert, see it, eject, see it gone; and leave the image in for the check of the boot source.
pub async fn check_media(peer: &Peer, bmc: &Bmc) {
    let inserted = MediaSeen::Inserted { image: Some(peer.image.to_string()) };
    assert_eq!(bmc.observe_media().await, Ok(MediaSeen::Empty));
    for _ in 0..2 {
        bmc.request_insert_media(&peer.image).await.unwrap();
        peer.until("the image", async || bmc.observe_media().await.unwrap() == inserted).await;
        bmc.request_eject_media().await.unwrap();
        peer.until("the empty drive", async || bmc.observe_media().await.unwrap() == MediaSeen::Empty).await;
    }
    bmc.request_insert_media(&peer.image).await.unwrap();
}

pub async fn check_boot(peer: &Peer, bmc: &Bmc, lacks: &mut Lacks) {
    for (source, expected) in [(BootSource::Pxe, BootTarget::Pxe), (BootSource::Cd, BootTarget::Cd), (BootSource::Hdd, BootTarget::Hdd)] {
        bmc.request_boot(&source, Persistence::Continuous).await.unwrap();
        let seen = bmc.observe_boot().await.unwrap();
        assert_eq!((seen.target, seen.persistence), (Some(expected), Some(Persistence::Continuous)));
    }
    bmc.request_boot(&BootSource::Cd, Persistence::Once).await.unwrap();
    let seen = bmc.observe_boot().await.unwrap();
    assert_eq!(seen.target, Some(BootTarget::Cd));
    if seen.persistence != Some(Persistence::Once) {
        lacks.insert(Ability::BootOnce);
    }
    let asked = bmc.request_boot(&BootSource::UefiHttp(peer.image.clone()), Persistence::Once).await;
    if offered(asked, Ability::BootHttp, lacks).is_some() {
        let seen = bmc.observe_boot().await.unwrap();
        assert_eq!((seen.target, seen.http_uri), (Some(BootTarget::UefiHttp), Some(peer.image.to_string())));
    }
    bmc.request_boot(&BootSource::Hdd, Persistence::Continuous).await.unwrap();
    bmc.request_eject_media().await.unwrap();
}
