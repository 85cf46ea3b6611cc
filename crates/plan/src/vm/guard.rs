//! Whether an action on a virtual machine, or on a tenant's node, may begin: each rule with its evidence and its remedy.

use model::{Action, Connection, Machine, MachineName, Refusal, Rule, Target, Vm, VmName, VmProvisioning};

use super::operate::vm_of;
use crate::guard::{MAX_RUNNING_OPERATIONS, being_done, unknown_action, wait_or_cancel};
use crate::{contact, operate, snapshot::Snapshot};

pub(super) struct Guarded<'a> {
    pub snapshot: &'a Snapshot,
    pub target: &'a Target,
    pub action: Action,
}

impl Guarded<'_> {
    /// The first rule that speaks against acting on one that there is. What a person can mend alone comes first.
    pub fn check(&self, vm: Option<&Vm>) -> Result<(), Refusal> {
        if let Some(vm) = vm {
            self.provisioned(vm)?;
        }
        self.one_action_per_vm()?;
        self.held_by_operation()?;
        self.begin()
    }

    /// What holds for one that is yet to be made too.
    pub fn begin(&self) -> Result<(), Refusal> {
        if operate::steps_on_vm(self.action).is_none() {
            return Err(unknown_action(self.target, self.action, "a virtual machine"));
        }
        undercloud_heard(self.snapshot).map_err(|(evidence, remedy)| self.refusal(Rule::ClusterConnected, evidence, remedy))?;
        self.queue_full()
    }

    fn refusal(&self, rule: Rule, evidence: String, remedy: impl Into<String>) -> Refusal {
        let message = format!("`{}` cannot be {}", self.target, self.action.participle());
        Refusal { rule, message, evidence: vec![evidence], remedy: remedy.into() }
    }

    fn one_action_per_vm(&self) -> Result<(), Refusal> {
        match self.snapshot.running_for(self.target) {
            None => Ok(()),
            Some(running) => Err(self.refusal(Rule::OneActionPerVm, being_done(running), wait_or_cancel(running))),
        }
    }

    /// One that is being made past us cannot be acted on either; one whose creation came to nothing can only be deleted.
    fn provisioned(&self, vm: &Vm) -> Result<(), Refusal> {
        let name = &vm.name;
        let (evidence, remedy) = match (vm.provisioning, &vm.uid) {
            (_, _) if self.action == Action::Delete => return Ok(()),
            (VmProvisioning::Accepted | VmProvisioning::Provisioning, _) => {
                (format!("`{name}` is still being provisioned"), format!("wait until `rackwright vm show {name}` says Succeeded"))
            }
            (VmProvisioning::Failed | VmProvisioning::Canceled, None) => (
                format!("the creation of `{name}` came to nothing: there is no such virtual machine in the undercloud"),
                format!("create it again, or remove it with `rackwright vm delete {name}`"),
            ),
            _ => return Ok(()),
        };
        Err(self.refusal(Rule::VmProvisioning, evidence, remedy))
    }

    /// What a machine's operation empties or fills again is not touched under its hands.
    fn held_by_operation(&self) -> Result<(), Refusal> {
        let Some(name) = vm_of(self.target) else { return Ok(()) };
        let holder = vm_remembered_by(self.snapshot, &name).map(|machine| &machine.name).or_else(|| machine_of(self.snapshot, &name));
        let running = holder.and_then(|machine| self.snapshot.running_on(machine)).filter(|running| {
            let moves_workloads = vm_remembered_by(self.snapshot, &name).is_some() || running.action.is_disruptive();
            moves_workloads && running.is_running()
        });
        match running {
            None => Ok(()),
            Some(running) => {
                let evidence = format!("{}, and what runs there with it", being_done(running));
                Err(self.refusal(Rule::HeldByOperation, evidence, wait_or_cancel(running)))
            }
        }
    }

    fn queue_full(&self) -> Result<(), Refusal> {
        let running = self.snapshot.running_count();
        if running < MAX_RUNNING_OPERATIONS {
            return Ok(());
        }
        let evidence = format!("{running} operations are running in this cluster");
        Err(self.refusal(Rule::QueueFull, evidence, "wait until some of them have ended"))
    }
}

/// Nothing is begun through an undercloud that is silent, or before it has said what there is.
fn undercloud_heard(snapshot: &Snapshot) -> Result<(), (String, String)> {
    let cluster = &snapshot.cluster;
    if cluster.connection != Connection::Connected {
        let fault = contact::undercloud_fault(snapshot).map(|fault| format!(" ({fault})")).unwrap_or_default();
        let since = cluster.connection_since.clock();
        let evidence = format!("the undercloud of `{}` is {:?} since {since}{fault}", cluster.name, cluster.connection);
        return Err((evidence, "bring the undercloud back first: `rackwright status` tells since when it does not answer".into()));
    }
    if let Some(failing) = contact::tenants_silence(snapshot, snapshot.keeper_started_at) {
        let evidence =
            format!("nothing is heard of the virtual machines of `{}` since {} ({})", cluster.name, failing.at.clock(), failing.what);
        return Err((evidence, "mend that first: `rackwright status` tells what is waited for".into()));
    }
    if snapshot.tenants.listed_at.is_none() {
        let evidence = format!("the virtual machines of `{}` have not been listed yet", cluster.name);
        return Err((evidence, "ask again in a moment".into()));
    }
    Ok(())
}

/// The machine that a virtual machine was stopped for, while that is remembered.
pub(super) fn vm_remembered_by<'a>(snapshot: &'a Snapshot, vm: &VmName) -> Option<&'a Machine> {
    let remembers = |machine: &&Machine| {
        let evacuated = machine.evacuated.as_ref();
        evacuated.is_some_and(|evacuated| evacuated.vms.iter().any(|stopped| stopped.vm.name == *vm))
    };
    snapshot.machines.values().map(AsRef::as_ref).find(remembers)
}

fn machine_of<'a>(snapshot: &'a Snapshot, vm: &VmName) -> Option<&'a MachineName> {
    let node = snapshot.tenants.vms().get(vm)?.node()?;
    snapshot.machine_of_node(node)
}
