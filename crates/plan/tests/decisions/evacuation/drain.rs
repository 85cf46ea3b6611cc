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
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped, 2 pods evicted
                     rack1compute01 waits for nothing
        "#]],
    );
}
