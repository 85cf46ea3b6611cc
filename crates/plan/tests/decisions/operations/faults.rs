//! BMCs that do not answer, refuse, or lose their answers.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_bmc_that_falls_silent_in_the_middle_is_waited_for() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack1compute01
        > fault rack1compute01 unreachable
        > wait 5m
        > see rack1compute01 off
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
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
            10:00:00 > fault rack1compute01 unreachable
                     rack1compute01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > wait 5m
            10:05:00 rack1compute01 is late
            10:05:00 > see rack1compute01 off
                     op1: Power Off seen
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:05:00, expected by 10:07:00
            10:05:00 > see rack1compute01 on
                     op1: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:05:00, expected by 10:15:00
            10:05:00 > see rack1compute01 booted
                     op1: Rejoin seen
                     rack1compute01 <- uncordon for op1
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:05:00, expected by 10:05:30
                     op1: Uncordon seen
                     op1 Succeeded: `rack1compute01` was restarted
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_bmc_silent_to_the_end_fails_the_operation_without_guessing() {
    check(
        "
        rack1compute01 compute on ready
        > alice power-off rack1compute01
        > fault rack1compute01 unreachable
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
            10:00:00 > fault rack1compute01 unreachable
                     rack1compute01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > wait 40m
            10:40:00 rack1compute01 <- uncordon for its holds
                     op1 Failed: power-off failed: Power Off did not end in time; it waited for the BMC (unreachable: as the story says). Left behind: power unknown, the BMC is unreachable; holds none
                       next: rackwright bmm show rack1compute01
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00; the node to be uncordoned since 10:40:00, expected by 10:40:30
                     rack1compute01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00
                     rack1compute01 is late
        "#]],
    );
}

#[test]
fn a_busy_bmc_is_asked_again_with_growing_pauses() {
    check(
        "
        rack1compute01 compute on ready
        undercloud lazy
        > alice power-off rack1compute01 skip-shutdown
        > refuse rack1compute01 busy
        > see rack1compute01 cordoned
        > wait 1s
        > wait 1s
        > wait 3s
        > wait 1s
        > obey rack1compute01
        > wait 7s
        > wait 1s
        > see rack1compute01 off
        ",
        expect![[r#"
            10:00:00 > alice power-off rack1compute01 skip-shutdown
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
            10:00:00 > refuse rack1compute01 busy
            10:00:00 > see rack1compute01 cordoned
                     op1: Cordon seen
                     rack1compute01 <- forced power-off for op1
                     rack1compute01 waits for the effect of the forced power-off since 10:00:00, expected by 10:03:00
                     op1: forced power-off was answered: busy: as the story says (arrived: No)
                     rack1compute01 waits for the BMC (busy: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > wait 1s
            10:00:01 > wait 1s
            10:00:02 rack1compute01 <- forced power-off for op1, attempt 2
                     rack1compute01 waits for the effect of the forced power-off (attempt 2) since 10:00:00, expected by 10:03:00
                     op1: forced power-off was answered: busy: as the story says (arrived: No)
                     rack1compute01 waits for the BMC (busy: as the story says) since 10:00:02, expected by 10:02:02
            10:00:02 > wait 3s
            10:00:05 rack1compute01 waits for the BMC (busy: as the story says) since 10:00:00, expected by 10:02:00
            10:00:05 > wait 1s
            10:00:06 rack1compute01 <- forced power-off for op1, attempt 3
                     rack1compute01 waits for the effect of the forced power-off (attempt 3) since 10:00:00, expected by 10:03:00
                     op1: forced power-off was answered: busy: as the story says (arrived: No)
                     rack1compute01 waits for the BMC (busy: as the story says) since 10:00:06, expected by 10:02:06
            10:00:06 > obey rack1compute01
            10:00:06 > wait 7s
            10:00:13 rack1compute01 waits for the BMC (busy: as the story says) since 10:00:00, expected by 10:02:00
            10:00:13 > wait 1s
            10:00:14 rack1compute01 <- forced power-off for op1, attempt 4
                     rack1compute01 waits for the effect of the forced power-off (attempt 4) since 10:00:00, expected by 10:03:00
            10:00:14 > see rack1compute01 off
                     op1: Power Off seen
                     op1 Succeeded: `rack1compute01` was powered off
                       next: rackwright bmm start rack1compute01
                     rack1compute01 is held by power-off by operation op1
                     rack1compute01 waits for a person: powered off by operation op1 since 10:00:14
        "#]],
    );
}

#[test]
fn a_bmc_that_denies_us_is_named_until_it_does_not() {
    check(
        "
        rack1compute01 compute off unknown
        > refuse rack1compute01 denied
        > alice start rack1compute01
        > wait 5s
        > obey rack1compute01
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > refuse rack1compute01 denied
            10:00:00 > alice start rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
                     op1: power-on was answered: denied: as the story says (arrived: No)
                     rack1compute01 waits for the BMC (denied: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > wait 5s
            10:00:05 > obey rack1compute01
            10:00:05 > wait 1m
            10:01:00 rack1compute01 <- power-on for op1, attempt 2
                     rack1compute01 waits for the effect of the power-on (attempt 2) since 10:00:00, expected by 10:02:00
        "#]],
    );
}

#[test]
fn a_lost_answer_is_looked_after_and_asked_again_only_after_the_settle_time() {
    check(
        "
        rack1compute01 compute off unknown
        > refuse rack1compute01 unreachable maybe
        > alice start rack1compute01
        > obey rack1compute01
        > wait 1m
        > wait 1m
        > see rack1compute01 on
        ",
        expect![[r#"
            10:00:00 > refuse rack1compute01 unreachable maybe
            10:00:00 > alice start rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
                     op1: power-on was answered: unreachable: as the story says (arrived: Maybe)
                     rack1compute01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > obey rack1compute01
            10:00:00 > wait 1m
            10:00:20 rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:01:00 > wait 1m
            10:02:00 rack1compute01 <- power-on for op1, attempt 2
                     rack1compute01 waits for the effect of the power-on (attempt 2) since 10:00:00, expected by 10:02:00
            10:02:00 > see rack1compute01 on
                     op1: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:02:00, expected by 10:12:00
        "#]],
    );
}

#[test]
fn a_lost_answer_to_a_shutdown_is_asked_gently_again_before_any_force() {
    check(
        "
        rack1compute01 compute on ready
        undercloud lazy
        > alice power-off rack1compute01
        > refuse rack1compute01 garbled maybe
        > see rack1compute01 cordoned
        > obey rack1compute01
        > wait 3m
        > see rack1compute01 off
        > wait 2m
        ",
        expect![[r#"
            10:00:00 > alice power-off rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
            10:00:00 > refuse rack1compute01 garbled maybe
            10:00:00 > see rack1compute01 cordoned
                     op1: Cordon seen
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
                     op1: graceful shutdown was answered: garbled: as the story says (arrived: Maybe)
                     rack1compute01 waits for the BMC (garbled: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > obey rack1compute01
            10:00:00 > wait 3m
            10:00:20 rack1compute01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
            10:02:00 rack1compute01 <- graceful shutdown for op1, attempt 2
                     rack1compute01 waits for the effect of the graceful shutdown (attempt 2) since 10:00:00, expected by 10:03:00
            10:03:00 > see rack1compute01 off
                     rack1compute01 waits for an earlier power-off, which the BMC may still obey since 10:02:00, expected by 10:04:00
            10:03:00 > wait 2m
            10:04:00 op1: Power Off seen
                     op1 Succeeded: `rack1compute01` was powered off
                       next: rackwright bmm start rack1compute01
                     rack1compute01 is held by power-off by operation op1
                     rack1compute01 waits for a person: powered off by operation op1 since 10:03:00
        "#]],
    );
}

#[test]
fn a_shutdown_whose_answers_are_always_lost_is_forced_in_the_end() {
    check(
        "
        rack1compute01 compute on ready
        undercloud lazy
        > alice power-off rack1compute01
        > refuse rack1compute01 garbled maybe
        > see rack1compute01 cordoned
        > wait 17m
        ",
        expect![[r#"
            10:00:00 > alice power-off rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
            10:00:00 > refuse rack1compute01 garbled maybe
            10:00:00 > see rack1compute01 cordoned
                     op1: Cordon seen
                     rack1compute01 <- graceful shutdown for op1
                     rack1compute01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
                     op1: graceful shutdown was answered: garbled: as the story says (arrived: Maybe)
                     rack1compute01 waits for the BMC (garbled: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > wait 17m
            10:00:20 rack1compute01 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
            10:02:00 rack1compute01 <- graceful shutdown for op1, attempt 2
                     rack1compute01 waits for the effect of the graceful shutdown (attempt 2) since 10:00:00, expected by 10:03:00
                     op1: graceful shutdown was answered: garbled: as the story says (arrived: Maybe)
                     rack1compute01 waits for the BMC (garbled: as the story says) since 10:02:00, expected by 10:04:00
            10:02:20 rack1compute01 waits for the effect of the graceful shutdown (attempt 2) since 10:00:00, expected by 10:03:00
            10:04:00 rack1compute01 <- graceful shutdown for op1, attempt 3
                     rack1compute01 waits for the effect of the graceful shutdown (attempt 3) since 10:00:00, expected by 10:03:00
                     op1: graceful shutdown was answered: garbled: as the story says (arrived: Maybe)
                     rack1compute01 waits for the BMC (garbled: as the story says) since 10:04:00, expected by 10:06:00
            10:04:20 rack1compute01 waits for the effect of the graceful shutdown (attempt 3) since 10:00:00, expected by 10:03:00
            10:14:00 rack1compute01 <- forced power-off for op1
                     rack1compute01 waits for the effect of the forced power-off since 10:14:00, expected by 10:17:00
                     op1: forced power-off was answered: garbled: as the story says (arrived: Maybe)
                     rack1compute01 waits for the BMC (garbled: as the story says) since 10:14:00, expected by 10:16:00
            10:14:20 rack1compute01 waits for the effect of the forced power-off since 10:14:00, expected by 10:17:00
            10:16:00 rack1compute01 <- forced power-off for op1, attempt 2
                     rack1compute01 waits for the effect of the forced power-off (attempt 2) since 10:14:00, expected by 10:17:00
                     op1: forced power-off was answered: garbled: as the story says (arrived: Maybe)
                     rack1compute01 waits for the BMC (garbled: as the story says) since 10:16:00, expected by 10:18:00
            10:16:20 rack1compute01 waits for the effect of the forced power-off (attempt 2) since 10:14:00, expected by 10:17:00
        "#]],
    );
}

#[test]
fn what_a_bmc_cannot_do_at_all_fails_at_once() {
    check(
        "
        rack1compute01 compute off unknown
        > refuse rack1compute01 unsupported
        > alice start rack1compute01
        > wait 1s
        ",
        expect![[r#"
            10:00:00 > refuse rack1compute01 unsupported
            10:00:00 > alice start rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
                     op1: power-on was answered: unsupported: as the story says (arrived: No)
            10:00:00 > wait 1s
            10:00:01 op1 Failed: start failed: the power-on was answered: unsupported: as the story says. Left behind: power Off; holds none
                       next: rackwright bmm start rack1compute01
                     rack1compute01 waits for a person: off, but expected to be on since 10:00:00
        "#]],
    );
}

#[test]
fn a_refusal_of_what_is_so_already_is_no_failure() {
    check(
        "
        rack1compute01 compute off unknown
        > hang rack1compute01
        > alice start rack1compute01
        > pause 5s
        > answer rack1compute01 unsupported
        > pause 1s
        > see rack1compute01 on
        > see rack1compute01 booted
        ",
        expect![[r#"
            10:00:00 > hang rack1compute01
            10:00:00 > alice start rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > pause 5s
            10:00:05 > answer rack1compute01 unsupported
                     op1: power-on was answered: unsupported: as the story says (arrived: No)
            10:00:05 > pause 1s
            10:00:06 > see rack1compute01 on
                     op1: Power On seen
                     rack1compute01 waits for the node to rejoin since 10:00:06, expected by 10:10:06
            10:00:06 > see rack1compute01 booted
                     op1: Rejoin seen
                     op1: Uncordon seen
                     op1 Succeeded: `rack1compute01` was started
                     rack1compute01 waits for nothing
        "#]],
    );
}
