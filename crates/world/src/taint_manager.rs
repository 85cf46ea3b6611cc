//! The taint manager: pods on a node that forbids them are deleted when their patience is over, whatever budgets say.
//!
//! On a node whose kubelet is dead they then stay, terminating, until somebody else ends them.

use serde_json::Value;

use crate::kube::{Flavour, Kube, Timer};
use crate::node;
use crate::objects::{NODES, ObjectKey, PODS};
use crate::pod;
use crate::scheduler::{tolerates, tolerations};
use crate::time::{Instant, Span};
use crate::writes::DeleteOptions;

/// Since when a pod is on a node that forbids it, and when it goes for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Doom {
    since: Instant,
    due: Instant,
}

/// How long a pod stays on a node with these taints, in the site's time; nothing if for ever.
///
/// A taint that it does not tolerate ends it at once. Of the tolerations that it needs the shortest counts.
pub(crate) fn patience(pod: &Value, taints: &[&Value]) -> Option<Span> {
    let mut shortest = None;
    for taint in taints {
        let mut used = tolerations(pod).iter().filter(|toleration| tolerates(toleration, taint)).peekable();
        if used.peek().is_none() {
            return Some(Span::ZERO);
        }
        let seconds = used.filter_map(|toleration| toleration["tolerationSeconds"].as_i64()).min();
        shortest = shortest.into_iter().chain(seconds).min();
    }
    shortest.map(|seconds: i64| Span::seconds(seconds.max(0)))
}

/// The taints of a node that end pods there.
///
/// The undercloud's pods belong to their machine and nobody would replace them, so its silence alone does not end them.
fn evicting_taints(node: &Value, flavour: Flavour) -> Vec<&Value> {
    let taints = node["spec"]["taints"].as_array().into_iter().flatten();
    let is_silence = |taint: &Value| taint["key"] == node::UNREACHABLE;
    taints.filter(|taint| taint["effect"] == "NoExecute" && (flavour == Flavour::Tenant || !is_silence(taint))).collect()
}

impl Kube {
    /// Looks at all pods of a node whose taints may have changed.
    pub(crate) fn weigh_dooms(&mut self, node: &str, at: Instant) {
        let Some(slot) = self.slot_of(node) else { return };
        let keys: Vec<ObjectKey> = self.host(slot).pods.keys().cloned().collect();
        for key in keys {
            self.weigh_doom(&key, at);
        }
        self.reschedule_dooms();
    }

    /// Looks at one pod that may have come to a tainted node.
    pub(crate) fn weigh_doom(&mut self, key: &ObjectKey, at: Instant) {
        let before = self.dooms.remove(key);
        let Some(pod) = self.objects.get(&PODS, key).filter(|pod| !pod::is_terminating(pod)) else { return };
        let node = pod::node_name(pod).and_then(|node| self.objects.get(&NODES, &ObjectKey::cluster(node)));
        let taints = node.map(|node| evicting_taints(node, self.flavour)).unwrap_or_default();
        if let Some(patience) = patience(pod, &taints) {
            let since = before.map_or(at, |before| before.since);
            let due = (since + self.pace.in_site_time(patience)).max(at);
            self.dooms.insert(key.clone(), Doom { since, due });
        }
    }

    pub(crate) fn reschedule_dooms(&mut self) {
        let next = self.dooms.values().map(|doom| doom.due).min();
        self.set_timer(Timer::Taints, next);
    }

    pub(crate) fn taint_steps(&mut self, at: Instant) {
        let due: Vec<ObjectKey> = self.dooms.iter().filter(|(_, doom)| doom.due <= at).map(|(key, _)| key.clone()).collect();
        for key in due {
            self.dooms.remove(&key);
            let reason = ("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint");
            self.change_pod(&key, at, |pod| pod::with_disruption_target(pod, reason, at));
            // The change may have found it doomed again; this is the end of it.
            self.dooms.remove(&key);
            // It was there a moment ago, and no precondition is set.
            let _ = self.delete(&PODS, &key, &DeleteOptions::default(), at);
        }
        self.reschedule_dooms();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_shortest_toleration_that_is_needed_counts() {
        let unreachable = json!({"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"});
        let out_of_service = json!({"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"});
        let pod = |tolerations: Value| json!({"spec": {"tolerations": tolerations}});
        let tolerate = |seconds: Value| json!({"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds});
        let usual = pod(json!([tolerate(json!(300))]));
        let daemon = pod(json!([tolerate(Value::Null)]));
        assert_eq!(patience(&usual, &[]), None);
        assert_eq!(patience(&usual, &[&unreachable]), Some(Span::seconds(300)));
        assert_eq!(patience(&pod(json!([tolerate(json!(300)), tolerate(json!(5))])), &[&unreachable]), Some(Span::seconds(5)));
        assert_eq!(patience(&daemon, &[&unreachable]), None);
        assert_eq!(patience(&usual, &[&unreachable, &out_of_service]), Some(Span::ZERO));
        assert_eq!(patience(&pod(json!([{"operator": "Exists"}])), &[&unreachable, &out_of_service]), None);
    }
}
