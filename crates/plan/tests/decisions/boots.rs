//! Which boot of a machine is taken for dead, when power and node are looked at by turns.

use model::{Power, Provisioning, Role, Span};

use crate::desk::{self, Desk};

const MACHINE: &str = "rack1compute01";

#[derive(Clone, Copy)]
enum Look {
    Power(Power),
    Boot(u32),
    NoNode,
    NewKeeper,
}
use Look::{Boot, NewKeeper, NoNode};

const ON: Look = Look::Power(Power::On);
const OFF: Look = Look::Power(Power::Off);

/// Whether the machine counts as ready in the end, and the boot that is taken for dead.
fn after(looks: &[Look]) -> (bool, Option<String>) {
    let now = desk::morning();
    let mut desk = Desk::new(desk::empty_cluster(now), now);
    desk.add(desk::machine(MACHINE, Role::Compute, Provisioning::Provisioned, now));
    let name = desk::name(MACHINE);
    for look in looks {
        desk.now = desk.now + Span::seconds(1);
        match look {
            Look::Power(power) => desk.look_power(&name, Ok(*power)),
            Boot(boot) => desk.look_node(&name, Some(desk::node(MACHINE, *boot))),
            NoNode => desk.look_node(&name, None),
            NewKeeper => desk.crash(),
        }
        desk.hear_undercloud(Ok(()));
        let plan = desk.plan();
        desk.commit(&plan);
    }
    let machine = &desk.snapshot.machines[&name];
    (machine.is_ready(), machine.last_seen.dead_boot_id.clone())
}

fn dead(boot: &str) -> (bool, Option<String>) {
    (false, Some(boot.to_owned()))
}

#[test]
fn a_boot_that_was_seen_before_the_machine_was_off_is_dead_until_another_is_seen() {
    assert_eq!(after(&[ON, Boot(1)]), (true, None));
    assert_eq!(after(&[ON, Boot(1), OFF]), dead("boot1"));
    assert_eq!(after(&[ON, Boot(1), OFF, ON]), dead("boot1"));
    assert_eq!(after(&[ON, Boot(1), OFF, Boot(1), ON, Boot(1)]), dead("boot1"));
    assert_eq!(after(&[ON, Boot(1), OFF, ON, Boot(2)]), (true, None));
}

#[test]
fn an_older_look_at_the_power_says_nothing_about_a_younger_boot() {
    assert_eq!(after(&[ON, Boot(1), OFF, Boot(2), ON]), (true, None));
    assert_eq!(after(&[ON, Boot(1), OFF, Boot(2), Boot(2), ON]), (true, None));
    assert_eq!(after(&[ON, Boot(1), OFF, Boot(2), OFF, ON]), dead("boot2"));
}

#[test]
fn neither_a_new_keeper_nor_a_deleted_node_brings_a_boot_back() {
    assert_eq!(after(&[ON, Boot(1), OFF, NewKeeper, ON, Boot(1)]), dead("boot1"));
    assert_eq!(after(&[ON, Boot(1), NewKeeper, OFF, ON, Boot(1)]), dead("boot1"));
    assert_eq!(after(&[ON, Boot(1), OFF, NoNode, ON, Boot(1)]), dead("boot1"));
}
