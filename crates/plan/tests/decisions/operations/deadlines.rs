//! Deadlines, lateness, and what a failed operation says.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_machine_that_does_not_go_off_fails_the_power_off_by_its_deadline() {
    check(
        "
        rack1compute01 compute on ready
        > alice power-off rack1compute01
        > wait 40m
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
            10:00:00 > wait 40m
            10:10:00 rack1compute01 <- forced power-off for op1
                     rack1compute01 waits for the effect of the forced power-off since 10:10:00, expected by 10:13:00
            10:12:00 rack1compute01 <- forced power-off for op1, attempt 2
                     rack1compute01 waits for the effect of the forced power-off (attempt 2) since 10:10:00, expected by 10:13:00
            10:14:00 rack1compute01 <- forced power-off for op1, attempt 3
                     rack1compute01 waits for the effect of the forced power-off (attempt 3) since 10:10:00, expected by 10:13:00
            10:16:00 rack1compute01 <- forced power-off for op1, attempt 4
                     rack1compute01 waits for the effect of the forced power-off (attempt 4) since 10:10:00, expected by 10:13:00
            10:18:00 rack1compute01 <- forced power-off for op1, attempt 5
                     rack1compute01 waits for the effect of the forced power-off (attempt 5) since 10:10:00, expected by 10:13:00
            10:20:00 rack1compute01 <- forced power-off for op1, attempt 6
                     rack1compute01 waits for the effect of the forced power-off (attempt 6) since 10:10:00, expected by 10:13:00
            10:22:00 rack1compute01 <- forced power-off for op1, attempt 7
                     rack1compute01 waits for the effect of the forced power-off (attempt 7) since 10:10:00, expected by 10:13:00
            10:24:00 rack1compute01 <- forced power-off for op1, attempt 8
                     rack1compute01 waits for the effect of the forced power-off (attempt 8) since 10:10:00, expected by 10:13:00
            10:26:00 rack1compute01 <- forced power-off for op1, attempt 9
                     rack1compute01 waits for the effect of the forced power-off (attempt 9) since 10:10:00, expected by 10:13:00
            10:28:00 rack1compute01 <- forced power-off for op1, attempt 10
                     rack1compute01 waits for the effect of the forced power-off (attempt 10) since 10:10:00, expected by 10:13:00
            10:30:00 rack1compute01 <- forced power-off for op1, attempt 11
                     rack1compute01 waits for the effect of the forced power-off (attempt 11) since 10:10:00, expected by 10:13:00
            10:32:00 rack1compute01 <- forced power-off for op1, attempt 12
                     rack1compute01 waits for the effect of the forced power-off (attempt 12) since 10:10:00, expected by 10:13:00
            10:34:00 rack1compute01 <- forced power-off for op1, attempt 13
                     rack1compute01 waits for the effect of the forced power-off (attempt 13) since 10:10:00, expected by 10:13:00
            10:36:00 rack1compute01 <- forced power-off for op1, attempt 14
                     rack1compute01 waits for the effect of the forced power-off (attempt 14) since 10:10:00, expected by 10:13:00
            10:38:00 rack1compute01 <- forced power-off for op1, attempt 15
                     rack1compute01 waits for the effect of the forced power-off (attempt 15) since 10:10:00, expected by 10:13:00
            10:40:00 rack1compute01 <- uncordon for its holds
                     op1 Failed: power-off failed: Power Off did not end in time; it waited for the effect of the forced power-off (attempt 15). Left behind: power On; holds none
                       next: rackwright bmm show rack1compute01
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the node to be uncordoned since 10:40:00, expected by 10:40:30
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_machine_that_does_not_rejoin_fails_the_restart_and_leaves_no_hold() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack1compute01
        > see rack1compute01 off
        > see rack1compute01 on
        > see rack1compute01 unknown
        > wait 40m
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
            10:00:00 > see rack1compute01 unknown
            10:00:00 > wait 40m
            10:40:00 rack1compute01 <- uncordon for its holds
                     op1 Failed: restart failed: Rejoin did not end in time; it waited for the node to rejoin. Left behind: power On; holds none
                       next: rackwright bmm restart rack1compute01
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the node to become ready since 10:00:00, expected by 10:10:00; the node to be uncordoned since 10:40:00, expected by 10:40:30
                     rack1compute01 waits for the node to become ready since 10:00:00, expected by 10:10:00
                     rack1compute01 is late
        "#]],
    );
}

#[test]
fn a_machine_that_does_not_go_on_fails_the_restart_and_stays_held() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack1compute01
        > see rack1compute01 off
        > see rack1compute01 unknown
        > wait 40m
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
            10:00:00 > see rack1compute01 unknown
            10:00:00 > wait 40m
            10:02:00 rack1compute01 <- power-on for op1, attempt 2
                     rack1compute01 waits for the effect of the power-on (attempt 2) since 10:00:00, expected by 10:02:00
            10:04:00 rack1compute01 <- power-on for op1, attempt 3
                     rack1compute01 waits for the effect of the power-on (attempt 3) since 10:00:00, expected by 10:02:00
            10:06:00 rack1compute01 <- power-on for op1, attempt 4
                     rack1compute01 waits for the effect of the power-on (attempt 4) since 10:00:00, expected by 10:02:00
            10:08:00 rack1compute01 <- power-on for op1, attempt 5
                     rack1compute01 waits for the effect of the power-on (attempt 5) since 10:00:00, expected by 10:02:00
            10:10:00 rack1compute01 <- power-on for op1, attempt 6
                     rack1compute01 waits for the effect of the power-on (attempt 6) since 10:00:00, expected by 10:02:00
            10:12:00 rack1compute01 <- power-on for op1, attempt 7
                     rack1compute01 waits for the effect of the power-on (attempt 7) since 10:00:00, expected by 10:02:00
            10:14:00 rack1compute01 <- power-on for op1, attempt 8
                     rack1compute01 waits for the effect of the power-on (attempt 8) since 10:00:00, expected by 10:02:00
            10:16:00 rack1compute01 <- power-on for op1, attempt 9
                     rack1compute01 waits for the effect of the power-on (attempt 9) since 10:00:00, expected by 10:02:00
            10:18:00 rack1compute01 <- power-on for op1, attempt 10
                     rack1compute01 waits for the effect of the power-on (attempt 10) since 10:00:00, expected by 10:02:00
            10:20:00 rack1compute01 <- power-on for op1, attempt 11
                     rack1compute01 waits for the effect of the power-on (attempt 11) since 10:00:00, expected by 10:02:00
            10:22:00 rack1compute01 <- power-on for op1, attempt 12
                     rack1compute01 waits for the effect of the power-on (attempt 12) since 10:00:00, expected by 10:02:00
            10:24:00 rack1compute01 <- power-on for op1, attempt 13
                     rack1compute01 waits for the effect of the power-on (attempt 13) since 10:00:00, expected by 10:02:00
            10:26:00 rack1compute01 <- power-on for op1, attempt 14
                     rack1compute01 waits for the effect of the power-on (attempt 14) since 10:00:00, expected by 10:02:00
            10:28:00 rack1compute01 <- power-on for op1, attempt 15
                     rack1compute01 waits for the effect of the power-on (attempt 15) since 10:00:00, expected by 10:02:00
            10:30:00 rack1compute01 <- power-on for op1, attempt 16
                     rack1compute01 waits for the effect of the power-on (attempt 16) since 10:00:00, expected by 10:02:00
            10:32:00 rack1compute01 <- power-on for op1, attempt 17
                     rack1compute01 waits for the effect of the power-on (attempt 17) since 10:00:00, expected by 10:02:00
            10:34:00 rack1compute01 <- power-on for op1, attempt 18
                     rack1compute01 waits for the effect of the power-on (attempt 18) since 10:00:00, expected by 10:02:00
            10:36:00 rack1compute01 <- power-on for op1, attempt 19
                     rack1compute01 waits for the effect of the power-on (attempt 19) since 10:00:00, expected by 10:02:00
            10:38:00 rack1compute01 <- power-on for op1, attempt 20
                     rack1compute01 waits for the effect of the power-on (attempt 20) since 10:00:00, expected by 10:02:00
            10:40:00 op1 Failed: restart failed: Power On did not end in time; it waited for the effect of the power-on (attempt 20). Left behind: power Off; holds power-off by operation op1
                       next: rackwright bmm start rack1compute01
                     rack1compute01 is held by power-off by operation op1
                     rack1compute01 waits for a person: off, but expected to be on since 10:00:00
        "#]],
    );
}

#[test]
fn a_keeper_that_was_down_for_eight_hours_fails_nothing_at_once() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack1compute01
        > see rack1compute01 off
        > down 8h
        > look
        > see rack1compute01 on
        > crash
        > see rack1compute01 on
        > look
        > wait 5m
        > see rack1compute01 booted
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
            10:00:00 > down 8h
            18:00:00 op1: resumed, to end by 18:40:00
                     rack1compute01 waits for a fresh look at the BMC since 18:00:00, expected by 18:01:00
            18:00:00 > look
                     rack1compute01 <- power-on for op1, attempt 2
                     rack1compute01 waits for the effect of the power-on (attempt 2) since 10:00:00, expected by 10:02:00
                     rack1compute01 is late
            18:00:00 > see rack1compute01 on
                     op1: Power On seen
                     rack1compute01 waits for the node to rejoin since 18:00:00, expected by 18:10:00
            18:00:00 > crash
                     rack1compute01 waits for a fresh look at the undercloud since 18:00:00, expected by 18:01:00
            18:00:00 > see rack1compute01 on
                     rack1compute01 waits for the node to rejoin since 18:00:00, expected by 18:10:00
            18:00:00 > look
            18:00:00 > wait 5m
            18:05:00 > see rack1compute01 booted
                     op1: Rejoin seen
                     rack1compute01 <- uncordon for op1
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 18:05:00, expected by 18:05:30
                     op1: Uncordon seen
                     op1 Succeeded: `rack1compute01` was restarted
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn what_was_left_of_the_time_still_ends() {
    check(
        "
        rack1compute01 compute on ready
        > alice start rack1compute01
        > see rack1compute01 off
        > bob start rack1compute01
        > wait 2m
        > down 8h
        > look
        > wait 29m
        ",
        expect![[r#"
            10:00:00 > alice start rack1compute01
                     accepted as op1
                     op1: found boot1
                     op1: Power On seen
                     op1: Rejoin seen
                     op1: Uncordon seen
                     op1 Succeeded: `rack1compute01` is on, as it was
            10:00:00 > see rack1compute01 off
                     rack1compute01 waits for a person: off, but expected to be on since 10:00:00
            10:00:00 > bob start rack1compute01
                     accepted as op2
                     op2: found boot1
                     rack1compute01 <- power-on for op2
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > wait 2m
            10:02:00 rack1compute01 <- power-on for op2, attempt 2
                     rack1compute01 waits for the effect of the power-on (attempt 2) since 10:00:00, expected by 10:02:00
            10:02:00 > down 8h
            18:02:00 op2: resumed, to end by 18:30:00
                     rack1compute01 waits for a fresh look at the BMC since 18:02:00, expected by 18:03:00
            18:02:00 > look
                     rack1compute01 <- power-on for op2, attempt 3
                     rack1compute01 waits for the effect of the power-on (attempt 3) since 10:00:00, expected by 10:02:00
                     rack1compute01 is late
            18:02:00 > wait 29m
            18:04:00 rack1compute01 <- power-on for op2, attempt 4
                     rack1compute01 waits for the effect of the power-on (attempt 4) since 10:00:00, expected by 10:02:00
            18:06:00 rack1compute01 <- power-on for op2, attempt 5
                     rack1compute01 waits for the effect of the power-on (attempt 5) since 10:00:00, expected by 10:02:00
            18:08:00 rack1compute01 <- power-on for op2, attempt 6
                     rack1compute01 waits for the effect of the power-on (attempt 6) since 10:00:00, expected by 10:02:00
            18:10:00 rack1compute01 <- power-on for op2, attempt 7
                     rack1compute01 waits for the effect of the power-on (attempt 7) since 10:00:00, expected by 10:02:00
            18:12:00 rack1compute01 <- power-on for op2, attempt 8
                     rack1compute01 waits for the effect of the power-on (attempt 8) since 10:00:00, expected by 10:02:00
            18:14:00 rack1compute01 <- power-on for op2, attempt 9
                     rack1compute01 waits for the effect of the power-on (attempt 9) since 10:00:00, expected by 10:02:00
            18:16:00 rack1compute01 <- power-on for op2, attempt 10
                     rack1compute01 waits for the effect of the power-on (attempt 10) since 10:00:00, expected by 10:02:00
            18:18:00 rack1compute01 <- power-on for op2, attempt 11
                     rack1compute01 waits for the effect of the power-on (attempt 11) since 10:00:00, expected by 10:02:00
            18:20:00 rack1compute01 <- power-on for op2, attempt 12
                     rack1compute01 waits for the effect of the power-on (attempt 12) since 10:00:00, expected by 10:02:00
            18:22:00 rack1compute01 <- power-on for op2, attempt 13
                     rack1compute01 waits for the effect of the power-on (attempt 13) since 10:00:00, expected by 10:02:00
            18:24:00 rack1compute01 <- power-on for op2, attempt 14
                     rack1compute01 waits for the effect of the power-on (attempt 14) since 10:00:00, expected by 10:02:00
            18:26:00 rack1compute01 <- power-on for op2, attempt 15
                     rack1compute01 waits for the effect of the power-on (attempt 15) since 10:00:00, expected by 10:02:00
            18:28:00 rack1compute01 <- power-on for op2, attempt 16
                     rack1compute01 waits for the effect of the power-on (attempt 16) since 10:00:00, expected by 10:02:00
            18:30:00 op2 Failed: start failed: Power On did not end in time; it waited for the effect of the power-on (attempt 16). Left behind: power Off; holds none
                       next: rackwright bmm start rack1compute01
                     rack1compute01 waits for a person: off, but expected to be on since 10:00:00
        "#]],
    );
}

#[test]
fn a_deadline_is_not_judged_before_both_eyes_were_opened() {
    check(
        "
        rack1compute01 compute on notready
        > alice start rack1compute01
        > wait 29m
        > crash
        > see rack1compute01 on
        > look
        > wait 30m
        ",
        expect![[r#"
            10:00:00 > alice start rack1compute01
                     accepted as op1
                     op1: found boot1
                     op1: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
            10:00:00 > wait 29m
            10:29:00 rack1compute01 is late
            10:29:00 > crash
                     op1: resumed, to end by 10:59:00
                     rack1compute01 waits for a fresh look at the undercloud since 10:29:00, expected by 10:30:00
            10:29:00 > see rack1compute01 on
                     rack1compute01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
                     rack1compute01 is late
            10:29:00 > look
            10:29:00 > wait 30m
            10:59:00 op1 Failed: start failed: Rejoin did not end in time; it waited for the node to rejoin. Left behind: power On; holds none
                       next: rackwright bmm restart rack1compute01
                     rack1compute01 waits for the node to become ready since 10:00:00, expected by 10:10:00
        "#]],
    );
}
