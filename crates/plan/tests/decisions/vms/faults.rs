//! KubeVirt refuses, is silent, or loses answers; the keeper dies over what it asked.

use expect_test::expect;

use super::script::check;

#[test]
fn what_is_refused_is_asked_for_again_with_growing_pauses() {
    check(
        "
        machine rack1compute01
        vm fw stopped rack1compute01
        > refuse busy
        > alice start fw
        > wait 10s
        > obey
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > refuse busy
            10:00:00 > alice start fw
                     accepted as op1
                     op1: asks for the start of `fw`
                     op1 waits for `fw` to be running since 10:00:00
                     op1: the start of `fw` was answered: busy: as the story says
                     op1 waits for the undercloud (busy: as the story says) since 10:00:00
            10:00:00 > wait 10s
            10:00:02 op1: asks for the start of `fw`, attempt 2
                     op1 waits for `fw` to be running since 10:00:00
                     op1: the start of `fw` was answered: busy: as the story says
                     op1 waits for the undercloud (busy: as the story says) since 10:00:00
            10:00:06 op1: asks for the start of `fw`, attempt 3
                     op1 waits for `fw` to be running since 10:00:00
                     op1: the start of `fw` was answered: busy: as the story says
                     op1 waits for the undercloud (busy: as the story says) since 10:00:00
            10:00:10 > obey
            10:00:10 > wait 1m
            10:00:14 op1: asks for the start of `fw`, attempt 4
                     op1 waits for `fw` to be running since 10:00:00
                     fw: Succeeded, starting, edition 1
            10:00:34 op1: Start seen
                     op1 Succeeded: `fw` was started
                     fw: Succeeded, running on rack1compute01, edition 1
        "#]],
    );
}

#[test]
fn a_lost_answer_is_looked_for_before_it_is_asked_again() {
    check(
        "
        machine rack1compute01
        vm fw stopped rack1compute01
        > refuse unreachable maybe
        > alice start fw
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > refuse unreachable maybe
            10:00:00 > alice start fw
                     accepted as op1
                     op1: asks for the start of `fw`
                     op1 waits for `fw` to be running since 10:00:00
                     op1: the start of `fw` was answered: unreachable: as the story says
                     fw: Succeeded, starting, edition 1
            10:00:00 > wait 1m
            10:00:20 op1: Start seen
                     op1 Succeeded: `fw` was started
                     fw: Succeeded, running on rack1compute01, edition 1
        "#]],
    );
}

#[test]
fn what_kubevirt_cannot_do_fails_at_once_and_a_shutdown_that_it_cannot_is_forced() {
    check(
        "
        machine rack1compute01
        vm fw stopped rack1compute01
        vm db running rack1compute01
        > refuse unsupported
        > alice start fw
        > hang
        > alice power-off db
        > answer unsupported
        > answer ok
        > wait 10s
        ",
        expect![[r#"
            10:00:00 > refuse unsupported
            10:00:00 > alice start fw
                     accepted as op1
                     op1: asks for the start of `fw`
                     op1 waits for `fw` to be running since 10:00:00
                     op1: the start of `fw` was answered: unsupported: as the story says
                     op1 Failed (DeviceUnsupported): start failed: the start of `fw` was answered: unsupported: as the story says. Left behind: stopped
                       next: rackwright vm show fw
            10:00:00 > hang
            10:00:00 > alice power-off db
                     accepted as op2
                     op2: asks for the shutdown of `db`
                     op2 waits for 1 virtual machine to stop: db since 10:00:00
            10:00:00 > answer unsupported
                     op2: the shutdown of `db` was answered: unsupported: as the story says
                     op2: asks for the forced stop of `db`
            10:00:00 > answer ok
                     db: Succeeded, stopping on rack1compute01, edition 1
            10:00:00 > wait 10s
            10:00:03 op2: Stop seen
                     op2 Succeeded: `db` was powered off; it did not shut down, and was forced off
                       next: rackwright vm start db
                     db: Succeeded, stopped on rack1compute01, edition 1
        "#]],
    );
}

#[test]
fn what_is_not_there_by_its_own_word_is_waited_for_and_then_believed() {
    check(
        "
        machine rack1compute01
        vm fw stopped rack1compute01
        > refuse missing
        > alice start fw
        > wait 31s
        ",
        expect![[r#"
            10:00:00 > refuse missing
            10:00:00 > alice start fw
                     accepted as op1
                     op1: asks for the start of `fw`
                     op1 waits for `fw` to be running since 10:00:00
                     op1: the start of `fw` was answered: missing: as the story says
            10:00:00 > wait 31s
            10:00:30 op1 Failed (DeviceMissing): start failed: the start of `fw` was answered: missing: as the story says. Left behind: stopped
                       next: rackwright vm show fw
        "#]],
    );
}

#[test]
fn nothing_is_asked_of_a_silent_undercloud_and_the_deadline_holds() {
    check(
        "
        machine rack1compute01
        vm fw stopped rack1compute01
        > undercloud silent
        > alice start fw
        > wait 16m
        ",
        expect![[r#"
            10:00:00 > undercloud silent
            10:00:00 > alice start fw
                     accepted as op1
                     op1 waits for the undercloud (unreachable: as the story says) since 10:00:00
            10:00:00 > wait 16m
            10:15:00 op1 Failed (DeadlineExceeded): start failed: Start did not end in time; it waited for the undercloud (unreachable: as the story says). Left behind: unknown
                       next: rackwright vm show fw
        "#]],
    );
}

#[test]
fn an_errand_under_way_keeps_a_cancel_waiting() {
    check(
        "
        machine rack1compute01
        vm fw running rack1compute01
        > hang
        > alice power-off fw
        > bob cancel op1
        > wait 1m
        > answer ok
        ",
        expect![[r#"
            10:00:00 > hang
            10:00:00 > alice power-off fw
                     accepted as op1
                     op1: asks for the shutdown of `fw`
                     op1 waits for 1 virtual machine to stop: fw since 10:00:00
            10:00:00 > bob cancel op1
                     done
            10:00:00 > wait 1m
            10:01:00 > answer ok
                     op1 Canceled: cancelled by bob during Stop. Left behind: stopping. A shutdown was asked for and may still happen.
                       next: rackwright vm show fw
                     fw: Succeeded, stopping on rack1compute01, edition 1
        "#]],
    );
}

#[test]
fn a_keeper_that_was_away_takes_the_operation_up_again_and_does_not_force_what_was_never_asked() {
    check(
        "
        machine rack1compute01
        vm fw running rack1compute01
        > hang
        > alice power-off fw
        > obey
        > down 8h
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > hang
            10:00:00 > alice power-off fw
                     accepted as op1
                     op1: asks for the shutdown of `fw`
                     op1 waits for 1 virtual machine to stop: fw since 10:00:00
            10:00:00 > obey
            10:00:00 > down 8h
            18:00:00 op1: resumed, to end by 18:15:00
                     op1: asks for the shutdown of `fw`, attempt 2
                     fw: Succeeded, stopping on rack1compute01, edition 1
            18:00:00 > wait 1m
            18:00:30 op1: Stop seen
                     op1 Succeeded: `fw` was powered off
                       next: rackwright vm start fw
                     fw: Succeeded, stopped on rack1compute01, edition 1
        "#]],
    );
}

#[test]
fn one_without_a_disk_of_its_own_has_nothing_to_throw_away() {
    check(
        "
        machine rack1compute01
        vm fw stopped rack1compute01
        > fw has-no-disk
        > alice reimage fw
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > fw has-no-disk
            10:00:00 > alice reimage fw
                     accepted as op1
                     op1: Stop seen
                     op1: Discard OS Disk left out: it has no OS disk that outlives a stop
                     op1: asks for the start of `fw`
                     op1 waits for `fw` to be running since 10:00:00
                     fw: Succeeded, starting, edition 1
            10:00:00 > wait 1m
            10:00:20 op1: Start seen
                     op1 Succeeded: `fw` was reimaged; Discard OS Disk was left out: it has no OS disk that outlives a stop
                     fw: Succeeded, running on rack1compute01, edition 1
        "#]],
    );
}

#[test]
fn a_disk_that_is_not_there_is_told_of_and_not_claimed_to_be_thrown_away() {
    check(
        "
        machine rack1compute01
        vm fw stopped rack1compute01
        > fw awaits-its-disk
        > alice reimage fw
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > fw awaits-its-disk
            10:00:00 > alice reimage fw
                     accepted as op1
                     op1: Stop seen
                     op1: Discard OS Disk left out: no OS disk of it is there
                     op1: asks for the start of `fw`
                     op1 waits for `fw` to be running since 10:00:00
                     fw: Succeeded, starting, edition 1
            10:00:00 > wait 1m
            10:00:20 op1: Start seen
                     op1 Succeeded: `fw` was reimaged; Discard OS Disk was left out: no OS disk of it is there
                     fw: Succeeded, running on rack1compute01, edition 1
        "#]],
    );
}

#[test]
fn nothing_is_started_on_a_disk_that_lingers_nor_is_it_asked_for_again() {
    check(
        "
        machine rack1compute01
        vm fw stopped rack1compute01
        > fw keeps-its-disk
        > alice reimage fw
        > wait 5m
        > fw has-a-new-disk
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > fw keeps-its-disk
            10:00:00 > alice reimage fw
                     accepted as op1
                     op1: Stop seen
                     op1: asks for the end of the OS disk of `fw`
                     op1 waits for the effect of the end of the OS disk of `fw` since 10:00:00
            10:00:00 > wait 5m
            10:05:00 > fw has-a-new-disk
                     op1: Discard OS Disk seen
                     op1: asks for the start of `fw`
                     op1 waits for `fw` to be running since 10:05:00
                     fw: Succeeded, starting, edition 1
            10:05:00 > wait 1m
            10:05:20 op1: Start seen
                     op1 Succeeded: `fw` was reimaged
                     fw: Succeeded, running on rack1compute01, edition 1
        "#]],
    );
}

#[test]
fn a_disk_that_never_goes_ends_the_reimage_in_time() {
    check(
        "
        machine rack1compute01
        vm fw stopped rack1compute01
        > fw keeps-its-disk
        > alice reimage fw
        > wait 1h
        ",
        expect![[r#"
            10:00:00 > fw keeps-its-disk
            10:00:00 > alice reimage fw
                     accepted as op1
                     op1: Stop seen
                     op1: asks for the end of the OS disk of `fw`
                     op1 waits for the effect of the end of the OS disk of `fw` since 10:00:00
            10:00:00 > wait 1h
            10:15:00 op1 Failed (DeadlineExceeded): reimage failed: Discard OS Disk did not end in time; it waited for the effect of the end of the OS disk of `fw`. Left behind: stopped
                       next: rackwright vm start fw
        "#]],
    );
}

#[test]
fn a_disk_that_was_not_thrown_away_is_asked_for_again_and_a_new_one_is_left() {
    check(
        "
        machine rack1compute01
        vm fw stopped rack1compute01
        > refuse busy
        > alice reimage fw
        > hang
        > wait 30s
        > obey
        > fw has-a-new-disk
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > refuse busy
            10:00:00 > alice reimage fw
                     accepted as op1
                     op1: Stop seen
                     op1: asks for the end of the OS disk of `fw`
                     op1 waits for the effect of the end of the OS disk of `fw` since 10:00:00
                     op1: the end of the OS disk of `fw` was answered: busy: as the story says
                     op1 waits for the undercloud (busy: as the story says) since 10:00:00
            10:00:00 > hang
            10:00:00 > wait 30s
            10:00:02 op1: asks for the end of the OS disk of `fw`, attempt 2
                     op1 waits for the effect of the end of the OS disk of `fw` (attempt 2) since 10:00:00
            10:00:30 > obey
            10:00:30 > fw has-a-new-disk
                     op1: Discard OS Disk seen
                     op1: asks for the start of `fw`
                     op1 waits for `fw` to be running since 10:00:30
                     fw: Succeeded, starting, edition 1
            10:00:30 > wait 1m
            10:00:50 op1: Start seen
                     op1 Succeeded: `fw` was reimaged
                     fw: Succeeded, running on rack1compute01, edition 1
        "#]],
    );
}
