//! What the activity log says of what is decided.

use expect_test::{Expect, expect};
use model::{Activity, ActivityError, ActivityKind, Part, Timestamp};

use crate::desk;
use crate::script::Play;

/// An entry on one line: when, what came of it, who, about what, and in which words.
fn line(at: Timestamp, entry: &Activity) -> String {
    let what = match &entry.what {
        ActivityKind::Request { verb, .. } => format!("request {verb}"),
        ActivityKind::Operation { action } => format!("operation {}", action.verb()),
        ActivityKind::Step { step, .. } => format!("step {}", step.title()),
        ActivityKind::Device { ask, attempt } => format!("{ask} #{attempt}"),
        ActivityKind::Errand { errand, attempt } => format!("{} #{attempt}", errand.code()),
        ActivityKind::Workload { action } => format!("workloads of {}", action.verb()),
        ActivityKind::Installation { action } => format!("installation of {}", action.verb()),
        ActivityKind::Hold { change, .. } => format!("hold {change:?}"),
        ActivityKind::Connection { connection } => format!("connection {connection:?}"),
        ActivityKind::Refusals { by_code } => format!("refusals {by_code:?}"),
        ActivityKind::Description { change } => format!("description {change:?}"),
    };
    let error = match &entry.error {
        None => String::new(),
        Some(ActivityError::Refused { refusal }) => format!(" [{}]", refusal.rule.name()),
        Some(ActivityError::Rejected { code, .. }) => format!(" [{code}]"),
        Some(ActivityError::Ended { ended }) => format!(" [{:?}]", ended.failure),
        Some(ActivityError::Faulted { fault }) => format!(" [{}]", fault.class),
    };
    let operation = entry.operation.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
    let part = match &entry.subject.part {
        Part::Cluster => "cluster".to_owned(),
        Part::Rack(name) => name.to_string(),
        Part::Machine(name) => name.to_string(),
        Part::Vm(name) => name.to_string(),
        Part::TenantCluster(name) => name.to_string(),
    };
    format!(
        "{} {:<10} {:<10} {part} {what}{operation}: {}{error}\n",
        at.time_of_day(),
        format!("{:?}", entry.status),
        entry.caller,
        entry.message
    )
}

#[expect(clippy::needless_pass_by_value, reason = "a case reads best as a script and what it comes to")]
fn check(script: &str, expected: Expect) {
    let mut play = Play::of(script);
    play.desk.log.clear();
    play.run();
    let log: String = play.desk.log.iter().map(|(at, entry)| line(*at, entry)).collect();
    expected.assert_eq(&log);
}

#[test]
fn a_restart_is_told_from_its_acceptance_to_its_end() {
    check(
        "c1 compute on ready
        > alice restart c1
        > wait 30s
        > see c1 off
        > see c1 on
        > see c1 booted",
        expect![[r#"
            10:00:00 Accepted   alice      c1 request restart op1: restart of `c1` was accepted as operation op1
            10:00:00 Succeeded  rackwright c1 hold Placed op1: `c1` is held by operation op1: being restarted
            10:00:00 Started    rackwright c1 cordon #1 op1: the node of `c1` is asked for a cordon
            10:00:00 Succeeded  rackwright c1 step Cordon op1: Cordon of `c1` is done
            10:00:00 Started    rackwright c1 graceful shutdown #1 op1: the BMC of `c1` is asked for a graceful shutdown
            10:00:30 Succeeded  rackwright c1 step Power Off op1: Power Off of `c1` is done
            10:00:30 Started    rackwright c1 power-on #1 op1: the BMC of `c1` is asked for a power-on
            10:00:30 Succeeded  rackwright c1 step Power On op1: Power On of `c1` is done
            10:00:30 Succeeded  rackwright c1 hold Released op1: `c1` is no longer held by operation op1
            10:00:30 Succeeded  rackwright c1 step Rejoin op1: Rejoin of `c1` is done
            10:00:30 Started    rackwright c1 uncordon #1 op1: the node of `c1` is asked for an uncordon
            10:00:30 Succeeded  rackwright c1 step Uncordon op1: Uncordon of `c1` is done
            10:00:30 Succeeded  alice      c1 operation restart op1: `c1` was restarted
        "#]],
    );
}

#[test]
fn a_refusal_and_what_is_done_on_the_spot_are_told() {
    check(
        "c1 compute on ready
        > alice unmanage c1 broken fan
        > bob restart c1
        > bob unmanage c1 again
        > bob cancel op9
        > alice manage c1 mended",
        expect![[r#"
            10:00:00 Succeeded  alice      c1 request unmanage: `c1` was taken out of management: broken fan
            10:00:00 Failed     bob        c1 request restart: `c1` cannot be restarted [machine-managed]
            10:00:00 Failed     bob        c1 request unmanage: `c1` cannot be unmanaged [machine-managed]
            10:00:00 Failed     bob        cluster request cancel op9: there is no operation op9 [operation-exists]
            10:00:00 Succeeded  alice      c1 request manage: `c1` may be managed again: mended
        "#]],
    );
}

#[test]
fn faults_and_what_follows_from_them_are_told() {
    check(
        "c1 compute on ready
        > refuse c1 busy
        > alice power-off c1 skip-shutdown
        > wait 20s
        > refuse c1 unsupported
        > wait 3m
        > obey c1
        > wait 1m",
        expect![[r#"
            10:00:00 Accepted   alice      c1 request powerOff op1: power-off of `c1` was accepted as operation op1
            10:00:00 Succeeded  rackwright c1 hold Placed op1: `c1` is held by operation op1: being powered off
            10:00:00 Started    rackwright c1 cordon #1 op1: the node of `c1` is asked for a cordon
            10:00:00 Failed     rackwright c1 cordon #1 op1: the node of `c1` was asked for a cordon, and failed: busy: as the story says [busy]
            10:00:02 Started    rackwright c1 cordon #2 op1: the node of `c1` is asked for a cordon, attempt 2
            10:00:02 Failed     rackwright c1 cordon #2 op1: the node of `c1` was asked for a cordon, attempt 2, and failed: busy: as the story says [busy]
            10:00:06 Started    rackwright c1 cordon #3 op1: the node of `c1` is asked for a cordon, attempt 3
            10:00:06 Failed     rackwright c1 cordon #3 op1: the node of `c1` was asked for a cordon, attempt 3, and failed: busy: as the story says [busy]
            10:00:14 Started    rackwright c1 cordon #4 op1: the node of `c1` is asked for a cordon, attempt 4
            10:00:14 Failed     rackwright c1 cordon #4 op1: the node of `c1` was asked for a cordon, attempt 4, and failed: busy: as the story says [busy]
            10:00:30 Succeeded  rackwright c1 step Cordon op1: Cordon of `c1` was left out: the node could not be cordoned in time
            10:00:30 Started    rackwright c1 forced power-off #1 op1: the BMC of `c1` is asked for a forced power-off
            10:00:30 Failed     rackwright c1 forced power-off #1 op1: the BMC of `c1` was asked for a forced power-off, and failed: unsupported: as the story says [unsupported]
            10:00:50 Succeeded  rackwright c1 hold Released op1: `c1` is no longer held by operation op1
            10:00:50 Failed     alice      c1 operation powerOff op1: power-off failed: the forced power-off was answered: unsupported: as the story says. Left behind: power On; holds none [Some(DeviceUnsupported)]
        "#]],
    );
}

#[test]
fn a_cancel_and_a_repeated_request_are_told_and_so_is_a_new_keeper() {
    check(
        "c1 compute on ready
        > alice restart c1 key=k
        > alice restart c1 key=k
        > down 1h
        > look
        > bob cancel op1
        > wait 3m",
        expect![[r#"
            10:00:00 Accepted   alice      c1 request restart op1: restart of `c1` was accepted as operation op1
            10:00:00 Succeeded  rackwright c1 hold Placed op1: `c1` is held by operation op1: being restarted
            10:00:00 Started    rackwright c1 cordon #1 op1: the node of `c1` is asked for a cordon
            10:00:00 Succeeded  rackwright c1 step Cordon op1: Cordon of `c1` is done
            10:00:00 Started    rackwright c1 graceful shutdown #1 op1: the BMC of `c1` is asked for a graceful shutdown
            10:00:00 Accepted   alice      c1 request restart op1: restart of `c1` was asked for again by the same request; it is operation op1
            11:00:00 InProgress rackwright c1 operation restart op1: restart of `c1` was taken up again by a new keeper; its deadline is 2026-11-15T11:40:00.000Z
            11:00:00 Started    rackwright c1 graceful shutdown #2 op1: the BMC of `c1` is asked for a graceful shutdown, attempt 2
            11:00:00 Accepted   bob        c1 request cancel op1: operation op1 is to be cancelled at its next safe point
            11:02:00 Succeeded  rackwright c1 hold Released op1: `c1` is no longer held by operation op1
            11:02:00 Canceled   alice      c1 operation restart op1: cancelled by bob during Power Off. Left behind: power On; holds none. A graceful shutdown was asked for at 11:00:00Z and may still happen. [None]
            11:02:00 Started    rackwright c1 uncordon #1: the node of `c1` is asked for an uncordon
            11:02:00 Succeeded  rackwright c1 uncordon #1: the node of `c1` shows the uncordon that it was asked for
        "#]],
    );
}

#[test]
fn what_the_holds_alone_lead_to_is_ours() {
    check(
        "c1 compute on ready
        > alice cordon c1
        > see c1 uncordoned
        > wait 1m",
        expect![[r#"
            10:00:00 Accepted   alice      c1 request cordon op1: cordon of `c1` was accepted as operation op1
            10:00:00 Succeeded  alice      c1 hold Placed op1: `c1` is held by alice: cordoned by a person
            10:00:00 Started    rackwright c1 cordon #1 op1: the node of `c1` is asked for a cordon
            10:00:00 Succeeded  rackwright c1 step Cordon op1: Cordon of `c1` is done
            10:00:00 Succeeded  alice      c1 operation cordon op1: `c1` was cordoned
            10:00:00 Started    rackwright c1 cordon #1: the node of `c1` is asked for a cordon
            10:00:00 Succeeded  rackwright c1 cordon #1: the node of `c1` shows the cordon that it was asked for
        "#]],
    );
}

#[test]
fn what_the_holds_ask_for_in_vain_is_told_once_and_each_kind_of_fault_once() {
    check(
        "c1 compute on ready
        > alice cordon c1
        > refuse c1 busy
        > see c1 uncordoned
        > wait 1h
        > refuse c1 denied
        > wait 1h
        > obey c1
        > wait 10m",
        expect![[r#"
            10:00:00 Accepted   alice      c1 request cordon op1: cordon of `c1` was accepted as operation op1
            10:00:00 Succeeded  alice      c1 hold Placed op1: `c1` is held by alice: cordoned by a person
            10:00:00 Started    rackwright c1 cordon #1 op1: the node of `c1` is asked for a cordon
            10:00:00 Succeeded  rackwright c1 step Cordon op1: Cordon of `c1` is done
            10:00:00 Succeeded  alice      c1 operation cordon op1: `c1` was cordoned
            10:00:00 Started    rackwright c1 cordon #1: the node of `c1` is asked for a cordon
            10:00:00 Failed     rackwright c1 cordon #1: the node of `c1` was asked for a cordon, and failed: busy: as the story says [busy]
            11:00:02 Failed     rackwright c1 cordon #65: the node of `c1` was asked for a cordon, attempt 65, and failed: denied: as the story says [denied]
            12:00:02 Succeeded  rackwright c1 cordon #125: the node of `c1` shows the cordon that it was asked for
        "#]],
    );
}

#[test]
fn what_nobody_wants_any_more_is_told_as_that() {
    check(
        "c1 compute on ready
        > alice cordon c1
        > refuse c1 busy
        > see c1 uncordoned
        > wait 1m
        > alice uncordon c1
        > wait 10m",
        expect![[r#"
            10:00:00 Accepted   alice      c1 request cordon op1: cordon of `c1` was accepted as operation op1
            10:00:00 Succeeded  alice      c1 hold Placed op1: `c1` is held by alice: cordoned by a person
            10:00:00 Started    rackwright c1 cordon #1 op1: the node of `c1` is asked for a cordon
            10:00:00 Succeeded  rackwright c1 step Cordon op1: Cordon of `c1` is done
            10:00:00 Succeeded  alice      c1 operation cordon op1: `c1` was cordoned
            10:00:00 Started    rackwright c1 cordon #1: the node of `c1` is asked for a cordon
            10:00:00 Failed     rackwright c1 cordon #1: the node of `c1` was asked for a cordon, and failed: busy: as the story says [busy]
            10:01:00 Accepted   alice      c1 request uncordon op2: uncordon of `c1` was accepted as operation op2
            10:01:00 Succeeded  rackwright c1 hold Released op2: `c1` is no longer held by alice
            10:01:00 Succeeded  rackwright c1 step Uncordon op2: Uncordon of `c1` is done
            10:01:00 Succeeded  alice      c1 operation uncordon op2: `c1` was uncordoned
            10:01:00 Canceled   rackwright c1 cordon #5: the node of `c1` is no longer asked for a cordon
        "#]],
    );
}

#[test]
fn a_silent_undercloud_is_told_when_it_counts() {
    check(
        "c1 compute on ready
        > undercloud silent
        > wait 20m
        > undercloud answers",
        expect![[r#"
            10:02:00 Failed     rackwright cluster connection Timeout: Cluster has not been heard from lately [unreachable]
            10:05:00 Failed     rackwright cluster connection Disconnected: Cluster is disconnected [unreachable]
            10:20:00 Succeeded  rackwright cluster connection Connected: Cluster is up and running
        "#]],
    );
}

#[test]
fn looks_and_waits_are_not_told() {
    check(
        "c1 compute on ready
        > see c1 off
        > wait 1h
        > fault c1 unreachable
        > wait 1h",
        expect![[r#""#]],
    );
}

#[test]
fn an_entry_is_found_by_subscription_resource_and_correlation() {
    let mut play = Play::of("c1 compute on ready\n> alice restart c1");
    play.run();
    let (_, entry) = play.desk.log.first().expect("an entry");
    assert_eq!(entry.subject.part, Part::Machine(desk::name("c1")));
    assert_eq!(entry.labels(), ["subscription/s", "machine/s/g/c1", "correlation/c"]);
}

#[test]
fn what_is_asked_for_after_an_operation_is_told_once() {
    check(
        "c1 compute on ready
        node n1 of naks01 on c1
        > alice cordon c1 evacuate
        > wait 2m
        > tenants unheard
        > alice uncordon c1
        > wait 10m
        > tenants kubevirt fails
        > tenants heard
        > wait 10m
        > tenants kubevirt works
        > wait 10m
        ",
        expect![[r#"
            10:00:00 Accepted   alice      c1 request cordon op1: cordon of `c1` was accepted as operation op1
            10:00:00 Succeeded  alice      c1 hold Placed op1: `c1` is held by evacuation by alice, operation op1: emptied by a person
            10:00:00 Started    rackwright c1 cordon #1 op1: the node of `c1` is asked for a cordon
            10:00:00 Succeeded  rackwright c1 step Cordon op1: Cordon of `c1` is done
            10:00:00 Started    rackwright c1 skipRemediation #1 op1: the mark that Cluster API leaves `n1` alone is asked for
            10:00:00 Started    rackwright c1 cordonNode #1 op1: the cordon of node `n1` is asked for
            10:00:00 Succeeded  rackwright c1 step Cordon Tenant Nodes op1: Cordon Tenant Nodes of `c1` is done
            10:00:00 InProgress rackwright c1 workloads of cordon op1: node `n1` of `naks01` is drained
            10:00:05 Succeeded  rackwright c1 step Drain op1: Drain of `c1` is done
            10:00:05 Started    rackwright c1 stopVm #1 op1: the shutdown of `n1` is asked for
            10:00:25 Succeeded  rackwright c1 step Stop Virtual Machines op1: Stop Virtual Machines of `c1` is done
            10:00:25 Succeeded  alice      c1 operation cordon op1: `c1` was cordoned and emptied: 1 virtual machine stopped, 1 tenant node drained
            10:02:00 Accepted   alice      c1 request uncordon op2: uncordon of `c1` was accepted as operation op2
            10:02:00 Succeeded  rackwright c1 hold Released op2: `c1` is no longer held by evacuation by alice, operation op1
            10:02:00 Started    rackwright c1 uncordon #1 op2: the node of `c1` is asked for an uncordon
            10:02:00 Succeeded  rackwright c1 step Uncordon op2: Uncordon of `c1` is done
            10:05:00 Succeeded  rackwright c1 step Start Virtual Machines op2: Start Virtual Machines of `c1` was left out: 1 virtual machine could not be started yet (`n1`), and will be
            10:05:30 Succeeded  rackwright c1 step Uncordon Tenant Nodes op2: Uncordon Tenant Nodes of `c1` was left out: 1 tenant node could not be uncordoned yet (`n1`), and will be
            10:05:30 Succeeded  alice      c1 operation uncordon op2: `c1` was uncordoned; Start Virtual Machines was left out: 1 virtual machine could not be started yet (`n1`), and will be; Uncordon Tenant Nodes was left out: 1 tenant node could not be uncordoned yet (`n1`), and will be
            10:12:00 Started    rackwright c1 startVm #1: the start of `n1` is asked for
            10:12:00 Started    rackwright c1 uncordonNode #1: the uncordon of node `n1` is asked for
            10:12:02 Failed     rackwright c1 startVm #1: the start of `n1` was asked for, and failed: garbled: 500 [garbled]
            10:22:37 Started    rackwright c1 resumeRemediation #1: the end of the mark that Cluster API leaves `n1` alone is asked for
        "#]],
    );
}
