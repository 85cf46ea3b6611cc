//! A preview as clients read it: one flat object for each thing that something happens to, so that queries stay short.

use model::{
    Amount, BudgetFate, ExpectedDuration, NodeFate, NodeOutcome, PodFate, PodOutcome, Preview, QuorumFate, Refusal, Span, TenantQuorumFate,
    VmFate,
};
use serde_json::{Map, Value, json};

use super::machines::render_hold;

pub(crate) fn render(preview: &Preview) -> Value {
    json!({
        "target": preview.target.name(),
        "machine": preview.target.machine(),
        "action": preview.action.verb(),
        "disruptive": preview.action.is_disruptive(),
        "refusal": preview.refusal.as_ref().map(render_refusal),
        "virtualMachines": preview.vms.iter().map(render_vm).collect::<Value>(),
        "nodes": preview.nodes.iter().map(render_node).collect::<Value>(),
        "pods": preview.pods.iter().map(render_pod).collect::<Value>(),
        "morePods": preview.more_pods,
        "budgets": preview.budgets.iter().map(render_budget).collect::<Value>(),
        "quorum": preview.quorum.as_ref().map(render_quorum),
        "tenantQuorums": preview.tenant_quorums.iter().map(render_tenant_quorum).collect::<Value>(),
        "holds": preview.holds.iter().map(render_hold).collect::<Value>(),
        "runtime": preview.runtime.map(|version| version.to_string()),
        "duration": render_duration(&preview.duration),
        "warnings": preview.warnings,
        "unknowns": preview.unknowns,
    })
}

pub(super) fn render_refusal(refusal: &Refusal) -> Value {
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
        NodeOutcome::Restarted => ("restarted", Vec::new()),
    };
    with(json!({ "cluster": node.cluster, "node": node.node, "drainPolicy": node.policy, "outcome": outcome }), more)
}

fn render_pod(pod: &PodFate) -> Value {
    let (outcome, more) = match &pod.outcome {
        PodOutcome::Moves { to } => ("moves", vec![("to", json!(to))]),
        PodOutcome::Pending { missing, why } => ("pending", vec![("missing", amount(*missing)), ("why", json!(why))]),
        PodOutcome::Ends => ("ends", Vec::new()),
        PodOutcome::StaysWithNode { why } => ("staysWithNode", vec![("why", json!(why))]),
        PodOutcome::Blocked { budget, why, to } => {
            let to = to.iter().map(|to| ("to", json!(to)));
            ("blocked", [("budget", json!(budget)), ("why", json!(why))].into_iter().chain(to).collect())
        }
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

fn render_tenant_quorum(quorum: &TenantQuorumFate) -> Value {
    let more = vec![("cluster", json!(quorum.cluster)), ("lost", json!(quorum.votes.is_lost()))];
    with(render_quorum(&quorum.votes), more)
}

fn render_duration(duration: &ExpectedDuration) -> Value {
    json!({ "expectedSeconds": seconds(duration.expected), "atMostSeconds": seconds(duration.at_most), "basis": duration.basis })
}

fn seconds(span: Span) -> Value {
    json!(span.as_millis().div_ceil(1_000))
}

#[cfg(test)]
mod tests {
    use crate::fixtures::of_json;
    use crate::schema::{self, Model, Shape};

    use super::*;

    /// One of everything that a preview can say.
    fn full() -> Preview {
        let pod = |outcome: Value| json!({ "cluster": "naks-01", "pod": "web/web-1", "node": "n1", "outcome": outcome });
        let node = |outcome: Value| json!({ "cluster": "naks-01", "node": "n1", "policy": "hold", "outcome": outcome });
        let vm = |outcome: &str| json!({ "name": "v", "state": "Running", "nodeOf": "naks-01", "outcome": outcome });
        let vms: Vec<Value> =
            ["stopped", "staysStopped", "started", "lost", "untouched", "restarted", "reimaged", "deleted"].into_iter().map(vm).collect();
        of_json(json!({
            "machine": "m1",
            "action": { "kind": "cordon", "evacuate": "forced" },
            "refusal": { "rule": "KcpQuorum", "message": "m", "evidence": ["e"], "remedy": "r" },
            "vms": vms,
            "nodes": [
                node(json!({ "kind": "drained" })), node(json!({ "kind": "passedOver", "why": "w", "after": 299_001 })),
                node(json!({ "kind": "uncordoned" })), node(json!({ "kind": "staysCordoned" })),
                node(json!({ "kind": "restarted" })),
            ],
            "pods": [
                pod(json!({ "kind": "moves", "to": "n2" })),
                pod(json!({ "kind": "pending", "missing": { "cpuMillis": 500, "memoryBytes": 0 }, "why": "w" })),
                pod(json!({ "kind": "ends" })), pod(json!({ "kind": "staysWithNode", "why": "w" })),
                pod(json!({ "kind": "blocked", "budget": "web/web", "why": "w" })), pod(json!({ "kind": "lost" })),
                pod(json!({ "kind": "stuck" })),
            ],
            "morePods": 7,
            "budgets": [{ "cluster": "naks-01", "budget": "web/web", "allowed": 0, "affected": 1, "isBlocking": true, "why": "w" }],
            "quorum": { "members": 3, "needed": 2, "votingBefore": 3, "votingAfter": 2 },
            "tenantQuorums": [{ "cluster": "naks-01", "members": 1, "needed": 1, "votingBefore": 1, "votingAfter": 0 }],
            "holds": [{ "owner": { "kind": "user", "caller": "bob" }, "reason": "r", "since": crate::fixtures::NOW }],
            "runtime": "4.7.8",
            "duration": { "expected": 90_000, "atMost": 2_400_000, "basis": "b" },
            "warnings": ["w"],
            "unknowns": ["u"],
        }))
    }

    /// What of a value is not as its table says.
    fn faults(shape: Shape, value: &Value, at: &str) -> Vec<String> {
        match (shape, value) {
            (Shape::Object(model), Value::Object(_)) => faults_of(model, value),
            (Shape::List(items), Value::Array(values)) => values.iter().flat_map(|value| faults(*items, value, at)).collect(),
            (Shape::OneOf(choices), Value::String(text)) if choices.contains(&text.as_str()) => Vec::new(),
            (Shape::Text | Shape::Instant, Value::String(_)) | (Shape::Whole, Value::Number(_)) | (Shape::Flag, Value::Bool(_)) => {
                Vec::new()
            }
            (_, value) => vec![format!("{at} is {value}")],
        }
    }

    fn faults_of(model: &Model, value: &Value) -> Vec<String> {
        let object = value.as_object().expect("it was seen to be one");
        let unknown = object.keys().filter(|name| !model.fields.iter().any(|field| field.name == name.as_str()));
        let unknown = unknown.map(|name| format!("{}.{name} is in no table", model.name));
        let each = model.fields.iter().flat_map(|field| match object.get(field.name) {
            None if field.always => vec![format!("{}.{} is missing", model.name, field.name)],
            None => Vec::new(),
            Some(Value::Null) if field.nullable => Vec::new(),
            Some(value) => faults(field.shape, value, &format!("{}.{}", model.name, field.name)),
        });
        unknown.chain(each).collect()
    }

    #[test]
    fn everything_that_a_preview_says_is_in_its_table() {
        assert_eq!(faults_of(&schema::PREVIEW, &render(&full())), Vec::<String>::new());
        let bare = Preview {
            refusal: None,
            vms: Vec::new(),
            nodes: Vec::new(),
            pods: Vec::new(),
            budgets: Vec::new(),
            quorum: None,
            tenant_quorums: Vec::new(),
            holds: Vec::new(),
            runtime: None,
            unknowns: Vec::new(),
            ..full()
        };
        assert_eq!(faults_of(&schema::PREVIEW, &render(&bare)), Vec::<String>::new());
    }

    #[test]
    fn a_tenants_control_plane_that_cannot_go_on_is_marked() {
        let lost = json!({ "cluster": "naks-01", "members": 1, "needed": 1, "votingBefore": 1, "votingAfter": 0, "lost": true });
        assert_eq!(render(&full())["tenantQuorums"], json!([lost]));
    }

    #[test]
    fn spans_are_whole_seconds_and_never_too_short() {
        let preview = render(&full());
        assert_eq!((&preview["nodes"][1]["afterSeconds"], &preview["duration"]["expectedSeconds"]), (&json!(300), &json!(90)));
        assert_eq!(preview["pods"][1]["missing"], json!({ "cpuMillis": 500, "memoryBytes": 0, "inWords": "500m CPU" }));
    }
}
