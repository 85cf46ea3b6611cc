//! Which disks an agent touches, by what it is told; and what it tells of itself beside.

use super::*;

/// What the agent asks and tells after it was granted a session, until it fetches the image or gives up.
fn course(bench: &mut Bench, os_disk: WantedDisk, wipe: &[&str]) -> Vec<String> {
    bench.boot_agent();
    bench.answer(Outcome::Media(Box::new(config())));
    let Outcome::Granted(mut granted) = grant(os_disk) else { unreachable!("a grant is granted") };
    granted.wipe = wipe.iter().map(|id| (*id).to_owned()).collect();
    bench.answer(Outcome::Granted(granted));
    let mut told = Vec::new();
    loop {
        let call = bench.told_or_asked();
        told.push(brief(&call.errand));
        if matches!(call.errand, Errand::FetchImage { .. } | Errand::Report { .. }) {
            return told;
        }
        bench.world.finish_errand(call.machine, call.number, Outcome::Done, bench.now);
    }
}

/// A machine whose controller shows its drives by themselves, each with something on it.
fn without_volumes() -> (Bench, Vec<String>) {
    let mut bench = bench();
    let volumes = &mut bench.world.hardware_mut(bench.machine).volumes;
    volumes.clear();
    for bay in 0..6 {
        volumes.write(crate::hardware::HostDisk::Drive { bay }, Contents::Data { digest: format!("d{bay}") });
    }
    let serials = bench.world.inventory(bench.machine).drives.iter().map(|drive| drive.serial_number.clone()).collect();
    (bench, serials)
}

fn id(id: &str) -> WantedDisk {
    WantedDisk { id: Some(id.to_owned()), ..WantedDisk::default() }
}

#[test]
fn an_agent_tells_what_the_machine_has_and_its_log_before_its_last_word() {
    let mut bench = bench();
    let told = course(&mut bench, WantedDisk { volume: Some("Data9".to_owned()), ..WantedDisk::default() }, &[]);
    let expected = [
        "log: the session has begun",
        "inventory of 3 disks",
        "log: giving up: MissingDisk: no disk has volume Data9",
        "failed MissingDisk: no disk has volume Data9",
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_volume_is_found_by_its_wwn_whatever_it_is_called() {
    let mut bench = bench();
    let wwn = bench.world.hardware(bench.machine).volumes.get(1).unwrap().wwn(&bench.world.inventory(bench.machine));
    let renamed = WantedDisk { volume: Some("System".to_owned()), wwn: Some(wwn.to_ascii_uppercase()), ..WantedDisk::default() };
    assert_eq!(course(&mut bench, renamed, &[]).last().unwrap(), "image");
}

#[test]
fn exactly_the_disks_that_are_listed_are_wiped() {
    let (mut bench, serials) = without_volumes();
    let wwn = bench.world.inventory(bench.machine).drives[4].wwn.clone();
    assert_eq!(course(&mut bench, id(&serials[0]), &[&serials[2], &wwn]).last().unwrap(), "image");
    let expected = ["d0", "d1", "", "d3", "", "d5"].into_iter().enumerate();
    let expected: Vec<String> = expected
        .map(|(bay, digest)| if digest.is_empty() { format!("drive {bay}: nothing") } else { format!("drive {bay}: data {digest}") })
        .collect();
    assert_eq!(bench.digests(), expected);
}

#[test]
fn nothing_is_wiped_unless_all_is_found_and_none_is_the_systems() {
    for wiped in ["nobody", "the system's"] {
        let (mut bench, serials) = without_volumes();
        let before = bench.digests();
        let other = if wiped == "nobody" { "nobody" } else { serials[0].as_str() };
        let told = course(&mut bench, id(&serials[0]), &[&serials[2], other]);
        assert!(told.last().unwrap().starts_with("failed "), "{told:?}");
        assert_eq!(bench.digests(), before, "{wiped}");
    }
}
