//! The inspection of a whole site.

use expect_test::expect;
use model::{Action, Ask, ClusterStatus, Delivery, Fact, Fault, FaultClass, MachineName, RackName, RequestId, Role, Span, Target};

use super::stage::{ask, ending, site, target, verdict};
use crate::desk;
use crate::rig::Rig;

fn inspect(rig: &mut Rig, machines: &[&str], racks: &[&str]) -> RequestId {
    let machines: Vec<MachineName> = machines.iter().map(|name| desk::name(name)).collect();
    let racks = racks.iter().map(|name| RackName::new(*name).unwrap()).collect();
    let id = rig.desk.request("alice", Ask::Inspect { machines, racks }, None);
    rig.run_for(Span::millis(1));
    id
}

fn summary(rig: &Rig) -> String {
    let site = rig.operations().find(|operation| matches!(operation.target, Target::Site(_))).expect("an inspection");
    let validations = rig.operations().filter(|operation| operation.action == Action::Validate);
    let together = validations.filter(|operation| operation.correlation_id == site.correlation_id);
    format!("{}validations: {}\n", ending(site), together.count())
}

#[test]
fn every_machine_is_validated_and_what_differs_is_named() {
    let mut rig = site();
    rig.device(&target(Role::Compute)).board.parts.drives = 0;
    let id = inspect(&mut rig, &[], &[]);
    assert_eq!(verdict(&rig, &id), "accepted");
    let second = inspect(&mut rig, &[], &[]);
    assert!(rig.run_until_idle(Span::hours(1)));
    rig.check_log();
    expect![[r#"
        Succeeded: 4 machines are as they should be; 1 not: rack1compute01
        next: rackwright bmm show rack1compute01
        validations: 5
        the hardware of `site1` cannot be inspected: rule inspect-running: `site1` is being inspected since 10:01:00Z (operation op1)
        remedy: wait with `rackwright operation wait op1`, or stop it with `rackwright operation cancel op1`
    "#]]
    .assert_eq(&format!("{}{}\n", summary(&rig), verdict(&rig, &second)));
}

#[test]
fn machines_and_racks_are_taken_together_and_unknown_ones_refused() {
    let mut rig = site();
    let refused = inspect(&mut rig, &["nobody"], &["nowhere"]);
    let id = inspect(&mut rig, &["rack1compute01"], &[]);
    assert_eq!(verdict(&rig, &id), "accepted");
    assert!(rig.run_until_idle(Span::hours(1)));
    expect![[r#"
        Succeeded: 1 machine is as it should be
        next: nothing
        validations: 1
        the hardware of `site1` cannot be inspected: rule machine-exists: there is no machine `nobody`; there is no rack `nowhere` with machines
        remedy: `rackwright bmm list` names machines and their racks
    "#]].assert_eq(&format!("{}{}\n", summary(&rig), verdict(&rig, &refused)));
}

#[test]
fn whoever_is_busy_is_left_out_and_named() {
    let mut rig = site();
    ask(&mut rig, &target(Role::Compute), Action::Restart, None);
    inspect(&mut rig, &[], &[]);
    assert!(rig.run_until_idle(Span::hours(1)));
    expect![[r#"
        Succeeded: 4 machines are as they should be; left out: `rack1compute01` is being restarted (operation op1)
        next: nothing
        validations: 4
    "#]]
    .assert_eq(&summary(&rig));
}

#[test]
fn a_cancelled_inspection_ends_with_its_validations() {
    let mut rig = site();
    let id = inspect(&mut rig, &[], &[]);
    let cancel = Ask::Cancel { operation: model::OperationId::new(id.as_str()) };
    rig.desk.request("alice", cancel, None);
    assert!(rig.run_until_idle(Span::hours(1)));
    expect![[r#"
        Canceled: 0 machines are as they should be; 5 could not be validated: rack1compute01, rack1control01, rack1control02, rack2control01, rack3control01
        next: rackwright bmm show rack1compute01
        validations: 5
    "#]].assert_eq(&summary(&rig));
}

#[test]
fn a_site_may_be_inspected_before_it_is_deployed_and_not_while_it_is() {
    let inspected = |status| {
        let mut rig = site();
        let mut cluster = (*rig.desk.snapshot.cluster).clone();
        cluster.detailed_status = status;
        rig.desk.snapshot.cluster = std::sync::Arc::new(cluster);
        let id = inspect(&mut rig, &[], &[]);
        verdict(&rig, &id)
    };
    assert_eq!(inspected(ClusterStatus::PendingDeployment), "accepted");
    let refused = inspected(ClusterStatus::Deploying);
    assert!(refused.contains("rule cluster-running: cluster `site1` is Deploying"), "{refused}");
}

#[test]
fn whoever_goes_on_from_an_inspection_reads_which_machines_it_is_about() {
    let mut rig = site();
    rig.device(&target(Role::Compute)).board.parts.drives = 0;
    let silent = Fault::new(FaultClass::Unreachable, Delivery::No, "no route");
    rig.device(&target(Role::Management)).bmc_fault = Some(silent);
    inspect(&mut rig, &[], &[]);
    assert!(rig.run_until_idle(Span::hours(2)));
    let site = rig.operations().find(|operation| matches!(operation.target, Target::Site(_))).expect("an inspection");
    let inspected = site.journal.iter().find(|entry| matches!(entry.fact, Fact::Inspected { .. })).map(|entry| &entry.fact);
    let (failed, unknown) = (vec![target(Role::Compute)], vec![target(Role::Management)]);
    assert_eq!(inspected, Some(&Fact::Inspected { passed: 3, failed, unknown }));
}

#[test]
fn a_sku_is_found_in_whatever_letters_a_machine_names_it() {
    let inspected = |sku: &str| {
        let mut rig = site();
        rig.device(&target(Role::Compute)).board.parts.drives = 0;
        let mut machine = (*rig.desk.snapshot.machines[&target(Role::Compute)]).clone();
        machine.hardware.sku = sku.into();
        rig.desk.snapshot.set_machine(machine);
        inspect(&mut rig, &["rack1compute01"], &[]);
        assert!(rig.run_until_idle(Span::hours(1)));
        summary(&rig)
    };
    assert!(inspected("SKU").contains("1 not: rack1compute01"), "{}", inspected("SKU"));
    assert!(inspected("another").contains("1 machine is as it should be"), "{}", inspected("another"));
}
