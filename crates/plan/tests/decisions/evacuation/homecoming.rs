//! What was stopped comes back, and what a person did meanwhile wins.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_node_that_somebody_else_cordoned_stays_cordoned() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01 cordoned
        node n2 of naks01 on rack1compute01
        > alice cordon rack1compute01 evacuate
        > wait 1m
        > tenants uncordon n2
        > tenants cordon n2
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
                     asks for the mark that Cluster API leaves `n2` alone for op1
                     asks for the cordon of node `n2` for op1
                     rack1compute01 remembers node n1 skipped, node n2 skipped
                     rack1compute01 waits for the effect of the mark that Cluster API leaves `n1` alone since 10:00:00, expected by 10:00:30
                     op1: Cordon Tenant Nodes seen
                     op1: draining n1
                     op1: draining n2
                     rack1compute01 waits for the drained nodes to stay empty for a moment since 10:00:00, expected by 10:00:05
            10:00:00 > wait 1m
            10:00:05 op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     asks for the shutdown of `n2` for op1
                     rack1compute01 remembers n1, n2, node n1 skipped, node n2 skipped
                     rack1compute01 waits for 2 virtual machines to stop: n1, n2 since 10:00:05, expected by 10:02:05
            10:00:25 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 2 virtual machines stopped, 2 tenant nodes drained
                     rack1compute01 waits for nothing
            10:01:00 > tenants uncordon n2
            10:01:00 > tenants cordon n2
            10:01:00 > alice uncordon rack1compute01
                     accepted as op2
                     op2: found boot1
                     op2: there are workloads to bring back
                     rack1compute01 <- uncordon for op2
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:01:00, expected by 10:01:30
                     op2: Uncordon seen
                     asks for the start of `n1` for op2
                     asks for the start of `n2` for op2
                     rack1compute01 waits for 2 virtual machines to start: n1, n2 since 10:01:00, expected by 10:04:00
                     op2: Start Virtual Machines seen
                     op2: Uncordon Tenant Nodes seen
                     asks for the end of the mark that Cluster API leaves `n1` alone for rack1compute01
                     asks for the end of the mark that Cluster API leaves `n2` alone for rack1compute01
                     op2 Succeeded: `rack1compute01` was uncordoned; 2 virtual machines started again
                     rack1compute01 remembers node n1 skipped, node n2 skipped
                     rack1compute01 waits for 2 tenant nodes to return: n1, n2 since 10:01:00, expected by 10:04:00
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
            10:01:00 > wait 1m
        "#]],
    );
}

#[test]
fn a_silent_api_does_not_keep_the_machine_cordoned_and_the_node_comes_back_later() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        > alice cordon rack1compute01 evacuate
        > wait 1m
        > tenants down naks01
        > alice uncordon rack1compute01
        > wait 2m
        > tenants up naks01
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
            10:00:00 > wait 1m
            10:00:05 op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 10:00:05, expected by 10:02:05
            10:00:25 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped, 1 tenant node drained
                     rack1compute01 waits for nothing
            10:01:00 > tenants down naks01
            10:01:00 > alice uncordon rack1compute01
                     accepted as op2
                     op2: found boot1
                     op2: there are workloads to bring back
                     rack1compute01 <- uncordon for op2
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:01:00, expected by 10:01:30
                     op2: Uncordon seen
                     asks for the start of `n1` for op2
                     rack1compute01 waits for 1 virtual machine to start: n1 since 10:01:00, expected by 10:04:00
                     op2: Start Virtual Machines seen
                     rack1compute01 remembers node n1 skipped
                     rack1compute01 waits for the API of tenant cluster `naks01` (unreachable: connection refused) since 10:01:00, expected by 10:01:30
            10:01:00 > wait 2m
            10:01:30 op2: Uncordon Tenant Nodes left out: 1 tenant node could not be uncordoned yet (`n1`), and will be
                     op2 Succeeded: `rack1compute01` was uncordoned; Uncordon Tenant Nodes was left out: 1 tenant node could not be uncordoned yet (`n1`), and will be; 1 virtual machine started again
                     rack1compute01 waits for the API of tenant cluster `naks01` (unreachable: connection refused) since 10:01:30; 1 tenant node to return: n1 since 10:01:30, expected by 10:04:30
            10:03:00 > tenants up naks01
                     asks for the uncordon of node `n1` for rack1compute01
                     asks for the end of the mark that Cluster API leaves `n1` alone for rack1compute01
                     rack1compute01 waits for 1 tenant node to return: n1 since 10:01:30, expected by 10:04:30
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
            10:03:00 > wait 1m
        "#]],
    );
}

#[test]
fn kubevirt_that_refuses_to_start_is_asked_for_ever() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01
        > alice cordon rack1compute01 evacuate
        > wait 1m
        > tenants kubevirt fails
        > alice uncordon rack1compute01
        > wait 5m
        > tenants kubevirt works
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
                     op1: Cordon Tenant Nodes seen
                     op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     rack1compute01 remembers fw1
                     rack1compute01 waits for 1 virtual machine to stop: fw1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 1m
            10:00:20 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped
                     rack1compute01 waits for nothing
            10:01:00 > tenants kubevirt fails
            10:01:00 > alice uncordon rack1compute01
                     accepted as op2
                     op2: found boot1
                     op2: there are workloads to bring back
                     rack1compute01 <- uncordon for op2
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:01:00, expected by 10:01:30
                     op2: Uncordon seen
                     asks for the start of `fw1` for op2
                     rack1compute01 waits for 1 virtual machine to start: fw1 since 10:01:00, expected by 10:04:00
                     op2: the start of `fw1` was answered: garbled: 500
            10:01:00 > wait 5m
            10:01:02 asks for the start of `fw1` for op2, attempt 2
                     op2: the start of `fw1` was answered: garbled: 500
            10:01:06 asks for the start of `fw1` for op2, attempt 3
                     op2: the start of `fw1` was answered: garbled: 500
            10:01:14 asks for the start of `fw1` for op2, attempt 4
                     op2: the start of `fw1` was answered: garbled: 500
            10:01:30 asks for the start of `fw1` for op2, attempt 5
                     op2: the start of `fw1` was answered: garbled: 500
            10:02:02 asks for the start of `fw1` for op2, attempt 6
                     op2: the start of `fw1` was answered: garbled: 500
            10:03:02 asks for the start of `fw1` for op2, attempt 7
                     op2: the start of `fw1` was answered: garbled: 500
            10:04:00 op2: Start Virtual Machines left out: 1 virtual machine could not be started yet (`fw1`), and will be
                     op2: Uncordon Tenant Nodes seen
                     op2 Succeeded: `rack1compute01` was uncordoned; Start Virtual Machines was left out: 1 virtual machine could not be started yet (`fw1`), and will be
                     rack1compute01 waits for 1 virtual machine to start: fw1 since 10:04:00, expected by 10:07:00
            10:04:02 asks for the start of `fw1` for rack1compute01, attempt 8
            10:05:02 asks for the start of `fw1` for rack1compute01, attempt 9
            10:06:00 > tenants kubevirt works
            10:06:00 > wait 2m
            10:06:02 asks for the start of `fw1` for rack1compute01, attempt 10
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn an_unmanaged_machine_is_left_alone() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01
        > alice cordon rack1compute01 evacuate
        > wait 1m
        > tenants kubevirt fails
        > alice uncordon rack1compute01
        > wait 4m
        > bob unmanage rack1compute01 broken fan
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
                     op1: Cordon Tenant Nodes seen
                     op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     rack1compute01 remembers fw1
                     rack1compute01 waits for 1 virtual machine to stop: fw1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 1m
            10:00:20 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped
                     rack1compute01 waits for nothing
            10:01:00 > tenants kubevirt fails
            10:01:00 > alice uncordon rack1compute01
                     accepted as op2
                     op2: found boot1
                     op2: there are workloads to bring back
                     rack1compute01 <- uncordon for op2
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:01:00, expected by 10:01:30
                     op2: Uncordon seen
                     asks for the start of `fw1` for op2
                     rack1compute01 waits for 1 virtual machine to start: fw1 since 10:01:00, expected by 10:04:00
                     op2: the start of `fw1` was answered: garbled: 500
            10:01:00 > wait 4m
            10:01:02 asks for the start of `fw1` for op2, attempt 2
                     op2: the start of `fw1` was answered: garbled: 500
            10:01:06 asks for the start of `fw1` for op2, attempt 3
                     op2: the start of `fw1` was answered: garbled: 500
            10:01:14 asks for the start of `fw1` for op2, attempt 4
                     op2: the start of `fw1` was answered: garbled: 500
            10:01:30 asks for the start of `fw1` for op2, attempt 5
                     op2: the start of `fw1` was answered: garbled: 500
            10:02:02 asks for the start of `fw1` for op2, attempt 6
                     op2: the start of `fw1` was answered: garbled: 500
            10:03:02 asks for the start of `fw1` for op2, attempt 7
                     op2: the start of `fw1` was answered: garbled: 500
            10:04:00 op2: Start Virtual Machines left out: 1 virtual machine could not be started yet (`fw1`), and will be
                     op2: Uncordon Tenant Nodes seen
                     op2 Succeeded: `rack1compute01` was uncordoned; Start Virtual Machines was left out: 1 virtual machine could not be started yet (`fw1`), and will be
                     rack1compute01 waits for 1 virtual machine to start: fw1 since 10:04:00, expected by 10:07:00
            10:04:02 asks for the start of `fw1` for rack1compute01, attempt 8
            10:05:00 > bob unmanage rack1compute01 broken fan
                     done
                     rack1compute01 waits for a person: unmanaged since 10:05:00
            10:05:00 > wait 2m
        "#]],
    );
}
