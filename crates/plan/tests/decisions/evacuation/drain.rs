//! Pods leave by their budgets' leave, and by the policy of their cluster where that is not given.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_budget_is_waited_for() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment budget=web
        pod web-2 of naks01 on n1 Deployment budget=web
        budget web 1
        > alice cordon rack1compute01 evacuate
        > wait 1m
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
                     asks for the eviction of pod `app/web-2` of `naks01` for op1
                     rack1compute01 waits for 2 pods to leave since 10:00:00, expected by 10:02:00
                     op1: app/web-2 is kept: budget web allows none
                     rack1compute01 waits for 2 pods to leave; kept by budgets: app/web-2 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 1m
            10:00:03 rack1compute01 waits for 1 pod to leave; kept by budgets: app/web-2 since 10:00:00, expected by 10:02:00
            10:00:05 asks for the eviction of pod `app/web-2` of `naks01` for op1, attempt 2
                     rack1compute01 waits for 1 pod to leave since 10:00:00, expected by 10:02:00
            10:00:08 op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 10:00:08, expected by 10:02:08
            10:00:28 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped, 1 tenant node drained
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_budget_that_never_gives_leave_is_gone_on_without_when_the_time_is_up() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment budget=web
        budget web 0
        > alice cordon rack1compute01 evacuate
        > wait 25m
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
            10:00:00 > wait 25m
            10:00:05 asks for the eviction of pod `app/web-1` of `naks01` for op1, attempt 2
            10:20:00 op1: left: node `n1` of `naks01` was not drained (its time was up)
                     op1: left: pod `app/web-1` of `naks01` (budget web allows none)
                     op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 10:20:00, expected by 10:22:00
            10:20:20 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped; left as it was: node `n1` of `naks01` was not drained (its time was up), pod `app/web-1` of `naks01` (budget web allows none)
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn under_hold_a_budget_stops_the_evacuation_and_nothing_is_stopped() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment budget=web
        pod api-1 of naks01 on n1 Deployment
        budget web 0
        policy naks01 hold
        > alice cordon rack1compute01 evacuate
        > wait 25m
        > alice uncordon rack1compute01
        > wait 1m
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
                     asks for the eviction of pod `app/api-1` of `naks01` for op1
                     asks for the eviction of pod `app/web-1` of `naks01` for op1
                     rack1compute01 waits for 2 pods to leave since 10:00:00, expected by 10:02:00
                     op1: app/web-1 is kept: budget web allows none
                     rack1compute01 waits for 2 pods to leave; kept by budgets: app/web-1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 25m
            10:00:03 rack1compute01 waits for 1 pod to leave; kept by budgets: app/web-1 since 10:00:00, expected by 10:02:00
            10:00:05 asks for the eviction of pod `app/web-1` of `naks01` for op1, attempt 2
            10:20:00 op1 Failed: evacuation failed: pods of node `n1` of `naks01` could not be evicted, and its drain policy is hold (`app/web-1`: budget web allows none). Left behind: power On; holds evacuation by alice, operation op1; to be brought back: 1 tenant node
                       next: rackwright bmm uncordon rack1compute01
                     rack1compute01 waits for nothing
            10:25:00 > alice uncordon rack1compute01
                     accepted as op2
                     op2: found boot1
                     op2: there are workloads to bring back
                     rack1compute01 <- uncordon for op2
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:25:00, expected by 10:25:30
                     op2: Uncordon seen
                     op2: Start Virtual Machines seen
                     asks for the uncordon of node `n1` for op2
                     rack1compute01 waits for 1 tenant node to return: n1 since 10:25:00, expected by 10:25:30
                     op2: Uncordon Tenant Nodes seen
                     asks for the end of the mark that Cluster API leaves `n1` alone for rack1compute01
                     op2 Succeeded: `rack1compute01` was uncordoned
                     rack1compute01 waits for 1 tenant node to return: n1 since 10:25:00, expected by 10:28:00
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
            10:25:00 > wait 1m
        "#]],
    );
}

#[test]
fn under_force_what_a_budget_keeps_is_deleted_at_once() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment budget=web
        pod web-2 of naks01 on n1 Deployment budget=web budget=all
        budget web 0
        policy naks01 force
        > alice cordon rack1compute01 evacuate
        > wait 1m
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
                     asks for the eviction of pod `app/web-2` of `naks01` for op1
                     rack1compute01 waits for 2 pods to leave since 10:00:00, expected by 10:02:00
                     op1: app/web-1 is kept: budget web allows none
                     op1: app/web-2 is kept: this pod has more than one budget
                     asks for the deletion of pod `app/web-1` of `naks01` for op1
                     asks for the deletion of pod `app/web-2` of `naks01` for op1
                     rack1compute01 waits for 2 pods to leave; kept by budgets: app/web-1, app/web-2 since 10:00:00, expected by 10:02:00
                     rack1compute01 waits for 2 pods to leave since 10:00:00, expected by 10:02:00
            10:00:00 > wait 1m
            10:00:03 rack1compute01 waits for the drained nodes to stay empty for a moment since 10:00:00, expected by 10:00:05
            10:00:05 op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 10:00:05, expected by 10:02:05
            10:00:25 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped, 1 tenant node drained
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn two_budgets_for_one_pod_are_named() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment budget=web budget=all
        budget web 9
        > alice cordon rack1compute01 evacuate
        > wait 1m
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
                     op1: app/web-1 is kept: this pod has more than one budget
                     rack1compute01 waits for 1 pod to leave; kept by budgets: app/web-1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 1m
            10:01:00 asks for the eviction of pod `app/web-1` of `naks01` for op1, attempt 2
        "#]],
    );
}

#[test]
fn a_pod_that_is_bound_late_is_evicted_too() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        > alice cordon rack1compute01 evacuate
        > wait 2s
        > tenants bind late-1 naks01 n1
        > wait 1m
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
                     rack1compute01 waits for the drained nodes to stay empty for a moment since 10:00:00, expected by 10:00:05
            10:00:00 > wait 2s
            10:00:02 > tenants bind late-1 naks01 n1
                     asks for the eviction of pod `app/late-1` of `naks01` for op1
                     rack1compute01 waits for 1 pod to leave since 10:00:00, expected by 10:02:00
            10:00:02 > wait 1m
            10:00:05 op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 10:00:05, expected by 10:02:05
            10:00:25 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped, 1 tenant node drained
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn evictions_that_fail_for_a_while_are_tried_again() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment
        > tenants evictions fail
        > alice cordon rack1compute01 evacuate
        > wait 20s
        > tenants evictions work
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > tenants evictions fail
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
                     rack1compute01 waits for 1 pod to leave; evictions are answered: garbled: 500 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 20s
            10:00:05 asks for the eviction of pod `app/web-1` of `naks01` for op1, attempt 2
            10:00:20 > tenants evictions work
            10:00:20 > wait 1m
            10:00:34 rack1compute01 waits for 1 pod to leave since 10:00:00, expected by 10:02:00
            10:00:37 op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 10:00:37, expected by 10:02:37
            10:00:57 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped, 1 tenant node drained
                     rack1compute01 waits for nothing
        "#]],
    );
}
