//! Whether a pod's requests fit beside those of the pods that a node has already.

use serde_json::Value;

use crate::quantity::{millis, ones};

/// What a pod asks for, or a node has: thousandths of a core, bytes, and places for pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amounts {
    pub cpu_millis: i64,
    pub memory_bytes: i64,
    pub pods: i64,
}

fn allocatable(node: &Value) -> Amounts {
    let allocatable = &node["status"]["allocatable"];
    Amounts { cpu_millis: millis(&allocatable["cpu"]), memory_bytes: ones(&allocatable["memory"]), pods: ones(&allocatable["pods"]) }
}

/// What the node has too little of for the pod, in the scheduler's words.
pub(super) fn lacking(pod: &Value, used: Amounts, node: &Value) -> Vec<String> {
    let (asked, all) = (requests(pod), allocatable(node));
    let lacks = [
        ("Too many pods", used.pods + asked.pods > all.pods),
        ("Insufficient cpu", asked.cpu_millis > 0 && used.cpu_millis + asked.cpu_millis > all.cpu_millis),
        ("Insufficient memory", asked.memory_bytes > 0 && used.memory_bytes + asked.memory_bytes > all.memory_bytes),
    ];
    lacks.into_iter().filter(|(_, lacking)| *lacking).map(|(reason, _)| reason.to_owned()).collect()
}

/// How full the node is: the mean of processors and memory.
pub(super) fn per_mille(used: Amounts, node: &Value) -> i64 {
    let all = allocatable(node);
    let share = |used: i64, all: i64| if all > 0 { i128::from(used) * 1_000 / i128::from(all) } else { 1_000 };
    let mean = (share(used.cpu_millis, all.cpu_millis) + share(used.memory_bytes, all.memory_bytes)) / 2;
    i64::try_from(mean).unwrap_or(i64::MAX)
}

/// What a pod asks for: the containers' sum, or more if a container that runs before them asks for more. What has a limit
/// and no request asks for its limit.
pub(crate) fn requests(pod: &Value) -> Amounts {
    let of = |container: &Value| {
        let (requests, limits) = (&container["resources"]["requests"], &container["resources"]["limits"]);
        let read = |name: &str, read: fn(&Value) -> i64| read(if requests[name].is_null() { &limits[name] } else { &requests[name] });
        (read("cpu", millis), read("memory", ones))
    };
    let list = |field: &str| pod["spec"][field].as_array().map_or(&[][..], Vec::as_slice);
    let sum = list("containers").iter().map(of).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let (cpu_millis, memory_bytes) = list("initContainers").iter().map(of).fold(sum, |most, one| (most.0.max(one.0), most.1.max(one.1)));
    Amounts { cpu_millis, memory_bytes, pods: 1 }
}
