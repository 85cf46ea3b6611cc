//! Cancel: at the next safe point, with what was left behind.

use expect_test::expect;

use crate::script::check;

#[test]
fn cancelled_before_anything_was_asked_of_the_bmc_it_ends_once_the_cordon_has_settled() {
    check(
        "
        rack1compute01 compute on ready
        undercloud lazy
        > alice restart rack1compute01
        > bob cancel op1
        > wait 40s
        > see rack1compute01 cordoned
        > see rack1compute01 uncordoned
        ",
        expect![[r#"
            10:00:00 > alice restart rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
            10:00:00 > bob cancel op1
                     done
            10:00:00 > wait 40s
            10:00:30 op1: Cordon left out: the node could not be cordoned in time
                     op1 Canceled: cancelled by bob during Power Off. Left behind: power On; holds none.
                       next: rackwright bmm show rack1compute01
                     rack1compute01 is held by nobody
                     rack1compute01 waits for nothing
            10:00:40 > see rack1compute01 cordoned
                     rack1compute01 <- uncordon for its holds
                     rack1compute01 waits for the node to be uncordoned since 10:00:40, expected by 10:01:10
            10:00:40 > see rack1compute01 uncordoned
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn cancelled_during_a_shutdown_it_ends_when_a_late_one_would_have_shown() {
    check(
        "
        rack1compute01 compute on ready
        > alice power-off rack1compute01
        > wait 30s
        > bob cancel op1
        > wait 2m
        > see rack1compute01 off
        ",
        expect![[r#"
            10:00:00 > alice power-off rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
            10:00:00 > wait 30s
            10:00:30 > bob cancel op1
                     done
            10:00:30 > wait 2m
            10:02:00 rack1compute01 <- uncordon for its holds
                     op1 Canceled: cancelled by bob during Power Off. Left behind: power On; holds none. A graceful shutdown was asked for at 10:00:00Z and may still happen.
                       next: rackwright bmm show rack1compute01
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the node to be uncordoned since 10:02:00, expected by 10:02:30
                     rack1compute01 waits for nothing
            10:02:30 > see rack1compute01 off
                     rack1compute01 waits for a person: off, but expected to be on since 10:02:30
        "#]],
    );
}

#[test]
fn cancelled_in_the_control_plane_it_waits_until_no_shutdown_can_come() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        rack3control01 kcp on ready
        > alice restart rack1control01
        > bob cancel op1
        > wait 5m
        > bob restart rack2control01
        > wait 5m
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
            10:00:00 > bob cancel op1
                     done
            10:00:00 > wait 5m
            10:05:00 rack1control01 is late
            10:05:00 > bob restart rack2control01
                     refused: `rack2control01` cannot be restarted
                       rule kcp-one-at-a-time: `rack1control01` is being restarted since 10:00:00Z (operation op1)
                       remedy: wait with `rackwright operation wait op1`, or stop it with `rackwright operation cancel op1`
            10:05:00 > wait 5m
            10:10:00 rack1control01 <- uncordon for its holds
                     op1 Canceled: cancelled by bob during Power Off. Left behind: power On; holds none. A graceful shutdown was asked for at 10:00:00Z and may still happen.
                       next: rackwright bmm show rack1control01
                     rack1control01 is held by nobody
                     rack1control01 waits for the node to be uncordoned since 10:10:00, expected by 10:10:30
                     rack1control01 waits for nothing
            10:10:00 > bob restart rack2control01
                     accepted as op4
                     op4: found boot1
                     rack2control01 <- cordon for op4
                     rack2control01 is held by operation op4
                     rack2control01 waits for the effect of the cordon since 10:10:00, expected by 10:10:30
                     op4: Cordon seen
                     rack2control01 <- graceful shutdown for op4
                     rack2control01 waits for the effect of the graceful shutdown since 10:10:00, expected by 10:13:00
        "#]],
    );
}

#[test]
fn cancelled_while_off_it_leaves_the_machine_off_and_held() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack1compute01
        > fault rack1compute01 unreachable
        > bob cancel op1
        > see rack1compute01 off
        ",
        expect![[r#"
            10:00:00 > alice restart rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
            10:00:00 > fault rack1compute01 unreachable
                     rack1compute01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > bob cancel op1
                     done
            10:00:00 > see rack1compute01 off
                     op1: Power Off seen
                     op1 Canceled: cancelled by bob during Power On. Left behind: power Off; holds power-off by operation op1.
                       next: rackwright bmm start rack1compute01
                     rack1compute01 is held by power-off by operation op1
                     rack1compute01 waits for a person: off, but expected to be on since 10:00:00
        "#]],
    );
}

#[test]
fn cancelled_during_the_power_on_it_ends_when_that_is_settled() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack1compute01
        > see rack1compute01 off
        > bob cancel op1
        > wait 2m
        ",
        expect![[r#"
            10:00:00 > alice restart rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
            10:00:00 > see rack1compute01 off
                     op1: Power Off seen
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > bob cancel op1
                     done
            10:00:00 > wait 2m
            10:02:00 op1 Canceled: cancelled by bob during Power On. Left behind: power Off; holds power-off by operation op1.
                       next: rackwright bmm start rack1compute01
                     rack1compute01 is held by power-off by operation op1
                     rack1compute01 waits for a person: off, but expected to be on since 10:00:00
        "#]],
    );
}

#[test]
fn cancelled_during_the_rejoin_it_ends_at_once_and_releases_the_node() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack1compute01
        > see rack1compute01 off
        > see rack1compute01 on
        > bob cancel op1
        ",
        expect![[r#"
            10:00:00 > alice restart rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
            10:00:00 > see rack1compute01 off
                     op1: Power Off seen
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1compute01 on
                     op1: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
            10:00:00 > bob cancel op1
                     done
                     rack1compute01 <- uncordon for its holds
                     op1 Canceled: cancelled by bob during Rejoin. Left behind: power On; holds none.
                       next: rackwright bmm show rack1compute01
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the node to become ready since 10:00:00, expected by 10:10:00; the node to be uncordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for the node to become ready since 10:00:00, expected by 10:10:00
        "#]],
    );
}

#[test]
fn an_effect_that_has_shown_is_noted_before_the_cancel() {
    check(
        "
        rack1compute01 compute on ready
        > alice power-off rack1compute01
        > bob cancel op1
        > see rack1compute01 off
        ",
        expect![[r#"
            10:00:00 > alice power-off rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
            10:00:00 > bob cancel op1
                     done
            10:00:00 > see rack1compute01 off
                     op1: Power Off seen
                     op1 Succeeded: `rack1compute01` was powered off
                       next: rackwright bmm start rack1compute01
                     rack1compute01 is held by power-off by operation op1
                     rack1compute01 waits for a person: powered off by operation op1 since 10:00:00
        "#]],
    );
}

#[test]
fn a_request_under_way_is_answered_before_the_cancel() {
    check(
        "
        rack1compute01 compute off unknown
        > hang rack1compute01
        > alice start rack1compute01
        > bob cancel op1
        > wait 3m
        > answer rack1compute01 ok
        > wait 2m
        ",
        expect![[r#"
            10:00:00 > hang rack1compute01
            10:00:00 > alice start rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > bob cancel op1
                     done
            10:00:00 > wait 3m
            10:03:00 rack1compute01 is late
            10:03:00 > answer rack1compute01 ok
            10:03:00 > wait 2m
            10:05:00 op1 Canceled: cancelled by bob during Power On. Left behind: power Off; holds none.
                       next: rackwright bmm start rack1compute01
                     rack1compute01 waits for a person: off, but expected to be on since 10:00:00
        "#]],
    );
}

#[test]
fn a_refused_request_is_a_safe_point() {
    check(
        "
        rack1compute01 compute off unknown
        > refuse rack1compute01 busy
        > alice start rack1compute01
        > bob cancel op1
        ",
        expect![[r#"
            10:00:00 > refuse rack1compute01 busy
            10:00:00 > alice start rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
                     op1: power-on was answered: busy: as the story says (arrived: No)
                     rack1compute01 waits for the BMC (busy: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > bob cancel op1
                     done
                     op1 Canceled: cancelled by bob during Power On. Left behind: power unknown, the BMC is busy; holds none.
                       next: rackwright bmm show rack1compute01
                     rack1compute01 waits for the BMC (busy: as the story says) since 10:00:00, expected by 10:02:00; the node to become ready since 10:00:00, expected by 10:10:00
        "#]],
    );
}

#[test]
fn a_cancelled_cordon_withdraws_the_hold_it_placed() {
    check(
        "
        rack1compute01 compute on ready
        undercloud lazy
        > alice cordon rack1compute01
        > bob cancel op1
        > wait 30s
        ",
        expect![[r#"
            10:00:00 > alice cordon rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by alice
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
            10:00:00 > bob cancel op1
                     done
            10:00:00 > wait 30s
            10:00:30 op1 Canceled: cancelled by bob during Cordon. Left behind: power On; holds none.
                       next: rackwright bmm show rack1compute01
                     rack1compute01 is held by nobody
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn what_has_ended_or_never_was_cannot_be_cancelled() {
    check(
        "
        rack1compute01 compute on ready
        > alice cordon rack1compute01
        > bob cancel op1
        > bob cancel op77
        ",
        expect![[r#"
            10:00:00 > alice cordon rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by alice
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     op1 Succeeded: `rack1compute01` was cordoned
                     rack1compute01 waits for nothing
            10:00:00 > bob cancel op1
                     refused: operation op1 cannot be cancelled
                       rule operation-running: it ended at 10:00:00Z: Succeeded
                       remedy: nothing to cancel; `rackwright operation show op1` tells how it ended
            10:00:00 > bob cancel op77
                     refused: there is no operation op77
                       rule operation-exists: ended operations are forgotten after a day
                       remedy: `rackwright operation list` names them
        "#]],
    );
}
