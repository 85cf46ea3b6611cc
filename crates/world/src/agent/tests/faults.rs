//! What goes wrong with an installation on purpose, and with what is installed on.

use super::*;

#[test]
fn each_fault_of_an_installation_is_met_where_it_strikes() {
    let cases: [(FaultKind, &[&str]); 9] = [
        (FaultKind::BootsOldDisk, &[]),
        (FaultKind::AgentNeverCalls, &["media"]),
        (FaultKind::DiskMissing, &["media", "exchange as rack1compute01", "failed MissingDisk: the controller shows no volume for it"]),
        (FaultKind::DiskTwice, &["media", "exchange as rack1compute01", "failed AmbiguousDisk: 2 disks are what sda is to be known by"]),
        (
            FaultKind::DiskSmall,
            &["media", "exchange as rack1compute01", "failed DiskTooSmall: sda has too few bytes for the 100 of the image"],
        ),
        (FaultKind::ImageWrong, &["media", "exchange as rack1compute01", "spoiled image"]),
        (
            FaultKind::ImageUnreachable,
            &["media", "exchange as rack1compute01", "failed ImageUnreachable: http://images/os.img: no route to host"],
        ),
        (FaultKind::TokenUsedTwice, &["media", "exchange as rack1compute01", "exchange as rack1compute01", "image"]),
        (FaultKind::TokenStolen, &["media", "exchange as rack1compute02", "exchange as rack1compute01", "image"]),
    ];
    for (kind, expected) in cases {
        let mut bench = bench();
        bench.fault(kind, None);
        bench.boot_agent();
        let mut asked = Vec::new();
        for _ in 0..12 {
            for call in bench.world.take_errands() {
                let outcome = match &call.errand {
                    Errand::FetchMedia { .. } => Outcome::Media(Box::new(config())),
                    Errand::Exchange { machine, .. } if machine != NAME => Outcome::Refused { status: 401 },
                    Errand::Exchange { .. } => grant(WantedDisk::default()),
                    _ => Outcome::Refused { status: 404 },
                };
                if !is_told_beside(&call.errand) {
                    asked.push(brief(&call.errand).replace("media http://control/agent.iso", "media"));
                }
                bench.world.finish_errand(call.machine, call.number, outcome, bench.now);
            }
            bench.pass(5);
        }
        asked.dedup_by(|a, b| a == b && a.ends_with("image"));
        asked.retain(|text| !text.starts_with("failed ImageUnreachable: http://images/os.img: it answers"));
        assert_eq!(asked, expected, "{kind}");
    }
}

/// The nonces of the exchanges that are asked for, until the agent has a session.
fn nonces(bench: &mut Bench, answers: &[Outcome]) -> Vec<String> {
    let mut nonces = Vec::new();
    for outcome in answers {
        let call = bench.asked();
        if let Errand::Exchange { nonce, .. } = &call.errand {
            nonces.push(nonce.clone());
        }
        bench.world.finish_errand(call.machine, call.number, outcome.clone(), bench.now);
        bench.pass(10);
    }
    nonces
}

#[test]
fn an_agent_that_hears_nothing_asks_again_as_the_same_and_a_copy_of_it_or_its_next_start_as_another() {
    let mut bench = bench();
    bench.boot_agent();
    let silence = Outcome::Silence { why: "nobody".to_owned() };
    let media = Outcome::Media(Box::new(config()));
    let first = nonces(&mut bench, &[media.clone(), silence, grant(WantedDisk::default())]);
    assert_eq!((first.len(), &first[0]), (2, &first[1]));
    bench.world.reset(bench.machine, ResetType::ForceOff, bench.now);
    bench.pass(10);
    bench.world.eject_media(bench.machine, MediaSlot::Cd, bench.now);
    bench.fault(FaultKind::TokenUsedTwice, None);
    bench.boot_agent();
    let second = nonces(&mut bench, &[media, grant(WantedDisk::default()), Outcome::Refused { status: 409 }]);
    assert_eq!(second.len(), 2);
    assert!(second[0] != second[1] && !second.contains(&first[0]), "{first:?} {second:?}");
}

#[test]
fn other_bytes_than_the_images_are_told_and_leave_nothing_to_start() {
    let mut bench = bench();
    bench.boot_agent();
    bench.answer(Outcome::Media(Box::new(config())));
    bench.answer(grant(WantedDisk::default()));
    bench.answer(Outcome::Image { bytes: 100, sha256: "beef".to_owned(), release: None });
    let told = bench.answer(Outcome::Done);
    assert_eq!(told, "failed WrongDigest: http://images/os.img: 100 bytes with sha256 1f2e were expected, and 100 with beef came");
    assert_eq!(bench.digests()[0], "OS: nothing");
}

#[test]
fn a_system_that_never_phones_home_does_so_when_the_fault_has_gone() {
    let mut bench = bench();
    bench.install(TOKEN);
    bench.mint(&token_fields());
    bench.fault(FaultKind::NeverPhonesHome, None);
    bench.boot_disk();
    bench.pass(3_600);
    assert!(bench.is_quiet());
    assert_eq!(node::ready_status(&bench.node()), Some("Unknown"));
    let ids: Vec<_> = bench.world.faults().iter().map(|fault| fault.id).collect();
    bench.world.clear_faults(&ids, bench.now);
    bench.pass(10);
    assert_eq!(bench.answer(Outcome::Refused { status: 404 }), "phone home to http://control/phone-home");
    assert_eq!(bench.setup(), Setup::Joined, "who is sent away at home still joins");
}

#[test]
fn a_deletion_of_volumes_fails_as_often_as_it_is_told_to() {
    let mut bench = bench();
    bench.fault(FaultKind::RaidDeletionFails, Some(2));
    let before = bench.digests();
    for _ in 0..2 {
        bench.world.reset_storage(bench.machine, bench.now).unwrap();
        bench.pass(120);
        assert_eq!(bench.digests(), before);
        bench.reopen();
    }
    assert!(bench.world.faults().is_empty());
    bench.world.reset_storage(bench.machine, bench.now).unwrap();
    bench.pass(120);
    assert!(bench.digests().is_empty());
}

#[test]
fn a_stuck_firmware_job_stays_until_its_fault_ends() {
    let mut bench = bench();
    bench.fault(FaultKind::FirmwareJobStuck, None);
    let running = |bench: &Bench| bench.world.hardware(bench.machine).tasks.iter().filter(|task| task.is_running()).count();
    bench.pass(86_400);
    bench.reopen();
    assert_eq!(running(&bench), 1);
    assert!(bench.world.update_firmware(bench.machine, "bios-2.bin", None, crate::AfterRestart::Remembered, bench.now).is_err());
    let ids: Vec<_> = bench.world.faults().iter().map(|fault| fault.id).collect();
    bench.world.clear_faults(&ids, bench.now);
    assert_eq!(running(&bench), 0);
}

#[test]
fn parts_that_are_not_there_are_not_told_of() {
    let mut bench = bench();
    for (kind, setting) in [(FaultKind::MemoryMissing, 4), (FaultKind::NicMissing, 3), (FaultKind::DriveMissing, 5)] {
        bench.fault(kind, Some(setting));
    }
    let inventory = bench.world.inventory(bench.machine);
    assert_eq!((inventory.dimms.len(), bench.world.memory_gib(bench.machine)), (12, 384));
    assert_eq!(inventory.nics.iter().map(|nic| nic.port).collect::<Vec<_>>(), [1, 2, 4]);
    assert_eq!(inventory.drives.iter().map(|drive| drive.bay).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}
