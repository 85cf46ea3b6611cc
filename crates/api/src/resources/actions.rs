//! `Microsoft.NetworkCloud/bareMetalMachines/{name}/{verb}`: what a person can ask of a machine.

use axum::response::Response;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use model::{Action, Ask, Evacuate, MachineName, Operation, Outage, Safeguard, Shutdown, Verdict};

use super::{machines, previews, replace};
use crate::Api;
use crate::call::Call;
use crate::codes::Code;
use crate::fields::{self, Written};
use crate::links;
use crate::operations::render_status;
use crate::precondition::conditions;
use crate::reply::{RETRY_AFTER, Refused, json_response, resource_response, set_retry_after, shortened};
use crate::route::Route;
use crate::schema::{self, Model};
use crate::submit::submit;

/// Longest reason for taking a machine out of management, and for letting it back.
pub(crate) const REASON_MAX: usize = 256;

/// The query parameter that asks what an action would do.
pub(crate) const PREVIEW: &str = "preview";

pub(crate) struct Target {
    pub subscription: String,
    pub group: String,
    pub machine: String,
    pub verb: String,
}

/// An action of a machine, a virtual machine or a tenant cluster.
pub(crate) struct Verb {
    pub name: &'static str,
    pub about: &'static str,
    /// What its body may say.
    pub body: &'static Model,
}

pub(super) const fn verb(name: &'static str, body: &'static Model, about: &'static str) -> Verb {
    Verb { name, about, body }
}

pub(crate) static VERBS: [Verb; 10] = [
    verb("powerOff", &schema::POWER_OFF, "Power the machine off, gracefully unless `skipShutdown` says otherwise."),
    verb("start", &schema::NOTHING, "Power the machine on."),
    verb("restart", &schema::NOTHING, "Power the machine off, and on again."),
    verb("cordon", &schema::CORDON, "Keep new workloads away from the machine."),
    verb("uncordon", &schema::NOTHING, "Let new workloads onto the machine again."),
    verb("reimage", &schema::REIMAGE, "Install the machine's operating system anew. What tenants have on its other volumes stays."),
    verb("replace", &schema::REPLACE, "Take the machine into service again after a repair: validate its hardware, and install it."),
    verb("validateHardware", &schema::NOTHING, "Compare the machine's hardware with what it should be."),
    verb("unmanage", &schema::REASON, "Take the machine out of management: it is observed, and nothing is sent to it."),
    verb("manage", &schema::REASON, "Let the machine be managed again."),
];

pub(crate) async fn act(api: &Api, call: &Call, target: &Target, body: &[u8]) -> Result<Response, Refused> {
    let view = api.cache.view();
    let (cluster, machine) = machines::find(&view, &target.subscription, &target.group, &target.machine)?;
    let known = find_verb(&VERBS, &target.verb)?;
    let given = fields::given(known.body, body)?;
    let is_preview = flag_of(call, PREVIEW)?;
    // Judged by what is known here: an action changes no edition, and so no two of them compete for one.
    plan::check_conditions(&machine.document, &conditions(call)?).map_err(Refused::by_rule)?;
    let outage = if flag_of(call, "acceptControlPlaneOutage")? { Outage::Accepted } else { Outage::Refused };
    let name = machine.document.name.clone();
    let verdict = if known.name == "replace" {
        let replacing = replace::read(&given)?;
        match is_preview {
            true => submit(api, call, &cluster.document.name, replacing.preview(name, outage), body).await?,
            false => replace::submit_it(api, call, &machine.document, replacing, outage).await?,
        }
    } else {
        let ask = previewed(parse_ask(known, &given, name, outage)?, is_preview)?;
        submit(api, call, &cluster.document.name, ask, body).await?
    };
    let view = api.cache.view();
    match verdict {
        Verdict::Accepted { operation } => {
            let gone = || Refused::not_found("operation", operation.as_str()).in_log();
            let operation = view.operations.get(&operation).ok_or_else(gone)?;
            Ok(accepted(call, &cluster.document, operation))
        }
        Verdict::Previewed { preview } => Ok(json_response(StatusCode::OK, &previews::render(&preview))),
        Verdict::Done | Verdict::Advised { .. } | Verdict::Verified { .. } | Verdict::Refused { .. } => {
            let found = machines::find(&view, &target.subscription, &target.group, &target.machine);
            let (cluster, machine) = found.map_err(Refused::in_log)?;
            Ok(resource_response(StatusCode::OK, &machines::render_in_full(&view, &cluster.document, &machine.document, api.clock.now())))
        }
    }
}

fn parse_ask(known: &Verb, given: &[Written], machine: MachineName, outage: Outage) -> Result<Ask, Refused> {
    let is_true = |name: &str| text_of(given, name) == Some("True");
    let action = match known.name {
        "powerOff" => Action::PowerOff { shutdown: if is_true("skipShutdown") { Shutdown::Skip } else { Shutdown::Graceful } },
        "start" => Action::Start,
        "restart" => Action::Restart,
        "uncordon" => Action::Uncordon,
        "cordon" => Action::Cordon { evacuate: evacuation(is_true("evacuate"), is_true("force"))? },
        "reimage" => Action::Reimage { safeguard: safeguard_of(given) },
        "validateHardware" => Action::Validate,
        "unmanage" => return Ok(Ask::Unmanage { machine, reason: reason(given)? }),
        "manage" => return Ok(Ask::Manage { machine, reason: reason(given)? }),
        other => return Err(no_such_action(&VERBS, other)),
    };
    Ok(Ask::Act { machine, action, outage, replacement: None })
}

pub(super) fn safeguard_of(given: &[Written]) -> Safeguard {
    if text_of(given, "safeguardMode") == Some("None") { Safeguard::None } else { Safeguard::All }
}

/// What an action would do instead of doing it, if that was asked for.
fn previewed(ask: Ask, is_preview: bool) -> Result<Ask, Refused> {
    match ask {
        Ask::Act { machine, action, outage, replacement } if is_preview => Ok(Ask::Preview { machine, action, outage, replacement }),
        ask @ (Ask::Unmanage { .. } | Ask::Manage { .. }) if is_preview => {
            let message = format!("`{PREVIEW}` is not possible for `{}`: it touches neither the machine nor what runs on it", ask.verb());
            Err(Refused::bad_content(message).target(PREVIEW))
        }
        ask => Ok(ask),
    }
}

/// Whether a call asks what would be done, and nothing more. Where nothing can be previewed, the parameter says nothing.
pub(crate) fn is_preview(call: &Call, route: &Route) -> bool {
    let can_be = matches!(
        route,
        Route::Act { .. } | Route::ActOnVm { .. } | Route::DeleteVm { .. } | Route::ActOnTenantCluster { .. } | Route::ActOnCluster { .. }
    );
    can_be && flag_of(call, PREVIEW).unwrap_or(false)
}

/// A query parameter that is true or false.
pub(super) fn flag_of(call: &Call, name: &'static str) -> Result<bool, Refused> {
    match call.query(name) {
        None => Ok(false),
        Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        Some(text) => Err(Refused::bad_content(format!("`{name}` must be true or false, not `{}`", shortened(text))).target(name)),
    }
}

fn evacuation(evacuates: bool, forces: bool) -> Result<Evacuate, Refused> {
    match (evacuates, forces) {
        (true, true) => Ok(Evacuate::Forced),
        (true, false) => Ok(Evacuate::Yes),
        (false, false) => Ok(Evacuate::No),
        (false, true) => Err(Refused::bad_content("`force` says how to evacuate, and needs `evacuate` to be \"True\"").target("force")),
    }
}

pub(super) fn find_verb(verbs: &'static [Verb], verb: &str) -> Result<&'static Verb, Refused> {
    verbs.iter().find(|known| known.name.eq_ignore_ascii_case(verb)).ok_or_else(|| no_such_action(verbs, verb))
}

fn no_such_action(verbs: &[Verb], verb: &str) -> Refused {
    let names: Vec<&str> = verbs.iter().map(|verb| verb.name).collect();
    let possible = match &names[..] {
        [known @ .., last] if !known.is_empty() => format!("{} and {last} are", known.join(", ")),
        names => format!("{} is", names.concat()),
    };
    let message = format!("there is no action `{}`; {possible}", shortened(verb));
    Refused::new(Code::InvalidAction, message).target(shortened(verb))
}

pub(super) fn text_of<'a>(given: &'a [Written], name: &str) -> Option<&'a str> {
    given.iter().find(|found| found.path == name)?.value.as_str()
}

fn reason(given: &[Written]) -> Result<String, Refused> {
    let reason = text_of(given, "reason").unwrap_or_default().trim().to_owned();
    if reason.is_empty() {
        return Err(fields::missing(&schema::REASON, "reason"));
    }
    if reason.chars().count() > REASON_MAX {
        return Err(Refused::bad_content(format!("`reason` is longer than {REASON_MAX} characters")).target("reason"));
    }
    // It is shown on terminals and written to logs, where such a character could pass for something that we say.
    if reason.chars().any(model::is_unprintable) {
        return Err(Refused::bad_content("`reason` has a line break or another control character").target("reason"));
    }
    Ok(reason)
}

/// 202 with the operation that a verdict began.
pub(super) fn respond_with_operation(api: &Api, call: &Call, cluster: &model::Cluster, verdict: &Verdict) -> Result<Response, Refused> {
    let operation = match verdict {
        Verdict::Accepted { operation } => operation,
        Verdict::Previewed { preview } => return Ok(json_response(StatusCode::OK, &previews::render(preview))),
        Verdict::Done | Verdict::Advised { .. } | Verdict::Verified { .. } | Verdict::Refused { .. } => {
            return Err(Refused::internal().in_log());
        }
    };
    let view = api.cache.view();
    let gone = || Refused::not_found("operation", operation.as_str()).in_log();
    Ok(accepted(call, cluster, view.operations.get(operation).ok_or_else(gone)?))
}

/// 202 with the two addresses that clients poll.
fn accepted(call: &Call, cluster: &model::Cluster, operation: &Operation) -> Response {
    let mut response = json_response(StatusCode::ACCEPTED, &render_status(cluster, operation));
    set_links(response.headers_mut(), call, cluster, operation);
    response
}

/// The two addresses that clients poll, and how often they should.
pub(super) fn set_links(headers: &mut HeaderMap, call: &Call, cluster: &model::Cluster, operation: &Operation) {
    let (status, result) = links::operation_links(call, cluster, operation);
    for (name, link) in [("azure-asyncoperation", status), (header::LOCATION.as_str(), result)] {
        if let (Ok(name), Ok(value)) = (header::HeaderName::try_from(name), HeaderValue::try_from(link)) {
            headers.insert(name, value);
        }
    }
    set_retry_after(headers, RETRY_AFTER);
}
