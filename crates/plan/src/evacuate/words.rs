//! What an operation that empties or fills a machine says of it at its end.

use std::collections::BTreeSet;

use model::{Errand, Evacuated, Fact, Leftover, Operation};

/// Names in one message: enough to begin with, and few enough to be read. The journal has all of them.
pub(crate) const NAMED: usize = 5;

pub(crate) fn first_few(names: &[String]) -> String {
    let mut said = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > NAMED {
        said.push_str(&format!(" and {} more", names.len() - NAMED));
    }
    said
}

/// A reason, with how many things are not named one by one.
pub(crate) fn with_unnamed(why: &str, all: usize, named: usize) -> String {
    if all > named { format!("{why}; {} more pods on it are not named", all - named) } else { why.to_owned() }
}

pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// `2 virtual machines stopped, 5 pods evicted`; nothing if there was nothing.
pub(crate) fn emptied(operation: &Operation) -> String {
    let left_vms: BTreeSet<&str> = operation
        .leftovers()
        .filter_map(|left| match left {
            Leftover::Vm { vm, .. } | Leftover::LostVm { vm } => Some(vm.as_str()),
            _ => None,
        })
        .collect();
    let stopped: BTreeSet<&str> = operation
        .journal
        .iter()
        .filter_map(|entry| match &entry.fact {
            Fact::ErrandAsked { errand: Errand::StopVm { vm, .. }, .. } if !left_vms.contains(vm.name.as_str()) => Some(vm.name.as_str()),
            _ => None,
        })
        .collect();
    let to_leave: usize =
        operation.journal.iter().map(|entry| if let Fact::Draining { pods, .. } = &entry.fact { *pods } else { 0 }).sum();
    let left = operation.leftovers().filter(|left| matches!(left, Leftover::Pod { .. })).count();
    format!("{} stopped, {} evicted", counted(stopped.len(), "virtual machine"), counted(to_leave.saturating_sub(left), "pod"))
}

/// What was brought back, as far as it was asked for.
pub(crate) fn brought_back(operation: &Operation) -> Option<String> {
    let starts: BTreeSet<&str> = operation
        .journal
        .iter()
        .filter_map(|entry| match &entry.fact {
            Fact::ErrandAsked { errand: Errand::StartVm { vm }, .. } => Some(vm.name.as_str()),
            _ => None,
        })
        .collect();
    (!starts.is_empty()).then(|| format!("{} started again", counted(starts.len(), "virtual machine")))
}

/// What the operation went on without.
pub(crate) fn left_words(operation: &Operation) -> Option<String> {
    let left: Vec<String> = operation.leftovers().map(ToString::to_string).collect();
    (!left.is_empty()).then(|| format!("it went on without {}", first_few(&left)))
}

/// What waits to be brought back.
pub(crate) fn kept_in_memory(memory: &Evacuated) -> String {
    let vms: Vec<String> = memory.vms.iter().map(|stopped| format!("`{}`", stopped.vm)).collect();
    let nodes = memory.nodes.len();
    let vms = match vms.len() {
        0 => None,
        count => Some(format!("{} stopped ({})", counted(count, "virtual machine"), first_few(&vms))),
    };
    let nodes = (nodes > 0).then(|| format!("{} cordoned", counted(nodes, "tenant node")));
    format!("{}, until it is uncordoned", vms.into_iter().chain(nodes).collect::<Vec<_>>().join(" and "))
}
