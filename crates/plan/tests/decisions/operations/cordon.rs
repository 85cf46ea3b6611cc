//! Cordon and uncordon, and holds outside any operation.

use expect_test::expect;

use crate::script::check;

#[test]
fn cordon_and_uncordon() {
    check(
        "
        rack1compute01 compute on ready
        > alice cordon rack1compute01
        > alice uncordon rack1compute01
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
            10:00:00 > alice uncordon rack1compute01
                     accepted as op2
                     op2: found boot1
                     rack1compute01 <- uncordon for op2
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:00:00, expected by 10:00:30
                     op2: Uncordon seen
                     op2 Succeeded: `rack1compute01` was uncordoned
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn cordon_waits_for_its_effect_and_asks_again_after_the_settle_time() {
    check(
        "
        rack1compute01 compute on ready
        undercloud lazy
        > alice cordon rack1compute01
        > wait 40s
        > see rack1compute01 cordoned
        ",
        expect![[r#"
            10:00:00 > alice cordon rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by alice
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
            10:00:00 > wait 40s
            10:00:30 rack1compute01 <- cordon for op1, attempt 2
                     rack1compute01 waits for the effect of the cordon (attempt 2) since 10:00:00, expected by 10:00:30
            10:00:40 rack1compute01 is late
            10:00:40 > see rack1compute01 cordoned
                     op1: Cordon seen
                     op1 Succeeded: `rack1compute01` was cordoned
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_persons_uncordon_lifts_a_cordon_made_by_hand() {
    check(
        "
        rack1compute01 compute on ready cordoned by-hand
        > alice uncordon rack1compute01
        ",
        expect![[r#"
            10:00:00 > alice uncordon rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- uncordon for op1
                     rack1compute01 waits for the effect of the uncordon since 10:00:00, expected by 10:00:30
                     op1: Uncordon seen
                     op1 Succeeded: `rack1compute01` was uncordoned
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_held_node_that_somebody_uncordons_is_cordoned_again() {
    check(
        "
        rack1compute01 compute on ready cordoned
        > see rack1compute01 uncordoned
        ",
        expect![[r#"
            10:00:00 > see rack1compute01 uncordoned
                     rack1compute01 <- cordon for its holds
                     rack1compute01 waits for the node to be cordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_hold_that_cannot_be_applied_says_so_while_the_undercloud_is_silent() {
    check(
        "
        rack1compute01 compute on ready cordoned
        undercloud lazy
        > see rack1compute01 uncordoned
        > undercloud silent
        > wait 1m
        > undercloud answers
        > see rack1compute01 cordoned
        ",
        expect![[r#"
            10:00:00 > see rack1compute01 uncordoned
                     rack1compute01 <- cordon for its holds
                     rack1compute01 waits for the node to be cordoned since 10:00:00, expected by 10:00:30
            10:00:00 > undercloud silent
            10:00:00 > wait 1m
            10:01:00 rack1compute01 is late
            10:01:00 > undercloud answers
                     rack1compute01 <- cordon for its holds, attempt 2
            10:01:00 > see rack1compute01 cordoned
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn uncordon_does_not_lift_the_hold_of_a_power_off() {
    check(
        "
        rack1compute01 compute on ready
        > alice power-off rack1compute01
        > see rack1compute01 off
        > alice uncordon rack1compute01
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
            10:00:00 > alice uncordon rack1compute01
                     accepted as op2
                     op2: found boot1
                     op2: Uncordon seen
                     op2 Succeeded: `rack1compute01` was uncordoned; it stays cordoned, held by power-off by operation op1
        "#]],
    );
}

#[test]
fn cordon_of_a_machine_without_a_node_waits_and_fails_in_the_end() {
    check(
        "
        rack1compute01 compute on
        > alice cordon rack1compute01
        > wait 10m
        ",
        expect![[r#"
            10:00:00 > alice cordon rack1compute01
                     accepted as op1
                     op1: found no boot
                     rack1compute01 is held by alice
            10:00:00 > wait 10m
            10:10:00 op1 Failed: cordon failed: Cordon did not end in time; it waited for the node to become ready. Left behind: power On; holds alice
                       next: rackwright bmm uncordon rack1compute01
                     rack1compute01 waits for the node to become ready since 10:10:00, expected by 10:20:00
        "#]],
    );
}

#[test]
fn nothing_is_sent_to_an_unmanaged_machine() {
    check(
        "
        rack1compute01 compute on ready cordoned
        > alice unmanage rack1compute01 broken fan
        > see rack1compute01 uncordoned
        > bob restart rack1compute01
        > wait 1m
        > alice manage rack1compute01 mended
        ",
        expect![[r#"
            10:00:00 > alice unmanage rack1compute01 broken fan
                     done
                     rack1compute01 waits for a person: unmanaged since 10:00:00
            10:00:00 > see rack1compute01 uncordoned
            10:00:00 > bob restart rack1compute01
                     refused: `rack1compute01` cannot be restarted
                       rule machine-managed: alice took `rack1compute01` out of management at 10:00:00Z: broken fan
                       remedy: `rackwright bmm manage rack1compute01 --reason …` lets it be managed again
            10:00:00 > wait 1m
            10:01:00 > alice manage rack1compute01 mended
                     done
                     rack1compute01 <- cordon for its holds
                     rack1compute01 waits for the node to be cordoned since 10:01:00, expected by 10:01:30
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_hold_that_the_undercloud_refuses_is_asked_for_with_growing_pauses_and_says_why() {
    check(
        "
        rack1compute01 compute on ready cordoned
        > refuse rack1compute01 denied
        > see rack1compute01 uncordoned
        > wait 3m
        > obey rack1compute01
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > refuse rack1compute01 denied
            10:00:00 > see rack1compute01 uncordoned
                     rack1compute01 <- cordon for its holds
                     rack1compute01 waits for the node to be cordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for the undercloud (denied: as the story says) since 10:00:00, expected by 10:00:30
            10:00:00 > wait 3m
            10:00:02 rack1compute01 <- cordon for its holds, attempt 2
                     rack1compute01 waits for the node to be cordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for the undercloud (denied: as the story says) since 10:00:00, expected by 10:00:30
            10:00:06 rack1compute01 <- cordon for its holds, attempt 3
                     rack1compute01 waits for the node to be cordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for the undercloud (denied: as the story says) since 10:00:00, expected by 10:00:30
            10:00:14 rack1compute01 <- cordon for its holds, attempt 4
                     rack1compute01 waits for the node to be cordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for the undercloud (denied: as the story says) since 10:00:00, expected by 10:00:30
            10:00:30 rack1compute01 <- cordon for its holds, attempt 5
                     rack1compute01 waits for the node to be cordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for the undercloud (denied: as the story says) since 10:00:00, expected by 10:00:30
            10:01:02 rack1compute01 <- cordon for its holds, attempt 6
                     rack1compute01 waits for the node to be cordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for the undercloud (denied: as the story says) since 10:00:00, expected by 10:00:30
            10:02:02 rack1compute01 <- cordon for its holds, attempt 7
                     rack1compute01 waits for the node to be cordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for the undercloud (denied: as the story says) since 10:00:00, expected by 10:00:30
            10:03:00 rack1compute01 is late
            10:03:00 > obey rack1compute01
            10:03:00 > wait 1m
            10:03:02 rack1compute01 <- cordon for its holds, attempt 8
                     rack1compute01 waits for the node to be cordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_hold_on_a_node_that_the_undercloud_does_not_know_is_hardly_asked_for_again() {
    check(
        "
        rack1compute01 compute on ready cordoned
        > refuse rack1compute01 missing
        > see rack1compute01 uncordoned
        > wait 40m
        ",
        expect![[r#"
            10:00:00 > refuse rack1compute01 missing
            10:00:00 > see rack1compute01 uncordoned
                     rack1compute01 <- cordon for its holds
                     rack1compute01 waits for the node to be cordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for the undercloud (missing: as the story says) since 10:00:00, expected by 10:00:30
            10:00:00 > wait 40m
            10:01:00 rack1compute01 <- cordon for its holds, attempt 2
                     rack1compute01 waits for the node to be cordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for the undercloud (missing: as the story says) since 10:00:00, expected by 10:00:30
            10:03:00 rack1compute01 <- cordon for its holds, attempt 3
                     rack1compute01 waits for the node to be cordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for the undercloud (missing: as the story says) since 10:00:00, expected by 10:00:30
            10:07:00 rack1compute01 <- cordon for its holds, attempt 4
                     rack1compute01 waits for the node to be cordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for the undercloud (missing: as the story says) since 10:00:00, expected by 10:00:30
            10:15:00 rack1compute01 <- cordon for its holds, attempt 5
                     rack1compute01 waits for the node to be cordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for the undercloud (missing: as the story says) since 10:00:00, expected by 10:00:30
            10:31:00 rack1compute01 <- cordon for its holds, attempt 6
                     rack1compute01 waits for the node to be cordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for the undercloud (missing: as the story says) since 10:00:00, expected by 10:00:30
            10:40:00 rack1compute01 is late
        "#]],
    );
}
