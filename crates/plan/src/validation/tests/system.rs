//! `system_info`, and what a BMC does not tell.

use expect_test::expect;
use model::{FirmwareSeen, LicenseSeen, SystemSeen, Told};

use super::{check, lines, results, unread, well};

#[test]
fn memory_sockets_model_and_serial_number_are_compared() {
    check(
        |case| case.seen.system.memory_gib = Some(480),
        expect![[r#"
        Fail system_info: memory_capacity_GB `512` → `480`
        failed: system_info
    "#]],
    );
    check(
        |case| case.seen.system.sockets = Some(1),
        expect![[r#"
        Fail system_info: cpu_sockets `2` → `1`
        failed: system_info
    "#]],
    );
    check(
        |case| case.seen.system.model = Some("PowerEdge R650".into()),
        expect![[r#"
            Fail system_info: Model `PowerEdge R750` → `PowerEdge R650`
            Info system_info: unsupported_firmware_check `` → `runtime 4.4.3 has no minimum for this model`
            failed: system_info
        "#]],
    );
    check(
        |case| case.seen.system.serial_number = Some("S2".into()),
        expect![[r#"
        Fail system_info: Serial_Number `S1` → `S2`
        failed: system_info
    "#]],
    );
    check(
        |case| case.hardware.serial_number = "S9".into(),
        expect![[r#"
        Fail system_info: Serial_Number `S9` → `s1`
        failed: system_info
    "#]],
    );
}

#[test]
fn what_the_bmc_does_not_tell_is_never_passed() {
    check(
        |case| case.seen.system = SystemSeen::default(),
        expect![[r#"
            Info system_info: memory_capacity_GB `512` → `not offered`
            Info system_info: cpu_sockets `2` → `not offered`
            Info system_info: Model `PowerEdge R750` → `not offered`
            Info system_info: Serial_Number `S1` → `not offered`
            Info system_info: unsupported_firmware_check `` → `runtime 4.4.3 has no minimum for this model`
            Info network_info: iDRAC_MAC `00:00:00:00:00:0a` → `not offered`
            Info health_info: System `OK` → `not offered`
            failed: nothing
        "#]],
    );
    check(
        |case| {
            case.seen.drives = Told::NotOffered;
            case.seen.ports = Told::NotOffered;
            case.seen.sensors = Told::NotOffered;
            case.seen.alarms = Told::NotOffered;
            case.seen.firmware = Told::NotOffered;
            case.seen.boot = Told::NotOffered;
            case.seen.license = Told::NotOffered;
        },
        expect![[r#"
            Info system_info: iDRAC License Check `a license that is no trial; Enterprise or Datacenter of an iDRAC` → `not offered`
            Info system_info: firmware `` → `not offered`
            Info system_info: BIOS - unsupported_firmware_check `at least 1.12.0` → `not offered`
            Info drive_info: drives `1 drives` → `not offered`
            Info network_info: ports `2 ports` → `not offered`
            Info health_info: sensors `Enabled-OK` → `not offered`
            Info health_info: LCLog_Critical_Alarms `No Critical Errors` → `not offered`
            Info boot_info: boot_device_name `` → `not offered`
            failed: nothing
        "#]],
    );
    check(
        |case| {
            case.seen.drives = Told::Unread(unread());
            case.seen.firmware = Told::Unread(unread());
        },
        expect![[r#"
            Warning system_info: firmware `` → `could not be read: garbled: GET /x answered 500`
            Info system_info: BIOS - unsupported_firmware_check `at least 1.12.0` → `not offered`
            Warning drive_info: drives `1 drives` → `could not be read: garbled: GET /x answered 500`
            failed: nothing
        "#]],
    );
    let mut blind = well();
    blind.seen.drives = Told::NotOffered;
    assert!(!lines(&results(&blind)).iter().any(|line| line.contains("drive_info") && line.starts_with("Pass")));
}

#[test]
fn a_license_must_not_be_a_trial_nor_a_lesser_one() {
    let license = |name: &str, is_trial| Told::Told(LicenseSeen { name: name.into(), is_trial });
    check(
        |case| case.seen.license = license("iDRAC9 Datacenter License", true),
        expect![[r#"
        Fail system_info: iDRAC License Check `a license that is no trial; Enterprise or Datacenter of an iDRAC` → `iDRAC9 Datacenter License (trial)`
        failed: system_info
    "#]],
    );
    check(
        |case| case.seen.license = license("iDRAC9 Express", false),
        expect![[r#"
        Fail system_info: iDRAC License Check `a license that is no trial; Enterprise or Datacenter of an iDRAC` → `iDRAC9 Express`
        failed: system_info
    "#]],
    );
    check(
        |case| case.seen.license = license("iLO Advanced", false),
        expect![[r#"
        Pass system_info: iDRAC License Check `a license that is no trial; Enterprise or Datacenter of an iDRAC` → `iLO Advanced`
        failed: nothing
    "#]],
    );
}

#[test]
fn firmware_below_the_runtimes_minimum_fails_and_the_oldest_of_several_counts() {
    let firmware = |name: &str, version: &str| FirmwareSeen { name: name.into(), version: Some(version.into()) };
    check(
        |case| case.seen.firmware = Told::Told(vec![firmware("Dell BIOS", "1.9.2"), firmware("BIOS", "1.13.2")]),
        expect![[r#"
        Info system_info: Dell BIOS - firmware_version `` → `1.9.2`
        Fail system_info: BIOS - unsupported_firmware_check `at least 1.12.0` → `1.9.2`
        failed: system_info
    "#]],
    );
    check(
        |case| case.seen.firmware = Told::Told(vec![firmware("CPLD", "1.0")]),
        expect![[r#"
        Info system_info: CPLD - firmware_version `` → `1.0`
        Info system_info: BIOS - unsupported_firmware_check `at least 1.12.0` → `not offered`
        log system_info: Unable to determine firmware release of BIOS
        failed: nothing
    "#]],
    );
    check(
        |case| case.bundle = None,
        expect![[r#"
            Info system_info: unsupported_firmware_check `` → `no runtime is known`
            failed: nothing
        "#]],
    );
    check(
        |case| case.bundle.as_mut().unwrap().firmware.clear(),
        expect![[r#"
            Info system_info: unsupported_firmware_check `` → `runtime 4.4.3 has no minimum for this model`
            failed: nothing
        "#]],
    );
}
