//! Where displaced pods are said to go.

use expect_test::expect;

use super::stage::check;

#[test]
fn the_largest_goes_first_and_placing_takes_room() {
    check(
        "
        rack1compute01 compute on ready
        node naks-01/n1 on rack1compute01 8cpu 8Gi
        node naks-01/n2 on rack1compute02 2cpu 4Gi
        node naks-01/n3 on rack1compute02 3cpu 4Gi
        pod naks-01/n3 web/there ReplicaSet 1cpu 1Gi
        pod naks-01/n3 web/was-there ReplicaSet 1cpu 1Gi done
        pod naks-01/n1 web/small ReplicaSet 500m 1Gi
        pod naks-01/n1 web/large ReplicaSet 2cpu 1Gi
        pod naks-01/n1 web/middle ReplicaSet 1500m 1Gi
        pod naks-01/n1 web/huge ReplicaSet 3cpu 1Gi
        > preview restart rack1compute01
        ",
        expect![[r#"
            vm n1 (node of naks-01), running: Stopped
            node n1 of naks-01, policy wait: Drained
            pod web/huge on n1: pending, 1 CPU missing: no node has room for it; `n2` comes nearest
            pod web/large on n1: moves to n2
            pod web/middle on n1: moves to n3
            pod web/small on n1: moves to n3
            takes 23m 00s, at most 40m 00s: assumed: no such restart has ended here yet
        "#]],
    );
}

#[test]
fn nodes_that_cannot_take_a_pod_are_left_out() {
    check(
        "
        rack1compute01 compute on ready
        node naks-01/n1 on rack1compute01 8cpu 8Gi
        node naks-01/n2 on rack1compute01 8cpu 8Gi
        node naks-01/n3 on rack1compute02 8cpu 8Gi cordoned
        node naks-01/n4 on rack1compute02 8cpu 8Gi notready
        node naks-01/n5 on rack1compute02 8cpu 8Gi taint=gpu:NoSchedule
        node naks-01/n6 on rack1compute02 8cpu 8Gi label=disk=ssd
        node naks-01/n7 on rack1compute02 8cpu 8Gi pods=0
        node naks-01/n8 on rack1compute02 8cpu 8Gi taint=soft:PreferNoSchedule
        pod naks-01/n1 web/plain ReplicaSet 500m 1Gi needs=zone=b
        pod naks-01/n1 web/ssd ReplicaSet 500m 1Gi needs=disk=ssd
        pod naks-01/n1 web/any ReplicaSet 500m 1Gi
        pod naks-01/n1 web/gpu ReplicaSet 8cpu 1Gi bears=gpu
        pod naks-01/n1 web/odd ReplicaSet 500m 1Gi guess
        > preview restart rack1compute01
        ",
        expect![[r#"
            vm n1 (node of naks-01), running: Stopped
            vm n2 (node of naks-01), running: Stopped
            node n1 of naks-01, policy wait: Drained
            node n2 of naks-01, policy wait: Drained
            pod web/plain on n1: pending, nothing missing: no other node can take it: 1 is cordoned, 1 is not ready, 1 has a taint that it does not tolerate, 3 have not the labels that it asks for
            pod web/any on n1: moves to n6
            pod web/gpu on n1: moves to n5
            pod web/odd on n1: moves to n6
            pod web/ssd on n1: moves to n6
            takes 23m 00s, at most 40m 00s: assumed: no such restart has ended here yet
            unknown: where `web/odd` of `naks-01` can run: asked of a node is more than is understood here
        "#]],
    );
}

#[test]
fn pods_that_must_be_apart_are_kept_apart_also_by_those_that_are_there() {
    check(
        "
        rack1compute01 compute on ready
        node naks-01/n1 on rack1compute01 8cpu 8Gi
        node naks-01/n2 on rack1compute02 8cpu 8Gi
        node naks-01/n3 on rack1compute02 8cpu 8Gi
        pod naks-01/n2 db/db-0 StatefulSet 1cpu 1Gi app=db apart=app=db
        pod naks-01/n2 db/lonely StatefulSet 1cpu 1Gi app=lonely apart=app=web
        pod naks-01/n1 db/db-1 StatefulSet 1cpu 1Gi app=db apart=app=db
        pod naks-01/n1 db/db-2 StatefulSet 1cpu 1Gi app=db apart=app=db
        pod naks-01/n1 db/web-1 ReplicaSet 500m 1Gi app=web
        pod naks-01/n1 other/web-1 ReplicaSet 500m 1Gi app=web
        pod naks-01/n1 db/sidekick ReplicaSet 400m 1Gi with=app=lonely
        pod naks-01/n1 db/first ReplicaSet 300m 1Gi app=first with=app=first
        pod naks-01/n1 db/astray ReplicaSet 200m 1Gi with=app=nobody
        > preview restart rack1compute01
        ",
        expect![[r#"
            vm n1 (node of naks-01), running: Stopped
            node n1 of naks-01, policy wait: Drained
            pod db/astray on n1: pending, nothing missing: no other node can take it: 2 are ruled out by pod affinity
            pod db/db-2 on n1: pending, nothing missing: no other node can take it: 2 are ruled out by pod affinity
            pod db/db-1 on n1: moves to n3
            pod db/first on n1: moves to n2
            pod db/sidekick on n1: moves to n2
            pod db/web-1 on n1: moves to n3
            pod other/web-1 on n1: moves to n2
            takes 23m 00s, at most 40m 00s: assumed: no such restart has ended here yet
        "#]],
    );
}

#[test]
fn nodes_on_machines_that_are_being_emptied_have_no_room() {
    let site = "
        rack1compute01 compute on ready
        rack1compute02 compute on ready
        rack1compute03 compute on ready
        > bob ACTION rack1compute02
        node naks-01/n1 on rack1compute01 8cpu 8Gi
        node naks-01/n2 on rack1compute02 8cpu 8Gi
        node naks-01/n3 on rack1compute03 2cpu 8Gi
        pod naks-01/n1 web/web-1 ReplicaSet 1cpu 1Gi
        pod naks-01/n1 web/web-2 ReplicaSet 4cpu 1Gi
        > preview cordon rack1compute01 evacuate
        ";
    check(
        &site.replace("ACTION", "restart"),
        expect![[r#"
            vm n1 (node of naks-01), running: Stopped
            node n1 of naks-01, policy wait: Drained
            pod web/web-2 on n1: pending, 2 CPU missing: no node has room for it; `n3` comes nearest
            pod web/web-1 on n1: moves to n3
            takes 4m 30s, at most 35m 00s: assumed: no such evacuation has ended here yet
        "#]],
    );
    // A start is no disruption, and neither is one that has ended.
    check(
        &site.replace("ACTION", "start"),
        expect![[r#"
            vm n1 (node of naks-01), running: Stopped
            node n1 of naks-01, policy wait: Drained
            pod web/web-1 on n1: moves to n2
            pod web/web-2 on n1: moves to n2
            takes 4m 30s, at most 35m 00s: assumed: no such evacuation has ended here yet
        "#]],
    );
}

#[test]
fn without_another_node_everything_waits() {
    check(
        "
        rack1compute01 compute on ready
        node naks-01/n1 on rack1compute01 8cpu 8Gi
        pod naks-01/n1 web/web-1 ReplicaSet 500m 1Gi
        > preview restart rack1compute01
        ",
        expect![[r#"
            vm n1 (node of naks-01), running: Stopped
            node n1 of naks-01, policy wait: Drained
            pod web/web-1 on n1: pending, nothing missing: there is no other node
            takes 23m 00s, at most 40m 00s: assumed: no such restart has ended here yet
        "#]],
    );
}
