//! `…/bareMetalMachines/{name}/hardwareValidation`: the latest validation of a machine in full, in the shape of Azure's results. It is
//! ours beside the model, which knows only whether the machine passed.

use axum::response::Response;
use http::StatusCode;
use model::{CategoryResult, Cluster, FieldResult, Validation};
use serde_json::{Map, Value, json};

use super::{Place, machines};
use crate::cache::View;
use crate::codes::Code;
use crate::links;
use crate::reply::{Refused, json_response};

pub(crate) fn show(view: &View, place: &Place) -> Result<Response, Refused> {
    let (cluster, machine) = machines::find(view, &place.subscription, &place.group, &place.name)?;
    let name = &machine.document.name;
    let validation = view.validation(&cluster.document.name, name).ok_or_else(|| {
        let message = format!("the hardware of `{name}` has not been validated; `validateHardware` does it");
        Refused::new(Code::ResourceNotFound, message).target(name.to_string())
    })?;
    Ok(json_response(StatusCode::OK, &render(&cluster.document, &validation.document)))
}

fn render(cluster: &Cluster, validation: &Validation) -> Value {
    let mut properties: Map<String, Value> = validation.categories.iter().map(category).collect();
    properties.insert("lastValidationTime".to_owned(), json!(validation.at));
    properties.insert("operation".to_owned(), json!(validation.by));
    properties.insert("result".to_owned(), json!(validation.result()));
    properties.insert("runtimeVersion".to_owned(), json!(validation.version));
    json!({
        "id": format!("{}/hardwareValidation", links::machine_id(cluster, &validation.machine)),
        "name": validation.machine,
        "type": "Microsoft.NetworkCloud/bareMetalMachines/hardwareValidation",
        "properties": properties,
    })
}

fn category(result: &CategoryResult) -> (String, Value) {
    let name = result.category.as_str();
    let told = json!({
        (format!("{name}_result")): result.result,
        "result_detail": result.fields.iter().map(field).collect::<Value>(),
        "result_log": result.log,
    });
    (name.to_owned(), told)
}

fn field(field: &FieldResult) -> Value {
    json!({ "field_name": field.name, "comparison_result": field.comparison, "expected": field.expected, "fetched": field.fetched })
}

#[cfg(test)]
mod tests;
