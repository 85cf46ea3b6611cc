//! `Microsoft.NetworkCloud/bareMetalMachines`: writing. PATCH and PUT change tags and details; machines come and go with
//! the site file, and by no request.

use std::collections::BTreeMap;

use axum::response::Response;
use http::StatusCode;
use model::Ask;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Place, clusters_at, machines, tags_of, unfit};
use crate::Api;
use crate::cache::View;
use crate::call::Call;
use crate::codes::Code;
use crate::fields::{self, Written};
use crate::json::not_understood;
use crate::precondition;
use crate::reply::{Refused, resource_response, shortened};
use crate::route::Write;
use crate::schema;
use crate::submit::submit;

const DETAILS: &str = "properties.machineDetails";

/// What the client wants to be so. What is `None` stays.
#[derive(Debug, Default, PartialEq)]
struct Wanted {
    tags: Option<BTreeMap<String, String>>,
    details: Option<String>,
}

pub(crate) async fn update(api: &Api, call: &Call, how: Write, place: &Place, body: &[u8]) -> Result<Response, Refused> {
    let view = api.cache.view();
    if how == Write::Whole {
        check_exists(&view, place)?;
    }
    let (cluster, machine) = machines::find(&view, &place.subscription, &place.group, &place.name)?;
    let current = json!(machines::render_in_full(&view, &cluster.document, &machine.document, api.clock.now()));
    let conditions = precondition::conditions(call)?;
    let wanted = wanted(how, fields::object(body)?, &current)?;
    let ask = Ask::Update { machine: machine.document.name.clone(), tags: wanted.tags, details: wanted.details, conditions };
    submit(api, call, &cluster.document.name, ask, body).await?;
    let view = api.cache.view();
    let (cluster, machine) = machines::find(&view, &place.subscription, &place.group, &place.name).map_err(Refused::in_log)?;
    let mut written = machines::render_in_full(&view, &cluster.document, &machine.document, api.clock.now());
    // Of this write, which is done. Azure's clients read it as that, and would otherwise wait for whatever action is at
    // work on the machine, and take its failure for theirs.
    written.properties.provisioning_state = "Succeeded";
    Ok(resource_response(StatusCode::OK, &written))
}

fn wanted(how: Write, body: Map<String, Value>, current: &Value) -> Result<Wanted, Refused> {
    let mut wanted = Wanted::default();
    for Written { path, value } in fields::written(&schema::MACHINE, body, current)? {
        if path == DETAILS {
            let details = String::deserialize(value).map_err(|problem| not_understood(&problem))?;
            plan::check_details(&details).map_err(|flaw| unfit(&path, &flaw.message))?;
            wanted.details = Some(details);
        } else {
            wanted.tags = tags_of([Written { path, value }])?;
        }
    }
    if how == Write::Whole {
        // Details are required by the model, so that leaving them out is more likely a mistake than a wish.
        if wanted.details.is_none() {
            let message = format!("`{DETAILS}` is missing: PUT replaces the whole machine; PATCH changes a part of it");
            return Err(Refused::bad_content(message).target(DETAILS));
        }
        wanted.tags.get_or_insert_default();
    }
    Ok(wanted)
}

/// A machine is described before it is there.
fn check_exists(view: &View, place: &Place) -> Result<(), Refused> {
    clusters_at(view, &place.subscription, &place.group)?;
    if machines::find(view, &place.subscription, &place.group, &place.name).is_ok() {
        return Ok(());
    }
    let name = shortened(&place.name);
    let message = format!(
        "`{name}` cannot be created: machines are part of their site; describe it in the site file, and it is taken over while it runs"
    );
    Err(Refused::new(Code::OperationNotAllowed, message).target(name))
}

/// Always refused. Preconditions do not matter, since nothing could be done if they held.
pub(crate) fn delete(view: &View, place: &Place) -> Result<Response, Refused> {
    let (_, machine) = machines::find(view, &place.subscription, &place.group, &place.name)?;
    let name = &machine.document.name;
    let message = format!(
        "`{name}` cannot be deleted: machines are part of their site; take it out of the site file, and it is forgotten while it runs"
    );
    Err(Refused::new(Code::OperationNotAllowed, message).target(name.as_str()))
}
