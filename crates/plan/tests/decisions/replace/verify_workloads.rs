//! Post-checks of virtual machines and tenant nodes, and of what cannot be told.

use std::fmt::Write;
use std::sync::Arc;

use expect_test::expect;
use model::{Action, BaselineVm, Delivery, Fault, FaultClass, PostCheck, PostState, Readiness, Role, RunStrategy, Span, VmState};
use plan::verify;

use super::stage::{ask, site, target};
use crate::lodging::{tenant, vm_name};
use crate::rig::Rig;

fn checks(rig: &Rig) -> Vec<PostCheck> {
    verify(&rig.desk.snapshot, &target(Role::Compute)).expect("the machine is there")
}

/// The check whose name has this in it.
fn of(rig: &Rig, name: &str) -> String {
    let check = checks(rig).into_iter().find(|check| check.name.contains(name)).expect("a check");
    let mut told = format!("{:?}: `{}` → `{}`", check.state, check.expected, check.found);
    let said = [(!check.words.is_empty()).then_some(check.words), check.awaits.map(|command| format!("awaits {command}"))];
    for words in said.into_iter().flatten() {
        let _ = write!(told, "; {words}");
    }
    told
}

fn silence() -> Fault {
    Fault::new(FaultClass::Unreachable, Delivery::No, "no route")
}

/// A machine with a virtual machine and a tenant node, restarted; all is back.
fn restarted() -> Rig {
    let mut rig = site();
    let now = rig.desk.now;
    rig.lodging.add_vm("firewall", &target(Role::Compute), RunStrategy::Always, None);
    rig.lodging.add_node("n1", "naks-01", "pool1", &target(Role::Compute), now);
    rig.run_for(Span::minutes(1));
    ask(&mut rig, &target(Role::Compute), Action::Restart, None);
    assert!(rig.run_until_idle(Span::hours(1)));
    rig.run_for(Span::minutes(15));
    rig
}

#[test]
fn all_that_is_back_is_well() {
    let told: String = checks(&restarted()).iter().map(|check| format!("{:?} {}: {}\n", check.state, check.name, check.found)).collect();
    expect![[r#"
        Ok provisioningState: Succeeded
        Ok readyState: True
        Ok powerState: On
        Ok virtual machine `firewall`: running
        Ok node `n1` of tenant cluster `naks-01`: Ready on `rack1compute01`
    "#]]
    .assert_eq(&told);
}

/// How a virtual machine is judged that was so before, and is so now.
fn judged(before: VmState, now: Option<VmState>) -> String {
    let mut rig = restarted();
    let mut machine = (*rig.desk.snapshot.machines[&target(Role::Compute)]).clone();
    machine.baseline.as_mut().expect("a record").vms = vec![BaselineVm { vm: vm_name("firewall"), state: before }];
    rig.desk.snapshot.set_machine(machine);
    let name = vm_name("firewall");
    match now {
        None => drop(rig.desk.snapshot.tenants.forget_vm(&name)),
        Some(state) => {
            let mut seen = (*rig.desk.snapshot.tenants.vms()[&name]).clone();
            seen.state = state;
            seen.message = Some("its volume is full".into());
            rig.desk.snapshot.tenants.set_vm(seen);
        }
    }
    of(&rig, "firewall")
}

#[test]
fn each_state_of_a_virtual_machine_is_judged_by_how_it_was() {
    let states = [VmState::Running, VmState::Stopped, VmState::Provisioning, VmState::Failing];
    let mut table = String::new();
    for before in states {
        for now in states.map(Some).into_iter().chain([None]) {
            let found = now.map_or("gone", VmState::in_words);
            let _ = writeln!(table, "{} before, {found} now: {}", before.in_words(), judged(before, now));
        }
    }
    expect![[r#"
        running before, running now: Ok: `running` → `running`
        running before, stopped now: Differs: `running` → `stopped`; nobody is about to start it: rackwright vm start firewall
        running before, being provisioned now: Waits: `running` → `being provisioned`; it is still starting
        running before, failing now: Differs: `running` → `failing`; its volume is full
        running before, gone now: Differs: `running` → `gone`; it was deleted meanwhile
        stopped before, running now: Differs: `stopped` → `running`; somebody has started it meanwhile
        stopped before, stopped now: Ok: `stopped` → `stopped`
        stopped before, being provisioned now: Differs: `stopped` → `being provisioned`; its volume is full
        stopped before, failing now: Differs: `stopped` → `failing`; its volume is full
        stopped before, gone now: Differs: `stopped` → `gone`; it was deleted meanwhile
        being provisioned before, running now: Ok: `being provisioned` → `running`
        being provisioned before, stopped now: Differs: `being provisioned` → `stopped`; its volume is full
        being provisioned before, being provisioned now: Ok: `being provisioned` → `being provisioned`; it was being provisioned before
        being provisioned before, failing now: Differs: `being provisioned` → `failing`; its volume is full
        being provisioned before, gone now: Differs: `being provisioned` → `gone`; it was deleted meanwhile
        failing before, running now: Ok: `failing` → `running`
        failing before, stopped now: Differs: `failing` → `stopped`; its volume is full
        failing before, being provisioned now: Waits: `failing` → `being provisioned`; it is still starting
        failing before, failing now: Ok: `failing` → `failing`; it was failing before
        failing before, gone now: Differs: `failing` → `gone`; it was deleted meanwhile
    "#]]
    .assert_eq(&table);
}

#[test]
fn what_its_owner_had_stopped_is_on_record_and_stays_stopped() {
    let mut rig = site();
    super::storage::stopped(&mut rig, Some(Role::Compute));
    ask(&mut rig, &target(Role::Compute), Action::Restart, None);
    assert!(rig.run_until_idle(Span::hours(1)));
    assert_eq!(of(&rig, "router"), "Ok: `stopped` → `stopped`");
    rig.desk.snapshot.tenants.forget_vm(&vm_name("router"));
    assert_eq!(of(&rig, "router"), "Differs: `stopped` → `gone`; it was deleted meanwhile");
}

#[test]
fn a_tenants_node_is_to_be_ready_where_it_was() {
    let mut rig = restarted();
    let change = |rig: &mut Rig, change: &dyn Fn(&mut model::TenantNodeSeen)| {
        let cluster = tenant("naks-01");
        let mut inside = rig.desk.snapshot.tenants.insides[&cluster].clone();
        let mut node = (*inside.nodes["n1"]).clone();
        change(&mut node);
        inside.nodes.insert("n1".into(), Arc::new(node));
        rig.desk.snapshot.tenants.insides.insert(cluster, inside);
    };
    let mut table = format!("{}\n", of(&rig, "`n1`"));
    change(&mut rig, &|node| node.is_unschedulable = true);
    let _ = writeln!(table, "{}", of(&rig, "`n1`"));
    change(&mut rig, &|node| (node.is_unschedulable, node.ready) = (false, Readiness::Unknown));
    let _ = writeln!(table, "{}", of(&rig, "`n1`"));
    let mut moved = restarted();
    moved.lodging.migrate(&vm_name("n1"), &target(Role::Management));
    moved.run_for(Span::minutes(1));
    let _ = writeln!(table, "{}", of(&moved, "`n1`"));
    let mut inside = rig.desk.snapshot.tenants.insides[&tenant("naks-01")].clone();
    inside.nodes.remove("n1");
    rig.desk.snapshot.tenants.insides.insert(tenant("naks-01"), inside.clone());
    let _ = writeln!(table, "{}", of(&rig, "`n1`"));
    inside.contact.failed(rig.desk.now, silence());
    rig.desk.snapshot.tenants.insides.insert(tenant("naks-01"), inside);
    let _ = writeln!(table, "{}", of(&rig, "`n1`"));
    expect![[r#"
        Ok: `Ready here` → `Ready on `rack1compute01``
        Differs: `Ready here` → `Ready on `rack1compute01`, cordoned`; it was schedulable before
        Differs: `Ready here` → `not Ready`; it was Ready before
        Differs: `Ready here` → `Ready on `rack1control02``; it runs on another machine now
        Differs: `Ready here` → `gone`; its tenant cluster has 0 nodes, and not this one: Cluster API may have made another in its place
        Unknown: `Ready here` → `unknown`; the API of its tenant cluster does not answer
    "#]]
    .assert_eq(&table);
}

#[test]
fn a_node_that_an_evacuation_stopped_waits_for_the_uncordon() {
    let mut rig = restarted();
    ask(&mut rig, &target(Role::Compute), Action::Cordon { evacuate: model::Evacuate::Yes }, None);
    let under_way = of(&rig, "`n1`");
    assert!(rig.run_until_idle(Span::hours(1)));
    rig.run_for(Span::minutes(2));
    let evacuated = of(&rig, "`n1`");
    ask(&mut rig, &target(Role::Compute), Action::Uncordon, None);
    assert!(rig.run_until_idle(Span::hours(1)));
    let released = of(&rig, "`n1`");
    rig.run_for(Span::minutes(15));
    let story = [under_way, evacuated, released, of(&rig, "`n1`")].join("\n");
    expect![[r#"
        Waits: `Ready here` → `Ready on `rack1compute01`, cordoned`; operation op2 is at work on the machine
        Waits: `Ready here` → `not Ready`; it comes back with rackwright bmm uncordon rack1compute01; awaits rackwright bmm uncordon rack1compute01
        Waits: `Ready here` → `not Ready`; it is being brought back
        Ok: `Ready here` → `Ready on `rack1compute01``"#]].assert_eq(&story);
}

#[test]
fn what_nobody_tells_now_is_not_judged_by_what_was_heard_last() {
    let states = |rig: &Rig| {
        let told = checks(rig).into_iter().map(|check| format!("{:?} {}: {}; {}\n", check.state, check.name, check.found, check.words));
        told.collect::<String>()
    };
    let mut blind = restarted();
    blind.undercloud_fault = Some(silence());
    blind.run_for(Span::minutes(1));
    expect![[r#"
        Ok provisioningState: Succeeded; 
        Unknown readyState: last heard of True; the undercloud does not answer: unreachable: no route
        Ok powerState: On; 
        Unknown virtual machine `firewall`: last heard of running; nothing is heard of virtual machines now
        Unknown node `n1` of tenant cluster `naks-01`: unknown; nothing is heard of virtual machines now
    "#]]
    .assert_eq(&states(&blind));
    let mut deaf = restarted();
    deaf.device(&target(Role::Compute)).bmc_fault = Some(silence());
    deaf.run_for(Span::minutes(1));
    assert!(checks(&deaf).iter().any(|check| check.name == "powerState" && check.state == PostState::Unknown), "{}", states(&deaf));
    let mut fresh = restarted();
    fresh.die();
    let told = checks(&fresh);
    let all = |state| told.iter().filter(|check| check.state == state).count();
    assert_eq!((all(PostState::Unknown), all(PostState::Ok)), (4, 1), "{}", states(&fresh));
}
