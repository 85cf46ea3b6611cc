//! `Microsoft.NetworkCloud/virtualMachines`: making, changing, deleting, and what can be asked of one.

use axum::response::Response;
use http::StatusCode;
use model::{Action, Ask, Cluster, ClusterName, Request, Shutdown, Target, Verdict, VmName};
use serde_json::json;
use uuid::Uuid;

use super::actions::{self, Verb, respond_with_operation, verb};
use super::quotas::Reservation;
use super::vm_body::{self, Described, Secret};
use super::{Place, clusters_at, quotas, tags_of, unfit, vms};
use crate::Api;
use crate::cache::{Versioned, View};
use crate::call::Call;
use crate::codes::Code;
use crate::fields;
use crate::precondition::conditions;
use crate::reply::{Refused, no_content, resource_response, shortened};
use crate::schema;
use crate::submit::{hand_in, request_of, see_through, submit};

pub(crate) static VM_VERBS: [Verb; 4] = [
    verb("powerOff", &schema::POWER_OFF_VM, "Shut the virtual machine down, gracefully unless `skipShutdown` says otherwise."),
    verb("start", &schema::NOTHING, "Start the virtual machine."),
    verb("restart", &schema::NOTHING, "Shut the virtual machine down, and start it again."),
    verb("reimage", &schema::NOTHING, "Make the disk of the operating system anew from its image. What is on it is lost."),
];

/// PUT: makes a virtual machine, or says the same of one that there is.
pub(crate) async fn put(api: &Api, call: &Call, place: &Place, body: &[u8]) -> Result<Response, Refused> {
    let view = api.cache.view();
    let clusters = clusters_at(&view, &place.subscription, &place.group)?;
    let name = VmName::new(place.name.as_str()).map_err(|invalid| {
        Refused::bad_content(format!("`{}` cannot be a virtual machine's name: {}", shortened(&place.name), invalid.problem))
            .target("virtualMachineName")
    })?;
    let known = clusters.iter().find_map(|cluster| view.vm(&cluster.document.name, &name)).map(|vm| &*vm.document);
    let described = vm_body::read(body, place, &format!("vm/{}/{}", name.key(), Uuid::new_v4()), known)?;
    plan::check_tags(&described.tags).map_err(|flaw| match &flaw.tag {
        Some(tag) => unfit(&format!("tags.{tag}"), &flaw.message),
        None => unfit("tags", &flaw.message),
    })?;
    // Of one that there is nothing is made, and whether anything would be changed is its keeper's to say.
    let is_there = known.is_some_and(|vm| vm.uid.is_some());
    if let Some(flaw) = plan::check_vm_spec(&described.spec).first().filter(|_| !is_there) {
        return Err(unfit(&flaw.field, &flaw.message));
    }
    let home = home_of(&view, &clusters, &name, &described)?;
    let Described { spec, tags, secrets, .. } = described;
    vm_body::check_hints(call, home, &spec.placement_hints, known)?;
    let cluster = home.name.clone();
    let reserved = quotas::reserve(api, &view, &cluster, &name, &spec)?;
    let ask = Ask::PutVm { vm: name.clone(), spec: Box::new(spec), tags, conditions: conditions(call)? };
    let request = request_of(api, call, &cluster, ask, body)?;
    let verdict = see_through(api, file(api.clone(), request, name, secrets, reserved)).await?;
    let view = api.cache.view();
    let (cluster, vm) = vms::find(&view, &place.subscription, &place.group, &place.name).map_err(Refused::in_log)?;
    let rendered = vms::render(&view, &cluster.document, &vm.document, api.clock.now());
    match verdict {
        Verdict::Accepted { operation } => {
            let operation = view.operations.get(&operation).ok_or_else(|| Refused::not_found("operation", operation.as_str()).in_log())?;
            let mut response = resource_response(StatusCode::CREATED, &rendered);
            actions::set_links(response.headers_mut(), call, &cluster.document, operation);
            Ok(response)
        }
        _ => Ok(resource_response(StatusCode::OK, &rendered)),
    }
}

/// The cluster that a virtual machine is to be on: where one of that name is already, or where the body says.
fn home_of<'a>(view: &View, clusters: &[&'a Versioned<Cluster>], name: &VmName, described: &Described) -> Result<&'a Cluster, Refused> {
    let named = |cluster: &&&Versioned<Cluster>| match &described.custom_location {
        Some(location) => vm_body::is_at(location, &cluster.document),
        None => view.vm(&cluster.document.name, name).is_some() || clusters.len() == 1,
    };
    let Some(cluster) = clusters.iter().find(named) else {
        let message = match &described.custom_location {
            Some(location) => {
                format!("`extendedLocation.name` must be that of a cluster of the resource group, not `{}`", shortened(location))
            }
            None => "`extendedLocation.name` is missing: the resource group has several clusters".to_owned(),
        };
        return Err(Refused::bad_content(message).target("extendedLocation.name"));
    };
    let home = &cluster.document.home;
    match &described.location {
        Some(location) if !location.eq_ignore_ascii_case(&home.location) => {
            let message = format!("`location` must be that of the cluster, `{}`, not `{}`", home.location, shortened(location));
            Err(Refused::bad_content(message).target("location"))
        }
        _ => Ok(cluster.document.as_ref()),
    }
}

/// Leaves a request with its keeper, and its secrets in the vault. What it reserves is its own until it was judged, though nobody may wait
/// for the answer.
async fn file(api: Api, request: Request, name: VmName, secrets: Vec<Secret>, _reserved: Reservation) -> Result<Verdict, Refused> {
    let cluster = request.cluster.clone();
    save(&api, &secrets).await?;
    let verdict = hand_in(&api, request).await;
    tidy(&api, &cluster, &name, &secrets, verdict.as_ref().err()).await;
    verdict
}

/// Secrets go into the vault before anything refers to them.
async fn save(api: &Api, secrets: &[Secret]) -> Result<(), Refused> {
    for secret in secrets {
        if let Err(problem) = api.vault.save(&secret.name, secret.text.as_bytes()).await {
            tracing::error!(error = %problem, secret = %secret.name, "a secret could not be kept");
            forget(api, secrets).await;
            return Err(Refused::new(Code::StoreUnavailable, "the secrets of the virtual machine cannot be kept; nothing was changed"));
        }
    }
    Ok(())
}

/// Forgets what the stored document does not refer to. When nobody knows what became of the request, everything stays:
/// a virtual machine without its secrets would be worse than a secret without its virtual machine.
async fn tidy(api: &Api, cluster: &ClusterName, name: &VmName, secrets: &[Secret], refused: Option<&Refused>) {
    if secrets.is_empty() || refused.is_some_and(|refused| refused.code() == Code::StoreUnavailable.name()) {
        return;
    }
    let is_kept = api.cache.view().vm(cluster, name).is_some_and(|vm| {
        let spec = &vm.document.spec;
        let password = spec.registry.as_ref().map(|registry| &registry.password);
        [spec.user_data.as_ref(), spec.network_data.as_ref(), password].into_iter().flatten().any(|kept| *kept == secrets[0].name)
    });
    if !is_kept {
        forget(api, secrets).await;
    }
}

async fn forget(api: &Api, secrets: &[Secret]) {
    for secret in secrets {
        if let Err(problem) = api.vault.remove(&secret.name).await {
            tracing::warn!(error = %problem, secret = %secret.name, "a secret that nobody refers to could not be removed");
        }
    }
}

/// PATCH: tags. The rest is settled.
pub(crate) async fn update(api: &Api, call: &Call, place: &Place, body: &[u8]) -> Result<Response, Refused> {
    let view = api.cache.view();
    let (cluster, vm) = vms::find(&view, &place.subscription, &place.group, &place.name)?;
    let current = json!(vms::render(&view, &cluster.document, &vm.document, api.clock.now()));
    let conditions = conditions(call)?;
    let tags = tags_of(fields::written(&schema::VM, fields::object(body)?, &current)?)?;
    let ask = Ask::UpdateVm { vm: vm.document.name.clone(), tags, conditions };
    submit(api, call, &cluster.document.name, ask, body).await?;
    let view = api.cache.view();
    let (cluster, vm) = vms::find(&view, &place.subscription, &place.group, &place.name).map_err(Refused::in_log)?;
    Ok(resource_response(StatusCode::OK, &vms::render(&view, &cluster.document, &vm.document, api.clock.now())))
}

/// One that is gone is deleted; what its deletion would do cannot be told of it.
pub(crate) async fn delete(api: &Api, call: &Call, place: &Place) -> Result<Response, Refused> {
    let view = api.cache.view();
    clusters_at(&view, &place.subscription, &place.group)?;
    if addressee(&view, place).is_err() && !actions::flag_of(call, actions::PREVIEW)? {
        return Ok(no_content());
    }
    request(api, call, place, Action::Delete, &[]).await
}

pub(crate) async fn act(api: &Api, call: &Call, place: &Place, verb: &str, body: &[u8]) -> Result<Response, Refused> {
    let known = actions::find_verb(&VM_VERBS, verb)?;
    let given = fields::given(known.body, body)?;
    let is_skipped = actions::text_of(&given, "skipShutdown") == Some("True");
    let action = match known.name {
        "powerOff" => Action::PowerOff { shutdown: if is_skipped { Shutdown::Skip } else { Shutdown::Graceful } },
        "start" => Action::Start,
        "restart" => Action::Restart,
        _ => Action::Reimage { safeguard: model::Safeguard::All },
    };
    request(api, call, place, action, body).await
}

async fn request(api: &Api, call: &Call, place: &Place, action: Action, body: &[u8]) -> Result<Response, Refused> {
    let view = api.cache.view();
    let (cluster, vm) = addressee(&view, place)?;
    let ask = match actions::flag_of(call, actions::PREVIEW)? {
        true => Ask::PreviewForTenant { target: Target::Vm(vm), action },
        false => Ask::ActOnVm { vm, action, conditions: conditions(call)? },
    };
    let verdict = submit(api, call, &cluster.name, ask, body).await?;
    respond_with_operation(api, call, &cluster, &verdict)
}

/// The virtual machine that is meant. That of a tenant cluster's node is none of these, and its keeper says so.
fn addressee(view: &View, place: &Place) -> Result<(Cluster, VmName), Refused> {
    let not_found = match vms::find(view, &place.subscription, &place.group, &place.name) {
        Ok((cluster, vm)) => return Ok(((*cluster.document).clone(), vm.document.name.clone())),
        Err(not_found) => not_found,
    };
    let Ok(name) = VmName::new(place.name.as_str()) else { return Err(not_found) };
    let clusters = clusters_at(view, &place.subscription, &place.group)?;
    let is_node = |cluster: &&&Versioned<Cluster>| {
        view.tenant_clusters_of(&cluster.document.name)
            .any(|tenant| tenant.document.nodes.keys().any(|node| node.eq_ignore_ascii_case(name.as_str())))
    };
    match clusters.iter().find(is_node) {
        Some(cluster) => Ok(((*cluster.document).clone(), name)),
        None => Err(not_found),
    }
}
