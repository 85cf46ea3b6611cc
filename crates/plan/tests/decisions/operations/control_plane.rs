//! Control-plane machines under an action: what is judged again when a step comes to it.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_member_is_not_taken_down_when_another_has_failed_meanwhile() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        rack3control01 kcp on ready
        > fault rack1control01 unreachable
        > alice restart rack1control01
        > see rack2control01 notready
        > see rack1control01 on
        > wait 11m
        > see rack2control01 ready
        ",
        expect![[r#"
            10:00:00 > fault rack1control01 unreachable
                     rack1control01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > alice restart rack1control01
                     accepted as op1
                     op1: found boot1
                     rack1control01 <- cordon for op1
                     rack1control01 is held by operation op1
                     rack1control01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     rack1control01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > see rack2control01 notready
                     rack2control01 waits for the node to become ready since 10:00:00, expected by 10:10:00
            10:00:00 > see rack1control01 on
                     rack1control01 waits for the control plane (`rack2control01`: its node is not ready (Ready=False)) since 10:00:00, expected by 10:10:00
            10:00:00 > wait 11m
            10:11:00 rack1control01 is late
                     rack2control01 is late
            10:11:00 > see rack2control01 ready
                     rack1control01 <- graceful shutdown for op1
                     rack1control01 waits for the effect of the graceful shutdown since 10:11:00, expected by 10:14:00
                     rack2control01 waits for nothing
        "#]],
    );
}

#[test]
fn a_member_that_votes_again_is_not_taken_down_while_another_is_off() {
    check(
        "
        rack1control01 kcp on notready
        rack2control01 kcp on ready
        rack3control01 kcp off unknown
        > fault rack1control01 unreachable
        > alice restart rack1control01
        > see rack1control01 ready
        > see rack1control01 on
        > wait 40m
        ",
        expect![[r#"
            10:00:00 > fault rack1control01 unreachable
                     rack1control01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00; the node to become ready since 10:00:00, expected by 10:10:00
            10:00:00 > alice restart rack1control01
                     accepted as op1
                     op1: found boot1
                     rack1control01 <- cordon for op1
                     rack1control01 is held by operation op1
                     rack1control01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     rack1control01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1control01 ready
            10:00:00 > see rack1control01 on
                     rack1control01 waits for the control plane (`rack3control01` is off since 10:00:00Z) since 10:00:00, expected by 10:10:00
            10:00:00 > wait 40m
            10:40:00 rack1control01 <- uncordon for its holds
                     op1 Failed: restart failed: Power Off did not end in time; it waited for the control plane (`rack3control01` is off since 10:00:00Z). Left behind: power On; holds none
                       next: rackwright bmm show rack1control01
                     rack1control01 is held by nobody
                     rack1control01 waits for the node to be uncordoned since 10:40:00, expected by 10:40:30
                     rack1control01 waits for nothing
        "#]],
    );
}

#[test]
fn a_restart_in_the_control_plane_goes_through() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        rack3control01 kcp on ready
        > alice restart rack1control01
        > see rack1control01 off
        > see rack1control01 on
        > see rack1control01 booted
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
            10:00:00 > see rack1control01 off
                     op1: Power Off seen
                     rack1control01 <- power-on for op1
                     rack1control01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1control01 on
                     op1: Power On seen
                     rack1control01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
            10:00:00 > see rack1control01 booted
                     op1: Rejoin seen
                     rack1control01 <- uncordon for op1
                     rack1control01 is held by nobody
                     rack1control01 waits for the effect of the uncordon since 10:00:00, expected by 10:00:30
                     op1: Uncordon seen
                     op1 Succeeded: `rack1control01` was restarted
                     rack1control01 waits for nothing
        "#]],
    );
}

#[test]
fn the_only_member_goes_down_and_comes_back_with_the_undercloud() {
    check(
        "
        rack1control01 kcp on ready
        > alice restart rack1control01 accept-outage
        > undercloud silent
        > see rack1control01 off
        > see rack1control01 on
        > wait 3m
        > undercloud answers
        > see rack1control01 booted
        ",
        expect![[r#"
            10:00:00 > alice restart rack1control01 accept-outage
                     accepted as op1
                     op1: found boot1
                     rack1control01 <- cordon for op1
                     rack1control01 is held by operation op1
                     rack1control01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     rack1control01 <- graceful shutdown for op1
                     rack1control01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
            10:00:00 > undercloud silent
            10:00:00 > see rack1control01 off
                     op1: Power Off seen
                     rack1control01 <- power-on for op1
                     rack1control01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1control01 on
                     op1: Power On seen
                     rack1control01 waits for the undercloud (unreachable: connection refused) since 10:00:00, expected by 10:02:00
            10:00:00 > wait 3m
            10:02:00 the cluster is Timeout
            10:03:00 rack1control01 is late
            10:03:00 > undercloud answers
                     the cluster is Connected
                     rack1control01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
            10:03:00 > see rack1control01 booted
                     op1: Rejoin seen
                     rack1control01 <- uncordon for op1
                     rack1control01 is held by nobody
                     rack1control01 waits for the effect of the uncordon since 10:03:00, expected by 10:03:30
                     op1: Uncordon seen
                     op1 Succeeded: `rack1control01` was restarted
                     rack1control01 waits for nothing
        "#]],
    );
}

#[test]
fn a_member_that_boots_is_not_taken_for_healthy_because_its_dead_boot_still_looks_ready() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        rack3control01 kcp on ready
        > alice power-off rack1control01
        > see rack1control01 off
        > alice start rack1control01
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
            10:00:00 > alice start rack1control01
                     accepted as op2
                     op2: found boot1
                     rack1control01 <- power-on for op2
                     rack1control01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1control01 on
                     op2: Power On seen
                     rack1control01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
            10:00:00 > bob restart rack2control01
                     refused: `rack2control01` cannot be restarted
                       rule kcp-others-healthy: `rack1control01` has not rejoined since it was off
                       rule kcp-others-healthy: etcd voters: 2 of 3 now, 1 of 3 after; quorum is 2
                       remedy: bring the other control-plane machines back first: `rackwright status` names them
            10:00:00 > see rack1control01 booted
                     op2: Rejoin seen
                     rack1control01 <- uncordon for op2
                     rack1control01 is held by nobody
                     rack1control01 waits for the effect of the uncordon since 10:00:00, expected by 10:00:30
                     op2: Uncordon seen
                     op2 Succeeded: `rack1control01` was started
                     rack1control01 waits for nothing
            10:00:00 > bob restart rack2control01
                     accepted as op4
                     op4: found boot1
                     rack2control01 <- cordon for op4
                     rack2control01 is held by operation op4
                     rack2control01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op4: Cordon seen
                     rack2control01 <- graceful shutdown for op4
                     rack2control01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
        "#]],
    );
}

#[test]
fn a_restart_that_is_cancelled_before_the_rejoin_leaves_a_member_that_is_not_healthy() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        rack3control01 kcp on ready
        > alice restart rack1control01
        > see rack1control01 off
        > see rack1control01 on
        > alice cancel op1
        > wait 3m
        > bob restart rack2control01
        > see rack1control01 booted
        > bob restart rack2control01
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
            10:00:00 > see rack1control01 off
                     op1: Power Off seen
                     rack1control01 <- power-on for op1
                     rack1control01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1control01 on
                     op1: Power On seen
                     rack1control01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
            10:00:00 > alice cancel op1
                     done
                     rack1control01 <- uncordon for its holds
                     op1 Canceled: cancelled by alice during Rejoin. Left behind: power On; holds none.
                       next: rackwright bmm show rack1control01
                     rack1control01 is held by nobody
                     rack1control01 waits for the node to become ready since 10:00:00, expected by 10:10:00; the node to be uncordoned since 10:00:00, expected by 10:00:30
                     rack1control01 waits for the node to become ready since 10:00:00, expected by 10:10:00
            10:00:00 > wait 3m
            10:03:00 > bob restart rack2control01
                     refused: `rack2control01` cannot be restarted
                       rule kcp-others-healthy: `rack1control01` has not rejoined since it was off
                       rule kcp-others-healthy: etcd voters: 2 of 3 now, 1 of 3 after; quorum is 2
                       remedy: bring the other control-plane machines back first: `rackwright status` names them
            10:03:00 > see rack1control01 booted
                     rack1control01 waits for nothing
            10:03:00 > bob restart rack2control01
                     accepted as op4
                     op4: found boot1
                     rack2control01 <- cordon for op4
                     rack2control01 is held by operation op4
                     rack2control01 waits for the effect of the cordon since 10:03:00, expected by 10:03:30
                     op4: Cordon seen
                     rack2control01 <- graceful shutdown for op4
                     rack2control01 waits for the effect of the graceful shutdown since 10:03:00, expected by 10:06:00
        "#]],
    );
}

#[test]
fn a_new_keeper_knows_which_boot_has_died() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        rack3control01 kcp on ready
        > see rack1control01 off
        > crash
        > see rack1control01 on
        > look
        > bob restart rack2control01
        > see rack1control01 booted
        > bob restart rack2control01
        ",
        expect![[r#"
            10:00:00 > see rack1control01 off
                     rack1control01 waits for a person: off, but expected to be on since 10:00:00
            10:00:00 > crash
                     rack1control01 waits for a fresh look at the BMC since 10:00:00, expected by 10:01:00; a fresh look at the undercloud since 10:00:00, expected by 10:01:00
            10:00:00 > see rack1control01 on
                     rack1control01 waits for the node to become ready since 10:00:00, expected by 10:10:00
            10:00:00 > look
            10:00:00 > bob restart rack2control01
                     refused: `rack2control01` cannot be restarted
                       rule kcp-others-healthy: `rack1control01` has not rejoined since it was off
                       rule kcp-others-healthy: etcd voters: 2 of 3 now, 1 of 3 after; quorum is 2
                       remedy: bring the other control-plane machines back first: `rackwright status` names them
            10:00:00 > see rack1control01 booted
                     rack1control01 waits for nothing
            10:00:00 > bob restart rack2control01
                     accepted as op2
                     op2: found boot1
                     rack2control01 <- cordon for op2
                     rack2control01 is held by operation op2
                     rack2control01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op2: Cordon seen
                     rack2control01 <- graceful shutdown for op2
                     rack2control01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
        "#]],
    );
}
