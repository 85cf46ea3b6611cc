//! Which storage policy is advised: data is discarded only where it is known that there is none, or that it cannot be kept.

use std::sync::Arc;

use expect_test::expect;
use model::{
    Delivery, DiskRef, Fault, FaultClass, OsDiskSeen, Power, Readiness, RepairedPart, Role, RunStrategy, Seen, Span, Vm, VmProvisioning,
    VmSpec,
};
use plan::advise;

use super::advice::{change_machine, check};
use super::stage::{site, target};
use crate::lodging::vm_name;
use crate::rig::Rig;

fn lodged(rig: &mut Rig) {
    rig.lodging.add_vm("firewall", &target(Role::Compute), RunStrategy::Always, None);
    rig.run_for(Span::minutes(1));
}

#[test]
fn storage_is_preserved_where_workloads_are_and_no_part_or_absence_speaks_against_it() {
    check(
        lodged,
        None,
        &[RepairedPart::Ssd],
        expect![[r#"
            replace (hardware); then contact support
            because nothing is seen to be wrong with it
            part ssd: replace Required, data IfSeveral
            storage Preserve: disks of virtual machines are, or may be, on it (`firewall`): nothing speaks against keeping them
            warning: repair all failed parts first: one replace after all repairs; and no reimage right after it
            $ rackwright bmm cordon rack1compute01 --evacuate
            $ if the drive was not part of a redundant volume: delete and recreate on another machine those that had disks on it, of `firewall`
            $ rackwright bmm replace rack1compute01 --storage-policy Preserve --safeguard-mode None
            $ rackwright bmm verify rack1compute01
            $ rackwright bmm uncordon rack1compute01
        "#]],
    );
    check(
        lodged,
        None,
        &[RepairedPart::Ssd, RepairedPart::Ssd, RepairedPart::Raid],
        expect![[r#"
            replace (hardware); then contact support
            because nothing is seen to be wrong with it
            part ssd: replace Required, data MayBeLost
            part raid: replace Required, data MayBeLost
            storage DiscardAll: with another raid a replace that preserves storage is known to fail
            warning: repair all failed parts first: one replace after all repairs; and no reimage right after it
            $ rackwright bmm cordon rack1compute01 --evacuate
            $ delete and recreate on another machine, for a replace that discards deletes their disks: `firewall`
            $ rackwright bmm replace rack1compute01 --storage-policy DiscardAll --safeguard-mode None
            $ rackwright bmm verify rack1compute01
            $ rackwright bmm uncordon rack1compute01
        "#]],
    );
    let away = |rig: &mut Rig| {
        lodged(rig);
        let at = rig.desk.now;
        change_machine(rig, |machine| {
            machine.last_seen.power = Some(Seen { what: Power::Off, at });
            machine.last_seen.dead_boot_id = machine.last_seen.node.as_ref().map(|node| node.what.boot_id.clone());
        });
        rig.desk.now = rig.desk.now + Span::hours(31 * 24);
    };
    check(
        away,
        None,
        &[RepairedPart::Nic],
        expect![[r#"
            replace (hardware); then contact support
            because nothing is seen to be wrong with it
            part nic: replace Required, data Safe
            storage DiscardAll: it has been away for 31d 00h: the keys of its storage may not be good any more
            warning: repair all failed parts first: one replace after all repairs; and no reimage right after it
            $ delete and recreate on another machine, for a replace that discards deletes their disks: `firewall`
            $ rackwright bmm replace rack1compute01 --storage-policy DiscardAll --boot-mac-address <BOOT_MAC>
            $ rackwright bmm verify rack1compute01
            $ rackwright bmm uncordon rack1compute01
        "#]],
    );
}

fn silence() -> Fault {
    Fault::new(FaultClass::Unreachable, Delivery::No, "no route")
}

/// One that its owner has stopped. Its document says where it ran last.
pub(super) fn stopped(rig: &mut Rig, ran_on: Option<Role>) {
    let vm = rig.lodging.add_vm("router", &target(Role::Compute), RunStrategy::Halted, None);
    vm.seen.os_disk = Some(OsDiskSeen::There { disk: DiskRef { name: "router".into(), uid: "d1".into() }, is_ending: false });
    rig.run_for(Span::minutes(1));
    let cluster = rig.desk.snapshot.cluster.name.clone();
    let document = Vm {
        name: vm_name("router"),
        cluster,
        spec: VmSpec::default(),
        tags: std::collections::BTreeMap::new(),
        created_at: rig.desk.now,
        edition: 1,
        modified: None,
        provisioning: VmProvisioning::Succeeded,
        uid: Some("uid-router".into()),
        last_seen: None,
        machine: ran_on.map(target),
        waits: Vec::new(),
    };
    rig.desk.snapshot.vms.insert(document.name.clone(), Arc::new(document));
}

fn storage(change: impl FnOnce(&mut Rig)) -> String {
    let mut rig = site();
    change(&mut rig);
    let advice = advise(&rig.desk.snapshot, &target(Role::Compute), None, &[RepairedPart::Dimm], rig.desk.now).unwrap();
    let storage = advice.storage.expect("a replace");
    format!("{:?}: {}", storage.policy, storage.because)
}

#[test]
fn what_its_owner_has_stopped_keeps_its_disk() {
    let kept = "Preserve: disks of virtual machines are, or may be, on it (`router`): nothing speaks against keeping them";
    assert_eq!(storage(|rig| stopped(rig, Some(Role::Compute))), kept);
    assert_eq!(storage(|rig| stopped(rig, Some(Role::Management))), "DiscardAll: no virtual machine has a disk on it");
    let nowhere = "Preserve: whose disks are on it is not known: nobody has seen where the disk of `router` is";
    assert_eq!(storage(|rig| stopped(rig, None)), nowhere);
}

#[test]
fn what_cannot_be_seen_is_not_discarded() {
    let blind = "Preserve: whose disks are on it is not known: nothing is heard of virtual machines now";
    assert_eq!(storage(|rig| rig.desk.snapshot.tenants.listed_at = None), blind);
    assert_eq!(storage(|rig| rig.desk.hear_undercloud(Err(silence()))), blind);
    let now = |rig: &Rig| rig.desk.now;
    assert_eq!(storage(|rig| rig.desk.snapshot.tenants.contact.failed(now(rig), silence())), blind);
    // That its node was lost long ago is the undercloud's word, which nobody hears now.
    let lost = |rig: &mut Rig| {
        change_machine(rig, |machine| machine.last_seen.node.as_mut().unwrap().what.ready = Readiness::Unknown);
        rig.desk.now = rig.desk.now + Span::hours(31 * 24);
    };
    assert!(storage(lost).starts_with("DiscardAll: it has been away for 31d"), "{}", storage(lost));
    let and_blind = |rig: &mut Rig| {
        lost(rig);
        rig.desk.hear_undercloud(Err(silence()));
    };
    assert_eq!(storage(and_blind), blind);
}

#[test]
fn a_bmc_that_has_been_silent_for_long_does_not_mean_that_the_machine_was_away() {
    let silent_bmc = |rig: &mut Rig| {
        lodged(rig);
        let at = rig.desk.now;
        change_machine(rig, |machine| {
            machine.last_seen.bmc_fault = Some(Seen { what: Fault::new(FaultClass::Denied, Delivery::No, "401"), at });
            machine.last_seen.bmc_answered_at = Some(at);
        });
        rig.desk.now = rig.desk.now + Span::hours(31 * 24);
    };
    let kept = "Preserve: disks of virtual machines are, or may be, on it (`firewall`): nothing speaks against keeping them";
    assert_eq!(storage(silent_bmc), kept);
}

/// The steps that are done by hand, before a replace with these parts.
fn by_hand(change: impl FnOnce(&mut Rig), repaired: &[RepairedPart]) -> String {
    let mut rig = site();
    change(&mut rig);
    let advice = advise(&rig.desk.snapshot, &target(Role::Compute), None, repaired, rig.desk.now).unwrap();
    advice.commands.iter().filter(|command| command.command.is_none()).map(|command| format!("{}\n", command.why)).collect()
}

#[test]
fn whoever_is_about_to_lose_disks_is_told_to_recreate_them_elsewhere() {
    let several = [RepairedPart::Ssd, RepairedPart::Ssd];
    let blind = |rig: &mut Rig| {
        lodged(rig);
        rig.desk.hear_undercloud(Err(silence()));
    };
    let told = [
        by_hand(lodged, &[RepairedPart::SystemBoard]),
        by_hand(|rig| stopped(rig, Some(Role::Compute)), &[RepairedPart::Raid]),
        by_hand(blind, &[RepairedPart::Backplane]),
        by_hand(lodged, &several),
        by_hand(lodged, &[RepairedPart::Ssd]),
        by_hand(lodged, &[RepairedPart::Nic]),
        by_hand(|_| {}, &[RepairedPart::SystemBoard]),
    ];
    expect![[r#"
        delete and recreate on another machine, for a replace that discards deletes their disks: `firewall`
        -
        delete and recreate on another machine, for a replace that discards deletes their disks: `router`
        -
        find out which virtual machines have disks on it, `firewall` among them (nothing is heard of virtual machines now): delete those and recreate them on another machine, for a replace that discards deletes them
        -
        delete and recreate on another machine those that had disks on the exchanged drives, of `firewall`
        -
        if the drive was not part of a redundant volume: delete and recreate on another machine those that had disks on it, of `firewall`
        -
        -
    "#]].assert_eq(&told.join("-\n"));
}

#[test]
fn several_drives_are_no_reason_to_delete_what_is_left() {
    let mut rig = site();
    lodged(&mut rig);
    let several = [RepairedPart::Ssd, RepairedPart::Ssd];
    let advice = advise(&rig.desk.snapshot, &target(Role::Compute), None, &several, rig.desk.now).unwrap();
    assert_eq!(advice.parts[0].data, model::DataRisk::MayBeLost);
    let storage = advice.storage.unwrap();
    assert_eq!(
        (storage.policy, storage.because.as_str()),
        (model::StoragePolicy::Preserve, "what of the disks of `firewall` is not on the exchanged drives is kept")
    );
}
