//! The invariants of installations can be broken: each of them speaks when it is.

use model::{Action, Attempt, BootWay, DeviceAsk, OperationId, Power, Role, Span};
use plan::{Plan, Step, With, invariants};

use super::stage::{REIMAGE, ask, site, target};
use crate::desk;
use crate::rig::Rig;

/// What stands against a plan that asks this, in words.
fn violations(rig: &Rig, role: Role, ask: DeviceAsk, with: With) -> String {
    let operation = rig.operations().next().map(|operation| operation.id.clone());
    let step = Step { machine: target(role), node: None, operation, ask, attempt: 1, reason: String::new(), with };
    let plan = Plan { steps: vec![step], ..Plan::default() };
    invariants::check(&rig.desk.snapshot, &plan).iter().map(|violation| format!("{violation}\n")).collect()
}

fn install(role: Role) -> With {
    let attempt =
        Attempt { cluster: desk::empty_cluster(desk::morning()).name, machine: target(role), operation: OperationId::new("op1"), round: 1 };
    With::Install { attempt, way: BootWay::VirtualMedia }
}

#[test]
fn nothing_is_inserted_under_a_machine_that_runs() {
    let rig = site();
    for ask in [DeviceAsk::InsertMedia, DeviceAsk::BootFromMedia, DeviceAsk::BootFromHttp, DeviceAsk::BootFromPxe, DeviceAsk::AgentOn] {
        assert!(violations(&rig, Role::Compute, ask, install(Role::Compute)).contains("not seen off"), "{ask}");
    }
}

#[test]
fn no_volume_is_deleted_or_made_by_a_reimage() {
    let mut rig = site();
    ask(&mut rig, &target(Role::Compute), REIMAGE);
    let told = violations(&rig, Role::Compute, DeviceAsk::DeleteVolume, With::Volume { path: "/v1".into() });
    assert!(told.contains("nobody said that data may be lost"), "{told}");
    let told = violations(&rig, Role::Compute, DeviceAsk::MakeOsVolume, With::OsVolume { name: "OS".into() });
    assert!(told.contains("nobody said that data may be lost"), "{told}");
}

#[test]
fn nobody_leaves_an_etcd_that_cannot_spare_it_or_that_nobody_looked_at() {
    let mut rig = site();
    let member = rig.etcd.members[0].id.clone();
    let leave = |rig: &Rig| violations(rig, Role::ControlPlane, DeviceAsk::LeaveEtcd, With::Member { id: member.clone() });
    assert!(leave(&rig).contains("nobody has looked at"), "{}", leave(&rig));
    // Whoever is refused has had it looked at.
    rig.device(&target(Role::ControlPlane)).board.busy_with_firmware();
    ask(&mut rig, &target(Role::ControlPlane), REIMAGE);
    let now = rig.desk.now;
    rig.device(&desk::name("rack2control01")).switch(Power::Off, now);
    rig.desk.look_power(&desk::name("rack2control01"), Ok(Power::Off));
    assert!(leave(&rig).contains("1 of 2 would be left voting in etcd"), "{}", leave(&rig));
}

#[test]
fn nothing_is_written_while_etcd_lists_the_member() {
    let mut rig = site();
    ask(&mut rig, &target(Role::ControlPlane), Action::Restart);
    let told = violations(&rig, Role::ControlPlane, DeviceAsk::AgentOn, With::Nothing);
    assert!(told.contains("before etcd has let its member go"), "{told}");
    rig.run_for(Span::seconds(1));
}
