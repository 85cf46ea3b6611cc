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
            10:00:03 rack1compute01 waits for the drained nodes to stay empty for a moment since 10:00:00, expected by 10:00:05
            10:00:05 op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     asks for the shutdown of `fw2` for op1
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers fw1, fw2, n1, node n1 skipped
                     rack1compute01 waits for 3 virtual machines to stop: fw1, fw2, n1 since 10:00:05, expected by 10:02:05
            10:00:25 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 3 virtual machines stopped, 1 tenant node drained
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

#[test]
fn a_system_that_does_not_shut_down_is_forced_off() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01 deaf
        > alice cordon rack1compute01 evacuate
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
                     op1: Cordon Tenant Nodes seen
                     op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     rack1compute01 remembers fw1
                     rack1compute01 waits for 1 virtual machine to stop: fw1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 12m
            10:10:00 asks for the forced stop of `fw1` for op1
            10:10:02 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_virtual_machine_that_nothing_stops_is_named() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01 undead
        > alice cordon rack1compute01 evacuate
        > wait 13m
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
                     op1: Cordon Tenant Nodes seen
                     op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     rack1compute01 remembers fw1
                     rack1compute01 waits for 1 virtual machine to stop: fw1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 13m
            10:10:00 asks for the forced stop of `fw1` for op1
            10:10:30 asks for the forced stop of `fw1` for op1, attempt 2
            10:11:00 op1: left: virtual machine `fw1` (it was not seen to stop, and is stopping)
                     op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned; nothing on it could be stopped; left as it was: virtual machine `fw1` (it was not seen to stop, and is stopping)
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn kubevirt_that_refuses_is_asked_again() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01
        > tenants kubevirt fails
        > alice cordon rack1compute01 evacuate
        > wait 10s
        > tenants kubevirt works
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > tenants kubevirt fails
            10:00:00 > alice cordon rack1compute01 evacuate
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by evacuation by alice, operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     op1: Cordon Tenant Nodes seen
                     op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     rack1compute01 remembers fw1
                     rack1compute01 waits for 1 virtual machine to stop: fw1 since 10:00:00, expected by 10:02:00
                     op1: the shutdown of `fw1` was answered: garbled: 500
            10:00:00 > wait 10s
            10:00:02 asks for the shutdown of `fw1` for op1, attempt 2
                     op1: the shutdown of `fw1` was answered: garbled: 500
            10:00:06 asks for the shutdown of `fw1` for op1, attempt 3
                     op1: the shutdown of `fw1` was answered: garbled: 500
            10:00:10 > tenants kubevirt works
            10:00:10 > wait 1m
            10:00:14 asks for the shutdown of `fw1` for op1, attempt 4
            10:00:34 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped
                     rack1compute01 waits for nothing
        "#]],
    );
}
