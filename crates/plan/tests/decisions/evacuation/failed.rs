//! Instances that KubeVirt calls failed, because nothing was heard of their machine for too long: they may still run there.

use expect_test::expect;

use crate::script::check;

#[test]
fn that_kubevirt_has_given_an_instance_up_proves_no_death() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod db-0 of naks01 on n1 StatefulSet
        > fault rack1compute01 unreachable
        > see rack1compute01 unknown
        > tenants unknown n1
        > tenants lose n1
        > alice cordon rack1compute01 forced
        ",
        expect![[r#"
            10:00:00 > fault rack1compute01 unreachable
                     rack1compute01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1compute01 unknown
                     rack1compute01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00; the node to become ready since 10:00:00, expected by 10:10:00
            10:00:00 > tenants unknown n1
            10:00:00 > tenants lose n1
            10:00:00 > alice cordon rack1compute01 forced
                     refused: `rack1compute01` cannot be cordoned
                       rule force-unproven: the power of `rack1compute01` is not known, which proves nothing: it waits for the BMC (unreachable: as the story says)
                       rule force-unproven: virtual machines may run on it: n1
                       remedy: leave out the force, or make sure that nothing runs: `rackwright bmm power-off rack1compute01 --skip-shutdown`, then ask again
        "#]],
    );
}

#[test]
fn what_was_given_up_on_a_machine_that_is_off_is_named_as_lost_and_comes_back() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01
        vm fw2 on rack1compute01 manual
        > see rack1compute01 off
        > see rack1compute01 unknown
        > wait 5m
        > tenants lose fw1
        > tenants lose fw2
        > alice cordon rack1compute01 evacuate
        > see rack1compute01 on
        > see rack1compute01 booted
        > alice uncordon rack1compute01
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > see rack1compute01 off
                     rack1compute01 waits for a person: off, but expected to be on since 10:00:00
            10:00:00 > see rack1compute01 unknown
            10:00:00 > wait 5m
            10:05:00 > tenants lose fw1
            10:05:00 > tenants lose fw2
            10:05:00 > alice cordon rack1compute01 evacuate
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by evacuation by alice, operation op1
                     rack1compute01 waits for the effect of the cordon since 10:05:00, expected by 10:05:30
                     op1: Cordon seen
                     op1: Cordon Tenant Nodes seen
                     op1: Drain seen
                     op1: left: virtual machine `fw1` was lost with the machine
                     op1: left: virtual machine `fw2` was lost with the machine
                     op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned; nothing on it could be stopped; left as it was: virtual machine `fw1` was lost with the machine, virtual machine `fw2` was lost with the machine
                     rack1compute01 remembers fw2
                     rack1compute01 waits for a person: off, but expected to be on since 10:00:00
            10:05:00 > see rack1compute01 on
                     rack1compute01 waits for the node to become ready since 10:05:00, expected by 10:15:00
            10:05:00 > see rack1compute01 booted
                     rack1compute01 waits for nothing
            10:05:00 > alice uncordon rack1compute01
                     accepted as op2
                     op2: found boot2
                     op2: there are workloads to bring back
                     rack1compute01 <- uncordon for op2
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:05:00, expected by 10:05:30
                     op2: Uncordon seen
                     asks for the start of `fw2` for op2
                     rack1compute01 waits for 1 virtual machine to start: fw2 since 10:05:00, expected by 10:08:00
                     op2: Start Virtual Machines seen
                     op2: Uncordon Tenant Nodes seen
                     op2 Succeeded: `rack1compute01` was uncordoned; 1 virtual machine started again
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
            10:05:00 > wait 1m
        "#]],
    );
}

#[test]
fn what_was_given_up_while_its_machine_was_off_is_started_with_it() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01
        vm fw2 on rack1compute01 manual
        > alice power-off rack1compute01 skip-shutdown
        > see rack1compute01 off
        > see rack1compute01 unknown
        > wait 5m
        > tenants lose fw1
        > tenants lose fw2
        > alice start rack1compute01
        > see rack1compute01 on
        > see rack1compute01 booted
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > alice power-off rack1compute01 skip-shutdown
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 remembers fw1, fw2
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     rack1compute01 <- forced power-off for op1
                     rack1compute01 waits for the effect of the forced power-off since 10:00:00, expected by 10:03:00
            10:00:00 > see rack1compute01 off
                     op1: Power Off seen
                     op1 Succeeded: `rack1compute01` was powered off
                       next: rackwright bmm start rack1compute01
                     rack1compute01 is held by power-off by operation op1
                     rack1compute01 waits for a person: powered off by operation op1 since 10:00:00
            10:00:00 > see rack1compute01 unknown
            10:00:00 > wait 5m
            10:05:00 > tenants lose fw1
            10:05:00 > tenants lose fw2
            10:05:00 > alice start rack1compute01
                     accepted as op2
                     op2: found boot1
                     rack1compute01 <- power-on for op2
                     rack1compute01 waits for the effect of the power-on since 10:05:00, expected by 10:07:00
            10:05:00 > see rack1compute01 on
                     op2: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:05:00, expected by 10:15:00
            10:05:00 > see rack1compute01 booted
                     op2: Rejoin seen
                     rack1compute01 <- uncordon for op2
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:05:00, expected by 10:05:30
                     op2: Uncordon seen
                     op2: there are workloads to bring back
                     asks for the start of `fw2` for op2
                     rack1compute01 remembers fw2
                     rack1compute01 waits for 1 virtual machine to start: fw2 since 10:05:00, expected by 10:08:00
                     op2: Start Virtual Machines seen
                     op2: Uncordon Tenant Nodes seen
                     op2 Succeeded: `rack1compute01` was started; 1 virtual machine started again
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
            10:05:00 > wait 1m
        "#]],
    );
}

#[test]
fn what_was_given_up_on_a_machine_that_answers_keeps_nobody_waiting() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01
        vm fw2 on rack1compute01 manual
        > tenants lose fw2
        > alice cordon rack1compute01 evacuate
        > wait 1m
        > alice uncordon rack1compute01
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > tenants lose fw2
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
                     op2: Start Virtual Machines seen
                     op2: Uncordon Tenant Nodes seen
                     op2 Succeeded: `rack1compute01` was uncordoned; 1 virtual machine started again
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
            10:01:00 > wait 1m
        "#]],
    );
}
