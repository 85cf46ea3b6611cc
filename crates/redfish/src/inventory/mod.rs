//! Inventory: what a machine is made of, and whether each part is well.
//!
//! Each part is told or not on its own. A BMC that offers no list of a part, one that failed to give it this time, and
//! a list without members are three different answers.

mod parts;
mod storage;

use model::Fault;
use serde_json::Value;

pub(crate) use parts::read_nic;
pub use parts::{Dimm, LinkState, Nic, Processor};
pub use storage::{Controller, Drive, DriveKind, Volume};

use crate::bmc::Bmc;
use crate::document::{self, field, text};
use crate::line::Deadline;
use crate::listing::{Listing, Member, Part};

/// What a machine is made of, as far as its BMC tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inventory {
    pub bios_version: Option<String>,
    /// Of the machine with all its parts.
    pub health: Option<Health>,
    /// The sums that the BMC gives, which may be all that it gives.
    pub processor_count: Option<u64>,
    pub memory_gib: Option<u64>,
    pub processors: Part<Listing<Processor>>,
    pub memory: Part<Listing<Dimm>>,
    pub storage: Part<Listing<Controller>>,
    pub nics: Part<Listing<Nic>>,
}

/// The standard's three words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    Ok,
    Warning,
    Critical,
}

impl Bmc {
    /// What the machine is made of.
    ///
    /// It is the longest call of the driver: some dozen requests where the BMC expands collections, some hundred where it
    /// does not. Parts for which the time of the call does not suffice are unread.
    pub async fn observe_inventory(&self) -> Result<Inventory, Fault> {
        let deadline = Deadline::of_call();
        let system = self.read_system(deadline).await?;
        let document = system.document();
        Ok(Inventory {
            bios_version: text(document, "BiosVersion"),
            health: health(document),
            processor_count: document::number(field(document, "ProcessorSummary"), "Count"),
            memory_gib: document::number(field(document, "MemorySummary"), "TotalSystemMemoryGiB"),
            processors: self.part(document, "Processors", parts::read_processor, deadline).await,
            memory: self.part(document, "Memory", parts::read_dimm, deadline).await,
            storage: self.storage(document, deadline).await,
            nics: self.part(document, "EthernetInterfaces", parts::read_nic, deadline).await,
        })
    }

    /// The members of the collection that `owner` links to as `name`, each read by `read`.
    async fn part<T>(&self, owner: &Value, name: &str, read: fn(&Member) -> Option<T>, deadline: Deadline) -> Part<Listing<T>> {
        let Some(collection) = document::linked(owner, name) else { return Part::NotOffered };
        let members = self.list(&collection, deadline).await;
        members.map(|members| members.map(|member| read(&member))).into()
    }
}

/// The health of a part with all it consists of.
pub(crate) fn health(document: &Value) -> Option<Health> {
    let status = field(document, "Status");
    let told = text(status, "HealthRollup").or_else(|| text(status, "Health"))?;
    match told.to_ascii_lowercase().as_str() {
        "ok" => Some(Health::Ok),
        "warning" => Some(Health::Warning),
        "critical" => Some(Health::Critical),
        _ => None,
    }
}

/// Whether a member stands for an empty socket, bay or slot.
pub(crate) fn is_absent(document: &Value) -> bool {
    text(field(document, "Status"), "State").is_some_and(|state| state.eq_ignore_ascii_case("Absent"))
}

/// The member's own id, or else the last part of its path.
pub(crate) fn id(member: &Member) -> String {
    let last = || member.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    text(&member.document, "Id").unwrap_or_else(last)
}
