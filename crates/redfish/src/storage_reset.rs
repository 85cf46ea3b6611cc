//! Storage reset: back to bare drives, with no volume of an earlier life.

use model::Fault;
use serde_json::{Value, json};

use crate::bmc::Bmc;
use crate::content::Sent;
use crate::document::{self, text};
use crate::jobs::JobRef;
use crate::line::Deadline;
use crate::listing::{Member, not_offered, offered, unread};

const RESET: &str = "Storage.ResetToDefaults";

/// What one request of a storage reset did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorageReset {
    /// There was no volume: nothing was asked, and nothing is left to ask.
    Bare,
    /// The controller was asked to reset itself with all its volumes.
    Whole { job: Option<JobRef> },
    /// One volume was asked to go. When it is gone, ask again for the next.
    Volume { path: String, left: usize, job: Option<JobRef> },
}

impl Bmc {
    /// Asks for the next step of a storage reset of the controller at `controller` (a path as [`crate::Controller::path`]).
    ///
    /// A controller that can reset itself is asked to. Otherwise one volume is deleted per call, because each is a job that
    /// may fail, and only the caller can see that and decide whether to go on.
    pub async fn request_storage_reset(&self, controller: &str) -> Result<StorageReset, Fault> {
        let deadline = Deadline::of_call();
        self.require_machine(deadline).await?;
        let document = self.line().get(controller, deadline).await?;
        if let Some(action) = document::action(controller, &document, RESET) {
            let content = Sent::json(&json!({"ResetType": "ResetAll"}));
            let job = self.line().post(&action.target, content, deadline).await?;
            return Ok(StorageReset::Whole { job });
        }
        let volumes = self.volumes(&document, deadline).await?;
        let Some((first, rest)) = volumes.split_first() else { return Ok(StorageReset::Bare) };
        let job = self.line().delete(&first.path, deadline).await?;
        Ok(StorageReset::Volume { path: first.path.clone(), left: rest.len(), job })
    }

    /// Asks for the end of the volume at `volume`, with all that is on it.
    pub async fn request_volume_delete(&self, volume: &str) -> Result<Option<JobRef>, Fault> {
        let deadline = Deadline::of_call();
        self.require_machine(deadline).await?;
        self.line().delete(volume, deadline).await
    }

    /// The volumes that can be deleted. One that cannot be read is a fault: "none left" must be known, not guessed.
    pub(crate) async fn volumes(&self, controller: &Value, deadline: Deadline) -> Result<Vec<Member>, Fault> {
        let collection = document::linked(controller, "Volumes").ok_or_else(|| not_offered("volumes of this controller"))?;
        let listing = offered(self.list(&collection, deadline).await, "volumes of this controller")?;
        // A raw device is a drive that some list among the volumes; there is nothing of it to delete.
        let is_real = |volume: &Member| text(&volume.document, "VolumeType").is_none_or(|kind| !kind.eq_ignore_ascii_case("RawDevice"));
        let volumes: Vec<Member> = listing.members.into_iter().filter(is_real).collect();
        if volumes.is_empty() && listing.unread > 0 { Err(unread(&collection, listing.unread)) } else { Ok(volumes) }
    }
}
