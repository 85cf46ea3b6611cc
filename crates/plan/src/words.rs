//! What a machine's or a cluster's state is called where people read it. Exact texts of the domain.

use model::{
    Action, Cluster, Connection, Failure, FaultClass, Machine, Operation, OperationResult, ProblemKind, Provisioning, ValidationResult,
    WaitKind,
};

use crate::install;

/// `detailedStatusMessage` of a machine: what it is, then every warning.
pub fn machine_message(machine: &Machine) -> String {
    let mut parts = vec![match machine.provisioning {
        Provisioning::Preparing => "Preparing for provisioning of the machine",
        Provisioning::Error => "The machine could not be provisioned.",
        Provisioning::Available => "Available to participate in the cluster.",
        Provisioning::Provisioning => "The OS is being provisioned to the machine.",
        Provisioning::Provisioned => "The OS is provisioned to the machine.",
        Provisioning::Deprovisioning => "The machine is being deprovisioned.",
    }];
    if machine.unhealthy.is_some() {
        parts.push("Warning: BMM Node is unhealthy and may require hardware replacement.");
    }
    // A validation on demand only looks: what it found is in `hardwareValidationStatus`, and the machine goes on as before.
    if machine.unhealthy.is_some() && machine.validated.as_ref().is_some_and(|mark| mark.result == ValidationResult::Fail) {
        parts.push("Warning: This machine has failed hardware validation");
    }
    if machine.waits.iter().any(|wait| wait.kind == WaitKind::UnexpectedlyOff) {
        parts.push("Warning: BMM power state doesn't match expected state");
    }
    parts.extend(problems(machine).iter().map(|problem| problem_message(problem.kind)));
    parts.join(" ")
}

/// What is known to be wrong with a machine by the word of its node. A machine that is off has no such problems: its
/// node tells of a boot that is over.
pub fn problems(machine: &Machine) -> &[model::NodeProblem] {
    let is_off = machine.last_seen.power.as_ref().is_some_and(|power| power.what == model::Power::Off);
    match &machine.last_seen.node {
        Some(node) if !is_off && !machine.last_seen.is_of_dead_boot(&node.what) => &node.what.problems,
        _ => &[],
    }
}

fn problem_message(problem: ProblemKind) -> &'static str {
    match problem {
        ProblemKind::ReadOnlyRoot => "Degraded: root file system is read-only",
        ProblemKind::PortDown => "Degraded: port down",
        ProblemKind::PortFlapping => "Degraded: port flapping",
    }
}

pub fn cluster_message(cluster: &Cluster) -> &'static str {
    match cluster.connection {
        Connection::Connected => "Cluster is up and running",
        Connection::Timeout => "Cluster has not been heard from lately",
        Connection::Disconnected => "Cluster is disconnected",
        Connection::Undefined => "Cluster has not been heard from yet",
    }
}

/// What is wrong with a BMC, as a clause.
pub(crate) fn bmc_trouble(class: FaultClass) -> &'static str {
    match class {
        FaultClass::Unreachable => "the BMC is unreachable",
        FaultClass::Busy => "the BMC is busy",
        FaultClass::Denied => "the BMC refuses our credentials",
        FaultClass::Untrusted => "the BMC's certificate is not trusted",
        FaultClass::OtherMachine => "another machine answers at the BMC's address",
        FaultClass::NoLogin => "our own login for the BMC cannot be read",
        FaultClass::Unsupported => "the BMC does not support what it is asked",
        FaultClass::Missing => "the BMC does not have what it is asked about",
        FaultClass::Garbled => "the BMC's answers make no sense",
    }
}

/// `detailedStatus` of a rack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RackStatus {
    Available,
    Error,
}

/// A rack of which no BMC answers has most likely lost its power or its network; one silent BMC is that machine's trouble.
/// A BMC that answers nonsense, or refuses us, is not silent.
pub fn rack_status<'a>(machines: impl Iterator<Item = &'a Machine>) -> (RackStatus, String) {
    let (mut all, mut silent) = (0_usize, 0_usize);
    for machine in machines {
        all += 1;
        silent += usize::from(machine.last_seen.bmc_fault.as_ref().is_some_and(|fault| fault.what.class == FaultClass::Unreachable));
    }
    match silent {
        0 => (RackStatus::Available, "Rack is available".to_owned()),
        _ if silent == all => (RackStatus::Error, format!("None of the {all} BMCs of this rack answers")),
        _ => (RackStatus::Available, format!("Rack is available; {silent} of {all} BMCs do not answer")),
    }
}

/// `provisioningState` as far as actions decide it: a running one shows, and so does the failure of the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProvisioningState {
    Succeeded,
    Failed,
    Canceled,
    Provisioning,
}

/// Whether an operation says how its machine is: one that only looks does not, nor one that the BMC did not let in before its system was
/// taken away.
pub fn tells_of_machine(operation: &Operation) -> bool {
    let was_not_let_in = operation.ended.as_ref().is_some_and(|ended| ended.failure == Some(Failure::BmcLoginFailed));
    operation.action != Action::Validate && (!was_not_let_in || install::is_undone(operation))
}

/// By the latest operation that tells of the machine. A client's write that was done since says that all is well again, as it does in
/// Azure; what failed stays in the machine's action states.
pub fn provisioning_state(machine: &Machine, latest: Option<&Operation>) -> ProvisioningState {
    let latest = latest.filter(|operation| tells_of_machine(operation));
    let ended = latest.and_then(|operation| operation.ended.as_ref());
    if ended.is_some_and(|ended| machine.modified.as_ref().is_some_and(|modified| modified.at >= ended.at)) {
        return ProvisioningState::Succeeded;
    }
    match latest.map(|operation| operation.ended.as_ref().map(|ended| ended.result)) {
        None | Some(Some(OperationResult::Succeeded)) => ProvisioningState::Succeeded,
        Some(None) => ProvisioningState::Provisioning,
        Some(Some(OperationResult::Failed)) => ProvisioningState::Failed,
        Some(Some(OperationResult::Canceled)) => ProvisioningState::Canceled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Delivery, DeviceAsk, Ended, Entry, Fact, Fault, NodeProblem, Power, Seen, Site, Timestamp};

    fn machine(silent: bool) -> Machine {
        let site = Site {
            cluster: model::ClusterName::new("site1").unwrap(),
            home: model::Home { subscription: "s".into(), resource_group: "site1".into(), location: "local".into() },
            version: "4.9.2".into(),
            limits: model::Limits::default(),
            racks: Vec::new(),
            machines: vec![model::SiteMachine {
                name: model::MachineName::new("rack1compute01").unwrap(),
                role: model::Role::Compute,
                standing: model::Standing::Provisioned,
                install: model::InstallSettings::default(),
                hardware: model::Hardware {
                    rack: model::RackName::new("rack1").unwrap(),
                    slot: 1,
                    sku: "any".into(),
                    serial_number: "S1".into(),
                    bmc_address: "http://bmc.invalid".into(),
                    bmc_mac: "00:00:00:00:00:01".into(),
                    boot_mac: "00:00:00:00:00:02".into(),
                    credentials: model::SecretRef::new("bmc/site1/rack1compute01"),
                },
            }],
            skus: Vec::new(),
            join: None,
            new_logins: std::collections::BTreeSet::new(),
        };
        let enrolled = crate::enroll(&crate::Stored::default(), &site, Timestamp::EPOCH);
        let mut machine = enrolled.unwrap().machines.into_values().next().unwrap();
        let fault = Fault::new(FaultClass::Unreachable, Delivery::No, "connection refused");
        machine.last_seen.bmc_fault = silent.then_some(Seen { what: fault, at: Timestamp::EPOCH });
        machine
    }

    #[test]
    fn a_rack_is_in_error_only_if_no_bmc_of_it_answers() {
        let status = |silent: &[bool]| {
            let machines: Vec<Machine> = silent.iter().map(|silent| machine(*silent)).collect();
            let (status, message) = rack_status(machines.iter());
            format!("{status:?}: {message}")
        };
        assert_eq!(status(&[false, false]), "Available: Rack is available");
        assert_eq!(status(&[true, false]), "Available: Rack is available; 1 of 2 BMCs do not answer");
        assert_eq!(status(&[true, true]), "Error: None of the 2 BMCs of this rack answers");
        assert_eq!(status(&[]), "Available: Rack is available");
        let mut denied = machine(true);
        denied.last_seen.bmc_fault.as_mut().unwrap().what.class = FaultClass::Denied;
        assert_eq!(rack_status([denied].iter()), (RackStatus::Available, "Rack is available".to_owned()), "it answers, if only with 401");
    }

    #[test]
    fn hardware_that_failed_on_demand_is_no_warning_and_in_a_replace_it_is_two() {
        let mut machine = machine(false);
        let mark = |result| model::ValidationMark { at: Timestamp::EPOCH, result, of: model::Judged::Hardware };
        let provisioned = "The OS is provisioned to the machine.";
        machine.validated = Some(mark(ValidationResult::Fail));
        assert_eq!(machine_message(&machine), provisioned);
        machine.unhealthy = Some(model::Unhealthy { since: Timestamp::EPOCH, because: "a drive is missing".into() });
        let given_up = format!("{provisioned} Warning: BMM Node is unhealthy and may require hardware replacement.");
        assert_eq!(machine_message(&machine), format!("{given_up} Warning: This machine has failed hardware validation"));
        machine.validated = Some(mark(ValidationResult::Pass));
        assert_eq!(machine_message(&machine), given_up, "only a replace clears the mark");
    }

    #[test]
    fn a_bmc_that_lets_nobody_in_changes_no_state_unless_the_system_is_gone() {
        let operation = |journal: Vec<Fact>| Operation {
            format: model::OPERATION_FORMAT,
            id: model::OperationId::new("op1"),
            cluster: model::ClusterName::new("site1").unwrap(),
            target: model::Target::Machine(model::MachineName::new("rack1compute01").unwrap()),
            action: Action::Replace { storage: model::StoragePolicy::Preserve, safeguard: model::Safeguard::All },
            caller: "alice".into(),
            correlation_id: model::CorrelationId::new("c"),
            request_key: None,
            accepted_at: Timestamp::EPOCH,
            deadline_at: Timestamp::EPOCH,
            journal: journal.into_iter().map(|fact| Entry { at: Timestamp::EPOCH, fact }).collect(),
            cancel: None,
            ended: Some(Ended {
                at: Timestamp::EPOCH,
                result: OperationResult::Failed,
                message: String::new(),
                next: None,
                failure: Some(Failure::BmcLoginFailed),
            }),
            wait: None,
            replacement: None,
        };
        let state = |journal| provisioning_state(&machine(false), Some(&operation(journal)));
        let asked = |ask| Fact::Asked { ask, attempt: 1 };
        assert_eq!(state(Vec::new()), ProvisioningState::Succeeded);
        assert_eq!(state(vec![asked(DeviceAsk::Cordon)]), ProvisioningState::Succeeded);
        assert_eq!(state(vec![asked(DeviceAsk::LeaveEtcd)]), ProvisioningState::Failed);
    }

    #[test]
    fn problems_are_told_one_after_the_other_and_only_of_a_boot_that_runs() {
        let problem = |kind| NodeProblem { kind, message: "x".into(), since: None };
        let node = model::NodeSeen {
            name: "rack1compute01".into(),
            ready: model::Readiness::True,
            unschedulable: false,
            cordoned_by_us: false,
            boot_id: "boot1".into(),
            kubelet_version: String::new(),
            os_image: String::new(),
            machine: "rack1compute01".into(),
            internal_ip: None,
            problems: vec![problem(ProblemKind::PortDown), problem(ProblemKind::ReadOnlyRoot)],
        };
        let mut machine = machine(false);
        machine.last_seen.node = Some(Seen { what: node, at: Timestamp::EPOCH });
        let degraded = "The OS is provisioned to the machine. Degraded: port down Degraded: root file system is read-only";
        assert_eq!(machine_message(&machine), degraded);
        machine.last_seen.dead_boot_id = Some("boot1".into());
        assert_eq!(machine_message(&machine), "The OS is provisioned to the machine.");
        machine.last_seen.dead_boot_id = None;
        machine.last_seen.power = Some(Seen { what: Power::Off, at: Timestamp::EPOCH });
        assert_eq!(machine_message(&machine), "The OS is provisioned to the machine.");
    }
}
