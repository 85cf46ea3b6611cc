//! Post-checks against what was recorded before an action.

use expect_test::{Expect, expect};
use model::{Action, Evacuate, Power, Role, RunStrategy, Span};
use plan::verify;

use super::stage::{ask, site, target};
use crate::rig::Rig;

fn told(rig: &Rig) -> String {
    let checks = verify(&rig.desk.snapshot, &target(Role::Compute)).expect("the machine is there");
    let line =
        |check: &model::PostCheck| format!("{:?} {}: `{}` → `{}` {}\n", check.state, check.name, check.expected, check.found, check.words);
    checks.iter().map(line).collect()
}

fn lodged() -> Rig {
    let mut rig = site();
    rig.lodging.add_vm("firewall", &target(Role::Compute), RunStrategy::Always, None);
    rig.run_for(Span::minutes(1));
    rig
}

#[expect(clippy::needless_pass_by_value, reason = "a case reads best as what it comes to")]
fn check(rig: &Rig, expected: Expect) {
    expected.assert_eq(&told(rig));
}

#[test]
fn a_machine_that_nothing_was_done_to_has_nothing_to_be_compared_with() {
    check(
        &site(),
        expect![[r#"
        Ok provisioningState: `Succeeded` → `Succeeded` 
        Ok readyState: `True` → `True` 
        Ok powerState: `On` → `On` 
        Ok baseline: `` → `none` no disruptive action is on record, so workloads are not compared
    "#]],
    );
}

#[test]
fn what_is_under_way_waits_and_what_is_back_is_well() {
    let mut rig = lodged();
    ask(&mut rig, &target(Role::Compute), Action::Restart, None);
    check(
        &rig,
        expect![[r#"
        Waits provisioningState: `Succeeded` → `Provisioning` operation op1 is at work on it
        Ok readyState: `True` → `True` 
        Ok powerState: `On` → `On` 
        Waits virtual machine `firewall`: `running` → `stopping` operation op1 is at work on the machine
    "#]],
    );
    assert!(rig.run_until_idle(Span::hours(1)));
    rig.run_for(Span::minutes(10));
    check(
        &rig,
        expect![[r#"
        Ok provisioningState: `Succeeded` → `Succeeded` 
        Ok readyState: `True` → `True` 
        Ok powerState: `On` → `On` 
        Ok virtual machine `firewall`: `running` → `running` 
    "#]],
    );
}

#[test]
fn what_waits_for_an_uncordon_says_so_and_what_was_stopped_differs() {
    let mut rig = lodged();
    ask(&mut rig, &target(Role::Compute), Action::Cordon { evacuate: Evacuate::Yes }, None);
    assert!(rig.run_until_idle(Span::hours(1)));
    check(
        &rig,
        expect![[r#"
        Ok provisioningState: `Succeeded` → `Succeeded` 
        Ok readyState: `True` → `True` 
        Ok powerState: `On` → `On` 
        Waits virtual machine `firewall`: `running` → `stopped` it comes back when the machine is uncordoned: rackwright bmm uncordon rack1compute01
    "#]],
    );
    let mut machine = (*rig.desk.snapshot.machines[&target(Role::Compute)]).clone();
    machine.evacuated = None;
    rig.desk.snapshot.set_machine(machine);
    check(
        &rig,
        expect![[r#"
        Ok provisioningState: `Succeeded` → `Succeeded` 
        Ok readyState: `True` → `True` 
        Ok powerState: `On` → `On` 
        Differs virtual machine `firewall`: `running` → `stopped` nobody is about to start it: rackwright vm start firewall
    "#]],
    );
}

#[test]
fn a_machine_that_is_off_differs() {
    let mut rig = lodged();
    let now = rig.desk.now;
    ask(&mut rig, &target(Role::Compute), Action::Restart, None);
    assert!(rig.run_until_idle(Span::hours(1)));
    rig.device(&target(Role::Compute)).switch(Power::Off, now);
    rig.run_for(Span::minutes(5));
    check(
        &rig,
        expect![[r#"
        Ok provisioningState: `Succeeded` → `Succeeded` 
        Differs readyState: `True` → `False` it waits for a person: off, but expected to be on
        Differs powerState: `On` → `Off` rackwright bmm start rack1compute01
        Differs virtual machine `firewall`: `running` → `last heard of running` its machine is not ready
    "#]],
    );
    assert_eq!(verify(&rig.desk.snapshot, &crate::desk::name("nobody")), None);
}
