//! A machine whose host is gone.

use expect_test::expect;

use crate::script::check;

#[test]
fn what_is_on_a_machine_that_is_off_is_lost() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment
        pod db-0 of naks01 on n1 StatefulSet
        pod log-1 of naks01 on n1 DaemonSet
        > see rack1compute01 off
        > see rack1compute01 unknown
        > wait 1m
        > alice cordon rack1compute01 evacuate
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > see rack1compute01 off
                     rack1compute01 waits for a person: off, but expected to be on since 10:00:00
            10:00:00 > see rack1compute01 unknown
            10:00:00 > wait 1m
            10:01:00 > alice cordon rack1compute01 evacuate
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by evacuation by alice, operation op1
                     rack1compute01 waits for the effect of the cordon since 10:01:00, expected by 10:01:30
                     op1: Cordon seen
                     asks for the mark that Cluster API leaves `n1` alone for op1
                     asks for the cordon of node `n1` for op1
                     rack1compute01 remembers node n1 skipped
                     rack1compute01 waits for the effect of the mark that Cluster API leaves `n1` alone since 10:01:00, expected by 10:01:30
                     op1: Cordon Tenant Nodes seen
                     op1: left: node `n1` of `naks01` was not drained (it does not answer)
                     op1: left: pod `app/db-0` of `naks01` is stuck on a node that does not answer
                     op1: left: pod `app/web-1` of `naks01` was lost with the machine
                     op1: Drain seen
                     op1: left: virtual machine `fw1` was lost with the machine
                     op1: left: virtual machine `n1` was lost with the machine
                     op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned; nothing on it could be stopped; left as it was: node `n1` of `naks01` was not drained (it does not answer), pod `app/db-0` of `naks01` is stuck on a node that does not answer, pod `app/web-1` of `naks01` was lost with the machine, virtual machine `fw1` was lost with the machine, virtual machine `n1` was lost with the machine
                     rack1compute01 remembers fw1, n1, node n1 skipped
                     rack1compute01 waits for a person: off, but expected to be on since 10:00:00
            10:01:00 > wait 1m
        "#]],
    );
}

#[test]
fn what_is_on_a_machine_that_does_not_answer_is_lost_after_five_minutes() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01 undead
        node n1 of naks01 on rack1compute01
        pod db-0 of naks01 on n1 StatefulSet
        > fault rack1compute01 unreachable
        > see rack1compute01 unknown
        > tenants unknown n1
        > alice cordon rack1compute01 evacuate
        > wait 6m
        ",
        expect![[r#"
            10:00:00 > fault rack1compute01 unreachable
                     rack1compute01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1compute01 unknown
                     rack1compute01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00; the node to become ready since 10:00:00, expected by 10:10:00
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
                     op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers fw1, n1, node n1 skipped
                     rack1compute01 waits for 2 virtual machines to stop: fw1, n1 since 10:05:00, expected by 10:07:00
            10:05:20 rack1compute01 waits for 1 virtual machine to stop: fw1 since 10:05:00, expected by 10:07:00
            10:05:30 op1: left: virtual machine `fw1` was lost with the machine
                     op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped; left as it was: node `n1` of `naks01` was not drained (it does not answer), pod `app/db-0` of `naks01` is stuck on a node that does not answer, virtual machine `fw1` was lost with the machine
                     rack1compute01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00; the node to become ready since 10:00:00, expected by 10:10:00
            10:06:00 rack1compute01 is late
        "#]],
    );
}

#[test]
fn by_force_pods_of_a_machine_that_is_off_are_let_go_until_their_node_is_back() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod db-0 of naks01 on n1 StatefulSet
        > see rack1compute01 off
        > see rack1compute01 unknown
        > alice cordon rack1compute01 forced
        > wait 2m
        > see rack1compute01 on
        > see rack1compute01 booted
        > wait 2m
        > alice uncordon rack1compute01
        > wait 2m
        ",
        expect![[r#"
            10:00:00 > see rack1compute01 off
                     rack1compute01 waits for a person: off, but expected to be on since 10:00:00
            10:00:00 > see rack1compute01 unknown
            10:00:00 > alice cordon rack1compute01 forced
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
                     op1: left: node `n1` of `naks01` was not drained (it does not answer)
                     op1: left: pod `app/db-0` of `naks01` was lost with the machine
                     rack1compute01 waits for node `n1` of `naks01`, which does not answer since 10:00:00, expected by 10:05:00
            10:00:00 > wait 2m
            10:00:40 asks for the out-of-service taint of node `n1` for op1
                     rack1compute01 remembers node n1 skipped out-of-service
                     rack1compute01 waits for the effect of the out-of-service taint of node `n1` since 10:00:40, expected by 10:01:10
                     op1: Drain seen
                     op1: left: virtual machine `n1` was lost with the machine
                     op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned; nothing on it could be stopped; left as it was: node `n1` of `naks01` was not drained (it does not answer), pod `app/db-0` of `naks01` was lost with the machine, virtual machine `n1` was lost with the machine
                     rack1compute01 remembers n1, node n1 skipped out-of-service
                     rack1compute01 waits for a person: off, but expected to be on since 10:00:00
            10:02:00 > see rack1compute01 on
                     rack1compute01 waits for the node to become ready since 10:02:00, expected by 10:12:00
            10:02:00 > see rack1compute01 booted
                     rack1compute01 waits for nothing
            10:02:00 > wait 2m
            10:02:55 asks for the end of the out-of-service taint of node `n1` for rack1compute01
            10:04:00 > alice uncordon rack1compute01
                     accepted as op2
                     op2: found boot2
                     op2: there are workloads to bring back
                     rack1compute01 <- uncordon for op2
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:04:00, expected by 10:04:30
                     op2: Uncordon seen
                     op2: Start Virtual Machines seen
                     asks for the uncordon of node `n1` for op2
                     rack1compute01 remembers node n1 skipped out-of-service
                     rack1compute01 waits for 1 tenant node to return: n1 since 10:04:00, expected by 10:04:30
                     op2: Uncordon Tenant Nodes seen
                     asks for the end of the mark that Cluster API leaves `n1` alone for rack1compute01
                     op2 Succeeded: `rack1compute01` was uncordoned
                     rack1compute01 waits for 1 tenant node to return: n1 since 10:04:00, expected by 10:07:00
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
            10:04:00 > wait 2m
        "#]],
    );
}

#[test]
fn what_comes_on_before_it_is_let_go_is_not_let_go() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        > see rack1compute01 off
        > see rack1compute01 unknown
        > alice cordon rack1compute01 forced
        > see rack1compute01 on
        > wait 6m
        ",
        expect![[r#"
            10:00:00 > see rack1compute01 off
                     rack1compute01 waits for a person: off, but expected to be on since 10:00:00
            10:00:00 > see rack1compute01 unknown
            10:00:00 > alice cordon rack1compute01 forced
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
                     op1: left: node `n1` of `naks01` was not drained (it does not answer)
                     rack1compute01 waits for node `n1` of `naks01`, which does not answer since 10:00:00, expected by 10:05:00
            10:00:00 > see rack1compute01 on
                     op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 10:00:00, expected by 10:02:00
                     op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped; left as it was: node `n1` of `naks01` was not drained (it does not answer)
                     rack1compute01 waits for the node to become ready since 10:00:00, expected by 10:10:00
            10:00:00 > wait 6m
        "#]],
    );
}

#[test]
fn a_machine_without_a_node_is_emptied_of_nothing() {
    check(
        "
        rack1compute01 compute on
        > alice cordon rack1compute01 evacuate
        ",
        expect![[r#"
            10:00:00 > alice cordon rack1compute01 evacuate
                     accepted as op1
                     op1: found no boot
                     op1: there are workloads to move
                     op1: Cordon left out: the machine has no node
                     op1: Cordon Tenant Nodes seen
                     op1: Drain seen
                     op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned; nothing ran on it; Cordon was left out: the machine has no node
                     rack1compute01 is held by evacuation by alice, operation op1
        "#]],
    );
}

#[test]
fn under_hold_a_machine_that_is_merely_silent_is_not_taken_for_one_that_is_off() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 ReplicaSet
        policy naks01 hold
        > see rack1compute01 unknown
        > tenants unknown n1
        > alice cordon rack1compute01 evacuate
        > wait 6m
        ",
        expect![[r#"
            10:00:00 > see rack1compute01 unknown
                     rack1compute01 waits for the node to become ready since 10:00:00, expected by 10:10:00
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
            10:05:00 op1 Failed: evacuation failed: node `n1` of `naks01` cannot be emptied (it does not answer, and its machine is not known to be off), and its drain policy is hold. Left behind: power On; holds evacuation by alice, operation op1; to be brought back: 1 tenant node
                       next: rackwright bmm uncordon rack1compute01
                     rack1compute01 waits for the node to become ready since 10:00:00, expected by 10:10:00
        "#]],
    );
}
