//! Whether an action may begin: the guards, each a rule with its evidence and its remedy.

use std::fmt;

use model::{
    Action, ClusterStatus, Connection, Evacuate, HoldOwner, Machine, Management, Operation, Outage, Provisioning, Refusal, Replacement,
    Rule, Timestamp,
};

use crate::snapshot::Snapshot;
use crate::{contact, control_plane, evacuate, install, membership, operate};

/// Operations that may run in one cluster at once.
///
/// More than the machines of any site we know, and few enough that a runaway script cannot fill memory.
pub const MAX_RUNNING_OPERATIONS: usize = 4_096;

pub(crate) struct Guarded<'a> {
    pub snapshot: &'a Snapshot,
    pub machine: &'a Machine,
    pub action: Action,
    pub outage: Outage,
    pub now: Timestamp,
}

impl Guarded<'_> {
    /// The first rule that speaks against it. What a person can mend alone comes first.
    pub fn check(&self, replacement: Option<&Replacement>) -> Result<(), Refusal> {
        self.action_known()?;
        self.machine_described()?;
        self.machine_managed()?;
        self.held_by_operation()?;
        self.one_action_per_machine()?;
        self.machine_not_given_up()?;
        self.machine_provisioned()?;
        self.cluster_running()?;
        self.cluster_connected()?;
        if self.action.is_disruptive() && self.machine.is_kcp() {
            self.kcp_one_at_a_time()?;
            self.kcp_votes()?;
        }
        self.force_proven()?;
        self.keeps_name(replacement)?;
        self.may_install()?;
        self.queue_full()
    }

    pub(crate) fn refuse(&self, rule: Rule, evidence: Vec<String>, remedy: impl Into<String>) -> Result<(), Refusal> {
        let message = format!("`{}` cannot be {}", self.machine.name, self.action.participle());
        Err(Refusal { rule, message, evidence, remedy: remedy.into() })
    }

    /// The API offers no such action; one of a later version may.
    fn action_known(&self) -> Result<(), Refusal> {
        match operate::steps_on_machine(self.action) {
            Some(_) => Ok(()),
            None => Err(unknown_action(&self.machine.name, self.action, "a machine")),
        }
    }

    /// Without a description there is no way to the machine, so it counts as not managed.
    fn machine_described(&self) -> Result<(), Refusal> {
        if !self.snapshot.undescribed.contains(&self.machine.name) {
            return Ok(());
        }
        let evidence = format!("`{}` is no longer described in the site file, and there is no way to its BMC", self.machine.name);
        self.refuse(Rule::MachineManaged, vec![evidence], "put it back into the site file")
    }

    fn machine_managed(&self) -> Result<(), Refusal> {
        let Some(evidence) = unmanaged_by(self.machine) else { return Ok(()) };
        self.refuse(
            Rule::MachineManaged,
            vec![evidence],
            format!("`rackwright bmm manage {} --reason …` lets it be managed again", self.machine.name),
        )
    }

    fn one_action_per_machine(&self) -> Result<(), Refusal> {
        let Some(running) = self.snapshot.running_on(&self.machine.name) else { return Ok(()) };
        self.refuse(Rule::OneActionPerMachine, vec![being_done(running)], wait_or_cancel(running))
    }

    /// Nothing is put on a machine that was given up: no system, and no workloads.
    fn machine_not_given_up(&self) -> Result<(), Refusal> {
        let is_put_to_use = matches!(self.action, Action::Reimage { .. } | Action::Uncordon);
        let Some(unhealthy) = self.machine.unhealthy.as_ref().filter(|_| is_put_to_use) else { return Ok(()) };
        let evidence = format!("it was given up at {}: {}", unhealthy.since.clock(), unhealthy.because);
        self.refuse(Rule::MachineUnhealthy, vec![evidence], self.repair())
    }

    fn repair(&self) -> String {
        format!("repair it, then `rackwright bmm replace {}`: nothing else brings it back", self.machine.name)
    }

    fn machine_provisioned(&self) -> Result<(), Refusal> {
        let needs_system = !matches!(self.action, Action::PowerOff { .. } | Action::Validate);
        // What has failed, or was never installed, is what an installation is for.
        let is_installable = install::installs(self.action)
            && (self.machine.provisioning == Provisioning::Error
                || (self.machine.provisioning == Provisioning::Available && !self.machine.is_kcp()));
        if self.machine.provisioning == Provisioning::Provisioned || !needs_system || is_installable {
            return Ok(());
        }
        let name = &self.machine.name;
        let (evidence, remedy) = if self.machine.is_spare() {
            (
                format!("`{name}` is the spare control-plane machine: it has no operating system and no node"),
                match self.action {
                    Action::Replace { .. } => {
                        "put its new serial number, addresses and login into the site file; then `rackwright bmm validate` compares them"
                    }
                    _ => "nothing to do: the platform activates the spare when it is needed",
                },
            )
        } else if self.machine.provisioning == Provisioning::Error {
            let evidence = format!("`{name}` is Error: its installation failed, and it has no operating system to rely on");
            let remedy = match self.machine.unhealthy {
                Some(_) => self.repair(),
                None => format!("have it installed again: `rackwright bmm reimage {name}`"),
            };
            return self.refuse(Rule::MachineProvisioned, vec![evidence], remedy);
        } else {
            (format!("`{name}` is {:?}: it has no operating system to run", self.machine.provisioning), "wait until it is Provisioned")
        };
        self.refuse(Rule::MachineProvisioned, vec![evidence], remedy)
    }

    fn cluster_running(&self) -> Result<(), Refusal> {
        let cluster = &self.snapshot.cluster;
        if cluster.detailed_status == ClusterStatus::Running {
            return Ok(());
        }
        let evidence = format!("cluster `{}` is {:?}", cluster.name, cluster.detailed_status);
        self.refuse(Rule::ClusterRunning, vec![evidence], format!("wait until it is Running: `rackwright cluster show {}`", cluster.name))
    }

    /// Bringing a machine back is how a site that lost its undercloud recovers, so that is allowed without it.
    fn cluster_connected(&self) -> Result<(), Refusal> {
        let cluster = &self.snapshot.cluster;
        let brings_back = match self.action {
            // A look at a BMC needs nobody else.
            Action::Start | Action::Validate => true,
            Action::Restart => self.machine.is_kcp() && !control_plane::is_voting(self.snapshot, self.machine),
            _ => false,
        };
        if cluster.connection == Connection::Connected || brings_back {
            return Ok(());
        }
        let evidence = format!(
            "the undercloud of `{}` is {:?} since {}{}",
            cluster.name,
            cluster.connection,
            cluster.connection_since.clock(),
            contact::undercloud_fault(self.snapshot).map(|fault| format!(" ({fault})")).unwrap_or_default()
        );
        self.refuse(
            Rule::ClusterConnected,
            vec![evidence],
            "bring the undercloud back first; `start`, and `restart` of a control-plane machine that is not voting, are allowed meanwhile",
        )
    }

    fn held_by_operation(&self) -> Result<(), Refusal> {
        if self.action != Action::Uncordon {
            return Ok(());
        }
        let holder = self.machine.holds.iter().find_map(|hold| match &hold.owner {
            HoldOwner::Operation { id } | HoldOwner::Upgrade { id } => Some((id, hold)),
            HoldOwner::User { .. }
            | HoldOwner::Evacuation { .. }
            | HoldOwner::Condition { .. }
            | HoldOwner::Reinstalled { .. }
            | HoldOwner::PoweredOff { .. } => None,
        });
        let Some((id, hold)) = holder else { return Ok(()) };
        let evidence = format!("operation {} holds it since {}: {}", id.short(), hold.since.clock(), hold.reason);
        self.refuse(Rule::HeldByOperation, vec![evidence], format!("`rackwright operation wait {}`", id.short()))
    }

    /// One disruptive action in the control plane at a time, the spare included.
    fn kcp_one_at_a_time(&self) -> Result<(), Refusal> {
        let other = self
            .snapshot
            .control_plane()
            .filter(|machine| machine.name != self.machine.name)
            .filter_map(|machine| self.snapshot.running_on(&machine.name))
            .find(|operation| operation.action.is_disruptive());
        match other {
            None => Ok(()),
            Some(running) => self.refuse(Rule::KcpOneAtATime, vec![being_done(running)], wait_or_cancel(running)),
        }
    }

    /// A vote may be taken only while everybody else is healthy, and never the last one without the caller's word.
    fn kcp_votes(&self) -> Result<(), Refusal> {
        if !self.costs_a_vote() {
            return self.kcp_learner();
        }
        let votes = control_plane::votes_without(self.snapshot, self.machine);
        if votes.members == 1 {
            return self.sole_voter(votes);
        }
        let mut evidence: Vec<String> = control_plane::members(self.snapshot)
            .iter()
            .filter(|machine| machine.name != self.machine.name)
            .filter_map(|machine| control_plane::ailment(self.snapshot, machine).or_else(|| self.voteless(machine)))
            .collect();
        if !evidence.is_empty() {
            evidence.push(votes.to_string());
            // Nothing is known to be wrong with the others while nobody can be asked about them.
            let remedy = match contact::undercloud_fault(self.snapshot) {
                Some(_) => "bring the undercloud back first: `rackwright status` tells since when it does not answer",
                None => "bring the other control-plane machines back first: `rackwright status` names them",
            };
            return self.refuse(Rule::KcpOthersHealthy, evidence, remedy);
        }
        if votes.breaks_quorum() {
            return self.refuse(Rule::KcpQuorum, vec![votes.to_string()], "add a control-plane machine first");
        }
        Ok(())
    }

    /// Etcd takes one learner at a time, so that a machine without a member could be installed, and not join.
    fn kcp_learner(&self) -> Result<(), Refusal> {
        let is_to_join = self.machine.is_active_kcp() && install::installs(self.action) && install::is_etcd_known(self.snapshot, self.now);
        let seen = control_plane::etcd_seen(self.snapshot).filter(|_| is_to_join);
        let peer_url = install::earlier_peer_url(self.snapshot, &self.machine.name);
        let beside = |seen| membership::learner_beside(self.snapshot, seen, self.machine, peer_url.as_deref());
        let Some(learner) = seen.and_then(beside) else { return Ok(()) };
        let evidence = vec![format!("etcd has a learner already, and takes one at a time: {learner}")];
        self.refuse(Rule::KcpOthersHealthy, evidence, "let that member be promoted, or have it removed, first")
    }

    fn costs_a_vote(&self) -> bool {
        match self.taking() {
            Some(taking) => control_plane::costs_a_vote(self.snapshot, self.machine, taking),
            None => control_plane::may_be_voting(self.snapshot, self.machine),
        }
    }

    fn voteless(&self, other: &Machine) -> Option<String> {
        self.taking().and_then(|taking| control_plane::voteless(self.snapshot, other, taking))
    }

    /// What becomes of the member. Nothing is said of one that is to leave an etcd that has not told its members just now: what it
    /// told before counts no more, and until it is asked anew they are judged by their nodes.
    fn taking(&self) -> Option<control_plane::Taking> {
        let taking = control_plane::Taking::by_action(self.action);
        let is_known = taking == control_plane::Taking::Down || install::is_etcd_known(self.snapshot, self.now);
        is_known.then_some(taking)
    }

    fn sole_voter(&self, votes: control_plane::Votes) -> Result<(), Refusal> {
        if install::installs(self.action) {
            let evidence = format!("`{}` has the only copy of etcd's data, and its disk would be written anew", self.machine.name);
            return self.refuse(Rule::KcpSoleVoter, vec![evidence, votes.to_string()], "add a control-plane machine first");
        }
        match self.outage {
            Outage::Accepted => Ok(()),
            Outage::Refused => self.refuse(
                Rule::KcpSoleVoter,
                vec![format!("`{}` has the only vote", self.machine.name), votes.to_string()],
                "the undercloud's API will be down meanwhile; to accept that, ask again with acceptControlPlaneOutage=true (`--accept-control-plane-outage`)",
            ),
        }
    }

    /// Pods are let go by force only where it is proven that they do not run.
    fn force_proven(&self) -> Result<(), Refusal> {
        if self.action != (Action::Cordon { evacuate: Evacuate::Forced }) {
            return Ok(());
        }
        let Err(evidence) = evacuate::proof_of_death(self.snapshot, self.machine) else { return Ok(()) };
        let remedy = format!(
            "leave out the force, or make sure that nothing runs: `rackwright bmm power-off {} --skip-shutdown`, then ask again",
            self.machine.name
        );
        self.refuse(Rule::ForceUnproven, evidence, remedy)
    }

    fn queue_full(&self) -> Result<(), Refusal> {
        let running = self.snapshot.running_count();
        if running < MAX_RUNNING_OPERATIONS {
            return Ok(());
        }
        self.refuse(
            Rule::QueueFull,
            vec![format!("{running} operations are running in this cluster")],
            "wait until some of them have ended",
        )
    }
}

/// Who took a machine out of management, and why.
pub(crate) fn unmanaged_by(machine: &Machine) -> Option<String> {
    match &machine.management {
        Management::Managed => None,
        Management::Unmanaged { by, reason, since } => {
            Some(format!("{by} took `{}` out of management at {}: {reason}", machine.name, since.clock()))
        }
    }
}

/// The keeper is asked for what its version does not do.
pub(crate) fn unknown_action(name: impl fmt::Display, action: Action, of: &str) -> Refusal {
    Refusal {
        rule: Rule::ActionKnown,
        message: format!("`{name}` cannot be {}", action.participle()),
        evidence: vec![format!("the keeper of its cluster knows no {} of {of}", action.command())],
        remedy: "run one version everywhere: the server that took the request is of another than the keeper".into(),
    }
}

pub(crate) fn being_done(operation: &Operation) -> String {
    format!(
        "`{}` is being {} since {} (operation {})",
        operation.target,
        operation.action.participle(),
        operation.accepted_at.clock(),
        operation.id.short()
    )
}

pub(crate) fn wait_or_cancel(operation: &Operation) -> String {
    let id = operation.id.short();
    format!("wait with `rackwright operation wait {id}`, or stop it with `rackwright operation cancel {id}`")
}
