//! Quotas and states of subscriptions: shown, set, and held against what is asked for.
//!
//! What there is is counted from the cache, and with it what this process has let through and the cache does not show yet: two requests at
//! once cannot both have the last core.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use access::quota::{Amounts, Quota};
use axum::response::Response;
use http::StatusCode;
use model::{ClusterName, VmName, VmSpec};
use serde_json::{Value, json};

use super::authorization::{administered, write_refused};
use super::{check_place, providers};
use crate::Api;
use crate::cache::View;
use crate::call::Call;
use crate::codes::Code;
use crate::fields;
use crate::reply::{Refused, json_response};
use crate::schema;

/// What was let through and may not be in the cache yet, by numbers that tell one from another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reservations(Arc<Mutex<BTreeMap<u64, Reserved>>>);

#[derive(Debug)]
struct Reserved {
    of: (ClusterName, VmName),
    takes: Takes,
}

/// What was let through, until its request was judged.
#[derive(Debug)]
pub(crate) struct Reservation(Option<(Reservations, u64)>);

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some((all, number)) = self.0.take() {
            all.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
        }
    }
}

/// What a virtual machine takes of a quota.
#[derive(Clone, Debug, Default)]
struct Takes {
    cores: u64,
    /// Their ids without case. Several virtual machines in one network take it once.
    networks: BTreeSet<String>,
}

impl Takes {
    fn of(spec: &VmSpec) -> Takes {
        let attachments = spec.networks.iter().chain(&spec.cloud_services_network);
        let networks = attachments.map(|attachment| attachment.network_id.to_ascii_lowercase()).collect();
        Takes { cores: u64::from(spec.cpu_cores), networks }
    }

    /// As much as either of them takes: two descriptions of one virtual machine are not two.
    fn join(&mut self, other: &Takes) {
        self.cores = self.cores.max(other.cores);
        self.networks.extend(other.networks.iter().cloned());
    }
}

/// What each virtual machine of a subscription takes.
type Taken = BTreeMap<(ClusterName, VmName), Takes>;

/// Whether a virtual machine fits into its subscription's quota. What comes back is kept until the request for it was judged.
pub(crate) fn reserve(api: &Api, view: &View, cluster: &ClusterName, vm: &VmName, spec: &VmSpec) -> Result<Reservation, Refused> {
    let none = Reservation(None);
    let Some(subscription) = view.clusters.get(cluster).map(|cluster| cluster.document.home.subscription.clone()) else { return Ok(none) };
    let Some(quota) = api.gate.directory().restraints().quota(&subscription).cloned() else { return Ok(none) };
    let mut reserved = api.reservations.0.lock().unwrap_or_else(PoisonError::into_inner);
    let (of, takes) = ((cluster.clone(), vm.clone()), Takes::of(spec));
    let mut taken = taken(view, &subscription, reserved.values());
    let used = amounts(&taken);
    // Whoever asks for the same at the same time gets an answer from the keeper: only one of them makes anything.
    taken.entry(of.clone()).or_default().join(&takes);
    let with_it = amounts(&taken);
    let asked = Amounts {
        cores: with_it.cores - used.cores,
        virtual_machines: with_it.virtual_machines - used.virtual_machines,
        networks: with_it.networks - used.networks,
    };
    quota.admit(used, asked).map_err(|exceeded| {
        let info = json!({ "limit": exceeded.limit, "used": exceeded.used, "asked": exceeded.asked, "what": exceeded.what });
        Refused::new(Code::QuotaExceeded, exceeded.to_string()).target(exceeded.what).additional_info("QuotaExceeded", &info)
    })?;
    let number = reserved.last_key_value().map_or(0, |(last, _)| last + 1);
    reserved.insert(number, Reserved { of, takes });
    Ok(Reservation(Some((api.reservations.clone(), number))))
}

/// What a subscription has, with what was let through and is not seen yet.
fn taken<'a>(view: &View, subscription: &str, reserved: impl Iterator<Item = &'a Reserved>) -> Taken {
    let clusters = view.clusters_in(subscription, None);
    let mut taken = Taken::new();
    for vm in clusters.iter().flat_map(|cluster| view.vms_of(&cluster.document.name)) {
        taken.insert((vm.document.cluster.clone(), vm.document.name.clone()), Takes::of(&vm.document.spec));
    }
    for Reserved { of, takes } in reserved.filter(|one| clusters.iter().any(|known| known.document.name == one.of.0)) {
        taken.entry(of.clone()).or_default().join(takes);
    }
    taken
}

fn amounts(taken: &Taken) -> Amounts {
    let networks: BTreeSet<&String> = taken.values().flat_map(|takes| &takes.networks).collect();
    Amounts { cores: taken.values().map(|takes| takes.cores).sum(), virtual_machines: taken.len() as u64, networks: networks.len() as u64 }
}

pub(crate) fn show(api: &Api, subscription: &str) -> Result<Response, Refused> {
    let view = api.cache.view();
    check_place(&view, subscription, None)?;
    let quota = api.gate.directory().restraints().quota(subscription).cloned();
    let quota = quota.unwrap_or_else(|| Quota { subscription: subscription.to_owned(), ..Quota::default() });
    Ok(json_response(StatusCode::OK, &render(&view, &quota)))
}

pub(crate) async fn set(api: &Api, call: &Call, subscription: &str, body: &[u8]) -> Result<Response, Refused> {
    let view = api.cache.view();
    check_place(&view, subscription, None)?;
    let described = fields::described(&schema::QUOTA, body)?;
    let limit = |name: &str| match described["limits"].get(name) {
        None => Ok(None),
        Some(value) => value.as_u64().map(Some).ok_or_else(|| {
            let path = format!("limits.{name}");
            Refused::bad_content(format!("`{path}` must not be less than 0")).target(path)
        }),
    };
    let (cores, virtual_machines, networks) = (limit("cores")?, limit("virtualMachines")?, limit("networks")?);
    let quota = Quota { subscription: subscription.to_owned(), cores, virtual_machines, networks };
    let gate = api.gate.clone();
    let set = async move { gate.set_quota(quota).await.map_err(write_refused) };
    let quota = administered(api, call, "quota", |quota| Some(quota.subscription.clone()), set).await?;
    Ok(json_response(StatusCode::OK, &render(&view, &quota)))
}

fn render(view: &View, quota: &Quota) -> Value {
    let mut limits = json!({});
    for (name, limit) in [("cores", quota.cores), ("virtualMachines", quota.virtual_machines), ("networks", quota.networks)] {
        if let Some(limit) = limit {
            limits[name] = json!(limit);
        }
    }
    let used = amounts(&taken(view, &quota.subscription, [].into_iter()));
    json!({
        "id": format!("/subscriptions/{}/quotas", quota.subscription),
        "subscriptionId": quota.subscription,
        "limits": limits,
        "used": { "cores": used.cores, "virtualMachines": used.virtual_machines, "networks": used.networks },
    })
}

/// Makes a subscription read-only, or opens it again.
pub(crate) async fn set_disabled(api: &Api, call: &Call, subscription: &str, disabled: bool) -> Result<Response, Refused> {
    check_place(&api.cache.view(), subscription, None)?;
    let (gate, id, what) = (api.gate.clone(), subscription.to_owned(), if disabled { "disable" } else { "enable" });
    let set = async move { gate.set_subscription_disabled(&id, disabled).await.map_err(write_refused) };
    let known = administered(api, call, what, |known| Some(known.id.clone()), set).await?;
    let state = if known.disabled_at.is_some() { "Disabled" } else { "Enabled" };
    let body = json!({ "subscriptionId": known.id, "state": state, "unregisteredNamespaces": known.unregistered });
    Ok(json_response(StatusCode::OK, &body))
}

/// What `az provider register` and `unregister` ask. Only what a subscription has resources of can be left.
pub(crate) async fn set_registered(api: &Api, call: &Call, subscription: &str, namespace: &str, is: bool) -> Result<Response, Refused> {
    let view = api.cache.view();
    check_place(&view, subscription, None)?;
    let provider = providers::find(namespace).ok_or_else(|| providers::unknown(namespace))?;
    if provider.is_always_registered() {
        if !is {
            let message = format!("`{}` cannot be unregistered: every subscription has it", provider.namespace);
            return Err(Refused::new(Code::OperationNotAllowed, message).target(provider.namespace));
        }
    } else {
        let (gate, id, what) = (api.gate.clone(), subscription.to_owned(), if is { "register" } else { "unregister" });
        let set = async move { gate.set_registered(&id, provider.namespace, is).await.map_err(write_refused) };
        administered(api, call, what, |known| Some(known.id.clone()), set).await?;
    }
    providers::show(api, call, subscription, namespace)
}

#[cfg(test)]
mod tests;
