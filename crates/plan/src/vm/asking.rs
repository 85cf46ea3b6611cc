//! What has become of an errand for a virtual machine, and whether it is time to ask for it (again).

use model::{Delivery, Errand, Eye, Fact, Failure, Fault, FaultClass, Operation, Shutdown, Span, Timestamp, Wait, WaitKind};

use super::operate::{Bench, Finding};
use crate::cadence::backoff;
use crate::fault::Reaction;

/// The reaction to a fault that answered an errand. Each is harmless to repeat; one that may have arrived is given its time to
/// show all the same, so that what is asked again is what had no effect.
pub(crate) fn react_to_errand(errand: &Errand, fault: &Fault) -> Reaction {
    match (fault.class, errand) {
        (FaultClass::Unsupported, Errand::StopVm { shutdown: Shutdown::Graceful, .. }) => Reaction::Force,
        (FaultClass::Unsupported, _) => Reaction::GiveUp(Failure::DeviceUnsupported),
        (FaultClass::Missing, _) => Reaction::GiveUp(Failure::DeviceMissing),
        (
            FaultClass::Unreachable
            | FaultClass::Busy
            | FaultClass::Denied
            | FaultClass::Untrusted
            | FaultClass::OtherMachine
            | FaultClass::NoLogin
            | FaultClass::Garbled,
            _,
        ) => match fault.delivery {
            Delivery::No => Reaction::AskAgain,
            Delivery::Maybe => Reaction::LookFirst,
        },
    }
}

/// What has become of an errand so far.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Asked {
    Never,
    /// It has not been answered yet; its answer wakes us.
    UnderWay,
    /// It was refused, and asking again does no harm. That is done then.
    Refused {
        fault: Fault,
        again_at: Timestamp,
    },
    /// It was taken. If nothing shows, it is asked for again then.
    Taken {
        again_at: Timestamp,
    },
    /// Whether it arrived is not known: a keeper died over it. It may take effect until then.
    Lost {
        again_at: Timestamp,
    },
    /// There is no gentle way.
    Force,
    Hopeless {
        failure: Failure,
        because: String,
    },
}

pub(super) fn asked(bench: &Bench<'_>, errand: &Errand) -> Asked {
    let Some((asked_at, attempt)) = bench.operation.errand_asked(errand) else { return Asked::Never };
    if let Some((fault_at, fault)) = bench.operation.errand_fault(errand, attempt) {
        return after_fault(bench, errand, attempt, fault_at, fault);
    }
    let pause = bench.limits.errand_settle.max(backoff(attempt, bench.limits));
    match bench.state_of(errand) {
        Some(state) => match &state.answer {
            None => Asked::UnderWay,
            Some(answer) => Asked::Taken { again_at: answer.at + pause },
        },
        // It is harmless to repeat, and the new listing has shown that it had no effect.
        None if asked_at < bench.snapshot.keeper_started_at => Asked::Lost { again_at: bench.now },
        None => Asked::Lost { again_at: asked_at + pause },
    }
}

fn after_fault(bench: &Bench<'_>, errand: &Errand, attempt: u32, fault_at: Timestamp, fault: &Fault) -> Asked {
    let pause = backoff(attempt, bench.limits);
    let settled_at = fault_at + bench.limits.errand_settle;
    match react_to_errand(errand, fault) {
        Reaction::AskAgain => Asked::Refused { fault: fault.clone(), again_at: fault_at + pause },
        Reaction::LookFirst => Asked::Refused { fault: fault.clone(), again_at: settled_at.max(fault_at + pause) },
        Reaction::Force => Asked::Force,
        // What is not there may be about to be seen gone: the watch has its time to tell.
        Reaction::GiveUp(Failure::DeviceMissing) if bench.now < settled_at => Asked::Taken { again_at: settled_at },
        Reaction::GiveUp(failure) => Asked::Hopeless { failure, because: format!("{errand} was answered: {fault}") },
    }
}

/// Asks if it was never asked, if asking had no effect, or if the effect did not show in its time.
pub(super) fn ask_or_wait(bench: &Bench<'_>, errand: Errand, wait: Wait) -> Finding {
    match asked(bench, &errand) {
        Asked::Never | Asked::Force => Finding::Ask { errand, wait },
        Asked::UnderWay => Finding::Wait { wait, until: None },
        Asked::Refused { again_at, .. } | Asked::Taken { again_at } | Asked::Lost { again_at } if bench.now >= again_at => {
            Finding::Ask { errand, wait }
        }
        Asked::Refused { again_at, fault } => Finding::Wait { wait: fault_wait(bench, &errand, fault), until: Some(again_at) },
        Asked::Taken { again_at } | Asked::Lost { again_at } => Finding::Wait { wait, until: Some(again_at) },
        Asked::Hopeless { failure, because } => Finding::Fail { failure, because },
    }
}

/// The same where nothing more telling is waited for than the effect.
pub(super) fn ask_for_effect(bench: &Bench<'_>, errand: &Errand, usual: Span) -> Finding {
    let attempt = bench.operation.errand_asked(errand).map_or(1, |(_, attempt)| attempt);
    let wait = |attempt| bench.wait(WaitKind::ErrandEffect { of: Box::new(errand.clone()), attempt }, usual);
    match ask_or_wait(bench, errand.clone(), wait(attempt)) {
        Finding::Ask { errand, .. } if bench.operation.errand_asked(&errand).is_some() => Finding::Ask { wait: wait(attempt + 1), errand },
        other => other,
    }
}

/// It has been refused since the first fault that answered it.
pub(super) fn fault_wait(bench: &Bench<'_>, errand: &Errand, fault: Fault) -> Wait {
    let is_of_it = |fact: &Fact| matches!(fact, Fact::ErrandFaulted { errand: faulted, .. } if faulted == errand);
    let since = bench.operation.journal.iter().find(|entry| is_of_it(&entry.fact)).map_or(bench.now, |entry| entry.at);
    let kind = WaitKind::Device { eye: Eye::Undercloud, fault, retry_every: bench.limits.last_retry };
    Wait { kind, since, expected_by: Some(since + bench.limits.errand_settle) }
}

/// When this errand was asked for the first time since `after`.
pub(super) fn first_asked_at(operation: &Operation, errand: &Errand, after: Timestamp) -> Option<Timestamp> {
    operation.journal.iter().filter(|entry| entry.at >= after).find_map(|entry| match &entry.fact {
        Fact::ErrandAsked { errand: asked, .. } if asked == errand => Some(entry.at),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use model::{VmName, VmRef};
    use std::fmt::Write;

    #[test]
    fn every_fault_has_one_reaction() {
        let vm = VmRef { name: VmName::new("fw").unwrap(), uid: "u1".into() };
        let errands = [Errand::StopVm { vm: vm.clone(), shutdown: Shutdown::Graceful }, Errand::StartVm { vm }];
        let mut table = String::new();
        for class in FaultClass::ALL {
            for delivery in [Delivery::No, Delivery::Maybe] {
                let reactions = errands.iter().map(|errand| react_to_errand(errand, &Fault::new(class, delivery, "x")));
                let reactions: Vec<String> = reactions.map(|reaction| format!("{reaction:?}")).collect();
                writeln!(table, "{class} {delivery:?}: {}", reactions.join(", ")).unwrap();
            }
        }
        expect![[r#"
            unreachable No: AskAgain, AskAgain
            unreachable Maybe: LookFirst, LookFirst
            busy No: AskAgain, AskAgain
            busy Maybe: LookFirst, LookFirst
            denied No: AskAgain, AskAgain
            denied Maybe: LookFirst, LookFirst
            untrusted No: AskAgain, AskAgain
            untrusted Maybe: LookFirst, LookFirst
            another machine No: AskAgain, AskAgain
            another machine Maybe: LookFirst, LookFirst
            no login No: AskAgain, AskAgain
            no login Maybe: LookFirst, LookFirst
            unsupported No: Force, GiveUp(DeviceUnsupported)
            unsupported Maybe: Force, GiveUp(DeviceUnsupported)
            missing No: GiveUp(DeviceMissing), GiveUp(DeviceMissing)
            missing Maybe: GiveUp(DeviceMissing), GiveUp(DeviceMissing)
            garbled No: AskAgain, AskAgain
            garbled Maybe: LookFirst, LookFirst
        "#]]
        .assert_eq(&table);
    }
}
