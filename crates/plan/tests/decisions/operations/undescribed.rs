//! A machine that the site's description no longer names: nothing is asked of it, and nothing is promised.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_restart_of_a_machine_that_is_no_longer_described_fails_at_once_and_its_hold_stays() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack1compute01
        > without rack1compute01
        > look
        > bob power-off rack1compute01
        > with rack1compute01
        > look
        > see rack1compute01 on
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
            10:00:00 > without rack1compute01
                     op1 Failed: restart failed: `rack1compute01` is no longer described in the site file; put it back, and ask again. Left behind: power On; holds power-off by operation op1
                       next: rackwright bmm show rack1compute01
                     rack1compute01 is held by power-off by operation op1
                     rack1compute01 waits for a person: no longer described in the site file since 10:00:00
            10:00:00 > look
            10:00:00 > bob power-off rack1compute01
                     refused: `rack1compute01` cannot be powered off
                       rule machine-managed: `rack1compute01` is no longer described in the site file, and there is no way to its BMC
                       remedy: put it back into the site file
            10:00:00 > with rack1compute01
                     rack1compute01 waits for a fresh look at the BMC since 10:00:00, expected by 10:01:00; a fresh look at the undercloud since 10:00:00, expected by 10:01:00
            10:00:00 > look
                     rack1compute01 <- uncordon for its holds
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the node to be uncordoned since 10:00:00, expected by 10:00:30
                     rack1compute01 waits for nothing
            10:00:00 > see rack1compute01 on
        "#]],
    );
}
