//! However badly it goes, an evacuation ends in its time: half an hour from its cordon on, and what the last tries at force take.

use expect_test::expect;
use model::{Limits, OperationResult, Span};

use crate::script::{Play, check};

/// Plays a script in which one operation ends; returns how long it took, and whether it succeeded.
fn took(script: &str) -> (Span, OperationResult) {
    let mut play = Play::of(script);
    play.run();
    let operation = play.desk.snapshot.operations.values().next().expect("an operation");
    let ended = operation.ended.as_ref().unwrap_or_else(|| panic!("it has not ended: {:?}", operation.wait));
    (ended.at.since(operation.accepted_at), ended.result)
}

const STUBBORN: &str = "
    rack1compute01 compute on ready
    vm fw1 on rack1compute01 undead
    node n1 of naks01 on rack1compute01 deaf
    pod web-1 of naks01 on n1 Deployment budget=web
    budget web 0
    ";

/// One try at force, and one more.
fn tries_at_force() -> Span {
    Limits::default().errand_settle.times(2)
}

#[test]
fn a_silent_api_a_budget_and_a_deaf_system_one_after_the_other_take_half_an_hour() {
    let limits = Limits::default();
    let whole = limits.drain_timeout + limits.vm_stop_timeout;
    assert_eq!(whole, Span::minutes(30));
    let late =
        format!("{STUBBORN}\n> tenants down naks01\n> alice cordon rack1compute01 evacuate\n> wait 4m\n> tenants up naks01\n> wait 40m");
    assert_eq!(took(&late), (whole + tries_at_force(), OperationResult::Succeeded));
    assert!(whole + tries_at_force() < limits.evacuate_timeout);
    // A system that obeys force does not need the second try.
    let (span, result) = took(&late.replace("undead", "deaf"));
    assert!(result == OperationResult::Succeeded && span < whole + Span::seconds(5), "{span}");
}

#[test]
fn what_falls_silent_late_does_not_make_the_time_longer() {
    let limits = Limits::default();
    let whole = limits.drain_timeout + limits.vm_stop_timeout + tries_at_force();
    for silence in ["down naks01", "unknown n1"] {
        let script = format!("{STUBBORN}\n> alice cordon rack1compute01 evacuate\n> wait 19m\n> tenants {silence}\n> wait 40m");
        assert_eq!(took(&script), (whole, OperationResult::Succeeded), "{silence}");
    }
}

#[test]
fn a_restart_and_a_power_off_empty_the_machine_in_their_own_time() {
    let limits = Limits::default();
    let whole = limits.power_drain_timeout + limits.power_vm_stop_timeout;
    assert_eq!(whole, Span::minutes(20));
    for silence in ["down naks01", "unknown n1"] {
        let script =
            format!("{STUBBORN}\n> alice power-off rack1compute01\n> wait 11m\n> tenants {silence}\n> wait 11m\n> see rack1compute01 off");
        let (span, result) = took(&script);
        assert_eq!((span, result), (Span::minutes(22), OperationResult::Succeeded), "{silence}");
        let mut play = Play::of(&script);
        play.run();
        assert_eq!(whole + tries_at_force(), Span::minutes(21));
        assert!(play.transcript.text.contains("10:21:00 op1: left: virtual machine `fw1`"), "{}", play.transcript.text);
    }
}

#[test]
fn under_hold_pods_that_their_budget_let_go_hold_nobody_up() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment grace=7200
        policy naks01 hold
        > alice cordon rack1compute01 evacuate
        > wait 21m
        ",
        expect![[r#"
            10:00:00 > alice cordon rack1compute01 evacuate
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by evacuation by alice, operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     asks for the mark that Cluster API leaves `n1` alone for op1
                     asks for the cordon of node `n1` for op1
                     rack1compute01 remembers node n1 skipped
                     rack1compute01 waits for the effect of the mark that Cluster API leaves `n1` alone since 10:00:00, expected by 10:00:30
                     op1: Cordon Tenant Nodes seen
                     op1: draining n1
                     asks for the eviction of pod `app/web-1` of `naks01` for op1
                     rack1compute01 waits for 1 pod to leave since 10:00:00, expected by 10:02:00
            10:00:00 > wait 21m
            10:20:00 op1: left: node `n1` of `naks01` was not drained (its time was up)
                     op1: left: pod `app/web-1` of `naks01` (it had not ended)
                     op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 10:20:00, expected by 10:22:00
            10:20:20 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped; left as it was: node `n1` of `naks01` was not drained (its time was up), pod `app/web-1` of `naks01` (it had not ended)
                     rack1compute01 waits for nothing
        "#]],
    );
}

/// That nothing is visited at a time that has passed is a law of the desk; these are the ways to have such a time.
#[test]
fn what_time_alone_no_longer_changes_is_not_looked_at_again_and_again() {
    let drained_late = "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        > tenants unknown n1
        > alice cordon rack1compute01 evacuate
        > wait 4m
        > undercloud silent
        > wait 20m
        > tenants ready n1
        > undercloud answers
        > wait 5m
        ";
    assert_eq!(took(drained_late), (Span::minutes(24) + Span::seconds(25), OperationResult::Succeeded));
    let silent_for_long = "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01 undead
        > see rack1compute01 unknown
        > wait 10m
        > tenants stop fw1
        > alice cordon rack1compute01 evacuate
        > wait 20m
        ";
    assert_eq!(took(silent_for_long), (Span::minutes(11), OperationResult::Succeeded));
    let silent_while_it_stops = "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01 undead
        > alice cordon rack1compute01 evacuate
        > wait 2m
        > see rack1compute01 unknown
        > wait 20m
        ";
    assert_eq!(took(silent_while_it_stops), (Span::minutes(7), OperationResult::Succeeded));
}

#[test]
fn a_keeper_that_was_away_for_hours_has_used_up_nobodys_time() {
    check(
        "
        rack1compute01 compute on ready
        node n1 of naks01 on rack1compute01
        pod web-1 of naks01 on n1 Deployment budget=web
        budget web 0
        > alice cordon rack1compute01 evacuate
        > wait 10m
        > down 8h
        > look
        > wait 19m
        > wait 2m
        ",
        expect![[r#"
            10:00:00 > alice cordon rack1compute01 evacuate
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by evacuation by alice, operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
                     op1: Cordon seen
                     asks for the mark that Cluster API leaves `n1` alone for op1
                     asks for the cordon of node `n1` for op1
                     rack1compute01 remembers node n1 skipped
                     rack1compute01 waits for the effect of the mark that Cluster API leaves `n1` alone since 10:00:00, expected by 10:00:30
                     op1: Cordon Tenant Nodes seen
                     op1: draining n1
                     asks for the eviction of pod `app/web-1` of `naks01` for op1
                     rack1compute01 waits for 1 pod to leave since 10:00:00, expected by 10:02:00
                     op1: app/web-1 is kept: budget web allows none
                     rack1compute01 waits for 1 pod to leave; kept by budgets: app/web-1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 10m
            10:00:05 asks for the eviction of pod `app/web-1` of `naks01` for op1, attempt 2
            10:10:00 rack1compute01 is late
            10:10:00 > down 8h
            18:10:00 op1: resumed, to end by 18:45:00
                     rack1compute01 waits for a fresh look at the undercloud since 18:10:00, expected by 18:11:00
            18:10:00 > look
                     asks for the eviction of pod `app/web-1` of `naks01` for op1
                     rack1compute01 waits for 1 pod to leave; kept by budgets: app/web-1 since 10:00:00, expected by 10:02:00
                     rack1compute01 is late
            18:10:00 > wait 19m
            18:10:05 asks for the eviction of pod `app/web-1` of `naks01` for op1, attempt 2
            18:29:00 > wait 2m
            18:30:00 op1: left: node `n1` of `naks01` was not drained (its time was up)
                     op1: left: pod `app/web-1` of `naks01` (budget web allows none)
                     op1: Drain seen
                     asks for the shutdown of `n1` for op1
                     rack1compute01 remembers n1, node n1 skipped
                     rack1compute01 waits for 1 virtual machine to stop: n1 since 18:30:00, expected by 18:32:00
            18:30:20 op1: Stop Virtual Machines seen
                     op1 Succeeded: `rack1compute01` was cordoned and emptied: 1 virtual machine stopped; left as it was: node `n1` of `naks01` was not drained (its time was up), pod `app/web-1` of `naks01` (budget web allows none)
                     rack1compute01 waits for nothing
        "#]],
    );
}
