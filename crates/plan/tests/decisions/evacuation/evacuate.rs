//! A machine is emptied, and what ran comes back.

use expect_test::expect;

use crate::script::check;

#[test]
fn what_ran_is_stopped_and_comes_back_and_what_did_not_stays_as_it_was() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01
        vm fw2 on rack1compute01 manual
        vm fw3 on rack1compute01 halted
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment
        pod log-1 of naks01 on n1 DaemonSet
        pod static-1 of naks01 on n1 mirror
        pod job-1 of naks01 on n1 finished
        > alice cordon rack1compute01 evacuate
        > wait 2m
        > alice uncordon rack1compute01
        > wait 2m
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
            10:00:00 > wait 2m
            10:00:03 rack1compute01 waits for 0 pods to leave since 10:00:00, expected by 10:02:00
            10:00:05 op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     asks for the shutdown of `fw2` for op1
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers fw1, fw2, n1, node n1 skipped
                     rack1compute01 waits for 3 virtual machines to stop: fw1, fw2, n1 since 10:00:05, expected by 10:02:05
            10:00:25 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 3 virtual machines stopped, 1 pod evicted
                     rack1compute01 waits for nothing
            10:02:00 > alice uncordon rack1compute01
                     accepted as op2
                     op2: found boot1
                     op2: there are workloads to bring back
                     rack1compute01 <- uncordon for op2
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:02:00, expected by 10:02:30
                     op2: Uncordon seen
                     asks for the start of `fw1` for op2
                     asks for the start of `fw2` for op2
                     asks for the start of `n1` for op2
                     rack1compute01 waits for 3 virtual machines to start: fw1, fw2, n1 since 10:02:00, expected by 10:05:00
                     op2: Start Virtual Machines seen
                     asks for the uncordon of node `n1` for op2
                     rack1compute01 remembers node n1 skipped
                     rack1compute01 waits for 1 tenant node to return: n1 since 10:02:00, expected by 10:02:30
                     op2: Uncordon Tenant Nodes seen
                     op2 Succeeded: `rack1compute01` was uncordoned; 3 virtual machines started again
                     rack1compute01 waits for 1 tenant node to return: n1 since 10:02:00, expected by 10:05:00
            10:02:00 > wait 2m
            10:02:35 asks for the end of the mark that Cluster API leaves `n1` alone for rack1compute01
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
        "#]],
    );
}
