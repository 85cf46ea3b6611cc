//! Parts that are exchanged.

use super::*;

#[test]
fn a_swap_cuts_the_power_and_only_the_new_part_is_another() {
    let mut bench = bench();
    let (before, parts) = (bench.world.identity(bench.machine), bench.world.inventory(bench.machine));
    let swap = Swap { parts: vec![HardwarePart::SystemBoard], bmc_password: Some("new-password".to_owned()), ..Swap::default() };
    let after = bench.world.swap(bench.machine, &swap, bench.now).unwrap();
    assert_eq!(bench.world.power_state(bench.machine), PowerState::Off);
    assert_ne!((&before.serial_number, &before.bmc_mac), (&after.serial_number, &after.bmc_mac));
    assert_eq!(before.boot_mac, after.boot_mac);
    assert_eq!(parts, bench.world.inventory(bench.machine));
    assert!(bench.digests()[0].starts_with("OS: system"));
    let user = &bench.world.layout().machines()[bench.machine].bmc_user;
    assert!(bench.world.hardware(bench.machine).accounts.log_in(user, "new-password").is_some());

    let swap = Swap { parts: vec![HardwarePart::Drives, HardwarePart::Nic], ..Swap::default() };
    bench.world.swap(bench.machine, &swap, bench.now).unwrap();
    bench.reopen();
    let new = bench.world.inventory(bench.machine);
    assert!(bench.digests().is_empty());
    assert!(parts.drives.iter().zip(&new.drives).all(|(old, new)| old.serial_number != new.serial_number && old.wwn != new.wwn));
    assert!(parts.nics.iter().zip(&new.nics).all(|(old, new)| old.mac != new.mac));
    assert_eq!(parts.dimms, new.dimms);
}

#[test]
fn a_swap_that_makes_no_sense_changes_nothing() {
    let mut bench = bench();
    let before = bench.world.identity(bench.machine);
    let text = |text: &str| Some(text.to_owned());
    let cases = [
        (Swap::default(), "nothing is exchanged"),
        (Swap { serial_number: text(""), ..Swap::default() }, "a serial number"),
        (Swap { serial_number: text("A B"), ..Swap::default() }, "a serial number"),
        (Swap { bmc_mac: text("02:00"), ..Swap::default() }, "`bmc-mac`"),
        (Swap { boot_mac: text("02:00:00:00:00:0g"), ..Swap::default() }, "`boot-mac`"),
        (Swap { bmc_password: text("short"), ..Swap::default() }, "a password"),
    ];
    for (swap, why) in cases {
        let refusal = bench.world.swap(bench.machine, &swap, bench.now).unwrap_err().to_string();
        assert!(refusal.starts_with(why), "{refusal}");
    }
    assert_eq!(bench.world.identity(bench.machine), before);
    assert_eq!(bench.world.power_state(bench.machine), PowerState::On);
}
