//! Tenants' part of a script: what is on the machines, and what people and accidents do to it.

use model::{Delivery, DrainPolicy, Fault, FaultClass, PodPhase, Readiness, RunStrategy, Shutdown, Span, Timestamp};

use crate::desk;
use crate::lodging::{Lodging, tenant, vm_name};

pub fn read(lodging: &mut Lodging, line: &str, now: Timestamp) {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["vm", name, "on", machine, marks @ ..] => {
            let run = match () {
                () if marks.contains(&"halted") => RunStrategy::Halted,
                () if marks.contains(&"manual") => RunStrategy::Manual,
                () => RunStrategy::Always,
            };
            lodging.add_vm(name, &desk::name(machine), run, None);
            set_hearing(lodging, name, marks);
        }
        ["node", name, "of", cluster, "on", machine, marks @ ..] => {
            lodging.add_node(name, cluster, "pool1", &desk::name(machine), now);
            lodging.nodes.get_mut(*name).unwrap().is_unschedulable = marks.contains(&"cordoned");
            lodging.skipped.insert((*name).to_owned(), marks.contains(&"skipped"));
            set_hearing(lodging, name, marks);
        }
        ["pod", name, "of", cluster, "on", node, marks @ ..] => read_pod(lodging, name, cluster, node, marks),
        ["budget", name, allowed] => drop(lodging.budgets.insert((*name).to_owned(), allowed.parse().unwrap())),
        ["policy", cluster, policy] => {
            let policy = DrainPolicy::ALL.into_iter().find(|known| known.as_str() == *policy).expect("a drain policy");
            lodging.set_policy(cluster, policy);
        }
        _ => panic!("`{line}` tells nothing of tenants"),
    }
}

/// How it takes being told to stop.
fn set_hearing(lodging: &mut Lodging, name: &str, marks: &[&str]) {
    let vm = lodging.vms.get_mut(&vm_name(name)).expect("it was just added");
    vm.is_undead = marks.contains(&"undead");
    if marks.contains(&"deaf") {
        vm.stop_takes = None;
    }
}

fn read_pod(lodging: &mut Lodging, name: &str, cluster: &str, node: &str, marks: &[&str]) {
    let owner = marks.iter().copied().find(|mark| mark.starts_with(char::is_uppercase));
    let pod = lodging.add_pod(name, cluster, node, owner);
    pod.seen.is_mirror = marks.contains(&"mirror");
    pod.seen.has_finalizers = marks.contains(&"finalizer");
    if marks.contains(&"finished") {
        pod.seen.phase = PodPhase::Succeeded;
    }
    if let Some(seconds) = marks.iter().find_map(|mark| mark.strip_prefix("grace=")) {
        pod.seen.grace = Span::seconds(seconds.parse().unwrap());
        pod.ends_after = pod.seen.grace;
    }
    pod.budgets = marks.iter().filter_map(|mark| mark.strip_prefix("budget=")).map(str::to_owned).collect();
}

pub fn happen(lodging: &mut Lodging, words: &[&str], now: Timestamp) {
    let fault = |class, detail: &str| Fault::new(class, Delivery::No, detail);
    match words {
        ["start", vm] => lodging.start(&vm_name(vm), now),
        ["stop", vm] => lodging.stop(&vm_name(vm), Shutdown::Graceful, now),
        ["slip", vm, machine] => drop(lodging.slips.insert(vm_name(vm), desk::name(machine))),
        ["lose", vm] => lodging.lose(&vm_name(vm)),
        ["move", vm, machine] => lodging.migrate(&vm_name(vm), &desk::name(machine)),
        ["delete", vm] => drop(lodging.vms.remove(&vm_name(vm))),
        ["cordon", node] => lodging.nodes.get_mut(*node).unwrap().is_unschedulable = true,
        ["uncordon", node] => {
            let node = lodging.nodes.get_mut(*node).unwrap();
            (node.is_unschedulable, node.is_cordoned_by_us) = (false, false);
        }
        ["unknown", node] => lodging.set_ready(node, Readiness::Unknown, now),
        ["ready", node] => lodging.set_ready(node, Readiness::True, now),
        ["vanish", node] => drop(lodging.nodes.remove(*node)),
        ["budget", name, allowed] => drop(lodging.budgets.insert((*name).to_owned(), allowed.parse().unwrap())),
        ["bind", pod, cluster, node] => drop(lodging.add_pod(pod, cluster, node, Some("Deployment"))),
        ["down", cluster] => {
            lodging.api_faults.insert(tenant(cluster), fault(FaultClass::Unreachable, "connection refused"));
        }
        ["up", cluster] => drop(lodging.api_faults.remove(&tenant(cluster))),
        ["evictions", "fail"] => lodging.eviction_fault = Some(fault(FaultClass::Garbled, "500")),
        ["evictions", "work"] => lodging.eviction_fault = None,
        ["unheard"] => lodging.watch_fault = Some(fault(FaultClass::Denied, "virtualmachines is forbidden")),
        ["heard"] => lodging.watch_fault = None,
        ["kubevirt", "fails"] => lodging.kubevirt_fault = Some(fault(FaultClass::Garbled, "500")),
        ["kubevirt", "works"] => lodging.kubevirt_fault = None,
        _ => panic!("`{}` does not happen to tenants", words.join(" ")),
    }
}
