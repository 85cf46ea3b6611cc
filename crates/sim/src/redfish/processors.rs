//! The system's processors.

use serde_json::json;
use world::Processor;

use super::answer::Answer;
use super::call::Call;
use super::document::{self, link, numbered};
use super::quirk::Quirk;

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    if call.bmc.has(Quirk::DeadLinks) {
        return Err(call.missing());
    }
    let profile = call.bmc.profile();
    let path = format!("{}/Processors", profile.system_path());
    let sockets = call.bmc.inventory().processors;
    let members = sockets.iter().map(|processor| format!("{path}/{}{}", profile.processor_prefix, processor.socket));
    Ok(document::collection(&path, "Processor", "Processor Collection", members))
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let (bmc, profile) = (call.bmc, call.bmc.profile());
    let wanted = numbered(profile.processor_prefix, call.id);
    let found = bmc.inventory().processors.into_iter().find(|processor| Some(processor.socket) == wanted);
    let Processor { socket, model, cores, max_mhz } = found.ok_or_else(|| call.missing())?;
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#Processor.v1_18_0.Processor",
        "Id": call.id,
        "Name": format!("Processor {socket}"),
        "Socket": format!("CPU.{socket}"),
        "ProcessorType": "CPU",
        "ProcessorArchitecture": "x86",
        "InstructionSet": "x86-64",
        "Manufacturer": "Intel",
        "Model": model,
        "TotalCores": cores,
        "TotalThreads": 2 * cores,
        "MaxSpeedMHz": max_mhz,
        "Status": document::powered(bmc.power()),
        "Links": {"Chassis": link(profile.chassis_path())},
    })))
}
