//! Tags and details: written whatever the machine is doing, by whoever has read it as it is.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_note_is_written_and_nothing_is_asked_of_a_device() {
    check(
        "
        c1 compute on ready
        > alice update c1 tag:row=7,owner=net details=slow-fan
        > bob update c1 details=new-fan
        ",
        expect![[r#"
            10:00:00 > alice update c1 tag:row=7,owner=net details=slow-fan
                     done
                     c1 is now edition 2, tags {"owner": "net", "row": "7"}, details "slow-fan", by alice
            10:00:00 > bob update c1 details=new-fan
                     done
                     c1 is now edition 3, tags {"owner": "net", "row": "7"}, details "new-fan", by bob
        "#]],
    );
}

#[test]
fn two_who_read_the_same_edition_cannot_both_write() {
    check(
        "
        c1 compute on ready
        > alice update c1 tag:row=7 edition=1
        > bob update c1 tag:row=8 edition=1
        > bob update c1 tag:row=8 edition=2
        ",
        expect![[r#"
            10:00:00 > alice update c1 tag:row=7 edition=1
                     done
                     c1 is now edition 2, tags {"row": "7"}, details "", by alice
            10:00:00 > bob update c1 tag:row=8 edition=1
                     refused: `c1` was not changed
                       rule precondition-failed: the request is meant for the etag "1", and the machine's is "2", written by alice at 10:00:00Z
                       remedy: read the machine again, and send what you want to change with its etag: `rackwright bmm show c1 --query etag -o tsv` tells it
            10:00:00 > bob update c1 tag:row=8 edition=2
                     done
                     c1 is now edition 3, tags {"row": "8"}, details "", by bob
        "#]],
    );
}

#[test]
fn a_write_for_several_editions_is_held_against_the_one_that_is() {
    check(
        "
        c1 compute on ready
        > alice update c1 tag:row=7
        > bob update c1 tag:row=8 edition=1,3
        > bob update c1 tag:row=8 edition=1,2
        > bob update c1 tag:row=9 edition=*
        ",
        expect![[r#"
            10:00:00 > alice update c1 tag:row=7
                     done
                     c1 is now edition 2, tags {"row": "7"}, details "", by alice
            10:00:00 > bob update c1 tag:row=8 edition=1,3
                     refused: `c1` was not changed
                       rule precondition-failed: the request is meant for the etag "1" or "3", and the machine's is "2", written by alice at 10:00:00Z
                       remedy: read the machine again, and send what you want to change with its etag: `rackwright bmm show c1 --query etag -o tsv` tells it
            10:00:00 > bob update c1 tag:row=8 edition=1,2
                     done
                     c1 is now edition 3, tags {"row": "8"}, details "", by bob
            10:00:00 > bob update c1 tag:row=9 edition=*
                     done
                     c1 is now edition 4, tags {"row": "9"}, details "", by bob
        "#]],
    );
}

#[test]
fn a_write_for_any_edition_but_some_is_held_against_the_one_that_is() {
    check(
        "
        c1 compute on ready
        > alice update c1 tag:row=7 edition!=2
        > bob update c1 tag:row=8 edition!=1,2
        > bob update c1 tag:row=8 edition=2 edition!=1
        > bob update c1 tag:row=9 edition!=*
        ",
        expect![[r#"
            10:00:00 > alice update c1 tag:row=7 edition!=2
                     done
                     c1 is now edition 2, tags {"row": "7"}, details "", by alice
            10:00:00 > bob update c1 tag:row=8 edition!=1,2
                     refused: `c1` was not changed
                       rule precondition-failed: the request is meant for any etag but "2", and the machine's is "2", written by alice at 10:00:00Z
                       remedy: read the machine again, and send what you want to change with its etag: `rackwright bmm show c1 --query etag -o tsv` tells it
            10:00:00 > bob update c1 tag:row=8 edition=2 edition!=1
                     done
                     c1 is now edition 3, tags {"row": "8"}, details "", by bob
            10:00:00 > bob update c1 tag:row=9 edition!=*
                     refused: `c1` was not changed
                       rule precondition-failed: the request is meant for a machine that is not there, and the machine's is "3", written by bob at 10:00:00Z
                       remedy: read the machine again, and send what you want to change with its etag: `rackwright bmm show c1 --query etag -o tsv` tells it
        "#]],
    );
}

#[test]
fn the_same_request_sent_twice_writes_once() {
    check(
        "
        c1 compute on ready
        > alice update c1 tag:row=7 edition=1 key=k
        > alice update c1 tag:row=7 edition=1 key=k
        > alice update c1 tag:row=7 edition=1 key=other
        ",
        expect![[r#"
            10:00:00 > alice update c1 tag:row=7 edition=1 key=k
                     done
                     c1 is now edition 2, tags {"row": "7"}, details "", by alice
            10:00:00 > alice update c1 tag:row=7 edition=1 key=k
                     done
            10:00:00 > alice update c1 tag:row=7 edition=1 key=other
                     refused: `c1` was not changed
                       rule precondition-failed: the request is meant for the etag "1", and the machine's is "2", written by alice at 10:00:00Z
                       remedy: read the machine again, and send what you want to change with its etag: `rackwright bmm show c1 --query etag -o tsv` tells it
        "#]],
    );
}

#[test]
fn writing_what_is_there_already_is_no_new_edition_and_takes_over_nobodys_work() {
    check(
        "
        c1 compute on ready
        > alice update c1 tag:row=7 edition=1 key=k
        > bob update c1 tag:row=7
        > bob update c1 key=other
        > alice update c1 tag:row=7 edition=1 key=k
        ",
        expect![[r#"
            10:00:00 > alice update c1 tag:row=7 edition=1 key=k
                     done
                     c1 is now edition 2, tags {"row": "7"}, details "", by alice
            10:00:00 > bob update c1 tag:row=7
                     done
            10:00:00 > bob update c1 key=other
                     done
            10:00:00 > alice update c1 tag:row=7 edition=1 key=k
                     done
        "#]],
    );
}

#[test]
fn an_unmanaged_machine_and_one_under_an_operation_can_be_written_to() {
    check(
        "
        c1 compute on ready
        c2 compute on ready unmanaged
        > alice restart c1
        > alice update c1 details=watch-it
        > alice update c2 details=open-lid
        ",
        expect![[r#"
            10:00:00 > alice restart c1
                     accepted as op1
                     op1: found boot1
                     c1 <- cordon for op1
                     c1 is held by operation op1
                     c1 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     c1 <- graceful shutdown for op1
                     c1 waits for the effect of the graceful shutdown since 10:00:00, expected by 10:03:00
            10:00:00 > alice update c1 details=watch-it
                     done
                     c1 is now edition 2, tags {}, details "watch-it", by alice
            10:00:00 > alice update c2 details=open-lid
                     done
                     c2 is now edition 2, tags {}, details "open-lid", by alice
        "#]],
    );
}

#[test]
fn a_machine_that_is_not_there_cannot_be_written_to() {
    check(
        "
        c1 compute on ready
        > alice update c9 details=lost
        ",
        expect![[r#"
            10:00:00 > alice update c9 details=lost
                     refused: there is no machine `c9`
                       rule machine-exists: cluster `site1` has 1 machines, none of that name
                       remedy: `rackwright bmm list` names them
        "#]],
    );
}
