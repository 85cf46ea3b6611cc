//! The computer system: what it is, its power, and what it boots from.

use serde_json::{Map, Value, json};
use world::{BootEnabled, BootOverride, BootTarget, Component, Inventory, MediaSlot, PowerState};

use super::answer::Answer;
use super::call::{Call, one_of, text};
use super::document::{self, link};
use super::profile::{CdWithoutMedia, MediaPlace, Once, PowerTold, Profile};
use super::{boot_options, errors, resets};

/// The longest address that an HTTP boot takes.
const BOOT_URI_LENGTH_MAX: usize = 1_024;

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    let member = call.bmc.profile().system_path();
    Ok(document::collection("/redfish/v1/Systems", "ComputerSystem", "Computer System Collection", [member]))
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let bmc = call.bmc;
    let (spec, profile) = (bmc.spec(), bmc.profile());
    let (power, is_up, boot, last_boot, bios_version, board, memory_gib) = bmc.site.look(|world| {
        let hardware = world.hardware(bmc.index);
        let bios_version = hardware.firmware.installed(Component::Bios).unwrap_or(profile.bios_version).to_owned();
        let power = match profile.power_told {
            PowerTold::AtOnce => world.power_state(bmc.index),
            PowerTold::Late => world.power_state_noticed(bmc.index),
        };
        let (serial_number, uuid) = hardware.parts.other_board();
        let board = (serial_number.map(str::to_owned), uuid.map(str::to_owned));
        let boot = (hardware.boot.clone(), hardware.last_boot.clone());
        (power, world.is_host_up(bmc.index), boot.0, boot.1, bios_version, board, world.memory_gib(bmc.index))
    });
    let path = profile.system_path();
    let below = |part: &str| link(format!("{path}/{part}"));
    let mut system = json!({
        "@odata.id": path,
        "@odata.type": "#ComputerSystem.v1_20_0.ComputerSystem",
        "Id": profile.system_id,
        "Name": "System",
        "SystemType": "Physical",
        "Manufacturer": profile.manufacturer,
        "Model": spec.model,
        "SerialNumber": board.0.as_ref().unwrap_or(&spec.serial_number),
        "UUID": board.1.as_ref().unwrap_or(&spec.uuid),
        "HostName": if is_up { spec.name.as_str() } else { "" },
        "BiosVersion": bios_version,
        "PowerState": power.as_str(),
        "Status": status(power),
        "Boot": boot_document(&boot),
        "BootProgress": {"LastState": progress(power, is_up)},
        "ProcessorSummary": {"Count": 2, "CoreCount": Inventory::cores_of(spec.role)},
        "MemorySummary": {"TotalSystemMemoryGiB": memory_gib},
        "Bios": below("Bios"),
        "Processors": below("Processors"),
        "Memory": below("Memory"),
        "EthernetInterfaces": below("EthernetInterfaces"),
        "Storage": below("Storage"),
        "Links": {"Chassis": [link(profile.chassis_path())], "ManagedBy": [link(profile.manager_path())]},
        "Actions": {"#ComputerSystem.Reset": resets::system_action(profile)},
    });
    if let Some(last_boot) = last_boot {
        system["LastResetTime"] = json!(last_boot.at.to_seconds_text());
    }
    if profile.offers_boot_options {
        system["Boot"]["BootOrder"] = json!(boot_options::ORDER);
        system["Boot"]["BootOptions"] = link(boot_options::path(profile));
    }
    if let Some(media) = media_link(profile) {
        system["VirtualMedia"] = link(media);
    }
    Ok(Answer::ok(&system))
}

fn media_link(profile: &Profile) -> Option<String> {
    match profile.media_place {
        MediaPlace::SystemAndManager => Some(format!("{}/VirtualMedia", profile.system_path())),
        MediaPlace::ManagerLinkedFromSystem => Some(format!("{}/VirtualMedia", profile.manager_path())),
        MediaPlace::ManagerOnly => None,
    }
}

fn status(power: PowerState) -> Value {
    let state = match power {
        PowerState::On => "Enabled",
        PowerState::Off => "Disabled",
        PowerState::PoweringOn | PowerState::PoweringOff => "Starting",
    };
    json!({"State": state, "Health": "OK", "HealthRollup": "OK"})
}

fn progress(power: PowerState, is_up: bool) -> &'static str {
    match (power, is_up) {
        (PowerState::On, true) => "OSRunning",
        (PowerState::On, false) => "SystemHardwareInitializationComplete",
        _ => "None",
    }
}

fn boot_document(boot: &BootOverride) -> Value {
    let mut document = json!({
        "BootSourceOverrideEnabled": boot.enabled.as_str(),
        "BootSourceOverrideEnabled@Redfish.AllowableValues": BootEnabled::ALL.map(BootEnabled::as_str),
        "BootSourceOverrideTarget": boot.target.as_str(),
        "BootSourceOverrideTarget@Redfish.AllowableValues": BootTarget::ALL.map(BootTarget::as_str),
        "BootSourceOverrideMode": boot.mode.as_str(),
        "BootSourceOverrideMode@Redfish.AllowableValues": ["UEFI", "Legacy"],
    });
    if let Some(uri) = &boot.http_boot_uri {
        document["HttpBootUri"] = json!(uri);
    }
    document
}

/// Only the boot override can be changed.
pub(super) fn change(call: &Call<'_>) -> Result<Answer, Answer> {
    let changes = call.changes(&["Boot"])?;
    let asked = match changes.get("Boot") {
        Some(Value::Object(asked)) => asked,
        Some(other) => return Err(errors::wrong_type(&other.to_string(), "Boot")),
        None => return Err(errors::missing_property("Boot")),
    };
    let (bmc, profile) = (call.bmc, call.bmc.profile());
    let (boot, is_cd_inserted) = bmc.site.look(|world| {
        let hardware = world.hardware(bmc.index);
        (hardware.boot.clone(), hardware.media.inserted(MediaSlot::Cd).is_some())
    });
    let boot = overridden(boot, asked, profile)?;
    let is_empty_cd = boot.target == BootTarget::Cd && boot.enabled != BootEnabled::Disabled && !is_cd_inserted;
    if is_empty_cd && profile.cd_without_media == CdWithoutMedia::InternalError {
        return Err(errors::internal());
    }
    bmc.site.change(|world, now| world.set_boot_override(bmc.index, boot, now));
    show(call)
}

fn overridden(mut boot: BootOverride, asked: &Map<String, Value>, profile: &Profile) -> Result<BootOverride, Answer> {
    const WRITABLE: [&str; 4] = ["BootSourceOverrideEnabled", "BootSourceOverrideTarget", "BootSourceOverrideMode", "HttpBootUri"];
    if let Some(name) = asked.keys().find(|name| !WRITABLE.contains(&name.as_str())) {
        return Err(errors::not_writable(name));
    }
    boot.enabled = one_of(asked, WRITABLE[0])?.unwrap_or(boot.enabled);
    boot.target = one_of(asked, WRITABLE[1])?.unwrap_or(boot.target);
    boot.mode = one_of(asked, WRITABLE[2])?.unwrap_or(boot.mode);
    if asked.contains_key(WRITABLE[3]) {
        boot.http_boot_uri = text(asked, WRITABLE[3])?.filter(|uri| !uri.is_empty()).map(str::to_owned);
    }
    if boot.http_boot_uri.as_ref().is_some_and(|uri| uri.len() > BOOT_URI_LENGTH_MAX || !uri.starts_with("http")) {
        return Err(errors::property_not_in_list(asked[WRITABLE[3]].as_str().unwrap_or_default(), WRITABLE[3]));
    }
    if boot.enabled == BootEnabled::Once && profile.once == Once::BecomesContinuous {
        boot.enabled = BootEnabled::Continuous;
    }
    Ok(boot)
}
