//! Each refusal of the control-plane guard for the others' sake in full, and what it lets pass. One at a time is in
//! `guard_one_at_a_time.rs`.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_control_plane_machine_that_does_not_vote_may_be_restarted_while_disconnected() {
    check(
        "
        rack1control01 kcp off unknown
        rack2control01 kcp on unknown
        rack3control01 kcp on ready
        > undercloud silent
        > wait 6m
        > alice restart rack1control01
        > alice cancel op1
        > alice restart rack2control01
        > alice restart rack3control01
        ",
        expect![[r#"
            10:00:00 > undercloud silent
            10:00:00 > wait 6m
            10:02:00 the cluster is Timeout
            10:05:00 the cluster is Disconnected
            10:06:00 > alice restart rack1control01
                     accepted as op1
                     op1: found boot1
                     rack1control01 is held by operation op1
                     rack1control01 waits for the undercloud (unreachable: connection refused) since 10:00:00, expected by 10:02:00
                     rack1control01 is late
            10:06:00 > alice cancel op1
                     done
                     op1 Canceled: cancelled by alice during Cordon. Left behind: power Off; holds power-off by operation op1.
                       next: rackwright bmm start rack1control01
                     rack1control01 is held by power-off by operation op1
                     rack1control01 waits for a person: off, but expected to be on since 10:00:00; the node to be cordoned since 10:06:00, expected by 10:06:30
            10:06:00 > alice restart rack2control01
                     accepted as op3
                     op3: found boot1
                     rack2control01 is held by operation op3
                     rack2control01 waits for the undercloud (unreachable: connection refused) since 10:00:00, expected by 10:02:00
                     rack2control01 is late
            10:06:00 > alice restart rack3control01
                     refused: `rack3control01` cannot be restarted
                       rule cluster-connected: the undercloud of `site1` is Disconnected since 10:05:00Z (unreachable: connection refused)
                       remedy: bring the undercloud back first; `start`, and `restart` of a control-plane machine that is not voting, are allowed meanwhile
        "#]],
    );
}

#[test]
fn others_not_healthy() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp off unknown
        rack3control01 kcp on notready
        > alice restart rack1control01
        > see rack2control01 on
        > see rack2control01 gone
        > see rack3control01 ready
        > alice power-off rack1control01
        > see rack2control01 booted
        > alice power-off rack1control01
        ",
        expect![[r#"
            10:00:00 > alice restart rack1control01
                     refused: `rack1control01` cannot be restarted
                       rule kcp-others-healthy: `rack2control01` is off since 10:00:00Z
                       rule kcp-others-healthy: `rack3control01`: its node is not ready (Ready=False)
                       rule kcp-others-healthy: etcd voters: 1 of 3 now, 0 of 3 after; quorum is 2
                       remedy: bring the other control-plane machines back first: `rackwright status` names them
            10:00:00 > see rack2control01 on
                     rack2control01 waits for the node to become ready since 10:00:00, expected by 10:10:00
            10:00:00 > see rack2control01 gone
            10:00:00 > see rack3control01 ready
                     rack3control01 waits for nothing
            10:00:00 > alice power-off rack1control01
                     refused: `rack1control01` cannot be powered off
                       rule kcp-others-healthy: `rack2control01` has no node in the undercloud
                       rule kcp-others-healthy: etcd voters: 2 of 3 now, 1 of 3 after; quorum is 2
                       remedy: bring the other control-plane machines back first: `rackwright status` names them
            10:00:00 > see rack2control01 booted
                     rack2control01 waits for nothing
            10:00:00 > alice power-off rack1control01
                     accepted as op3
                     op3: found boot1
                     rack1control01 <- cordon for op3
                     rack1control01 is held by operation op3
                     rack1control01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op3: Cordon seen
                     rack1control01 <- graceful shutdown for op3
                     rack1control01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
        "#]],
    );
}

#[test]
fn others_not_yet_seen() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        rack3control01 kcp on ready
        > crash
        > alice restart rack1control01
        > look
        > alice restart rack1control01
        ",
        expect![[r#"
            10:00:00 > crash
            10:00:00 > alice restart rack1control01
                     refused: `rack1control01` cannot be restarted
                       rule kcp-others-healthy: `rack2control01` has not been seen yet: the keeper has just started
                       rule kcp-others-healthy: `rack3control01` has not been seen yet: the keeper has just started
                       rule kcp-others-healthy: etcd voters: 3 of 3 now, 2 of 3 after; quorum is 2
                       remedy: bring the other control-plane machines back first: `rackwright status` names them
            10:00:00 > look
            10:00:00 > alice restart rack1control01
                     accepted as op2
                     op2: found boot1
                     rack1control01 <- cordon for op2
                     rack1control01 is held by operation op2
                     rack1control01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op2: Cordon seen
                     rack1control01 <- graceful shutdown for op2
                     rack1control01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
        "#]],
    );
}

#[test]
fn an_old_word_about_a_node_does_not_make_it_a_machine_without_a_vote() {
    check(
        "
        rack1control01 kcp on notready
        rack2control01 kcp on ready
        rack3control01 kcp off unknown
        > crash
        > alice restart rack1control01
        > look
        > alice restart rack1control01
        ",
        expect![[r#"
            10:00:00 > crash
                     rack1control01 waits for a fresh look at the BMC since 10:00:00, expected by 10:01:00; a fresh look at the undercloud since 10:00:00, expected by 10:01:00
                     rack3control01 waits for a fresh look at the BMC since 10:00:00, expected by 10:01:00; a fresh look at the undercloud since 10:00:00, expected by 10:01:00
            10:00:00 > alice restart rack1control01
                     refused: `rack1control01` cannot be restarted
                       rule kcp-others-healthy: `rack2control01` has not been seen yet: the keeper has just started
                       rule kcp-others-healthy: `rack3control01` has not been seen yet: the keeper has just started
                       rule kcp-others-healthy: etcd voters: 3 of 3 now, 2 of 3 after; quorum is 2
                       remedy: bring the other control-plane machines back first: `rackwright status` names them
            10:00:00 > look
                     rack1control01 waits for the node to become ready since 10:00:00, expected by 10:10:00
                     rack3control01 waits for a person: off, but expected to be on since 10:00:00
            10:00:00 > alice restart rack1control01
                     accepted as op2
                     op2: found boot1
                     rack1control01 <- cordon for op2
                     rack1control01 is held by operation op2
                     rack1control01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op2: Cordon seen
                     rack1control01 <- graceful shutdown for op2
                     rack1control01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
        "#]],
    );
}

#[test]
fn undercloud_silent_but_still_connected() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        rack3control01 kcp on ready
        > undercloud silent
        > alice restart rack1control01
        ",
        expect![[r#"
            10:00:00 > undercloud silent
            10:00:00 > alice restart rack1control01
                     refused: `rack1control01` cannot be restarted
                       rule kcp-others-healthy: `rack2control01` cannot be judged: the undercloud does not answer (unreachable: connection refused)
                       rule kcp-others-healthy: `rack3control01` cannot be judged: the undercloud does not answer (unreachable: connection refused)
                       rule kcp-others-healthy: etcd voters: 3 of 3 as last seen, 2 of 3 after; quorum is 2
                       remedy: bring the undercloud back first: `rackwright status` tells since when it does not answer
        "#]],
    );
}

#[test]
fn a_target_that_does_not_vote_is_allowed_whatever_the_others_are() {
    check(
        "
        rack1control01 kcp off unknown
        rack2control01 kcp on notready
        rack3control01 kcp on ready
        > alice restart rack1control01
        ",
        expect![[r#"
            10:00:00 > alice restart rack1control01
                     accepted as op1
                     op1: found boot1
                     rack1control01 <- cordon for op1
                     rack1control01 is held by operation op1
                     rack1control01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     op1: Power Off seen
                     rack1control01 <- power-on for op1
                     rack1control01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
        "#]],
    );
}

#[test]
fn a_sole_voter_needs_the_callers_word() {
    check(
        "
        rack1control01 kcp on ready
        rack4control01 spare off
        > alice restart rack1control01
        > alice restart rack1control01 accept-outage
        ",
        expect![[r#"
            10:00:00 > alice restart rack1control01
                     refused: `rack1control01` cannot be restarted
                       rule kcp-sole-voter: `rack1control01` has the only vote
                       rule kcp-sole-voter: etcd voters: 1 of 1 now, 0 of 1 after; quorum is 1
                       remedy: the undercloud's API will be down meanwhile; to accept that, ask again with acceptControlPlaneOutage=true (`--accept-control-plane-outage`)
            10:00:00 > alice restart rack1control01 accept-outage
                     accepted as op2
                     op2: found boot1
                     rack1control01 <- cordon for op2
                     rack1control01 is held by operation op2
                     rack1control01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op2: Cordon seen
                     rack1control01 <- graceful shutdown for op2
                     rack1control01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
        "#]],
    );
}

#[test]
fn the_callers_word_does_not_help_with_three_members() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp off unknown
        rack3control01 kcp off unknown
        > alice restart rack1control01 accept-outage
        ",
        expect![[r#"
            10:00:00 > alice restart rack1control01 accept-outage
                     refused: `rack1control01` cannot be restarted
                       rule kcp-others-healthy: `rack2control01` is off since 10:00:00Z
                       rule kcp-others-healthy: `rack3control01` is off since 10:00:00Z
                       rule kcp-others-healthy: etcd voters: 1 of 3 now, 0 of 3 after; quorum is 2
                       remedy: bring the other control-plane machines back first: `rackwright status` names them
        "#]],
    );
}

#[test]
fn two_members_have_no_vote_to_spare() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        > alice restart rack1control01
        > alice restart rack1control01 accept-outage
        ",
        expect![[r#"
            10:00:00 > alice restart rack1control01
                     refused: `rack1control01` cannot be restarted
                       rule kcp-quorum: etcd voters: 2 of 2 now, 1 of 2 after; quorum is 2
                       remedy: add a control-plane machine first
            10:00:00 > alice restart rack1control01 accept-outage
                     refused: `rack1control01` cannot be restarted
                       rule kcp-quorum: etcd voters: 2 of 2 now, 1 of 2 after; quorum is 2
                       remedy: add a control-plane machine first
        "#]],
    );
}
