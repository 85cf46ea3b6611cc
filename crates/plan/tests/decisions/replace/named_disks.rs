//! Disks that the site file names for a machine: where the system goes, what the agent wipes, and what is refused before anything is
//! touched.

use expect_test::{Expect, expect};
use model::{Action, DeviceAsk, Fact, Role};

use super::stage::{PRESERVE, REPLACE, ending, new_board, replace, site, target};
use super::steps::exchanged;
use crate::install::stage::{REIMAGE, reimage};
use crate::rig::Rig;

/// Which disks were settled, what was done to the machine, and how it ended.
#[expect(clippy::needless_pass_by_value, reason = "a case reads best as what it comes to")]
fn check(os_disk: Option<&str>, data_disks: &[&str], change: impl FnOnce(&mut Rig), action: Action, expected: Expect) {
    let mut rig = site();
    exchanged(&mut rig);
    rig.describe(&target(Role::Compute), |settings| {
        settings.os_disk = os_disk.map(str::to_owned);
        settings.data_disks = data_disks.iter().map(|id| (*id).to_owned()).collect();
    });
    change(&mut rig);
    let operation = match action {
        Action::Reimage { .. } => reimage(&mut rig, Role::Compute),
        action => replace(&mut rig, Role::Compute, action, Some(new_board())),
    };
    let told = operation.journal.iter().filter_map(|entry| match &entry.fact {
        Fact::SystemDisk { disk, wipe } => {
            let wwn = disk.wwn.as_ref().map(|wwn| format!(" ({wwn})")).unwrap_or_default();
            let wiped = if wipe.is_empty() { String::new() } else { format!("; wiped: {}", wipe.join(", ")) };
            Some(format!("{disk}{wwn}{wiped}\n"))
        }
        Fact::Asked { ask: ask @ (DeviceAsk::GracefulOff | DeviceAsk::DeleteVolume | DeviceAsk::MakeOsVolume), .. } => {
            Some(format!("{ask}\n"))
        }
        _ => None,
    });
    let told: String = told.collect();
    expected.assert_eq(&format!("{told}{}", ending(&operation)));
}

fn without_volumes(rig: &mut Rig) {
    rig.device(&target(Role::Compute)).board.parts.volumes = None;
}

fn with_wwns(rig: &mut Rig) {
    rig.device(&target(Role::Compute)).board.parts.tells_wwns = true;
}

#[test]
fn a_named_disk_needs_no_volume() {
    check(
        Some("drive1"),
        &["drive0"],
        without_volumes,
        REIMAGE,
        expect![[r#"
        disk `drive1`
        graceful shutdown
        Succeeded: `rack1compute01` was reimaged with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01
        next: rackwright bmm uncordon rack1compute01
    "#]],
    );
    check(
        Some("drive1"),
        &["drive0"],
        without_volumes,
        PRESERVE,
        expect![[r#"
        disk `drive1`
        graceful shutdown
        Succeeded: `rack1compute01` was replaced with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01; Make OS Volume was left out: the system goes to disk `drive1`
        next: rackwright bmm uncordon rack1compute01
    "#]],
    );
}

#[test]
fn where_there_are_no_volumes_exactly_the_listed_data_disks_are_wiped() {
    check(
        Some("drive1"),
        &["drive0"],
        without_volumes,
        REPLACE,
        expect![[r#"
        disk `drive1`; wiped: drive0
        graceful shutdown
        Succeeded: `rack1compute01` was replaced with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01; Discard Volumes was left out: the BMC has no volumes to offer; the agent wipes 1 data disk; Make OS Volume was left out: the system goes to disk `drive1`
        next: rackwright bmm uncordon rack1compute01
    "#]],
    );
    check(
        Some("drive1"),
        &[],
        without_volumes,
        REPLACE,
        expect![[r#"
        disk `drive1`
        graceful shutdown
        Succeeded: `rack1compute01` was replaced with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01; Discard Volumes was left out: the BMC has no volumes to offer, so none was discarded; Make OS Volume was left out: the system goes to disk `drive1`
        next: rackwright bmm uncordon rack1compute01
    "#]],
    );
}

#[test]
fn a_named_disk_beside_volumes_that_are_others_is_no_reason_to_keep_them() {
    check(
        Some("drive1"),
        &["drive0", "wwn-tenants-1"],
        with_wwns,
        REPLACE,
        expect![[r#"
        disk `drive1`; wiped: drive0
        graceful shutdown
        deletion of a volume
        deletion of a volume
        Succeeded: `rack1compute01` was replaced with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01; Make OS Volume was left out: the system goes to disk `drive1`
        next: rackwright bmm uncordon rack1compute01
    "#]],
    );
}

#[test]
fn a_named_disk_that_is_a_volume_or_may_be_one_is_not_deleted() {
    check(
        Some("WWN-OS-1"),
        &[],
        with_wwns,
        REPLACE,
        expect![[r#"
        Failed (InstallFailed): replace failed: the site file sends the system to disk `WWN-OS-1`, which is volume `OS`, and `DiscardAll` would delete that: leave `os-disk` out, or replace with `Preserve`; nothing was touched. Left behind: power On; holds none
        next: rackwright bmm show rack1compute01
    "#]],
    );
    check(
        Some("drive1"),
        &[],
        |_| {},
        REPLACE,
        expect![[r#"
        Failed (InstallFailed): replace failed: the site file sends the system to disk `drive1`; the BMC does not tell the WWN of volume `OS`, so it may be that one, and `DiscardAll` would delete it: replace with `Preserve`; nothing was touched. Left behind: power On; holds none
        next: rackwright bmm show rack1compute01
    "#]],
    );
}

#[test]
fn a_volume_that_shows_only_when_the_machine_is_off_is_not_deleted_either() {
    let hidden = |rig: &mut Rig| {
        let board = &mut rig.device(&target(Role::Compute)).board;
        board.parts.volumes = Some(Vec::new());
        board.parts.tells_wwns = true;
        board.parts.appear_when_off = vec!["OS".to_owned()];
    };
    check(
        Some("wwn-OS-1"),
        &[],
        hidden,
        REPLACE,
        expect![[r#"
        disk `wwn-OS-1`
        graceful shutdown
        Failed (StorageFailed): replace failed: the site file sends the system to disk `wwn-OS-1`, which is volume `OS`, and `DiscardAll` would delete that: leave `os-disk` out, or replace with `Preserve`. Left behind: power Off; holds power-off by operation op1
        next: rackwright bmm start rack1compute01
    "#]],
    );
}

#[test]
fn a_volume_goes_to_the_agent_with_its_wwn() {
    check(
        None,
        &[],
        with_wwns,
        REIMAGE,
        expect![[r#"
        volume `OS` (wwn-OS-1)
        graceful shutdown
        Succeeded: `rack1compute01` was reimaged with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01
        next: rackwright bmm uncordon rack1compute01
    "#]],
    );
    check(
        None,
        &[],
        with_wwns,
        REPLACE,
        expect![[r#"
        volume `OS`
        graceful shutdown
        deletion of a volume
        deletion of a volume
        making of the OS volume
        volume `OS` (wwn-OS-2)
        Succeeded: `rack1compute01` was replaced with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01
        next: rackwright bmm uncordon rack1compute01
    "#]],
    );
}

#[test]
fn the_systems_disk_is_not_among_those_that_are_wiped() {
    let on_drive = |rig: &mut Rig| {
        without_volumes(rig);
        super::disks::with_sku(rig, |sku| sku.os_drive = Some(1));
    };
    check(
        None,
        &["drive1"],
        on_drive,
        REPLACE,
        expect![[r#"
        Failed (InstallFailed): replace failed: the system goes to the drive with serial number drive1, and the site file lists `drive1` as a data disk to wipe (`data-disks`); nothing was touched. Left behind: power On; holds none
        next: rackwright bmm show rack1compute01
    "#]],
    );
}
