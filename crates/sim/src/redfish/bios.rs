//! BIOS settings as they are, and as they will be after the next boot.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use world::{BiosRefusal, BiosValue};

use super::answer::Answer;
use super::call::Call;
use super::document::link;
use super::errors;

/// The settings that the attributes' names belong to.
const REGISTRY: &str = "RackwrightBiosAttributeRegistry.1.0.0";

fn attributes(values: impl Iterator<Item = (&'static str, BiosValue)>) -> Value {
    let one = |value: BiosValue| match value {
        BiosValue::Number(number) => json!(number),
        BiosValue::Text(text) => json!(text),
    };
    Value::Object(values.map(|(name, value)| (name.to_owned(), one(value))).collect())
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let (bmc, profile) = (call.bmc, call.bmc.profile());
    let path = format!("{}/Bios", profile.system_path());
    let present = bmc.site.look(|world| attributes(world.hardware(bmc.index).bios.present()));
    let mut actions = json!({"#Bios.ResetBios": {"target": format!("{path}/Actions/Bios.ResetBios")}});
    if profile.has_dead_action {
        actions["#Bios.ChangePassword"] = json!({"target": format!("{path}/Actions/Bios.ChangePassword")});
    }
    Ok(Answer::ok(&json!({
        "@odata.id": path,
        "@odata.type": "#Bios.v1_2_0.Bios",
        "Id": "Bios",
        "Name": "BIOS Configuration",
        "AttributeRegistry": REGISTRY,
        "Attributes": present,
        "@Redfish.Settings": {
            "@odata.type": "#Settings.v1_3_5.Settings",
            "SettingsObject": link(format!("{path}/Settings")),
            "SupportedApplyTimes": ["OnReset"],
        },
        "Actions": actions,
    })))
}

pub(super) fn settings(call: &Call<'_>) -> Result<Answer, Answer> {
    let bmc = call.bmc;
    let future = bmc.site.look(|world| attributes(world.hardware(bmc.index).bios.future()));
    Ok(Answer::ok(&json!({
        "@odata.id": format!("{}/Bios/Settings", bmc.profile().system_path()),
        "@odata.type": "#Bios.v1_2_0.Bios",
        "Id": "Settings",
        "Name": "BIOS Configuration Pending Settings",
        "AttributeRegistry": REGISTRY,
        "Attributes": future,
    })))
}

pub(super) fn change(call: &Call<'_>) -> Result<Answer, Answer> {
    let changes = call.changes(&["Attributes", "@Redfish.SettingsApplyTime"])?;
    let Some(Value::Object(asked)) = changes.get("Attributes") else {
        return Err(errors::missing_property("Attributes"));
    };
    let values = read(asked)?;
    let answer = call.bmc.site.change(|world, now| world.set_bios(call.bmc.index, values, now));
    match answer {
        Ok(()) => settings(call),
        Err(BiosRefusal::Unknown { name }) => Err(errors::unknown_property(&name)),
        Err(BiosRefusal::Value { name }) => Err(errors::property_not_in_list(&asked[&name].to_string(), &name)),
    }
}

fn read(asked: &Map<String, Value>) -> Result<BTreeMap<String, BiosValue>, Answer> {
    let one = |(name, value): (&String, &Value)| match value {
        Value::String(text) => Ok((name.clone(), BiosValue::Text(text.clone()))),
        _ => match value.as_i64() {
            Some(number) => Ok((name.clone(), BiosValue::Number(number))),
            None => Err(errors::wrong_type(&value.to_string(), name)),
        },
    };
    asked.iter().map(one).collect()
}

pub(super) fn reset(call: &Call<'_>) -> Result<Answer, Answer> {
    call.parameters()?;
    call.bmc.site.change(|world, now| world.reset_bios(call.bmc.index, now));
    Ok(Answer::no_content())
}

/// Advertised, and not there: what a careless firmware release does.
pub(super) fn change_password(_: &Call<'_>) -> Result<Answer, Answer> {
    Err(errors::not_implemented())
}
