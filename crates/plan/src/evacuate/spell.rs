//! How long something has been going on, not counting the time that no keeper was at work.

use model::{Fact, Operation, Span, Timestamp};

/// The moment from which a span is counted that began at `from`: later by as long as keepers were away since.
///
/// As with deadlines, what was left at the last entry of the journal is left when the operation is taken up again.
pub(crate) fn counted_from(operation: &Operation, from: Timestamp) -> Timestamp {
    let mut away = Span::ZERO;
    let mut last = from;
    for entry in operation.journal.iter().filter(|entry| entry.at >= from) {
        if entry.fact == Fact::Resumed {
            away = Span::millis(away.as_millis() + entry.at.since(last).as_millis());
        }
        last = entry.at.max(last);
    }
    from + away
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Action, ClusterName, CorrelationId, Entry, MachineName, OPERATION_FORMAT, OperationId, StepKind, Target};

    #[test]
    fn the_time_that_no_keeper_was_at_work_does_not_count() {
        let at = |minute: i64| Timestamp::from_millis(minute * 60_000);
        let entry = |minute, fact| Entry { at: at(minute), fact };
        let operation = Operation {
            format: OPERATION_FORMAT,
            id: OperationId::new("op1"),
            cluster: ClusterName::new("site1").unwrap(),
            target: Target::Machine(MachineName::new("a").unwrap()),
            action: Action::Restart,
            caller: "alice".into(),
            correlation_id: CorrelationId::new("c"),
            request_key: None,
            accepted_at: at(0),
            deadline_at: at(40),
            journal: vec![
                entry(1, Fact::Seen { step: StepKind::Cordon }),
                entry(4, Fact::Resumed),
                entry(6, Fact::Seen { step: StepKind::CordonTenants }),
                entry(16, Fact::Resumed),
            ],
            cancel: None,
            ended: None,
            wait: None,
            replacement: None,
        };
        assert_eq!(counted_from(&operation, at(1)), at(14));
        assert_eq!(counted_from(&operation, at(6)), at(16));
        assert_eq!(counted_from(&operation, at(5)), at(15));
        assert_eq!(counted_from(&operation, at(17)), at(17));
    }
}
