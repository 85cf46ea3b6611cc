//! What is worth storing: transitions, and not every look; and how often a plan is worth making.

use model::{Action, Ask, Delivery, DeviceAsk, Evacuate, Fault, FaultClass, Outage, Power, Provisioning, Role, Span};

use crate::desk::{self, Desk};

const MACHINE: &str = "rack1compute01";

/// A machine that was seen well.
fn desk() -> Desk {
    let now = desk::morning();
    let mut desk = Desk::new(desk::empty_cluster(now), now);
    desk.add(desk::machine(MACHINE, Role::Compute, Provisioning::Provisioned, now));
    desk.hear_undercloud(Ok(()));
    desk.look_power(&desk::name(MACHINE), Ok(Power::On));
    desk.look_node(&desk::name(MACHINE), Some(desk::node(MACHINE, 1)));
    settle(&mut desk);
    desk
}

/// Plans once and commits; whether there was anything to commit.
fn settle(desk: &mut Desk) -> bool {
    let plan = desk.plan();
    desk.commit(&plan);
    for step in &plan.steps {
        desk.send(step);
    }
    !plan.changes.is_empty()
}

/// How many of twenty moments, a little apart, are worth storing.
fn changes_in_twenty(desk: &mut Desk, mut happen: impl FnMut(&mut Desk, u32)) -> usize {
    let mut changes = 0;
    for n in 0..20 {
        desk.now = desk.now + Span::seconds(2);
        happen(desk, n);
        changes += usize::from(settle(desk));
    }
    changes
}

fn unreachable(n: u32) -> Fault {
    Fault::new(FaultClass::Unreachable, Delivery::No, format!("no answer after {n} ms"))
}

#[test]
fn a_silent_bmc_is_one_change_however_often_and_in_whatever_words_it_fails() {
    let mut desk = desk();
    let changes = changes_in_twenty(&mut desk, |desk, n| desk.look_power(&desk::name(MACHINE), Err(unreachable(n))));
    assert_eq!(changes, 1);
    let again = changes_in_twenty(&mut desk, |desk, n| {
        let class = if n < 10 { FaultClass::Unreachable } else { FaultClass::Denied };
        desk.look_power(&desk::name(MACHINE), Err(Fault::new(class, Delivery::No, format!("{n}"))));
    });
    assert_eq!(again, 1, "another class of fault is a transition");
}

#[test]
fn when_a_silent_bmc_last_answered_is_kept_until_it_answers_again() {
    let mut desk = desk();
    let answered_at = |desk: &Desk| desk.snapshot.machines[&desk::name(MACHINE)].last_seen.bmc_answered_at;
    assert_eq!(answered_at(&desk), None, "what is fresh has no age");
    let looked_at = desk.now;
    changes_in_twenty(&mut desk, |desk, n| desk.look_power(&desk::name(MACHINE), Err(unreachable(n))));
    assert_eq!(answered_at(&desk), Some(looked_at));
    desk.look_power(&desk::name(MACHINE), Ok(Power::On));
    settle(&mut desk);
    assert_eq!(answered_at(&desk), None);
}

#[test]
fn a_silent_undercloud_is_one_change_too_also_for_an_operation_that_needs_it() {
    let mut desk = desk();
    let changes = changes_in_twenty(&mut desk, |desk, n| desk.hear_undercloud(Err(unreachable(n))));
    assert_eq!(changes, 1);
    desk.request(
        "alice",
        Ask::Act { machine: desk::name(MACHINE), action: Action::Start, outage: Outage::Refused, replacement: None },
        None,
    );
    settle(&mut desk);
    assert_eq!(desk.snapshot.running_count(), 1);
    let busy = changes_in_twenty(&mut desk, |desk, n| {
        desk.hear_undercloud(Err(unreachable(n)));
        desk.look_power(&desk::name(MACHINE), Ok(Power::On));
    });
    assert_eq!(busy, 1, "the cluster's Timeout, and nothing else");
}

#[test]
fn a_request_that_hangs_makes_no_plan_due() {
    let mut desk = desk();
    let cordon = Action::Cordon { evacuate: Evacuate::No };
    desk.request("alice", Ask::Act { machine: desk::name(MACHINE), action: cordon, outage: Outage::Refused, replacement: None }, None);
    settle(&mut desk);
    assert_eq!(desk.snapshot.observation(&desk::name(MACHINE)).asking, Some(DeviceAsk::Cordon));
    // The settle time is over, and so is the life of the verdict.
    desk.now = desk.now + Span::seconds(70);
    desk.hear_undercloud(Ok(()));
    settle(&mut desk);
    let due = desk.next_due().expect("a deadline, at least");
    assert!(due.since(desk.now) > Span::seconds(60), "a plan is due after {} though only the answer can change it", due.since(desk.now));
}

#[test]
fn a_keeper_that_begins_again_writes_nothing_of_a_machine_that_is_as_it_was() {
    let mut desk = desk();
    desk.crash();
    assert!(!settle(&mut desk), "that a first look is about to come is no news");
    desk.now = desk.now + Span::seconds(3);
    desk.hear_undercloud(Ok(()));
    desk.look_node(&desk::name(MACHINE), Some(desk::node(MACHINE, 1)));
    assert!(!settle(&mut desk));
    desk.look_power(&desk::name(MACHINE), Ok(Power::On));
    assert!(!settle(&mut desk));
    assert_eq!(desk.snapshot.machines[&desk::name(MACHINE)].waits, []);
}

#[test]
fn a_first_look_that_does_not_come_is_told_and_so_is_one_at_a_machine_that_was_not_well() {
    let waits =
        |desk: &Desk| -> Vec<&'static str> { desk.snapshot.machines[&desk::name(MACHINE)].waits.iter().map(|wait| wait.code()).collect() };
    let mut desk = desk();
    desk.crash();
    settle(&mut desk);
    let due = desk.next_due().expect("the machine is visited again");
    assert!(due.since(desk.now) <= desk.snapshot.cluster.limits.idle_poll + Span::millis(1));
    desk.now = due;
    desk.hear_undercloud(Ok(()));
    assert!(settle(&mut desk));
    assert_eq!(waits(&desk), ["FirstLook", "FirstLook"]);
    desk.look_node(&desk::name(MACHINE), Some(desk::node(MACHINE, 1)));
    desk.look_power(&desk::name(MACHINE), Ok(Power::Off));
    settle(&mut desk);
    assert_eq!(waits(&desk), ["UnexpectedlyOff"]);
    desk.crash();
    settle(&mut desk);
    assert_eq!(waits(&desk), ["FirstLook", "FirstLook"]);
}
