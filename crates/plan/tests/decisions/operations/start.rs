//! Start: on, back in Kubernetes, and the power-off's hold lifted.

use expect_test::expect;

use crate::script::check;

#[test]
fn start_lifts_the_hold_that_the_power_off_left() {
    check(
        "
        rack1compute01 compute on ready
        > alice power-off rack1compute01
        > see rack1compute01 off
        > see rack1compute01 unknown
        > bob start rack1compute01
        > see rack1compute01 powering-on
        > see rack1compute01 on
        > see rack1compute01 booted
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
            10:00:00 > see rack1compute01 off
                     op1: Power Off seen
                     op1 Succeeded: `rack1compute01` was powered off
                       next: rackwright bmm start rack1compute01
                     rack1compute01 is held by power-off by operation op1
                     rack1compute01 waits for a person: powered off by operation op1 since 10:00:00
            10:00:00 > see rack1compute01 unknown
            10:00:00 > bob start rack1compute01
                     accepted as op2
                     op2: found boot1
                     rack1compute01 <- power-on for op2
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1compute01 powering-on
            10:00:00 > see rack1compute01 on
                     op2: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
            10:00:00 > see rack1compute01 booted
                     op2: Rejoin seen
                     rack1compute01 <- uncordon for op2
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:00:00, expected by 10:00:30
                     op2: Uncordon seen
                     op2 Succeeded: `rack1compute01` was started
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn start_of_a_machine_that_is_on_and_ready_ends_at_once() {
    check(
        "
        rack1compute01 compute on ready
        > alice start rack1compute01
        ",
        expect![[r#"
            10:00:00 > alice start rack1compute01
                     accepted as op1
                     op1: found boot1
                     op1: Power On seen
                     op1: Rejoin seen
                     op1: Uncordon seen
                     op1 Succeeded: `rack1compute01` is on, as it was
        "#]],
    );
}

#[test]
fn start_lifts_no_other_hold() {
    check(
        "
        rack1compute01 compute off unknown cordoned
        > alice start rack1compute01
        > see rack1compute01 on
        > see rack1compute01 booted
        ",
        expect![[r#"
            10:00:00 > alice start rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1compute01 on
                     op1: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
            10:00:00 > see rack1compute01 booted
                     op1: Rejoin seen
                     op1: Uncordon seen
                     op1 Succeeded: `rack1compute01` was started; it stays cordoned, held by bob
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_machine_that_is_going_off_is_not_asked_to_go_on() {
    check(
        "
        rack1compute01 compute powering-off unknown
        > alice start rack1compute01
        > see rack1compute01 off
        ",
        expect![[r#"
            10:00:00 > alice start rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 waits for the effect of the forced power-off since 10:00:00, expected by 10:03:00
            10:00:00 > see rack1compute01 off
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
        "#]],
    );
}

#[test]
fn a_machine_switched_on_by_hand_is_released_too() {
    check(
        "
        rack1compute01 compute on ready
        > alice power-off rack1compute01
        > see rack1compute01 off
        > see rack1compute01 unknown
        > see rack1compute01 on
        > see rack1compute01 booted
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
            10:00:00 > see rack1compute01 off
                     op1: Power Off seen
                     op1 Succeeded: `rack1compute01` was powered off
                       next: rackwright bmm start rack1compute01
                     rack1compute01 is held by power-off by operation op1
                     rack1compute01 waits for a person: powered off by operation op1 since 10:00:00
            10:00:00 > see rack1compute01 unknown
            10:00:00 > see rack1compute01 on
                     rack1compute01 waits for the node to become ready since 10:00:00, expected by 10:10:00
            10:00:00 > see rack1compute01 booted
                     rack1compute01 <- uncordon for its holds
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the node to be uncordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for nothing
            10:00:00 > see rack1compute01 off
                     rack1compute01 waits for a person: off, but expected to be on since 10:00:00
        "#]],
    );
}

#[test]
fn a_machine_switched_on_by_hand_stays_held_until_a_new_boot_has_joined() {
    check(
        "
        rack1compute01 compute on ready
        > alice power-off rack1compute01
        > see rack1compute01 off
        > see rack1compute01 on
        > wait 1m
        > see rack1compute01 booted
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
            10:00:00 > see rack1compute01 off
                     op1: Power Off seen
                     op1 Succeeded: `rack1compute01` was powered off
                       next: rackwright bmm start rack1compute01
                     rack1compute01 is held by power-off by operation op1
                     rack1compute01 waits for a person: powered off by operation op1 since 10:00:00
            10:00:00 > see rack1compute01 on
                     rack1compute01 waits for the node to become ready since 10:00:00, expected by 10:10:00
            10:00:00 > wait 1m
            10:01:00 > see rack1compute01 booted
                     rack1compute01 <- uncordon for its holds
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the node to be uncordoned since 10:01:00, expected by 10:01:30
                     rack1compute01 waits for nothing
        "#]],
    );
}
