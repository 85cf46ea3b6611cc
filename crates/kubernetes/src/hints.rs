//! Placement hints as Kubernetes' affinity.

use model::{HintExecution, HintKind, HintScope, HintTarget, PlacementHint};
use serde_json::{Map, Value, json};

use crate::node::MACHINE;
use crate::vm_object::VM_NAME;

const HOSTNAME: &str = "kubernetes.io/hostname";

/// The label that names the rack of the machine on which a node runs.
const RACK: &str = "topology.kubernetes.io/zone";

/// How much a wish counts against others. One of several is as good as another, so that all have the most.
const WISH_WEIGHT: u32 = 100;

/// Near what and away from what a virtual machine is placed; empty if nothing was hinted.
pub(crate) fn affinity(hints: &[PlacementHint]) -> Value {
    let mut near = Wishes::default();
    let mut apart = Wishes::default();
    let mut nodes = NodeWishes::default();
    for hint in hints {
        match &hint.target {
            HintTarget::Vm(vm) => {
                let topology_key = if hint.scope == HintScope::Rack { RACK } else { HOSTNAME };
                let term = json!({"labelSelector": {"matchLabels": {VM_NAME: vm.key()}}, "topologyKey": topology_key});
                let wishes = if hint.kind == HintKind::Affinity { &mut near } else { &mut apart };
                wishes.add(hint.execution, term);
            }
            HintTarget::Machine(machine) => nodes.add(hint, MACHINE, machine.as_str()),
            HintTarget::Rack(rack) => nodes.add(hint, RACK, rack.as_str()),
        }
    }
    let parts = [("podAffinity", near.rendered()), ("podAntiAffinity", apart.rendered()), ("nodeAffinity", nodes.rendered())];
    parts.into_iter().filter_map(|(name, part)| Some((name.to_owned(), part?))).collect::<Map<_, _>>().into()
}

/// Terms about pods.
#[derive(Default)]
struct Wishes {
    required: Vec<Value>,
    preferred: Vec<Value>,
}

impl Wishes {
    fn add(&mut self, execution: HintExecution, term: Value) {
        match execution {
            HintExecution::Hard => self.required.push(term),
            HintExecution::Soft => self.preferred.push(json!({"weight": WISH_WEIGHT, "podAffinityTerm": term})),
        }
    }

    fn rendered(self) -> Option<Value> {
        rendered((!self.required.is_empty()).then(|| json!(self.required)), &self.preferred)
    }
}

/// Expressions about nodes. Those that must hold stand in one term, since several terms would be alternatives.
#[derive(Default)]
struct NodeWishes {
    required: Vec<Value>,
    preferred: Vec<Value>,
}

impl NodeWishes {
    fn add(&mut self, hint: &PlacementHint, label: &str, value: &str) {
        let operator = if hint.kind == HintKind::Affinity { "In" } else { "NotIn" };
        let expression = json!({"key": label, "operator": operator, "values": [value]});
        match hint.execution {
            HintExecution::Hard => self.required.push(expression),
            HintExecution::Soft => self.preferred.push(json!({"weight": WISH_WEIGHT, "preference": {"matchExpressions": [expression]}})),
        }
    }

    fn rendered(self) -> Option<Value> {
        let required = (!self.required.is_empty()).then(|| json!({"nodeSelectorTerms": [{"matchExpressions": self.required}]}));
        rendered(required, &self.preferred)
    }
}

fn rendered(required: Option<Value>, preferred: &[Value]) -> Option<Value> {
    let mut parts = Map::new();
    if let Some(required) = required {
        parts.insert("requiredDuringSchedulingIgnoredDuringExecution".to_owned(), required);
    }
    if !preferred.is_empty() {
        parts.insert("preferredDuringSchedulingIgnoredDuringExecution".to_owned(), json!(preferred));
    }
    (!parts.is_empty()).then_some(Value::Object(parts))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use model::{MachineName, RackName, VmName};

    use super::*;

    fn hint(kind: HintKind, execution: HintExecution, scope: HintScope, target: HintTarget) -> PlacementHint {
        PlacementHint { kind, execution, scope, target }
    }

    #[test]
    fn every_placement_hint_becomes_the_affinity_that_means_it() {
        use HintExecution::{Hard, Soft};
        use HintKind::{Affinity, AntiAffinity};
        let vm = HintTarget::Vm(VmName::new("Db1").unwrap());
        let machine = HintTarget::Machine(MachineName::new("rack1compute01").unwrap());
        let rack = HintTarget::Rack(RackName::new("rack2").unwrap());
        let row = |hint: PlacementHint| affinity(&[hint]).to_string() + "\n";
        let table = [
            row(hint(Affinity, Hard, HintScope::Machine, vm.clone())),
            row(hint(AntiAffinity, Hard, HintScope::Rack, vm.clone())),
            row(hint(AntiAffinity, Soft, HintScope::Machine, vm)),
            row(hint(Affinity, Hard, HintScope::Machine, machine.clone())),
            row(hint(AntiAffinity, Soft, HintScope::Machine, machine)),
            row(hint(Affinity, Soft, HintScope::Rack, rack.clone())),
            row(hint(AntiAffinity, Hard, HintScope::Rack, rack)),
        ];
        expect![[r#"
            {"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"vm.kubevirt.io/name":"db1"}},"topologyKey":"kubernetes.io/hostname"}]}}
            {"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"vm.kubevirt.io/name":"db1"}},"topologyKey":"topology.kubernetes.io/zone"}]}}
            {"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":100,"podAffinityTerm":{"labelSelector":{"matchLabels":{"vm.kubevirt.io/name":"db1"}},"topologyKey":"kubernetes.io/hostname"}}]}}
            {"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.kubernetes.io/baremetalmachine","operator":"In","values":["rack1compute01"]}]}]}}}
            {"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":100,"preference":{"matchExpressions":[{"key":"topology.kubernetes.io/baremetalmachine","operator":"NotIn","values":["rack1compute01"]}]}}]}}
            {"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":100,"preference":{"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"In","values":["rack2"]}]}}]}}
            {"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"NotIn","values":["rack2"]}]}]}}}
        "#]]
        .assert_eq(&table.concat());
        assert_eq!(affinity(&[]).to_string(), "{}");
    }
}
