//! One table for each category: a machine that is as it should be, changed in one thing.

mod health;
mod parts;
mod system;

use expect_test::{Expect, expect};
use model::{
    Artefact, BootArtefacts, BootDeviceSeen, Delivery, Digest, DriveSeen, Fault, FaultClass, FirmwareFloor, FirmwareSeen, LicenseSeen,
    PortSeen, RackName, RuntimeVersion, SecretRef, SkuDrive, SkuPort, SystemSeen, Told,
};

use super::{Bundle, CategoryResult, Expected, Hardware, Inspection, Sku, Timestamp, ValidationResult, failures, validate};

/// What a case changes.
struct Case {
    sku: Option<Sku>,
    hardware: Hardware,
    bundle: Option<Bundle>,
    seen: Inspection,
    is_on: bool,
    was_switched_on: bool,
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
        os_volume: None,
        os_drive: None,
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
        os_image: artefact.clone().into(),
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
        log: model::LogSeen::default(),
        firmware: Told::Told(vec![FirmwareSeen { name: "BIOS".into(), version: Some("1.13.2".into()) }]),
        boot: Told::Told(BootDeviceSeen {
            device: Some("RAID".into()),
            is_enabled: Some(true),
            pxe_port: Some("NIC.1-1".into()),
            is_pxe_enabled: Some(true),
        }),
        license: Told::Told(LicenseSeen { name: "iDRAC9 Datacenter License".into(), is_trial: false }),
    };
    Case { sku: Some(sku()), hardware: hardware(), bundle: Some(bundle()), seen, is_on: true, was_switched_on: false }
}

fn now() -> Timestamp {
    Timestamp::parse("2026-03-01T12:00:00Z").unwrap()
}

fn results(case: &Case) -> Vec<CategoryResult> {
    let expected = Expected {
        sku: case.sku.as_ref(),
        hardware: &case.hardware,
        bundle: case.bundle.as_ref(),
        is_on: case.is_on,
        was_switched_on: case.was_switched_on,
        now: now(),
    };
    validate(&expected, &case.seen)
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
#[expect(clippy::needless_pass_by_value, reason = "a case reads best as what it comes to")]
fn check(change: impl FnOnce(&mut Case), expected: Expect) {
    expected.assert_eq(&told(change));
}

fn told(change: impl FnOnce(&mut Case)) -> String {
    let mut case = well();
    change(&mut case);
    let (usual, found) = (lines(&results(&well())), results(&case));
    let failed: Vec<&str> =
        found.iter().filter(|category| category.result == ValidationResult::Fail).map(|category| category.category.as_str()).collect();
    let mut text: String = lines(&found).into_iter().filter(|line| !usual.contains(line)).map(|line| line + "\n").collect();
    text += &format!("failed: {}\n", if failed.is_empty() { "nothing".to_owned() } else { failed.join(", ") });
    text
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
fn without_a_sku_parts_are_told_and_the_identity_is_still_compared() {
    check(
        |case| case.sku = None,
        expect![[r#"
            Warning system_info: sku `R750` → `not described`
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
