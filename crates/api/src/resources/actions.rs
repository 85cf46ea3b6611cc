//! `Microsoft.NetworkCloud/bareMetalMachines/{name}/{verb}`: what a person can ask of a machine.

use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use model::{Action, Ask, Evacuate, Machine, MachineName, Operation, Outage, Shutdown, Verdict};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::machines;
use crate::Api;
use crate::call::Call;
use crate::codes::Code;
use crate::fields;
use crate::json;
use crate::links;
use crate::operations::render_status;
use crate::precondition::Preconditions;
use crate::reply::{RETRY_AFTER, Refused, json_response, resource_response, set_retry_after, shortened};
use crate::submit::submit;

/// Longest reason for taking a machine out of management, and for letting it back.
pub(crate) const REASON_MAX: usize = 256;

pub(crate) struct Target {
    pub subscription: String,
    pub group: String,
    pub machine: String,
    pub verb: String,
}

/// Every action, and what it does.
pub(crate) const VERBS: [(&str, &str); 7] = [
    ("powerOff", "Power the machine off, gracefully unless `skipShutdown` says otherwise."),
    ("start", "Power the machine on."),
    ("restart", "Power the machine off, and on again."),
    ("cordon", "Keep new workloads away from the machine."),
    ("uncordon", "Let new workloads onto the machine again."),
    ("unmanage", "Take the machine out of management: it is observed, and nothing is sent to it."),
    ("manage", "Let the machine be managed again."),
];

/// Azure writes its booleans as words.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
enum Flag {
    True,
    #[default]
    False,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct PowerOffBody {
    skip_shutdown: Flag,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct CordonBody {
    evacuate: Flag,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct EmptyBody {}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ReasonBody {
    reason: String,
}

pub(crate) async fn act(api: &Api, call: &Call, target: &Target, body: &[u8]) -> Result<Response, Refused> {
    let view = api.cache.view();
    let (cluster, machine) = machines::find(&view, &target.subscription, &target.group, &target.machine)?;
    let ask = parse_ask(call, &target.verb, machine.document.name.clone(), body)?;
    check_edition(call, &machine.document)?;
    let verdict = submit(api, call, &cluster.document.name, ask, body).await?;
    let view = api.cache.view();
    match verdict {
        Verdict::Accepted { operation } => {
            let gone = || Refused::not_found("operation", operation.as_str()).in_log();
            let operation = view.operations.get(&operation).ok_or_else(gone)?;
            Ok(accepted(call, &cluster.document, operation))
        }
        Verdict::Done | Verdict::Refused { .. } => {
            let found = machines::find(&view, &target.subscription, &target.group, &target.machine);
            let (_, machine) = found.map_err(Refused::in_log)?;
            Ok(resource_response(StatusCode::OK, &machines::render_in_full(&view, machine, api.clock.now())))
        }
    }
}

/// Judged by what is known here: an action changes no edition, and so no two of them compete for one.
fn check_edition(call: &Call, machine: &Machine) -> Result<(), Refused> {
    match Preconditions::of(call)?.edition_for(machine).map_err(Refused::by_rule)? {
        Some(edition) if edition != machine.edition => {
            let wanted = format!("the request is meant for edition \"{edition}\"");
            Err(Refused::by_rule(plan::precondition_failed(machine, &wanted)))
        }
        _ => Ok(()),
    }
}

fn parse_ask(call: &Call, verb: &str, machine: MachineName, body: &[u8]) -> Result<Ask, Refused> {
    let outage = match call.query("acceptControlPlaneOutage") {
        None => Outage::Refused,
        Some(text) if text.eq_ignore_ascii_case("true") => Outage::Accepted,
        Some(text) if text.eq_ignore_ascii_case("false") => Outage::Refused,
        Some(text) => {
            let message = format!("`acceptControlPlaneOutage` must be true or false, not `{}`", shortened(text));
            return Err(Refused::bad_content(message).target("acceptControlPlaneOutage"));
        }
    };
    let action = match verb.to_ascii_lowercase().as_str() {
        "poweroff" => match parse::<PowerOffBody>(body)?.skip_shutdown {
            Flag::True => Action::PowerOff { shutdown: Shutdown::Skip },
            Flag::False => Action::PowerOff { shutdown: Shutdown::Graceful },
        },
        "start" => bare(body, Action::Start)?,
        "restart" => bare(body, Action::Restart)?,
        "uncordon" => bare(body, Action::Uncordon)?,
        "cordon" => match parse::<CordonBody>(body)?.evacuate {
            Flag::True => Action::Cordon { evacuate: Evacuate::Yes },
            Flag::False => Action::Cordon { evacuate: Evacuate::No },
        },
        "unmanage" => return Ok(Ask::Unmanage { machine, reason: reason(body)? }),
        "manage" => return Ok(Ask::Manage { machine, reason: reason(body)? }),
        _ => {
            let [known @ .., last] = VERBS.map(|(verb, _)| verb);
            let message = format!("there is no action `{}`; {} and {last} are", shortened(verb), known.join(", "));
            return Err(Refused::new(Code::InvalidAction, message).target(shortened(verb)));
        }
    };
    Ok(Ask::Act { machine, action, outage })
}

fn bare(body: &[u8], action: Action) -> Result<Action, Refused> {
    parse::<EmptyBody>(body).map(|_| action)
}

fn reason(body: &[u8]) -> Result<String, Refused> {
    let reason = parse::<ReasonBody>(body)?.reason.trim().to_owned();
    if reason.is_empty() {
        return Err(Refused::bad_content("`reason` is missing: say why, for whoever is on call next").target("reason"));
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

/// An absent body is an empty one; anything else must be what the model says.
fn parse<T: DeserializeOwned + Default>(body: &[u8]) -> Result<T, Refused> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(T::default());
    }
    // Read as an object first: serde would take a list for a struct.
    T::deserialize(serde_json::Value::Object(fields::object(body)?)).map_err(|problem| json::not_understood(&problem))
}

/// 202 with the two addresses that clients poll.
fn accepted(call: &Call, cluster: &model::Cluster, operation: &Operation) -> Response {
    let (status, result) = links::operation_links(call, cluster, operation);
    let mut response = json_response(StatusCode::ACCEPTED, &render_status(cluster, operation));
    let headers = response.headers_mut();
    for (name, link) in [("azure-asyncoperation", status), (header::LOCATION.as_str(), result)] {
        if let (Ok(name), Ok(value)) = (header::HeaderName::try_from(name), HeaderValue::try_from(link)) {
            headers.insert(name, value);
        }
    }
    set_retry_after(headers, RETRY_AFTER);
    response
}
