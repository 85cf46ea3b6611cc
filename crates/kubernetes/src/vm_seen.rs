//! Virtual machines as decisions see them: KubeVirt's object that lasts, joined with its instance if it runs.

use std::collections::BTreeMap;

use kube::api::DynamicObject;
use model::{
    InstancePhase, InstanceSeen, NodeOf, PoolName, Readiness, RunStrategy, Span, TenantClusterName, Timestamp, VmName, VmSeen, VmState,
};
use serde::Deserialize;

use crate::capi::{CLUSTER_LABEL, CONTROL_PLANE_LABEL, pool_name};
use crate::os_disk::os_disk_name;
use crate::quantity;

/// The grace of a virtual machine that does not say: KubeVirt's own default.
const DEFAULT_GRACE: Span = Span::seconds(30);

/// What of a `VirtualMachine` is read. All of it may be absent: an object of a later KubeVirt must not blind us to the others.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Body {
    spec: Spec,
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    run_strategy: Option<String>,
    running: Option<bool>,
    template: Template,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Template {
    spec: InstanceSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct InstanceSpec {
    domain: Domain,
    termination_grace_period_seconds: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Domain {
    cpu: Cpu,
    memory: Memory,
    resources: Resources,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cpu {
    cores: Option<u32>,
    sockets: Option<u32>,
    threads: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Memory {
    guest: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Resources {
    requests: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    printable_status: String,
    conditions: Vec<Condition>,
    phase: String,
    node_name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    message: String,
}

/// A `VirtualMachine` without its instance and its disk; nothing if it cannot be one of ours, such as one with a name that ours cannot have.
fn vm_seen(object: &DynamicObject) -> Option<VmSeen> {
    let metadata = &object.metadata;
    let Body { spec, status } = Body::deserialize(&object.data).unwrap_or_default();
    let state = if metadata.deletion_timestamp.is_some() { VmState::Terminating } else { state_of(&status.printable_status) };
    let labels = metadata.labels.as_ref();
    let instance = &spec.template.spec;
    Some(VmSeen {
        name: VmName::new(metadata.name.clone()?).ok()?,
        uid: metadata.uid.clone()?,
        run: run_strategy(&spec),
        state,
        message: message(state, &status.conditions),
        instance: None,
        cpu_cores: instance.domain.cores(),
        memory_bytes: instance.domain.memory_bytes(),
        grace: instance.termination_grace_period_seconds.map_or(DEFAULT_GRACE, Span::seconds),
        node_of: labels.and_then(node_of),
        created_at: metadata.creation_timestamp.as_ref().map(|time| Timestamp::from_millis(time.0.as_millisecond())),
        os_disk: None,
    })
}

/// A `VirtualMachine`, with what it calls the disk that it boots from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VmPart {
    pub vm: VmSeen,
    pub os_disk: Option<String>,
}

pub(crate) fn vm_part(object: &DynamicObject) -> Option<VmPart> {
    Some(VmPart { vm: vm_seen(object)?, os_disk: os_disk_name(object) })
}

/// A `VirtualMachineInstance`, with the name that it shares with its virtual machine, and why it has no node if it has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedInstance {
    pub vm: VmName,
    pub instance: InstanceSeen,
    pub trouble: Option<String>,
}

pub(crate) fn instance_seen(object: &DynamicObject) -> Option<NamedInstance> {
    let metadata = &object.metadata;
    let Status { conditions, phase, node_name, .. } = Body::deserialize(&object.data).unwrap_or_default().status;
    let ready = match condition(&conditions, "Ready").map(|ready| ready.status.as_str()) {
        Some("True") => Readiness::True,
        None | Some("False") => Readiness::False,
        Some(_) => Readiness::Unknown,
    };
    let unscheduled = condition(&conditions, "PodScheduled").filter(|condition| condition.status == "False");
    Some(NamedInstance {
        vm: VmName::new(metadata.name.clone()?).ok()?,
        instance: InstanceSeen {
            uid: metadata.uid.clone()?,
            node: node_name.filter(|node| !node.is_empty()),
            phase: phase_of(&phase),
            ready,
            is_ending: metadata.deletion_timestamp.is_some(),
        },
        trouble: unscheduled.map(|condition| model::shortened(&condition.message)).filter(|words| !words.is_empty()),
    })
}

/// The two halves as one.
pub(crate) fn joined(vm: &VmSeen, instance: Option<&NamedInstance>) -> VmSeen {
    let mut vm = vm.clone();
    if let Some(NamedInstance { instance, trouble, .. }) = instance {
        vm.instance = Some(instance.clone());
        if vm.state == VmState::Unschedulable && trouble.is_some() {
            vm.message.clone_from(trouble);
        }
    }
    vm
}

fn condition<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.kind == kind)
}

/// KubeVirt's words about what is wrong, where something is.
fn message(state: VmState, conditions: &[Condition]) -> Option<String> {
    if !matches!(state, VmState::Unschedulable | VmState::Failing | VmState::Unknown) {
        return None;
    }
    let failure = condition(conditions, "Failure").filter(|condition| condition.status == "True");
    let not_ready = || condition(conditions, "Ready").filter(|condition| condition.status == "False");
    let said = failure.or_else(not_ready)?;
    Some(model::shortened(&said.message)).filter(|words| !words.is_empty())
}

fn state_of(printable: &str) -> VmState {
    match printable {
        "Stopped" => VmState::Stopped,
        "Provisioning" | "WaitingForVolumeBinding" => VmState::Provisioning,
        "Starting" | "WaitingForReceiver" => VmState::Starting,
        "Running" => VmState::Running,
        "Paused" => VmState::Paused,
        "Migrating" => VmState::Migrating,
        "Stopping" => VmState::Stopping,
        "Terminating" => VmState::Terminating,
        "ErrorUnschedulable" => VmState::Unschedulable,
        "CrashLoopBackOff" | "DataVolumeError" | "ErrImagePull" | "ImagePullBackOff" | "ErrorPvcNotFound" => VmState::Failing,
        _ => VmState::Unknown,
    }
}

fn phase_of(phase: &str) -> InstancePhase {
    match phase {
        "" | "Pending" => InstancePhase::Pending,
        "Scheduling" => InstancePhase::Scheduling,
        "Scheduled" => InstancePhase::Scheduled,
        "Running" => InstancePhase::Running,
        "Succeeded" => InstancePhase::Succeeded,
        "Failed" => InstancePhase::Failed,
        _ => InstancePhase::Unknown,
    }
}

/// `running` is how older objects say it.
fn run_strategy(spec: &Spec) -> RunStrategy {
    match (spec.run_strategy.as_deref(), spec.running) {
        (Some("Always"), _) | (None, Some(true)) => RunStrategy::Always,
        (Some("RerunOnFailure"), _) => RunStrategy::RerunOnFailure,
        (Some("Once"), _) => RunStrategy::Once,
        (Some("Manual"), _) => RunStrategy::Manual,
        _ => RunStrategy::Halted,
    }
}

impl Domain {
    fn cores(&self) -> u32 {
        let Cpu { cores, sockets, threads } = self.cpu;
        if cores.or(sockets).or(threads).is_some() {
            let product = cores.unwrap_or(1).saturating_mul(sockets.unwrap_or(1));
            return product.saturating_mul(threads.unwrap_or(1));
        }
        let asked = self.requested("cpu").and_then(|cpu| quantity::cpu_millis(&cpu));
        // KubeVirt gives one core to whom it is not said.
        asked.and_then(|millis| u32::try_from(millis.div_ceil(1_000)).ok()).unwrap_or(1)
    }

    fn memory_bytes(&self) -> u64 {
        let memory = self.memory.guest.clone().or_else(|| self.requested("memory"));
        memory.and_then(|memory| quantity::whole(&memory)).unwrap_or_default()
    }

    /// A quantity may be written as a number.
    fn requested(&self, name: &str) -> Option<String> {
        let value = self.resources.requests.get(name)?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }
}

/// The tenant cluster's node that a virtual machine is, by the labels that Cluster API puts on it.
fn node_of(labels: &BTreeMap<String, String>) -> Option<NodeOf> {
    let cluster = TenantClusterName::new(labels.get(CLUSTER_LABEL)?.as_str()).ok()?;
    let pool: Option<PoolName> = if labels.contains_key(CONTROL_PLANE_LABEL) { None } else { pool_name(labels, None, &cluster) };
    Some(NodeOf { cluster, pool })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::{Value, json};

    use super::*;

    fn object(value: Value) -> DynamicObject {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn every_printable_status_has_one_meaning() {
        let names = [
            "Stopped",
            "Provisioning",
            "WaitingForVolumeBinding",
            "DataVolumeError",
            "Starting",
            "Running",
            "Paused",
            "Migrating",
            "Stopping",
            "Terminating",
            "ErrorUnschedulable",
            "CrashLoopBackOff",
            "Unknown",
            "ErrImagePull",
            "ImagePullBackOff",
            "ErrorPvcNotFound",
            "",
            "SomethingNew",
        ];
        let table: String = names.iter().map(|name| format!("{name}: {:?}\n", state_of(name))).collect();
        expect![[r#"
            Stopped: Stopped
            Provisioning: Provisioning
            WaitingForVolumeBinding: Provisioning
            DataVolumeError: Failing
            Starting: Starting
            Running: Running
            Paused: Paused
            Migrating: Migrating
            Stopping: Stopping
            Terminating: Terminating
            ErrorUnschedulable: Unschedulable
            CrashLoopBackOff: Failing
            Unknown: Unknown
            ErrImagePull: Failing
            ImagePullBackOff: Failing
            ErrorPvcNotFound: Failing
            : Unknown
            SomethingNew: Unknown
        "#]]
        .assert_eq(&table);
    }

    #[test]
    fn a_worker_of_a_tenant_cluster_is_read_with_its_instance() {
        let vm = vm_seen(&object(json!({
            "metadata": {"name": "naks-01-agentpool1-md-tjr8k-4qqx4", "uid": "u", "creationTimestamp": "2026-11-15T14:00:00Z",
                "labels": {"cluster.x-k8s.io/cluster-name": "naks-01", "cluster.x-k8s.io/deployment-name": "naks-01-agentpool1-md",
                    "kubernetes.azure.com/agentpool": "agentpool1"}},
            "spec": {"runStrategy": "Always", "template": {"spec": {"terminationGracePeriodSeconds": 180,
                "domain": {"cpu": {"cores": 4, "sockets": 2}, "memory": {"guest": "8Gi"}}}}},
            "status": {"printableStatus": "Running"},
        })))
        .unwrap();
        let instance = instance_seen(&object(json!({
            "metadata": {"name": "naks-01-agentpool1-md-tjr8k-4qqx4", "uid": "i"},
            "status": {"phase": "Running", "nodeName": "rack1compute01", "conditions": [{"type": "Ready", "status": "True"}]},
        })))
        .unwrap();
        expect![[r#"VmSeen { name: naks-01-agentpool1-md-tjr8k-4qqx4, uid: "u", run: Always, state: Running, message: None, instance: Some(InstanceSeen { uid: "i", node: Some("rack1compute01"), phase: Running, ready: True, is_ending: false }), cpu_cores: 8, memory_bytes: 8589934592, grace: 3m 00s, node_of: Some(NodeOf { cluster: naks-01, pool: Some(agentpool1) }), created_at: Some(2026-11-15T14:00:00.000Z), os_disk: None }"#]]
            .assert_eq(&format!("{:?}", joined(&vm, Some(&instance))));
    }

    #[test]
    fn a_bare_virtual_machine_is_read_with_what_it_does_not_say() {
        let vm = vm_seen(&object(json!({"metadata": {"name": "a", "uid": "u"}, "spec": {"running": true}}))).unwrap();
        assert_eq!((vm.run, vm.state, vm.cpu_cores, vm.grace), (RunStrategy::Always, VmState::Unknown, 1, DEFAULT_GRACE));
        let asked = json!({"cpu": 2, "memory": "1Gi"});
        let vm = vm_seen(&object(
            json!({"metadata": {"name": "a", "uid": "u"}, "spec": {"template": {"spec": {"domain": {"resources": {"requests": asked}}}}}}),
        ))
        .unwrap();
        assert_eq!((vm.run, vm.cpu_cores, vm.memory_bytes), (RunStrategy::Halted, 2, 1 << 30));
        assert_eq!(vm_seen(&object(json!({"metadata": {"name": "a.b", "uid": "u"}}))), None, "no virtual machine of ours has such a name");
    }

    #[test]
    fn why_nothing_can_take_it_is_said_by_the_instance() {
        let vm =
            vm_seen(&object(json!({"metadata": {"name": "a", "uid": "u"}, "status": {"printableStatus": "ErrorUnschedulable"}}))).unwrap();
        let conditions = json!([{"type": "PodScheduled", "status": "False", "message": "0/4 nodes are available: 4 Insufficient cpu."}]);
        let instance = instance_seen(&object(
            json!({"metadata": {"name": "a", "uid": "i"}, "status": {"phase": "Scheduling", "conditions": conditions}}),
        ));
        let seen = joined(&vm, instance.as_ref());
        assert_eq!(seen.message.as_deref(), Some("0/4 nodes are available: 4 Insufficient cpu."));
    }
}
