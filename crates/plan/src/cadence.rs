//! How often devices are looked at and tried again.

use model::{Contact, Eye, Fact, Fault, FaultClass, Limits, MachineName, Operation, Span, Timestamp, WaitKind};

/// The pause after `failures` failures in a row: doubled from the first retry to the last.
pub fn backoff(failures: u32, limits: &Limits) -> Span {
    let doublings = failures.saturating_sub(1).min(16);
    limits.first_retry.times(1 << doublings).min(limits.last_retry)
}

/// The pause after a BMC's fault, the latest of `failures` in a row.
///
/// A BMC that does not accept our login is left alone for the longest pause at once: it counts each further try, and
/// after a few it locks the account, also for the people who would mend it.
pub fn bmc_pause(fault: &Fault, failures: u32, limits: &Limits) -> Span {
    match fault.class {
        FaultClass::Denied => limits.last_retry,
        FaultClass::Unreachable
        | FaultClass::Busy
        | FaultClass::Untrusted
        | FaultClass::OtherMachine
        | FaultClass::NoLogin
        | FaultClass::Unsupported
        | FaultClass::Missing
        | FaultClass::Garbled => backoff(failures, limits),
    }
}

/// Whether a BMC may be looked at sooner than it is due, because something is about to be done with its machine.
pub fn may_be_hastened(contact: &Contact) -> bool {
    contact.fault.as_ref().is_none_or(|fault| fault.class != FaultClass::Denied)
}

/// When an undercloud that does not answer is tried again.
pub fn retry_at(contact: &Contact, limits: &Limits) -> Option<Timestamp> {
    let tried_at = contact.tried_at?;
    contact.fault.as_ref().map(|_| tried_at + backoff(contact.failures, limits))
}

/// When a BMC is looked at next.
///
/// Idle polls and retries are spread by the machine's name, so that a thousand BMCs are not asked in one instant, nor
/// again all at once when a switch that cut them off is back. A busy machine's
/// polls begin close together, because most effects come fast, and then widen to the busy interval.
pub fn next_poll(machine: &MachineName, contact: &Contact, busy_since: Option<Timestamp>, limits: &Limits) -> Timestamp {
    let Some(tried_at) = contact.tried_at else { return Timestamp::EPOCH };
    if let Some(fault) = &contact.fault {
        return tried_at + spread(machine, bmc_pause(fault, contact.failures, limits));
    }
    match busy_since {
        Some(since) => {
            let eighth = Span::millis(tried_at.since(since).as_millis() / 8);
            tried_at + eighth.max(FIRST_LOOK_AFTER).min(limits.busy_poll)
        }
        None => tried_at + spread(machine, limits.idle_poll),
    }
}

/// From when on a change of power is waited for: since it was asked for, and answered. Whatever else happens in an operation is not seen
/// by looking at the power, so that nobody looks more often for it.
pub fn busy_since(operation: &Operation, ask_ended_at: Option<Timestamp>) -> Timestamp {
    let mut asks = operation.journal.iter().rev().filter_map(|entry| match entry.fact {
        Fact::Asked { ask, .. } => Some((entry.at, ask.power().is_some())),
        _ => None,
    });
    match asks.next() {
        Some((asked_at, true)) => ask_ended_at.unwrap_or(asked_at).max(asked_at),
        _ => asks.find(|(_, is_of_power)| *is_of_power).map_or(operation.accepted_at, |(asked_at, _)| asked_at),
    }
}

/// Whether a look at a machine's power would tell what its operation waits for. While an agent writes or a node is to come back it would
/// not, and a site that is reimaged at once would do little but look: such a machine is looked at as one at rest is, and when its
/// BMC tells of an event.
pub(crate) fn waits_for_look(operation: &Operation) -> bool {
    match operation.wait.as_ref().map(|wait| &wait.kind) {
        None | Some(WaitKind::LateOff { .. } | WaitKind::ControlPlane { .. } | WaitKind::UnexpectedlyOff | WaitKind::PoweredOff { .. }) => {
            true
        }
        Some(WaitKind::FirstLook { eye } | WaitKind::Device { eye, .. }) => *eye == Eye::Bmc,
        Some(WaitKind::Effect { of, .. }) => of.power().is_some(),
        Some(_) => false,
    }
}

/// When a BMC that has just told of an event is looked at: what it tells of is seen by looking, and at once if it can be.
///
/// A BMC that chatters is looked at no more often than a busy one, and one that fails no sooner than it would be anyway.
pub fn poll_after_event(contact: &Contact, limits: &Limits, now: Timestamp) -> Timestamp {
    let pause = contact.fault.as_ref().map_or(limits.busy_poll, |fault| bmc_pause(fault, contact.failures, limits));
    contact.tried_at.map_or(now, |tried_at| now.max(tried_at + pause))
}

/// What is known of a BMC's stream of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ear {
    Open,
    /// It broke off, or could not be opened.
    Closed {
        at: Timestamp,
    },
    /// The BMC said that it has none.
    NotOffered {
        at: Timestamp,
    },
}

/// Whether to listen for events of a BMC now. Asked after each look, so that one that does not answer is left alone, and
/// those that a switch cut off do not all come back in one instant.
pub fn should_listen(contact: &Contact, ear: Option<Ear>, limits: &Limits, now: Timestamp) -> bool {
    let rested = |since: Timestamp, pause: Span| now.since(since) >= pause;
    contact.fault.is_none()
        && match ear {
            None => true,
            Some(Ear::Open) => false,
            Some(Ear::Closed { at }) => rested(at, limits.idle_poll),
            Some(Ear::NotOffered { at }) => rested(at, limits.idle_poll.times(OFFER_ASKED_EVERY)),
        }
}

/// A BMC learns to tell of events only with new firmware: about once an hour it is asked whether it has.
const OFFER_ASKED_EVERY: u32 = 60;

/// The first look after a request: soon, since a fast device is done by then.
const FIRST_LOOK_AFTER: Span = Span::millis(20);

/// Nine to eleven tenths of the interval, always the same for one machine.
fn spread(machine: &MachineName, every: Span) -> Span {
    let hash = machine
        .as_str()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3));
    let tenth = every.as_millis() / 10;
    Span::millis(every.as_millis() - tenth + hash % (2 * tenth + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn retries_double_up_to_the_last() {
        let limits = Limits::default();
        let pauses: Vec<String> = [1, 2, 3, 5, 6, 400].iter().map(|n| backoff(*n, &limits).to_string()).collect();
        assert_eq!(pauses, ["2s", "4s", "8s", "32s", "1m 00s", "1m 00s"]);
    }

    #[test]
    fn a_bmc_that_refuses_our_login_is_not_pressed_until_it_locks_the_account() {
        let limits = Limits::default();
        let pauses = |class| {
            let fault = Fault::new(class, model::Delivery::No, "x");
            [1, 2, 6].map(|failures| bmc_pause(&fault, failures, &limits).to_string()).join(" ")
        };
        assert_eq!(pauses(FaultClass::Denied), "1m 00s 1m 00s 1m 00s");
        for class in [FaultClass::Unreachable, FaultClass::Busy, FaultClass::Untrusted, FaultClass::NoLogin, FaultClass::Garbled] {
            assert_eq!(pauses(class), "2s 4s 1m 00s", "{class}");
        }
        let at = Timestamp::from_millis(1_000_000);
        let machine = MachineName::new("rack1compute01").unwrap();
        let mut contact = Contact::default();
        contact.failed(at, Fault::new(FaultClass::Denied, model::Delivery::No, "401"));
        assert!(next_poll(&machine, &contact, Some(at), &limits).since(at) >= Span::seconds(54));
        assert_eq!(poll_after_event(&contact, &limits, at).since(at), limits.last_retry);
        assert!(!may_be_hastened(&contact));
        contact.answered(at);
        assert_eq!(next_poll(&machine, &contact, Some(at), &limits).since(at), FIRST_LOOK_AFTER, "an answer makes good");
        assert!(may_be_hastened(&contact));
        contact.failed(at, Fault::new(FaultClass::Unreachable, model::Delivery::No, "no route"));
        assert!(next_poll(&machine, &contact, None, &limits).since(at) <= Span::seconds(3));
    }

    #[test]
    fn idle_polls_are_spread_and_busy_ones_widen() {
        let limits = Limits::default();
        let at = Timestamp::from_millis(1_000_000);
        let mut contact = Contact::default();
        contact.answered(at);
        let one = next_poll(&MachineName::new("rack1compute01").unwrap(), &contact, None, &limits);
        let two = next_poll(&MachineName::new("rack1compute02").unwrap(), &contact, None, &limits);
        assert_ne!(one, two);
        for poll in [one, two] {
            assert!(poll.since(at) >= Span::seconds(54) && poll.since(at) <= Span::seconds(66));
        }
        let name = MachineName::new("rack1compute01").unwrap();
        assert_eq!(next_poll(&name, &contact, Some(at), &limits).since(at), FIRST_LOOK_AFTER);
        assert_eq!(next_poll(&name, &contact, Some(at - Span::seconds(4)), &limits).since(at), Span::millis(500));
        assert_eq!(next_poll(&name, &contact, Some(at - Span::minutes(4)), &limits).since(at), limits.busy_poll);
    }

    /// A reimage that was accepted at ten seconds past the epoch.
    fn running() -> Operation {
        use model::{Action, ClusterName, CorrelationId, OPERATION_FORMAT, OperationId, Safeguard, Target};
        Operation {
            format: OPERATION_FORMAT,
            id: OperationId::new("op1"),
            cluster: ClusterName::new("site1").unwrap(),
            target: Target::Machine(MachineName::new("a").unwrap()),
            action: Action::Reimage { safeguard: Safeguard::All },
            caller: "alice".into(),
            correlation_id: CorrelationId::new("c"),
            request_key: None,
            accepted_at: Timestamp::from_millis(10_000),
            deadline_at: Timestamp::from_millis(9_000_000),
            journal: Vec::new(),
            cancel: None,
            ended: None,
            wait: None,
            replacement: None,
        }
    }

    #[test]
    fn only_a_change_of_power_that_was_asked_for_is_looked_for_closely() {
        use model::{DeviceAsk, Entry, MachineReport};
        let at = |seconds: i64| Timestamp::from_millis(1_000 * seconds);
        let asked = |seconds, ask| Entry { at: at(seconds), fact: Fact::Asked { ask, attempt: 1 } };
        let mut operation = running();
        operation.journal.push(asked(15, DeviceAsk::Cordon));
        assert_eq!(busy_since(&operation, Some(at(16))), at(10));
        operation.journal.push(asked(20, DeviceAsk::AgentOn));
        assert_eq!(busy_since(&operation, Some(at(16))), at(20));
        assert_eq!(busy_since(&operation, Some(at(23))), at(23), "a BMC may take a while to say that it will");
        let report = MachineReport::Progress { percent: 5 };
        operation.journal.push(Entry { at: at(60), fact: Fact::Reported { round: 1, report } });
        assert_eq!(busy_since(&operation, Some(at(23))), at(23));
        operation.journal.push(asked(90, DeviceAsk::EjectMedia));
        assert_eq!(busy_since(&operation, Some(at(91))), at(20));
    }

    #[test]
    fn a_machine_is_looked_at_closely_only_for_what_a_look_would_tell() {
        use model::{DeviceAsk, Wait};
        let mut operation = running();
        assert!(waits_for_look(&operation), "nothing has been decided yet");
        let effect = |of| WaitKind::Effect { of, attempt: 1 };
        let table = [
            (WaitKind::FirstLook { eye: Eye::Bmc }, true),
            (WaitKind::FirstLook { eye: Eye::Undercloud }, false),
            (effect(DeviceAsk::AgentOff), true),
            (effect(DeviceAsk::EjectMedia), false),
            (WaitKind::ControlPlane { because: "etcd".into() }, true),
            (WaitKind::AgentCall, false),
            (WaitKind::Writing { percent: Some(5) }, false),
            (WaitKind::PhoneHome, false),
            (WaitKind::Rejoin, false),
        ];
        for (kind, expected) in table {
            operation.wait = Some(Wait { kind: kind.clone(), since: operation.accepted_at, expected_by: None });
            assert_eq!(waits_for_look(&operation), expected, "{kind:?}");
        }
    }

    #[test]
    fn an_event_is_looked_after_at_once_but_a_chattering_bmc_is_not_looked_at_for_every_word() {
        let limits = Limits::default();
        let at = Timestamp::from_millis(1_000_000);
        let mut contact = Contact::default();
        assert_eq!(poll_after_event(&contact, &limits, at), at);
        contact.answered(at);
        assert_eq!(poll_after_event(&contact, &limits, at + Span::millis(300)), at + limits.busy_poll);
        assert_eq!(poll_after_event(&contact, &limits, at + Span::seconds(40)), at + Span::seconds(40));
    }

    #[test]
    fn a_bmc_that_answers_is_listened_to_unless_it_just_broke_off_or_has_nothing_to_tell() {
        let limits = Limits::default();
        let at = Timestamp::from_millis(1_000_000);
        let mut contact = Contact::default();
        contact.answered(at);
        let listen = |ear, after| should_listen(&contact, ear, &limits, at + after);
        assert!(listen(None, Span::ZERO));
        assert!(!listen(Some(Ear::Open), Span::hours(9)));
        assert!(!listen(Some(Ear::Closed { at }), Span::seconds(59)));
        assert!(listen(Some(Ear::Closed { at }), Span::seconds(60)));
        assert!(!listen(Some(Ear::NotOffered { at }), Span::minutes(59)));
        assert!(listen(Some(Ear::NotOffered { at }), Span::minutes(60)));
        let mut silent = contact.clone();
        silent.failed(at, model::Fault::new(model::FaultClass::Unreachable, model::Delivery::No, "no route"));
        assert!(!should_listen(&silent, None, &limits, at));
    }

    #[test]
    fn retries_are_spread_too() {
        let limits = Limits::default();
        let at = Timestamp::from_millis(1_000_000);
        let mut contact = Contact::default();
        for _ in 0..10 {
            contact.failed(at, model::Fault::new(model::FaultClass::Unreachable, model::Delivery::No, "no route"));
        }
        let retries: BTreeSet<Span> = (1..=50)
            .map(|n| next_poll(&MachineName::new(format!("rack1compute{n:02}")).unwrap(), &contact, None, &limits).since(at))
            .collect();
        assert!(retries.len() > 40, "{} moments for 50 machines", retries.len());
        assert!(retries.iter().all(|pause| *pause >= Span::seconds(54) && *pause <= Span::seconds(66)));
    }
}
