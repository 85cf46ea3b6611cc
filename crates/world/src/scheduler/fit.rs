//! Whether a pod's requests fit beside those of the pods that a node has already.

use serde_json::Value;

use crate::quantity::{millis, ones};

/// What the pods of a node ask for, and what there is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    cpu_millis: i64,
    memory_bytes: i64,
    pods: i64,
    allocatable: (i64, i64, i64),
}

impl Used {
    pub fn add(&mut self, pod: &Value) {
        let (cpu, memory) = requests(pod);
        self.cpu_millis += cpu;
        self.memory_bytes += memory;
        self.pods += 1;
    }

    pub fn on(self, node: &Value) -> Used {
        let allocatable = &node["status"]["allocatable"];
        Used { allocatable: (millis(&allocatable["cpu"]), ones(&allocatable["memory"]), ones(&allocatable["pods"])), ..self }
    }

    /// What the node has too little of, in the scheduler's words.
    pub fn lacking_for(&self, pod: &Value) -> Vec<String> {
        let (cpu, memory) = requests(pod);
        let (all_cpu, all_memory, all_pods) = self.allocatable;
        let mut lacking = Vec::new();
        if self.pods + 1 > all_pods {
            lacking.push("Too many pods".to_owned());
        }
        if cpu > 0 && self.cpu_millis + cpu > all_cpu {
            lacking.push("Insufficient cpu".to_owned());
        }
        if memory > 0 && self.memory_bytes + memory > all_memory {
            lacking.push("Insufficient memory".to_owned());
        }
        lacking
    }

    /// How full the node is: the mean of processors and memory.
    pub fn per_mille(&self) -> i64 {
        let share = |used: i64, all: i64| if all > 0 { i128::from(used) * 1_000 / i128::from(all) } else { 1_000 };
        let mean = (share(self.cpu_millis, self.allocatable.0) + share(self.memory_bytes, self.allocatable.1)) / 2;
        i64::try_from(mean).unwrap_or(i64::MAX)
    }
}

/// Thousandths of processors and bytes of memory: the containers' sum, or more if a container that runs before them asks
/// for more.
pub(super) fn requests(pod: &Value) -> (i64, i64) {
    let of = |container: &Value| {
        let resources = &container["resources"];
        // What has a limit and no request asks for its limit.
        let wanted = |name: &str| {
            if resources["requests"][name].is_null() { resources["limits"][name].clone() } else { resources["requests"][name].clone() }
        };
        (millis(&wanted("cpu")), ones(&wanted("memory")))
    };
    let list = |field: &str| pod["spec"][field].as_array().map_or(&[][..], Vec::as_slice);
    let (cpu, memory) = list("containers").iter().map(of).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    list("initContainers").iter().map(of).fold((cpu, memory), |most, one| (most.0.max(one.0), most.1.max(one.1)))
}
