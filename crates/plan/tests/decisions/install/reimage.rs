//! Installations that go well, by role and by way.

use expect_test::{Expect, expect};
use model::{BootWay, DeviceAsk, Fact, MachineReport, Operation, Provisioning, Role, Span};
use plan::{StepStatus, progress_of};

use super::stage::{REIMAGE, ask, bundle, ending, latest, left, reimage, site, succeeded, target, verdict};

/// What was asked and seen, in its order.
fn told(operation: &Operation) -> String {
    let lines = operation.journal.iter().filter_map(|entry| match &entry.fact {
        Fact::Asked { ask, attempt: 1 } => Some(format!("  {ask}\n")),
        Fact::Asked { ask, attempt } => Some(format!("  {ask}, attempt {attempt}\n")),
        Fact::Seen { step } => Some(format!("{}\n", step.title())),
        Fact::Skipped { step, reason } => Some(format!("{} left out: {reason}\n", step.title())),
        Fact::Reported { report, .. } => Some(format!("  told: {}\n", words(report))),
        Fact::Installing { round, way, .. } => Some(format!("  attempt {round} by {way}\n")),
        Fact::LeavingEtcd { member, .. } => Some(format!("  member {} is to go\n", member.id)),
        Fact::Faulted { ask, fault, .. } => Some(format!("  {ask} was answered: {fault}\n")),
        _ => None,
    });
    lines.collect()
}

fn words(report: &MachineReport) -> String {
    match report {
        MachineReport::Written { digest } => format!("written, {}", digest.short()),
        other => format!("{other:?}"),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a case reads best as what it comes to")]
fn check(role: Role, expected: Expect) {
    let mut rig = site();
    let operation = reimage(&mut rig, role);
    rig.run_for(Span::minutes(10));
    expected.assert_eq(&format!("{}{}{}", told(&operation), ending(&operation), left(&rig, &target(role))));
}

#[test]
fn a_compute_machine_is_reimaged() {
    check(
        Role::Compute,
        expect![[r#"
            Survey
              cordon
            Cordon
            Leave etcd left out: the machine has no member of etcd
              graceful shutdown
            Power Off
              attempt 1 by virtual media
              insertion of the agent's image
            Insert Media
              boot from virtual media
            Boot Agent
              power-on for the agent
            Agent On
              told: Exchange { nonce: Digest("0000000000000000000000000000000000000000000000000000000000000001") }
              told: Progress { percent: 10 }
              told: Progress { percent: 20 }
              told: Progress { percent: 30 }
              told: Progress { percent: 40 }
              told: Progress { percent: 50 }
              told: Progress { percent: 60 }
              told: Progress { percent: 70 }
              told: Progress { percent: 80 }
              told: Progress { percent: 90 }
              told: Progress { percent: 100 }
              told: written, abababababab
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
              told: PhonedHome { key_sets: {} }
            Phone Home
            Rejoin
            Promote in etcd left out: the machine has no member of etcd
              removal of the join token
            Drop Join Token
            Succeeded: `rack1compute01` was reimaged with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1compute01
            next: rackwright bmm uncordon rack1compute01
            Provisioned; installed 4.7.8; held by installation by alice, operation op1 (reimaged; to be uncordoned by a person); waits for 
        "#]],
    );
}

#[test]
fn a_control_plane_machine_leaves_etcd_and_comes_back_as_a_voter() {
    check(
        Role::ControlPlane,
        expect![[r#"
            Survey
              cordon
            Cordon
              member a1 is to go
              removal from etcd
            Leave etcd
              graceful shutdown
            Power Off
              attempt 1 by virtual media
              insertion of the agent's image
            Insert Media
              boot from virtual media
            Boot Agent
              power-on for the agent
            Agent On
              told: Exchange { nonce: Digest("0000000000000000000000000000000000000000000000000000000000000001") }
              told: Progress { percent: 10 }
              told: Progress { percent: 20 }
              told: Progress { percent: 30 }
              told: Progress { percent: 40 }
              told: Progress { percent: 50 }
              told: Progress { percent: 60 }
              told: Progress { percent: 70 }
              told: Progress { percent: 80 }
              told: Progress { percent: 90 }
              told: Progress { percent: 100 }
              told: written, abababababab
            Write Image
              power-off after the agent
            Agent Off
              ejection of the agent's image
            Eject Media
              boot from disk
            Boot Disk
              addition to etcd
            Join etcd
              join token
            Mint Join Token
              power-on of the new system
            System On
              told: PhonedHome { key_sets: {} }
            Phone Home
            Rejoin
              promotion in etcd
              promotion in etcd was answered: busy: etcdserver: can only promote a learner member which is in sync with leader
              promotion in etcd, attempt 2
              promotion in etcd was answered: busy: etcdserver: can only promote a learner member which is in sync with leader
              promotion in etcd, attempt 3
              promotion in etcd was answered: busy: etcdserver: can only promote a learner member which is in sync with leader
              promotion in etcd, attempt 4
              promotion in etcd was answered: busy: etcdserver: can only promote a learner member which is in sync with leader
              promotion in etcd, attempt 5
              promotion in etcd was answered: busy: etcdserver: can only promote a learner member which is in sync with leader
              promotion in etcd, attempt 6
            Promote in etcd
              removal of the join token
            Drop Join Token
            Succeeded: `rack1control01` was reimaged with runtime 4.7.8; it stays cordoned: rackwright bmm uncordon rack1control01
            next: rackwright bmm uncordon rack1control01
            Provisioned; installed 4.7.8; held by installation by alice, operation op1 (reimaged; to be uncordoned by a person); waits for 
        "#]],
    );
}

#[test]
fn a_management_machine_is_reimaged_as_a_compute_machine_is() {
    let mut rig = site();
    let operation = reimage(&mut rig, Role::Management);
    assert!(succeeded(&operation), "{}", ending(&operation));
}

#[test]
fn a_bmc_that_does_not_know_virtual_media_when_it_comes_to_it_is_started_over_http() {
    for unknown in [DeviceAsk::InsertMedia, DeviceAsk::BootFromMedia] {
        let mut rig = site();
        rig.device(&target(Role::Compute)).board.unknown.insert(unknown);
        let operation = reimage(&mut rig, Role::Compute);
        assert!(succeeded(&operation), "{unknown}: {}", ending(&operation));
        let ways: Vec<(u32, BootWay)> = operation
            .journal
            .iter()
            .filter_map(|entry| if let Fact::Installing { round, way, .. } = entry.fact { Some((round, way)) } else { None })
            .collect();
        assert_eq!(ways, [(1, BootWay::VirtualMedia), (2, BootWay::UefiHttp)], "{unknown}");
        assert_eq!(rig.device(&target(Role::Compute)).board.media, None, "{unknown}");
    }
}

#[test]
fn a_discreet_bmc_and_one_that_forgets_its_source_are_installed_all_the_same() {
    let mut rig = site();
    let board = &mut rig.device(&target(Role::Compute)).board;
    (board.is_discreet, board.is_forgetful) = (true, true);
    board.media = Some("http://elsewhere/old.iso".into());
    let operation = reimage(&mut rig, Role::Compute);
    assert!(succeeded(&operation), "{}", ending(&operation));
}

#[test]
fn a_late_effect_is_looked_for_and_not_asked_for_again() {
    let mut rig = site();
    // What is ignored at first is asked for again after its settle time.
    rig.device(&target(Role::Compute)).board.ignored.insert(DeviceAsk::InsertMedia);
    let id = ask(&mut rig, &target(Role::Compute), REIMAGE);
    assert_eq!(verdict(&rig, &id), "accepted");
    rig.run_for(Span::seconds(90));
    rig.device(&target(Role::Compute)).board.ignored.clear();
    assert!(rig.run_until_idle(Span::hours(3)));
    let operation = latest(&rig);
    assert!(succeeded(&operation), "{}", ending(&operation));
    assert_eq!(operation.last_asked(DeviceAsk::InsertMedia).unwrap().1, 2);
}

#[test]
fn progress_is_told_in_phases_and_never_falls() {
    let mut rig = site();
    ask(&mut rig, &target(Role::ControlPlane), REIMAGE);
    let mut told = String::new();
    let (mut percent, mut seen) = (0, Vec::new());
    while rig.desk.snapshot.running_count() > 0 {
        let operation = latest(&rig);
        let progress = progress_of(&operation);
        assert!(progress.percent >= percent && progress.percent < 100, "{} after {percent}", progress.percent);
        percent = progress.percent;
        let now = progress.steps.iter().find(|step| step.status == StepStatus::InProgress).expect("a phase that is in progress");
        let provisioning = rig.desk.snapshot.machines[&target(Role::ControlPlane)].provisioning;
        if !seen.contains(&(now.title, provisioning)) {
            seen.push((now.title, provisioning));
            told.push_str(&format!("{percent} % {} ({provisioning:?}): {}\n", now.title, now.message));
        }
        rig.run_for(Span::seconds(1));
    }
    let progress = progress_of(&latest(&rig));
    for step in &progress.steps {
        told.push_str(&format!("{} {:?} {}\n", step.title, step.status, step.ended_at.is_some()));
    }
    assert_eq!(progress.percent, 100);
    assert_eq!(rig.desk.snapshot.machines[&target(Role::ControlPlane)].provisioning, Provisioning::Provisioned);
    expect![[r#"
        14 % Deprovisioning (Deprovisioning): waiting for the effect of the graceful shutdown
        20 % Provisioning (Provisioning): waiting for a look at the virtual drive and the boot source
        79 % Cloud Init (Provisioning): waiting for the new system to phone home
        Deprovisioning Completed true
        Provisioning Completed true
        Cloud Init Completed true
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_node_that_registers_anew_takes_no_workloads() {
    for role in [Role::Compute, Role::ControlPlane] {
        let mut rig = site();
        let device = rig.device(&target(role));
        (device.node, device.registers_as) = (None, Some(target(role).to_string()));
        rig.run_for(Span::minutes(1));
        ask(&mut rig, &target(role), REIMAGE);
        let mut open_for = Span::ZERO;
        while rig.desk.snapshot.running_count() > 0 {
            rig.run_for(Span::millis(100));
            if rig.device(&target(role)).node.as_ref().is_some_and(|node| !node.unschedulable) {
                open_for = open_for + Span::millis(100);
            }
        }
        assert!(succeeded(&latest(&rig)), "{}", ending(&latest(&rig)));
        assert!(open_for <= Span::seconds(1), "{role:?}: open for {open_for}");
        assert!(rig.device(&target(role)).node.as_ref().is_some_and(|node| node.unschedulable && node.cordoned_by_us));
    }
}

#[test]
fn quorum_is_never_lost() {
    let mut rig = site();
    reimage(&mut rig, Role::ControlPlane);
    assert_eq!(rig.etcd.fewest_voters, 2);
    assert_eq!(rig.etcd.members.iter().filter(|member| !member.is_learner).count(), 3);
}

#[test]
fn a_runtime_without_a_way_for_http_is_not_started_by_it() {
    let mut rig = site();
    let mut bundle = bundle("4.7.8");
    bundle.boot.http = None;
    rig.desk.snapshot.runtimes.insert(bundle.version, std::sync::Arc::new(bundle));
    rig.device(&target(Role::Compute)).board.survey.ways = vec![BootWay::UefiHttp];
    let operation = reimage(&mut rig, Role::Compute);
    assert!(
        ending(&operation).contains("its BMC offers UEFI HTTP boot; the runtime can be started by virtual media"),
        "{}",
        ending(&operation)
    );
}
