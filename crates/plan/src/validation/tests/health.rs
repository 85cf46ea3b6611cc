//! `health_info` and `boot_info`.

use expect_test::expect;
use model::{AlarmSeen, BootDeviceSeen, Told};

use super::{Case, check, drives, sensor, told};

#[test]
fn sensors_fail_but_power_supplies_only_warn() {
    use model::{PartHealth, SensorKind};
    let sensors = |sensor| Told::Told(vec![sensor]);
    check(
        |case| case.seen.sensors = sensors(sensor("Fan 1", SensorKind::Fan, PartHealth::Critical)),
        expect![[r#"
        Fail health_info: Fan 1 `Enabled-OK` → `Enabled-Critical`
        failed: health_info
    "#]],
    );
    check(
        |case| case.seen.sensors = sensors(sensor("CPU 1", SensorKind::Processor, PartHealth::Warning)),
        expect![[r#"
        Warning health_info: CPU 1 `Enabled-OK` → `Enabled-Warning`
        failed: nothing
    "#]],
    );
    check(
        |case| case.seen.sensors = sensors(sensor("Power Supply 1", SensorKind::PowerSupply, PartHealth::Critical)),
        expect![[r#"
        Warning health_info: Power Supply 1 `Enabled-OK` → `Enabled-Critical`
        failed: nothing
    "#]],
    );
    check(
        |case| case.seen.sensors = sensors(model::SensorSeen { health: None, ..sensor("Fan 1", SensorKind::Fan, PartHealth::Ok) }),
        expect![[r#"
        Info health_info: Fan 1 `Enabled-OK` → `Enabled`
        failed: nothing
    "#]],
    );
    check(
        |case| case.seen.system.health = Some(PartHealth::Critical),
        expect![[r#"
        Warning health_info: System `OK` → `Critical`
        failed: nothing
    "#]],
    );
    check(
        |case| drives(case)[0].health = Some(PartHealth::Critical),
        expect![[r#"
        Fail health_info: Disk_0 `Enabled-OK` → `Enabled-Critical`
        failed: health_info
    "#]],
    );
    check(
        |case| drives(case)[0].failure_predicted = true,
        expect![[r#"
        Warning health_info: Disk_0 `Enabled-OK` → `failure predicted`
        failed: nothing
    "#]],
    );
}

#[test]
fn a_machine_that_came_up_when_it_was_switched_on_obeys() {
    check(
        |case| case.was_switched_on = true,
        expect![[r#"
        Pass health_info: Server Control Actions `Success` → `Success`
        failed: nothing
    "#]],
    );
}

#[test]
fn a_log_that_could_not_be_read_to_its_end_warns() {
    check(
        |case| case.seen.log.unread = 3,
        expect![[r#"
        Warning health_info: LCLog_Critical_Alarms `No Critical Errors` → `none among what could be read of the log`
        failed: nothing
    "#]],
    );
}

#[test]
fn an_alarm_is_as_old_as_the_clock_that_wrote_it_says() {
    let at = |created: &'static str, clock: Option<&'static str>| {
        move |case: &mut Case| {
            let message = "Fan 1 failed".to_owned();
            case.seen.alarms = Told::Told(vec![AlarmSeen { health: model::PartHealth::Critical, message, created: Some(created.into()) }]);
            case.seen.log.clock = clock.map(str::to_owned);
        }
    };
    let recent = |created: &str| {
        format!("Fail health_info: LCLog_Critical_Alarms `No Critical Errors` → `{created} Fan 1 failed`\nfailed: health_info\n")
    };
    let old = "log health_info: Critical alarms that are older than 1d 00h were passed over: 1\nfailed: nothing\n";
    let (never_set, set_since) = ("2000-01-01T01:00:00Z", "2026-03-01T11:30:00Z");
    assert_eq!(told(at(never_set, Some("2000-01-01T02:00:00Z"))), recent(never_set));
    assert_eq!(told(at(never_set, Some("2000-01-05T00:00:00Z"))), old);
    assert_eq!(told(at(never_set, Some(set_since))), recent(never_set));
    assert_eq!(told(at(never_set, None)), recent(never_set));
    assert_eq!(told(at("2026-02-20T00:00:00Z", Some("2026-02-20T03:00:00Z"))), recent("2026-02-20T00:00:00Z"));
    assert_eq!(told(at("2026-02-20T00:00:00Z", None)), old);
}

#[test]
fn critical_alarms_fail_unless_they_are_of_virtual_disks_or_old() {
    use model::PartHealth;
    let alarm = |health, message: &str, created: &str| AlarmSeen { health, message: message.into(), created: Some(created.into()) };
    let today = "2026-03-01T11:00:00Z";
    check(
        |case| case.seen.alarms = Told::Told(vec![alarm(PartHealth::Critical, "BP1 PG voltage is outside of range", today)]),
        expect![[r#"
        Fail health_info: LCLog_Critical_Alarms `No Critical Errors` → `2026-03-01T11:00:00Z BP1 PG voltage is outside of range`
        failed: health_info
    "#]],
    );
    check(
        |case| case.seen.alarms = Told::Told(vec![alarm(PartHealth::Warning, "Fan 1 is slow", today)]),
        expect![[r#"
        Info health_info: LCLog_Warning_Alarms - Non-Failing `No Warning Errors` → `2026-03-01T11:00:00Z Fan 1 is slow`
        failed: nothing
    "#]],
    );
    check(
        |case| case.seen.alarms = Told::Told(vec![alarm(PartHealth::Critical, "Virtual Disk 0 has failed", today)]),
        expect![[r#"
        log health_info: Alarms of virtual disks and of jobs were passed over: 2026-03-01T11:00:00Z Virtual Disk 0 has failed
        failed: nothing
    "#]],
    );
    check(
        |case| case.seen.alarms = Told::Told(vec![alarm(PartHealth::Critical, "Task JID_2 failed.", today)]),
        expect![[r#"
        log health_info: Alarms of virtual disks and of jobs were passed over: 2026-03-01T11:00:00Z Task JID_2 failed.
        failed: nothing
    "#]],
    );
    check(
        |case| case.seen.alarms = Told::Told(vec![alarm(PartHealth::Critical, "Fan 1 failed", "2025-01-01T00:00:00Z")]),
        expect![[r#"
        log health_info: Critical alarms that are older than 1d 00h were passed over: 1
        failed: nothing
    "#]],
    );
    check(
        |case| case.seen.alarms = Told::Told(vec![alarm(PartHealth::Critical, "Fan 1 failed", "yesterday")]),
        expect![[r#"
        Fail health_info: LCLog_Critical_Alarms `No Critical Errors` → `yesterday Fan 1 failed`
        failed: health_info
    "#]],
    );
}

#[test]
fn a_boot_device_that_is_switched_off_fails_and_network_boot_only_warns() {
    let change = |change: fn(&mut BootDeviceSeen)| {
        move |case: &mut Case| {
            let Told::Told(boot) = &mut case.seen.boot else { panic!("no boot") };
            change(boot);
        }
    };
    check(
        change(|boot| boot.is_enabled = Some(false)),
        expect![[r#"
        Fail boot_info: boot_device_state `Enabled` → `Disabled`
        failed: boot_info
    "#]],
    );
    check(
        change(|boot| boot.pxe_port = Some("NIC.2".into())),
        expect![[r#"
        Warning boot_info: pxe_device_1_name `NIC.1` → `NIC.2`
        failed: nothing
    "#]],
    );
    check(
        change(|boot| boot.is_pxe_enabled = Some(false)),
        expect![[r#"
        Warning boot_info: pxe_device_1_state `Enabled` → `Disabled`
        failed: nothing
    "#]],
    );
    check(
        change(|boot| *boot = BootDeviceSeen::default()),
        expect![[r#"
        Info boot_info: boot_device_name `` → `not offered`
        Info boot_info: boot_device_state `Enabled` → `not offered`
        Info boot_info: pxe_device_1_name `NIC.1` → `not offered`
        Info boot_info: pxe_device_1_state `Enabled` → `not offered`
        failed: nothing
    "#]],
    );
}
