//! Installations that fail: each with a reason that somebody can act on, and with a machine that can be installed again.

use expect_test::{Expect, expect};
use model::{BootWay, Delivery, DeviceAsk, Fact, Fault, FaultClass, InstallTrouble, Provisioning, Role, Span};

use super::stage::{REIMAGE, ask, ending, latest, left, reimage, site, succeeded, target, verdict};
use crate::rig::Rig;
use crate::rig::board::{Agent, exchange};

#[expect(clippy::needless_pass_by_value, reason = "a case reads best as what it comes to")]
fn fails(role: Role, break_it: impl FnOnce(&mut Rig), expected: Expect) {
    let mut rig = site();
    break_it(&mut rig);
    let operation = reimage(&mut rig, role);
    expected.assert_eq(&format!("{}{}", ending(&operation), left(&rig, &target(role))));
}

/// Of a compute machine whose agent behaves so.
fn agent(agent: Agent, expected: Expect) {
    fails(Role::Compute, |rig| rig.device(&target(Role::Compute)).board.agent = agent, expected);
}

/// Of a compute machine whose BMC says yes to this and does nothing.
fn ignored(ask: DeviceAsk, expected: Expect) {
    fails(Role::Compute, |rig| rig.device(&target(Role::Compute)).board.ignored.extend([ask]), expected);
}

#[test]
fn an_agent_that_never_calls() {
    agent(
        Agent::Silent,
        expect![[r#"
            Failed (InstallFailed): reimage failed: no agent has called within 30m 00s of the power-on: the BMC reads back that it starts from virtual media, and an image is in its virtual drive; it may have started its old disk. Left behind: power Off; holds installation by alice, operation op1
            next: rackwright bmm reimage rack1compute01
            Error; installed nothing; held by installation by alice, operation op1 (its reimage did not succeed); waits for a person: its installation failed
        "#]],
    );
}

#[test]
fn a_machine_that_starts_its_old_disk() {
    agent(
        Agent::Absent,
        expect![[r#"
            Failed (InstallFailed): reimage failed: no agent has called within 30m 00s of the power-on: the BMC reads back that it starts from virtual media, and an image is in its virtual drive; its node is ready, so it has started its old disk. Left behind: power Off; holds installation by alice, operation op1
            next: rackwright bmm reimage rack1compute01
            Error; installed nothing; held by installation by alice, operation op1 (its reimage did not succeed); waits for a person: its installation failed
        "#]],
    );
}

#[test]
fn a_digest_that_is_wrong() {
    agent(
        Agent::WrongDigest,
        expect![[r#"
            Failed (InstallFailed): reimage failed: the image's digest is wrong: what was written to `rack1compute01` has cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd, and the image of runtime 4.7.8 has abababababababababababababababababababababababababababababababab. Left behind: power Off; holds installation by alice, operation op1
            next: rackwright bmm reimage rack1compute01
            Error; installed nothing; held by installation by alice, operation op1 (its reimage did not succeed); waits for a person: its installation failed
        "#]],
    );
}

#[test]
fn an_image_that_cannot_be_fetched() {
    agent(
        Agent::GivesUp(InstallTrouble::ImageUnreachable),
        expect![[r#"
            Failed (InstallFailed): reimage failed: the image cannot be fetched (as it says); we fetch it from where its runtime says, and the machine from us. Left behind: power Off; holds installation by alice, operation op1
            next: rackwright bmm reimage rack1compute01
            Error; installed nothing; held by installation by alice, operation op1 (its reimage did not succeed); waits for a person: its installation failed
        "#]],
    );
}

#[test]
fn a_disk_that_is_missing() {
    agent(
        Agent::GivesUp(InstallTrouble::MissingDisk),
        expect![[r#"
            Failed (InstallFailed): reimage failed: a disk that was named is not there (as it says); compare the site file (`os-disk`, `data-disks`) with the disks that `rackwright bmm show` lists. Left behind: power Off; holds installation by alice, operation op1
            next: rackwright bmm reimage rack1compute01
            Error; installed nothing; held by installation by alice, operation op1 (its reimage did not succeed); waits for a person: its installation failed
        "#]],
    );
}

#[test]
fn a_token_that_is_shown_twice() {
    agent(
        Agent::Greedy,
        expect![[r#"
            Failed (InstallFailed): reimage failed: the token was used twice, or by another machine (its token was shown for the second time at 10:03:02Z); the machine may have been restarted meanwhile, or its network is open to others. Left behind: power Off; holds installation by alice, operation op1
            next: rackwright bmm reimage rack1compute01
            Error; installed nothing; held by installation by alice, operation op1 (its reimage did not succeed); waits for a person: its installation failed
        "#]],
    );
}

#[test]
fn an_agent_that_falls_silent() {
    agent(
        Agent::Stalls(40),
        expect![[r#"
            Failed (InstallFailed): reimage failed: the agent has not been heard of for 30m 00s: it had told of 31 % written. Left behind: power Off; holds installation by alice, operation op1
            next: rackwright bmm reimage rack1compute01
            Error; installed nothing; held by installation by alice, operation op1 (its reimage did not succeed); waits for a person: its installation failed
        "#]],
    );
}

#[test]
fn a_drive_that_stays_empty() {
    ignored(
        DeviceAsk::InsertMedia,
        expect![[r#"
            Failed (InstallFailed): reimage failed: the BMC of `rack1compute01` took the insertion of the agent's image 3 times and nothing came of it: the virtual drive is still empty. Left behind: power Off; holds power-off by operation op1
            next: rackwright bmm start rack1compute01
            Provisioned; installed nothing; held by power-off by operation op1 (powered off); waits for a person: off, but expected to be on
        "#]],
    );
}

#[test]
fn a_drive_that_keeps_its_image() {
    ignored(
        DeviceAsk::EjectMedia,
        expect![[r#"
            Failed (InstallFailed): reimage failed: the BMC of `rack1compute01` took the ejection of the agent's image 3 times and nothing came of it: an image is still in the virtual drive. Left behind: power Off; holds installation by alice, operation op1; its image may be in the virtual drive
            next: rackwright bmm reimage rack1compute01
            Error; installed nothing; held by installation by alice, operation op1 (its reimage did not succeed); waits for a person: its installation failed
        "#]],
    );
}

#[test]
fn a_boot_source_that_stays_as_it_was() {
    ignored(
        DeviceAsk::BootFromMedia,
        expect![[r#"
        Failed (InstallFailed): reimage failed: the BMC of `rack1compute01` took the boot from virtual media 3 times and nothing came of it: it is set to start from its disk. Left behind: power Off; holds installation by alice, operation op1
        next: rackwright bmm reimage rack1compute01
        Error; installed nothing; held by installation by alice, operation op1 (its reimage did not succeed); waits for a person: its installation failed
    "#]],
    );
}

#[test]
fn a_machine_that_does_not_go_on() {
    ignored(
        DeviceAsk::AgentOn,
        expect![[r#"
        Failed (InstallFailed): reimage failed: the BMC of `rack1compute01` took the power-on for the agent 3 times and nothing came of it: it is still off. Left behind: power Off; holds installation by alice, operation op1
        next: rackwright bmm reimage rack1compute01
        Error; installed nothing; held by installation by alice, operation op1 (its reimage did not succeed); waits for a person: its installation failed
    "#]],
    );
}

#[test]
fn a_system_that_never_phones_home() {
    fails(
        Role::Compute,
        |rig| rig.device(&target(Role::Compute)).board.phones_home = false,
        expect![[r#"
        Failed (InstallFailed): reimage failed: the new system has not phoned home within 30m 00s of its start: the BMC reads back that it starts from its disk, and its virtual drive is empty; look at its console, and whether it reaches us. Left behind: power On; holds installation by alice, operation op1
        next: rackwright bmm reimage rack1compute01
        Error; installed nothing; held by installation by alice, operation op1 (its reimage did not succeed); waits for a person: its installation failed
    "#]],
    );
}

#[test]
fn an_etcd_that_never_catches_up() {
    fails(
        Role::ControlPlane,
        |rig| rig.etcd.catches_up_after = None,
        expect![[r#"
            Failed (EtcdFailed): reimage failed: the new member of etcd has not caught up within 20m 00s: etcd said: busy: etcdserver: can only promote a learner member which is in sync with leader. Left behind: power On; holds installation by alice, operation op1; its member of etcd is a learner: 2 others vote
            next: rackwright bmm reimage rack1control01
            Error; installed nothing; held by installation by alice, operation op1 (its reimage did not succeed); waits for a person: its installation failed
        "#]],
    );
}

#[test]
fn a_bmc_that_offers_no_way() {
    let break_it = |rig: &mut Rig| rig.device(&target(Role::Compute)).board.survey.ways = vec![BootWay::Pxe];
    fails(
        Role::Compute,
        break_it,
        expect![[r#"
        Failed (DeviceUnsupported): reimage failed: there is no way to start the machine: its BMC offers PXE; the runtime can be started by virtual media, UEFI HTTP boot. Left behind: power On; holds none
        next: rackwright bmm show rack1compute01
        Provisioned; installed nothing; held by ; waits for 
    "#]],
    );
}

#[test]
fn a_bmc_that_knows_no_way_when_it_comes_to_it() {
    let break_it = |rig: &mut Rig| {
        let unknown = &mut rig.device(&target(Role::Compute)).board.unknown;
        unknown.extend([DeviceAsk::InsertMedia, DeviceAsk::BootFromHttp]);
    };
    fails(
        Role::Compute,
        break_it,
        expect![[r#"
            Failed (DeviceUnsupported): reimage failed: there is no way to start the machine: its BMC offers virtual media, UEFI HTTP boot, PXE; it refused virtual media, UEFI HTTP boot; the runtime can be started by virtual media, UEFI HTTP boot. Left behind: power Off; holds power-off by operation op1
            next: rackwright bmm start rack1compute01
            Provisioned; installed nothing; held by power-off by operation op1 (powered off); waits for a person: off, but expected to be on
        "#]],
    );
}

/// Asked for, accepted, and not yet past its first step.
fn accepted(rig: &mut Rig, role: Role) {
    let ask = model::Ask::Act { machine: target(role), action: REIMAGE, outage: model::Outage::Refused, replacement: None };
    rig.desk.request("alice", ask, None);
    rig.run_for(Span::millis(300));
    assert_eq!(rig.desk.snapshot.running_count(), 1);
}

#[test]
fn a_firmware_job_that_begins_after_the_verdict_stops_it_before_anything_is_touched() {
    let mut rig = site();
    accepted(&mut rig, Role::Compute);
    rig.device(&target(Role::Compute)).board.busy_with_firmware();
    assert!(rig.run_until_idle(Span::hours(1)));
    expect![[r#"
        Failed (InstallFailed): reimage failed: the BMC has a firmware job: `Firmware Update: iDRAC` (50 %); nothing was touched. Left behind: power On; holds none
        next: rackwright bmm show rack1compute01
        Provisioned; installed nothing; held by ; waits for 
    "#]].assert_eq(&format!("{}{}", ending(&latest(&rig)), left(&rig, &target(Role::Compute))));
    assert_eq!(rig.device(&target(Role::Compute)).requests, Vec::<DeviceAsk>::new());
}

#[test]
fn an_etcd_that_falls_silent_after_the_verdict_leaves_the_machine_as_it_was() {
    let mut rig = site();
    accepted(&mut rig, Role::ControlPlane);
    rig.etcd.fault = Some(Fault::new(FaultClass::Unreachable, Delivery::No, "connection refused"));
    assert!(rig.run_until_idle(Span::hours(1)));
    rig.run_for(Span::minutes(1));
    expect![[r#"
        Failed (EtcdFailed): reimage failed: the removal from etcd was not seen within 20m 00s: it waited for the undercloud's etcd (unreachable: connection refused). Left behind: power On; holds none
        next: rackwright bmm show rack1control01
        Provisioned; installed nothing; held by ; waits for 
    "#]].assert_eq(&format!("{}{}", ending(&latest(&rig)), left(&rig, &target(Role::ControlPlane))));
    assert_eq!(rig.etcd.members.len(), 3);
}

#[test]
fn a_machine_whose_installation_failed_is_installed_by_the_next() {
    for role in [Role::Compute, Role::ControlPlane] {
        let mut rig = site();
        rig.device(&target(role)).board.agent = Agent::WrongDigest;
        assert!(!succeeded(&reimage(&mut rig, role)));
        assert_eq!(rig.desk.snapshot.machines[&target(role)].provisioning, Provisioning::Error);
        rig.device(&target(role)).board.media = Some("http://elsewhere/of-somebody-else.iso".into());
        rig.run_for(Span::minutes(5));
        let start = ask(&mut rig, &target(role), model::Action::Start);
        assert!(verdict(&rig, &start).contains("rule machine-provisioned"), "{}", verdict(&rig, &start));
        rig.device(&target(role)).board.agent = Agent::Works;
        let operation = reimage(&mut rig, role);
        assert!(succeeded(&operation), "{role:?}: {}", ending(&operation));
        let machine = &rig.desk.snapshot.machines[&target(role)];
        assert_eq!(machine.holds.len(), 1, "{:?}", machine.holds);
        assert_eq!(rig.etcd.members.iter().filter(|member| !member.is_learner).count(), 3);
        // What was in the drive was taken out before the new image went in.
        let ejected = operation.journal.iter().position(|entry| matches!(entry.fact, Fact::Asked { ask: DeviceAsk::EjectMedia, .. }));
        let inserted = operation.journal.iter().position(|entry| matches!(entry.fact, Fact::Asked { ask: DeviceAsk::InsertMedia, .. }));
        assert!(ejected < inserted, "{:?}", operation.journal);
    }
}

#[test]
fn a_cancel_before_the_disk_is_touched_leaves_a_machine_that_can_be_started() {
    let mut rig = site();
    let id = ask(&mut rig, &target(Role::Compute), REIMAGE);
    rig.desk.request("alice", model::Ask::Cancel { operation: model::OperationId::new(id.as_str()) }, None);
    assert!(rig.run_until_idle(Span::hours(1)));
    expect![[r#"
        Canceled: cancelled by alice during Insert Media. Left behind: power Off; holds power-off by operation op1.
        next: rackwright bmm start rack1compute01
        Provisioned; installed nothing; held by power-off by operation op1 (powered off); waits for a person: off, but expected to be on
    "#]]
    .assert_eq(&format!("{}{}", ending(&latest(&rig)), left(&rig, &target(Role::Compute))));
}

#[test]
fn a_second_try_that_ends_early_does_not_make_a_wiped_machine_well() {
    let wiped = || {
        let mut rig = site();
        rig.device(&target(Role::Compute)).board.agent = Agent::WrongDigest;
        assert!(!succeeded(&reimage(&mut rig, Role::Compute)));
        rig.run_for(Span::minutes(5));
        rig
    };
    let stays_wiped = |rig: &Rig| {
        assert_eq!(rig.desk.snapshot.machines[&target(Role::Compute)].provisioning, Provisioning::Error);
        let told = ending(&latest(rig));
        assert!(told.ends_with("next: rackwright bmm reimage rack1compute01\n"), "{told}");
    };
    let mut rig = wiped();
    rig.device(&target(Role::Compute)).board.ignored.extend([DeviceAsk::InsertMedia, DeviceAsk::EjectMedia]);
    assert!(!succeeded(&reimage(&mut rig, Role::Compute)));
    stays_wiped(&rig);
    let mut rig = wiped();
    let id = ask(&mut rig, &target(Role::Compute), REIMAGE);
    rig.desk.request("alice", model::Ask::Cancel { operation: model::OperationId::new(id.as_str()) }, None);
    assert!(rig.run_until_idle(Span::hours(1)));
    stays_wiped(&rig);
}

#[test]
fn what_a_machine_tells_of_an_attempt_that_is_over_or_not_its_own_is_not_heard() {
    let mut rig = site();
    reimage(&mut rig, Role::Compute);
    let over = rig.device(&target(Role::Compute)).board.attempt.clone().unwrap();
    let of_another = model::Attempt { machine: target(Role::Management), ..over.clone() };
    let mut told = String::new();
    let phoned_home = model::MachineReport::PhonedHome { key_sets: std::collections::BTreeMap::new() };
    for (attempt, report) in [(over, phoned_home), (of_another, exchange(1))] {
        let id = rig.desk.request("machine", model::Ask::Report { attempt, report }, None);
        rig.run_for(Span::seconds(1));
        told.push_str(&format!("{}\n", verdict(&rig, &id)));
    }
    expect![[r#"
        what `rack1compute01` tells of its installation is not heard: rule attempt-running: operation op1 ended at 10:06:23Z: Succeeded
        remedy: nothing to do for the machine; a person reads `rackwright operation show op1`
        what `rack1control02` tells of its installation is not heard: rule attempt-running: operation op1 ended at 10:06:23Z: Succeeded
        remedy: nothing to do for the machine; a person reads `rackwright operation show op1`
    "#]]
    .assert_eq(&told);
}

#[test]
fn an_exchange_before_the_machine_is_started_for_it_is_not_heard() {
    let mut rig = site();
    rig.device(&target(Role::Compute)).board.ignored.insert(DeviceAsk::BootFromMedia);
    ask(&mut rig, &target(Role::Compute), REIMAGE);
    rig.run_for(Span::seconds(70));
    let attempt = rig.device(&target(Role::Compute)).board.attempt.clone().unwrap();
    let id = rig.desk.request("machine", model::Ask::Report { attempt, report: exchange(1) }, None);
    rig.run_for(Span::seconds(1));
    expect![[r#"
        what `rack1compute01` tells of its installation is not heard: rule attempt-running: operation op1 is at Boot Agent
        remedy: nothing to do for the machine; a person reads `rackwright operation show op1`"#]]
    .assert_eq(&verdict(&rig, &id));
}
