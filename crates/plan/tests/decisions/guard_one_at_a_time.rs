//! One disruptive action in the control plane at a time, from its acceptance until its machine has rejoined.

use expect_test::expect;

use crate::script::check;

#[test]
fn one_control_plane_machine_at_a_time_the_spare_included() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        rack3control01 kcp on ready
        rack4control01 spare on
        > alice restart rack1control01
        > bob restart rack2control01
        > bob power-off rack4control01
        > bob cordon rack2control01
        ",
        expect![[r#"
            10:00:00 > alice restart rack1control01
                     accepted as op1
                     op1: found boot1
                     rack1control01 <- cordon for op1
                     rack1control01 is held by operation op1
                     rack1control01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     rack1control01 <- graceful shutdown for op1
                     rack1control01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
            10:00:00 > bob restart rack2control01
                     refused: `rack2control01` cannot be restarted
                       rule kcp-one-at-a-time: `rack1control01` is being restarted since 10:00:00Z (operation op1)
                       remedy: wait with `rackwright operation wait op1`, or stop it with `rackwright operation cancel op1`
            10:00:00 > bob power-off rack4control01
                     refused: `rack4control01` cannot be powered off
                       rule kcp-one-at-a-time: `rack1control01` is being restarted since 10:00:00Z (operation op1)
                       remedy: wait with `rackwright operation wait op1`, or stop it with `rackwright operation cancel op1`
            10:00:00 > bob cordon rack2control01
                     accepted as op4
                     op4: found boot1
                     rack2control01 <- cordon for op4
                     rack2control01 is held by bob
                     rack2control01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op4: Cordon seen
                     op4 Succeeded: `rack2control01` was cordoned
                     rack2control01 waits for nothing
        "#]],
    );
}

#[test]
fn the_spare_blocks_the_others_too() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        rack3control01 kcp on ready
        rack4control01 spare on
        > alice power-off rack4control01
        > bob restart rack2control01
        ",
        expect![[r#"
            10:00:00 > alice power-off rack4control01
                     accepted as op1
                     op1: found no boot
                     op1: Cordon left out: the machine has no node
                     rack4control01 <- forced power-off for op1
                     rack4control01 is held by operation op1
                     rack4control01 waits for the effect of the forced power-off since 10:00:00, expected by 10:03:00
            10:00:00 > bob restart rack2control01
                     refused: `rack2control01` cannot be restarted
                       rule kcp-one-at-a-time: `rack4control01` is being powered off since 10:00:00Z (operation op1)
                       remedy: wait with `rackwright operation wait op1`, or stop it with `rackwright operation cancel op1`
        "#]],
    );
}

#[test]
fn until_it_has_rejoined() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        rack3control01 kcp on ready
        > alice power-off rack1control01
        > see rack1control01 off
        > see rack1control01 unknown
        > bob restart rack2control01
        > bob start rack1control01
        > see rack1control01 on
        > bob restart rack2control01
        > see rack1control01 booted
        > bob restart rack2control01
        ",
        expect![[r#"
            10:00:00 > alice power-off rack1control01
                     accepted as op1
                     op1: found boot1
                     rack1control01 <- cordon for op1
                     rack1control01 is held by operation op1
                     rack1control01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     rack1control01 <- graceful shutdown for op1
                     rack1control01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
            10:00:00 > see rack1control01 off
                     op1: Power Off seen
                     op1 Succeeded: `rack1control01` was powered off
                       next: rackwright bmm start rack1control01
                     rack1control01 is held by power-off by operation op1
                     rack1control01 waits for a person: powered off by operation op1 since 10:00:00
            10:00:00 > see rack1control01 unknown
            10:00:00 > bob restart rack2control01
                     refused: `rack2control01` cannot be restarted
                       rule kcp-others-healthy: `rack1control01` is off since 10:00:00Z
                       rule kcp-others-healthy: etcd voters: 2 of 3 now, 1 of 3 after; quorum is 2
                       remedy: bring the other control-plane machines back first: `rackwright status` names them
            10:00:00 > bob start rack1control01
                     accepted as op3
                     op3: found boot1
                     rack1control01 <- power-on for op3
                     rack1control01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1control01 on
                     op3: Power On seen
                     rack1control01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
            10:00:00 > bob restart rack2control01
                     refused: `rack2control01` cannot be restarted
                       rule kcp-others-healthy: `rack1control01`: its node is not ready (Ready=Unknown)
                       rule kcp-others-healthy: etcd voters: 2 of 3 now, 1 of 3 after; quorum is 2
                       remedy: bring the other control-plane machines back first: `rackwright status` names them
            10:00:00 > see rack1control01 booted
                     op3: Rejoin seen
                     rack1control01 <- uncordon for op3
                     rack1control01 is held by nobody
                     rack1control01 waits for the effect of the uncordon since 10:00:00, expected by 10:00:30
                     op3: Uncordon seen
                     op3 Succeeded: `rack1control01` was started
                     rack1control01 waits for nothing
            10:00:00 > bob restart rack2control01
                     accepted as op5
                     op5: found boot1
                     rack2control01 <- cordon for op5
                     rack2control01 is held by operation op5
                     rack2control01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op5: Cordon seen
                     rack2control01 <- graceful shutdown for op5
                     rack2control01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
        "#]],
    );
}
