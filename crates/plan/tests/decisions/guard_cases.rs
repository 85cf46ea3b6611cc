//! Each refusal in full: the rule, its evidence, and what would make it pass.

use expect_test::expect;

use crate::desk;
use crate::script::{Play, check};
use model::{Action, Ask, ClusterName, CorrelationId, OPERATION_FORMAT, Operation, OperationId, Outage, Span, Verdict};

#[test]
fn cluster_not_running() {
    check(
        "
        rack1compute01 compute on ready
        cluster Updating
        > alice restart rack1compute01
        ",
        expect![[r#"
            10:00:00 > alice restart rack1compute01
                     refused: `rack1compute01` cannot be restarted
                       rule cluster-running: cluster `site1` is Updating
                       remedy: wait until it is Running: `rackwright cluster show site1`
        "#]],
    );
}

#[test]
fn cluster_not_connected() {
    check(
        "
        rack1compute01 compute on ready
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        rack3control01 kcp on ready
        > undercloud silent
        > wait 3m
        > alice restart rack1compute01
        > alice restart rack1control01
        > alice uncordon rack1compute01
        > alice start rack1compute01
        ",
        expect![[r#"
            10:00:00 > undercloud silent
            10:00:00 > wait 3m
            10:02:00 the cluster is Timeout
            10:03:00 > alice restart rack1compute01
                     refused: `rack1compute01` cannot be restarted
                       rule cluster-connected: the undercloud of `site1` is Timeout since 10:02:00Z (unreachable: connection refused)
                       remedy: bring the undercloud back first; `start`, and `restart` of a control-plane machine that is not voting, are allowed meanwhile
            10:03:00 > alice restart rack1control01
                     refused: `rack1control01` cannot be restarted
                       rule cluster-connected: the undercloud of `site1` is Timeout since 10:02:00Z (unreachable: connection refused)
                       remedy: bring the undercloud back first; `start`, and `restart` of a control-plane machine that is not voting, are allowed meanwhile
            10:03:00 > alice uncordon rack1compute01
                     refused: `rack1compute01` cannot be uncordoned
                       rule cluster-connected: the undercloud of `site1` is Timeout since 10:02:00Z (unreachable: connection refused)
                       remedy: bring the undercloud back first; `start`, and `restart` of a control-plane machine that is not voting, are allowed meanwhile
            10:03:00 > alice start rack1compute01
                     accepted as op4
                     op4: found boot1
                     op4: Power On seen
                     rack1compute01 waits for the undercloud (unreachable: connection refused) since 10:00:00, expected by 10:02:00
                     rack1compute01 is late
        "#]],
    );
}

#[test]
fn one_action_per_machine() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack1compute01
        > bob power-off rack1compute01
        > bob unmanage rack1compute01 broken fan
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
            10:00:00 > bob power-off rack1compute01
                     refused: `rack1compute01` cannot be powered off
                       rule one-action-per-machine: `rack1compute01` is being restarted since 10:00:00Z (operation op1)
                       remedy: wait with `rackwright operation wait op1`, or stop it with `rackwright operation cancel op1`
            10:00:00 > bob unmanage rack1compute01 broken fan
                     refused: `rack1compute01` cannot be unmanaged
                       rule one-action-per-machine: `rack1compute01` is being restarted since 10:00:00Z (operation op1)
                       remedy: wait with `rackwright operation wait op1`, or stop it with `rackwright operation cancel op1`
        "#]],
    );
}

#[test]
fn unmanaged() {
    check(
        "
        rack1compute01 compute on ready unmanaged
        > alice cordon rack1compute01
        ",
        expect![[r#"
            10:00:00 > alice cordon rack1compute01
                     refused: `rack1compute01` cannot be cordoned
                       rule machine-managed: bob took `rack1compute01` out of management at 10:00:00Z: broken fan
                       remedy: `rackwright bmm manage rack1compute01 --reason …` lets it be managed again
        "#]],
    );
}

#[test]
fn spare_and_unprovisioned() {
    check(
        "
        rack1control01 kcp on ready
        rack2control01 kcp on ready
        rack3control01 kcp on ready
        rack4control01 spare off
        rack2compute01 preparing off
        > alice start rack4control01
        > alice restart rack2compute01
        ",
        expect![[r#"
            10:00:00 > alice start rack4control01
                     refused: `rack4control01` cannot be started
                       rule machine-provisioned: `rack4control01` is the spare control-plane machine: it has no operating system and no node
                       remedy: nothing to do: the platform activates the spare when it is needed
            10:00:00 > alice restart rack2compute01
                     refused: `rack2compute01` cannot be restarted
                       rule machine-provisioned: `rack2compute01` is Preparing: it has no operating system to run
                       remedy: wait until it is Provisioned
        "#]],
    );
}

#[test]
fn force_unproven() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        > alice cordon rack1compute01 forced
        > fault rack1compute01 unreachable
        > see rack1compute01 unknown
        > alice cordon rack1compute01 forced
        ",
        expect![[r#"
            10:00:00 > alice cordon rack1compute01 forced
                     refused: `rack1compute01` cannot be cordoned
                       rule force-unproven: the BMC of `rack1compute01` reads On
                       rule force-unproven: virtual machines may run on it: n1
                       remedy: leave out the force, or make sure that nothing runs: `rackwright bmm power-off rack1compute01 --skip-shutdown`, then ask again
            10:00:00 > fault rack1compute01 unreachable
                     rack1compute01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00
            10:00:00 > see rack1compute01 unknown
                     rack1compute01 waits for the BMC (unreachable: as the story says) since 10:00:00, expected by 10:02:00; the node to become ready since 10:00:00, expected by 10:10:00
            10:00:00 > alice cordon rack1compute01 forced
                     refused: `rack1compute01` cannot be cordoned
                       rule force-unproven: the power of `rack1compute01` is not known, which proves nothing: it waits for the BMC (unreachable: as the story says)
                       rule force-unproven: virtual machines may run on it: n1
                       remedy: leave out the force, or make sure that nothing runs: `rackwright bmm power-off rack1compute01 --skip-shutdown`, then ask again
        "#]],
    );
}

#[test]
fn uncordon_while_an_operation_holds_it() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack1compute01
        > bob uncordon rack1compute01
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
            10:00:00 > bob uncordon rack1compute01
                     refused: `rack1compute01` cannot be uncordoned
                       rule held-by-operation: operation op1 holds it since 10:00:00Z: being restarted
                       remedy: `rackwright operation wait op1`
        "#]],
    );
}

#[test]
fn a_request_that_waited_too_long() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack1compute01 too-late
        ",
        expect![[r#"
            10:00:00 > alice restart rack1compute01 too-late
            10:00:05 refused: the request was not carried out
                       rule request-expired: it waited since 10:00:00Z and was to be judged by 10:00:05Z
                       remedy: send it again
        "#]],
    );
}

#[test]
fn the_same_request_twice_is_one_operation() {
    check(
        "
        rack1compute01 compute on ready
        > alice cordon rack1compute01 key=k1
        > alice cordon rack1compute01 key=k1
        > alice cordon rack1compute01 key=k2
        ",
        expect![[r#"
            10:00:00 > alice cordon rack1compute01 key=k1
                     accepted as op1
                     op1: found boot1
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by alice
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     op1 Succeeded: `rack1compute01` was cordoned
                     rack1compute01 waits for nothing
            10:00:00 > alice cordon rack1compute01 key=k1
                     accepted as op1
            10:00:00 > alice cordon rack1compute01 key=k2
                     accepted as op3
                     op3: found boot1
                     op3: Cordon seen
                     op3 Succeeded: `rack1compute01` was cordoned
        "#]],
    );
}

#[test]
fn no_such_machine() {
    check(
        "
        rack1compute01 compute on ready
        > alice restart rack9compute99
        > alice manage rack9compute99 why
        ",
        expect![[r#"
            10:00:00 > alice restart rack9compute99
                     refused: there is no machine `rack9compute99`
                       rule machine-exists: cluster `site1` has 1 machines, none of that name
                       remedy: `rackwright bmm list` names them
            10:00:00 > alice manage rack9compute99 why
                     refused: there is no machine `rack9compute99`
                       rule machine-exists: cluster `site1` has 1 machines, none of that name
                       remedy: `rackwright bmm list` names them
        "#]],
    );
}

#[test]
fn a_full_queue_takes_no_more() {
    let mut play = Play::of("rack1compute01 compute on ready\n> alice restart rack1compute01");
    for n in 0..plan::MAX_RUNNING_OPERATIONS {
        play.desk.snapshot.set_operation(running(n));
    }
    play.run();
    expect![[r#"
        10:00:00 > alice restart rack1compute01
                 refused: `rack1compute01` cannot be restarted
                   rule queue-full: 4096 operations are running in this cluster
                   remedy: wait until some of them have ended
    "#]]
    .assert_eq(&play.transcript.text);
}

/// An operation on a machine that the site no longer has: it takes up room, and nothing moves it.
fn running(n: usize) -> Operation {
    let now = desk::morning();
    Operation {
        format: OPERATION_FORMAT,
        id: OperationId::new(format!("busy{n}")),
        cluster: ClusterName::new("site1").unwrap(),
        target: model::Target::Machine(desk::name(&format!("gone{n}"))),
        action: Action::Start,
        caller: "script".into(),
        correlation_id: CorrelationId::new("c"),
        request_key: None,
        accepted_at: now,
        deadline_at: now,
        journal: Vec::new(),
        cancel: None,
        ended: None,
        wait: None,
        replacement: None,
    }
}

#[test]
fn an_action_that_machines_do_not_know_is_refused_and_begins_nothing() {
    let mut play = Play::of("rack1compute01 compute on ready");
    play.run();
    let mut told = String::new();
    for action in [Action::Inspect, Action::Create, Action::Delete, Action::RestartNode] {
        let id = play.desk.request(
            "alice",
            Ask::Act { machine: desk::name("rack1compute01"), action, outage: Outage::Refused, replacement: None },
            None,
        );
        let plan = play.desk.plan();
        play.desk.commit(&plan);
        let verdict = &play.desk.snapshot.requests[&id].verdict;
        let Some(Verdict::Refused { refusal }) = verdict else { panic!("{action:?}: {verdict:?}") };
        told += &format!("{refusal}\n");
    }
    expect![[r#"
        `rack1compute01` cannot be inspected: rule action-known: the keeper of its cluster knows no inspect of a machine
        `rack1compute01` cannot be created: rule action-known: the keeper of its cluster knows no create of a machine
        `rack1compute01` cannot be deleted: rule action-known: the keeper of its cluster knows no delete of a machine
        `rack1compute01` cannot be restarted: rule action-known: the keeper of its cluster knows no restart-node of a machine
    "#]]
    .assert_eq(&told);
    assert_eq!(play.desk.snapshot.running_count(), 0);
}

#[test]
fn an_operation_that_another_version_left_behind_fails_and_claims_nothing() {
    let mut play = Play::of("rack1compute01 compute on ready");
    play.run();
    let deadline_at = play.desk.now + Span::hours(1);
    let target = model::Target::Machine(desk::name("rack1compute01"));
    play.desk.snapshot.set_operation(Operation { target, action: Action::Inspect, deadline_at, ..running(1) });
    let plan = plan::plan(&play.desk.snapshot, &plan::Visit::All, play.desk.now);
    let ended = plan.changes.operations[&OperationId::new("busy1")].ended.clone().expect("it has ended");
    expect!["Failed Some(DeviceUnsupported): inspect failed: this version knows no inspect of machines. Left behind: power On; holds none"]
        .assert_eq(&format!("{} {:?}: {}", ended.result, ended.failure, ended.message));
}

#[test]
fn who_unmanaged_a_machine_first_is_not_overwritten() {
    check(
        "
        rack1compute01 compute on ready
        > alice manage rack1compute01 just so
        > bob unmanage rack1compute01 broken fan
        > alice unmanage rack1compute01 new disk
        > alice manage rack1compute01 fan replaced
        > alice manage rack1compute01 again
        ",
        expect![[r#"
            10:00:00 > alice manage rack1compute01 just so
                     done
            10:00:00 > bob unmanage rack1compute01 broken fan
                     done
                     rack1compute01 waits for a person: unmanaged since 10:00:00
            10:00:00 > alice unmanage rack1compute01 new disk
                     refused: `rack1compute01` cannot be unmanaged
                       rule machine-managed: bob took `rack1compute01` out of management at 10:00:00Z: broken fan
                       remedy: nothing to do: nothing is sent to it; `rackwright bmm manage rack1compute01 --reason …` lets it be managed again
            10:00:00 > alice manage rack1compute01 fan replaced
                     done
                     rack1compute01 waits for nothing
            10:00:00 > alice manage rack1compute01 again
                     done
        "#]],
    );
}

#[test]
fn why_a_machine_is_managed_again_is_kept_until_it_is_unmanaged_anew() {
    let told = |script: &str| {
        let mut play = Play::of(&format!("rack1compute01 compute on ready\n{script}"));
        play.run();
        let machine = play.desk.snapshot.machines[&desk::name("rack1compute01")].clone();
        machine.managed_again.as_ref().map(|again| format!("{}: {}", again.by, again.reason))
    };
    assert_eq!(told("> alice manage rack1compute01 just so"), None);
    let mended = "> bob unmanage rack1compute01 broken fan\n> alice manage rack1compute01 fan replaced\n";
    assert_eq!(told(mended), Some("alice: fan replaced".to_owned()));
    assert_eq!(told(&format!("{mended}> bob manage rack1compute01 again")), Some("alice: fan replaced".to_owned()));
    assert_eq!(told(&format!("{mended}> bob unmanage rack1compute01 new disk")), None);
}
