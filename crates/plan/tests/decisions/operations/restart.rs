//! Restart: off, seen off, on, seen on, and a new boot.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_restart_is_one_power_cycle_and_lifts_its_own_hold() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack1compute01
        > wait 1m
        > see rack1compute01 off
        > see rack1compute01 on
        > see rack1compute01 unknown
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
            10:00:00 > wait 1m
            10:01:00 > see rack1compute01 off
                     op1: Power Off seen
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:01:00, expected by 10:03:00
            10:01:00 > see rack1compute01 on
                     op1: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:01:00, expected by 10:11:00
            10:01:00 > see rack1compute01 unknown
            10:01:00 > see rack1compute01 booted
                     op1: Rejoin seen
                     rack1compute01 <- uncordon for op1
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:01:00, expected by 10:01:30
                     op1: Uncordon seen
                     op1 Succeeded: `rack1compute01` was restarted
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_restart_of_a_machine_that_is_off_switches_it_on() {
    check(
        "
        rack1compute01 compute off unknown
        > alice restart rack1compute01
        > see rack1compute01 on
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
                     op1: Power Off seen
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1compute01 on
                     op1: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
            10:00:00 > see rack1compute01 booted
                     op1: Rejoin seen
                     rack1compute01 <- uncordon for op1
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:00:00, expected by 10:00:30
                     op1: Uncordon seen
                     op1 Succeeded: `rack1compute01` was restarted
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn rejoining_takes_a_new_boot() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack1compute01
        > see rack1compute01 off
        > see rack1compute01 on
        > see rack1compute01 ready
        > wait 11m
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
            10:00:00 > see rack1compute01 on
                     op1: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
            10:00:00 > see rack1compute01 ready
            10:00:00 > wait 11m
            10:11:00 rack1compute01 is late
            10:11:00 > see rack1compute01 booted
                     op1: Rejoin seen
                     rack1compute01 <- uncordon for op1
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:11:00, expected by 10:11:30
                     op1: Uncordon seen
                     op1 Succeeded: `rack1compute01` was restarted
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn the_boot_left_behind_is_the_one_that_ran_when_the_power_went() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack1compute01
        > see rack1compute01 booted
        > see rack1compute01 off
        > see rack1compute01 on
        > see rack1compute01 ready
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
            10:00:00 > see rack1compute01 booted
            10:00:00 > see rack1compute01 off
                     op1: found boot2
                     op1: Power Off seen
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1compute01 on
                     op1: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
            10:00:00 > see rack1compute01 ready
            10:00:00 > see rack1compute01 booted
                     op1: Rejoin seen
                     rack1compute01 <- uncordon for op1
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:00:00, expected by 10:00:30
                     op1: Uncordon seen
                     op1 Succeeded: `rack1compute01` was restarted
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_users_hold_survives_a_restart() {
    check(
        "
        rack1compute01 compute on ready
        > alice cordon rack1compute01
        > bob restart rack1compute01
        > see rack1compute01 off
        > see rack1compute01 on
        > see rack1compute01 booted
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
            10:00:00 > bob restart rack1compute01
                     accepted as op2
                     op2: found boot1
                     op2: Cordon seen
                     rack1compute01 <- graceful shutdown for op2
                     rack1compute01 is held by alice, operation op2
                     rack1compute01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
            10:00:00 > see rack1compute01 off
                     op2: Power Off seen
                     rack1compute01 <- power-on for op2
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1compute01 on
                     op2: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
            10:00:00 > see rack1compute01 booted
                     op2: Rejoin seen
                     op2: Uncordon seen
                     op2 Succeeded: `rack1compute01` was restarted; it stays cordoned, held by alice
                     rack1compute01 is held by alice
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_cordon_by_hand_survives_a_restart() {
    check(
        "
        rack1compute01 compute on ready cordoned by-hand
        > bob restart rack1compute01
        > see rack1compute01 off
        > see rack1compute01 on
        > see rack1compute01 booted
        ",
        expect![[r#"
            10:00:00 > bob restart rack1compute01
                     accepted as op1
                     op1: found boot1
                     op1: Cordon seen
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
            10:00:00 > see rack1compute01 off
                     op1: Power Off seen
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1compute01 on
                     op1: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
            10:00:00 > see rack1compute01 booted
                     op1: Rejoin seen
                     op1: Uncordon seen
                     op1 Succeeded: `rack1compute01` was restarted
                     rack1compute01 is held by nobody
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn no_on_is_asked_while_a_second_off_may_still_be_obeyed() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack1compute01
        > wait 10m
        > see rack1compute01 off
        > wait 1m
        > wait 1m
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
            10:00:00 > wait 10m
            10:10:00 rack1compute01 <- forced power-off for op1
                     rack1compute01 waits for the effect of the forced power-off since 10:10:00, expected by 10:13:00
            10:10:00 > see rack1compute01 off
                     rack1compute01 waits for an earlier power-off, which the BMC may still obey since 10:10:00, expected by 10:12:00
            10:10:00 > wait 1m
            10:11:00 > wait 1m
            10:12:00 op1: Power Off seen
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:12:00, expected by 10:14:00
        "#]],
    );
}

#[test]
fn no_on_is_asked_while_the_off_is_still_under_way() {
    check(
        "
        rack1compute01 compute on ready
        undercloud lazy
        > alice restart rack1compute01
        > hang rack1compute01
        > see rack1compute01 cordoned
        > see rack1compute01 off
        > obey rack1compute01
        > answer rack1compute01 ok
        ",
        expect![[r#"
            10:00:00 > alice restart rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
            10:00:00 > hang rack1compute01
            10:00:00 > see rack1compute01 cordoned
                     op1: Cordon seen
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
            10:00:00 > see rack1compute01 off
                     op1: Power Off seen
            10:00:00 > obey rack1compute01
            10:00:00 > answer rack1compute01 ok
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
        "#]],
    );
}
