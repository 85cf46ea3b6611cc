//! Post-checks against what was recorded before an action.

use expect_test::{Expect, expect};
use model::{Action, Evacuate, Power, Provisioning, Role, RunStrategy, Shutdown, Span};
use plan::verify;

use super::stage::{REPLACE, ask, replace, site, target};
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
            Waits virtual machine `firewall`: `running` → `stopped` it comes back with rackwright bmm uncordon rack1compute01
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

/// When what a machine is compared with was recorded, and what it says.
fn recorded(rig: &Rig) -> String {
    let baseline = rig.desk.snapshot.machines[&target(Role::Compute)].baseline.clone().expect("something is recorded");
    let vms: Vec<String> = baseline.vms.iter().map(|vm| format!("{} {}", vm.vm, vm.state.in_words())).collect();
    format!("{}: {}", baseline.by, vms.join(", "))
}

#[test]
fn a_machine_that_an_action_left_dead_is_compared_with_how_it_was_before_that() {
    let mut rig = lodged();
    rig.device(&target(Role::Compute)).board.parts.drives = 0;
    replace(&mut rig, Role::Compute, REPLACE, None);
    assert_eq!(recorded(&rig), "op1: firewall running");
    // Whoever lost what was stopped has only the record.
    let mut machine = (*rig.desk.snapshot.machines[&target(Role::Compute)]).clone();
    machine.evacuated = None;
    rig.desk.snapshot.set_machine(machine.clone());
    replace(&mut rig, Role::Compute, REPLACE, None);
    assert_eq!(recorded(&rig), "op1: firewall running", "it was given up");
    machine.unhealthy = None;
    machine.provisioning = Provisioning::Error;
    rig.desk.snapshot.set_machine(machine);
    rig.device(&target(Role::Compute)).board.parts.drives = 2;
    replace(&mut rig, Role::Compute, REPLACE, None);
    assert_eq!(recorded(&rig), "op1: firewall running", "the action before did not succeed");
    ask(&mut rig, &target(Role::Compute), Action::Uncordon, None);
    rig.run_until_idle(Span::hours(1));
    let restart = ask(&mut rig, &target(Role::Compute), Action::Restart, None);
    assert_eq!(recorded(&rig), format!("{restart}: firewall stopped"), "it was well again, with nothing that ran on it");
}

#[test]
fn a_machine_that_was_switched_off_is_compared_with_how_it_ran() {
    let mut rig = lodged();
    ask(&mut rig, &target(Role::Compute), Action::PowerOff { shutdown: Shutdown::Graceful }, None);
    assert!(rig.run_until_idle(Span::hours(1)));
    let mut machine = (*rig.desk.snapshot.machines[&target(Role::Compute)]).clone();
    machine.evacuated = None;
    rig.desk.snapshot.set_machine(machine);
    ask(&mut rig, &target(Role::Compute), REPLACE, None);
    assert_eq!(recorded(&rig), "op1: firewall running");
}
