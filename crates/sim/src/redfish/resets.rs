//! Resets: of the system, and of the BMC itself.

use serde_json::{Value, json};
use world::{ResetAnswer, ResetType};

use super::answer::Answer;
use super::call::{Call, text};
use super::errors;
use super::profile::{Profile, ResetTypes};

const SYSTEM_RESET: &str = "ComputerSystem.Reset";
const MANAGER_RESET: &str = "Manager.Reset";

/// What a BMC's own reset takes. Both do the same: nothing runs on it that a graceful one would have to stop.
const MANAGER_RESETS: [&str; 2] = ["GracefulRestart", "ForceRestart"];

/// The action as the System advertises it.
pub(super) fn system_action(profile: &Profile) -> Value {
    let mut action = json!({"target": format!("{}/Actions/{SYSTEM_RESET}", profile.system_path())});
    match profile.reset_types {
        ResetTypes::AllowableValues => action["ResetType@Redfish.AllowableValues"] = json!(ResetType::ALL.map(ResetType::as_str)),
        ResetTypes::ActionInfo => action["@Redfish.ActionInfo"] = json!(action_info_path(profile)),
        ResetTypes::Untold => {}
    }
    action
}

pub(super) fn manager_action(profile: &Profile) -> Value {
    let target = format!("{}/Actions/{MANAGER_RESET}", profile.manager_path());
    json!({"target": target, "ResetType@Redfish.AllowableValues": MANAGER_RESETS})
}

fn action_info_path(profile: &Profile) -> String {
    format!("{}/ResetActionInfo", profile.system_path())
}

pub(super) fn action_info(call: &Call<'_>) -> Result<Answer, Answer> {
    Ok(Answer::ok(&json!({
        "@odata.id": action_info_path(call.bmc.profile()),
        "@odata.type": "#ActionInfo.v1_3_0.ActionInfo",
        "Id": "ResetActionInfo",
        "Name": "Reset Action Info",
        "Parameters": [{
            "Name": "ResetType",
            "Required": true,
            "DataType": "String",
            "AllowableValues": ResetType::ALL.map(ResetType::as_str),
        }],
    })))
}

/// A 204 says that the BMC took the request, not that the power changed: that takes time, or may not happen at all.
pub(super) fn system(call: &Call<'_>) -> Result<Answer, Answer> {
    let bmc = call.bmc;
    let parameters = call.parameters()?;
    let Some(asked) = text(&parameters, "ResetType")? else {
        return Err(errors::missing_parameter(SYSTEM_RESET, "ResetType"));
    };
    let Ok(reset) = asked.parse::<ResetType>() else {
        let refusal = errors::value_not_in_list(asked, "ResetType", SYSTEM_RESET);
        bmc.site.change(|world, now| world.note_bad_reset(bmc.index, asked, refusal.status.as_u16(), now));
        return Err(refusal);
    };
    let answer = bmc.site.change(|world, now| world.reset(bmc.index, reset, now));
    tracing::debug!(machine = bmc.spec().name, %reset, ?answer, "reset");
    match answer {
        ResetAnswer::Accepted | ResetAnswer::Ignored => Ok(Answer::no_content()),
        ResetAnswer::InTransition => Err(errors::in_transition()),
        ResetAnswer::NotOn => Err(errors::not_on(SYSTEM_RESET)),
    }
}

/// The answer is the last that the BMC gives for a while.
pub(super) fn manager(call: &Call<'_>) -> Result<Answer, Answer> {
    let parameters = call.parameters()?;
    // The standard lets a service choose when nothing is said.
    let asked = text(&parameters, "ResetType")?.unwrap_or(MANAGER_RESETS[0]);
    if !MANAGER_RESETS.contains(&asked) {
        return Err(errors::value_not_in_list(asked, "ResetType", MANAGER_RESET));
    }
    call.bmc.site.change(|world, now| world.restart_bmc(call.bmc.index, now));
    Ok(Answer::no_content())
}
