//! The computer system: its power, and resets.

use serde_json::{Value, json};
use world::{PowerState, ResetAnswer, ResetType, Role};

use super::answer::Answer;
use super::{Bmc, errors, parse_body};

const RESET_ACTION: &str = "ComputerSystem.Reset";

pub(super) fn collection(bmc: &Bmc) -> Answer {
    Answer::ok(&json!({
        "@odata.id": "/redfish/v1/Systems",
        "@odata.type": "#ComputerSystemCollection.ComputerSystemCollection",
        "Name": "Computer System Collection",
        "Members@odata.count": 1,
        "Members": [{"@odata.id": bmc.profile().system_path()}],
    }))
}

pub(super) fn show(bmc: &Bmc) -> Answer {
    let (spec, profile) = (bmc.spec(), bmc.profile());
    let (power, is_up) = bmc.site.look(|world| (world.power_state(bmc.index), world.is_host_up(bmc.index)));
    let resets: Vec<&str> = ResetType::ALL.iter().map(|reset| reset.as_str()).collect();
    let (cores, memory) = if spec.role == Role::Compute { (96, 512) } else { (64, 256) };
    Answer::ok(&json!({
        "@odata.id": profile.system_path(),
        "@odata.type": "#ComputerSystem.v1_20_0.ComputerSystem",
        "Id": profile.system_id,
        "Name": "System",
        "SystemType": "Physical",
        "Manufacturer": profile.manufacturer,
        "Model": spec.model,
        "SerialNumber": spec.serial_number,
        "UUID": spec.uuid,
        "HostName": if is_up { spec.name.as_str() } else { "" },
        "BiosVersion": profile.bios_version,
        "PowerState": power.as_str(),
        "Status": status(power),
        "Boot": {
            "BootSourceOverrideEnabled": "Disabled",
            "BootSourceOverrideTarget": "None",
            "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "Cd", "Hdd", "BiosSetup", "UefiHttp"],
            "BootSourceOverrideMode": "UEFI",
        },
        "ProcessorSummary": {"Count": 2, "CoreCount": cores, "Status": {"State": "Enabled", "Health": "OK"}},
        "MemorySummary": {"TotalSystemMemoryGiB": memory, "Status": {"State": "Enabled", "Health": "OK"}},
        "Links": {
            "Chassis": [{"@odata.id": profile.chassis_path()}],
            "ManagedBy": [{"@odata.id": profile.manager_path()}],
        },
        "Actions": {
            "#ComputerSystem.Reset": {
                "target": format!("{}/Actions/{RESET_ACTION}", profile.system_path()),
                "ResetType@Redfish.AllowableValues": resets,
            },
        },
    }))
}

fn status(power: PowerState) -> Value {
    let state = match power {
        PowerState::On => "Enabled",
        PowerState::Off => "Disabled",
        PowerState::PoweringOn | PowerState::PoweringOff => "Starting",
    };
    json!({"State": state, "Health": "OK", "HealthRollup": "OK"})
}

/// A 204 says that the BMC took the request, not that the power changed: that takes time, or may not happen at all.
pub(super) fn reset(bmc: &Bmc, body: &[u8]) -> Result<Answer, Answer> {
    let body = parse_body(body)?;
    let Some(asked) = body["ResetType"].as_str() else {
        return Err(errors::missing_parameter(RESET_ACTION, "ResetType"));
    };
    let Ok(reset) = asked.parse::<ResetType>() else {
        let refusal = errors::value_not_in_list(asked, "ResetType", RESET_ACTION);
        bmc.site.change(|world, now| world.note_bad_reset(bmc.index, asked, refusal.status.as_u16(), now));
        return Err(refusal);
    };
    let answer = bmc.site.change(|world, now| world.reset(bmc.index, reset, now));
    tracing::debug!(machine = bmc.spec().name, %reset, ?answer, "reset");
    match answer {
        ResetAnswer::Accepted | ResetAnswer::Ignored => Ok(Answer::no_content()),
        ResetAnswer::InTransition => Err(errors::in_transition()),
        ResetAnswer::NotOn => Err(errors::not_on(RESET_ACTION)),
    }
}
