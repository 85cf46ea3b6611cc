//! What an agent tells beside its progress, and what becomes of one whose machine loses its power.

use expect_test::expect;
use model::{AgentNetwork, Ask, Fact, HostDisk, HostInventory, HostNic, InstallNetwork, MachineReport, Power, Role, Span, StepKind};

use super::clean_up::run_to;
use super::stage::{REIMAGE, ask, ending, latest, reimage, site, succeeded, target};
use crate::rig::Rig;
use crate::rig::board::Agent;

fn inventory(disks: &[&str]) -> MachineReport {
    let disks = disks.iter().map(|name| HostDisk { name: (*name).to_owned(), ..HostDisk::default() }).collect();
    let nics = vec![HostNic { name: "eth0".into(), ..HostNic::default() }];
    MachineReport::Inventory { host: Box::new(HostInventory { disks, nics, memory_bytes: Some(4 << 30), ..HostInventory::default() }) }
}

fn tell(rig: &mut Rig, report: MachineReport) {
    let attempt = rig.device(&target(Role::Compute)).board.attempt.clone().unwrap();
    rig.desk.request("machine", Ask::Report { attempt, report }, None);
    rig.run_for(Span::millis(10));
}

fn inventories(rig: &Rig) -> Vec<String> {
    let entries = latest(rig).journal;
    entries.iter().filter(|entry| matches!(entry.fact, Fact::Inventoried { .. })).map(|entry| format!("{:?}", entry.fact)).collect()
}

#[test]
fn an_inventory_is_kept_once_for_each_attempt() {
    let mut rig = site();
    rig.device(&target(Role::Compute)).board.agent = Agent::Stalls(20);
    ask(&mut rig, &target(Role::Compute), REIMAGE);
    run_to(&mut rig, StepKind::AgentOn);
    tell(&mut rig, inventory(&["sda", "sdb"]));
    assert_eq!(inventories(&rig), Vec::<String>::new(), "nobody has a session yet");
    rig.run_for(Span::seconds(70));
    for disks in [&["sda", "sdb"][..], &["sda", "sdb"], &["sda"]] {
        tell(&mut rig, inventory(disks));
    }
    assert_eq!(inventories(&rig), ["Inventoried { round: 1, disks: 2, nics: 1, memory_bytes: Some(4294967296) }"]);
    let kept: Vec<(String, usize)> =
        rig.desk.inventories.iter().map(|inventory| (inventory.machine.to_string(), inventory.host.disks.len())).collect();
    assert_eq!(kept, [("rack1compute01".to_owned(), 2)]);
    assert!(rig.run_until_idle(Span::hours(4)));
    tell(&mut rig, inventory(&["sda"]));
    assert_eq!((inventories(&rig).len(), rig.desk.inventories.len()), (1, 1), "what comes late is not heard");
}

#[test]
fn an_agent_that_wipes_for_an_hour_is_heard_of_all_the_while() {
    let mut rig = site();
    rig.device(&target(Role::Compute)).board.agent = Agent::Stalls(0);
    ask(&mut rig, &target(Role::Compute), REIMAGE);
    run_to(&mut rig, StepKind::AgentOn);
    rig.run_for(Span::seconds(70));
    for _ in 0..60 {
        tell(&mut rig, MachineReport::Progress { percent: 0 });
        rig.run_for(Span::minutes(1));
    }
    assert!(latest(&rig).is_running());
    assert!(rig.run_until_idle(Span::hours(4)));
    let message = latest(&rig).ended.map(|ended| ended.message).unwrap_or_default();
    assert!(message.contains("the agent has not been heard of for 30m 00s: it had told of 0 % written"), "{message}");
}

#[test]
fn a_machine_that_loses_its_power_under_the_agent_is_given_up_soon() {
    let mut rig = site();
    rig.device(&target(Role::Compute)).board.agent = Agent::Stalls(40);
    ask(&mut rig, &target(Role::Compute), REIMAGE);
    run_to(&mut rig, StepKind::AgentOn);
    rig.run_for(Span::seconds(105));
    let (cut_at, now) = (rig.desk.now, rig.desk.now);
    rig.device(&target(Role::Compute)).switch(Power::Off, now);
    assert!(rig.run_until_idle(Span::hours(4)));
    let operation = latest(&rig);
    expect![[r#"
        Failed (InstallFailed): reimage failed: the machine went off while its agent was at work, and was not on again within 3m 00s: it had told of 31 % written. Left behind: power Off; holds installation by alice, operation op1
        next: rackwright bmm reimage rack1compute01
    "#]].assert_eq(&ending(&operation));
    let after = operation.ended.as_ref().unwrap().at.since(cut_at);
    assert!(after > Span::minutes(3) && after < Span::minutes(6), "{after}");
}

#[test]
fn a_machine_that_is_on_again_in_time_is_not_given_up_for_having_been_off() {
    let mut rig = site();
    rig.device(&target(Role::Compute)).board.agent = Agent::Stalls(40);
    ask(&mut rig, &target(Role::Compute), REIMAGE);
    run_to(&mut rig, StepKind::AgentOn);
    rig.run_for(Span::seconds(105));
    let now = rig.desk.now;
    rig.device(&target(Role::Compute)).switch(Power::Off, now);
    rig.run_for(Span::minutes(2));
    let now = rig.desk.now;
    rig.device(&target(Role::Compute)).board.agent = Agent::Silent;
    rig.device(&target(Role::Compute)).switch(Power::On, now);
    rig.run_for(Span::minutes(10));
    assert!(latest(&rig).is_running());
    assert!(rig.run_until_idle(Span::hours(4)));
    assert!(ending(&latest(&rig)).contains("the agent has not been heard of for 30m 00s"), "{}", ending(&latest(&rig)));
}

#[test]
fn the_network_of_an_agent_is_settled_with_its_attempt() {
    let mut rig = site();
    let machine = target(Role::Compute);
    let network = InstallNetwork { address: "10.0.2.50/24".into(), gateway: Some("10.0.2.2".into()), dns: Vec::new() };
    rig.describe(&machine, |settings| settings.network = Some(network.clone()));
    let operation = reimage(&mut rig, Role::Compute);
    assert!(succeeded(&operation), "{}", ending(&operation));
    let mac = rig.desk.snapshot.machines[&machine].hardware.boot_mac.clone();
    assert_eq!(operation.installing().unwrap().network, Some(&AgentNetwork { mac, at: network }));
    rig.describe(&machine, |settings| settings.network = None);
    assert_eq!(reimage(&mut rig, Role::Compute).installing().unwrap().network, None);
}
