//! What a pod needs of the node that is to run it: room, labels, taints that it bears, neighbours.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Affinity, Container, NodeAffinity, PodAffinityTerm, PodSpec, Toleration};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use model::{Amount, Neighbourhood, PodDemands};

use crate::quantity;
use crate::selector::selector_seen;

/// What the scheduler keeps for a pod: its containers together, or its largest step of preparation if that is more.
///
/// A container of the preparation that goes on running is counted with the others, and with each step after it.
pub(crate) fn requests(spec: &PodSpec) -> Amount {
    let mut running = spec.containers.iter().map(of_container).fold(Amount::default(), |sum, next| sum + next);
    let mut beside = Amount::default();
    let mut preparing = Amount::default();
    for container in spec.init_containers.iter().flatten() {
        let needs = of_container(container);
        if container.restart_policy.as_deref() == Some("Always") {
            running += needs;
            beside += needs;
            preparing = larger(preparing, beside);
        } else {
            preparing = larger(preparing, beside + needs);
        }
    }
    let overhead = spec.overhead.as_ref().map(of_list).unwrap_or_default();
    larger(running, preparing) + overhead
}

fn of_container(container: &Container) -> Amount {
    let resources = container.resources.as_ref();
    let requests = resources.and_then(|resources| resources.requests.as_ref());
    let limits = resources.and_then(|resources| resources.limits.as_ref());
    // Where only a limit is set, the API server takes it for the request as well.
    quantity::amount(|name| requests.and_then(|list| list.get(name)).or_else(|| limits?.get(name)).map(|quantity| quantity.0.as_str()))
}

pub(crate) fn of_list(list: &BTreeMap<String, Quantity>) -> Amount {
    quantity::amount(|name| list.get(name).map(|quantity| quantity.0.as_str()))
}

fn larger(a: Amount, b: Amount) -> Amount {
    Amount { cpu_millis: a.cpu_millis.max(b.cpu_millis), memory_bytes: a.memory_bytes.max(b.memory_bytes) }
}

pub(crate) fn demands(spec: &PodSpec) -> PodDemands {
    let mut demands = PodDemands {
        node_labels: spec.node_selector.clone().unwrap_or_default(),
        tolerations: spec.tolerations.iter().flatten().map(toleration_seen).collect(),
        has_more: asks_for_more(spec),
        ..PodDemands::default()
    };
    if let Some(affinity) = &spec.affinity {
        note_affinity(&mut demands, affinity);
    }
    demands
}

/// A volume may bind a pod to where the volume lies; required spread and host ports are not understood here either.
fn asks_for_more(spec: &PodSpec) -> bool {
    let spreads = spec.topology_spread_constraints.iter().flatten().any(|spread| spread.when_unsatisfiable == "DoNotSchedule");
    let claims = spec.volumes.iter().flatten().any(|volume| volume.persistent_volume_claim.is_some() || volume.ephemeral.is_some());
    let ports = spec.containers.iter().flat_map(|container| container.ports.iter().flatten()).any(|port| port.host_port.is_some());
    spreads || claims || ports
}

fn toleration_seen(toleration: &Toleration) -> model::Toleration {
    let exists = toleration.operator.as_deref() == Some("Exists");
    model::Toleration {
        key: toleration.key.clone().filter(|key| !key.is_empty()),
        value: (!exists).then(|| toleration.value.clone().unwrap_or_default()),
        effect: toleration.effect.clone().filter(|effect| !effect.is_empty()),
    }
}

fn note_affinity(demands: &mut PodDemands, affinity: &Affinity) {
    if let Some(node) = &affinity.node_affinity {
        note_node_affinity(demands, node);
    }
    let together = affinity.pod_affinity.as_ref().and_then(|pods| pods.required_during_scheduling_ignored_during_execution.as_ref());
    let apart = affinity.pod_anti_affinity.as_ref().and_then(|pods| pods.required_during_scheduling_ignored_during_execution.as_ref());
    for term in together.into_iter().flatten() {
        match neighbourhood(term) {
            Some(place) => demands.together_with.push(place),
            None => demands.has_more = true,
        }
    }
    for term in apart.into_iter().flatten() {
        match neighbourhood(term) {
            Some(place) => demands.apart_from.push(place),
            None => demands.has_more = true,
        }
    }
}

/// One term of plain equalities is the same as labels that the node must have. Several terms are alternatives.
fn note_node_affinity(demands: &mut PodDemands, affinity: &NodeAffinity) {
    let Some(required) = &affinity.required_during_scheduling_ignored_during_execution else { return };
    let [term] = required.node_selector_terms.as_slice() else {
        demands.has_more = true;
        return;
    };
    demands.has_more |= term.match_fields.as_ref().is_some_and(|fields| !fields.is_empty());
    for expression in term.match_expressions.iter().flatten() {
        match (expression.operator.as_str(), expression.values.as_deref().unwrap_or_default()) {
            ("In", [value]) if demands.node_labels.get(&expression.key).is_none_or(|before| before == value) => {
                demands.node_labels.insert(expression.key.clone(), value.clone());
            }
            _ => demands.has_more = true,
        }
    }
}

/// Pods of the same namespace; a term that looks into others is not understood.
fn neighbourhood(term: &PodAffinityTerm) -> Option<Neighbourhood> {
    let looks_elsewhere = term.namespace_selector.is_some() || term.namespaces.as_ref().is_some_and(|names| !names.is_empty());
    let has_keys =
        [&term.match_label_keys, &term.mismatch_label_keys].iter().any(|keys| keys.as_ref().is_some_and(|keys| !keys.is_empty()));
    if looks_elsewhere || has_keys {
        return None;
    }
    let selector = term.label_selector.as_ref().map_or_else(|| Some(model::LabelSelector::nothing()), selector_seen)?;
    Some(Neighbourhood { selector, topology_key: term.topology_key.clone() })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn spec(value: Value) -> PodSpec {
        serde_json::from_value(value).unwrap()
    }

    fn container(cpu: &str, memory: &str) -> Value {
        json!({"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}})
    }

    #[test]
    fn a_pod_needs_its_containers_together_or_its_largest_preparation() {
        let needs = |init: Value| {
            requests(&spec(json!({"containers": [container("250m", "64Mi"), container("1", "64Mi")], "initContainers": init})))
        };
        assert_eq!(needs(json!([])).to_string(), "1250m CPU, 128 MiB");
        assert_eq!(needs(json!([container("2", "1Mi")])).to_string(), "2 CPU, 128 MiB");
        let beside = json!({"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}});
        assert_eq!(needs(json!([beside, container("2", "1Mi")])).to_string(), "2500m CPU, 128 MiB");
    }

    #[test]
    fn a_limit_alone_is_the_request_as_well() {
        let limited = json!({"containers": [{"name": "c", "resources": {"limits": {"cpu": "2"}}}], "overhead": {"memory": "1Mi"}});
        assert_eq!(requests(&spec(limited)).to_string(), "2 CPU, 1 MiB");
    }

    #[test]
    fn what_is_understood_of_a_pods_wishes_is_kept_and_the_rest_is_said() {
        let anti = json!({"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}]});
        let node = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]}});
        let seen = demands(&spec(json!({
            "containers": [], "nodeSelector": {"zone": "a"},
            "affinity": {"podAntiAffinity": anti, "nodeAffinity": node},
            "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}, {"key": "v", "value": "x"}, {"operator": "Exists"}],
        })));
        assert_eq!(seen.node_labels.into_iter().collect::<Vec<_>>(), [("disk".into(), "ssd".into()), ("zone".into(), "a".into())]);
        assert_eq!(seen.apart_from[0].topology_key, "kubernetes.io/hostname");
        assert_eq!(seen.tolerations[0], model::Toleration { key: Some("k".into()), value: None, effect: Some("NoSchedule".into()) });
        assert_eq!(seen.tolerations[1], model::Toleration { key: Some("v".into()), value: Some("x".into()), effect: None });
        assert_eq!(seen.tolerations[2], model::Toleration { key: None, value: None, effect: None });
        assert!(!seen.has_more);
    }

    #[test]
    fn a_wish_that_is_not_understood_is_not_left_out_silently() {
        let terms =
            |terms: Value| json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}});
        let one = |operator: &str, values: Value| json!({"matchExpressions": [{"key": "a", "operator": operator, "values": values}]});
        let elsewhere =
            json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "t", "namespaces": ["b"]}]}});
        for affinity in [terms(json!([one("NotIn", json!(["x"]))])), terms(json!([one("In", json!(["x", "y"]))])), elsewhere] {
            assert!(demands(&spec(json!({"containers": [], "affinity": affinity}))).has_more, "{affinity}");
        }
        let volumes = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]);
        assert!(demands(&spec(json!({"containers": [], "volumes": volumes}))).has_more);
        assert!(!demands(&spec(json!({"containers": [], "volumes": [{"name": "v", "emptyDir": {}}]}))).has_more);
    }
}
