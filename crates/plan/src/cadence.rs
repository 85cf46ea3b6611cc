//! How often devices are looked at and tried again.

use model::{Contact, Limits, MachineName, Span, Timestamp};

/// The pause after `failures` failures in a row: doubled from the first retry to the last.
pub fn backoff(failures: u32, limits: &Limits) -> Span {
    let doublings = failures.saturating_sub(1).min(16);
    limits.first_retry.times(1 << doublings).min(limits.last_retry)
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
    if contact.fault.is_some() {
        return tried_at + spread(machine, backoff(contact.failures, limits));
    }
    match busy_since {
        Some(since) => {
            let eighth = Span::millis(tried_at.since(since).as_millis() / 8);
            tried_at + eighth.max(FIRST_LOOK_AFTER).min(limits.busy_poll)
        }
        None => tried_at + spread(machine, limits.idle_poll),
    }
}

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
