//! What an operation that empties or fills a machine says of it at its end.

use std::collections::BTreeSet;

use model::{Errand, Evacuated, Fact, Leftover, Operation, Shutdown, VmRef};

use crate::vm::may_have_arrived;

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

/// `cordoned and emptied: 2 virtual machines stopped, 1 tenant node drained`.
pub(crate) fn emptied(operation: &Operation) -> String {
    let is_left_vm =
        |name: &str| operation.leftovers().any(|left| matches!(left, Leftover::Vm { vm, .. } | Leftover::LostVm { vm } if vm == name));
    let is_left_node = |name: &str| operation.leftovers().any(|left| matches!(left, Leftover::Node { node, .. } if node == name));
    let facts = || operation.journal.iter().map(|entry| &entry.fact);
    let stopped: BTreeSet<&str> = facts()
        .filter_map(|fact| match fact {
            Fact::ErrandAsked { errand: errand @ Errand::StopVm { vm, .. }, .. } if may_have_arrived(operation, errand) => {
                Some(vm.name.as_str())
            }
            _ => None,
        })
        .filter(|name| !is_left_vm(name))
        .collect();
    let drained = facts().filter(|fact| matches!(fact, Fact::Draining { node, .. } if !is_left_node(node))).count();
    if stopped.is_empty() && drained == 0 {
        let nothing_ran = operation.leftovers().next().is_none();
        return if nothing_ran { "cordoned; nothing ran on it" } else { "cordoned; nothing on it could be stopped" }.to_owned();
    }
    let drained = if drained > 0 { format!(", {} drained", counted(drained, "tenant node")) } else { String::new() };
    format!("cordoned and emptied: {} stopped{drained}", counted(stopped.len(), "virtual machine"))
}

/// What was brought back; `memory` is what still has to be.
pub(crate) fn brought_back(operation: &Operation, memory: Option<&Evacuated>) -> Option<String> {
    let is_still_away = |name: &str| memory.is_some_and(|memory| memory.vms.iter().any(|stopped| stopped.vm.name.as_str() == name));
    let starts: BTreeSet<&str> = operation
        .journal
        .iter()
        .filter_map(|entry| match &entry.fact {
            Fact::ErrandAsked { errand: Errand::StartVm { vm }, .. } => Some(vm.name.as_str()),
            _ => None,
        })
        .filter(|name| !is_still_away(name))
        .collect();
    (!starts.is_empty()).then(|| format!("{} started again", counted(starts.len(), "virtual machine")))
}

/// What the operation went on without.
pub(crate) fn left_words(operation: &Operation) -> Option<String> {
    let left: Vec<String> = operation.leftovers().map(ToString::to_string).collect();
    (!left.is_empty()).then(|| format!("left as it was: {}", first_few(&left)))
}

/// What waits to be brought back, as far as the operation stopped or cordoned it; nothing if it did not get that far.
pub(crate) fn kept_in_memory(operation: &Operation, memory: &Evacuated) -> Option<String> {
    let was_told = |vm: &VmRef| {
        let asked = |shutdown| operation.errand_asked(&Errand::StopVm { vm: vm.clone(), shutdown }).is_some();
        asked(Shutdown::Graceful) || asked(Shutdown::Skip)
    };
    let stopped = memory.vms.iter().filter(|stopped| stopped.was_seen_stopped || was_told(&stopped.vm));
    let names: Vec<String> = stopped.map(|stopped| format!("`{}`", stopped.vm)).collect();
    let vms = (!names.is_empty()).then(|| format!("{} ({})", counted(names.len(), "virtual machine"), first_few(&names)));
    let nodes = (!memory.nodes.is_empty()).then(|| counted(memory.nodes.len(), "tenant node"));
    let all: Vec<String> = vms.into_iter().chain(nodes).collect();
    (!all.is_empty()).then(|| format!("to be brought back: {}", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut_and_say_how_much_is_left_out() {
        let names: Vec<String> = (1..=7).map(|n| format!("p{n}")).collect();
        assert_eq!(first_few(&names[..NAMED]), "p1, p2, p3, p4, p5");
        assert_eq!(first_few(&names), "p1, p2, p3, p4, p5 and 2 more");
        assert_eq!(with_unnamed("its time was up", 100, 100), "its time was up");
        assert_eq!(with_unnamed("its time was up", 103, 100), "its time was up; 3 more pods on it are not named");
    }
}
