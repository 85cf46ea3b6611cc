//! What becomes of the volumes of a machine that is replaced.

use expect_test::expect;
use model::{Action, DeviceAsk, Power, Replacement, Role, RunStrategy, Seen, Span};

use super::stage::{PRESERVE, REPLACE, ask, latest, new_board, preview, replace, site, target, verdict};
use super::steps::{check, exchanged};
use crate::rig::Rig;

#[test]
fn a_volume_that_stays_is_deleted_twice_and_then_given_up() {
    let change = |rig: &mut Rig| {
        exchanged(rig);
        rig.device(&target(Role::Compute)).board.parts.deletions_ignored = 2;
    };
    check(
        change,
        REPLACE,
        expect![[r#"
            Survey
              cordon
            Cordon
            BMC Login
              validated: Pass 
            Hardware Validation
            Leave etcd left out: the machine has no member of etcd
              graceful shutdown
            Power Off
            Wait for Deprovisioning
              volume OS is to go
              deletion of a volume
              deletion of a volume, attempt 2
            Failed (StorageFailed): replace failed: RAID cleanup failed with: raid deletion failed after 2 attempts (volume `OS`; the BMC took it, and nothing came of it). Left behind: power Off; holds installation by alice, operation op1
            next: rackwright bmm replace rack1compute01
            Error; installed nothing; held by installation by alice, operation op1 (its replace did not succeed); waits for a person: its installation failed
            serial sn2, login replace/1, described as sn; validated Pass; unhealthy: no
            volumes Some(["OS", "tenants"]), deleted []
        "#]],
    );
}

#[test]
fn a_volume_that_goes_at_the_second_time_is_gone() {
    let change = |rig: &mut Rig| {
        exchanged(rig);
        rig.device(&target(Role::Compute)).board.parts.deletions_ignored = 1;
    };
    check(
        change,
        REPLACE,
        expect![[r#"
            Survey
              cordon
            Cordon
            BMC Login
              validated: Pass 
            Hardware Validation
            Leave etcd left out: the machine has no member of etcd
              graceful shutdown
            Power Off
            Wait for Deprovisioning
              volume OS is to go
              deletion of a volume
              deletion of a volume, attempt 2
              volume tenants is to go
              deletion of a volume, attempt 3
            Discard Volumes
              making of the OS volume
            Make OS Volume
              insertion of the agent's image
            Insert Media
              boot from virtual media
            Boot Agent
              power-on for the agent
            Agent On
            Write Image
              power-off after the agent
            Agent Off
              ejection of the agent's image
            Eject Media
              boot from disk
            Boot Disk
            Join etcd left out: the machine has no member of etcd
              join token
            Mint Join Token
              power-on of the new system
            System On
            Phone Home
            Rejoin
            Promote in etcd left out: the machine has no member of etcd
              removal of the join token
            Drop Join Token
            Succeeded: `rack1compute01` was replaced with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01
            next: rackwright bmm uncordon rack1compute01
            Provisioned; installed 4.7.8; held by installation by alice, operation op1 (replaced; to be uncordoned by a person); waits for 
            serial sn2, login replace/1, described as sn; validated Pass; unhealthy: no
            volumes Some(["OS"]), deleted ["OS", "tenants"]
        "#]],
    );
}

#[test]
fn a_controller_that_makes_no_volumes_is_told_as_it_is() {
    let change = |rig: &mut Rig| {
        exchanged(rig);
        rig.device(&target(Role::Compute)).board.unknown.insert(DeviceAsk::MakeOsVolume);
    };
    check(
        change,
        REPLACE,
        expect![[r#"
            Survey
              cordon
            Cordon
            BMC Login
              validated: Pass 
            Hardware Validation
            Leave etcd left out: the machine has no member of etcd
              graceful shutdown
            Power Off
            Wait for Deprovisioning
              volume OS is to go
              deletion of a volume
              volume tenants is to go
              deletion of a volume, attempt 2
            Discard Volumes
              making of the OS volume
              making of the OS volume was answered: unsupported: no such action
            Failed (StorageFailed): replace failed: the system has no volume: the making of the OS volume was answered: unsupported: no such action. Left behind: power Off; holds installation by alice, operation op1
            next: rackwright bmm replace rack1compute01
            Error; installed nothing; held by installation by alice, operation op1 (its replace did not succeed); waits for a person: its installation failed
            serial sn2, login replace/1, described as sn; validated Pass; unhealthy: no
            volumes Some([]), deleted ["OS", "tenants"]
        "#]],
    );
}

/// What whoever asks is warned of, by the answer and by the preview alike.
fn warned(change: impl FnOnce(&mut Rig), action: Action, replacement: Replacement) -> String {
    let mut rig = site();
    change(&mut rig);
    let previewed = preview(&mut rig, action, replacement.clone()).warnings;
    let id = ask(&mut rig, &target(Role::Compute), action, Some(replacement));
    assert_eq!(verdict(&rig, &id), "accepted");
    let warnings: Vec<String> = latest(&rig).warnings().map(str::to_owned).collect();
    assert_eq!(warnings, previewed);
    rig.check_log();
    warnings.join("\n")
}

#[test]
fn whoever_preserves_what_may_not_be_readable_is_warned_with_the_answer() {
    let nothing = |_: &mut Rig| {};
    assert_eq!(warned(nothing, PRESERVE, Replacement::default()), "");
    assert_eq!(warned(nothing, REPLACE, new_board()), "", "nothing is preserved");
    let board = "is another one, and so is its system board: then Preserve is known to fail, and only DiscardAll works";
    assert_eq!(warned(nothing, PRESERVE, new_board()), format!("its serial number {board}"));
    let mac = |mac: &str| Replacement { bmc_mac: Some(mac.into()), ..Replacement::default() };
    assert_eq!(warned(nothing, PRESERVE, mac("04-0a-0b-0c-0d-0e")), format!("its BMC's MAC address {board}"));
    let tried = |rig: &mut Rig| {
        exchanged(rig);
        rig.device(&target(Role::Compute)).board.parts.is_linked = false;
        replace(rig, Role::Compute, PRESERVE, Some(new_board()));
    };
    assert_eq!(warned(tried, PRESERVE, Replacement::default()), format!("its serial number {board}"), "it is known from the first try");
    let away = |rig: &mut Rig| {
        let mut machine = (*rig.desk.snapshot.machines[&target(Role::Compute)]).clone();
        machine.last_seen.power = Some(Seen { what: Power::Off, at: rig.desk.now - Span::hours(31 * 24) });
        rig.device(&target(Role::Compute)).power = Power::Off;
        rig.desk.snapshot.set_machine(machine);
    };
    let keys = "it has been away for 31d 00h: the keys of its storage may not be good any more; then only DiscardAll works";
    assert_eq!(warned(away, PRESERVE, Replacement::default()), keys);
}

#[test]
fn whoever_discards_the_disks_of_virtual_machines_reads_whose() {
    let lodged = |rig: &mut Rig| {
        rig.lodging.add_vm("firewall", &target(Role::Compute), RunStrategy::Always, None);
        rig.run_for(Span::minutes(1));
    };
    let deleted = "all of its volumes are deleted, and with them the disks of `firewall`";
    assert_eq!(warned(lodged, REPLACE, Replacement::default()), deleted);
    assert_eq!(warned(lodged, PRESERVE, Replacement::default()), "");
    assert_eq!(warned(|_| {}, REPLACE, Replacement::default()), "", "nobody's disk is on it");
    let unseen = |rig: &mut Rig| rig.lodging.watch_fault = Some(model::Fault::new(model::FaultClass::Denied, model::Delivery::No, "403"));
    let blind = |rig: &mut Rig| {
        lodged(rig);
        unseen(rig);
        rig.run_for(Span::seconds(10));
    };
    let others = ", and maybe of others: nothing is heard of virtual machines now";
    assert_eq!(warned(blind, REPLACE, Replacement::default()), format!("{deleted}{others}"));
}
