//! A BMC that refuses our credentials, or that we would not talk to: the action fails, the machine does not.

use expect_test::expect;

use crate::script::{Play, check};

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
                     op1 Failed: power-off failed: Power Off did not end in time; it waited for the BMC (denied: as the story says). Left behind: power unknown, the BMC refuses our credentials; holds none
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

#[test]
fn what_is_said_of_a_bmc_that_we_cannot_log_in_to_names_whose_fault_it_is() {
    let end = |fault: &str| {
        let mut play = Play::of(&format!(
            "
            rack1compute01 compute on ready
            > fault rack1compute01 {fault}
            > alice power-off rack1compute01
            > wait 45m
            "
        ));
        play.run();
        play.transcript.text.lines().find(|line| line.contains("op1 Failed")).unwrap_or("it goes on").trim().to_owned()
    };
    expect!["op1 Failed: power-off failed: Power Off did not end in time; it waited for the BMC (untrusted: as the story says). Left behind: power unknown, the BMC's certificate is not trusted; holds none"].assert_eq(&end("untrusted"));
    expect!["op1 Failed: power-off failed: Power Off did not end in time; it waited for the BMC (no login: as the story says). Left behind: power unknown, our own login for the BMC cannot be read; holds none"].assert_eq(&end("no-login"));
}
