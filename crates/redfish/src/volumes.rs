//! The volumes of a machine: which there are, and making the one that the operating system goes to.

use model::{Delivery, Fault, FaultClass, VolumeSeen, VolumesSeen};
use serde_json::{Value, json};

use crate::bmc::Bmc;
use crate::content::Sent;
use crate::document::{self, field, items, text};
use crate::inventory::{Controller, Drive, DriveKind, Health};
use crate::jobs::JobRef;
use crate::line::Deadline;
use crate::listing::{Member, Part, is_absence, not_offered, offered, unread};

impl Bmc {
    /// The volumes of all controllers. One that cannot be read is a fault: that there are none must be known, not guessed.
    pub async fn observe_volumes(&self) -> Result<VolumesSeen, Fault> {
        let deadline = Deadline::of_call();
        let mut seen = VolumesSeen::default();
        for controller in self.storage_members(deadline).await? {
            match self.volumes(&controller.document, deadline).await {
                Ok(volumes) => {
                    let volumes = volumes.iter().map(|volume| read_volume(volume, &controller.path));
                    seen.volumes.get_or_insert_default().extend(volumes);
                }
                Err(fault) if is_absence(&fault) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(seen)
    }

    /// Asks for a mirror of two free drives, for the operating system, under this name. Which two is [`choose_mirror`]'s rule.
    pub async fn request_os_volume(&self, name: &str) -> Result<Option<JobRef>, Fault> {
        let deadline = Deadline::of_call();
        let system = self.read_system_to_ask(deadline).await?;
        let controllers = match self.storage(system.document(), deadline).await {
            Part::Read(controllers) => controllers,
            Part::NotOffered => return Err(not_offered("storage controllers")),
            Part::Unread(fault) => return Err(fault),
        };
        let Some((controller, mirror)) = choose_mirror(&controllers.members) else {
            let detail = "no controller has two free and well SSDs of one size for the operating system";
            return Err(Fault::new(FaultClass::Unsupported, Delivery::No, detail));
        };
        let document = self.line().get(&controller.path, deadline).await?;
        let collection = document::linked(&document, "Volumes").ok_or_else(|| not_offered("volumes of this controller"))?;
        let allow = offered(self.line().read(&collection, deadline).await, "volumes of this controller")?.allow;
        if allow.is_some_and(|allow| !allow.contains("POST")) {
            return Err(not_offered("way to make a volume"));
        }
        self.line().post(&collection, Sent::json(&mirror_of(name, mirror)), deadline).await
    }

    /// The documents of the storage controllers; none where the BMC offers none.
    async fn storage_members(&self, deadline: Deadline) -> Result<Vec<Member>, Fault> {
        let system = self.read_system_to_ask(deadline).await?;
        let Some(collection) = document::linked(system.document(), "Storage") else { return Ok(Vec::new()) };
        match self.list(&collection, deadline).await {
            Ok(listing) if listing.unread > 0 => Err(unread(&collection, listing.unread)),
            Ok(listing) => Ok(listing.members),
            Err(fault) if is_absence(&fault) => Ok(Vec::new()),
            Err(fault) => Err(fault),
        }
    }
}

fn read_volume(volume: &Member, controller: &str) -> VolumeSeen {
    let id = || volume.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    let name = text(&volume.document, "Name").unwrap_or_else(id);
    VolumeSeen { path: volume.path.clone(), controller: controller.to_owned(), name, wwn: wwn_of(&volume.document) }
}

/// The kinds of durable names that a host sees too, the likeliest first.
const SEEN_BY_HOSTS: [&str; 4] = ["NAA", "EUI", "NGUID", "UUID"];

/// What the volume is called on the bus. A name whose kind is not told is taken for a WWN: that is what volumes have.
fn wwn_of(volume: &Value) -> Option<String> {
    let named = |format: Option<&str>| {
        items(field(volume, "Identifiers")).find_map(|entry| {
            let told = text(entry, "DurableNameFormat");
            let is_meant = told.as_deref().map(str::to_ascii_uppercase).as_deref() == format;
            text(entry, "DurableName").filter(|name| is_meant && !name.trim().is_empty())
        })
    };
    SEEN_BY_HOSTS.into_iter().map(Some).chain([None]).find_map(named)
}

fn mirror_of(name: &str, drives: [&Drive; 2]) -> Value {
    let links = drives.map(|drive| json!({"@odata.id": drive.path}));
    json!({"Name": name, "RAIDType": "RAID1", "Links": {"Drives": links}})
}

/// The two drives for the operating system: the smallest two SSDs of exactly one size that are free and well, in the order of
/// their bays. Machines have a pair of small drives for it beside larger ones for data; where all are alike, the first two
/// bays are where it is by custom.
///
/// What a controller does not tell of its volumes could be data, so it is passed over.
fn choose_mirror(controllers: &[Controller]) -> Option<(&Controller, [&Drive; 2])> {
    let pairs = controllers.iter().filter_map(|controller| {
        let volumes = &controller.volumes.read().filter(|volumes| volumes.unread == 0)?.members;
        let is_free = |drive: &Drive| !volumes.iter().any(|volume| volume.drives.contains(&drive.path));
        let is_well = |drive: &Drive| drive.health.is_none_or(|health| health == Health::Ok) && drive.failure_predicted != Some(true);
        let fit = |drive: &&Drive| drive.kind == Some(DriveKind::Ssd) && drive.capacity_bytes.is_some() && is_free(drive) && is_well(drive);
        let mut drives: Vec<&Drive> = controller.drives.members.iter().filter(fit).collect();
        // The sort keeps the order of bays among drives of one size.
        drives.sort_by_key(|drive| drive.capacity_bytes);
        let pair = drives.windows(2).find(|pair| pair[0].capacity_bytes == pair[1].capacity_bytes)?;
        Some((controller, [pair[0], pair[1]]))
    });
    pairs.min_by_key(|(_, [first, _])| first.capacity_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::Volume;
    use crate::listing::Listing;

    fn drive(bay: u32, gigabytes: u64) -> Drive {
        Drive {
            path: format!("/d/{bay}"),
            id: bay.to_string(),
            serial: None,
            model: None,
            capacity_bytes: Some(gigabytes * 1_000_000_000),
            kind: Some(DriveKind::Ssd),
            protocol: None,
            identifiers: Vec::new(),
            health: Some(Health::Ok),
            failure_predicted: Some(false),
        }
    }

    fn controller(drives: Vec<Drive>, taken: &[u32]) -> Controller {
        let volume = Volume {
            path: "/v/1".into(),
            id: "1".into(),
            name: None,
            raid: None,
            capacity_bytes: None,
            drives: taken.iter().map(|bay| format!("/d/{bay}")).collect(),
            health: None,
        };
        let volumes = if taken.is_empty() { Vec::new() } else { vec![volume] };
        Controller {
            path: "/s/1".into(),
            id: "1".into(),
            name: None,
            health: None,
            drives: Listing { members: drives, unread: 0 },
            volumes: Part::Read(Listing { members: volumes, unread: 0 }),
        }
    }

    fn chosen(controllers: &[Controller]) -> Vec<String> {
        choose_mirror(controllers).map(|(_, pair)| pair.map(|drive| drive.id.clone()).to_vec()).unwrap_or_default()
    }

    #[test]
    fn the_two_smallest_equal_ssds_that_are_free_and_well_are_mirrored() {
        let small_last = || [(0, 1920), (1, 1920), (2, 480), (3, 480)].map(|(bay, size)| drive(bay, size)).to_vec();
        assert_eq!(chosen(&[controller(small_last(), &[])]), ["2", "3"]);
        assert_eq!(chosen(&[controller(small_last(), &[2, 3])]), ["0", "1"]);
        assert_eq!(chosen(&[controller((0..6).map(|bay| drive(bay, 960)).collect(), &[])]), ["0", "1"]);
        assert_eq!(chosen(&[controller(vec![drive(0, 480), drive(1, 960), drive(2, 960)], &[])]), ["1", "2"], "one alone is no mirror");
        assert_eq!(chosen(&[controller(vec![drive(0, 480), drive(1, 960)], &[])]), Vec::<String>::new());
    }

    #[test]
    fn a_sick_drive_a_slow_one_and_one_of_unknown_use_are_left_alone() {
        let sick = Drive { health: Some(Health::Critical), ..drive(0, 480) };
        let dying = Drive { failure_predicted: Some(true), ..drive(1, 480) };
        let slow = Drive { kind: Some(DriveKind::Hdd), ..drive(2, 480) };
        assert_eq!(chosen(&[controller(vec![sick, dying, slow, drive(3, 960), drive(4, 960)], &[])]), ["3", "4"]);
        let mut untold = controller(vec![drive(0, 480), drive(1, 480)], &[]);
        untold.volumes = Part::NotOffered;
        assert_eq!(chosen(&[untold]), Vec::<String>::new());
    }

    #[test]
    fn a_volume_is_known_by_the_name_that_a_host_sees() {
        let named = |identifiers: Value| wwn_of(&json!({ "Identifiers": identifiers }));
        let naa = json!({"DurableName": "600508B1001C", "DurableNameFormat": "NAA"});
        let uuid = json!({"DurableName": "0f0f", "DurableNameFormat": "UUID"});
        assert_eq!(named(json!([uuid, naa])).as_deref(), Some("600508B1001C"));
        assert_eq!(named(json!([uuid])).as_deref(), Some("0f0f"));
        assert_eq!(named(json!([{"DurableName": "6005"}])).as_deref(), Some("6005"));
        assert_eq!(named(json!([{"DurableName": "iqn.x", "DurableNameFormat": "iQN"}])), None);
        assert_eq!(named(json!([{"DurableName": " ", "DurableNameFormat": "NAA"}, {"DurableName": null}])), None);
        assert_eq!(wwn_of(&json!({ "Identifiers": "nonsense" })), None);
    }

    #[test]
    fn of_two_controllers_the_one_with_the_smaller_pair_has_the_system() {
        let boot = Controller { path: "/s/boss".into(), ..controller(vec![drive(7, 480), drive(8, 480)], &[]) };
        assert_eq!(chosen(&[controller(vec![drive(0, 1920), drive(1, 1920)], &[]), boot]), ["7", "8"]);
    }
}
