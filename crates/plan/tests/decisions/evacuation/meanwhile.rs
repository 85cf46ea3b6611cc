//! What people do to virtual machines while their machine is being emptied, or is empty.

use expect_test::expect;

use crate::script::check;

#[test]
fn what_a_person_did_meanwhile_wins() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01
        vm fw2 on rack1compute01
        vm fw3 on rack1compute01
        > alice cordon rack1compute01 evacuate
        > wait 1m
        > tenants start fw1
        > wait 10s
        > tenants stop fw1
        > tenants delete fw2
        > wait 1m
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
                     asks for the shutdown of `fw2` for op1
                     asks for the shutdown of `fw3` for op1
                     rack1compute01 remembers fw1, fw2, fw3
                     rack1compute01 waits for 3 virtual machines to stop: fw1, fw2, fw3 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 1m
            10:00:20 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 3 virtual machines stopped
                     rack1compute01 waits for nothing
            10:01:00 > tenants start fw1
                     rack1compute01 remembers fw2, fw3
            10:01:00 > wait 10s
            10:01:10 > tenants stop fw1
            10:01:10 > tenants delete fw2
                     rack1compute01 remembers fw3
            10:01:10 > wait 1m
            10:02:10 > alice uncordon rack1compute01
                     accepted as op2
                     op2: found boot1
                     op2: there are workloads to bring back
                     rack1compute01 <- uncordon for op2
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:02:10, expected by 10:02:40
                     op2: Uncordon seen
                     asks for the start of `fw3` for op2
                     rack1compute01 waits for 1 virtual machine to start: fw3 since 10:02:10, expected by 10:05:10
                     op2: Start Virtual Machines seen
                     op2: Uncordon Tenant Nodes seen
                     op2 Succeeded: `rack1compute01` was uncordoned; 1 virtual machine started again
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
            10:02:10 > wait 1m
        "#]],
    );
}

#[test]
fn what_a_person_is_stopping_is_waited_for_and_not_remembered() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01
        > tenants stop fw1
        > alice cordon rack1compute01 evacuate
        > wait 1m
        > alice uncordon rack1compute01
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > tenants stop fw1
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
                     rack1compute01 waits for 1 virtual machine to stop: fw1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 1m
            10:00:20 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned; nothing ran on it
                     rack1compute01 waits for nothing
            10:01:00 > alice uncordon rack1compute01
                     accepted as op2
                     op2: found boot1
                     rack1compute01 <- uncordon for op2
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:01:00, expected by 10:01:30
                     op2: Uncordon seen
                     op2 Succeeded: `rack1compute01` was uncordoned
                     rack1compute01 waits for nothing
            10:01:00 > wait 1m
        "#]],
    );
}

#[test]
fn one_that_was_moved_meanwhile_is_another_machines() {
    check(
        "
        rack1compute01 compute on ready
        rack1compute02 compute on ready
        vm fw1 on rack1compute01
        vm fw2 on rack1compute01
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment budget=web
        budget web 0
        > alice restart rack1compute01
        > tenants move fw1 rack1compute02
        > tenants budget web 1
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > alice restart rack1compute01
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 remembers fw1, fw2, n1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     asks for the mark that Cluster API leaves `n1` alone for op1
                     asks for the cordon of node `n1` for op1
                     rack1compute01 remembers fw1, fw2, n1, node n1 skipped
                     rack1compute01 waits for the effect of the mark that Cluster API leaves `n1` alone since 10:00:00, expected by 10:00:30
                     op1: Cordon Tenant Nodes seen
                     op1: draining n1
                     asks for the eviction of pod `app/web-1` of `naks01` for op1
                     rack1compute01 waits for 1 pod to leave since 10:00:00, expected by 10:02:00
                     op1: app/web-1 is kept: budget web allows none
                     rack1compute01 waits for 1 pod to leave; kept by budgets: app/web-1 since 10:00:00, expected by 10:02:00
            10:00:00 > tenants move fw1 rack1compute02
                     rack1compute01 remembers fw2, n1, node n1 skipped
            10:00:00 > tenants budget web 1
            10:00:00 > wait 1m
            10:00:05 asks for the eviction of pod `app/web-1` of `naks01` for op1, attempt 2
                     rack1compute01 waits for 1 pod to leave since 10:00:00, expected by 10:02:00
            10:00:08 op1: Drain seen
                     asks for the shutdown of `fw2` for op1
                     asks for the shutdown of `n1` for op1
                     rack1compute01 waits for 2 virtual machines to stop: fw2, n1 since 10:00:08, expected by 10:02:08
            10:00:28 op1: Stop Virtual Machines seen
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:00:28, expected by 10:03:28
        "#]],
    );
}

#[test]
fn what_a_person_stops_while_a_restart_drains_stays_stopped() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment budget=web
        budget web 0
        > alice restart rack1compute01
        > tenants stop fw1
        > wait 1m
        > tenants budget web 1
        > wait 1m
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
            10:00:00 > tenants stop fw1
                     rack1compute01 remembers n1, node n1 skipped
            10:00:00 > wait 1m
            10:00:05 asks for the eviction of pod `app/web-1` of `naks01` for op1, attempt 2
            10:01:00 > tenants budget web 1
            10:01:00 > wait 1m
            10:01:05 rack1compute01 waits for 1 pod to leave since 10:00:00, expected by 10:02:00
            10:01:08 op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 10:01:08, expected by 10:03:08
            10:01:28 op1: Stop Virtual Machines seen
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:01:28, expected by 10:04:28
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
