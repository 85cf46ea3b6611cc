//! Tenant nodes and clusters that do not answer, and pods that do not end: nothing is waited for without end.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_pod_whose_finalizer_never_goes_is_gone_on_without() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment finalizer
        > alice cordon rack1compute01 evacuate
        > wait 3m
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
            10:00:00 > wait 3m
            10:01:30 op1: left: pod `app/web-1` of `naks01` (something keeps its object although it has ended)
                     op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 10:01:30, expected by 10:03:30
            10:01:50 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped, 1 tenant node drained; left as it was: pod `app/web-1` of `naks01` (something keeps its object although it has ended)
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_node_that_vanishes_in_mid_drain_is_not_waited_for() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment budget=web
        budget web 0
        > alice cordon rack1compute01 evacuate
        > tenants vanish n1
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
                     op1: app/web-1 is kept: budget web allows none
                     rack1compute01 waits for 1 pod to leave; kept by budgets: app/web-1 since 10:00:00, expected by 10:02:00
            10:00:00 > tenants vanish n1
                     op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 1m
            10:00:20 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped, 1 tenant node drained
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_silent_tenant_api_is_passed_over_after_five_minutes() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment
        > tenants down naks01
        > alice cordon rack1compute01 evacuate
        > wait 6m
        ",
        expect![[r#"
            10:00:00 > tenants down naks01
            10:00:00 > alice cordon rack1compute01 evacuate
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by evacuation by alice, operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     asks for the mark that Cluster API leaves `n1` alone for op1
                     rack1compute01 remembers node n1 skipped
                     rack1compute01 waits for the API of tenant cluster `naks01` (unreachable: connection refused) since 10:00:00, expected by 10:05:00
            10:00:00 > wait 6m
            10:05:00 op1: left: node `n1` of `naks01` was not drained (the API of `naks01` does not answer: unreachable: connection refused)
                     op1: Cordon Tenant Nodes seen
                     op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 10:05:00, expected by 10:07:00
            10:05:20 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped; left as it was: node `n1` of `naks01` was not drained (the API of `naks01` does not answer: unreachable: connection refused)
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn an_api_that_falls_silent_in_mid_drain_is_passed_over() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment budget=web
        budget web 0
        > alice cordon rack1compute01 evacuate
        > wait 1m
        > tenants down naks01
        > wait 6m
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
            10:01:00 > tenants down naks01
                     rack1compute01 waits for the API of tenant cluster `naks01` (unreachable: connection refused) since 10:01:00, expected by 10:06:00
            10:01:00 > wait 6m
            10:06:00 op1: left: node `n1` of `naks01` was not drained (the API of `naks01` does not answer: unreachable: connection refused)
                     op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 10:06:00, expected by 10:08:00
            10:06:20 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped; left as it was: node `n1` of `naks01` was not drained (the API of `naks01` does not answer: unreachable: connection refused)
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn under_hold_a_silent_api_stops_the_evacuation() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        policy naks01 hold
        > tenants down naks01
        > alice cordon rack1compute01 evacuate
        > wait 6m
        ",
        expect![[r#"
            10:00:00 > tenants down naks01
            10:00:00 > alice cordon rack1compute01 evacuate
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by evacuation by alice, operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     asks for the mark that Cluster API leaves `n1` alone for op1
                     rack1compute01 remembers node n1 skipped
                     rack1compute01 waits for the API of tenant cluster `naks01` (unreachable: connection refused) since 10:00:00, expected by 10:05:00
            10:00:00 > wait 6m
            10:05:00 op1 Failed: evacuation failed: node `n1` of `naks01` cannot be emptied (the API of `naks01` does not answer: unreachable: connection refused), and its drain policy is hold. Left behind: power On; holds evacuation by alice, operation op1; to be brought back: 1 tenant node
                       next: rackwright bmm uncordon rack1compute01
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn an_unreachable_node_is_given_five_minutes() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment
        pod db-0 of naks01 on n1 StatefulSet
        > tenants unknown n1
        > alice cordon rack1compute01 evacuate
        > wait 6m
        ",
        expect![[r#"
            10:00:00 > tenants unknown n1
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
                     rack1compute01 waits for node `n1` of `naks01`, which does not answer since 10:00:00, expected by 10:05:00
            10:00:00 > wait 6m
            10:05:00 op1: left: node `n1` of `naks01` was not drained (it does not answer)
                     op1: left: pod `app/db-0` of `naks01` is stuck on a node that does not answer
                     op1: left: pod `app/web-1` of `naks01` was lost with the machine
                     op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 10:05:00, expected by 10:07:00
            10:05:20 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped; left as it was: node `n1` of `naks01` was not drained (it does not answer), pod `app/db-0` of `naks01` is stuck on a node that does not answer, pod `app/web-1` of `naks01` was lost with the machine
                     rack1compute01 waits for nothing
        "#]],
    );
}
