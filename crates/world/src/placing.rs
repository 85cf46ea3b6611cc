//! When pods are placed: a moment after they were made, and again whenever room may have come.
//!
//! Where one goes is `scheduler.rs`'s to say.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::kube::{Flavour, Kube, Timer};
use crate::objects::{CLAIMS, Durability, NODES, ObjectError, ObjectKey, PODS, Part};
use crate::pod;
use crate::scheduler::{self, SELECTED_NODE, Surroundings};
use crate::time::Instant;
use crate::virt::launcher;

fn is_unplaced(pod: &Value) -> bool {
    pod::node_name(pod).is_none() && !pod::is_terminating(pod) && !pod::is_finished(pod)
}

impl Kube {
    /// Keeps the list of pods that wait for a node, and looks again when one has come or room has.
    pub(crate) fn note_unplaced(&mut self, key: &ObjectKey, before: Option<&Value>, after: Option<&Value>, at: Instant) {
        if !self.is_placed_by_us(after.or(before)) {
            return;
        }
        let is_news = match after {
            Some(after) if is_unplaced(after) => self.unplaced.insert(key.clone()),
            _ => {
                self.unplaced.remove(key);
                let has_ended = |pod: &Value| pod::is_finished(pod) && pod::node_name(pod).is_some();
                match (before, after) {
                    (Some(before), None) => pod::node_name(before).is_some(),
                    (before, Some(after)) => has_ended(after) && !before.is_some_and(has_ended),
                    (None, None) => false,
                }
            }
        };
        if is_news {
            self.look_for_places(at);
        }
    }

    /// The undercloud's own pods name their node, or wait; what runs its virtual machines is placed like any pod.
    fn is_placed_by_us(&self, pod: Option<&Value>) -> bool {
        self.flavour == Flavour::Tenant || pod.is_some_and(launcher::is_launcher)
    }

    /// Lets the scheduler look soon, if anybody waits for a node.
    pub(crate) fn look_for_places(&mut self, at: Instant) {
        if !self.unplaced.is_empty() {
            self.hasten(Timer::Placing, at + self.pace.controller_lag);
        }
    }

    pub(crate) fn placing_steps(&mut self, at: Instant) {
        self.set_timer(Timer::Placing, None);
        let mut around =
            Surroundings { nodes: self.objects.list(&NODES, None).map(|(_, node)| node.clone()).collect(), ..Surroundings::default() };
        for (_, pod) in self.objects.list(&PODS, None).filter(|(_, pod)| !pod::is_finished(pod)) {
            around.add(pod);
        }
        for key in self.unplaced.clone() {
            let Some(pod) = self.objects.get(&PODS, &key).cloned() else { continue };
            around.claims = self.claims_of(&key, &pod);
            match scheduler::place(&pod, &around) {
                Ok(node) => {
                    self.bind(&key, &pod, &node, at);
                    if let Some(bound) = self.objects.get(&PODS, &key) {
                        around.add(bound);
                    }
                }
                Err(unplaceable) => self.change_pod(&key, at, |pod| pod::with_unschedulable(pod, &unplaceable.to_string(), at)),
            }
        }
    }

    fn claims_of(&self, key: &ObjectKey, pod: &Value) -> Vec<Arc<Value>> {
        let names = scheduler::claims_of(pod).map(|name| ObjectKey::namespaced(&key.namespace, name));
        names.filter_map(|key| self.objects.get(&CLAIMS, &key).cloned()).collect()
    }

    fn bind(&mut self, key: &ObjectKey, pod: &Value, node: &str, at: Instant) {
        for name in scheduler::claims_of(pod) {
            let claim = ObjectKey::namespaced(&key.namespace, name);
            // A pod may name a claim that nobody made; it then runs without, as nothing here reads volumes.
            let _: Result<_, ObjectError> =
                self.objects.modify(&CLAIMS, &claim, Part::Whole, Durability::Kept, |claim| Ok(with_volume(claim, node)));
        }
        self.change_pod(key, at, |pod| pod::with_node(pod, node, at));
    }
}

/// A claim as the API server takes it in.
pub(crate) fn prepare_claim(claim: &mut Value) {
    claim["status"] = json!({"phase": "Pending"});
}

/// The claim with a volume, made where its first pod was placed.
fn with_volume(claim: &Value, node: &str) -> Value {
    let mut new = claim.clone();
    if claim["status"]["phase"] == "Bound" {
        return new;
    }
    let uid = claim["metadata"]["uid"].as_str().unwrap_or_default();
    new["spec"]["volumeName"] = json!(format!("pvc-{uid}"));
    new["metadata"]["annotations"][SELECTED_NODE] = json!(node);
    new["status"] = json!({
        "phase": "Bound",
        "accessModes": claim["spec"]["accessModes"],
        "capacity": claim["spec"]["resources"]["requests"],
    });
    new
}
