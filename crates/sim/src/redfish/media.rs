//! Virtual media, where and how each vendor has it.

use serde_json::{Map, Value, json};
use world::{InsertedMedia, MediaSlot, MediaWrites};

use super::answer::Answer;
use super::call::{Call, flag, text};
use super::document;
use super::errors;
use super::profile::MediaInsertion;

const INSERT_ACTION: &str = "VirtualMedia.InsertMedia";
const EJECT_ACTION: &str = "VirtualMedia.EjectMedia";

/// The longest address of an image.
const IMAGE_LENGTH_MAX: usize = 1_024;

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    let members = call.bmc.profile().media_slots.map(|(id, _)| format!("{}/{id}", call.path));
    Ok(document::collection(call.path, "VirtualMedia", "Virtual Media Collection", members))
}

fn slot(call: &Call<'_>) -> Result<MediaSlot, Answer> {
    let slots = call.bmc.profile().media_slots;
    slots.iter().find(|(id, _)| *id == call.id).map(|(_, slot)| *slot).ok_or_else(|| call.missing())
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let (bmc, slot) = (call.bmc, slot(call)?);
    let inserted = bmc.site.look(|world| world.hardware(bmc.index).media.inserted(slot).cloned());
    let image = inserted.as_ref().map(|media| media.image.as_str());
    let is_protected = inserted.as_ref().is_none_or(|media| media.writes == MediaWrites::Protected);
    let mut document = json!({
        "@odata.id": call.path,
        "@odata.type": "#VirtualMedia.v1_6_0.VirtualMedia",
        "Id": call.id,
        "Name": "Virtual Removable Media",
        "MediaTypes": match slot {
            MediaSlot::Cd => ["CD", "DVD"],
            MediaSlot::Usb => ["Floppy", "USBStick"],
        },
        "Image": image,
        "ImageName": image.and_then(|image| image.rsplit('/').next()),
        "ConnectedVia": if image.is_some() { "URI" } else { "NotConnected" },
        "Inserted": image.is_some(),
        "WriteProtected": is_protected,
        "UserName": inserted.as_ref().and_then(|media| media.user.as_deref()),
        "Password": null,
    });
    if bmc.profile().media_insertion == MediaInsertion::Action {
        document["Actions"] = json!({
            "#VirtualMedia.InsertMedia": {"target": format!("{}/Actions/{INSERT_ACTION}", call.path)},
            "#VirtualMedia.EjectMedia": {"target": format!("{}/Actions/{EJECT_ACTION}", call.path)},
        });
    }
    Ok(Answer::ok(&document))
}

pub(super) fn insert(call: &Call<'_>) -> Result<Answer, Answer> {
    let (slot, fields) = (slot(call)?, call.parameters()?);
    let image = text(&fields, "Image")?.ok_or_else(|| errors::missing_parameter(INSERT_ACTION, "Image"))?;
    put(call, slot, image, &fields)?;
    Ok(Answer::no_content())
}

pub(super) fn eject(call: &Call<'_>) -> Result<Answer, Answer> {
    let slot = slot(call)?;
    call.parameters()?;
    call.bmc.site.change(|world, now| world.eject_media(call.bmc.index, slot, now));
    Ok(Answer::no_content())
}

/// Without actions: an address inserts, `null` or `Inserted: false` ejects.
pub(super) fn change(call: &Call<'_>) -> Result<Answer, Answer> {
    let slot = slot(call)?;
    let fields = call.changes(&["Image", "Inserted", "WriteProtected", "UserName", "Password"])?;
    let is_ejected = flag(&fields, "Inserted")? == Some(false) || fields.get("Image") == Some(&Value::Null);
    match text(&fields, "Image")? {
        _ if is_ejected => call.bmc.site.change(|world, now| world.eject_media(call.bmc.index, slot, now)),
        Some(image) => put(call, slot, image, &fields)?,
        None => return Err(errors::missing_property("Image")),
    }
    show(call)
}

fn put(call: &Call<'_>, slot: MediaSlot, image: &str, fields: &Map<String, Value>) -> Result<(), Answer> {
    let is_address = image.split_once("://").is_some_and(|(scheme, rest)| ["http", "https"].contains(&scheme) && !rest.is_empty());
    if !is_address || image.len() > IMAGE_LENGTH_MAX {
        return Err(errors::property_not_in_list(image, "Image"));
    }
    let writes = if flag(fields, "WriteProtected")?.unwrap_or(true) { MediaWrites::Protected } else { MediaWrites::Allowed };
    let media = InsertedMedia { image: image.to_owned(), writes, user: text(fields, "UserName")?.map(str::to_owned) };
    // `Inserted: false` would put an image into a drive whose door stays open; none of these BMCs can.
    if flag(fields, "Inserted")? == Some(false) {
        return Err(errors::property_not_in_list("false", "Inserted"));
    }
    let answer = call.bmc.site.change(|world, now| world.insert_media(call.bmc.index, slot, media, now));
    answer.map_err(|_| errors::in_transition())
}
