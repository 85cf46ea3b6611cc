//! What is no longer needed: operations past their keeping, requests that nobody came back for.

use model::{OperationId, Timestamp, VERDICT_LIFE};

use crate::draft::Draft;

/// Ended operations that are kept at most, however young they are; the oldest are forgotten first.
///
/// A whole site's upgrade leaves a few thousand behind, so a person still finds what they did yesterday; and a script
/// that restarts machines all day cannot fill the store and the memory of whoever reads it.
const KEPT_OPERATIONS: usize = 10_000;

pub(crate) fn plan_sweep(draft: &mut Draft, now: Timestamp) {
    let keep = draft.after.cluster.limits.operation_retention;
    let excess = draft.after.ended_count().saturating_sub(KEPT_OPERATIONS);
    let over: Vec<OperationId> = draft.after.ended().take(excess).map(|(_, id)| id.clone()).collect();
    for id in over {
        draft.forget_operation(id);
    }
    // What was done last to a machine is asked about weeks later, by people and by whoever decides what to try next.
    let old: Vec<OperationId> = draft.after.outdone().take_while(|(at, _)| *at + keep <= now).map(|(_, id)| id.clone()).collect();
    for id in old {
        draft.forget_operation(id);
    }
    let oldest = draft.after.outdone().next().map(|(at, _)| *at);
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
        Operation, OperationResult, Span, Target,
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

    #[test]
    fn the_latest_of_each_kind_is_kept_as_long_as_its_machine() {
        let now = Timestamp::from_millis(1_000_000_000);
        let mut snapshot = Snapshot::new(cluster(now), now);
        snapshot.set_machine(machine("rack1compute01", now));
        let restarted = |n: usize, hours: u64| Operation { action: Action::Restart, ..ended(n, now - Span::hours(hours)) };
        for operation in
            [ended(1, now - Span::hours(200)), ended(2, now - Span::hours(100)), restarted(3, 150), ended(4, now - Span::hours(300))]
        {
            snapshot.set_operation(operation);
        }
        let swept = |snapshot: &Snapshot| {
            let mut draft = Draft::new(snapshot);
            plan_sweep(&mut draft, now);
            draft.plan.changes.forgotten_operations.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(swept(&snapshot), ["op1", "op4"]);
        snapshot.forget_machine(&MachineName::new("rack1compute01").unwrap());
        assert_eq!(swept(&snapshot), ["op1", "op2", "op3", "op4"]);
    }

    fn machine(name: &str, now: Timestamp) -> model::Machine {
        let hardware = model::Hardware {
            rack: model::RackName::new("rack1").unwrap(),
            slot: 1,
            sku: "any".into(),
            serial_number: "S1".into(),
            bmc_address: "http://bmc.invalid".into(),
            bmc_mac: "00:00:00:00:00:01".into(),
            boot_mac: "00:00:00:00:00:02".into(),
            credentials: model::SecretRef::new("bmc/site1/x"),
        };
        let described = model::SiteMachine {
            name: MachineName::new(name).unwrap(),
            role: model::Role::Compute,
            standing: model::Standing::Provisioned,
            hardware,
            install: model::InstallSettings::default(),
        };
        let site = model::Site {
            cluster: ClusterName::new("site1").unwrap(),
            home: cluster(now).home,
            version: "4.7.8".into(),
            limits: Limits::default(),
            racks: Vec::new(),
            machines: vec![described],
            skus: Vec::new(),
            join: None,
            new_logins: std::collections::BTreeSet::new(),
        };
        crate::enroll(&crate::Stored::default(), &site, now).unwrap().machines.into_values().next().unwrap()
    }
}
