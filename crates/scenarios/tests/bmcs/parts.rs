//! Inventory, firmware, jobs and storage.

use std::collections::BTreeSet;

use model::{Fault, FaultClass};
use redfish::{Bmc, Controller, Firmware, JobRef, JobSeen, JobState, Listing, Part, StorageReset};

use crate::peer::{Ability, Lacks, Peer, offered};

/// The members of a part that was read without loss; nothing if it is not offered.
fn told<'a, T: std::fmt::Debug>(part: &'a Part<Listing<T>>, ability: Ability, lacks: &mut Lacks) -> &'a [T] {
    match part {
        Part::NotOffered => {
            lacks.insert(ability);
            &[]
        }
        Part::Read(listing) if listing.unread == 0 && !listing.members.is_empty() => &listing.members,
        other => panic!("{ability:?}: {other:?}"),
    }
}

pub async fn check_inventory(bmc: &Bmc, lacks: &mut Lacks) {
    let inventory = bmc.observe_inventory().await.unwrap();
    assert!(inventory.health.is_some());
    for processor in told(&inventory.processors, Ability::Processors, lacks) {
        assert!(processor.model.is_some() && processor.cores.is_some_and(|cores| cores > 0), "{processor:?}");
    }
    for dimm in told(&inventory.memory, Ability::Memory, lacks) {
        assert!(dimm.capacity_mib.is_some_and(|capacity| capacity > 0), "{dimm:?}");
    }
    for nic in told(&inventory.nics, Ability::Nics, lacks) {
        assert!(nic.mac.as_ref().is_some_and(|mac| mac.len() == 17), "{nic:?}");
    }
    let controllers = told(&inventory.storage, Ability::Drives, lacks);
    for drive in controllers.iter().flat_map(|controller| &controller.drives.members) {
        assert!(drive.serial.is_some() && drive.capacity_bytes.is_some_and(|bytes| bytes > 0) && drive.kind.is_some(), "{drive:?}");
    }
    let volumes: Vec<_> = controllers.iter().flat_map(|controller| told(&controller.volumes, Ability::Volumes, lacks)).collect();
    for volume in &volumes {
        assert!(volume.raid.is_some() && volume.capacity_bytes.is_some_and(|bytes| bytes > 0), "{volume:?}");
    }
}

/// Lists the firmware and updates the BIOS.
pub async fn check_firmware(peer: &Peer, bmc: &Bmc, lacks: &mut Lacks) {
    match offered(bmc.observe_firmware().await, Ability::FirmwareInventory, lacks) {
        Some(listing) => {
            assert!(listing.unread == 0 && listing.members.iter().all(|one| one.version.is_some()), "{listing:?}");
            let names: BTreeSet<_> = listing.members.iter().map(|one| &one.name).collect();
            assert_eq!(names.len(), listing.members.len(), "what does not run is left out: {listing:?}");
            update(peer, bmc, "BIOS").await;
        }
        None => {
            let asked = bmc.request_firmware(&"http://10.0.0.9/bios-9.9.9.bin".parse().unwrap(), &[]).await;
            assert!(offered(asked, Ability::FirmwareUpdate, lacks).is_none(), "an update that nobody can see is of no use");
        }
    }
}

/// Updates the firmware `id`, follows the job, and sees the version change.
pub async fn update(peer: &Peer, bmc: &Bmc, id: &str) -> Option<JobSeen> {
    let find = |listing: Listing<Firmware>| listing.members.into_iter().find(|one| one.id.eq_ignore_ascii_case(id));
    let before = find(bmc.observe_firmware().await.unwrap()).expect("it is listed");
    assert_eq!(before.updateable, Some(true));
    let image = format!("http://10.0.0.9/{}-9.9.9.bin", id.to_lowercase()).parse().unwrap();
    let job = bmc.request_firmware(&image, &[before.path]).await.unwrap();
    let ending = follow(peer, bmc, job).await;
    peer.until("the new firmware", async || match bmc.observe_firmware().await.map(find) {
        Ok(seen) => seen.is_some_and(|seen| seen.version.as_deref() == Some("9.9.9")),
        Err(fault) => {
            assert!(is_away(&fault), "{fault}");
            false
        }
    })
    .await;
    ending
}

pub async fn check_jobs(bmc: &Bmc, lacks: &mut Lacks) {
    if let Some(jobs) = offered(bmc.observe_jobs().await, Ability::Jobs, lacks) {
        assert!(jobs.unread == 0 && jobs.members.iter().all(|job| job.state.is_some()), "{jobs:?}");
    }
    assert_eq!(bmc.observe_job(&JobRef::new("/redfish/v1/TaskService/Tasks/no-such-task")).await, Ok(JobSeen::Gone));
}

/// Resets the first controller that has volumes, step by step, until it is bare.
pub async fn check_storage_reset(peer: &Peer, bmc: &Bmc, lacks: &mut Lacks) {
    let Some(controller) = first_with_volumes(bmc).await else {
        lacks.insert(Ability::StorageReset);
        return;
    };
    loop {
        let job = match bmc.request_storage_reset(&controller.path).await {
            Ok(StorageReset::Bare) => break,
            Ok(StorageReset::Whole { job } | StorageReset::Volume { job, .. }) => job,
            // A method that the volume does not take is a way to say that it cannot be deleted.
            Err(fault) if fault.class == FaultClass::Unsupported => {
                lacks.insert(Ability::StorageReset);
                return;
            }
            Err(fault) => panic!("{fault}"),
        };
        follow(peer, bmc, job).await;
        if first_with_volumes(bmc).await.is_none() {
            break;
        }
    }
    assert!(first_with_volumes(bmc).await.is_none(), "no volume is left");
}

async fn first_with_volumes(bmc: &Bmc) -> Option<Controller> {
    let inventory = bmc.observe_inventory().await.unwrap();
    let Part::Read(storage) = inventory.storage else { return None };
    storage.members.into_iter().find(|controller| controller.volumes.read().is_some_and(|volumes| !volumes.members.is_empty()))
}

/// Looks at a job until it ends well, or is gone: whoever asked for it then looks at what it should have changed.
pub async fn follow(peer: &Peer, bmc: &Bmc, job: Option<JobRef>) -> Option<JobSeen> {
    let job = job?;
    let mut last = None;
    peer.until("the end of the job", async || {
        match bmc.observe_job(&job).await {
            Ok(seen) => last = Some(seen),
            Err(fault) => assert!(is_away(&fault), "{fault}"),
        }
        match &last {
            Some(JobSeen::Gone) => true,
            Some(JobSeen::Seen(seen)) => {
                assert!(!matches!(seen.state, Some(JobState::Failed | JobState::Cancelled)), "{seen:?}");
                seen.state == Some(JobState::Succeeded)
            }
            None => false,
        }
    })
    .await;
    last
}

/// A BMC that updates itself goes away before it comes back.
fn is_away(fault: &Fault) -> bool {
    matches!(fault.class, FaultClass::Unreachable | FaultClass::Busy)
}
