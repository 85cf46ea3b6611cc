//! Virtual machines that leave a machine by themselves while it is being emptied.

use expect_test::expect;

use crate::script::check;

#[test]
fn one_that_moved_before_its_stop_arrived_is_neither_stopped_nor_started_for_the_sake_of_a_machine_it_left() {
    check(
        "
        rack1compute01 compute on ready
        rack1compute02 compute on ready
        vm fw1 on rack1compute01
        vm fw2 on rack1compute01
        > tenants slip fw1 rack1compute02
        > alice cordon rack1compute01 evacuate
        > wait 1m
        > tenants stop fw1
        > wait 1m
        > alice uncordon rack1compute01
        > wait 2m
        ",
        expect![[r#"
            10:00:00 > tenants slip fw1 rack1compute02
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
                     rack1compute01 remembers fw1, fw2
                     rack1compute01 waits for 2 virtual machines to stop: fw1, fw2 since 10:00:00, expected by 10:02:00
                     op1: the shutdown of `fw1` was answered: missing: there is none
                     rack1compute01 remembers fw2
                     rack1compute01 waits for 1 virtual machine to stop: fw2 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 1m
            10:00:20 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped
                     rack1compute01 waits for nothing
            10:01:00 > tenants stop fw1
            10:01:00 > wait 1m
            10:02:00 > alice uncordon rack1compute01
                     accepted as op2
                     op2: found boot1
                     op2: there are workloads to bring back
                     rack1compute01 <- uncordon for op2
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:02:00, expected by 10:02:30
                     op2: Uncordon seen
                     asks for the start of `fw2` for op2
                     rack1compute01 waits for 1 virtual machine to start: fw2 since 10:02:00, expected by 10:05:00
                     op2: Start Virtual Machines seen
                     op2: Uncordon Tenant Nodes seen
                     op2 Succeeded: `rack1compute01` was uncordoned; 1 virtual machine started again
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
            10:02:00 > wait 2m
        "#]],
    );
}
