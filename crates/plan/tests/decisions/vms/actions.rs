//! What people ask of virtual machines, and what comes of it.

use expect_test::expect;

use super::script::check;

#[test]
fn a_power_off_shuts_the_system_down_and_is_over_when_nothing_runs() {
    check(
        "
        machine rack1compute01
        vm fw running rack1compute01
        > alice power-off fw
        > wait 1m
        > alice power-off fw
        ",
        expect![[r#"
            10:00:00 > alice power-off fw
                     accepted as op1
                     op1: asks for the shutdown of `fw`
                     op1 waits for 1 virtual machine to stop: fw since 10:00:00
                     fw: Succeeded, stopping on rack1compute01, edition 1
            10:00:00 > wait 1m
            10:00:30 op1: Stop seen
                     op1 Succeeded: `fw` was powered off
                       next: rackwright vm start fw
                     fw: Succeeded, stopped on rack1compute01, edition 1
            10:01:00 > alice power-off fw
                     accepted as op2
                     op2: Stop seen
                     op2 Succeeded: `fw` is off, as it was
                       next: rackwright vm start fw
        "#]],
    );
}

#[test]
fn a_system_that_does_not_listen_is_stopped_without_a_shutdown_after_ten_minutes() {
    check(
        "
        machine rack1compute01
        vm fw running rack1compute01
        > fw deaf
        > alice power-off fw
        > wait 11m
        ",
        expect![[r#"
            10:00:00 > fw deaf
            10:00:00 > alice power-off fw
                     accepted as op1
                     op1: asks for the shutdown of `fw`
                     op1 waits for 1 virtual machine to stop: fw since 10:00:00
                     fw: Succeeded, stopping on rack1compute01, edition 1
            10:00:00 > wait 11m
            10:10:00 op1: asks for the forced stop of `fw`
            10:10:03 op1: Stop seen
                     op1 Succeeded: `fw` was powered off; it did not shut down, and was forced off
                       next: rackwright vm start fw
                     fw: Succeeded, stopped on rack1compute01, edition 1
        "#]],
    );
}

#[test]
fn a_power_off_that_skips_the_shutdown_does_not_ask_gently() {
    check(
        "
        machine rack1compute01
        vm fw running rack1compute01
        > alice power-off fw skip-shutdown
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > alice power-off fw skip-shutdown
                     accepted as op1
                     op1: asks for the forced stop of `fw`
                     op1 waits for 1 virtual machine to stop: fw since 10:00:00
                     fw: Succeeded, stopping on rack1compute01, edition 1
            10:00:00 > wait 1m
            10:00:03 op1: Stop seen
                     op1 Succeeded: `fw` was powered off
                       next: rackwright vm start fw
                     fw: Succeeded, stopped on rack1compute01, edition 1
        "#]],
    );
}

#[test]
fn a_start_is_over_when_it_runs_and_one_that_runs_is_left_alone() {
    check(
        "
        machine rack1compute01
        vm fw stopped rack1compute01
        > alice start fw
        > wait 1m
        > alice start fw
        ",
        expect![[r#"
            10:00:00 > alice start fw
                     accepted as op1
                     op1: asks for the start of `fw`
                     op1 waits for `fw` to be running since 10:00:00
                     fw: Succeeded, starting, edition 1
            10:00:00 > wait 1m
            10:00:20 op1: Start seen
                     op1 Succeeded: `fw` was started
                     fw: Succeeded, running on rack1compute01, edition 1
            10:01:00 > alice start fw
                     accepted as op2
                     op2: Start seen
                     op2 Succeeded: `fw` is on, as it was
        "#]],
    );
}

#[test]
fn a_restart_is_stopped_seen_stopped_started_and_seen_to_run() {
    check(
        "
        machine rack1compute01
        vm fw running rack1compute01
        > alice restart fw
        > wait 2m
        ",
        expect![[r#"
            10:00:00 > alice restart fw
                     accepted as op1
                     op1: asks for the shutdown of `fw`
                     op1 waits for 1 virtual machine to stop: fw since 10:00:00
                     fw: Succeeded, stopping on rack1compute01, edition 1
            10:00:00 > wait 2m
            10:00:30 op1: Stop seen
                     op1: asks for the start of `fw`
                     op1 waits for `fw` to be running since 10:00:30
                     fw: Succeeded, stopped on rack1compute01, edition 1
                     fw: Succeeded, starting on rack1compute01, edition 1
            10:00:50 op1: Start seen
                     op1 Succeeded: `fw` was restarted
                     fw: Succeeded, running on rack1compute01, edition 1
        "#]],
    );
}

#[test]
fn a_reimage_throws_the_disk_away_while_nothing_runs() {
    check(
        "
        machine rack1compute01
        vm fw running rack1compute01
        > alice reimage fw
        > wait 2m
        ",
        expect![[r#"
            10:00:00 > alice reimage fw
                     accepted as op1
                     op1: asks for the shutdown of `fw`
                     op1 waits for 1 virtual machine to stop: fw since 10:00:00
                     fw: Succeeded, stopping on rack1compute01, edition 1
            10:00:00 > wait 2m
            10:00:30 op1: Stop seen
                     op1: asks for the end of the OS disk of `fw`
                     op1 waits for the effect of the end of the OS disk of `fw` since 10:00:30
                     fw: Succeeded, stopped on rack1compute01, edition 1
            10:00:33 op1: Discard OS Disk seen
                     op1: asks for the start of `fw`
                     op1 waits for `fw` to be running since 10:00:33
                     fw: Succeeded, starting on rack1compute01, edition 1
            10:00:53 op1: Start seen
                     op1 Succeeded: `fw` was reimaged
                     fw: Succeeded, running on rack1compute01, edition 1
        "#]],
    );
}

#[test]
fn an_ephemeral_disk_is_made_anew_by_the_start_alone() {
    check(
        "
        machine rack1compute01
        > alice create fw disk=ephemeral
        > wait 1m
        > alice reimage fw
        > wait 2m
        ",
        expect![[r#"
            10:00:00 > alice create fw disk=ephemeral
                     accepted as op1
                     op1: asks for the creation of `fw`
                     op1 waits for the effect of the creation of `fw` since 10:00:00
                     fw: Provisioning, unseen, edition 1
                     op1: Create seen
                     op1 waits for `fw` to be running since 10:00:00
                     fw: Provisioning, starting, edition 1
            10:00:00 > wait 1m
            10:00:20 op1: Start seen
                     op1 Succeeded: `fw` was created
                     fw: Succeeded, running on rack1compute01, edition 1
            10:01:00 > alice reimage fw
                     accepted as op2
                     op2: asks for the shutdown of `fw`
                     op2 waits for 1 virtual machine to stop: fw since 10:01:00
                     fw: Succeeded, stopping on rack1compute01, edition 1
            10:01:00 > wait 2m
            10:01:30 op2: Stop seen
                     op2: Discard OS Disk left out: its OS disk is ephemeral, and made anew with every start
                     op2: asks for the start of `fw`
                     op2 waits for `fw` to be running since 10:01:30
                     fw: Succeeded, stopped on rack1compute01, edition 1
                     fw: Succeeded, starting on rack1compute01, edition 1
            10:01:50 op2: Start seen
                     op2 Succeeded: `fw` was reimaged; Discard OS Disk was left out: its OS disk is ephemeral, and made anew with every start
                     fw: Succeeded, running on rack1compute01, edition 1
        "#]],
    );
}

#[test]
fn a_delete_is_over_when_the_object_is_gone_and_so_is_the_document() {
    check(
        "
        machine rack1compute01
        vm fw running rack1compute01
        > alice delete fw
        > wait 10s
        > alice start fw
        ",
        expect![[r#"
            10:00:00 > alice delete fw
                     accepted as op1
                     op1: asks for the deletion of `fw`
                     op1 waits for the effect of the deletion of `fw` since 10:00:00
                     fw: Succeeded, being deleted on rack1compute01, edition 1
            10:00:00 > wait 10s
            10:00:03 op1: Delete seen
                     op1 Succeeded: `fw` was deleted
                     fw is forgotten
            10:00:10 > alice start fw
                     refused: there is no virtual machine `fw`
                       rule vm-exists: none of the 0 virtual machines of cluster `site1` has that name
                       remedy: `rackwright vm list` names them
        "#]],
    );
}

#[test]
fn one_that_no_machine_can_take_waits_with_the_reason_and_fails_with_it() {
    check(
        "
        machine rack1compute01 held
        vm fw running rack1compute01
        > fw stops
        > fw finds-no-machine 0/4 nodes are available
        > alice start fw
        > wait 16m
        ",
        expect![[r#"
            10:00:00 > fw stops
                     fw: Succeeded, stopped on rack1compute01, edition 1
            10:00:00 > fw finds-no-machine 0/4 nodes are available
            10:00:00 > alice start fw
                     accepted as op1
                     op1: asks for the start of `fw`
                     op1 waits for `fw` to be running since 10:00:00
                     op1 waits for `fw` to run (0/4 nodes are available; it ran last on `rack1compute01`, which is held by bob (cordoned by a person)) since 10:00:00
                     fw: Succeeded, without a machine that can take it on rack1compute01, edition 1
            10:00:00 > wait 16m
            10:15:00 op1 Failed (VmFailed): start failed: `fw` did not run in time: 0/4 nodes are available; it ran last on `rack1compute01`, which is held by bob (cordoned by a person). Left behind: without a machine that can take it
                       next: rackwright vm show fw
        "#]],
    );
}

#[test]
fn one_whose_machine_has_died_is_not_taken_for_running() {
    check(
        "
        machine rack1compute01
        vm fw running rack1compute01
        > rack1compute01 dies
        > alice start fw
        > wait 16m
        ",
        expect![[r#"
            10:00:00 > rack1compute01 dies
            10:00:00 > alice start fw
                     accepted as op1
                     op1 waits for `fw` to run (its machine `rack1compute01` is off) since 10:00:00
            10:00:00 > wait 16m
            10:15:00 op1 Failed (VmFailed): start failed: `fw` did not run in time: its machine `rack1compute01` is off. Left behind: unknown
                       next: rackwright vm show fw
        "#]],
    );
}

#[test]
fn a_cancelled_restart_ends_where_it_is_and_says_how_it_was_left() {
    check(
        "
        machine rack1compute01
        vm fw running rack1compute01
        > fw deaf
        > alice restart fw
        > wait 10s
        > bob cancel op1
        > wait 10s
        ",
        expect![[r#"
            10:00:00 > fw deaf
            10:00:00 > alice restart fw
                     accepted as op1
                     op1: asks for the shutdown of `fw`
                     op1 waits for 1 virtual machine to stop: fw since 10:00:00
                     fw: Succeeded, stopping on rack1compute01, edition 1
            10:00:00 > wait 10s
            10:00:10 > bob cancel op1
                     done
                     op1 Canceled: cancelled by bob during Stop. Left behind: stopping. A shutdown was asked for and may still happen.
                       next: rackwright vm show fw
            10:00:10 > wait 10s
        "#]],
    );
}

#[test]
fn what_a_person_does_to_it_makes_an_emptied_machine_forget_it() {
    check(
        "
        machine rack1compute01 held
        vm fw stopped rack1compute01
        vm db stopped rack1compute01
        > rack1compute01 remembers fw
        > alice power-off fw
        > rack1compute01 remembers db
        > alice start db
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > rack1compute01 remembers fw
            10:00:00 > alice power-off fw
                     accepted as op1
                     op1: Stop seen
                     op1 Succeeded: `fw` is off, as it was
                       next: rackwright vm start fw
                     rack1compute01 remembers 0 of 1
            10:00:00 > rack1compute01 remembers db
            10:00:00 > alice start db
                     accepted as op2
                     op2: asks for the start of `db`
                     op2 waits for `db` to be running since 10:00:00
                     rack1compute01 remembers 0 of 1
                     db: Succeeded, starting, edition 1
            10:00:00 > wait 1m
            10:00:20 op2: Start seen
                     op2 Succeeded: `db` was started
                     db: Succeeded, running on rack1compute01, edition 1
        "#]],
    );
}

#[test]
fn one_that_is_deleted_and_made_anew_in_between_is_another() {
    check(
        "
        machine rack1compute01
        vm fw running rack1compute01
        > fw deaf
        > alice restart fw
        > fw is-made-anew
        > wait 10s
        ",
        expect![[r#"
            10:00:00 > fw deaf
            10:00:00 > alice restart fw
                     accepted as op1
                     op1: asks for the shutdown of `fw`
                     op1 waits for 1 virtual machine to stop: fw since 10:00:00
                     fw: Succeeded, stopping on rack1compute01, edition 1
            10:00:00 > fw is-made-anew
                     op1 Failed (DeviceMissing): restart failed: `fw` was deleted, and another virtual machine of that name was made. Left behind: running
                       next: rackwright vm show fw
                     fw: Succeeded, running on rack1compute01, edition 1
            10:00:00 > wait 10s
        "#]],
    );
}
