//! Which boot of a machine is taken for dead, when power and node are looked at by turns.

use expect_test::expect;
use model::{Power, Provisioning, Role, Span};

use crate::desk::{self, Desk};
use crate::script::check;

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

#[test]
fn a_bmc_that_said_off_by_mistake_is_doubted_when_the_node_goes_on_being_ready() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        rack3control01 kcp on ready
        > see rack1control01 off
        > see rack1control01 on
        > wait 4m
        > alice restart rack2control01
        > wait 2m
        > alice restart rack2control01
        ",
        expect![[r#"
            10:00:00 > see rack1control01 off
                     rack1control01 waits for a person: off, but expected to be on since 10:00:00
            10:00:00 > see rack1control01 on
                     rack1control01 waits for the node to become ready since 10:00:00, expected by 10:10:00
            10:00:00 > wait 4m
            10:04:00 > alice restart rack2control01
                     refused: `rack2control01` cannot be restarted
                       rule kcp-others-healthy: `rack1control01` has not rejoined since it was off
                       rule kcp-others-healthy: etcd voters: 2 of 3 now, 1 of 3 after; quorum is 2
                       remedy: bring the other control-plane machines back first: `rackwright status` names them
            10:04:00 > wait 2m
            10:05:00 rack1control01 waits for nothing
            10:06:00 > alice restart rack2control01
                     accepted as op2
                     op2: found boot1
                     rack2control01 <- cordon for op2
                     rack2control01 is held by operation op2
                     rack2control01 waits for the effect of the cordon since 10:06:00, expected by 10:06:30
                     op2: Cordon seen
                     rack2control01 <- graceful shutdown for op2
                     rack2control01 waits for the effect of the graceful shutdown since 10:06:00, expected by 10:09:00
        "#]],
    );
}

#[test]
fn members_that_hang_after_they_were_off_can_be_restarted_while_the_undercloud_is_silent() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        rack3control01 kcp on ready
        > see rack1control01 off
        > see rack2control01 off
        > undercloud silent
        > see rack1control01 on
        > see rack2control01 on
        > wait 10m
        > alice restart rack1control01
        ",
        expect![[r#"
            10:00:00 > see rack1control01 off
                     rack1control01 waits for a person: off, but expected to be on since 10:00:00
            10:00:00 > see rack2control01 off
                     rack2control01 waits for a person: off, but expected to be on since 10:00:00
            10:00:00 > undercloud silent
            10:00:00 > see rack1control01 on
                     rack1control01 waits for the node to become ready since 10:00:00, expected by 10:10:00
            10:00:00 > see rack2control01 on
                     rack2control01 waits for the node to become ready since 10:00:00, expected by 10:10:00
            10:00:00 > wait 10m
            10:02:00 the cluster is Timeout
            10:05:00 the cluster is Disconnected
            10:10:00 > alice restart rack1control01
                     accepted as op1
                     op1: found boot1
                     rack1control01 is held by operation op1
                     rack1control01 waits for the undercloud (unreachable: connection refused) since 10:00:00, expected by 10:02:00
                     rack1control01 is late
        "#]],
    );
}
