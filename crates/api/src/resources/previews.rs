//! A preview as clients read it: one flat object for each thing that something happens to, so that queries stay short.

use model::{Amount, BudgetFate, ExpectedDuration, NodeFate, NodeOutcome, PodFate, PodOutcome, Preview, QuorumFate, Refusal, Span, VmFate};
use serde_json::{Map, Value, json};

use super::machines::render_hold;

pub(crate) fn render(preview: &Preview) -> Value {
    json!({
        "machine": preview.machine,
        "action": preview.action.verb(),
        "disruptive": preview.action.is_disruptive(),
        "refusal": preview.refusal.as_ref().map(render_refusal),
        "virtualMachines": preview.vms.iter().map(render_vm).collect::<Value>(),
        "nodes": preview.nodes.iter().map(render_node).collect::<Value>(),
        "pods": preview.pods.iter().map(render_pod).collect::<Value>(),
        "morePods": preview.more_pods,
        "budgets": preview.budgets.iter().map(render_budget).collect::<Value>(),
        "quorum": preview.quorum.as_ref().map(render_quorum),
        "holds": preview.holds.iter().map(render_hold).collect::<Value>(),
        "duration": render_duration(&preview.duration),
        "unknowns": preview.unknowns,
    })
}

fn render_refusal(refusal: &Refusal) -> Value {
    json!({
        "code": refusal.rule.code(),
        "rule": refusal.rule.name(),
        "message": refusal.message,
        "evidence": refusal.evidence,
        "remedy": refusal.remedy,
    })
}

fn render_vm(vm: &VmFate) -> Value {
    json!({ "name": vm.name, "state": vm.state, "nodeOf": vm.node_of, "outcome": vm.outcome })
}

fn render_node(node: &NodeFate) -> Value {
    let (outcome, more) = match &node.outcome {
        NodeOutcome::Drained => ("drained", Vec::new()),
        NodeOutcome::PassedOver { why, after } => ("passedOver", vec![("why", json!(why)), ("afterSeconds", seconds(*after))]),
        NodeOutcome::Uncordoned => ("uncordoned", Vec::new()),
        NodeOutcome::StaysCordoned => ("staysCordoned", Vec::new()),
    };
    with(json!({ "cluster": node.cluster, "node": node.node, "drainPolicy": node.policy, "outcome": outcome }), more)
}

fn render_pod(pod: &PodFate) -> Value {
    let (outcome, more) = match &pod.outcome {
        PodOutcome::Moves { to } => ("moves", vec![("to", json!(to))]),
        PodOutcome::Pending { missing, why } => ("pending", vec![("missing", amount(*missing)), ("why", json!(why))]),
        PodOutcome::Ends => ("ends", Vec::new()),
        PodOutcome::StaysWithNode { why } => ("staysWithNode", vec![("why", json!(why))]),
        PodOutcome::Blocked { budget, why } => ("blocked", vec![("budget", json!(budget)), ("why", json!(why))]),
        PodOutcome::Lost => ("lost", Vec::new()),
        PodOutcome::Stuck => ("stuck", Vec::new()),
    };
    with(json!({ "cluster": pod.cluster, "pod": pod.pod, "node": pod.node, "outcome": outcome }), more)
}

fn with(mut object: Value, more: Vec<(&str, Value)>) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.extend(more.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>());
    }
    object
}

fn amount(amount: Amount) -> Value {
    json!({ "cpuMillis": amount.cpu_millis, "memoryBytes": amount.memory_bytes, "inWords": amount.to_string() })
}

fn render_budget(budget: &BudgetFate) -> Value {
    json!({
        "cluster": budget.cluster,
        "budget": budget.budget,
        "allowed": budget.allowed,
        "affected": budget.affected,
        "blocking": budget.is_blocking,
        "why": budget.why,
    })
}

fn render_quorum(quorum: &QuorumFate) -> Value {
    json!({
        "members": quorum.members,
        "needed": quorum.needed,
        "votingBefore": quorum.voting_before,
        "votingAfter": quorum.voting_after,
    })
}

fn render_duration(duration: &ExpectedDuration) -> Value {
    json!({ "expectedSeconds": seconds(duration.expected), "atMostSeconds": seconds(duration.at_most), "basis": duration.basis })
}

fn seconds(span: Span) -> Value {
    json!(span.as_millis().div_ceil(1_000))
}
