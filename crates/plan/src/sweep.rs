//! What is no longer needed: operations past their keeping, requests that nobody came back for.

use model::{Timestamp, VERDICT_LIFE};

use crate::draft::Draft;

/// Ended operations that are kept at most, however young they are; the oldest are forgotten first.
///
/// A whole site's upgrade leaves a few thousand behind, so a person still finds what they did yesterday; and a script
/// that restarts machines all day cannot fill the store and the memory of whoever reads it.
const KEPT_OPERATIONS: usize = 10_000;

pub(crate) fn plan_sweep(draft: &mut Draft, now: Timestamp) {
    let keep = draft.after.cluster.limits.operation_retention;
    let excess = draft.after.ended_count().saturating_sub(KEPT_OPERATIONS);
    let ended = draft.after.ended().enumerate();
    let old: Vec<_> = ended.take_while(|(n, (at, _))| *n < excess || *at + keep <= now).map(|(_, (_, id))| id.clone()).collect();
    for id in old {
        draft.forget_operation(id);
    }
    let oldest = draft.after.ended().next().map(|(at, _)| *at);
    if let Some(at) = oldest {
        draft.wake_at(at + keep);
    }
    let abandoned: Vec<_> = draft
        .after
        .requests
        .values()
        .filter(|request| request.verdict.is_some() && request.expires_at + VERDICT_LIFE <= now)
        .map(|request| request.id.clone())
        .collect();
    for id in abandoned {
        draft.forget_request(id);
    }
    let next = draft.after.requests.values().map(|request| request.expires_at + VERDICT_LIFE).min();
    if let Some(at) = next {
        draft.wake_at(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Snapshot;
    use model::{
        Action, Cluster, ClusterName, ClusterStatus, Connection, CorrelationId, Ended, Home, Limits, MachineName, OPERATION_FORMAT,
        Operation, OperationId, OperationResult, Span, Target,
    };

    fn cluster(now: Timestamp) -> Cluster {
        Cluster {
            name: ClusterName::new("site1").unwrap(),
            home: Home { subscription: "s".into(), resource_group: "g".into(), location: "here".into() },
            tags: std::collections::BTreeMap::new(),
            created_at: now,
            version: "4.7.8".into(),
            detailed_status: ClusterStatus::Running,
            connection: Connection::Connected,
            connection_since: now,
            limits: Limits::default(),
            waits: Vec::new(),
            skus: Vec::new(),
            join: None,
        }
    }

    fn ended(n: usize, at: Timestamp) -> Operation {
        Operation {
            format: OPERATION_FORMAT,
            id: OperationId::new(format!("op{n}")),
            cluster: ClusterName::new("site1").unwrap(),
            target: Target::Machine(MachineName::new("rack1compute01").unwrap()),
            action: Action::Start,
            caller: "alice".into(),
            correlation_id: CorrelationId::new("c"),
            request_key: None,
            accepted_at: at,
            deadline_at: at,
            journal: Vec::new(),
            cancel: None,
            ended: Some(Ended { at, result: OperationResult::Succeeded, message: String::new(), next: None, failure: None }),
            wait: None,
            replacement: None,
        }
    }

    #[test]
    fn of_too_many_operations_the_oldest_are_forgotten_though_they_are_young() {
        let now = Timestamp::from_millis(1_000_000_000);
        let mut snapshot = Snapshot::new(cluster(now), now);
        for n in 0..KEPT_OPERATIONS + 3 {
            // Those that ended last have the first names, so that it is the time that counts.
            snapshot.set_operation(ended(n, now - Span::millis(n as u64)));
        }
        let mut draft = Draft::new(&snapshot);
        plan_sweep(&mut draft, now);
        let forgotten: Vec<String> = draft.plan.changes.forgotten_operations.iter().map(ToString::to_string).collect();
        assert_eq!(forgotten, ["op10000", "op10001", "op10002"]);
        assert_eq!(draft.after.ended_count(), KEPT_OPERATIONS);
    }
}
