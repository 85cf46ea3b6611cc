//! `…/bareMetalMachines/{name}/advise` and `…/verify`: what to do about a machine that is not well, and how it is afterwards. Both are
//! ours beside Azure's model, and neither changes anything.

use axum::response::Response;
use http::StatusCode;
use model::{Advice, Ask, MachineName, PostCheck, PostState, RepairedPart, Symptom, Verdict};
use serde_json::{Value, json};

use super::{Place, machines, previews};
use crate::Api;
use crate::call::Call;
use crate::reply::{Refused, json_response, shortened};
use crate::submit::submit;

pub(crate) async fn advise(api: &Api, call: &Call, place: &Place) -> Result<Response, Refused> {
    let symptom = call.query("symptom").filter(|text| !text.is_empty()).map(symptom_of).transpose()?;
    let repaired = call.query("repaired").map(parts_of).transpose()?.unwrap_or_default();
    match ask(api, call, place, |machine| Ask::Advise { machine, symptom, repaired }).await? {
        Verdict::Advised { advice } => Ok(json_response(StatusCode::OK, &render(&advice))),
        _ => Err(Refused::internal()),
    }
}

pub(crate) async fn verify(api: &Api, call: &Call, place: &Place) -> Result<Response, Refused> {
    match ask(api, call, place, |machine| Ask::Verify { machine }).await? {
        Verdict::Verified { checks } => Ok(json_response(StatusCode::OK, &render_checks(&place.name, &checks))),
        _ => Err(Refused::internal()),
    }
}

/// The keeper knows what was seen and what was tried, and so it is asked.
async fn ask(api: &Api, call: &Call, place: &Place, make: impl FnOnce(MachineName) -> Ask) -> Result<Verdict, Refused> {
    let view = api.cache.view();
    let (cluster, machine) = machines::find(&view, &place.subscription, &place.group, &place.name)?;
    submit(api, call, &cluster.document.name, make(machine.document.name.clone()), &[]).await
}

fn symptom_of(text: &str) -> Result<Symptom, Refused> {
    Symptom::parse(text).ok_or_else(|| unknown("symptom", text, &Symptom::ALL.map(Symptom::as_str)))
}

/// With commas between.
fn parts_of(text: &str) -> Result<Vec<RepairedPart>, Refused> {
    let named = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    named
        .map(|part| RepairedPart::parse(part).ok_or_else(|| unknown("repaired", part, &RepairedPart::ALL.map(RepairedPart::as_str))))
        .collect()
}

fn unknown(parameter: &'static str, text: &str, known: &[&str]) -> Refused {
    let message = format!("`{parameter}` knows no `{}`; {} are possible", shortened(text), known.join(", "));
    Refused::bad_content(message).target(parameter)
}

fn render(advice: &Advice) -> Value {
    let mut rendered = json!(advice);
    // As a preview tells it, and every field is there.
    for optional in ["symptom", "replace", "storage"] {
        rendered[optional] = json!(rendered.get(optional));
    }
    rendered["against"] = json!(advice.against.as_ref().map(previews::render_refusal));
    rendered
}

fn render_checks(machine: &str, checks: &[PostCheck]) -> Value {
    let has = |state: PostState| checks.iter().any(|check| check.state == state);
    let result = match () {
        () if has(PostState::Differs) => PostState::Differs,
        () if has(PostState::Unknown) => PostState::Unknown,
        () if has(PostState::Waits) => PostState::Waits,
        () => PostState::Ok,
    };
    json!({ "machine": machine, "result": result, "checks": checks })
}

#[cfg(test)]
mod tests;
