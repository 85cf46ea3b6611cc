//! One table for each category: a machine that is as it should be, changed in one thing.

use expect_test::{Expect, expect};
use model::{
    AlarmSeen, Artefact, BootArtefacts, BootDeviceSeen, Delivery, Digest, DriveSeen, Fault, FaultClass, FirmwareFloor, FirmwareSeen,
    LicenseSeen, PortSeen, RackName, RuntimeVersion, SecretRef, SkuDrive, SkuPort, SystemSeen, Told,
};

use super::*;

/// What a case changes.
struct Case {
    sku: Option<Sku>,
    hardware: Hardware,
    bundle: Option<Bundle>,
    seen: Inspection,
    is_on: bool,
}

fn sku() -> Sku {
    Sku {
        name: "R750".into(),
        models: vec!["PowerEdge R750".into()],
        cpu_sockets: Some(2),
        memory_gb: Some(512),
        drives: vec![SkuDrive { capacity_gb: 960, kind: "SSD".into() }],
        ports: vec![SkuPort { name: "NIC.1".into(), link_up: true }, SkuPort { name: "NIC.2".into(), link_up: false }],
        boot_port: Some("NIC.1".into()),
    }
}

fn hardware() -> Hardware {
    Hardware {
        rack: RackName::new("rack1").unwrap(),
        slot: 1,
        sku: "R750".into(),
        serial_number: "S1".into(),
        bmc_address: "http://bmc.invalid".into(),
        bmc_mac: "00-00-00-00-00-0A".into(),
        boot_mac: "00:00:00:00:00:0b".into(),
        credentials: SecretRef::new("bmc/x"),
    }
}

fn bundle() -> Bundle {
    let artefact = Artefact { url: "http://image.invalid".into(), sha256: Digest::parse(&"ab".repeat(32)).unwrap(), bytes: 1 };
    let floor = |component: &str, minimum: &str| FirmwareFloor {
        model: "PowerEdge R750".into(),
        component: component.into(),
        minimum: minimum.into(),
    };
    Bundle {
        version: RuntimeVersion::parse("4.4.3").unwrap(),
        os_name: "Linux".into(),
        os_image: artefact.clone(),
        kubernetes_version: "1.31.8".into(),
        boot: BootArtefacts { agent_image: artefact, http: None, pxe: None },
        firmware: vec![floor("BIOS", "1.12.0")],
        user_data: std::collections::BTreeMap::new(),
    }
}

fn port(name: &str, mac: &str, is_up: bool) -> PortSeen {
    PortSeen { name: name.into(), mac: Some(mac.into()), is_up: Some(is_up), health: None }
}

fn sensor(name: &str, kind: model::SensorKind, health: model::PartHealth) -> model::SensorSeen {
    model::SensorSeen { name: name.into(), kind, state: Some("Enabled".into()), health: Some(health) }
}

fn well() -> Case {
    let drive = DriveSeen {
        bay: 0,
        name: "Disk 0".into(),
        capacity_gb: Some(959),
        kind: Some("SSD".into()),
        serial: None,
        health: Some(model::PartHealth::Ok),
        failure_predicted: false,
    };
    let seen = Inspection {
        system: SystemSeen {
            model: Some("PowerEdge R750".into()),
            serial_number: Some("s1".into()),
            bmc_mac: Some("00:00:00:00:00:0a".into()),
            memory_gib: Some(512),
            sockets: Some(2),
            health: Some(model::PartHealth::Ok),
        },
        drives: Told::Told(vec![drive]),
        ports: Told::Told(vec![port("NIC.1", "00:00:00:00:00:0b", true), port("NIC.2", "00:00:00:00:00:0c", false)]),
        sensors: Told::Told(vec![sensor("Fan 1", model::SensorKind::Fan, model::PartHealth::Ok)]),
        alarms: Told::Told(Vec::new()),
        firmware: Told::Told(vec![FirmwareSeen { name: "BIOS".into(), version: Some("1.13.2".into()) }]),
        boot: Told::Told(BootDeviceSeen {
            device: Some("RAID".into()),
            is_enabled: Some(true),
            pxe_port: Some("NIC.1-1".into()),
            is_pxe_enabled: Some(true),
        }),
        license: Told::Told(LicenseSeen { name: "iDRAC9 Datacenter License".into(), is_trial: false }),
    };
    Case { sku: Some(sku()), hardware: hardware(), bundle: Some(bundle()), seen, is_on: true }
}

fn now() -> Timestamp {
    Timestamp::parse("2026-03-01T12:00:00Z").unwrap()
}

fn results(case: &Case) -> Vec<CategoryResult> {
    let Case { sku, hardware, bundle, seen, is_on } = case;
    let expected = Expected { sku: sku.as_ref(), hardware, bundle: bundle.as_ref(), is_on: *is_on, now: now() };
    validate(&expected, seen)
}

fn lines(results: &[CategoryResult]) -> Vec<String> {
    let told = |category: &CategoryResult| {
        let name = category.category.as_str();
        let fields = category
            .fields
            .iter()
            .map(|field| format!("{:?} {name}: {} `{}` → `{}`", field.comparison, field.name, field.expected, field.fetched));
        fields.chain(category.log.iter().map(|line| format!("log {name}: {line}"))).collect::<Vec<_>>()
    };
    results.iter().flat_map(told).collect()
}

/// What differs from the machine that is well, and what it comes to.
fn check(change: impl FnOnce(&mut Case), expected: Expect) {
    let mut case = well();
    change(&mut case);
    let (usual, found) = (lines(&results(&well())), results(&case));
    let failed: Vec<&str> =
        found.iter().filter(|category| category.result == ValidationResult::Fail).map(|category| category.category.as_str()).collect();
    let mut text: String = lines(&found).into_iter().filter(|line| !usual.contains(line)).map(|line| line + "\n").collect();
    text += &format!("failed: {}\n", if failed.is_empty() { "nothing".to_owned() } else { failed.join(", ") });
    expected.assert_eq(&text);
}

fn ports(case: &mut Case) -> &mut Vec<PortSeen> {
    let Told::Told(ports) = &mut case.seen.ports else { panic!("no ports") };
    ports
}

fn drives(case: &mut Case) -> &mut Vec<DriveSeen> {
    let Told::Told(drives) = &mut case.seen.drives else { panic!("no drives") };
    drives
}

fn unread() -> Fault {
    Fault::new(FaultClass::Garbled, Delivery::No, "GET /x answered 500")
}

#[test]
fn a_machine_that_is_as_it_should_be_passes_in_everything() {
    let told: String = lines(&results(&well())).into_iter().map(|line| line + "\n").collect();
    expect![[r#"
        Pass device_login: device_login `Success` → `Success`
        Pass system_info: memory_capacity_GB `512` → `512`
        Pass system_info: cpu_sockets `2` → `2`
        Pass system_info: Model `PowerEdge R750` → `PowerEdge R750`
        Pass system_info: Serial_Number `S1` → `s1`
        Pass system_info: iDRAC License Check `a license that is no trial; Enterprise or Datacenter of an iDRAC` → `iDRAC9 Datacenter License`
        Info system_info: BIOS - firmware_version `` → `1.13.2`
        Pass system_info: BIOS - unsupported_firmware_check `at least 1.12.0` → `1.13.2`
        Pass drive_info: Disk_0_Capacity_GB `960` → `959`
        Pass drive_info: Disk_0_Type `SSD` → `SSD`
        Pass network_info: iDRAC_MAC `00:00:00:00:00:0a` → `00:00:00:00:00:0a`
        Pass network_info: NIC.1_PXE_MAC `00:00:00:00:00:0b` → `00:00:00:00:00:0b`
        Pass network_info: NIC.1_LinkStatus `Up` → `Up`
        Pass network_info: NIC.2_LinkStatus `Down` → `Down`
        Pass health_info: System `OK` → `OK`
        Pass health_info: Fan 1 `Enabled-OK` → `Enabled-OK`
        Pass health_info: Disk_0 `Enabled-OK` → `Enabled-OK`
        Pass health_info: LCLog_Critical_Alarms `No Critical Errors` → `No Critical Errors`
        Info boot_info: boot_device_name `` → `RAID`
        Pass boot_info: boot_device_state `Enabled` → `Enabled`
        Pass boot_info: pxe_device_1_name `NIC.1` → `NIC.1-1`
        Pass boot_info: pxe_device_1_state `Enabled` → `Enabled`
    "#]].assert_eq(&told);
}

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
        log system_info: Runtime 4.4.3 has no minimum firmware for this model
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
        log system_info: Runtime 4.4.3 has no minimum firmware for this model
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
        log system_info: No runtime is known, so no minimum firmware was compared
        failed: nothing
    "#]],
    );
    check(
        |case| case.bundle.as_mut().unwrap().firmware.clear(),
        expect![[r#"
        log system_info: Runtime 4.4.3 has no minimum firmware for this model
        failed: nothing
    "#]],
    );
}

#[test]
fn a_drive_that_is_missing_is_fetched_as_nothing() {
    check(
        |case| drives(case).clear(),
        expect![[r#"
        Fail drive_info: Disk_0_Capacity_GB `960` → ``
        Fail drive_info: Disk_0_Type `SSD` → ``
        log drive_info: No drive is seen in bay 0
        failed: drive_info
    "#]],
    );
    check(
        |case| drives(case)[0].capacity_gb = Some(480),
        expect![[r#"
        Fail drive_info: Disk_0_Capacity_GB `960` → `480`
        failed: drive_info
    "#]],
    );
    check(
        |case| drives(case)[0].kind = Some("HDD".into()),
        expect![[r#"
        Fail drive_info: Disk_0_Type `SSD` → `HDD`
        failed: drive_info
    "#]],
    );
    check(
        |case| drives(case)[0].capacity_gb = None,
        expect![[r#"
        Info drive_info: Disk_0_Capacity_GB `960` → `not offered`
        failed: nothing
    "#]],
    );
}

#[test]
fn a_port_must_be_linked_if_and_only_if_it_should_be() {
    check(
        |case| ports(case)[0].is_up = Some(false),
        expect![[r#"
        Fail network_info: NIC.1_LinkStatus `Up` → `Down`
        log network_info: Link failure detected on NIC.1
        failed: network_info
    "#]],
    );
    check(
        |case| ports(case)[1].is_up = Some(true),
        expect![[r#"
        Fail network_info: NIC.2_LinkStatus `Down` → `Up`
        log network_info: Unexpected link on NIC.2
        failed: network_info
    "#]],
    );
    check(
        |case| ports(case)[0].is_up = None,
        expect![[r#"
        Info network_info: NIC.1_LinkStatus `Up` → `not offered`
        failed: nothing
    "#]],
    );
    check(
        |case| drop(ports(case).remove(1)),
        expect![[r#"
        Fail network_info: NIC.2_LinkStatus `Down` → ``
        log network_info: There is no port NIC.2
        failed: network_info
    "#]],
    );
    check(
        |case| {
            case.is_on = false;
            ports(case)[0].is_up = Some(false);
        },
        expect![[r#"
            Info network_info: NIC.1_LinkStatus `Up` → `not known: the machine is off`
            Info network_info: NIC.2_LinkStatus `Down` → `Down`
            failed: nothing
        "#]],
    );
}

#[test]
fn the_addresses_of_the_bmc_and_of_the_boot_port_must_be_the_machines() {
    check(
        |case| case.seen.system.bmc_mac = Some("00:00:00:00:00:0f".into()),
        expect![[r#"
        Fail network_info: iDRAC_MAC `00:00:00:00:00:0a` → `00:00:00:00:00:0f`
        failed: network_info
    "#]],
    );
    check(
        |case| ports(case)[0].mac = Some("00:00:00:00:00:0f".into()),
        expect![[r#"
        Fail network_info: NIC.1_PXE_MAC `00:00:00:00:00:0b` → `00:00:00:00:00:0f`
        failed: network_info
    "#]],
    );
    check(
        |case| case.sku.as_mut().unwrap().boot_port = None,
        expect![[r#"
        Info boot_info: pxe_device_1_name `` → `NIC.1-1`
        failed: nothing
    "#]],
    );
    check(
        |case| {
            case.sku.as_mut().unwrap().boot_port = None;
            case.hardware.boot_mac = "00:00:00:00:00:0f".into();
        },
        expect![[r#"
            Fail network_info: PXE_MAC `00:00:00:00:00:0f` → `no port has it`
            Info boot_info: pxe_device_1_name `` → `NIC.1-1`
            failed: network_info
        "#]],
    );
}

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
        log health_info: Alarms of virtual disks were passed over: 2026-03-01T11:00:00Z Virtual Disk 0 has failed
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

#[test]
fn without_a_sku_parts_are_told_and_the_identity_is_still_compared() {
    check(
        |case| case.sku = None,
        expect![[r#"
        Info system_info: memory_capacity_GB `` → `512`
        Info system_info: cpu_sockets `` → `2`
        Info system_info: Model `` → `PowerEdge R750`
        Info drive_info: Disk_0_Capacity_GB `` → `959`
        Info drive_info: Disk_0_Type `` → `SSD`
        Info network_info: NIC.1_LinkStatus `` → `Up`
        Info network_info: NIC.2_LinkStatus `` → `Down`
        Info boot_info: pxe_device_1_name `` → `NIC.1-1`
        failed: nothing
    "#]],
    );
}

#[test]
fn failures_name_their_fields_and_what_was_logged() {
    let mut case = well();
    ports(&mut case)[0].is_up = Some(false);
    drives(&mut case).clear();
    expect![[r#"
        Drive test(s) failed: [Disk_0_Capacity_GB] expected: 960; observed: nothing; [Disk_0_Type] expected: SSD; observed: nothing; [Additional logs: No drive is seen in bay 0]
        Networking test(s) failed: [NIC.1_LinkStatus] expected: Up; observed: Down; [Additional logs: Link failure detected on NIC.1]
    "#]].assert_eq(&(failures(&results(&case)).join("\n") + "\n"));
}
