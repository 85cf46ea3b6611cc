//! The RAID controller's volumes. Making and deleting one takes time, and so is a task.

use serde_json::{Map, Value, json};
use world::{NewVolume, RaidLevel, VolumeRefusal};

use super::answer::Answer;
use super::call::{Call, one_of, text};
use super::document::{self, link, numbered};
use super::{Bmc, errors, tasks};

/// The controller's own limit for a name.
const NAME_LENGTH_MAX: usize = 15;

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    let (bmc, profile) = (call.bmc, call.bmc.profile());
    let path = format!("{}/Volumes", profile.storage_path());
    let numbers: Vec<u32> = bmc.site.look(|world| world.hardware(bmc.index).volumes.iter().map(|volume| volume.number).collect());
    let members = numbers.into_iter().map(|number| profile.volume_path(number));
    Ok(document::collection(&path, "Volume", "Volume Collection", members))
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let (bmc, profile) = (call.bmc, call.bmc.profile());
    let found = numbered(profile.volume_prefix, call.id)
        .and_then(|number| bmc.site.look(|world| world.hardware(bmc.index).volumes.get(number).cloned()));
    let volume = found.ok_or_else(|| call.missing())?;
    let inventory = bmc.inventory();
    let drives: Vec<Value> = volume.bays.iter().map(|bay| link(profile.drive_path(*bay))).collect();
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#Volume.v1_9_0.Volume",
        "Id": call.id,
        "Name": volume.name,
        "RAIDType": volume.level.as_str(),
        "CapacityBytes": volume.bytes(&inventory.drives),
        "BlockSizeBytes": 512,
        "Identifiers": [{"DurableName": volume.wwn(&inventory), "DurableNameFormat": "NAA"}],
        "Status": document::powered(bmc.power()),
        "Links": {"Drives@odata.count": drives.len(), "Drives": drives},
    })))
}

pub(super) fn create(call: &Call<'_>) -> Result<Answer, Answer> {
    let bmc = call.bmc;
    let fields = call.parameters()?;
    let level: RaidLevel = one_of(&fields, "RAIDType")?.ok_or_else(|| errors::missing_property("RAIDType"))?;
    let name = text(&fields, "Name")?.unwrap_or("Volume");
    if name.is_empty() || name.len() > NAME_LENGTH_MAX {
        return Err(errors::property_not_in_list(name, "Name"));
    }
    let wanted = NewVolume { name: name.to_owned(), level, bays: bays(bmc, &fields)? };
    let begun = bmc.site.change(|world, now| world.create_volume(bmc.index, wanted, now));
    begun.map(|task| tasks::accepted(bmc, &task)).map_err(|refusal| refused(&refusal))
}

/// The drives of a new volume: `Links.Drives`, as links.
fn bays(bmc: &Bmc, fields: &Map<String, Value>) -> Result<Vec<u32>, Answer> {
    let drives = fields.get("Links").and_then(|links| links.get("Drives")).and_then(Value::as_array);
    let drives = drives.ok_or_else(|| errors::missing_property("Links/Drives"))?;
    let prefix = format!("{}/Drives/{}", bmc.profile().storage_path(), bmc.profile().drive_prefix);
    let bay = |drive: &Value| drive["@odata.id"].as_str().and_then(|path| numbered(&prefix, path));
    drives.iter().map(|drive| bay(drive).ok_or_else(|| errors::property_not_in_list(&drive.to_string(), "Links/Drives"))).collect()
}

pub(super) fn delete(call: &Call<'_>) -> Result<Answer, Answer> {
    let bmc = call.bmc;
    let number = numbered(bmc.profile().volume_prefix, call.id).ok_or_else(|| call.missing())?;
    let begun = bmc.site.change(|world, now| world.delete_volume(bmc.index, number, now));
    match begun {
        Ok(task) => Ok(tasks::accepted(bmc, &task)),
        Err(VolumeRefusal::NoSuchVolume { .. }) => Err(call.missing()),
        Err(refusal) => Err(refused(&refusal)),
    }
}

pub(super) fn refused(refusal: &VolumeRefusal) -> Answer {
    match refusal {
        VolumeRefusal::Busy => errors::in_transition(),
        other => errors::general(&format!("The volume cannot be made: {other}.")),
    }
}
