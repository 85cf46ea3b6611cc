//! `drive_info` and `network_info`.

use expect_test::expect;

use super::{check, drives, ports};

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
