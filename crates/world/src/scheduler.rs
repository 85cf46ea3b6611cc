//! Where a pod is placed: a function of the pod, the nodes and what runs on them already.
//!
//! When pods are tried, and what becomes of one that fits nowhere, is `placing.rs`'s.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::pod;

/// The taint of a node that is cordoned, which the scheduler words differently from all others.
const UNSCHEDULABLE_TAINT: &str = "node.kubernetes.io/unschedulable";

/// The storage class whose volumes lie on the disk of the node where they were first used.
pub(crate) const LOCAL_STORAGE: &str = "local-path";

/// Where a claim's volume was made.
pub(crate) const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// What a scheduler looks at. It is kept up to date over many placements, so that each need not count everything anew.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    /// In the order of their names.
    pub nodes: Vec<Arc<Value>>,
    /// All pods of the cluster that are bound to a node and have not finished.
    pub pods: Vec<Arc<Value>>,
    /// What these pods ask of each node.
    pub used: BTreeMap<String, Amounts>,
    /// The claims of the pod that is to be placed, as far as they exist.
    pub claims: Vec<Arc<Value>>,
}

impl Surroundings {
    /// Takes in a pod that is bound to a node.
    pub fn add(&mut self, pod: &Arc<Value>) {
        let Some(node) = pod::node_name(pod) else { return };
        let asked = requests(pod);
        let used = self.used.entry(node.to_owned()).or_default();
        used.cpu_millis += asked.cpu_millis;
        used.memory_bytes += asked.memory_bytes;
        used.pods += asked.pods;
        self.pods.push(pod.clone());
    }
}

/// Why a pod fits on no node: how many nodes there are, and how many of them fail for each reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unplaceable {
    pub nodes: usize,
    pub reasons: BTreeMap<String, usize>,
}

impl fmt::Display for Unplaceable {
    /// `0/3 nodes are available: 2 Insufficient cpu, 1 node(s) were unschedulable.`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0/{} nodes are available", self.nodes)?;
        let mut reasons: Vec<String> = self.reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        // As the real scheduler sorts them: by their text, count and all.
        reasons.sort();
        if reasons.is_empty() { f.write_str(".") } else { write!(f, ": {}.", reasons.join(", ")) }
    }
}

/// What a pod asks for, or a node has: thousandths of a core, bytes, and places for pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amounts {
    pub cpu_millis: i64,
    pub memory_bytes: i64,
    pub pods: i64,
}

/// The node to place the pod on: of those it fits on, the one with the most free cpu, and of equals the first by name.
pub(crate) fn place(pod: &Value, around: &Surroundings) -> Result<String, Unplaceable> {
    let asked = requests(pod);
    let mut unplaceable = Unplaceable { nodes: around.nodes.len(), ..Unplaceable::default() };
    let mut best: Option<(i64, &str)> = None;
    for node in &around.nodes {
        let name = node["metadata"]["name"].as_str().unwrap_or_default();
        let free = left(node, around.used.get(name).copied().unwrap_or_default());
        let obstacles = obstacles(pod, node, &around.claims, asked, free);
        for reason in &obstacles {
            *unplaceable.reasons.entry(reason.clone()).or_default() += 1;
        }
        if obstacles.is_empty() && best.is_none_or(|(most, _)| free.cpu_millis > most) {
            best = Some((free.cpu_millis, name));
        }
    }
    best.map(|(_, name)| name.to_owned()).ok_or(unplaceable)
}

/// Why the pod cannot run on the node. A taint or a label is one reason; what the node lacks is one reason for each.
fn obstacles(pod: &Value, node: &Value, claims: &[Arc<Value>], asked: Amounts, free: Amounts) -> Vec<String> {
    if let Some(taint) = untolerated(pod, node) {
        return vec![taint];
    }
    if !is_selected(pod, node) {
        return vec!["node(s) didn't match Pod's node affinity/selector".to_owned()];
    }
    if claims.iter().any(|claim| is_pinned_elsewhere(claim, node)) {
        return vec!["node(s) had volume node affinity conflict".to_owned()];
    }
    let lacks = [
        ("Insufficient cpu", asked.cpu_millis > free.cpu_millis),
        ("Insufficient memory", asked.memory_bytes > free.memory_bytes),
        ("Too many pods", free.pods < 1),
    ];
    lacks.into_iter().filter(|(_, lacking)| *lacking).map(|(reason, _)| reason.to_owned()).collect()
}

/// Whether a node takes the pod by its labels and taints, if it has room.
pub(crate) fn admits(pod: &Value, node: &Value) -> bool {
    untolerated(pod, node).is_none() && is_selected(pod, node)
}

/// Whether a node that has the pod already goes on taking it.
pub(crate) fn keeps(pod: &Value, node: &Value) -> bool {
    let evicts = |taint: &&Value| taint["effect"] == "NoExecute" && !tolerations(pod).iter().any(|known| tolerates(known, taint));
    !node["spec"]["taints"].as_array().into_iter().flatten().any(|taint| evicts(&taint)) && is_selected(pod, node)
}

fn untolerated(pod: &Value, node: &Value) -> Option<String> {
    let taints = node["spec"]["taints"].as_array().map_or(&[][..], Vec::as_slice);
    let forbids = |taint: &&Value| taint["effect"] != "PreferNoSchedule" && !tolerations(pod).iter().any(|known| tolerates(known, taint));
    let taint = taints.iter().find(forbids)?;
    let (key, value) = (taint["key"].as_str().unwrap_or_default(), taint["value"].as_str().unwrap_or_default());
    Some(match key {
        UNSCHEDULABLE_TAINT => "node(s) were unschedulable".to_owned(),
        key => format!("node(s) had untolerated taint {{{key}: {value}}}"),
    })
}

pub(crate) fn tolerations(pod: &Value) -> &[Value] {
    pod["spec"]["tolerations"].as_array().map_or(&[], Vec::as_slice)
}

/// Whether a toleration means a taint. An empty key with `Exists` means all, an empty effect means every effect.
pub(crate) fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (key, effect) = (text(&toleration["key"]), text(&toleration["effect"]));
    let is_meant = (key.is_empty() || taint["key"] == key.as_str()) && (effect.is_empty() || taint["effect"] == effect.as_str());
    match toleration["operator"].as_str() {
        Some("Exists") => is_meant,
        None | Some("" | "Equal") => is_meant && !key.is_empty() && text(&toleration["value"]) == text(&taint["value"]),
        Some(_) => false,
    }
}

fn is_selected(pod: &Value, node: &Value) -> bool {
    let wanted = pod["spec"]["nodeSelector"].as_object().into_iter().flatten();
    wanted.into_iter().all(|(key, value)| node["metadata"]["labels"][key] == *value)
}

/// Whether a claim's volume lies on another node's own disk.
fn is_pinned_elsewhere(claim: &Value, node: &Value) -> bool {
    let is_local = claim["spec"]["storageClassName"] == LOCAL_STORAGE;
    let home = claim["metadata"]["annotations"][SELECTED_NODE].as_str();
    is_local && home.is_some_and(|home| node["metadata"]["name"] != home)
}

/// What all containers of a pod ask for. A container that only has limits asks for those.
pub(crate) fn requests(pod: &Value) -> Amounts {
    let containers = pod["spec"]["containers"].as_array().map_or(&[][..], Vec::as_slice);
    let sum = |resource: &str, read: fn(&Value) -> i64| {
        let asked = containers.iter().map(|container| {
            let (requests, limits) = (&container["resources"]["requests"][resource], &container["resources"]["limits"][resource]);
            read(if requests.is_null() { limits } else { requests })
        });
        asked.sum()
    };
    Amounts { cpu_millis: sum("cpu", cpu_millis), memory_bytes: sum("memory", bytes), pods: 1 }
}

fn left(node: &Value, used: Amounts) -> Amounts {
    let allocatable = &node["status"]["allocatable"];
    Amounts {
        cpu_millis: cpu_millis(&allocatable["cpu"]) - used.cpu_millis,
        memory_bytes: bytes(&allocatable["memory"]) - used.memory_bytes,
        pods: cpu_millis(&allocatable["pods"]) / 1_000 - used.pods,
    }
}

/// `2`, `1500m`, `0.5` in thousandths. What is no quantity is nothing.
pub(crate) fn cpu_millis(quantity: &Value) -> i64 {
    let text = quantity.as_str().map_or_else(|| quantity.to_string(), str::to_owned);
    match text.strip_suffix('m') {
        Some(millis) => millis.parse().unwrap_or(0),
        None => text.parse::<f64>().map_or(0, |cores| (cores * 1_000.0).round() as i64),
    }
}

/// `64Gi`, `512Mi`, `1000000`, `2G` in bytes. What is no quantity is nothing.
pub(crate) fn bytes(quantity: &Value) -> i64 {
    const UNITS: [(&str, i64); 8] = [
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("Ti", 1 << 40),
        ("k", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("T", 1_000_000_000_000),
    ];
    let text = quantity.as_str().map_or_else(|| quantity.to_string(), str::to_owned);
    let (number, unit) = UNITS.iter().find_map(|(suffix, unit)| Some((text.strip_suffix(suffix)?, *unit))).unwrap_or((&text, 1));
    number.parse::<f64>().map_or(0, |number| (number * unit as f64).round() as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(name: &str, cpu: &str) -> Value {
        json!({
            "metadata": {"name": name, "labels": {"pool": "a"}},
            "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}},
        })
    }

    fn pod(cpu: &str) -> Value {
        json!({"spec": {"containers": [{"resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]}})
    }

    fn bound(node: &str, cpu: &str) -> Value {
        let mut pod = pod(cpu);
        pod["spec"]["nodeName"] = json!(node);
        pod
    }

    #[test]
    fn quantities_are_read_as_kubernetes_writes_them() {
        let cpu = ["2", "1500m", "0.5", "many"].map(|text| cpu_millis(&json!(text)));
        assert_eq!(cpu, [2_000, 1_500, 500, 0]);
        assert_eq!(cpu_millis(&json!(3)), 3_000);
        let memory = ["64Gi", "512Mi", "1000", "2G", "1.5Ki", "much"].map(|text| bytes(&json!(text)));
        assert_eq!(memory, [64 << 30, 512 << 20, 1_000, 2_000_000_000, 1_536, 0]);
    }

    #[test]
    fn a_pod_goes_where_most_is_free_and_says_why_it_goes_nowhere() {
        let (one, mut two, mut three) = (node("one", "4"), node("two", "4"), node("three", "4"));
        let busy = Arc::new(bound("one", "3"));
        let around = |nodes: &[&Value]| -> Result<String, String> {
            let nodes = nodes.iter().map(|node| Arc::new(Value::clone(node))).collect();
            let mut surroundings = Surroundings { nodes, ..Surroundings::default() };
            surroundings.add(&busy);
            place(&pod("2"), &surroundings).map_err(|unplaceable| unplaceable.to_string())
        };
        assert_eq!(around(&[&one, &two]), Ok("two".to_owned()));
        two["spec"]["taints"] = json!([{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]);
        three["spec"]["taints"] = json!([{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]);
        let message = "0/3 nodes are available: 1 Insufficient cpu, \
                       1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 1 node(s) were unschedulable.";
        assert_eq!(around(&[&one, &two, &three]), Err(message.to_owned()));
        assert_eq!(around(&[]), Err("0/0 nodes are available.".to_owned()));
    }

    #[test]
    fn a_pod_stays_with_its_local_volume() {
        let claim = |class: &str| {
            let metadata = json!({"annotations": {SELECTED_NODE: "one"}});
            vec![Arc::new(json!({"metadata": metadata, "spec": {"storageClassName": class}}))]
        };
        let nodes = vec![Arc::new(node("two", "4"))];
        let with = |class: &str| place(&pod("1"), &Surroundings { nodes: nodes.clone(), claims: claim(class), ..Surroundings::default() });
        assert_eq!(with("nexus-volume"), Ok("two".to_owned()));
        let message = with(LOCAL_STORAGE).unwrap_err().to_string();
        assert_eq!(message, "0/1 nodes are available: 1 node(s) had volume node affinity conflict.");
    }

    #[test]
    fn a_toleration_means_what_kubernetes_means() {
        let taint = json!({"key": "k", "value": "v", "effect": "NoExecute"});
        for (toleration, expected) in [
            (json!({"operator": "Exists"}), true),
            (json!({"operator": "Exists", "effect": "NoSchedule"}), false),
            (json!({"key": "k", "operator": "Exists", "effect": "NoExecute"}), true),
            (json!({"key": "k", "value": "v"}), true),
            (json!({"key": "k", "value": "w"}), false),
            (json!({"key": "other", "operator": "Exists"}), false),
        ] {
            assert_eq!(tolerates(&toleration, &taint), expected, "{toleration}");
        }
    }
}
