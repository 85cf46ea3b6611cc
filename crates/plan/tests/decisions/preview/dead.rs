//! Machines, nodes and APIs that do not answer.

use expect_test::expect;

use super::stage::check;

const WORKLOADS: &str = "
    node naks-01/n2 on rack1compute02 4cpu 8Gi
    vm firewallvnf on rack1compute01
    pod naks-01/n1 web/web-1 ReplicaSet 500m 256Mi
    pod naks-01/n1 db/db-0 StatefulSet 500m 256Mi
    pod naks-01/n1 kube-system/fluentd-x DaemonSet 100m 64Mi
    > preview cordon rack1compute01 evacuate
    ";

#[test]
fn what_ran_on_a_machine_that_is_off_is_lost_and_what_has_a_name_of_its_own_is_stuck() {
    let node = "node naks-01/n1 on rack1compute01 4cpu 8Gi unknown";
    check(
        &format!("rack1compute01 compute off unknown\n{node}\n{WORKLOADS}"),
        expect![[r#"
        vm firewallvnf, running: Lost
        vm n1 (node of naks-01), running: Lost
        node n1 of naks-01, policy wait: passed over after 5m 00s, its kubelet does not answer
        pod db/db-0 on n1: Stuck
        pod web/web-1 on n1: Lost
        pod kube-system/fluentd-x on n1: stays: DaemonSet `owner` runs it on every node
        takes 5m 30s, at most 35m 00s: assumed: no such evacuation has ended here yet
    "#]],
    );
    check(
        &format!("rack1compute01 compute on unknown\n{node}\n{WORKLOADS}"),
        expect![[r#"
        vm firewallvnf, running: Lost
        vm n1 (node of naks-01), running: Lost
        node n1 of naks-01, policy wait: passed over after 5m 00s, its kubelet does not answer
        pod db/db-0 on n1: Stuck
        pod web/web-1 on n1: Lost
        pod kube-system/fluentd-x on n1: stays: DaemonSet `owner` runs it on every node
        takes 5m 30s, at most 35m 00s: assumed: no such evacuation has ended here yet
        unknown: whether anything still runs on `rack1compute01`: its node is silent, and its BMC does not read off
    "#]],
    );
    check(
        &format!("rack1compute01 compute off unknown\n{node}\n{}", WORKLOADS.replace("evacuate", "force")),
        expect![[r#"
        vm firewallvnf, running: Lost
        vm n1 (node of naks-01), running: Lost
        node n1 of naks-01, policy wait: passed over after 5m 00s, its kubelet does not answer
        pod web/web-1 on n1: Lost
        pod db/db-0 on n1: moves to n2
        pod kube-system/fluentd-x on n1: stays: DaemonSet `owner` runs it on every node
        takes 5m 30s, at most 35m 00s: assumed: no such evacuation has ended here yet
    "#]],
    );
}

#[test]
fn a_tenants_api_that_does_not_answer_is_named() {
    let site = format!("rack1compute01 compute on ready\nnode naks-01/n1 on rack1compute01 4cpu 8Gi\n{WORKLOADS}");
    check(
        &format!("{site}\nsilent naks-01"),
        expect![[r#"
        vm firewallvnf, running: Stopped
        vm n1 (node of naks-01), running: Stopped
        node n1 of naks-01, policy wait: passed over after 5m 00s, the API of `naks-01` does not answer (unreachable: connection refused)
        pod db/db-0 on n1: stays: its node is passed over
        pod kube-system/fluentd-x on n1: stays: DaemonSet `owner` runs it on every node
        pod web/web-1 on n1: stays: its node is passed over
        takes 7m 30s, at most 35m 00s: assumed: no such evacuation has ended here yet
        unknown: how the pods of `naks-01` are now: its API does not answer (unreachable: connection refused)
    "#]],
    );
    check(
        &format!("{site}\nunlisted naks-01"),
        expect![[r#"
        vm firewallvnf, running: Stopped
        vm n1 (node of naks-01), running: Stopped
        node n1 of naks-01, policy wait: passed over after 5m 00s, the API of `naks-01` has not answered yet
        takes 7m 30s, at most 35m 00s: assumed: no such evacuation has ended here yet
        unknown: which pods run in `naks-01`: its API has not answered yet
    "#]],
    );
}

#[test]
fn before_the_first_listing_and_while_the_undercloud_is_silent_it_says_so() {
    let script = "undercloud silent\nrack1compute01 compute on ready\n> preview restart rack1compute01";
    let mut play = super::stage::stage(script);
    play.desk.snapshot.tenants.listed_at = None;
    let preview = super::stage::preview_of(&play, script);
    expect![[r#"
        which virtual machines there are: they have not been listed since the keeper started
        how virtual machines are now: the undercloud does not answer (unreachable: connection refused)"#]]
    .assert_eq(&preview.unknowns.join("\n"));
}
