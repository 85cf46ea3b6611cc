//! Nothing is heard of virtual machines, or of the undercloud at all: whoever restarts a machine or switches it off goes on when the
//! time is up, but not over tenants who hold.

use expect_test::expect;

use crate::script::check;

#[test]
fn under_hold_a_restart_fails_where_nothing_is_heard_of_virtual_machines() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        policy naks01 hold
        > tenants unheard
        > alice restart rack1compute01
        > wait 6m
        ",
        expect![[r#"
            10:00:00 > tenants unheard
            10:00:00 > alice restart rack1compute01
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 remembers n1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     rack1compute01 waits for the undercloud's API for workloads (denied: virtualmachines is forbidden) since 10:00:00, expected by 10:02:00
            10:00:00 > wait 6m
            10:05:00 rack1compute01 <- uncordon for its holds
                     op1 Failed: restart failed: node `n1` of `naks01` cannot be emptied (nothing is heard of virtual machines: denied: virtualmachines is forbidden), and its drain policy is hold. Left behind: power On; holds none
                       next: rackwright bmm show rack1compute01
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the node to be uncordoned since 10:05:00, expected by 10:05:30; 1 virtual machine to start: n1 since 10:05:00, expected by 10:08:00
                     rack1compute01 waits for 1 virtual machine to start: n1 since 10:05:00, expected by 10:08:00
        "#]],
    );
}

#[test]
fn under_hold_a_power_off_fails_where_the_undercloud_falls_silent_in_mid_drain() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment budget=web
        budget web 0
        policy naks01 hold
        > alice power-off rack1compute01
        > wait 1m
        > undercloud silent
        > wait 12m
        ",
        expect![[r#"
            10:00:00 > alice power-off rack1compute01
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 remembers n1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     asks for the mark that Cluster API leaves `n1` alone for op1
                     asks for the cordon of node `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for the effect of the mark that Cluster API leaves `n1` alone since 10:00:00, expected by 10:00:30
                     op1: Cordon Tenant Nodes seen
                     op1: draining n1
                     asks for the eviction of pod `app/web-1` of `naks01` for op1
                     rack1compute01 waits for 1 pod to leave since 10:00:00, expected by 10:02:00
                     op1: app/web-1 is kept: budget web allows none
                     rack1compute01 waits for 1 pod to leave; kept by budgets: app/web-1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 1m
            10:00:05 asks for the eviction of pod `app/web-1` of `naks01` for op1, attempt 2
            10:01:00 > undercloud silent
                     rack1compute01 waits for the undercloud (unreachable: connection refused) since 10:01:00, expected by 10:03:00
            10:01:00 > wait 12m
            10:03:00 the cluster is Timeout
            10:06:00 the cluster is Disconnected
            10:12:00 op1 Failed: power-off failed: node `n1` of `naks01` cannot be emptied (the undercloud does not answer), and its drain policy is hold. Left behind: power On; holds none; to be brought back: 1 tenant node
                       next: rackwright bmm show rack1compute01
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the node to be uncordoned since 10:12:00, expected by 10:12:30; 1 virtual machine to start: n1 since 10:12:00, expected by 10:15:00; 1 tenant node to return: n1 since 10:12:00, expected by 10:15:00
            10:13:00 rack1compute01 is late
        "#]],
    );
}

#[test]
fn under_hold_a_restart_fails_where_the_undercloud_falls_silent_while_nodes_stop() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01 deaf
        policy naks01 hold
        > alice restart rack1compute01
        > wait 1m
        > undercloud silent
        > wait 10m
        ",
        expect![[r#"
            10:00:00 > alice restart rack1compute01
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 remembers n1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     asks for the mark that Cluster API leaves `n1` alone for op1
                     asks for the cordon of node `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for the effect of the mark that Cluster API leaves `n1` alone since 10:00:00, expected by 10:00:30
                     op1: Cordon Tenant Nodes seen
                     op1: draining n1
                     rack1compute01 waits for the drained nodes to stay empty for a moment since 10:00:00, expected by 10:00:05
            10:00:00 > wait 1m
            10:00:05 op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 10:00:05, expected by 10:02:05
            10:01:00 > undercloud silent
                     rack1compute01 waits for the undercloud (unreachable: connection refused) since 10:01:00, expected by 10:03:00
            10:01:00 > wait 10m
            10:03:00 the cluster is Timeout
            10:06:00 the cluster is Disconnected
            10:09:05 op1 Failed: restart failed: node `n1` of `naks01` cannot be emptied (the undercloud does not answer), and its drain policy is hold. Left behind: power On; holds none; to be brought back: 1 virtual machine (`n1`), 1 tenant node
                       next: rackwright bmm show rack1compute01
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the node to be uncordoned since 10:09:05, expected by 10:09:35; 1 virtual machine to start: n1 since 10:09:05, expected by 10:12:05; 1 tenant node to return: n1 since 10:09:05, expected by 10:12:05
            10:11:00 rack1compute01 is late
        "#]],
    );
}

#[test]
fn where_nobody_holds_the_power_goes_when_the_time_is_up() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment budget=web
        budget web 0
        > alice power-off rack1compute01
        > wait 1m
        > undercloud silent
        > wait 20m
        ",
        expect![[r#"
            10:00:00 > alice power-off rack1compute01
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 remembers n1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     asks for the mark that Cluster API leaves `n1` alone for op1
                     asks for the cordon of node `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for the effect of the mark that Cluster API leaves `n1` alone since 10:00:00, expected by 10:00:30
                     op1: Cordon Tenant Nodes seen
                     op1: draining n1
                     asks for the eviction of pod `app/web-1` of `naks01` for op1
                     rack1compute01 waits for 1 pod to leave since 10:00:00, expected by 10:02:00
                     op1: app/web-1 is kept: budget web allows none
                     rack1compute01 waits for 1 pod to leave; kept by budgets: app/web-1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 1m
            10:00:05 asks for the eviction of pod `app/web-1` of `naks01` for op1, attempt 2
            10:01:00 > undercloud silent
                     rack1compute01 waits for the undercloud (unreachable: connection refused) since 10:01:00, expected by 10:03:00
            10:01:00 > wait 20m
            10:03:00 the cluster is Timeout
            10:06:00 the cluster is Disconnected
            10:12:00 op1: Drain left out: the undercloud does not answer
            10:21:00 op1: Stop Virtual Machines left out: the undercloud does not answer
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:21:00, expected by 10:24:00
        "#]],
    );
}

/// Past its time an evacuation goes on waiting for news: it was asked for that alone, and its own deadline ends it.
#[test]
fn an_evacuation_waits_for_the_undercloud_to_the_end_of_its_time() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01 deaf
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment budget=web
        budget web 0
        > alice cordon rack1compute01 evacuate
        > wait 1m
        > undercloud silent
        > wait 23m
        > undercloud answers
        > undercloud silent
        > wait 12m
        ",
        expect![[r#"
            10:00:00 > alice cordon rack1compute01 evacuate
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by evacuation by alice, operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     asks for the mark that Cluster API leaves `n1` alone for op1
                     asks for the cordon of node `n1` for op1
                     rack1compute01 remembers node n1 skipped
                     rack1compute01 waits for the effect of the mark that Cluster API leaves `n1` alone since 10:00:00, expected by 10:00:30
                     op1: Cordon Tenant Nodes seen
                     op1: draining n1
                     asks for the eviction of pod `app/web-1` of `naks01` for op1
                     rack1compute01 waits for 1 pod to leave since 10:00:00, expected by 10:02:00
                     op1: app/web-1 is kept: budget web allows none
                     rack1compute01 waits for 1 pod to leave; kept by budgets: app/web-1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 1m
            10:00:05 asks for the eviction of pod `app/web-1` of `naks01` for op1, attempt 2
            10:01:00 > undercloud silent
                     rack1compute01 waits for the undercloud (unreachable: connection refused) since 10:01:00, expected by 10:03:00
            10:01:00 > wait 23m
            10:03:00 the cluster is Timeout
            10:06:00 the cluster is Disconnected
            10:24:00 rack1compute01 is late
            10:24:00 > undercloud answers
                     the cluster is Connected
                     op1: left: node `n1` of `naks01` was not drained (its time was up)
                     op1: left: pod `app/web-1` of `naks01` (budget web allows none)
                     op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers fw1, n1, node n1 skipped
                     rack1compute01 waits for 2 virtual machines to stop: fw1, n1 since 10:24:00, expected by 10:26:00
            10:24:00 > undercloud silent
                     rack1compute01 waits for the undercloud (unreachable: connection refused) since 10:24:00, expected by 10:26:00
            10:24:00 > wait 12m
            10:26:00 the cluster is Timeout
            10:29:00 the cluster is Disconnected
            10:35:00 op1 Failed: evacuation failed: Stop Virtual Machines did not end in time; it waited for the undercloud (unreachable: connection refused). Left behind: power On; holds evacuation by alice, operation op1; to be brought back: 2 virtual machines (`fw1`, `n1`), 1 tenant node
                       next: rackwright bmm uncordon rack1compute01
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn what_was_listed_is_not_believed_while_nothing_is_heard_of_virtual_machines() {
    check(
        "
        rack1compute01 compute on ready
        rack1compute02 compute on ready
        vm fw1 on rack1compute02
        > tenants unheard
        > alice cordon rack1compute01 evacuate
        > wait 1h
        > tenants heard
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > tenants unheard
            10:00:00 > alice cordon rack1compute01 evacuate
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by evacuation by alice, operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     rack1compute01 waits for the undercloud's API for workloads (denied: virtualmachines is forbidden) since 10:00:00, expected by 10:02:00
            10:00:00 > wait 1h
            10:35:00 op1 Failed: evacuation failed: Cordon Tenant Nodes did not end in time; it waited for the undercloud's API for workloads (denied: virtualmachines is forbidden). Left behind: power On; holds evacuation by alice, operation op1
                       next: rackwright bmm uncordon rack1compute01
                     rack1compute01 waits for nothing
            11:00:00 > tenants heard
            11:00:00 > wait 1m
        "#]],
    );
}

#[test]
fn a_restart_does_not_take_virtual_machines_it_cannot_see_for_none() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01
        > tenants unheard
        > alice restart rack1compute01
        > wait 2m
        > tenants heard
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > tenants unheard
            10:00:00 > alice restart rack1compute01
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 remembers fw1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     rack1compute01 waits for the undercloud's API for workloads (denied: virtualmachines is forbidden) since 10:00:00, expected by 10:02:00
            10:00:00 > wait 2m
            10:02:00 > tenants heard
                     op1: Cordon Tenant Nodes seen
                     op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     rack1compute01 waits for 1 virtual machine to stop: fw1 since 10:02:00, expected by 10:04:00
            10:02:00 > wait 1m
            10:02:20 op1: Stop Virtual Machines seen
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:02:20, expected by 10:05:20
        "#]],
    );
}
