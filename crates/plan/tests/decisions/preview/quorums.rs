//! Control planes of tenant clusters that lose a node.

use std::sync::Arc;

use expect_test::expect;
use model::{Ask, NodeRole, Readiness, Target, TenantClusterName, TenantNode, Timestamp, Verdict, VmState};
use plan::{Visit, Visited};

use super::stage::{check, stage};
use super::told::told;
use crate::desk;

#[test]
fn the_only_node_of_a_control_plane_is_told() {
    let site = "
        rack1compute01 compute on ready
        rack1compute02 compute on ready
        node naks-01/cp1 on rack1compute01 4cpu 8Gi control-plane
        node naks-01/n1 on rack1compute02 4cpu 8Gi
        > preview ACTION rack1compute01
        ";
    check(
        &site.replace("ACTION", "restart"),
        expect![[r#"
        vm cp1 (node of naks-01), running: Stopped
        node cp1 of naks-01, policy wait: Drained
        control plane of naks-01: 1 of 1 now, 0 after, 1 needed: lost
        takes 21m 00s, at most 40m 00s: assumed: no such restart has ended here yet
    "#]],
    );
    check(
        &site.replace("ACTION rack1compute01", "power-off rack1compute01 skip-shutdown"),
        expect![[r#"
        vm cp1 (node of naks-01), running: Stopped
        node cp1 of naks-01, policy wait: passed over after 0ms, the power is cut, and nothing is drained before
        control plane of naks-01: 1 of 1 now, 0 after, 1 needed: lost
        takes 3m 30s, at most 40m 00s: assumed: no such power-off has ended here yet
    "#]],
    );
    // Where nothing ends there is nothing to tell.
    check(
        &site.replace("ACTION", "cordon"),
        expect![[r#"
        vm cp1 (node of naks-01), running: Untouched
        takes 30s, at most 10m 00s: assumed: no such cordon has ended here yet
    "#]],
    );
    check(
        &site.replace("ACTION rack1compute01", "restart rack1compute02"),
        expect![[r#"
        vm n1 (node of naks-01), running: Stopped
        node n1 of naks-01, policy wait: Drained
        takes 21m 00s, at most 40m 00s: assumed: no such restart has ended here yet
    "#]],
    );
}

const THREE: &str = "
    rack1compute01 compute on ready
    rack1compute02 compute on ready
    rack1compute03 compute on ready
    node naks-01/cp1 on rack1compute01 4cpu 8Gi control-plane
    node naks-01/cp2 on rack1compute02 4cpu 8Gi control-plane
    node naks-01/cp3 on rack1compute03 4cpu 8Gi control-plane
    > preview cordon rack1compute01 evacuate
    ";

#[test]
fn of_three_one_can_be_spared_while_the_others_run() {
    check(
        THREE,
        expect![[r#"
        vm cp1 (node of naks-01), running: Stopped
        node cp1 of naks-01, policy wait: Drained
        control plane of naks-01: 3 of 3 now, 2 after, 2 needed
        takes 2m 30s, at most 35m 00s: assumed: no such evacuation has ended here yet
    "#]],
    );
    check(
        &THREE.replace("cp2 on rack1compute02 4cpu 8Gi", "cp2 on rack1compute02 4cpu 8Gi unknown"),
        expect![[r#"
        vm cp1 (node of naks-01), running: Stopped
        node cp1 of naks-01, policy wait: Drained
        control plane of naks-01: 2 of 3 now, 1 after, 2 needed: lost
        takes 2m 30s, at most 35m 00s: assumed: no such evacuation has ended here yet
    "#]],
    );
    check(
        &THREE.replace("cp2 on rack1compute02", "cp2 on rack1compute01"),
        expect![[r#"
        vm cp1 (node of naks-01), running: Stopped
        vm cp2 (node of naks-01), running: Stopped
        node cp1 of naks-01, policy wait: Drained
        node cp2 of naks-01, policy wait: Drained
        control plane of naks-01: 3 of 3 now, 1 after, 2 needed: lost
        takes 2m 30s, at most 35m 00s: assumed: no such evacuation has ended here yet
    "#]],
    );
    // What its silent API told last says nothing against the others.
    check(
        &format!("{}\nsilent naks-01", THREE.replace("cp2 on rack1compute02 4cpu 8Gi", "cp2 on rack1compute02 4cpu 8Gi unknown")),
        expect![[r#"
        vm cp1 (node of naks-01), running: Stopped
        node cp1 of naks-01, policy wait: passed over after 5m 00s, the API of `naks-01` does not answer (unreachable: connection refused)
        control plane of naks-01: 3 of 3 now, 2 after, 2 needed
        takes 7m 30s, at most 35m 00s: assumed: no such evacuation has ended here yet
        unknown: how the pods of `naks-01` are now: its API does not answer (unreachable: connection refused)
    "#]],
    );
}

#[test]
fn one_that_is_gone_already_is_not_counted_twice() {
    let gone = THREE.replace("rack1compute01 compute on ready", "rack1compute01 compute off unknown");
    check(
        &gone,
        expect![[r#"
        vm cp1 (node of naks-01), running: Lost
        node cp1 of naks-01, policy wait: passed over after 5m 00s, its machine does not answer
        control plane of naks-01: 2 of 3 now, 2 after, 2 needed
        takes 5m 30s, at most 35m 00s: assumed: no such evacuation has ended here yet
    "#]],
    );
}

#[test]
fn the_restart_of_a_node_takes_it_away_for_a_while() {
    let mut play = stage(&format!("policy naks-01 wait\n{THREE}"));
    let (cluster, node) = (TenantClusterName::new("naks-01").unwrap(), "cp1".to_owned());
    let stored = TenantNode {
        role: NodeRole::ControlPlane,
        pool: None,
        machine: Some(desk::name("rack1compute01")),
        vm: Some(VmState::Running),
        ready: Readiness::True,
        is_unschedulable: false,
        version: "v1.33.1".into(),
        cpu_cores: 4,
        memory_bytes: 8 << 30,
        since: Timestamp::EPOCH,
    };
    let document = play.desk.snapshot.tenant_clusters.get_mut(&cluster).unwrap();
    Arc::make_mut(document).nodes.insert(node.clone(), stored);
    let ask = Ask::PreviewForTenant { target: Target::TenantNode { cluster, node }, action: model::Action::RestartNode };
    let request = desk::request_at(&play.desk.snapshot, play.desk.now, ask);
    let id = request.id.clone();
    play.desk.snapshot.set_request(request);
    let plan = plan::plan(&play.desk.snapshot, &Visit::Only(Visited::default()), play.desk.now);
    let Some(Verdict::Previewed { preview }) = &plan.changes.requests[&id].verdict else { panic!("{plan:?}") };
    expect![[r#"
        vm cp1 (node of naks-01), running: Restarted
        node cp1 of naks-01, policy wait: Restarted
        control plane of naks-01: 3 of 3 now, 2 after, 2 needed
        takes 3m 00s, at most 5m 00s: assumed: what its parts usually take
    "#]]
    .assert_eq(&told(preview));
}
