//! Everything that hardware validation compares, read part by part: what a BMC does not offer, and what it failed to tell this
//! time, stay apart from what it tells.

mod alarms;
mod bootable;
mod drives;
mod license;
mod sensors;

use model::{Fault, FirmwareSeen, Inspection, LogSeen, PartHealth, PortSeen, SystemSeen, Told};
use serde_json::Value;

use crate::bmc::{Bmc, System};
use crate::document::{self, field, text};
use crate::inventory::{Health, LinkState, Nic, health, read_nic};
use crate::line::Deadline;
use crate::listing::{Listing, Member, is_absence, unread};

impl Bmc {
    /// What the BMC tells of its machine's hardware.
    ///
    /// Only the System itself must be readable; each other part has the time of a whole call, because a slow BMC takes seconds
    /// for each of some hundred documents. It changes nothing, so nobody minds if it ends after a lease has.
    pub async fn observe_hardware(&self) -> Result<Inspection, Fault> {
        let system = self.read_system_to_ask(Deadline::of_call()).await?;
        let (alarms, log) = match told(self.inspect_alarms(&system).await) {
            Told::Told((alarms, log)) => (Told::Told(alarms), log),
            Told::NotOffered => (Told::NotOffered, LogSeen::default()),
            Told::Unread(fault) => (Told::Unread(fault), LogSeen::default()),
        };
        Ok(Inspection {
            drives: told(self.inspect_drives(&system).await),
            ports: told(self.inspect_ports(&system).await),
            sensors: told(self.inspect_sensors(&system).await),
            alarms,
            log,
            firmware: told(self.inspect_firmware(&system).await),
            boot: told(self.inspect_boot(&system).await),
            license: told(self.inspect_license().await),
            system: self.inspect_system(&system).await,
        })
    }

    async fn inspect_system(&self, system: &System) -> SystemSeen {
        let document = system.document();
        SystemSeen {
            model: text(document, "Model"),
            serial_number: text(document, "SerialNumber"),
            bmc_mac: self.bmc_mac(system).await.unwrap_or_default(),
            memory_gib: document::number(field(document, "MemorySummary"), "TotalSystemMemoryGiB"),
            sockets: document::number(field(document, "ProcessorSummary"), "Count"),
            health: health(document).map(part_health),
        }
    }

    /// Of the first port of the BMC that has one.
    async fn bmc_mac(&self, system: &System) -> Result<Option<String>, Fault> {
        let deadline = Deadline::of_call();
        for path in self.managers(system, deadline).await? {
            let manager = self.line().get(&path, deadline).await?;
            let Some(collection) = document::linked(&manager, "EthernetInterfaces") else { continue };
            let ports = self.list(&collection, deadline).await?;
            if let Some(mac) = ports.members.iter().find_map(|port| read_nic(port)?.mac) {
                return Ok(Some(mac));
            }
        }
        Ok(None)
    }

    async fn inspect_ports(&self, system: &System) -> Result<Option<Vec<PortSeen>>, Fault> {
        let ports = self.whole_part(system.document(), "EthernetInterfaces", Deadline::of_call()).await?;
        let read = |nic: Nic| PortSeen {
            name: nic.id,
            mac: nic.mac,
            is_up: nic.link.map(|link| link == LinkState::Up),
            health: nic.health.map(part_health),
        };
        Ok(ports.map(|ports| ports.iter().filter_map(read_nic).map(read).collect()))
    }

    /// The inventory, or what the System and its manager tell of themselves where there is none.
    async fn inspect_firmware(&self, system: &System) -> Result<Option<Vec<FirmwareSeen>>, Fault> {
        match self.observe_firmware().await {
            Ok(listing) if listing.members.is_empty() && listing.unread > 0 => {
                return Err(unread("the firmware inventory", listing.unread));
            }
            Ok(listing) => {
                let named =
                    |firmware: crate::Firmware| FirmwareSeen { name: firmware.name.unwrap_or(firmware.id), version: firmware.version };
                return Ok(Some(listing.members.into_iter().map(named).collect()));
            }
            Err(fault) if is_absence(&fault) => {}
            Err(fault) => return Err(fault),
        }
        let mut told: Vec<FirmwareSeen> = Vec::new();
        if let Some(version) = text(system.document(), "BiosVersion") {
            told.push(FirmwareSeen { name: "BIOS".to_owned(), version: Some(version) });
        }
        let deadline = Deadline::of_call();
        for path in self.managers(system, deadline).await? {
            let Some(manager) = self.read_if_there(&path, deadline).await? else { continue };
            if let Some(version) = text(&manager, "FirmwareVersion") {
                told.push(FirmwareSeen { name: "BMC".to_owned(), version: Some(version) });
            }
        }
        Ok((!told.is_empty()).then_some(told))
    }

    /// The members of the collection that `owner` links to as `name`; nothing if it links to none. All of them must be readable:
    /// one that is missing would be taken for a part that is.
    async fn whole_part(&self, owner: &Value, name: &str, deadline: Deadline) -> Result<Option<Vec<Member>>, Fault> {
        let Some(collection) = document::linked(owner, name) else { return Ok(None) };
        whole(&collection, self.list(&collection, deadline).await?).map(Some)
    }
}

fn whole(collection: &str, listing: Listing<Member>) -> Result<Vec<Member>, Fault> {
    if listing.unread > 0 { Err(unread(collection, listing.unread)) } else { Ok(listing.members) }
}

/// A link may be advertised and lead nowhere: then the part is not offered.
fn told<T>(outcome: Result<Option<T>, Fault>) -> Told<T> {
    match outcome {
        Ok(Some(part)) => Told::Told(part),
        Ok(None) => Told::NotOffered,
        Err(fault) if is_absence(&fault) => Told::NotOffered,
        Err(fault) => Told::Unread(fault),
    }
}

fn part_health(health: Health) -> PartHealth {
    match health {
        Health::Ok => PartHealth::Ok,
        Health::Warning => PartHealth::Warning,
        Health::Critical => PartHealth::Critical,
    }
}
