//! What an action would do to one virtual machine, or the restart of a node to what runs there.

use model::{
    Action, Conditions, ExpectedDuration, NodeFate, NodeOutcome, PodFate, PodOutcome, Preview, Refusal, Request, Rule, Span, Target,
    TenantClusterName, TenantQuorumFate, Timestamp, VmFate, VmName, VmOutcome, VmSeen,
};

use super::PREVIEW_PODS_MAX;
use crate::draft::Draft;
use crate::snapshot::Snapshot;
use crate::vm;

/// Refused itself only for what is not there. Whether the action would be is found out by asking for it, on a draft that is
/// thrown away.
pub(crate) fn preview_for_tenant(
    snapshot: &Snapshot,
    request: &Request,
    target: &Target,
    action: Action,
    now: Timestamp,
) -> Result<Preview, Refusal> {
    let mut draft = Draft::new(snapshot);
    let verdict = match target {
        Target::Vm(name) => vm::act(&mut draft, request, name, action, &Conditions::default(), now),
        Target::TenantNode { cluster, node } => vm::restart_node(&mut draft, request, cluster, node, now),
        Target::Machine(_) | Target::Site(_) => return Err(no_vm(target.name())),
    };
    let refusal = verdict.err();
    if let Some(absent) = refusal.clone().filter(|refusal| is_absence(refusal.rule)) {
        return Err(absent);
    }
    let seen = VmName::new(target.name()).ok().and_then(|name| snapshot.tenants.vms().get(&name));
    let (pods, more_pods) = match target {
        Target::TenantNode { cluster, node } => pods_of(snapshot, cluster, node),
        _ => (Vec::new(), 0),
    };
    let machine = seen.and_then(|vm| vm.node()).and_then(|node| snapshot.machine_of_node(node));
    let holds = machine.and_then(|name| snapshot.machines.get(name)).map(|machine| machine.holds.clone());
    Ok(Preview {
        target: target.clone(),
        action,
        refusal,
        vms: seen.into_iter().map(|vm| fate(vm, action)).collect(),
        nodes: node_fate(snapshot, target).into_iter().collect(),
        pods,
        more_pods,
        budgets: Vec::new(),
        quorum: None,
        tenant_quorums: quorums(snapshot, target),
        holds: holds.unwrap_or_default(),
        runtime: None,
        duration: duration(snapshot, seen.map(AsRef::as_ref), action),
        warnings: Vec::new(),
        unknowns: unknowns(snapshot),
    })
}

/// A node that is restarted is away for a while.
fn quorums(snapshot: &Snapshot, target: &Target) -> Vec<TenantQuorumFate> {
    match target {
        Target::TenantNode { cluster, node } => super::quorums::fates(snapshot, &[(cluster, node)], false),
        Target::Machine(_) | Target::Vm(_) | Target::Site(_) => Vec::new(),
    }
}

fn no_vm(name: &str) -> Refusal {
    Refusal {
        rule: Rule::VmExists,
        message: format!("there is no virtual machine `{name}`"),
        evidence: vec![format!("`{name}` is a machine")],
        remedy: "`rackwright vm list` names them".into(),
    }
}

fn is_absence(rule: Rule) -> bool {
    matches!(rule, Rule::VmExists | Rule::VmNodeOfTenant | Rule::TenantClusterExists | Rule::TenantNodeExists)
}

fn fate(vm: &VmSeen, action: Action) -> VmFate {
    let outcome = match (action, vm.has_instance()) {
        (Action::PowerOff { .. }, true) => VmOutcome::Stopped,
        (Action::PowerOff { .. }, false) => VmOutcome::StaysStopped,
        (Action::Start, true) => VmOutcome::Untouched,
        (Action::Start | Action::Restart | Action::RestartNode, false) => VmOutcome::Started,
        (Action::Restart | Action::RestartNode, true) => VmOutcome::Restarted,
        (Action::Reimage { .. }, _) => VmOutcome::Reimaged,
        (Action::Delete, _) => VmOutcome::Deleted,
        (Action::Create | Action::Cordon { .. } | Action::Uncordon | Action::Replace { .. } | Action::Validate | Action::Inspect, _) => {
            VmOutcome::Untouched
        }
    };
    VmFate { name: vm.name.clone(), state: vm.state, node_of: vm.node_of.as_ref().map(|of| of.cluster.clone()), outcome }
}

fn node_fate(snapshot: &Snapshot, target: &Target) -> Option<NodeFate> {
    let Target::TenantNode { cluster, node } = target else { return None };
    let stored = snapshot.tenant_clusters.get(cluster)?;
    let pool = stored.nodes.get(node).and_then(|node| node.pool.as_ref());
    let policy = stored.drain_policy(pool);
    Some(NodeFate { cluster: cluster.clone(), node: node.clone(), policy, outcome: NodeOutcome::Restarted })
}

/// Nothing is drained before a node is restarted: what runs there ends and begins anew with it.
fn pods_of(snapshot: &Snapshot, cluster: &TenantClusterName, node: &str) -> (Vec<PodFate>, usize) {
    let Some(inside) = snapshot.tenants.insides.get(cluster) else { return (Vec::new(), 0) };
    let all = inside.pods_on(node).count();
    let told = inside.pods_on(node).take(PREVIEW_PODS_MAX).map(|pod| PodFate {
        cluster: cluster.clone(),
        pod: pod.pod.to_string(),
        node: node.to_owned(),
        outcome: PodOutcome::StaysWithNode { why: "it is restarted with its node".into() },
    });
    (told.collect(), all.saturating_sub(PREVIEW_PODS_MAX))
}

/// A forced stop takes no time worth mentioning.
fn duration(snapshot: &Snapshot, vm: Option<&VmSeen>, action: Action) -> ExpectedDuration {
    let limits = &snapshot.cluster.limits;
    let runs = vm.is_some_and(VmSeen::has_instance);
    let stop = if runs { limits.expected_vm_stop } else { Span::ZERO };
    let expected = match action {
        Action::PowerOff { .. } | Action::Delete => stop,
        Action::Start if runs => Span::ZERO,
        Action::Start | Action::RestartNode => limits.expected_vm_start,
        _ => stop + limits.expected_vm_start,
    };
    let at_most = vm::deadline(action, limits);
    ExpectedDuration { expected: expected.min(at_most), at_most, basis: "assumed: what its parts usually take".into() }
}

fn unknowns(snapshot: &Snapshot) -> Vec<String> {
    let silence = crate::contact::undercloud_fault(snapshot);
    silence.map(|fault| format!("how virtual machines are now: the undercloud does not answer ({fault})")).into_iter().collect()
}
