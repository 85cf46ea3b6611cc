//! `Microsoft.NetworkCloud/clusters/{name}/{verb}`: what a person can ask of a whole cluster.

use axum::response::Response;
use model::{Ask, Cluster, ClusterStatus, InvalidName, MachineName, RackName};

use super::actions::{self, PREVIEW, Verb, respond_with_operation, verb};
use super::{Place, clusters_at, unfit};
use crate::Api;
use crate::call::Call;
use crate::codes::Code;
use crate::fields::{self, Written};
use crate::json::kind_of;
use crate::reply::Refused;
use crate::schema;
use crate::submit::submit;

pub(crate) static CLUSTER_VERBS: [Verb; 1] =
    [verb("inspect", &schema::INSPECT, "Compare the hardware of the cluster's machines with what it should be.")];

pub(crate) async fn act(api: &Api, call: &Call, place: &Place, verb: &str, body: &[u8]) -> Result<Response, Refused> {
    let view = api.cache.view();
    let mut clusters = clusters_at(&view, &place.subscription, &place.group)?.into_iter();
    let found = clusters.find(|cluster| cluster.document.name.as_str().eq_ignore_ascii_case(&place.name));
    let cluster = &found.ok_or_else(|| Refused::not_found("cluster", &place.name))?.document;
    let known = actions::find_verb(&CLUSTER_VERBS, verb)?;
    if actions::flag_of(call, PREVIEW)? {
        let message = format!("`{PREVIEW}` is not possible for `{}`: it only looks, and touches nothing that runs", known.name);
        return Err(Refused::bad_content(message).target(PREVIEW));
    }
    let given = fields::given(known.body, body)?;
    may_reset(cluster, &given)?;
    let ask = Ask::Inspect {
        machines: names_of(&given, "filterDevices.bareMetalMachineNames", MachineName::new)?,
        racks: names_of(&given, "filterDevices.rackNames", RackName::new)?,
    };
    let verdict = submit(api, call, &cluster.name, ask, body).await?;
    respond_with_operation(api, call, cluster, &verdict)
}

/// Hardware is reset before a cluster is deployed, and never while machines of it work.
fn may_reset(cluster: &Cluster, given: &[Written]) -> Result<(), Refused> {
    const ACTIONS: &str = "additionalActions";
    let actions = given.iter().find(|field| field.path == ACTIONS).and_then(|field| field.value.as_array());
    let Some(first) = actions.and_then(|actions| actions.first()) else { return Ok(()) };
    if first != "ResetHardware" {
        return Err(Refused::bad_content(format!("`{ACTIONS}[0]` must be \"ResetHardware\", not {}", kind_of(first))).target(ACTIONS));
    }
    let message = match cluster.detailed_status {
        ClusterStatus::PendingDeployment => "`ResetHardware` is not possible: machines are taken into service as they stand".to_owned(),
        status => format!("`ResetHardware` is possible only before a cluster is deployed; `{}` is {status:?}", cluster.name),
    };
    Err(Refused::new(Code::OperationNotAllowed, message).target(ACTIONS))
}

fn names_of<N>(given: &[Written], path: &str, parse: impl Fn(String) -> Result<N, InvalidName>) -> Result<Vec<N>, Refused> {
    let Some(Written { value, .. }) = given.iter().find(|field| field.path == path) else { return Ok(Vec::new()) };
    let names = value.as_array().into_iter().flatten().enumerate();
    names
        .map(|(n, name)| {
            let at = format!("{path}[{n}]");
            let text =
                name.as_str().ok_or_else(|| Refused::bad_content(format!("`{at}` must be a text, not {}", kind_of(name))).target(&at))?;
            parse(text.to_owned()).map_err(|invalid| unfit(&at, &invalid.to_string()))
        })
        .collect()
}

#[cfg(test)]
mod tests;
