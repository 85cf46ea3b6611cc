//! Which disk the system goes to, and what is said, and when, of machines that have none.

use std::sync::Arc;

use expect_test::{Expect, expect};
use model::{Action, Delivery, DeviceAsk, Fact, Fault, FaultClass, LookAt, Role, Sku, Span, StepKind};

use super::stage::{PRESERVE, REPLACE, ask, ending, latest, new_board, replace, site, target};
use super::steps::exchanged;
use crate::install::stage::{REIMAGE, reimage, succeeded};
use crate::rig::Rig;

pub fn with_sku(rig: &mut Rig, change: impl FnOnce(&mut Sku)) {
    let mut cluster = (*rig.desk.snapshot.cluster).clone();
    change(&mut cluster.skus[0]);
    rig.desk.snapshot.cluster = Arc::new(cluster);
}

/// What was done to the machine's power and volumes, and how it ended.
#[expect(clippy::needless_pass_by_value, reason = "a case reads best as what it comes to")]
fn check(change: impl FnOnce(&mut Rig), action: Action, expected: Expect) {
    let mut rig = site();
    exchanged(&mut rig);
    change(&mut rig);
    let operation = match action {
        Action::Reimage { .. } => reimage(&mut rig, Role::Compute),
        action => replace(&mut rig, Role::Compute, action, Some(new_board())),
    };
    let touched = operation.journal.iter().filter_map(|entry| match entry.fact {
        Fact::Asked {
            ask: ask @ (DeviceAsk::GracefulOff | DeviceAsk::DeleteVolume | DeviceAsk::MakeOsVolume | DeviceAsk::AgentOn),
            ..
        } => Some(format!("{ask}\n")),
        _ => None,
    });
    let touched: String = touched.collect();
    let disk = operation.system_disk().map_or_else(|| "no disk".to_owned(), |disk| format!("{disk:?}"));
    let parts = &rig.device(&target(Role::Compute)).board.parts;
    expected.assert_eq(&format!("{disk}\n{touched}{}volumes {:?}\n", ending(&operation), parts.volumes));
}

#[test]
fn a_volume_is_made_under_the_name_that_the_sku_gives_it() {
    check(
        |rig| with_sku(rig, |sku| sku.os_volume = Some("System".into())),
        REPLACE,
        expect![[r#"
            OsTarget { serial: None, wwn: None, volume: Some("System"), id: None }
            graceful shutdown
            deletion of a volume
            deletion of a volume
            making of the OS volume
            power-on for the agent
            Succeeded: `rack1compute01` was replaced with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01
            next: rackwright bmm uncordon rack1compute01
            volumes Some(["System"])
        "#]],
    );
}

#[test]
fn a_machine_without_volumes_is_installed_on_the_drive_that_its_sku_names() {
    let change = |rig: &mut Rig| {
        with_sku(rig, |sku| sku.os_drive = Some(1));
        rig.device(&target(Role::Compute)).board.parts.volumes = None;
    };
    check(
        change,
        REPLACE,
        expect![[r#"
            OsTarget { serial: Some("drive1"), wwn: None, volume: None, id: None }
            graceful shutdown
            power-on for the agent
            Succeeded: `rack1compute01` was replaced with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01; Discard Volumes was left out: the BMC has no volumes to offer, so none was discarded; Make OS Volume was left out: the system goes to the drive with serial number drive1
            next: rackwright bmm uncordon rack1compute01
            volumes None
        "#]],
    );
    check(
        change,
        REIMAGE,
        expect![[r#"
            OsTarget { serial: Some("drive1"), wwn: None, volume: None, id: None }
            graceful shutdown
            power-on for the agent
            Succeeded: `rack1compute01` was reimaged with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01
            next: rackwright bmm uncordon rack1compute01
            volumes None
        "#]],
    );
}

#[test]
fn a_drive_that_is_not_there_is_missed_before_anything_is_touched() {
    check(
        |rig| with_sku(rig, |sku| sku.os_drive = Some(7)),
        REIMAGE,
        expect![[r#"
        no disk
        Failed (InstallFailed): reimage failed: the system goes to the drive in bay 7, and the BMC tells no serial number of one there; nothing was touched. Left behind: power On; holds none
        next: rackwright bmm show rack1compute01
        volumes Some(["OS", "tenants"])
    "#]],
    );
}

#[test]
fn a_machine_with_neither_volume_nor_drive_is_not_touched() {
    let without = |rig: &mut Rig| rig.device(&target(Role::Compute)).board.parts.volumes = None;
    check(
        without,
        REIMAGE,
        expect![[r#"
        no disk
        Failed (InstallFailed): reimage failed: the BMC has no volumes to offer, and its SKU names no drive (`os-drive`) for the system; nothing was touched. Left behind: power On; holds none
        next: rackwright bmm show rack1compute01
        volumes None
    "#]],
    );
    check(
        without,
        REPLACE,
        expect![[r#"
        no disk
        Failed (InstallFailed): replace failed: the BMC has no volumes to offer, and its SKU names no drive (`os-drive`) for the system; nothing was touched. Left behind: power On; holds none
        next: rackwright bmm show rack1compute01
        volumes None
    "#]],
    );
}

#[test]
fn a_volume_that_is_not_there_is_missed_before_anything_is_touched() {
    let other = |rig: &mut Rig| with_sku(rig, |sku| sku.os_volume = Some("System".into()));
    check(
        other,
        REIMAGE,
        expect![[r#"
        no disk
        Failed (InstallFailed): reimage failed: the system goes to volume `System`, and there is only `OS`, `tenants`; name the right one in the SKU (`os-volume`), or make it by hand; nothing was touched. Left behind: power On; holds none
        next: rackwright bmm show rack1compute01
        volumes Some(["OS", "tenants"])
    "#]],
    );
    check(
        other,
        PRESERVE,
        expect![[r#"
        no disk
        Failed (InstallFailed): replace failed: the system goes to volume `System`, and there is only `OS`, `tenants`; `Preserve` makes none, because the drives may hold data: import the controller's foreign configuration, or make the volume by hand; nothing was touched. Left behind: power On; holds none
        next: rackwright bmm show rack1compute01
        volumes Some(["OS", "tenants"])
    "#]],
    );
    let none = |rig: &mut Rig| rig.device(&target(Role::Compute)).board.parts.volumes = Some(Vec::new());
    check(
        none,
        PRESERVE,
        expect![[r#"
        no disk
        Failed (InstallFailed): replace failed: the system goes to volume `OS`, and the BMC lists no volume at all; `Preserve` makes none, because the drives may hold data: import the controller's foreign configuration, or make the volume by hand; nothing was touched. Left behind: power On; holds none
        next: rackwright bmm show rack1compute01
        volumes Some([])
    "#]],
    );
}

#[test]
fn volumes_that_disappear_with_the_power_are_not_made_anew_over_what_is_to_be_preserved() {
    let mut rig = site();
    exchanged(&mut rig);
    let machine = target(Role::Compute);
    ask(&mut rig, &machine, PRESERVE, Some(new_board()));
    rig.run_for(Span::seconds(20));
    rig.device(&machine).board.parts.volumes = Some(Vec::new());
    assert!(rig.run_until_idle(Span::hours(5)));
    let operation = latest(&rig);
    assert!(operation.last_asked(DeviceAsk::MakeOsVolume).is_none() && operation.last_asked(DeviceAsk::GracefulOff).is_some());
    expect![[r#"
        Failed (InstallFailed): replace failed: a disk that was named is not there (no such disk); compare the site file (`os-disk`, `data-disks`) with the disks that `rackwright bmm show` lists. Left behind: power Off; holds installation by alice, operation op1
        next: rackwright bmm replace rack1compute01
    "#]].assert_eq(&ending(&operation));
}

#[test]
fn a_volume_that_is_told_of_only_while_the_machine_is_on_is_left_to_the_agent() {
    let mut rig = site();
    exchanged(&mut rig);
    rig.device(&target(Role::Compute)).board.parts.are_shy = true;
    let operation = replace(&mut rig, Role::Compute, PRESERVE, Some(new_board()));
    assert!(succeeded(&operation), "{}", ending(&operation));
    assert_eq!(
        operation.skip_reason(StepKind::MakeOsVolume),
        Some("the BMC lists no volumes while the machine is off; the agent looks for `OS`")
    );
    assert_eq!(rig.device(&target(Role::Compute)).board.parts.deleted, Vec::<String>::new());
}

#[test]
fn one_look_at_the_volumes_that_fails_is_not_all_that_is_known_of_them() {
    let mut rig = site();
    exchanged(&mut rig);
    let machine = target(Role::Compute);
    rig.device(&machine).board.parts.volumes = Some(vec!["tenants".into()]);
    rig.device(&machine).board.look_faults = [(LookAt::Volumes, Fault::new(FaultClass::Busy, Delivery::No, "later"))].into();
    ask(&mut rig, &machine, PRESERVE, Some(new_board()));
    rig.run_for(Span::seconds(30));
    assert!(latest(&rig).is_running());
    rig.device(&machine).board.look_faults.clear();
    assert!(rig.run_until_idle(Span::hours(5)));
    assert!(ending(&latest(&rig)).contains("there is only `tenants`"), "{}", ending(&latest(&rig)));
    assert!(ending(&latest(&rig)).contains("nothing was touched"));
}

#[test]
fn a_node_is_cordoned_however_long_the_survey_before_it_took() {
    let mut rig = site();
    exchanged(&mut rig);
    let machine = target(Role::Compute);
    rig.device(&machine).board.look_faults = [(LookAt::Volumes, Fault::new(FaultClass::Busy, Delivery::No, "later"))].into();
    ask(&mut rig, &machine, PRESERVE, Some(new_board()));
    rig.run_for(Span::minutes(2));
    rig.device(&machine).board.look_faults.clear();
    assert!(rig.run_until_idle(Span::hours(5)));
    let operation = latest(&rig);
    assert!(succeeded(&operation), "{}", ending(&operation));
    assert_eq!(operation.skip_reason(StepKind::Cordon), None);
    assert!(operation.last_asked(DeviceAsk::Cordon).is_some_and(|(asked_at, _)| Some(asked_at) < operation.done_at(StepKind::PowerOff)));
}

#[test]
fn without_two_drives_for_the_system_no_volume_is_deleted() {
    let change = |rig: &mut Rig| {
        with_sku(rig, |sku| sku.drives.truncate(1));
        rig.device(&target(Role::Compute)).board.parts.drives = 1;
    };
    check(
        change,
        REPLACE,
        expect![[r#"
            OsTarget { serial: None, wwn: None, volume: Some("OS"), id: None }
            graceful shutdown
            Failed (StorageFailed): replace failed: volume `OS` for the system needs two well SSDs of one size, and there are none; no volume was deleted. Left behind: power Off; holds power-off by operation op1
            next: rackwright bmm start rack1compute01
            volumes Some(["OS", "tenants"])
        "#]],
    );
}

#[test]
fn a_controller_that_is_at_work_on_a_deletion_is_left_to_it() {
    let mut rig = site();
    exchanged(&mut rig);
    let machine = target(Role::Compute);
    rig.device(&machine).board.parts.deletions_ignored = 1;
    ask(&mut rig, &machine, REPLACE, Some(new_board()));
    while latest(&rig).last_asked(DeviceAsk::DeleteVolume).is_none() {
        rig.run_for(Span::seconds(1));
    }
    rig.run_for(Span::seconds(1));
    rig.device(&machine).refuses = Some(Fault::new(FaultClass::Busy, Delivery::No, "the storage controller is busy with another task"));
    rig.run_for(Span::minutes(15));
    assert!(latest(&rig).is_running() && latest(&rig).last_asked(DeviceAsk::DeleteVolume).unwrap().1 > 2);
    rig.device(&machine).board.parts.volumes = Some(vec!["tenants".into()]);
    rig.device(&machine).refuses = None;
    assert!(rig.run_until_idle(Span::hours(5)));
    assert!(succeeded(&latest(&rig)), "{}", ending(&latest(&rig)));
    assert_eq!(rig.device(&machine).board.parts.deleted, ["tenants"]);
}

#[test]
fn a_controller_that_is_busy_from_the_beginning_is_asked_now_and_then() {
    let mut rig = site();
    exchanged(&mut rig);
    let machine = target(Role::Compute);
    ask(&mut rig, &machine, REPLACE, Some(new_board()));
    while latest(&rig).done_at(StepKind::AwaitOff).is_none() {
        rig.run_for(Span::millis(100));
    }
    rig.device(&machine).refuses = Some(Fault::new(FaultClass::Busy, Delivery::No, "the storage controller rebuilds"));
    rig.run_for(Span::minutes(15));
    let asked = latest(&rig).last_asked(DeviceAsk::DeleteVolume).unwrap().1;
    assert!(latest(&rig).is_running() && (2..40).contains(&asked), "{asked} times");
    rig.device(&machine).refuses = None;
    assert!(rig.run_until_idle(Span::hours(5)));
    assert!(succeeded(&latest(&rig)), "{}", ending(&latest(&rig)));
}

#[test]
fn volumes_that_are_numbered_by_their_place_are_told_apart() {
    let mut rig = site();
    exchanged(&mut rig);
    let parts = &mut rig.device(&target(Role::Compute)).board.parts;
    (parts.volumes, parts.are_numbered) = (Some(["OS", "a", "b"].map(str::to_owned).to_vec()), true);
    let operation = replace(&mut rig, Role::Compute, REPLACE, Some(new_board()));
    assert!(succeeded(&operation), "{}", ending(&operation));
    assert_eq!(rig.device(&target(Role::Compute)).board.parts.deleted, ["OS", "a", "b"]);
    let discarded = operation.journal.iter().filter(|entry| matches!(entry.fact, Fact::Discarding { .. })).count();
    assert_eq!((discarded, operation.last_asked(DeviceAsk::DeleteVolume).unwrap().1), (3, 3));
}
