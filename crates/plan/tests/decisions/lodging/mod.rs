//! A small model of KubeVirt, Cluster API and tenants' clusters: what is on the machines, and how it takes what it is asked.

mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{
    Amount, Delivery, DrainPolicy, Errand, ErrandOutcome, EvictionAnswer, Fault, FaultClass, InstancePhase, InstanceSeen, MachineName,
    NodeOf, PodDemands, PodOwner, PodPhase, PodRef, PodSeen, PoolName, Readiness, RunStrategy, Settings, Shutdown, Span, TenantClusterName,
    TenantNodeSeen, Termination, Timestamp, VmName, VmSeen, VmState,
};
use plan::ErrandStep;

/// A kubelet's silence is noticed after this.
const NODE_GRACE: Span = Span::seconds(40);
/// How long a virtual machine takes to be there, and its node to be ready.
const START_TAKES: Span = Span::seconds(5);
const NODE_BOOT_TAKES: Span = Span::seconds(30);
/// A system that does not listen is given this long by KubeVirt.
const KILLED_AFTER: Span = Span::minutes(15);
const FORCE_TAKES: Span = Span::seconds(2);

#[derive(Clone, Debug)]
pub struct VmBody {
    pub seen: VmSeen,
    /// Where its disk is.
    pub home: MachineName,
    /// How long its system takes to shut down; `None` if it does not listen.
    pub stop_takes: Option<Span>,
    /// Not even force stops it.
    pub is_undead: bool,
    starts: u32,
}

impl VmBody {
    /// Its instance has ended, and stays until somebody starts it.
    fn is_over(&self) -> bool {
        self.seen.state == VmState::Stopped && self.seen.instance.is_some()
    }
}

#[derive(Clone, Debug)]
pub struct PodBody {
    pub seen: PodSeen,
    pub budgets: Vec<String>,
    pub ends_after: Span,
}

#[derive(Clone, Debug)]
enum Happening {
    Stopped(VmName),
    Running(VmName),
    NodeReady(VmName),
    NodeLost(VmName),
    PodGone(TenantClusterName, String, String),
}

#[derive(Default)]
pub struct Lodging {
    pub vms: BTreeMap<VmName, VmBody>,
    pub nodes: BTreeMap<String, TenantNodeSeen>,
    pub skipped: BTreeMap<String, bool>,
    pub pods: BTreeMap<(TenantClusterName, String), PodBody>,
    /// How many pods each budget allows to lose now.
    pub budgets: BTreeMap<String, u32>,
    pub policies: BTreeMap<TenantClusterName, Settings>,
    pub api_faults: BTreeMap<TenantClusterName, Fault>,
    pub eviction_fault: Option<Fault>,
    /// What KubeVirt answers, until it obeys again.
    pub kubevirt_fault: Option<Fault>,
    /// Why nothing is heard of virtual machines and clusters, while nodes are.
    pub watch_fault: Option<Fault>,
    pub off: Vec<MachineName>,
    /// Those that will have moved there by the time that somebody asks for their stop.
    pub slips: BTreeMap<VmName, MachineName>,
    /// What was asked of it, and accepted or not.
    pub requests: Vec<(Timestamp, Errand)>,
    /// Nodes whose virtual machines were told to stop while pods that had to leave were on them, and nobody had told those to end.
    pub stopped_over_pods: Vec<(Timestamp, VmName)>,
    coming: Vec<(Timestamp, Happening)>,
}

pub fn vm_name(text: &str) -> VmName {
    VmName::new(text).unwrap()
}

pub fn tenant(text: &str) -> TenantClusterName {
    TenantClusterName::new(text).unwrap()
}

fn instance(host: &MachineName, phase: InstancePhase, number: u32) -> InstanceSeen {
    InstanceSeen { uid: format!("i{number}"), node: Some(host.to_string()), phase, ready: Readiness::True, is_ending: false }
}

impl Lodging {
    pub fn is_empty(&self) -> bool {
        self.vms.is_empty()
    }

    pub fn add_vm(&mut self, name: &str, host: &MachineName, run: RunStrategy, node_of: Option<NodeOf>) -> &mut VmBody {
        let runs = run != RunStrategy::Halted;
        let seen = VmSeen {
            name: vm_name(name),
            uid: format!("uid-{name}"),
            run,
            state: if runs { VmState::Running } else { VmState::Stopped },
            message: None,
            instance: runs.then(|| instance(host, InstancePhase::Running, 1)),
            cpu_cores: 2,
            memory_bytes: 1 << 30,
            grace: Span::minutes(3),
            node_of,
            created_at: None,
            os_disk: None,
        };
        let body = VmBody { seen, home: host.clone(), stop_takes: Some(Span::seconds(20)), is_undead: false, starts: 1 };
        self.vms.entry(vm_name(name)).or_insert(body)
    }

    pub fn add_node(&mut self, name: &str, cluster: &str, pool: &str, host: &MachineName, now: Timestamp) {
        let of = NodeOf { cluster: tenant(cluster), pool: Some(PoolName::new(pool).unwrap()) };
        self.add_vm(name, host, RunStrategy::Always, Some(of));
        self.skipped.insert(name.to_owned(), false);
        self.nodes.insert(name.to_owned(), node(name, host, now));
    }

    pub fn add_pod(&mut self, name: &str, cluster: &str, node: &str, owner: Option<&str>) -> &mut PodBody {
        let seen = PodSeen {
            pod: PodRef { namespace: "app".into(), name: name.into(), uid: format!("uid-{name}") },
            phase: PodPhase::Running,
            ready: Readiness::True,
            owner: owner.map(|kind| PodOwner { kind: kind.into(), name: "owner".into() }),
            is_mirror: false,
            has_local_storage: false,
            termination: None,
            grace: Span::seconds(30),
            node: Some(node.into()),
            has_finalizers: false,
            requests: Amount::default(),
            labels: Arc::new(BTreeMap::new()),
            demands: Arc::new(PodDemands::default()),
        };
        let body = PodBody { seen, budgets: Vec::new(), ends_after: Span::seconds(3) };
        self.pods.entry((tenant(cluster), name.to_owned())).or_insert(body)
    }

    pub fn set_policy(&mut self, cluster: &str, policy: DrainPolicy) {
        self.policies.insert(tenant(cluster), Settings { drain_policy: Some(policy), ..Settings::default() });
    }

    /// Virtual machines that run or are about to.
    pub fn running(&self) -> BTreeSet<String> {
        self.vms.values().filter(|vm| vm.seen.has_instance()).map(|vm| vm.seen.name.to_string()).collect()
    }

    pub fn cordoned(&self) -> BTreeSet<String> {
        self.nodes.values().filter(|node| node.is_unschedulable).map(|node| node.name.clone()).collect()
    }

    pub fn next_due(&self) -> Option<Timestamp> {
        self.coming.iter().map(|(at, _)| *at).min()
    }

    pub fn live(&mut self, now: Timestamp) {
        while let Some(position) = self.coming.iter().position(|(at, _)| *at <= now) {
            let (_, happening) = self.coming.remove(position);
            self.happen(happening, now);
        }
    }

    fn happen(&mut self, happening: Happening, now: Timestamp) {
        match happening {
            Happening::Stopped(name) => {
                let Some(vm) = self.vms.get_mut(&name).filter(|vm| vm.seen.instance.as_ref().is_some_and(|i| i.is_ending)) else { return };
                vm.seen.instance = None;
                vm.seen.state = VmState::Stopped;
                self.coming.push((now + NODE_GRACE, Happening::NodeLost(name)));
            }
            Happening::Running(name) => {
                let Some(vm) = self.vms.get_mut(&name).filter(|vm| vm.seen.state == VmState::Starting) else { return };
                if let Some(instance) = &mut vm.seen.instance {
                    instance.phase = InstancePhase::Running;
                }
                vm.seen.state = VmState::Running;
                self.coming.push((now + NODE_BOOT_TAKES, Happening::NodeReady(name)));
            }
            Happening::NodeReady(name) if self.runs(&name) => self.set_ready(name.as_str(), Readiness::True, now),
            Happening::NodeLost(name) if !self.runs(&name) => self.set_ready(name.as_str(), Readiness::Unknown, now),
            Happening::NodeReady(_) | Happening::NodeLost(_) => {}
            Happening::PodGone(cluster, name, uid) => {
                let key = (cluster, name);
                if self.pods.get(&key).is_some_and(|pod| pod.seen.pod.uid == uid && !pod.seen.has_finalizers) {
                    for budget in self.pods.remove(&key).map(|pod| pod.budgets).unwrap_or_default() {
                        *self.budgets.entry(budget).or_default() += 1;
                    }
                }
            }
        }
    }

    fn runs(&self, name: &VmName) -> bool {
        self.vms.get(name).is_some_and(|vm| vm.seen.state == VmState::Running && !self.off.contains(&vm.home))
    }

    /// Nothing was heard of its machine for too long. KubeVirt makes anew what is always to run as soon as this has gone, and
    /// leaves the rest as it is until somebody starts it.
    pub fn lose(&mut self, name: &VmName) {
        let vm = self.vms.get_mut(name).expect("a virtual machine of the site");
        let reruns = vm.seen.run == RunStrategy::Always;
        vm.seen.state = if reruns { VmState::Stopping } else { VmState::Stopped };
        let instance = vm.seen.instance.as_mut().expect("an instance that ran");
        (instance.phase, instance.ready, instance.is_ending) = (InstancePhase::Failed, Readiness::False, reruns);
    }

    /// It is moved while it runs.
    pub fn migrate(&mut self, name: &VmName, host: &MachineName) {
        let vm = self.vms.get_mut(name).expect("a virtual machine of the site");
        vm.home = host.clone();
        vm.seen.instance.as_mut().expect("an instance that runs").node = Some(host.to_string());
    }

    pub fn set_ready(&mut self, node: &str, ready: Readiness, now: Timestamp) {
        if let Some(node) = self.nodes.get_mut(node).filter(|node| node.ready != ready) {
            node.ready = ready;
            node.ready_since = Some(now);
        }
    }

    /// The machine goes off, or comes back: what ran on it is gone, and KubeVirt runs again what is always to run.
    pub fn set_power(&mut self, host: &MachineName, is_on: bool, now: Timestamp) {
        let was_off = self.off.contains(host);
        self.off.retain(|off| off != host);
        if !is_on {
            self.off.push(host.clone());
        }
        let names: Vec<VmName> =
            self.vms.values().filter(|vm| vm.home == *host && vm.seen.has_instance()).map(|vm| vm.seen.name.clone()).collect();
        for name in names {
            if !is_on && !was_off {
                self.coming.push((now + NODE_GRACE, Happening::NodeLost(name)));
            } else if is_on && was_off {
                let vm = self.vms.get_mut(&name).expect("it was there");
                if vm.is_over() {
                    continue;
                }
                vm.seen.instance = None;
                vm.seen.state = VmState::Stopped;
                if vm.seen.run == RunStrategy::Always {
                    self.start(&name, now);
                }
            }
        }
    }

    pub fn take(&mut self, step: &ErrandStep, now: Timestamp) -> Result<ErrandOutcome, Fault> {
        let errand = &step.errand;
        self.requests.push((now, errand.clone()));
        if let Some(fault) = errand.asked_of().and_then(|cluster| self.api_faults.get(cluster)) {
            return Err(fault.clone());
        }
        if let Some(fault) = self.kubevirt_fault.clone().filter(|_| matches!(errand, Errand::StopVm { .. } | Errand::StartVm { .. })) {
            return Err(fault);
        }
        let missing = || Fault::new(FaultClass::Missing, Delivery::No, "there is none");
        match errand {
            Errand::CordonNode { node, .. } | Errand::UncordonNode { node, .. } => {
                let is_cordon = matches!(errand, Errand::CordonNode { .. });
                let node = self.nodes.get_mut(node).ok_or_else(missing)?;
                (node.is_unschedulable, node.is_cordoned_by_us) = (is_cordon, is_cordon);
            }
            Errand::SkipRemediation { node, .. } => drop(self.skipped.insert(node.clone(), true)),
            Errand::ResumeRemediation { node, .. } => drop(self.skipped.insert(node.clone(), false)),
            Errand::MarkOutOfService { node, .. } => self.nodes.get_mut(node).ok_or_else(missing)?.is_out_of_service = true,
            Errand::ClearOutOfService { node, .. } => self.nodes.get_mut(node).ok_or_else(missing)?.is_out_of_service = false,
            Errand::Evict { cluster, pod, .. } => return self.evict(cluster, pod, now).map(ErrandOutcome::Eviction),
            Errand::DeletePod { cluster, pod, .. } => self.end_pod(cluster, pod, now),
            Errand::StopVm { vm, shutdown } => {
                if let Some(there) = self.slips.remove(&vm.name) {
                    self.move_vm(&vm.name, &there);
                }
                let node = self.vms.get(&vm.name).and_then(|vm| vm.seen.node());
                if step.node.is_some() && step.node.as_deref() != node {
                    return Err(missing());
                }
                self.stop(&vm.name, *shutdown, now);
            }
            Errand::StartVm { vm } => self.start(&vm.name, now),
            other => panic!("{other} is not asked for a machine's sake"),
        }
        Ok(ErrandOutcome::Accepted)
    }

    fn evict(&mut self, cluster: &TenantClusterName, pod: &PodRef, now: Timestamp) -> Result<EvictionAnswer, Fault> {
        if let Some(fault) = &self.eviction_fault {
            return Err(fault.clone());
        }
        let Some(body) = self.pods.get(&(cluster.clone(), pod.name.clone())) else { return Ok(EvictionAnswer::AlreadyGone) };
        if body.seen.pod.uid != pod.uid {
            return Ok(EvictionAnswer::AnotherPod);
        }
        if body.seen.termination.is_some() {
            return Ok(EvictionAnswer::Accepted);
        }
        if body.budgets.len() > 1 {
            return Ok(EvictionAnswer::Misconfigured { why: "this pod has more than one budget".into() });
        }
        if let Some(budget) = body.budgets.first() {
            let allowed = self.budgets.entry(budget.clone()).or_default();
            if *allowed == 0 {
                return Ok(EvictionAnswer::Blocked { why: format!("budget {budget} allows none"), retry_after: None });
            }
            *allowed -= 1;
        }
        self.end_pod(cluster, pod, now);
        Ok(EvictionAnswer::Accepted)
    }

    fn end_pod(&mut self, cluster: &TenantClusterName, pod: &PodRef, now: Timestamp) {
        if let Some(body) = self.pods.get_mut(&(cluster.clone(), pod.name.clone())).filter(|body| body.seen.termination.is_none()) {
            body.seen.termination = Some(Termination { since: now, until: now + body.seen.grace });
            self.coming.push((now + body.ends_after, Happening::PodGone(cluster.clone(), pod.name.clone(), pod.uid.clone())));
        }
    }

    fn has_unevicted_pods(&self, name: &VmName) -> bool {
        let stays = |pod: &PodBody| pod.seen.is_mirror || pod.seen.owner.as_ref().is_some_and(|owner| owner.kind == "DaemonSet");
        self.nodes.contains_key(name.as_str())
            && self
                .pods
                .values()
                .any(|pod| pod.seen.node.as_deref() == Some(name.as_str()) && pod.seen.termination.is_none() && !stays(pod))
    }

    pub fn stop(&mut self, name: &VmName, shutdown: Shutdown, now: Timestamp) {
        if self.has_unevicted_pods(name) {
            self.stopped_over_pods.push((now, name.clone()));
        }
        let Some(vm) = self.vms.get_mut(name).filter(|vm| vm.seen.has_instance()) else { return };
        if matches!(vm.seen.run, RunStrategy::Always | RunStrategy::Once) {
            vm.seen.run = RunStrategy::Halted;
        }
        vm.seen.state = VmState::Stopping;
        if let Some(instance) = &mut vm.seen.instance {
            instance.is_ending = true;
        }
        let takes = if shutdown == Shutdown::Skip { FORCE_TAKES } else { vm.stop_takes.unwrap_or(KILLED_AFTER) };
        if !vm.is_undead && !self.off.contains(&vm.home) {
            self.coming.push((now + takes, Happening::Stopped(name.clone())));
        }
    }

    pub fn move_vm(&mut self, name: &VmName, there: &MachineName) {
        let Some(vm) = self.vms.get_mut(name) else { return };
        (vm.home, vm.starts) = (there.clone(), vm.starts + 1);
        vm.seen.instance = Some(instance(there, InstancePhase::Running, vm.starts));
    }

    pub fn start(&mut self, name: &VmName, now: Timestamp) {
        let Some(vm) = self.vms.get_mut(name).filter(|vm| !vm.seen.has_instance() || vm.is_over()) else { return };
        if vm.seen.run == RunStrategy::Halted {
            vm.seen.run = RunStrategy::Always;
        }
        vm.starts += 1;
        vm.seen.state = VmState::Starting;
        vm.seen.instance = Some(instance(&vm.home, InstancePhase::Scheduling, vm.starts));
        self.coming.push((now + START_TAKES, Happening::Running(name.clone())));
    }
}

fn node(name: &str, host: &MachineName, now: Timestamp) -> TenantNodeSeen {
    TenantNodeSeen {
        name: name.into(),
        uid: format!("uid-{name}"),
        ready: Readiness::True,
        ready_since: Some(now),
        is_unschedulable: false,
        is_cordoned_by_us: false,
        is_out_of_service: false,
        version: "v1".into(),
        boot_id: "b".into(),
        machine: Some(host.to_string()),
        allocatable: Amount::default(),
        pod_limit: 110,
        taints: Vec::new(),
        labels: Arc::new(BTreeMap::new()),
    }
}
