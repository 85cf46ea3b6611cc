//! An evacuation that somebody cancels, and what becomes of what it had begun.

use expect_test::expect;
use model::{ErrandOutcome, Span, VmState};
use plan::ErrandStep;

use crate::lodging::vm_name;
use crate::script::{Play, check};

#[test]
fn an_evacuation_that_is_cancelled_keeps_what_it_stopped_in_mind() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01 deaf
        > alice cordon rack1compute01 evacuate
        > wait 10s
        > bob cancel op1
        > alice uncordon rack1compute01
        > wait 1m
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
                     op1: Cordon Tenant Nodes seen
                     op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     rack1compute01 remembers fw1
                     rack1compute01 waits for 1 virtual machine to stop: fw1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 10s
            10:00:10 > bob cancel op1
                     done
                     op1 Canceled: cancelled by bob during Stop Virtual Machines. Left behind: power On; holds evacuation by alice, operation op1; to be brought back: 1 virtual machine (`fw1`).
                       next: rackwright bmm uncordon rack1compute01
                     rack1compute01 waits for nothing
            10:00:10 > alice uncordon rack1compute01
                     accepted as op3
                     op3: found boot1
                     op3: there are workloads to bring back
                     rack1compute01 <- uncordon for op3
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:00:10, expected by 10:00:40
                     op3: Uncordon seen
                     rack1compute01 waits for 1 virtual machine to start: fw1 since 10:00:10, expected by 10:03:10
            10:00:10 > wait 1m
        "#]],
    );
}

#[test]
fn an_evacuation_that_is_cancelled_before_it_touched_anything_leaves_no_hold() {
    check(
        "
        rack1compute01 compute on ready
        undercloud lazy
        vm fw1 on rack1compute01
        > alice cordon rack1compute01 evacuate
        > bob cancel op1
        > wait 1m
        ",
        expect![[r#"
            10:00:00 > alice cordon rack1compute01 evacuate
                     accepted as op1
                     op1: found boot1
                     op1: there are workloads to move
                     rack1compute01 <- cordon for op1
                     rack1compute01 is held by evacuation by alice, operation op1
                     rack1compute01 waits for the effect of the cordon since 10:00:00, expected by 10:00:30
            10:00:00 > bob cancel op1
                     done
            10:00:00 > wait 1m
            10:00:30 op1 Canceled: cancelled by bob during Cordon. Left behind: power On; holds none.
                       next: rackwright bmm show rack1compute01
                     rack1compute01 is held by nobody
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn one_that_ignores_its_shutdown_is_forced_off_after_its_time_and_started_again() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01 deaf
        vm fw2 on rack1compute01 deaf manual
        > alice cordon rack1compute01 evacuate
        > wait 10s
        > bob cancel op1
        > alice uncordon rack1compute01
        > wait 9m
        > wait 3m
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
                     op1: Cordon Tenant Nodes seen
                     op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     asks for the shutdown of `fw2` for op1
                     rack1compute01 remembers fw1, fw2
                     rack1compute01 waits for 2 virtual machines to stop: fw1, fw2 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 10s
            10:00:10 > bob cancel op1
                     done
                     op1 Canceled: cancelled by bob during Stop Virtual Machines. Left behind: power On; holds evacuation by alice, operation op1; to be brought back: 2 virtual machines (`fw1`, `fw2`).
                       next: rackwright bmm uncordon rack1compute01
                     rack1compute01 waits for nothing
            10:00:10 > alice uncordon rack1compute01
                     accepted as op3
                     op3: found boot1
                     op3: there are workloads to bring back
                     rack1compute01 <- uncordon for op3
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:00:10, expected by 10:00:40
                     op3: Uncordon seen
                     rack1compute01 waits for 2 virtual machines to start: fw1, fw2 since 10:00:10, expected by 10:03:10
            10:00:10 > wait 9m
            10:03:10 op3: Start Virtual Machines left out: 2 virtual machines could not be started yet (`fw1`, `fw2`), and will be
                     op3: Uncordon Tenant Nodes seen
                     op3 Succeeded: `rack1compute01` was uncordoned; Start Virtual Machines was left out: 2 virtual machines could not be started yet (`fw1`, `fw2`), and will be
                     rack1compute01 waits for 2 virtual machines to start: fw1, fw2 since 10:03:10, expected by 10:06:10
            10:09:10 rack1compute01 is late
            10:09:10 > wait 3m
            10:10:00 asks for the forced stop of `fw1` for rack1compute01
                     asks for the forced stop of `fw2` for rack1compute01
            10:10:02 asks for the start of `fw1` for rack1compute01
                     asks for the start of `fw2` for rack1compute01
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
        "#]],
    );
}

#[test]
fn the_return_itself_forces_what_has_had_its_time() {
    check(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01 deaf
        > alice cordon rack1compute01 evacuate
        > wait 10s
        > bob cancel op1
        > wait 9m
        > alice uncordon rack1compute01
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
                     op1: Cordon Tenant Nodes seen
                     op1: Drain seen
                     asks for the shutdown of `fw1` for op1
                     rack1compute01 remembers fw1
                     rack1compute01 waits for 1 virtual machine to stop: fw1 since 10:00:00, expected by 10:02:00
            10:00:00 > wait 10s
            10:00:10 > bob cancel op1
                     done
                     op1 Canceled: cancelled by bob during Stop Virtual Machines. Left behind: power On; holds evacuation by alice, operation op1; to be brought back: 1 virtual machine (`fw1`).
                       next: rackwright bmm uncordon rack1compute01
                     rack1compute01 waits for nothing
            10:00:10 > wait 9m
            10:09:10 > alice uncordon rack1compute01
                     accepted as op3
                     op3: found boot1
                     op3: there are workloads to bring back
                     rack1compute01 <- uncordon for op3
                     rack1compute01 is held by nobody
                     rack1compute01 waits for the effect of the uncordon since 10:09:10, expected by 10:09:40
                     op3: Uncordon seen
                     rack1compute01 waits for 1 virtual machine to start: fw1 since 10:09:10, expected by 10:12:10
            10:09:10 > wait 2m
            10:10:00 asks for the forced stop of `fw1` for op3
            10:10:02 asks for the start of `fw1` for op3
                     op3: Start Virtual Machines seen
                     op3: Uncordon Tenant Nodes seen
                     op3 Succeeded: `rack1compute01` was uncordoned; 1 virtual machine started again
                     rack1compute01 remembers nothing
                     rack1compute01 waits for nothing
        "#]],
    );
}

/// One that stopped by itself in the same moment would be met by the force after it was started.
#[test]
fn nothing_is_started_while_a_force_is_on_its_way() {
    let mut play = Play::of(
        "
        rack1compute01 compute on ready
        vm fw1 on rack1compute01 deaf
        > alice cordon rack1compute01 evacuate
        > bob cancel op1
        > alice uncordon rack1compute01
        > wait 9m
        ",
    );
    play.run();
    play.desk.now = play.desk.now + Span::minutes(1);
    play.desk.hear_undercloud(Ok(()));
    let asked = decide(&mut play);
    assert_eq!(told(&asked), ["the forced stop of `fw1`"]);
    let vm = &mut play.lodging.vms.get_mut(&vm_name("fw1")).unwrap().seen;
    (vm.state, vm.instance) = (VmState::Stopped, None);
    assert_eq!(told(&decide(&mut play)), [""; 0]);
    play.desk.answer_errand(&asked[0], Ok(ErrandOutcome::Accepted));
    assert_eq!(told(&decide(&mut play)), ["the start of `fw1`"]);
}

fn told(asked: &[ErrandStep]) -> Vec<String> {
    asked.iter().map(|step| step.errand.to_string()).collect()
}

/// What is asked for after a look; it is not answered.
fn decide(play: &mut Play) -> Vec<ErrandStep> {
    play.desk.look_tenants(&play.lodging);
    let plan = play.desk.plan();
    play.desk.commit(&plan);
    plan.errands
}
