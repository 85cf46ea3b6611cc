//! Firmware updates: an image by its address, installed as a task.

use serde_json::{Map, Value, json};
use world::Component;

use super::answer::Answer;
use super::call::{Call, text};
use super::document::{self, link};
use super::{errors, firmware, tasks};

const ACTION: &str = "UpdateService.SimpleUpdate";
const PROTOCOLS: [&str; 2] = ["HTTP", "HTTPS"];

/// The longest address of an image.
const IMAGE_LENGTH_MAX: usize = 1_024;

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#UpdateService.v1_12_0.UpdateService",
        "Id": "UpdateService",
        "Name": "Update Service",
        "ServiceEnabled": true,
        "Status": document::enabled(),
        "FirmwareInventory": link(firmware::PATH),
        "Actions": {
            "#UpdateService.SimpleUpdate": {
                "target": format!("{}/Actions/{ACTION}", call.path),
                "TransferProtocol@Redfish.AllowableValues": PROTOCOLS,
            },
        },
    })))
}

pub(super) fn simple_update(call: &Call<'_>) -> Result<Answer, Answer> {
    let bmc = call.bmc;
    let fields = call.parameters()?;
    let image = text(&fields, "ImageURI")?.ok_or_else(|| errors::missing_parameter(ACTION, "ImageURI"))?;
    let protocol = text(&fields, "TransferProtocol")?;
    if let Some(protocol) = protocol.filter(|protocol| !PROTOCOLS.contains(protocol)) {
        return Err(errors::value_not_in_list(protocol, "TransferProtocol", ACTION));
    }
    let has_scheme = image.starts_with("http://") || image.starts_with("https://");
    if image.len() > IMAGE_LENGTH_MAX || (!has_scheme && (protocol.is_none() || image.contains("://"))) {
        return Err(errors::value_not_in_list(image, "ImageURI", ACTION));
    }
    let target = target(&fields)?;
    let after_restart = bmc.profile().update_task;
    let begun = bmc.site.change(|world, now| world.update_firmware(bmc.index, image, target, after_restart, now));
    begun.map(|task| tasks::accepted(bmc, &task)).map_err(|_| errors::update_in_progress())
}

/// At most one part can be named; without one, the image says what it is for.
fn target(fields: &Map<String, Value>) -> Result<Option<Component>, Answer> {
    let targets = match fields.get("Targets") {
        None => return Ok(None),
        Some(Value::Array(targets)) => targets,
        Some(other) => return Err(errors::wrong_type(&other.to_string(), "Targets")),
    };
    let component = |target: &Value| {
        let id = target.as_str().and_then(|path| path.strip_prefix(firmware::PATH)).and_then(|rest| rest.strip_prefix('/'));
        id.and_then(Component::named)
    };
    match &targets[..] {
        [] => Ok(None),
        [target] => component(target).map(Some).ok_or_else(|| errors::value_not_in_list(&target.to_string(), "Targets", ACTION)),
        _ => Err(errors::general("One component can be updated at a time.")),
    }
}
