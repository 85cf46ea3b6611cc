//! What faults do to what tenants have: their API servers, budgets that nobody counts, a pod that never goes, guests that do not listen or crash.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{FaultError, FaultKind, FaultTarget};
use crate::clusters::ClusterName;
use crate::objects::{ObjectError, ObjectKey, PODS, Part, VIRTUAL_MACHINES};
use crate::site::World;
use crate::time::Instant;
use crate::virt::TENANT_NAMESPACE;

/// What keeps a pod that never goes.
const FINALIZER: &str = "sim.rackwright.dev/stuck";

impl World {
    /// Refuses to strike what is not there.
    pub(super) fn check_presence(&self, target: &FaultTarget) -> Result<(), FaultError> {
        let (is_there, name) = match target {
            FaultTarget::Machine(_) | FaultTarget::Api => return Ok(()),
            FaultTarget::Tenant(name) => (self.tenants.contains_key(name), name.clone()),
            FaultTarget::Vm(name) => {
                let key = ObjectKey::namespaced(TENANT_NAMESPACE, name);
                (self.undercloud.objects.get(&VIRTUAL_MACHINES, &key).is_some(), name.clone())
            }
            FaultTarget::Pod { cluster, namespace, name } => {
                let key = ObjectKey::namespaced(namespace, name);
                let found = self.tenants.get(cluster).and_then(|tenant| tenant.objects.get(&PODS, &key));
                (found.is_some(), format!("{cluster}/{namespace}/{name}"))
            }
        };
        if is_there { Ok(()) } else { Err(FaultError::Absent { name }) }
    }

    /// After a restart of the simulator: what faults do to tenants' clusters is so again.
    pub(crate) fn strike_tenants_anew(&mut self, at: Instant) {
        let struck = self.faults.list.iter().filter(|fault| fault.has_begun).map(|fault| fault.target.clone());
        let struck: BTreeSet<FaultTarget> = struck.filter(|target| matches!(target, FaultTarget::Tenant(_))).collect();
        for target in struck {
            self.strike_tenants(&target, at);
        }
    }

    /// Lets what a fault of a target other than a machine means become so, when it has begun and when it has ended.
    pub(super) fn strike_tenants(&mut self, target: &FaultTarget, at: Instant) {
        match target {
            FaultTarget::Machine(_) => {}
            FaultTarget::Api => self.weigh_quorum(at),
            FaultTarget::Tenant(name) => {
                let is_down = self.faults.active(FaultKind::TenantApiDown, target.clone()).is_some();
                self.tenant_hold_down(name, is_down, at);
                let is_uncounted = self.faults.active(FaultKind::TenantBudgetsUncounted, target.clone()).is_some();
                if let Some(tenant) = self.tenants.get_mut(name) {
                    tenant.hold_up_counting(is_uncounted, at);
                }
            }
            FaultTarget::Vm(name) => self.virt.touch(name),
            FaultTarget::Pod { cluster, namespace, name } => {
                let is_stuck = self.faults.active(FaultKind::PodFinalizerStuck, target.clone()).is_some();
                let key = ObjectKey::namespaced(namespace, name);
                let Some(tenant) = self.kube_mut(&ClusterName::Tenant(cluster.clone())) else { return };
                // A pod that has gone meanwhile is stuck no more.
                let _: Result<_, ObjectError> = tenant.modify(&PODS, &key, Part::Whole, at, |pod| Ok(with_finalizer(pod, is_stuck)));
            }
        }
    }
}

fn with_finalizer(pod: &Value, is_stuck: bool) -> Value {
    let mut new = pod.clone();
    let before = pod["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
    let mut finalizers: Vec<Value> = before.into_iter().filter(|found| found != FINALIZER).collect();
    if is_stuck {
        finalizers.push(json!(FINALIZER));
    }
    if let Some(metadata) = new["metadata"].as_object_mut() {
        if finalizers.is_empty() {
            metadata.remove("finalizers");
        } else {
            metadata.insert("finalizers".to_owned(), Value::Array(finalizers));
        }
    }
    new
}

#[cfg(test)]
#[path = "tenants_tests.rs"]
mod tests;
