//! What an installation and a hardware validation look at, and the volume that is made for a system.

use model::{BootWay, Inspection, PartHealth, SensorKind, SourceSeen, Told};
use redfish::{Bmc, BootSource, Persistence};

use crate::parts::follow;
use crate::peer::{Ability, Lacks, Peer, offered};

/// Which ways there are, before anything is set; then what is in the drive and what the machine starts from, as it is set.
pub async fn check_survey(peer: &Peer, bmc: &Bmc, lacks: &mut Lacks) {
    let survey = bmc.observe_survey().await.unwrap();
    assert!(survey.ways.starts_with(&[BootWay::VirtualMedia]) && survey.ways.contains(&BootWay::Pxe), "{survey:?}");
    if !survey.ways.contains(&BootWay::UefiHttp) {
        lacks.insert(Ability::BootHttp);
    }
    match survey.jobs {
        Some(jobs) => assert_eq!(jobs, [], "nothing was begun"),
        None => drop(lacks.insert(Ability::Jobs)),
    }
    bmc.request_insert_media(&peer.image).await.unwrap();
    bmc.request_boot(&BootSource::Cd, Persistence::Continuous).await.unwrap();
    let wanted = (Some(peer.image.to_string()), SourceSeen::Media);
    peer.until("the start from media", async || start(bmc).await == wanted).await;
    bmc.request_boot(&BootSource::Hdd, Persistence::Continuous).await.unwrap();
    bmc.request_eject_media().await.unwrap();
    peer.until("the start from the disk", async || start(bmc).await == (None, SourceSeen::Disk)).await;
}

async fn start(bmc: &Bmc) -> (Option<String>, SourceSeen) {
    let seen = bmc.observe_start().await.unwrap();
    (seen.media, seen.source)
}

/// Makes the system's volume on a machine whose storage was reset, sees it, and deletes it.
pub async fn check_os_volume(peer: &Peer, bmc: &Bmc, lacks: &mut Lacks) {
    let Some(job) = offered(bmc.request_os_volume("System").await, Ability::OsVolume, lacks) else { return };
    assert!(bmc.observe_survey().await.unwrap().jobs.unwrap().iter().all(|job| !job.concerns_firmware), "a volume is no firmware");
    follow(peer, bmc, job).await;
    let volumes = bmc.observe_volumes().await.unwrap().volumes.expect("they are offered");
    assert_eq!(volumes.iter().map(|volume| volume.name.as_str()).collect::<Vec<_>>(), ["System"]);
    follow(peer, bmc, bmc.request_volume_delete(&volumes[0].path).await.unwrap()).await;
    assert_eq!(bmc.observe_volumes().await.unwrap().volumes, Some(Vec::new()));
}

/// What is told must be so, what is not told must be declared, and nothing may be unread.
fn told<'a, T: std::fmt::Debug>(part: &'a Told<T>, ability: Ability, lacks: &mut Lacks) -> Option<&'a T> {
    match part {
        Told::Told(part) => Some(part),
        Told::NotOffered => {
            lacks.insert(ability);
            None
        }
        Told::Unread(fault) => panic!("{ability:?}: {fault}"),
    }
}

pub async fn check_hardware(bmc: &Bmc, lacks: &mut Lacks) {
    let Inspection { system, drives, ports, sensors, alarms, log: _, firmware, boot, license } = bmc.observe_hardware().await.unwrap();
    assert!(system.health.is_some(), "{system:?}");
    if system.sockets.is_none() || system.memory_gib.is_none() {
        lacks.insert(Ability::Sums);
    }
    assert!(system.bmc_mac.as_ref().is_none_or(|mac| mac.len() == 17), "{system:?}");
    if let Some(drives) = told(&drives, Ability::Drives, lacks) {
        let bays: Vec<u32> = drives.iter().map(|drive| drive.bay).collect();
        assert_eq!(bays, (0..).take(drives.len()).collect::<Vec<_>>());
        assert!(drives.iter().all(|drive| drive.serial.is_some() && drive.capacity_gb > Some(0) && drive.kind.is_some()), "{drives:?}");
    }
    if let Some(ports) = told(&ports, Ability::Nics, lacks) {
        assert!(!ports.is_empty() && ports.iter().all(|port| port.mac.is_some()), "{ports:?}");
    }
    if let Some(sensors) = told(&sensors, Ability::Sensors, lacks) {
        let has = |kind| sensors.iter().any(|sensor| sensor.kind == kind);
        assert!([SensorKind::Fan, SensorKind::Temperature, SensorKind::Controller].into_iter().all(has), "{sensors:?}");
        if !has(SensorKind::PowerSupply) {
            lacks.insert(Ability::PowerSupplies);
        }
        assert!(sensors.iter().all(|sensor| sensor.health.is_none_or(|health| health == PartHealth::Ok)), "{sensors:?}");
    }
    if let Some(alarms) = told(&alarms, Ability::Logs, lacks) {
        assert_eq!(*alarms, [], "nothing has gone wrong yet");
    }
    if let Some(firmware) = told(&firmware, Ability::FirmwareInventory, lacks) {
        assert!(!firmware.is_empty() && firmware.iter().all(|one| one.version.is_some()), "{firmware:?}");
    }
    if let Some(boot) = told(&boot, Ability::BootOptions, lacks) {
        assert!(boot.device.is_some() && boot.is_enabled == Some(true), "{boot:?}");
        let pxe_port = boot.pxe_port.as_deref().expect("a machine boots over the network");
        let is_port = |port: &model::PortSeen| port.name == pxe_port;
        assert!(ports.told().is_some_and(|ports| ports.iter().any(is_port)) && boot.is_pxe_enabled == Some(true), "{boot:?}");
    }
    if let Some(license) = told(&license, Ability::License, lacks) {
        assert!(!license.name.is_empty() && !license.is_trial, "{license:?}");
    }
}
