//! Who made the machine and what runs its BMC.

use model::Fault;

use crate::bmc::Bmc;
use crate::document;
use crate::line::Deadline;

/// Who made the machine and what runs its BMC, as far as it tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    pub vendor: Option<String>,
    pub model: Option<String>,
    pub serial: Option<String>,
    /// The vendor's order number; Dell's service tag.
    pub sku: Option<String>,
    pub uuid: Option<String>,
    pub bios_version: Option<String>,
    pub bmc_firmware: Option<String>,
}

impl Bmc {
    /// Who made the machine. Fields that the BMC does not tell, or tells where it answers with an error, are absent.
    pub async fn observe_identity(&self) -> Result<Identity, Fault> {
        let deadline = Deadline::of_call();
        let system = self.read_system(deadline).await?;
        let root = self.line().root(deadline).await?;
        let manager = match system.managers().first() {
            Some(path) => self.read_if_answered(path, deadline).await?,
            None => None,
        };
        let told = |name| document::text(system.document(), name);
        Ok(Identity {
            vendor: told("Manufacturer").or(root.vendor),
            model: told("Model"),
            serial: told("SerialNumber"),
            sku: told("SKU"),
            uuid: told("UUID"),
            bios_version: told("BiosVersion"),
            bmc_firmware: manager.and_then(|manager| document::text(&manager, "FirmwareVersion")),
        })
    }
}
