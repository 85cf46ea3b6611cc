//! Power-off: gently, then the hard way, and what it leaves behind.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_graceful_power_off_cordons_asks_and_leaves_the_machine_held() {
    check(
        "
        rack1compute01 compute on ready
        > alice power-off rack1compute01
        > wait 1m
        > see rack1compute01 off
        > see rack1compute01 unknown
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
            10:00:00 > wait 1m
            10:01:00 > see rack1compute01 off
                     op1: Power Off seen
                     op1 Succeeded: `rack1compute01` was powered off
                       next: rackwright bmm start rack1compute01
                     rack1compute01 is held by power-off by operation op1
                     rack1compute01 waits for a person: powered off by operation op1 since 10:01:00
            10:01:00 > see rack1compute01 unknown
        "#]],
    );
}

#[test]
fn an_ignored_shutdown_is_forced_after_its_time() {
    check(
        "
        rack1compute01 compute on ready
        > alice power-off rack1compute01
        > wait 11m
        > see rack1compute01 off
        > wait 3m
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
            10:00:00 > wait 11m
            10:10:00 rack1compute01 <- forced power-off for op1
                     rack1compute01 waits for the effect of the forced power-off since 10:10:00, expected by 10:13:00
            10:11:00 > see rack1compute01 off
                     rack1compute01 waits for an earlier power-off, which the BMC may still obey since 10:10:00, expected by 10:12:00
            10:11:00 > wait 3m
            10:12:00 op1: Power Off seen
                     op1 Succeeded: `rack1compute01` was powered off
                       next: rackwright bmm start rack1compute01
                     rack1compute01 is held by power-off by operation op1
                     rack1compute01 waits for a person: powered off by operation op1 since 10:11:00
        "#]],
    );
}

#[test]
fn skip_shutdown_cuts_the_power_at_once() {
    check(
        "
        rack1compute01 compute on ready
        > alice power-off rack1compute01 skip-shutdown
        > see rack1compute01 off
        ",
        expect![[r#"
            10:00:00 > alice power-off rack1compute01 skip-shutdown
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     rack1compute01 <- forced power-off for op1
                     rack1compute01 waits for the effect of the forced power-off since 10:00:00, expected by 10:03:00
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
fn a_bmc_without_a_gentle_way_is_forced() {
    check(
        "
        rack1compute01 compute on ready
        undercloud lazy
        > alice power-off rack1compute01
        > hang rack1compute01
        > see rack1compute01 cordoned
        > obey rack1compute01
        > answer rack1compute01 unsupported
        > see rack1compute01 off
        ",
        expect![[r#"
            10:00:00 > alice power-off rack1compute01
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
            10:00:00 > obey rack1compute01
            10:00:00 > answer rack1compute01 unsupported
                     op1: graceful shutdown was answered: unsupported: as the story says (arrived: No)
                     rack1compute01 <- forced power-off for op1
                     rack1compute01 waits for the effect of the forced power-off since 10:00:00, expected by 10:03:00
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
fn a_machine_that_is_off_already_is_only_noted() {
    check(
        "
        rack1compute01 compute off unknown
        > alice power-off rack1compute01
        ",
        expect![[r#"
            10:00:00 > alice power-off rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     op1: Power Off seen
                     op1 Succeeded: `rack1compute01` is off, as it was
                       next: rackwright bmm start rack1compute01
                     rack1compute01 is held by power-off by operation op1
                     rack1compute01 waits for a person: powered off by operation op1 since 10:00:00
        "#]],
    );
}

#[test]
fn the_spare_may_be_powered_off_and_is_left_without_a_hold() {
    check(
        "
        rack1control01 kcp on ready
        rack4control01 spare on
        > alice power-off rack4control01
        > see rack4control01 off
        ",
        expect![[r#"
            10:00:00 > alice power-off rack4control01
                     accepted as op1
                     op1: found no boot
                     op1: Cordon left out: the machine has no node
                     rack4control01 <- forced power-off for op1
                     rack4control01 is held by operation op1
                     rack4control01 waits for the effect of the forced power-off since 10:00:00, expected by 10:03:00
            10:00:00 > see rack4control01 off
                     op1: Power Off seen
                     op1 Succeeded: `rack4control01` was powered off; Cordon was left out: the machine has no node
                     rack4control01 is held by nobody
                     rack4control01 waits for nothing
        "#]],
    );
}

#[test]
fn a_node_that_cannot_be_cordoned_does_not_stop_a_power_off() {
    check(
        "
        rack1compute01 compute on ready
        undercloud lazy
        > alice power-off rack1compute01
        > wait 1m
        > see rack1compute01 off
        ",
        expect![[r#"
            10:00:00 > alice power-off rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
            10:00:00 > wait 1m
            10:00:30 op1: Cordon left out: the node could not be cordoned in time
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:00:30, expected by 10:03:30
            10:01:00 > see rack1compute01 off
                     op1: Power Off seen
                     rack1compute01 <- cordon for its holds
                     op1 Succeeded: `rack1compute01` was powered off; Cordon was left out: the node could not be cordoned in time
                       next: rackwright bmm start rack1compute01
                     rack1compute01 is held by power-off by operation op1
                     rack1compute01 waits for a person: powered off by operation op1 since 10:01:00; the node to be cordoned since 10:01:00, expected by 10:01:30
        "#]],
    );
}

#[test]
fn a_node_that_has_just_vanished_does_not_fail_a_power_off() {
    check(
        "
        rack1compute01 compute on ready
        > hang rack1compute01
        > alice power-off rack1compute01
        > obey rack1compute01
        > answer rack1compute01 missing
        ",
        expect![[r#"
            10:00:00 > hang rack1compute01
            10:00:00 > alice power-off rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
            10:00:00 > obey rack1compute01
            10:00:00 > answer rack1compute01 missing
                     op1: cordon was answered: missing: as the story says (arrived: No)
                     op1: Cordon left out: the cordon was answered: missing: as the story says
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
        "#]],
    );
}

#[test]
fn a_cordon_that_hangs_is_answered_before_the_bmc_is_asked() {
    check(
        "
        rack1compute01 compute on ready
        > hang rack1compute01
        > alice power-off rack1compute01
        > wait 1m
        > obey rack1compute01
        > answer rack1compute01 ok
        ",
        expect![[r#"
            10:00:00 > hang rack1compute01
            10:00:00 > alice power-off rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
            10:00:00 > wait 1m
            10:00:30 op1: Cordon left out: the node could not be cordoned in time
            10:01:00 rack1compute01 is late
            10:01:00 > obey rack1compute01
            10:01:00 > answer rack1compute01 ok
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:01:00, expected by 10:04:00
        "#]],
    );
}
