//! Virtual media: the CD drive that a BMC shows to its machine.
//!
//! Where the drive is and how it is filled differs more than anything else between makers. All of it is read: the
//! places in turn, the slots that take a CD, and whether a slot offers actions or is written to.

use http::Uri;
use model::Fault;
use serde_json::{Value, json};

use crate::ask::Found;
use crate::bmc::{Bmc, System};
use crate::content::Sent;
use crate::document::{self, field, flag, text, texts};
use crate::line::Deadline;
use crate::listing::{Member, is_absence, not_offered, unread};
use crate::quirks::Quirks;

pub(crate) const INSERT: &str = "VirtualMedia.InsertMedia";
const EJECT: &str = "VirtualMedia.EjectMedia";

/// The CD drive as the BMC reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MediaSeen {
    Empty,
    Inserted {
        /// Absent if the BMC does not tell what is in it.
        image: Option<String>,
    },
}

impl Bmc {
    /// What is in the CD drive. A BMC without one is unsupported.
    pub async fn observe_media(&self) -> Result<MediaSeen, Fault> {
        let slot = self.find_slot(Deadline::of_call()).await?;
        Ok(read_media(&slot.document))
    }

    /// Asks for the image behind `url` in the CD drive. A drive that holds another image is not emptied first.
    pub async fn request_insert_media(&self, url: &Uri) -> Result<(), Fault> {
        let deadline = Deadline::of_call();
        let slot = self.find_slot(deadline).await?;
        let content = Sent::with_url(&json!({"Image": url.to_string(), "Inserted": true, "WriteProtected": true}));
        self.request_slot(&slot, INSERT, content, deadline).await
    }

    /// Asks for an empty CD drive.
    pub async fn request_eject_media(&self) -> Result<(), Fault> {
        let deadline = Deadline::of_call();
        let slot = self.find_slot(deadline).await?;
        let content = match document::action(&slot.path, &slot.document, EJECT) {
            Some(_) => json!({}),
            None => json!({"Image": null, "Inserted": false}),
        };
        self.request_slot(&slot, EJECT, Sent::json(&content), deadline).await
    }

    /// By the action if the slot offers it, else by writing to the slot, with its newest ETag.
    async fn request_slot(&self, slot: &Member, action: &str, content: Sent, deadline: Deadline) -> Result<(), Fault> {
        let outcome = match document::action(&slot.path, &slot.document, action) {
            Some(action) => self.line().post(&action.target, content, deadline).await,
            None => {
                let found: Found = self.line().read(&slot.path, deadline).await?;
                self.line().patch(&slot.path, content, &found, deadline).await
            }
        };
        outcome.map(|_| ())
    }

    /// The slot to use, always the same one of a BMC.
    pub(crate) async fn find_slot(&self, deadline: Deadline) -> Result<Member, Fault> {
        let system = self.read_system_to_ask(deadline).await?;
        let quirks = self.quirks(&system, deadline).await?;
        if let Some(slot) = self.find_slot_of(system.document(), quirks, deadline).await? {
            return Ok(slot);
        }
        for manager in self.managers(&system, deadline).await? {
            let Some(manager) = self.read_if_there(&manager, deadline).await? else { continue };
            if let Some(slot) = self.find_slot_of(&manager, quirks, deadline).await? {
                return Ok(slot);
            }
        }
        Err(not_offered("virtual CD drive"))
    }

    /// The slot of a System or a Manager that links to virtual media.
    async fn find_slot_of(&self, owner: &Value, quirks: &Quirks, deadline: Deadline) -> Result<Option<Member>, Fault> {
        let Some(collection) = document::linked(owner, "VirtualMedia") else { return Ok(None) };
        match self.list(&collection, deadline).await {
            Ok(listing) => match (choose_slot(listing.members, quirks), listing.unread) {
                (None, 1..) => Err(unread(&collection, listing.unread)),
                (slot, _) => Ok(slot),
            },
            Err(fault) if is_absence(&fault) => {
                tracing::debug!(%fault, "an advertised media collection leads nowhere");
                Ok(None)
            }
            Err(fault) => Err(fault),
        }
    }

    /// The managers of the machine: those that the System names, or else all there are.
    pub(crate) async fn managers(&self, system: &System, deadline: Deadline) -> Result<Vec<String>, Fault> {
        let named = system.managers();
        if !named.is_empty() {
            return Ok(named);
        }
        let collection = self.line().root(deadline).await?.managers;
        let listed = self.read_if_there(&collection, deadline).await?;
        Ok(listed.map(|listed| document::members(&listed)).unwrap_or_default())
    }
}

/// The first slot that takes a CD by an action; where none offers one, the first that can be written to.
fn choose_slot(slots: Vec<Member>, quirks: &Quirks) -> Option<Member> {
    let mut slots: Vec<Member> = slots.into_iter().filter(takes_cd).collect();
    let by_action = slots.iter().position(|slot| document::action(&slot.path, &slot.document, INSERT).is_some());
    let writable = |slot: &Member| quirks.patched_slots.is_none_or(|prefix| id(slot).starts_with(prefix));
    let chosen = by_action.or_else(|| slots.iter().position(writable))?;
    Some(slots.swap_remove(chosen))
}

fn takes_cd(slot: &Member) -> bool {
    match texts(field(&slot.document, "MediaTypes")) {
        Some(types) => types.iter().any(|media| media.eq_ignore_ascii_case("CD") || media.eq_ignore_ascii_case("DVD")),
        // A slot that does not say is judged by its name, and a name that says nothing is given the benefit of the doubt.
        None => !["floppy", "usb", "removabledisk"].iter().any(|other| id(slot).to_ascii_lowercase().contains(other)),
    }
}

fn id(slot: &Member) -> &str {
    slot.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

pub(crate) fn read_media(slot: &Value) -> MediaSeen {
    let image = text(slot, "Image");
    let inserted = flag(slot, "Inserted").unwrap_or(image.is_some());
    if inserted { MediaSeen::Inserted { image } } else { MediaSeen::Empty }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(id: &str, document: Value) -> Member {
        Member { path: format!("/redfish/v1/Managers/1/VirtualMedia/{id}"), document }
    }

    fn chosen(slots: Vec<Member>, maker: &str) -> Option<String> {
        choose_slot(slots, Quirks::of([maker])).map(|slot| id(&slot).to_owned())
    }

    #[test]
    fn the_slot_is_the_first_that_takes_a_cd_by_an_action() {
        let offered = json!({"#VirtualMedia.InsertMedia": {}});
        let floppy = slot("1", json!({"MediaTypes": ["Floppy", "USBStick"], "Actions": offered}));
        let mute = slot("2", json!({"MediaTypes": ["DVD"]}));
        let cd = slot("3", json!({"MediaTypes": ["cd"], "Actions": offered}));
        assert_eq!(chosen(vec![floppy.clone(), mute.clone(), cd], "HPE").as_deref(), Some("3"));
        assert_eq!(chosen(vec![floppy.clone(), mute], "HPE").as_deref(), Some("2"));
        assert_eq!(chosen(vec![floppy], "HPE"), None);
    }

    #[test]
    fn without_actions_only_the_slots_that_take_a_url_are_written_to() {
        let slots = || ["RDOC1", "Remote1", "EXT1", "EXT2"].map(|id| slot(id, json!({"MediaTypes": ["CD"]}))).to_vec();
        assert_eq!(chosen(slots(), "Lenovo").as_deref(), Some("EXT1"));
        assert_eq!(chosen(slots(), "Contoso").as_deref(), Some("RDOC1"));
    }

    #[test]
    fn a_slot_that_does_not_say_what_it_takes_is_judged_by_its_name() {
        assert_eq!(chosen(vec![slot("Floppy1", json!({})), slot("CD1", json!({}))], "HPE").as_deref(), Some("CD1"));
    }

    #[test]
    fn a_drive_is_full_if_it_says_so_or_else_if_it_names_an_image() {
        let image = || Some("http://h/i.iso".to_owned());
        assert_eq!(read_media(&json!({"Inserted": true, "Image": "http://h/i.iso"})), MediaSeen::Inserted { image: image() });
        assert_eq!(read_media(&json!({"Image": "http://h/i.iso"})), MediaSeen::Inserted { image: image() });
        assert_eq!(read_media(&json!({"Inserted": true, "Image": ""})), MediaSeen::Inserted { image: None });
        assert_eq!(read_media(&json!({"Inserted": false, "Image": "http://h/i.iso"})), MediaSeen::Empty);
        assert_eq!(read_media(&json!({"Image": null})), MediaSeen::Empty);
    }
}
