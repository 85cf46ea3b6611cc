//! One BMC: the looks and the requests that the keeper makes.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{Method, Uri};
use model::{Delivery, Fault, FaultClass, Power, PowerRequest};
use serde_json::{Value, json};

use crate::credentials::Credentials;
use crate::document;
use crate::fault::{Asked, Purpose};
use crate::line::{Deadline, Line};
use crate::reset::choose_reset_type;
use crate::transport::Transport;

/// The driver of one BMC. Clones are cheap and share the session and what was learnt about the BMC.
#[derive(Clone)]
pub struct Bmc {
    shared: Arc<Shared>,
}

struct Shared {
    line: Line,
    /// Where the System is. Finding it takes requests that a look at thousands of machines must not repeat.
    system: Mutex<Option<String>>,
}

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

/// A System document and where it was found.
struct System {
    path: String,
    document: Value,
}

impl Bmc {
    /// `base` gives scheme and authority; a BMC is never behind a path prefix, so any path in it is ignored.
    pub fn new(transport: Transport, base: Uri, credentials: Arc<dyn Credentials>) -> Self {
        Bmc { shared: Arc::new(Shared { line: Line::new(transport, base, credentials), system: Mutex::new(None) }) }
    }

    /// The power of the machine, in one request once the System has been found.
    ///
    /// Some BMCs report a state that is seconds old; the caller judges by when it looked, not by one look.
    pub async fn observe_power(&self) -> Result<Power, Fault> {
        let system = self.read_system(Deadline::of_call()).await?;
        document::power(&system.document).map_err(|what| system.asked().garbled(&what))
    }

    /// Who made the machine. Fields that the BMC does not tell, or tells where it answers with an error, are absent.
    pub async fn observe_identity(&self) -> Result<Identity, Fault> {
        let deadline = Deadline::of_call();
        let System { document: system, .. } = self.read_system(deadline).await?;
        let root = self.shared.line.root(deadline).await?;
        let manager = match document::first_manager(&system) {
            Some(path) => self.read_if_answered(&path, deadline).await?,
            None => None,
        };
        Ok(Identity {
            vendor: document::text(&system, "Manufacturer").or(root.vendor),
            model: document::text(&system, "Model"),
            serial: document::text(&system, "SerialNumber"),
            sku: document::text(&system, "SKU"),
            uuid: document::text(&system, "UUID"),
            bios_version: document::text(&system, "BiosVersion"),
            bmc_firmware: manager.and_then(|manager| document::text(&manager, "FirmwareVersion")),
        })
    }

    /// Asks for a change of power. Success means that the BMC took the request, not that anything happened.
    pub async fn request_power(&self, request: PowerRequest) -> Result<(), Fault> {
        let deadline = Deadline::of_call();
        let system = self.read_system(deadline).await?;
        let action = document::reset_action(&system.path, &system.document);
        let offered = match (action.offered, action.action_info) {
            (Some(offered), _) => Some(offered),
            (None, Some(path)) => {
                self.read_if_answered(&path, deadline).await?.and_then(|info| document::reset_types_of_action_info(&info))
            }
            (None, None) => None,
        };
        let Some(reset_type) = choose_reset_type(request, offered.as_deref()) else {
            let offered = offered.unwrap_or_default().join(", ");
            let detail = format!("{} offers only {offered} for {request:?}", system.path);
            return Err(Fault::new(FaultClass::Unsupported, Delivery::No, detail));
        };
        self.shared.line.post(&action.target, &json!({"ResetType": reset_type}), deadline).await
    }

    /// Whether both are handles of one driver, with one session.
    pub fn is_same_as(&self, other: &Bmc) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Ends our session with the BMC, if there is one. The next call would open another.
    pub async fn close(&self) {
        self.shared.line.close().await;
    }

    /// Reads the System where it was last found, and looks for it anew if it is there no more.
    async fn read_system(&self, deadline: Deadline) -> Result<System, Fault> {
        let known = self.known_system().clone();
        if let Some(path) = known {
            match self.shared.line.get(&path, deadline).await {
                Err(fault) if fault.class == FaultClass::Missing => self.forget_system(),
                answer => return answer.map(|document| System { path, document }),
            }
        }
        let path = self.find_system(deadline).await?;
        let document = self.shared.line.get(&path, deadline).await?;
        *self.known_system() = Some(path.clone());
        Ok(System { path, document })
    }

    /// A BMC that we manage has one System: that of its machine.
    async fn find_system(&self, deadline: Deadline) -> Result<String, Fault> {
        let collection = self.shared.line.root(deadline).await?.systems;
        let document = self.shared.line.get(&collection, deadline).await?;
        let first = document::members(&document).into_iter().next();
        first.ok_or_else(|| Fault::new(FaultClass::Missing, Delivery::No, format!("GET {collection}: there is no System")))
    }

    /// A document that we can do without: an error answer counts as its absence, but silence is a fault.
    async fn read_if_answered(&self, path: &str, deadline: Deadline) -> Result<Option<Value>, Fault> {
        match self.shared.line.get(path, deadline).await {
            Ok(document) => Ok(Some(document)),
            Err(fault) if fault.class == FaultClass::Unreachable => Err(fault),
            Err(fault) => {
                tracing::debug!(base = %self.shared.line.base(), %fault, "an advertised link leads nowhere");
                Ok(None)
            }
        }
    }

    fn forget_system(&self) {
        *self.known_system() = None;
        self.shared.line.forget_root();
    }

    fn known_system(&self) -> MutexGuard<'_, Option<String>> {
        self.shared.system.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl System {
    fn asked(&self) -> Asked {
        Asked { method: Method::GET, path: self.path.clone(), purpose: Purpose::Observe }
    }
}

impl fmt::Debug for Bmc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bmc").field("base", self.shared.line.base()).finish_non_exhaustive()
    }
}
