//! The steps of a replace that a reimage has not.

use expect_test::{Expect, expect};
use model::{Action, Delivery, DeviceAsk, Failure, Fault, FaultClass, Power, Role, RunStrategy, Safeguard, Span, StepKind, StoragePolicy};

use super::stage::{PRESERVE, REPLACE, ask, ending, identity, latest, left, new_board, replace, site, target, told, verdict};
use crate::rig::Rig;

#[expect(clippy::needless_pass_by_value, reason = "a case reads best as what it comes to")]
pub fn check(change: impl FnOnce(&mut Rig), action: Action, expected: Expect) {
    let mut rig = site();
    change(&mut rig);
    let operation = replace(&mut rig, Role::Compute, action, Some(new_board()));
    let machine = target(Role::Compute);
    let parts = rig.device(&machine).board.parts.clone();
    let volumes = format!("volumes {:?}, deleted {:?}\n", parts.volumes, parts.deleted);
    expected.assert_eq(&format!("{}{}{}{}{volumes}", told(&operation), ending(&operation), left(&rig, &machine), identity(&rig, &machine)));
}

pub fn exchanged(rig: &mut Rig) {
    rig.device(&target(Role::Compute)).board.parts.serial_number = "sn2".into();
}

#[test]
fn without_the_safeguard_a_machine_that_is_well_is_emptied_and_then_replaced() {
    let mut rig = site();
    let now = rig.desk.now;
    rig.lodging.add_vm("firewall", &target(Role::Compute), RunStrategy::Always, None);
    rig.lodging.add_node("n1", "naks-01", "pool1", &target(Role::Compute), now);
    rig.run_for(Span::minutes(1));
    let guarded = Action::Replace { storage: StoragePolicy::Preserve, safeguard: Safeguard::All };
    let id = ask(&mut rig, &target(Role::Compute), guarded, None);
    assert!(verdict(&rig, &id).contains("rule machine-healthy"), "{}", verdict(&rig, &id));
    let operation = replace(&mut rig, Role::Compute, PRESERVE, None);
    assert!(ending(&operation).starts_with("Succeeded"), "{}", ending(&operation));
    let at = |step| operation.done_at(step).unwrap_or_else(|| panic!("{step:?} was not done"));
    assert!(at(StepKind::StopVms) <= at(StepKind::PowerOff), "what ran was shut down before the power was cut");
    let machine = &rig.desk.snapshot.machines[&target(Role::Compute)];
    let memory = machine.evacuated.as_ref().expect("what is to come back");
    assert_eq!(memory.vms.iter().map(|vm| vm.vm.name.to_string()).collect::<Vec<_>>(), ["firewall", "n1"]);
    assert_eq!(rig.lodging.running().len(), 0, "it stays cordoned, and nothing comes back before the uncordon");
    ask(&mut rig, &target(Role::Compute), Action::Uncordon, None);
    assert!(rig.run_until_idle(Span::hours(1)));
    rig.run_for(Span::minutes(15));
    assert_eq!(rig.lodging.running().len(), 2);
}

#[test]
fn a_voter_whose_new_hardware_is_not_right_keeps_its_vote() {
    let mut rig = site();
    let machine = target(Role::ControlPlane);
    rig.device(&machine).board.parts.is_linked = false;
    let operation = replace(&mut rig, Role::ControlPlane, PRESERVE, None);
    assert_eq!(operation.ended.as_ref().and_then(|ended| ended.failure), Some(Failure::ValidationFailed));
    assert_eq!(rig.etcd.members.iter().filter(|member| !member.is_learner).count(), 3);
    assert!(operation.last_asked(DeviceAsk::LeaveEtcd).is_none() && rig.device(&machine).power == Power::On);
}

#[test]
fn a_compute_machine_is_replaced_and_its_volumes_are_discarded() {
    check(
        exchanged,
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
fn preserve_leaves_the_volumes_alone() {
    check(
        exchanged,
        PRESERVE,
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
            Discard Volumes left out: the storage policy is Preserve
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
            volumes Some(["OS", "tenants"]), deleted []
        "#]],
    );
}

#[test]
fn a_machine_that_is_off_is_switched_on_to_be_validated() {
    let change = |rig: &mut Rig| {
        exchanged(rig);
        let now = rig.desk.now;
        rig.device(&target(Role::Compute)).switch(Power::Off, now);
        rig.run_for(Span::minutes(2));
    };
    check(
        change,
        REPLACE,
        expect![[r#"
            Survey
              cordon
            Cordon
            BMC Login
              power-on
              validated: Pass 
            Hardware Validation
            Leave etcd left out: the machine has no member of etcd
              forced power-off
            Power Off
            Wait for Deprovisioning
              volume OS is to go
              deletion of a volume
              volume tenants is to go
              deletion of a volume, attempt 2
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
fn hardware_that_does_not_match_ends_a_replace_and_marks_the_machine() {
    let change = |rig: &mut Rig| {
        exchanged(rig);
        rig.device(&target(Role::Compute)).board.parts.is_linked = false;
    };
    check(
        change,
        REPLACE,
        expect![[r#"
            Survey
              cordon
            Cordon
            BMC Login
              validated: Fail Networking test(s) failed: [NIC.1_LinkStatus] expected: Up; observed: Down; [Additional logs: Link failure detected on NIC.1]
            Failed (ValidationFailed): replace failed: Networking test(s) failed: [NIC.1_LinkStatus] expected: Up; observed: Down; [Additional logs: Link failure detected on NIC.1]. Left behind: power On; holds installation by alice, operation op1
            next: rackwright bmm advise rack1compute01 --symptom hardware
            Provisioned; installed nothing; held by installation by alice, operation op1 (its hardware validation failed); waits for 
            serial sn2, login replace/1, described as sn; validated Fail; unhealthy: Networking test(s) failed: [NIC.1_LinkStatus] expected: Up; observed: Down; [Additional logs: Link failure detected on NIC.1]
            volumes Some(["OS", "tenants"]), deleted []
        "#]],
    );
}

#[test]
fn a_serial_number_that_the_bmc_does_not_tell_the_same_ends_a_replace() {
    check(
        |_| {},
        REPLACE,
        expect![[r#"
            Survey
              cordon
            Cordon
            BMC Login
              validated: Fail System test(s) failed: [Serial_Number] expected: sn2; observed: sn
            Failed (ValidationFailed): replace failed: System test(s) failed: [Serial_Number] expected: sn2; observed: sn. Left behind: power On; holds installation by alice, operation op1
            next: rackwright bmm advise rack1compute01 --symptom hardware
            Provisioned; installed nothing; held by installation by alice, operation op1 (its hardware validation failed); waits for 
            serial sn2, login replace/1, described as sn; validated Fail; unhealthy: System test(s) failed: [Serial_Number] expected: sn2; observed: sn
            volumes Some(["OS", "tenants"]), deleted []
        "#]],
    );
}

fn faulty(class: FaultClass, words: &str) -> impl FnOnce(&mut Rig) {
    let fault = Fault::new(class, Delivery::No, words);
    move |rig: &mut Rig| rig.device(&target(Role::Compute)).bmc_fault = Some(fault)
}

#[test]
fn a_login_that_is_refused_ends_a_replace_before_anything_is_touched() {
    check(
        faulty(FaultClass::Denied, "GET /redfish/v1/Systems answered 401"),
        REPLACE,
        expect![[r#"
            Failed (BmcLoginFailed): replace failed: BMC login unsuccessful: Fail - Unauthorized (denied: GET /redfish/v1/Systems answered 401); nothing was touched. Left behind: power unknown, the BMC refuses our credentials; holds none
            next: rackwright bmm replace rack1compute01 --bmc-credentials username=<USER> password=<PASSWORD>
            Provisioned; installed nothing; held by ; waits for the BMC (denied: GET /redfish/v1/Systems answered 401)
            serial sn, login bmc/x, described as never; validated never; unhealthy: no
            volumes Some(["OS", "tenants"]), deleted []
        "#]],
    );
}

#[test]
fn a_bmc_that_is_silent_ends_a_replace_after_a_while() {
    check(
        faulty(FaultClass::Unreachable, "connection refused"),
        REPLACE,
        expect![[r#"
            Failed (BmcLoginFailed): replace failed: BMC login unsuccessful: Fail - Unreachable (unreachable: connection refused); nothing was touched. Left behind: power unknown, the BMC is unreachable; holds none
            next: rackwright bmm show rack1compute01
            Provisioned; installed nothing; held by ; waits for the BMC (unreachable: connection refused)
            serial sn, login bmc/x, described as never; validated never; unhealthy: no
            volumes Some(["OS", "tenants"]), deleted []
        "#]],
    );
}

#[test]
fn a_bmc_of_another_machine_ends_a_replace() {
    check(
        faulty(FaultClass::OtherMachine, "it has serial number X"),
        REPLACE,
        expect![[r#"
        Failed (ValidationFailed): replace failed: the BMC that answers is not that of `rack1compute01` (another machine: it has serial number X): compare the serial number with the machine's own; nothing was touched. Left behind: power unknown, another machine answers at the BMC's address; holds none
        next: rackwright bmm show rack1compute01
        Provisioned; installed nothing; held by ; waits for the BMC (another machine: it has serial number X)
        serial sn, login bmc/x, described as never; validated never; unhealthy: no
        volumes Some(["OS", "tenants"]), deleted []
    "#]],
    );
}

#[test]
fn a_validation_on_demand_only_records() {
    let mut rig = site();
    let machine = target(Role::Compute);
    rig.device(&machine).board.parts.drives = 0;
    let id = ask(&mut rig, &machine, Action::Validate, None);
    assert_eq!(verdict(&rig, &id), "accepted");
    assert!(rig.run_until_idle(Span::hours(1)));
    let operation = latest(&rig);
    let text = format!("{}{}{}{}", told(&operation), ending(&operation), left(&rig, &machine), identity(&rig, &machine));
    expect![[r#"
        BMC Login
          validated: Fail Drive test(s) failed: [Disk_0_Capacity_GB] expected: 960; observed: nothing; [Disk_0_Type] expected: SSD; observed: nothing; [Disk_1_Capacity_GB] expected: 960; observed: nothing; [Disk_1_Type] expected: SSD; observed: nothing; [Additional logs: No drive is seen in bay 0; No drive is seen in bay 1]
        Hardware Validation
        Succeeded: the hardware of `rack1compute01` is not as it should be: Drive test(s) failed: [Disk_0_Capacity_GB] expected: 960; observed: nothing; [Disk_0_Type] expected: SSD; observed: nothing; [Disk_1_Capacity_GB] expected: 960; observed: nothing; [Disk_1_Type] expected: SSD; observed: nothing; [Additional logs: No drive is seen in bay 0; No drive is seen in bay 1]
        next: rackwright bmm advise rack1compute01 --symptom hardware
        Provisioned; installed nothing; held by ; waits for 
        serial sn, login bmc/x, described as never; validated Fail; unhealthy: no
    "#]].assert_eq(&text);
}
