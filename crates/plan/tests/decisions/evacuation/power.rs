//! Restart and power-off of machines that something runs on.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_restart_empties_the_machine_first_and_fills_it_at_the_end() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment
        > alice restart rack1compute01
        > wait 30s
        > see rack1compute01 off
        > see rack1compute01 on
        > see rack1compute01 booted
        > wait 2m
        ",
        expect![[r#"
            10:00:00 > alice restart rack1compute01
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 remembers fw1, n1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     asks for the mark that Cluster API leaves `n1` alone for op1
                     asks for the cordon of node `n1` for op1
                     rack1compute01 remembers fw1, n1, node n1 skipped
                     rack1compute01 waits for the effect of the mark that Cluster API leaves `n1` alone since 10:00:00, expected by 10:00:30
                     op1: Cordon Tenant Nodes seen
                     op1: draining n1
                     asks for the eviction of pod `app/web-1` of `naks01` for op1
                     rack1compute01 waits for 1 pod to leave since 10:00:00, expected by 10:02:00
            10:00:00 > wait 30s
            10:00:03 rack1compute01 waits for the drained nodes to stay empty for a moment since 10:00:00, expected by 10:00:05
            10:00:05 op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     asks for the shutdown of `n1` for op1
                     rack1compute01 waits for 2 virtual machines to stop: fw1, n1 since 10:00:05, expected by 10:02:05
            10:00:25 op1: Stop Virtual Machines seen
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:00:25, expected by 10:03:25
            10:00:30 > see rack1compute01 off
                     op1: Power Off seen
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:00:30, expected by 10:02:30
            10:00:30 > see rack1compute01 on
                     op1: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:00:30, expected by 10:10:30
            10:00:30 > see rack1compute01 booted
                     op1: Rejoin seen
                     rack1compute01 <- uncordon for op1
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:00:30, expected by 10:01:00
                     op1: Uncordon seen
                     op1: there are workloads to bring back
                     asks for the start of `fw1` for op1
                     asks for the start of `n1` for op1
                     rack1compute01 waits for 2 virtual machines to start: fw1, n1 since 10:00:30, expected by 10:03:30
                     op1: Start Virtual Machines seen
                     asks for the uncordon of node `n1` for op1
                     rack1compute01 remembers node n1 skipped
                     rack1compute01 waits for 1 tenant node to return: n1 since 10:00:30, expected by 10:01:00
                     op1: Uncordon Tenant Nodes seen
                     asks for the end of the mark that Cluster API leaves `n1` alone for rack1compute01
                     op1 Succeeded: `rack1compute01` was restarted; 2 virtual machines started again
                     rack1compute01 waits for 1 tenant node to return: n1 since 10:00:30, expected by 10:03:30
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
            10:00:30 > wait 2m
        "#]],
    );
}

#[test]
fn a_power_off_keeps_in_mind_what_ran_and_a_start_brings_it_back() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01
        > alice power-off rack1compute01
        > wait 30s
        > see rack1compute01 off
        > wait 1m
        > alice start rack1compute01
        > see rack1compute01 on
        > see rack1compute01 booted
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > alice power-off rack1compute01
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 remembers fw1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     op1: Cordon Tenant Nodes seen
                     op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     rack1compute01 waits for 1 virtual machine to stop: fw1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 30s
            10:00:20 op1: Stop Virtual Machines seen
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:00:20, expected by 10:03:20
            10:00:30 > see rack1compute01 off
                     op1: Power Off seen
                     op1 Succeeded: `rack1compute01` was powered off
                       next: rackwright bmm start rack1compute01
                     rack1compute01 is held by power-off by operation op1
                     rack1compute01 waits for a person: powered off by operation op1 since 10:00:30
            10:00:30 > wait 1m
            10:01:30 > alice start rack1compute01
                     accepted as op2
                     op2: found boot1
                     rack1compute01 <- power-on for op2
                     rack1compute01 waits for the effect of the power-on since 10:01:30, expected by 10:03:30
            10:01:30 > see rack1compute01 on
                     op2: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:01:30, expected by 10:11:30
            10:01:30 > see rack1compute01 booted
                     op2: Rejoin seen
                     rack1compute01 <- uncordon for op2
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:01:30, expected by 10:02:00
                     op2: Uncordon seen
                     op2: there are workloads to bring back
                     asks for the start of `fw1` for op2
                     rack1compute01 waits for 1 virtual machine to start: fw1 since 10:01:30, expected by 10:04:30
                     op2: Start Virtual Machines seen
                     op2: Uncordon Tenant Nodes seen
                     op2 Succeeded: `rack1compute01` was started; 1 virtual machine started again
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
            10:01:30 > wait 1m
        "#]],
    );
}

#[test]
fn whoever_skips_the_shutdown_waits_for_nobody_but_what_ran_comes_back() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01 manual
        vm fw2 on rack1compute01
        > alice power-off rack1compute01 skip-shutdown
        > see rack1compute01 off
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
            10:00:00 > alice start rack1compute01
                     accepted as op2
                     op2: found boot1
                     rack1compute01 <- power-on for op2
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1compute01 on
                     op2: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
            10:00:00 > see rack1compute01 booted
                     op2: Rejoin seen
                     rack1compute01 <- uncordon for op2
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:00:00, expected by 10:00:30
                     op2: Uncordon seen
                     op2: there are workloads to bring back
                     asks for the start of `fw1` for op2
                     rack1compute01 remembers fw1
                     rack1compute01 waits for 1 virtual machine to start: fw1 since 10:00:00, expected by 10:03:00
                     op2: Start Virtual Machines seen
                     op2: Uncordon Tenant Nodes seen
                     op2 Succeeded: `rack1compute01` was started; 1 virtual machine started again
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
            10:00:00 > wait 1m
        "#]],
    );
}

#[test]
fn a_restart_has_less_time_than_an_evacuation() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01 deaf
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment budget=web
        budget web 0
        > alice restart rack1compute01
        > wait 13m
        > wait 9m
        ",
        expect![[r#"
            10:00:00 > alice restart rack1compute01
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 remembers fw1, n1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     asks for the mark that Cluster API leaves `n1` alone for op1
                     asks for the cordon of node `n1` for op1
                     rack1compute01 remembers fw1, n1, node n1 skipped
                     rack1compute01 waits for the effect of the mark that Cluster API leaves `n1` alone since 10:00:00, expected by 10:00:30
                     op1: Cordon Tenant Nodes seen
                     op1: draining n1
                     asks for the eviction of pod `app/web-1` of `naks01` for op1
                     rack1compute01 waits for 1 pod to leave since 10:00:00, expected by 10:02:00
                     op1: app/web-1 is kept: budget web allows none
                     rack1compute01 waits for 1 pod to leave; kept by budgets: app/web-1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 13m
            10:00:05 asks for the eviction of pod `app/web-1` of `naks01` for op1, attempt 2
            10:12:00 op1: left: node `n1` of `naks01` was not drained (its time was up)
                     op1: left: pod `app/web-1` of `naks01` (budget web allows none)
                     op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     asks for the shutdown of `n1` for op1
                     rack1compute01 waits for 2 virtual machines to stop: fw1, n1 since 10:12:00, expected by 10:14:00
            10:12:20 rack1compute01 waits for 1 virtual machine to stop: fw1 since 10:12:00, expected by 10:14:00
            10:13:00 > wait 9m
            10:20:00 asks for the forced stop of `fw1` for op1
            10:20:02 op1: Stop Virtual Machines seen
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:20:02, expected by 10:23:02
        "#]],
    );
}

#[test]
fn a_restart_under_hold_fails_and_everything_is_as_before() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment budget=web
        budget web 0
        policy naks01 hold
        > alice restart rack1compute01
        > wait 13m
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
                     asks for the eviction of pod `app/web-1` of `naks01` for op1
                     rack1compute01 waits for 1 pod to leave since 10:00:00, expected by 10:02:00
                     op1: app/web-1 is kept: budget web allows none
                     rack1compute01 waits for 1 pod to leave; kept by budgets: app/web-1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 13m
            10:00:05 asks for the eviction of pod `app/web-1` of `naks01` for op1, attempt 2
            10:12:00 rack1compute01 <- uncordon for its holds
                     asks for the uncordon of node `n1` for rack1compute01
                     asks for the end of the mark that Cluster API leaves `n1` alone for rack1compute01
                     op1 Failed: restart failed: pods of node `n1` of `naks01` could not be evicted, and its drain policy is hold (`app/web-1`: budget web allows none). Left behind: power On; holds none; to be brought back: 1 tenant node
                       next: rackwright bmm show rack1compute01
                     rack1compute01 is held by nobody
                     rack1compute01 remembers node n1 skipped
                     rack1compute01 waits for the node to be uncordoned since 10:12:00, expected by 10:12:30; 1 tenant node to return: n1 since 10:12:00, expected by 10:15:00
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_restart_of_an_emptied_machine_brings_nothing_back() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01
        > alice cordon rack1compute01 evacuate
        > wait 1m
        > alice restart rack1compute01
        > see rack1compute01 off
        > see rack1compute01 on
        > see rack1compute01 booted
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
                     op1: Cordon Tenant Nodes seen
                     op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     rack1compute01 remembers fw1
                     rack1compute01 waits for 1 virtual machine to stop: fw1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 1m
            10:00:20 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped
                     rack1compute01 waits for nothing
            10:01:00 > alice restart rack1compute01
                     accepted as op2
                     op2: found boot1
                     op2: Cordon seen
                     rack1compute01 <- graceful shutdown for op2
                     rack1compute01 is held by evacuation by alice, operation op1, operation op2
                     rack1compute01 waits for the effect of the graceful shutdown since 10:01:00, expected by 10:04:00
            10:01:00 > see rack1compute01 off
                     op2: Power Off seen
                     rack1compute01 <- power-on for op2
                     rack1compute01 waits for the effect of the power-on since 10:01:00, expected by 10:03:00
            10:01:00 > see rack1compute01 on
                     op2: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:01:00, expected by 10:11:00
            10:01:00 > see rack1compute01 booted
                     op2: Rejoin seen
                     op2: Uncordon seen
                     op2 Succeeded: `rack1compute01` was restarted; it stays cordoned, held by evacuation by alice, operation op1
                     rack1compute01 is held by evacuation by alice, operation op1
                     rack1compute01 waits for nothing
            10:01:00 > wait 1m
        "#]],
    );
}
