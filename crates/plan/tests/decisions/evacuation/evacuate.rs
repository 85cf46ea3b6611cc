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

#[test]
fn an_evacuation_that_is_cancelled_keeps_what_it_stopped_in_mind() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01 deaf
        > alice cordon rack1compute01 evacuate
        > wait 10s
        > bob cancel op1
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
                     op1: Cordon Tenant Nodes seen
                     op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     rack1compute01 remembers fw1
                     rack1compute01 waits for 1 virtual machine to stop: fw1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 10s
            10:00:10 > bob cancel op1
                     done
                     op1 Canceled: cancelled by bob during Stop Virtual Machines. Left behind: power On; holds evacuation by alice, operation op1; to be brought back: 1 virtual machine (`fw1`).
                       next: rackwright bmm uncordon rack1compute01
                     rack1compute01 waits for nothing
            10:00:10 > alice uncordon rack1compute01
                     accepted as op3
                     op3: found boot1
                     op3: there are workloads to bring back
                     rack1compute01 <- uncordon for op3
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:00:10, expected by 10:00:40
                     op3: Uncordon seen
                     rack1compute01 waits for 1 virtual machine to start: fw1 since 10:00:10, expected by 10:03:10
            10:00:10 > wait 1m
        "#]],
    );
}

#[test]
fn an_evacuation_that_is_cancelled_before_it_touched_anything_leaves_no_hold() {
    check(
        "
        rack1compute01 compute on ready
        undercloud lazy
        vm fw1 on rack1compute01
        > alice cordon rack1compute01 evacuate
        > bob cancel op1
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
            10:00:00 > bob cancel op1
                     done
            10:00:00 > wait 1m
            10:00:30 op1 Canceled: cancelled by bob during Cordon. Left behind: power On; holds none.
                       next: rackwright bmm show rack1compute01
                     rack1compute01 is held by nobody
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_keeper_that_was_away_for_hours_has_used_up_nobodys_time() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment budget=web
        budget web 0
        > alice cordon rack1compute01 evacuate
        > wait 10m
        > down 8h
        > look
        > wait 19m
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
                     op1: app/web-1 is kept: budget web allows none
                     rack1compute01 waits for 1 pod to leave; kept by budgets: app/web-1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 10m
            10:00:05 asks for the eviction of pod `app/web-1` of `naks01` for op1, attempt 2
            10:10:00 rack1compute01 is late
            10:10:00 > down 8h
            18:10:00 op1: resumed, to end by 18:45:00
                     rack1compute01 waits for a fresh look at the undercloud since 18:10:00, expected by 18:11:00
            18:10:00 > look
                     asks for the eviction of pod `app/web-1` of `naks01` for op1
                     rack1compute01 waits for 1 pod to leave; kept by budgets: app/web-1 since 10:00:00, expected by 10:02:00
                     rack1compute01 is late
            18:10:00 > wait 19m
            18:10:05 asks for the eviction of pod `app/web-1` of `naks01` for op1, attempt 2
            18:29:00 > wait 2m
            18:30:00 op1: left: node `n1` of `naks01` was not drained (its time was up)
                     op1: left: pod `app/web-1` of `naks01` (budget web allows none)
                     op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 18:30:00, expected by 18:32:00
            18:30:20 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped; left as it was: node `n1` of `naks01` was not drained (its time was up), pod `app/web-1` of `naks01` (budget web allows none)
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_virtual_machines_own_operation_ends_before_it_is_stopped() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01 deaf
        vm fw2 on rack1compute01
        > alice vm power-off fw1
        > alice cordon rack1compute01 evacuate
        > alice vm restart fw2
        > wait 11m
        ",
        expect![[r#"
            10:00:00 > alice vm power-off fw1
                     accepted as op1
                     asks for the shutdown of `fw1` for op1
            10:00:00 > alice cordon rack1compute01 evacuate
                     accepted as op2
                     op2: found boot1
                     op2: there are workloads to move
                     rack1compute01 <- cordon for op2
                     rack1compute01 is held by evacuation by alice, operation op2
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op2: Cordon seen
                     op2: Cordon Tenant Nodes seen
                     op2: Drain seen
                     asks for the shutdown of `fw2` for op2
                     rack1compute01 remembers fw2
                     rack1compute01 waits for 2 virtual machines to stop: fw1, fw2 since 10:00:00, expected by 10:02:00
            10:00:00 > alice vm restart fw2
                     refused: `fw2` cannot be restarted
                       rule held-by-operation: `rack1compute01` is being cordoned since 10:00:00Z (operation op2), and what runs there with it
                       remedy: wait with `rackwright operation wait op2`, or stop it with `rackwright operation cancel op2`
            10:00:00 > wait 11m
            10:00:20 rack1compute01 waits for operation op1 on virtual machine `fw1` to end since 10:00:00, expected by 10:10:00
            10:10:00 asks for the forced stop of `fw1` for op1
                     rack1compute01 waits for 1 virtual machine to stop: fw1 since 10:00:00, expected by 10:02:00
            10:10:02 op1: Stop seen
                     op2: Stop Virtual Machines seen
                     op1 Succeeded: `fw1` was powered off; it did not shut down, and was forced off
                       next: rackwright vm start fw1
                     op2 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_virtual_machine_that_its_own_operation_leaves_running_is_stopped_then() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01 manual
        > wait 1s
        > tenants stop fw1
        > wait 1m
        > alice vm start fw1
        > wait 3s
        > alice cordon rack1compute01 evacuate
        > wait 2m
        > alice uncordon rack1compute01
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > wait 1s
            10:00:01 > tenants stop fw1
            10:00:01 > wait 1m
            10:01:01 > alice vm start fw1
                     accepted as op1
                     asks for the start of `fw1` for op1
            10:01:01 > wait 3s
            10:01:04 > alice cordon rack1compute01 evacuate
                     accepted as op2
                     op2: found boot1
                     op2: there are workloads to move
                     rack1compute01 <- cordon for op2
                     rack1compute01 is held by evacuation by alice, operation op2
                     rack1compute01 waits for the effect of the cordon since 10:01:04, expected by 10:01:34
                     op2: Cordon seen
                     op2: Cordon Tenant Nodes seen
                     op2: Drain seen
                     rack1compute01 waits for operation op1 on virtual machine `fw1` to end since 10:01:04, expected by 10:11:04
            10:01:04 > wait 2m
            10:01:06 op1: Start seen
                     asks for the shutdown of `fw1` for op2
                     op1 Succeeded: `fw1` was started
                     rack1compute01 remembers fw1
                     rack1compute01 waits for 1 virtual machine to stop: fw1 since 10:01:04, expected by 10:03:04
            10:01:26 op2: Stop Virtual Machines seen
                     op2 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped
                     rack1compute01 waits for nothing
            10:03:04 > alice uncordon rack1compute01
                     accepted as op3
                     op3: found boot1
                     op3: there are workloads to bring back
                     rack1compute01 <- uncordon for op3
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:03:04, expected by 10:03:34
                     op3: Uncordon seen
                     asks for the start of `fw1` for op3
                     rack1compute01 waits for 1 virtual machine to start: fw1 since 10:03:04, expected by 10:06:04
                     op3: Start Virtual Machines seen
                     op3: Uncordon Tenant Nodes seen
                     op3 Succeeded: `rack1compute01` was uncordoned; 1 virtual machine started again
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
            10:03:04 > wait 1m
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
            10:35:00 op1 Failed: cordon failed: Cordon Tenant Nodes did not end in time; it waited for the undercloud's API for workloads (denied: virtualmachines is forbidden). Left behind: power On; holds evacuation by alice, operation op1
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
