//! BMCs that answer, and do not take a request, for as long as they are asked.

use expect_test::expect;

use crate::script::Play;

/// What was asked of the machine and how it ended, of a story that looks at the machine every half minute.
fn asks_and_end(begin: &str, half_minutes: usize) -> String {
    let mut play = Play::of(&format!("{begin}\n{}", "> wait 30s\n".repeat(half_minutes)));
    play.run();
    let text = play.transcript.text.lines();
    let told = text.filter(|line| line.contains(" <- ") || line.contains("op1 Failed"));
    told.map(|line| format!("{}\n", line.trim_start())).collect()
}

#[test]
fn a_bmc_that_never_takes_a_gentle_request_is_forced_when_the_gentle_time_is_over_and_not_before() {
    let told = asks_and_end(
        "
        rack1compute01 compute on ready
        undercloud lazy
        > alice power-off rack1compute01
        > refuse rack1compute01 busy
        > see rack1compute01 cordoned
        ",
        22,
    );
    expect![[r#"
        rack1compute01 <- cordon for op1
        rack1compute01 <- graceful shutdown for op1
        10:00:20 rack1compute01 <- graceful shutdown for op1, attempt 2
        10:00:30 rack1compute01 <- graceful shutdown for op1, attempt 3
        10:00:50 rack1compute01 <- graceful shutdown for op1, attempt 4
        10:01:06 rack1compute01 <- graceful shutdown for op1, attempt 5
        10:01:38 rack1compute01 <- graceful shutdown for op1, attempt 6
        10:02:38 rack1compute01 <- graceful shutdown for op1, attempt 7
        10:03:38 rack1compute01 <- graceful shutdown for op1, attempt 8
        10:04:38 rack1compute01 <- graceful shutdown for op1, attempt 9
        10:05:38 rack1compute01 <- graceful shutdown for op1, attempt 10
        10:06:38 rack1compute01 <- graceful shutdown for op1, attempt 11
        10:07:38 rack1compute01 <- graceful shutdown for op1, attempt 12
        10:08:38 rack1compute01 <- graceful shutdown for op1, attempt 13
        10:09:38 rack1compute01 <- graceful shutdown for op1, attempt 14
        10:10:00 rack1compute01 <- forced power-off for op1
        10:10:20 rack1compute01 <- forced power-off for op1, attempt 2
        10:10:30 rack1compute01 <- forced power-off for op1, attempt 3
        10:10:50 rack1compute01 <- forced power-off for op1, attempt 4
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_bmc_that_refuses_everything_ends_the_operation_at_its_deadline_in_the_bmcs_own_words() {
    let told = asks_and_end(
        "
        rack1compute01 compute on ready
        undercloud lazy
        > alice power-off rack1compute01 skip-shutdown
        > refuse rack1compute01 busy
        > see rack1compute01 cordoned
        ",
        82,
    );
    let asked = told.lines().filter(|line| line.contains("forced power-off")).count();
    assert!(asked < 50, "it is not pressed, but was asked {asked} times");
    expect!["op1 Failed: power-off failed: Power Off did not end in time; it waited for the BMC (busy: as the story says). Left behind: power On; holds none"].assert_eq(told.lines().find(|line| line.contains("Failed")).unwrap_or("it goes on"));
}

#[test]
fn a_bmc_that_was_away_between_two_refusals_is_asked_gently_again() {
    let told = asks_and_end(
        "
        rack1compute01 compute on ready
        undercloud lazy
        > alice power-off rack1compute01
        > refuse rack1compute01 busy
        > see rack1compute01 cordoned
        > fault rack1compute01 unreachable
        > wait 11m
        > obey rack1compute01
        > see rack1compute01 on
        ",
        2,
    );
    expect![[r#"
        rack1compute01 <- cordon for op1
        rack1compute01 <- graceful shutdown for op1
        rack1compute01 <- graceful shutdown for op1, attempt 2
    "#]]
    .assert_eq(&told);
}
