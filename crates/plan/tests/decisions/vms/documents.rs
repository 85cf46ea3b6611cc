//! Documents follow what KubeVirt, Cluster API and the tenants' own APIs report.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use expect_test::expect;
use model::{Amount, Delivery, Fault, FaultClass, Part, Readiness, Span, TenantClusterName, TenantNodeSeen};

use super::rig::Rig;
use super::script::{check, play, vm_name};

#[test]
fn what_is_done_past_us_is_followed_and_what_is_another_is_told_apart() {
    check(
        "
        machine rack1compute01
        vm fw running rack1compute01
        > alice update fw tag:row=7
        > fw stops
        > fw runs
        > fw is-made-anew
        > fw vanishes
        ",
        expect![[r#"
            10:00:00 > alice update fw tag:row=7
                     done
                     fw: Succeeded, running on rack1compute01, edition 2, tags {"row": "7"}
            10:00:00 > fw stops
                     fw: Succeeded, stopped on rack1compute01, edition 2, tags {"row": "7"}
            10:00:00 > fw runs
                     fw: Succeeded, running on rack1compute01, edition 2, tags {"row": "7"}
            10:00:00 > fw is-made-anew
                     fw: Succeeded, running on rack1compute01, edition 1
            10:00:00 > fw vanishes
                     fw is forgotten
        "#]],
    );
}

#[test]
fn a_new_keeper_forgets_nothing_before_it_has_listed_what_there_is() {
    let (mut rig, _) = play(
        "
        machine rack1compute01
        vm fw running rack1compute01
        node naks-01-agentpool1-a of naks-01 agentpool1 on rack1compute01
        ",
    );
    rig.kubevirt.vms.clear();
    rig.clusters.clear();
    rig.silence = Some(Fault::new(FaultClass::Unreachable, Delivery::No, "connection refused"));
    rig.crash(Span::hours(1));
    rig.run_for(Span::minutes(10), &mut |_, _, _, _| {});
    assert_eq!((rig.snapshot.vms.len(), rig.snapshot.tenant_clusters.len()), (1, 1));
    rig.silence = None;
    rig.run_for(Span::seconds(1), &mut |_, _, _, _| {});
    assert_eq!((rig.snapshot.vms.len(), rig.snapshot.tenant_clusters.len()), (0, 0));
}

#[test]
fn what_comes_and_goes_past_us_is_told_once_and_what_was_asked_for_is_told_by_its_operation() {
    let (mut rig, _) = play(
        "
        machine rack1compute01
        vm fw running rack1compute01
        node naks-01-agentpool1-a of naks-01 agentpool1 on rack1compute01
        > alice create db
        > wait 1m
        > alice delete db
        > wait 1m
        > fw is-made-anew
        > fw vanishes
        ",
    );
    rig.clusters.clear();
    rig.work(&mut |_, _, _, _| {});
    let mut told = String::new();
    let is_told = |entry: &&model::Activity| matches!(entry.what, model::ActivityKind::Description { .. });
    for entry in rig.log.iter().filter(is_told) {
        assert!(matches!(entry.subject.part, Part::Vm(_) | Part::TenantCluster(_)));
        writeln!(told, "{}: {}", entry.caller, entry.message).unwrap();
    }
    expect![[r#"
        rackwright: virtual machine `fw` was found in the undercloud
        rackwright: tenant cluster `naks-01` was found in the undercloud
        rackwright: another virtual machine `fw` was found in place of the one before
        rackwright: virtual machine `fw` is gone from the undercloud
        rackwright: tenant cluster `naks-01` is gone from the undercloud
    "#]]
    .assert_eq(&told);
}

#[test]
fn the_machine_of_a_stopped_one_is_where_it_ran_last() {
    let (mut rig, _) = play(
        "
        machine rack1compute01
        machine rack1compute02
        vm fw running rack1compute01
        > fw stops
        ",
    );
    let machine = |rig: &Rig| rig.snapshot.vms[&vm_name("fw")].machine.clone().map(|machine| machine.to_string());
    assert_eq!(machine(&rig).as_deref(), Some("rack1compute01"));
    rig.kubevirt.body("fw").node = "rack1compute02".into();
    rig.kubevirt.body("fw").run();
    rig.work(&mut |_, _, _, _| {});
    assert_eq!(machine(&rig).as_deref(), Some("rack1compute02"));
}

/// The undercloud may name a virtual machine's node before it is known which machine that is.
#[test]
fn a_node_that_becomes_known_later_says_where_its_virtual_machines_are() {
    let (mut rig, _) = play(
        "
        machine rack1compute01
        vm fw running rack1compute02
        node naks-01-agentpool1-a of naks-01 agentpool1 on rack1compute02
        ",
    );
    assert_eq!(rig.snapshot.vms[&vm_name("fw")].machine, None);
    rig.add_machine("rack1compute02");
    rig.see_machine("rack1compute02", true);
    rig.work(&mut |_, _, _, _| {});
    assert_eq!(rig.snapshot.vms[&vm_name("fw")].machine, Some(crate::desk::name("rack1compute02")));
    assert!(nodes(&rig).contains("on rack1compute02"), "{}", nodes(&rig));
}

fn naks() -> TenantClusterName {
    TenantClusterName::new("naks-01").unwrap()
}

fn nodes(rig: &Rig) -> String {
    let Some(cluster) = rig.snapshot.tenant_clusters.get(&naks()) else { return "gone\n".into() };
    let mut text = String::new();
    for (name, node) in &cluster.nodes {
        let machine = node.machine.as_ref().map_or("nowhere", |machine| machine.as_str());
        let vm = node.vm.map_or("without", |state| state.in_words());
        let cordoned = if node.is_unschedulable { " cordoned" } else { "" };
        let (ready, since) = (node.ready, node.since.time_of_day());
        writeln!(text, "{name} {:?} on {machine}, vm {vm}, ready {ready:?}{cordoned}, {}, since {since}", node.role, node.version).unwrap();
    }
    let fault = cluster.fault.as_ref().map(|fault| format!("{} since {}\n", fault.what, fault.at.time_of_day()));
    text + &fault.unwrap_or_default()
}

fn node_seen(name: &str, ready: Readiness, labels: &[(&str, &str)]) -> TenantNodeSeen {
    TenantNodeSeen {
        name: name.into(),
        uid: format!("n-{name}"),
        ready,
        ready_since: None,
        is_unschedulable: false,
        is_cordoned_by_us: false,
        is_out_of_service: false,
        version: "v1.36.1".into(),
        boot_id: "b".into(),
        machine: Some("rack1compute01".into()),
        allocatable: Amount { cpu_millis: 4_000, memory_bytes: 8 << 30 },
        pod_limit: 110,
        taints: Vec::new(),
        labels: Arc::new(labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect::<BTreeMap<_, _>>()),
    }
}

#[test]
fn nodes_are_those_of_cluster_api_and_of_the_cluster_itself_with_where_they_run() {
    let (mut rig, _) = play(
        "
        machine rack1compute01
        node naks-01-agentpool1-a of naks-01 agentpool1 on rack1compute01
        ",
    );
    let mut story = format!("before its own API is heard\n{}", nodes(&rig));
    let mut then = |rig: &mut Rig, what: &str, change: &dyn Fn(&mut Rig)| {
        rig.run_for(Span::minutes(1), &mut |_, _, _, _| {});
        change(rig);
        rig.work(&mut |_, _, _, _| {});
        write!(story, "{what}\n{}", nodes(rig)).unwrap();
    };
    fn inside(rig: &mut Rig) -> &mut plan::Inside {
        &mut rig.clusters.get_mut(&naks()).unwrap().1
    }
    then(&mut rig, "its nodes are listed", &|rig| {
        let now = rig.now;
        let worker = node_seen("naks-01-agentpool1-a", Readiness::True, &[]);
        let other = node_seen("by-hand", Readiness::True, &[("node-role.kubernetes.io/control-plane", "")]);
        inside(rig).contact.answered(now);
        inside(rig).listed_at = Some(now);
        inside(rig).nodes = [worker, other].into_iter().map(|node| (node.name.clone(), Arc::new(node))).collect();
    });
    then(&mut rig, "its virtual machine is stopped, and its kubelet with it", &|rig| {
        rig.kubevirt.body("naks-01-agentpool1-a").halt();
        let mut node = node_seen("naks-01-agentpool1-a", Readiness::Unknown, &[]);
        node.is_unschedulable = true;
        inside(rig).nodes.insert(node.name.clone(), Arc::new(node));
    });
    then(&mut rig, "its API is silent", &|rig| {
        let now = rig.now;
        inside(rig).contact.failed(now, Fault::new(FaultClass::Unreachable, Delivery::No, "connection refused"));
    });
    then(&mut rig, "and goes on being so, in other words", &|rig| {
        let now = rig.now;
        inside(rig).contact.failed(now, Fault::new(FaultClass::Unreachable, Delivery::No, "no route"));
    });
    then(&mut rig, "a new keeper knows what was known", &|rig| {
        *inside(rig) = plan::Inside::default();
        rig.crash(Span::seconds(1));
    });
    then(&mut rig, "a node is gone", &|rig| {
        let now = rig.now;
        inside(rig).contact.answered(now);
        inside(rig).listed_at = Some(now);
        rig.clusters.get_mut(&naks()).unwrap().0.machines.clear();
        let other = node_seen("by-hand", Readiness::True, &[("node-role.kubernetes.io/control-plane", "")]);
        inside(rig).nodes = [(other.name.clone(), Arc::new(other))].into_iter().collect();
    });
    then(&mut rig, "another cluster of that name has none of it", &|rig| {
        rig.clusters.get_mut(&naks()).unwrap().0.uid = "another".into();
        *inside(rig) = plan::Inside::default();
    });
    then(&mut rig, "the cluster is deleted", &|rig| rig.clusters.clear());
    expect![[r#"
        before its own API is heard
        naks-01-agentpool1-a Worker on rack1compute01, vm running, ready Unknown, v1.36.0, since 10:00:00
        its nodes are listed
        by-hand ControlPlane on rack1compute01, vm without, ready True, v1.36.1, since 10:01:00
        naks-01-agentpool1-a Worker on rack1compute01, vm running, ready True, v1.36.1, since 10:01:00
        its virtual machine is stopped, and its kubelet with it
        by-hand ControlPlane on rack1compute01, vm without, ready True, v1.36.1, since 10:01:00
        naks-01-agentpool1-a Worker on rack1compute01, vm stopped, ready Unknown cordoned, v1.36.1, since 10:02:00
        its API is silent
        by-hand ControlPlane on rack1compute01, vm without, ready True, v1.36.1, since 10:01:00
        naks-01-agentpool1-a Worker on rack1compute01, vm stopped, ready Unknown cordoned, v1.36.1, since 10:02:00
        unreachable: connection refused since 10:03:00
        and goes on being so, in other words
        by-hand ControlPlane on rack1compute01, vm without, ready True, v1.36.1, since 10:01:00
        naks-01-agentpool1-a Worker on rack1compute01, vm stopped, ready Unknown cordoned, v1.36.1, since 10:02:00
        unreachable: connection refused since 10:03:00
        a new keeper knows what was known
        by-hand ControlPlane on rack1compute01, vm without, ready True, v1.36.1, since 10:01:00
        naks-01-agentpool1-a Worker on rack1compute01, vm stopped, ready Unknown cordoned, v1.36.1, since 10:02:00
        unreachable: connection refused since 10:03:00
        a node is gone
        by-hand ControlPlane on rack1compute01, vm without, ready True, v1.36.1, since 10:01:00
        another cluster of that name has none of it
        the cluster is deleted
        gone
    "#]]
    .assert_eq(&story);
}
