//! What is advised, from what is seen and from what was tried.

use std::fmt::Write;

use expect_test::{Expect, expect};
use model::{
    Action, Advice, BootWay, Ended, Entry, Fact, Failure, MachineName, MachineReport, NodeProblem, OPERATION_FORMAT, Operation,
    OperationId, OperationResult, ProblemKind, Provisioning, Readiness, RepairedPart, Role, RunStrategy, RuntimeVersion, Safeguard, Span,
    StoragePolicy, Symptom, Target, Timestamp, Unhealthy,
};
use plan::advise;

use super::stage::{ask, site, target, verdict};
use crate::install::stage::REIMAGE;
use crate::rig::Rig;
use crate::rig::board::image;

fn words(advice: &Advice) -> String {
    let mut text = format!("{} ({})", advice.next, advice.symptom.map_or("nothing wrong", Symptom::as_str));
    let then: Vec<&str> = advice.then.iter().map(|remedy| remedy.as_str()).collect();
    let _ = writeln!(text, "; then {}", if then.is_empty() { "nothing".to_owned() } else { then.join(", ") });
    for line in &advice.because {
        let _ = writeln!(text, "because {line}");
    }
    for part in &advice.parts {
        let _ = writeln!(text, "part {}: replace {:?}, data {:?}", part.part, part.replace, part.data);
    }
    if let Some(storage) = &advice.storage {
        let _ = writeln!(text, "storage {:?}: {}", storage.policy, storage.because);
    }
    for line in &advice.warnings {
        let _ = writeln!(text, "warning: {line}");
    }
    for command in &advice.commands {
        let _ = writeln!(text, "$ {}", command.command.as_deref().unwrap_or(&command.why));
    }
    if let Some(refusal) = &advice.against {
        let _ = writeln!(text, "against: {refusal}");
    }
    text
}

pub(super) fn told(rig: &Rig, machine: &MachineName, symptom: Option<Symptom>, repaired: &[RepairedPart]) -> String {
    words(&advise(&rig.desk.snapshot, machine, symptom, repaired, rig.desk.now).expect("the machine is there"))
}

#[expect(clippy::needless_pass_by_value, reason = "a case reads best as what it comes to")]
pub(super) fn check(change: impl FnOnce(&mut Rig), symptom: Option<Symptom>, repaired: &[RepairedPart], expected: Expect) {
    let mut rig = site();
    change(&mut rig);
    expected.assert_eq(&told(&rig, &target(Role::Compute), symptom, repaired));
}

pub(super) fn change_machine(rig: &mut Rig, change: impl FnOnce(&mut model::Machine)) {
    let mut machine = (*rig.desk.snapshot.machines[&target(Role::Compute)]).clone();
    change(&mut machine);
    rig.desk.snapshot.set_machine(machine);
}

/// An operation that has just ended.
pub(super) fn tried(rig: &mut Rig, action: Action, failure: Option<Failure>) {
    let now = rig.desk.now;
    tried_at(rig, action, failure, now, Vec::new());
}

pub(super) fn tried_at(rig: &mut Rig, action: Action, failure: Option<Failure>, now: Timestamp, facts: Vec<Fact>) {
    let result = if failure.is_some() { OperationResult::Failed } else { OperationResult::Succeeded };
    rig.desk.snapshot.set_operation(Operation {
        format: OPERATION_FORMAT,
        id: OperationId::new(format!("old-{}", action.verb())),
        cluster: rig.desk.snapshot.cluster.name.clone(),
        target: Target::Machine(target(Role::Compute)),
        action,
        caller: "alice".into(),
        correlation_id: model::CorrelationId::new("c"),
        request_key: None,
        accepted_at: now,
        deadline_at: now,
        journal: facts.into_iter().map(|fact| Entry { at: now, fact }).collect(),
        cancel: None,
        ended: Some(Ended { at: now, result, message: "as it was".into(), next: None, failure }),
        wait: None,
        replacement: None,
    });
}

/// The agent has written the image, and read it back.
pub(super) fn written() -> Vec<Fact> {
    let version = RuntimeVersion::parse("4.7.8").unwrap();
    let installing = Fact::Installing { round: 1, way: BootWay::VirtualMedia, version, image: image(), network: None };
    vec![installing, Fact::Reported { round: 1, report: MachineReport::Written { digest: image() } }]
}

pub(super) const REPLACED: Action = Action::Replace { storage: StoragePolicy::DiscardAll, safeguard: Safeguard::All };

pub(super) fn silent(rig: &mut Rig) {
    change_machine(rig, |machine| machine.last_seen.node.as_mut().unwrap().what.ready = Readiness::Unknown);
}

#[test]
fn nothing_is_advised_for_a_machine_that_is_well() {
    check(
        |_| {},
        None,
        &[],
        expect![[r#"
        nothing (nothing wrong); then nothing
        because nothing is seen to be wrong with it
    "#]],
    );
}

#[test]
fn a_machine_that_does_not_answer_climbs_the_whole_ladder() {
    check(
        silent,
        None,
        &[],
        expect![[r#"
        restart (unresponsive); then reimage, replace, contact support
        because its node has not been heard of since 10:00:00Z
        $ rackwright bmm restart rack1compute01
        $ rackwright bmm verify rack1compute01
    "#]],
    );
    check(
        |rig| {
            silent(rig);
            tried(rig, Action::Restart, None);
        },
        None,
        &[],
        expect![[r#"
            reimage (unresponsive); then replace, contact support
            because its node has not been heard of since 10:00:00Z
            because restart was tried at 2026-11-15 10:01:00Z and did not help
            $ rackwright bmm reimage rack1compute01
            $ rackwright bmm verify rack1compute01
            $ rackwright bmm uncordon rack1compute01
        "#]],
    );
    check(
        |rig| {
            silent(rig);
            tried(rig, Action::Restart, None);
            let now = rig.desk.now;
            tried_at(rig, REIMAGE, Some(Failure::InstallFailed), now, written());
        },
        None,
        &[],
        expect![[r#"
            replace (unresponsive); then contact support
            because its node has not been heard of since 10:00:00Z
            because restart was tried at 2026-11-15 10:01:00Z and did not help
            because reimage was tried at 2026-11-15 10:01:00Z and failed: as it was
            storage DiscardAll: no virtual machine has a disk on it
            warning: repair all failed parts first: one replace after all repairs; and no reimage right after it
            $ repair or exchange what has failed; see that its firmware is what the runtime asks for
            $ rackwright bmm replace rack1compute01 --storage-policy DiscardAll --safeguard-mode None --bmc-credentials username=<USER> password=<PASSWORD> --bmc-mac-address <BMC_MAC> --serial-number <SERIAL> --boot-mac-address <BOOT_MAC>
            $ rackwright bmm verify rack1compute01
            $ rackwright bmm uncordon rack1compute01
        "#]],
    );
    check(
        |rig| {
            silent(rig);
            tried(rig, Action::Restart, None);
            tried(rig, REIMAGE, None);
            tried(rig, REPLACED, None);
        },
        None,
        &[],
        expect![[r#"
            contact support (unresponsive); then nothing
            because its node has not been heard of since 10:00:00Z
            because restart was tried at 2026-11-15 10:01:00Z and did not help
            because reimage was tried at 2026-11-15 10:01:00Z and did not help
            because replace was tried at 2026-11-15 10:01:00Z and did not help
            $ contact support, and tell them what was tried
        "#]],
    );
}

#[test]
fn what_failed_for_a_reason_of_its_own_is_not_a_rung() {
    check(
        |rig| tried(rig, REPLACED, Some(Failure::BmcLoginFailed)),
        Some(Symptom::Hardware),
        &[],
        expect![[r#"
            replace (hardware); then contact support
            because nothing is seen to be wrong with it
            because replace failed at 10:01:00Z, and may be tried again when this is mended: as it was
            storage DiscardAll: no virtual machine has a disk on it
            warning: repair all failed parts first: one replace after all repairs; and no reimage right after it
            $ repair or exchange what has failed; see that its firmware is what the runtime asks for
            $ rackwright bmm replace rack1compute01 --storage-policy DiscardAll --safeguard-mode None --bmc-credentials username=<USER> password=<PASSWORD> --bmc-mac-address <BMC_MAC> --serial-number <SERIAL> --boot-mac-address <BOOT_MAC>
            $ rackwright bmm verify rack1compute01
            $ rackwright bmm uncordon rack1compute01
        "#]],
    );
}

#[test]
fn corruption_and_compromise_begin_with_a_reimage() {
    let read_only = |rig: &mut Rig| {
        change_machine(rig, |machine| {
            let problem = NodeProblem { kind: ProblemKind::ReadOnlyRoot, message: "/dev/sda1 is ro".into(), since: None };
            machine.last_seen.node.as_mut().unwrap().what.problems.push(problem);
        });
    };
    check(
        read_only,
        None,
        &[],
        expect![[r#"
        reimage (os-corruption); then replace, contact support
        because its root file system is read-only (/dev/sda1 is ro)
        $ rackwright bmm reimage rack1compute01
        $ rackwright bmm verify rack1compute01
        $ rackwright bmm uncordon rack1compute01
    "#]],
    );
    check(
        |_| {},
        Some(Symptom::Security),
        &[],
        expect![[r#"
        reimage (security); then replace, contact support
        because nothing is seen to be wrong with it
        $ rackwright bmm reimage rack1compute01
        $ rackwright bmm verify rack1compute01
        $ rackwright bmm uncordon rack1compute01
    "#]],
    );
}

#[test]
fn what_is_stuck_in_provisioning_has_no_system_to_restart() {
    let stuck = |rig: &mut Rig| change_machine(rig, |machine| machine.provisioning = Provisioning::Error);
    check(
        stuck,
        None,
        &[],
        expect![[r#"
        reimage (stuck-provisioning); then contact support
        because it is Error, and nothing is at work on it
        because restart is of no use: it is Error, and has no system to start
        $ rackwright bmm reimage rack1compute01
        $ rackwright bmm verify rack1compute01
        $ rackwright bmm uncordon rack1compute01
    "#]],
    );
}

#[test]
fn a_machine_that_was_given_up_is_replaced_whatever_is_said_of_it() {
    let given_up = |rig: &mut Rig| {
        let since = rig.desk.now;
        change_machine(rig, |machine| machine.unhealthy = Some(Unhealthy { since, because: "Drive test(s) failed".into() }));
    };
    check(
        given_up,
        Some(Symptom::Unresponsive),
        &[],
        expect![[r#"
            replace (unresponsive); then contact support
            because it was given up at 10:01:00Z: Drive test(s) failed; only a replace brings it back
            storage DiscardAll: no virtual machine has a disk on it
            warning: repair all failed parts first: one replace after all repairs; and no reimage right after it
            $ repair or exchange what has failed; see that its firmware is what the runtime asks for
            $ rackwright bmm replace rack1compute01 --storage-policy DiscardAll --bmc-credentials username=<USER> password=<PASSWORD> --bmc-mac-address <BMC_MAC> --serial-number <SERIAL> --boot-mac-address <BOOT_MAC>
            $ rackwright bmm verify rack1compute01
            $ rackwright bmm uncordon rack1compute01
        "#]],
    );
    check(
        given_up,
        None,
        &[RepairedPart::Psu],
        expect![[r#"
            replace (hardware); then contact support
            because it was given up at 10:01:00Z: Drive test(s) failed; only a replace brings it back
            part psu: replace Unnecessary, data Safe
            storage DiscardAll: no virtual machine has a disk on it
            warning: repair all failed parts first: one replace after all repairs; and no reimage right after it
            $ rackwright bmm replace rack1compute01 --storage-policy DiscardAll
            $ rackwright bmm verify rack1compute01
            $ rackwright bmm uncordon rack1compute01
        "#]],
    );
}

#[test]
fn each_part_says_whether_a_replace_is_needed_and_what_becomes_of_data() {
    let table: String = RepairedPart::ALL
        .into_iter()
        .map(|part| {
            let rig = site();
            let advice = advise(&rig.desk.snapshot, &target(Role::Compute), None, &[part], rig.desk.now).unwrap();
            let told = &advice.parts[0];
            format!("{part}: {:?}, {:?}; next {}\n", told.replace, told.data, advice.next)
        })
        .collect();
    expect![[r#"
        psu: Unnecessary, Safe; next nothing
        cpu: Recommended, Safe; next replace
        dimm: Recommended, Safe; next replace
        fan: Recommended, Safe; next replace
        riser: Recommended, Safe; next replace
        transceiver: Recommended, Safe; next replace
        cable: Recommended, Safe; next replace
        nic: Required, Safe; next replace
        ssd: Required, IfSeveral; next replace
        raid: Required, MayBeLost; next replace
        system-board: Required, MayBeLost; next replace
        backplane: Required, MayBeLost; next replace
    "#]]
    .assert_eq(&table);
}

/// A machine that has fallen silent with a virtual machine on it, which KubeVirt goes on listing.
fn silent_with_workloads() -> Rig {
    let mut rig = site();
    let machine = target(Role::Compute);
    rig.lodging.add_vm("firewall", &machine, RunStrategy::Always, None);
    rig.device(&machine).register(machine.as_str(), Readiness::Unknown);
    rig.run_for(Span::minutes(1));
    tried(&mut rig, Action::Restart, None);
    rig
}

#[test]
fn what_is_advised_for_a_silent_machine_is_not_refused_for_what_was_on_it() {
    let mut rig = silent_with_workloads();
    let advice = told(&rig, &target(Role::Compute), None, &[]);
    assert!(advice.contains("$ rackwright bmm reimage rack1compute01 --safeguard-mode None\n"), "{advice}");
    assert!(!advice.contains("--evacuate") && !advice.contains("against"), "{advice}");
    let id = ask(&mut rig, &target(Role::Compute), REIMAGE, None);
    assert!(verdict(&rig, &id).contains("machine-has-workloads"), "{}", verdict(&rig, &id));
    let id = ask(&mut rig, &target(Role::Compute), Action::Reimage { safeguard: Safeguard::None }, None);
    assert_eq!(verdict(&rig, &id), "accepted");
}

#[test]
fn what_is_under_way_is_waited_for_and_what_a_guard_says_is_told() {
    check(
        |rig| drop(ask(rig, &target(Role::Compute), Action::Restart, None)),
        Some(Symptom::Unresponsive),
        &[],
        expect![[r#"
        wait (unresponsive); then restart, reimage, replace, contact support
        because `rack1compute01` is being restarted since 10:01:00Z (operation op1)
        because nothing is seen to be wrong with it
        $ rackwright operation wait op1
    "#]],
    );
    let mut rig = site();
    ask(&mut rig, &target(Role::ControlPlane), Action::Restart, None);
    let other = crate::desk::name("rack2control01");
    expect![[r#"
        reimage (os-corruption); then replace, contact support
        because nothing is seen to be wrong with it
        warning: it is a control-plane machine: one at a time, and only while the others are well
        $ rackwright bmm reimage rack2control01
        $ rackwright bmm verify rack2control01
        $ rackwright bmm uncordon rack2control01
        against: `rack2control01` cannot be reimaged: rule kcp-one-at-a-time: `rack1control01` is being restarted since 10:01:00Z (operation op1)
    "#]].assert_eq(&told(&rig, &other, Some(Symptom::OsCorruption), &[]));
    assert_eq!(advise(&rig.desk.snapshot, &crate::desk::name("nobody"), None, &[], rig.desk.now), None);
}
