//! An undercloud that does not answer, or refuses one node.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_keeper_that_starts_while_the_undercloud_is_silent_says_so_of_every_machine() {
    check(
        "
        rack1compute01 compute on ready
        rack2compute01 compute off unknown
        > undercloud silent
        > crash
        > look
        > wait 3m
        > undercloud answers
        ",
        expect![[r#"
            10:00:00 > undercloud silent
            10:00:00 > crash
                     rack2compute01 waits for a fresh look at the BMC since 10:00:00, expected by 10:01:00; a fresh look at the undercloud since 10:00:00, expected by 10:01:00
            10:00:00 > look
                     rack1compute01 waits for a fresh look at the undercloud since 10:00:00, expected by 10:01:00
                     rack2compute01 waits for a person: off, but expected to be on since 10:00:00; a fresh look at the undercloud since 10:00:00, expected by 10:01:00
            10:00:00 > wait 3m
            10:02:00 the cluster is Timeout
            10:03:00 rack1compute01 is late
                     rack2compute01 is late
            10:03:00 > undercloud answers
                     the cluster is Connected
                     rack1compute01 waits for nothing
                     rack2compute01 waits for a person: off, but expected to be on since 10:00:00
        "#]],
    );
}

#[test]
fn a_silent_undercloud_delays_the_rejoin_only() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack1compute01
        > undercloud silent
        > see rack1compute01 off
        > see rack1compute01 on
        > wait 6m
        > undercloud answers
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
            10:00:00 > undercloud silent
            10:00:00 > see rack1compute01 off
                     op1: Power Off seen
                     rack1compute01 <- power-on for op1
                     rack1compute01 waits for the effect of the power-on since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1compute01 on
                     op1: Power On seen
                     rack1compute01 waits for the undercloud (unreachable: connection refused) since 10:00:00, expected by 10:02:00
            10:00:00 > wait 6m
            10:02:00 the cluster is Timeout
            10:05:00 the cluster is Disconnected
            10:06:00 rack1compute01 is late
            10:06:00 > undercloud answers
                     the cluster is Connected
                     rack1compute01 waits for the node to rejoin since 10:00:00, expected by 10:10:00
            10:06:00 > see rack1compute01 booted
                     op1: Rejoin seen
                     rack1compute01 <- uncordon for op1
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:06:00, expected by 10:06:30
                     op1: Uncordon seen
                     op1 Succeeded: `rack1compute01` was restarted
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_node_that_may_not_be_patched_is_its_own_trouble_and_not_the_whole_sites() {
    check(
        "
        rack1compute01 compute on ready
        rack2compute01 compute on ready
        > refuse rack1compute01 denied
        > alice cordon rack1compute01
        > bob cordon rack2compute01
        > wait 7s
        > obey rack1compute01
        > wait 8s
        ",
        expect![[r#"
            10:00:00 > refuse rack1compute01 denied
            10:00:00 > alice cordon rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by alice
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: cordon was answered: denied: as the story says (arrived: No)
                     rack1compute01 waits for the undercloud (denied: as the story says) since 10:00:00, expected by 10:00:30
            10:00:00 > bob cordon rack2compute01
                     accepted as op2
                     op2: found boot1
                     rack2compute01 <- cordon for op2
                     rack2compute01 is held by bob
                     rack2compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op2: Cordon seen
                     op2 Succeeded: `rack2compute01` was cordoned
                     rack2compute01 waits for nothing
            10:00:00 > wait 7s
            10:00:02 rack1compute01 <- cordon for op1, attempt 2
                     rack1compute01 waits for the effect of the cordon (attempt 2) since 10:00:00, expected by 10:00:30
                     op1: cordon was answered: denied: as the story says (arrived: No)
                     rack1compute01 waits for the undercloud (denied: as the story says) since 10:00:00, expected by 10:00:30
            10:00:06 rack1compute01 <- cordon for op1, attempt 3
                     rack1compute01 waits for the effect of the cordon (attempt 3) since 10:00:00, expected by 10:00:30
                     op1: cordon was answered: denied: as the story says (arrived: No)
                     rack1compute01 waits for the undercloud (denied: as the story says) since 10:00:00, expected by 10:00:30
            10:00:07 > obey rack1compute01
            10:00:07 > wait 8s
            10:00:14 rack1compute01 <- cordon for op1, attempt 4
                     rack1compute01 waits for the effect of the cordon (attempt 4) since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     op1 Succeeded: `rack1compute01` was cordoned
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn a_patch_whose_answer_is_garbled_names_the_fault_while_its_effect_may_still_show() {
    check(
        "
        rack1compute01 compute on ready
        > refuse rack1compute01 garbled maybe
        > alice cordon rack1compute01
        > obey rack1compute01
        > wait 29s
        > wait 1s
        ",
        expect![[r#"
            10:00:00 > refuse rack1compute01 garbled maybe
            10:00:00 > alice cordon rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by alice
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: cordon was answered: garbled: as the story says (arrived: Maybe)
                     rack1compute01 waits for the undercloud (garbled: as the story says) since 10:00:00, expected by 10:00:30
            10:00:00 > obey rack1compute01
            10:00:00 > wait 29s
            10:00:29 > wait 1s
            10:00:30 rack1compute01 <- cordon for op1, attempt 2
                     rack1compute01 waits for the effect of the cordon (attempt 2) since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     op1 Succeeded: `rack1compute01` was cordoned
                     rack1compute01 waits for nothing
        "#]],
    );
}
