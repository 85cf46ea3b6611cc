//! A preview as lines.

use std::fmt::Write;

use model::{NodeOutcome, PodOutcome, Preview, QuorumFate, TenantQuorumFate};

pub fn told(preview: &Preview) -> String {
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").unwrap();
    if let Some(refusal) = &preview.refusal {
        line(format!("refused: {} ({})", refusal.message, refusal.rule.name()));
    }
    for vm in &preview.vms {
        let of = vm.node_of.as_ref().map(|cluster| format!(" (node of {cluster})")).unwrap_or_default();
        line(format!("vm {}{of}, {}: {:?}", vm.name, vm.state.in_words(), vm.outcome));
    }
    for node in &preview.nodes {
        let outcome = match &node.outcome {
            NodeOutcome::PassedOver { why, after } => format!("passed over after {after}, {why}"),
            other => format!("{other:?}"),
        };
        line(format!("node {} of {}, policy {}: {outcome}", node.node, node.cluster, node.policy));
    }
    for pod in &preview.pods {
        let outcome = match &pod.outcome {
            PodOutcome::Moves { to } => format!("moves to {to}"),
            PodOutcome::Pending { missing, why } => format!("pending, {missing} missing: {why}"),
            PodOutcome::StaysWithNode { why } => format!("stays: {why}"),
            PodOutcome::Blocked { budget, why, to: None } => format!("kept by {budget}: {why}"),
            PodOutcome::Blocked { budget, why, to: Some(to) } => format!("kept by {budget}: {why}; then to {to}"),
            other => format!("{other:?}"),
        };
        line(format!("pod {} on {}: {outcome}", pod.pod, pod.node));
    }
    if preview.more_pods > 0 {
        line(format!("and {} pods more", preview.more_pods));
    }
    for budget in &preview.budgets {
        let blocks = if budget.is_blocking { "blocks" } else { "allows" };
        line(format!("budget {} {blocks}: {} allowed, {} affected: {}", budget.budget, budget.allowed, budget.affected, budget.why));
    }
    if let Some(quorum) = &preview.quorum {
        line(format!("votes: {} of {} now, {} after, {} needed", quorum.voting_before, quorum.members, quorum.voting_after, quorum.needed));
    }
    for TenantQuorumFate { cluster, votes } in &preview.tenant_quorums {
        let QuorumFate { members, needed, voting_before, voting_after } = votes;
        let lost = if votes.is_lost() { ": lost" } else { "" };
        line(format!("control plane of {cluster}: {voting_before} of {members} now, {voting_after} after, {needed} needed{lost}"));
    }
    for hold in &preview.holds {
        line(format!("held by {}: {}", hold.owner, hold.reason));
    }
    let duration = &preview.duration;
    line(format!("takes {}, at most {}: {}", duration.expected, duration.at_most, duration.basis));
    for unknown in &preview.unknowns {
        line(format!("unknown: {unknown}"));
    }
    text
}
