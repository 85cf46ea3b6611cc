//! Firmware: what runs on the parts of a machine, and asking for other.

use http::Uri;
use model::Fault;
use serde_json::{Value, json};

use crate::bmc::Bmc;
use crate::content::Sent;
use crate::document::{self, field, flag, text};
use crate::jobs::JobRef;
use crate::line::Deadline;
use crate::listing::{Listing, Member, not_offered, offered};

const UPDATE: &str = "UpdateService.SimpleUpdate";

/// How the ids of firmware begin that is kept beside the one that runs, to go back or forward to (Dell). It has the same name.
const KEPT: [&str; 2] = ["Previous-", "Available-"];

/// One piece of firmware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firmware {
    /// Where it is on its BMC; what an update names as its target.
    pub path: String,
    pub id: String,
    pub name: Option<String>,
    pub version: Option<String>,
    /// Whether an update may be asked for; absent if the BMC does not tell.
    pub updateable: Option<bool>,
}

impl Bmc {
    /// The firmware that the machine runs. A BMC that does not list it is unsupported.
    pub async fn observe_firmware(&self) -> Result<Listing<Firmware>, Fault> {
        let deadline = Deadline::of_call();
        let (_, service) = self.update_service(deadline).await?;
        let inventory = document::linked(&service, "FirmwareInventory").ok_or_else(|| not_offered("firmware inventory"))?;
        let members = offered(self.list(&inventory, deadline).await, "firmware inventory")?;
        Ok(members.map(read_firmware))
    }

    /// Asks the BMC to fetch and install an image on `targets` (paths as [`Firmware::path`]; none means: wherever the image
    /// fits). Gives the job that it became, or nothing if there is none to follow.
    pub async fn request_firmware(&self, image: &Uri, targets: &[String]) -> Result<Option<JobRef>, Fault> {
        let deadline = Deadline::of_call();
        self.require_machine(deadline).await?;
        let (path, service) = self.update_service(deadline).await?;
        let action = document::action(&path, &service, UPDATE).ok_or_else(|| not_offered("firmware update from a URL"))?;
        let mut content = json!({"ImageURI": image.to_string()});
        if !targets.is_empty() {
            content["Targets"] = json!(targets);
        }
        // The URL tells the protocol already, but a service that lists protocols expects one named.
        let scheme = image.scheme_str().unwrap_or_default();
        if let Some(protocol) =
            action.allowed("TransferProtocol").and_then(|all| all.into_iter().find(|one| one.eq_ignore_ascii_case(scheme)))
        {
            content["TransferProtocol"] = json!(protocol);
        }
        self.line().post(&action.target, Sent::json(&content), deadline).await
    }

    async fn update_service(&self, deadline: Deadline) -> Result<(String, Value), Fault> {
        let path = self.line().root(deadline).await?.updates.ok_or_else(|| not_offered("firmware service"))?;
        let service = offered(self.line().get(&path, deadline).await, "firmware service")?;
        Ok((path, service))
    }
}

/// A firmware; nothing if its slot is empty, or if it does not run.
fn read_firmware(member: Member) -> Option<Firmware> {
    let document = &member.document;
    if text(field(document, "Status"), "State").is_some_and(|state| state.eq_ignore_ascii_case("Absent")) {
        return None;
    }
    let last = || member.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    let id = text(document, "Id").unwrap_or_else(last);
    if KEPT.iter().any(|kept| id.get(..kept.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(kept))) {
        return None;
    }
    Some(Firmware {
        id,
        name: text(document, "Name"),
        version: text(document, "Version"),
        updateable: flag(document, "Updateable"),
        path: member.path,
    })
}
