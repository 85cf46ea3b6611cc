//! What to do about the answer to an eviction: one table.

use model::{ErrandOutcome, EvictionAnswer, Fault, FaultClass, Limits, Span};

use crate::cadence::backoff;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// The pod is on its way out, or gone: the watch shows it. Should it not, it is evicted again after this.
    Watch { again_after: Span },
    /// A disruption budget keeps it.
    Kept { why: String, again_after: Span },
    /// The API could not be asked, or could not say.
    Retry { again_after: Span },
}

impl Reaction {
    pub fn again_after(&self) -> Span {
        match self {
            Reaction::Watch { again_after } | Reaction::Kept { again_after, .. } | Reaction::Retry { again_after } => *again_after,
        }
    }
}

/// The reaction to what the API server said, or to what kept it from saying anything.
pub(crate) fn react(outcome: &Result<ErrandOutcome, Fault>, attempt: u32, limits: &Limits) -> Reaction {
    let answer = match outcome {
        Err(fault) if fault.class == FaultClass::Missing => return Reaction::Watch { again_after: limits.errand_settle },
        Err(_) => return Reaction::Retry { again_after: backoff(attempt, limits).max(limits.evict_retry) },
        Ok(ErrandOutcome::Accepted) => return Reaction::Watch { again_after: limits.errand_settle },
        Ok(ErrandOutcome::Eviction(answer)) => answer,
    };
    match answer {
        EvictionAnswer::Accepted | EvictionAnswer::AlreadyGone => Reaction::Watch { again_after: limits.errand_settle },
        // The listing is behind: what is on the node now has another uid, and is evicted by that.
        EvictionAnswer::AnotherPod => Reaction::Watch { again_after: limits.errand_settle },
        EvictionAnswer::Blocked { why, retry_after } => {
            Reaction::Kept { why: why.clone(), again_after: retry_after.map_or(limits.evict_retry, |after| after.max(limits.evict_retry)) }
        }
        // Only a person can change that, so that it is not asked often.
        EvictionAnswer::Misconfigured { why } => Reaction::Kept { why: why.clone(), again_after: limits.last_retry },
        EvictionAnswer::NamespaceTerminating => Reaction::Watch { again_after: limits.errand_settle },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use model::Delivery;
    use std::fmt::Write;

    #[test]
    fn every_answer_has_one_reaction() {
        let blocked = |retry_after| EvictionAnswer::Blocked { why: "web needs 3".into(), retry_after };
        let answers = [
            EvictionAnswer::Accepted,
            EvictionAnswer::AlreadyGone,
            EvictionAnswer::AnotherPod,
            blocked(None),
            blocked(Some(Span::seconds(1))),
            blocked(Some(Span::seconds(10))),
            EvictionAnswer::Misconfigured { why: "two budgets".into() },
            EvictionAnswer::NamespaceTerminating,
        ];
        let mut table = String::new();
        let limits = Limits::default();
        for answer in answers {
            let reaction = react(&Ok(ErrandOutcome::Eviction(answer.clone())), 1, &limits);
            writeln!(table, "{answer:?} -> {reaction:?}").unwrap();
        }
        for class in FaultClass::ALL {
            for attempt in [1, 9] {
                let reaction = react(&Err(Fault::new(class, Delivery::Maybe, "x")), attempt, &limits);
                writeln!(table, "{class}, attempt {attempt} -> {reaction:?}").unwrap();
            }
        }
        expect![[r#"
            Accepted -> Watch { again_after: 30s }
            AlreadyGone -> Watch { again_after: 30s }
            AnotherPod -> Watch { again_after: 30s }
            Blocked { why: "web needs 3", retry_after: None } -> Kept { why: "web needs 3", again_after: 5s }
            Blocked { why: "web needs 3", retry_after: Some(1s) } -> Kept { why: "web needs 3", again_after: 5s }
            Blocked { why: "web needs 3", retry_after: Some(10s) } -> Kept { why: "web needs 3", again_after: 10s }
            Misconfigured { why: "two budgets" } -> Kept { why: "two budgets", again_after: 1m 00s }
            NamespaceTerminating -> Watch { again_after: 30s }
            unreachable, attempt 1 -> Retry { again_after: 5s }
            unreachable, attempt 9 -> Retry { again_after: 1m 00s }
            busy, attempt 1 -> Retry { again_after: 5s }
            busy, attempt 9 -> Retry { again_after: 1m 00s }
            denied, attempt 1 -> Retry { again_after: 5s }
            denied, attempt 9 -> Retry { again_after: 1m 00s }
            untrusted, attempt 1 -> Retry { again_after: 5s }
            untrusted, attempt 9 -> Retry { again_after: 1m 00s }
            another machine, attempt 1 -> Retry { again_after: 5s }
            another machine, attempt 9 -> Retry { again_after: 1m 00s }
            no login, attempt 1 -> Retry { again_after: 5s }
            no login, attempt 9 -> Retry { again_after: 1m 00s }
            unsupported, attempt 1 -> Retry { again_after: 5s }
            unsupported, attempt 9 -> Retry { again_after: 1m 00s }
            missing, attempt 1 -> Watch { again_after: 30s }
            missing, attempt 9 -> Watch { again_after: 30s }
            garbled, attempt 1 -> Retry { again_after: 5s }
            garbled, attempt 9 -> Retry { again_after: 1m 00s }
        "#]]
        .assert_eq(&table);
    }
}
