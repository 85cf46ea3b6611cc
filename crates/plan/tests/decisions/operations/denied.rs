//! A BMC that refuses our credentials: the action fails, the machine does not.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_bmc_that_refuses_our_credentials_fails_the_action_and_not_the_machine() {
    check(
        "
        rack1compute01 compute on ready
        > fault rack1compute01 denied
        > alice power-off rack1compute01
        > wait 45m
        > see rack1compute01 on
        ",
        expect![[r#"
            10:00:00 > fault rack1compute01 denied
                     rack1compute01 waits for the BMC (denied: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > alice power-off rack1compute01
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     rack1compute01 waits for the BMC (denied: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > wait 45m
            10:40:00 rack1compute01 <- uncordon for its holds
                     op1 Failed: power-off failed: Power Off did not end in time; it waited for the BMC (denied: as the story says). Left behind: power unknown, the BMC refuses our credentials; holds none; no VM is remembered for a later start
                       next: rackwright bmm show rack1compute01
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the BMC (denied: as the story says) since 10:00:00, expected by 10:02:00; the node to be uncordoned since 10:40:00, expected by 10:40:30
                     rack1compute01 waits for the BMC (denied: as the story says) since 10:00:00, expected by 10:02:00
            10:45:00 rack1compute01 is late
            10:45:00 > see rack1compute01 on
                     rack1compute01 waits for nothing
        "#]],
    );
}
