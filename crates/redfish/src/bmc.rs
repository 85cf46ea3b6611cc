//! One BMC: what is known of it, and how its System is found.
//!
//! The looks and the requests that the keeper makes are in the files of their kind.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{Method, Uri};
use model::{Delivery, Fault, FaultClass};
use serde_json::Value;

use crate::ask::Found;
use crate::credentials::Credentials;
use crate::document::{self, Action};
use crate::fault::{Asked, Purpose, not_yet};
use crate::line::{Deadline, Line};
use crate::listing::is_absence;
use crate::quirks::Quirks;
use crate::serial::{SerialMatch, compare_serial};
use crate::transport::{Reading, Transport};

/// The driver of one BMC. Clones are cheap and share the session and what was learnt about the BMC.
#[derive(Clone)]
pub struct Bmc {
    shared: Arc<Shared>,
}

struct Shared {
    line: Line,
    /// Where the System is. Finding it takes requests that a look at thousands of machines must not repeat.
    system: Mutex<Option<String>>,
    /// The number on the machine that is meant, if the caller minds.
    serial: Option<String>,
}

/// A System and where it was found.
pub(crate) struct System {
    pub path: String,
    pub found: Found,
}

impl Bmc {
    /// `base` gives scheme and authority; a BMC is never behind a path prefix, so any path in it is ignored.
    pub fn new(transport: Transport, base: Uri, credentials: Arc<dyn Credentials>) -> Self {
        Bmc::build(transport, base, credentials, None)
    }

    /// The same for one machine only: where a BMC tells another serial number, nothing is believed and nothing is asked.
    ///
    /// A wrong address, or two cables that were swapped, would otherwise cut the power of a machine that nobody meant.
    pub fn of_machine(transport: Transport, base: Uri, credentials: Arc<dyn Credentials>, serial: &str) -> Self {
        Bmc::build(transport, base, credentials, Some(serial.to_owned()))
    }

    fn build(transport: Transport, base: Uri, credentials: Arc<dyn Credentials>, serial: Option<String>) -> Self {
        let line = Line::new(transport, base, credentials);
        Bmc { shared: Arc::new(Shared { line, system: Mutex::new(None), serial }) }
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
    pub(crate) async fn read_system(&self, deadline: Deadline) -> Result<System, Fault> {
        self.read_system_as(Reading::Whole, deadline).await
    }

    /// `reading` is for a System that is where it was; looking for it takes several requests, over one connection.
    pub(crate) async fn read_system_as(&self, reading: Reading, deadline: Deadline) -> Result<System, Fault> {
        let known = self.known_system().clone();
        if let Some(path) = known {
            match self.shared.line.read_as(reading, &path, deadline).await {
                Err(fault) if fault.class == FaultClass::Missing => self.forget_system(),
                answer => return self.of_this_machine(System { path, found: answer? }),
            }
        }
        let path = self.find_system(deadline).await?;
        let found = self.shared.line.read(&path, deadline).await?;
        *self.known_system() = Some(path.clone());
        self.of_this_machine(System { path, found })
    }

    /// The System, unless it tells that it is another machine's. One that tells nothing is taken for the right one.
    fn of_this_machine(&self, system: System) -> Result<System, Fault> {
        let Some(meant) = &self.shared.serial else { return Ok(system) };
        let told = |name| document::text(system.document(), name);
        match compare_serial(told("SerialNumber").as_deref(), told("SKU").as_deref(), meant) {
            SerialMatch::Same | SerialMatch::Untold => Ok(system),
            SerialMatch::Other { found } => {
                let detail = format!("its serial number is {found}, not {meant}");
                Err(Fault::new(FaultClass::OtherMachine, Delivery::No, detail))
            }
        }
    }

    /// For requests that need nothing else of the System: whether it is the machine that is meant.
    pub(crate) async fn require_machine(&self, deadline: Deadline) -> Result<(), Fault> {
        if self.shared.serial.is_some() {
            self.read_system_to_ask(deadline).await?;
        }
        Ok(())
    }

    /// Reads the System for a request that is to be made of it.
    ///
    /// A BMC that is starting up may answer 404 to everything, or list no System yet. The request was not even made then,
    /// so nothing is known about whether it can be: it may be made later.
    pub(crate) async fn read_system_to_ask(&self, deadline: Deadline) -> Result<System, Fault> {
        self.read_system(deadline).await.map_err(not_yet)
    }

    /// A BMC that we manage has one System: that of its machine.
    async fn find_system(&self, deadline: Deadline) -> Result<String, Fault> {
        let collection = self.shared.line.root(deadline).await?.systems;
        let document = self.shared.line.get(&collection, deadline).await?;
        let first = document::members(&document).into_iter().next();
        first.ok_or_else(|| Fault::new(FaultClass::Missing, Delivery::No, format!("GET {collection}: there is no System")))
    }

    /// A document that costs no more than what it carries: any error answer counts as its absence, but silence is a fault.
    pub(crate) async fn read_if_answered(&self, path: &str, deadline: Deadline) -> Result<Option<Value>, Fault> {
        match self.shared.line.get(path, deadline).await {
            Ok(document) => Ok(Some(document)),
            Err(fault) if fault.class == FaultClass::Unreachable => Err(fault),
            Err(fault) => {
                tracing::debug!(base = %self.shared.line.base(), %fault, "a document cannot be read, and is done without");
                Ok(None)
            }
        }
    }

    /// A document that a BMC need not have. Only that it has none is its absence: one that cannot be read just now is a
    /// fault, because what is in it may be what matters.
    pub(crate) async fn read_if_there(&self, path: &str, deadline: Deadline) -> Result<Option<Value>, Fault> {
        match self.shared.line.get(path, deadline).await {
            Ok(document) => Ok(Some(document)),
            Err(fault) if is_absence(&fault) => {
                tracing::debug!(base = %self.shared.line.base(), %fault, "an advertised link leads nowhere");
                Ok(None)
            }
            Err(fault) => Err(fault),
        }
    }

    /// The values that an action takes for a parameter, from the resource itself or from its ActionInfo; nothing if
    /// neither tells.
    pub(crate) async fn allowed_values(&self, action: &Action<'_>, name: &str, deadline: Deadline) -> Result<Option<Vec<String>>, Fault> {
        match (action.allowed(name), action.info()) {
            (Some(allowed), _) => Ok(Some(allowed)),
            (None, Some(path)) => {
                let info = match self.shared.line.get(&path, deadline).await {
                    Ok(info) => info,
                    Err(fault) if matches!(fault.class, FaultClass::Unreachable | FaultClass::Busy) => return Err(fault),
                    // A BMC whose list is broken for good can still be asked for the usual, and tells by its answer.
                    Err(_) => return Ok(None),
                };
                Ok(document::allowed_by_action_info(&info, name))
            }
            (None, None) => Ok(None),
        }
    }

    /// What the maker of this machine wants that no document tells.
    pub(crate) async fn quirks(&self, system: &System, deadline: Deadline) -> Result<&'static Quirks, Fault> {
        let vendor = self.shared.line.root(deadline).await?.vendor;
        let maker = document::text(system.document(), "Manufacturer");
        Ok(Quirks::of([maker.as_deref(), vendor.as_deref()].into_iter().flatten()))
    }

    pub(crate) fn line(&self) -> &Line {
        &self.shared.line
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
    pub fn document(&self) -> &Value {
        &self.found.document
    }

    /// The managers that say they manage this System.
    pub fn managers(&self) -> Vec<String> {
        document::all_linked(document::field(self.document(), "Links"), "ManagedBy")
    }

    pub fn asked(&self) -> Asked {
        Asked { method: Method::GET, path: self.path.clone(), purpose: Purpose::Observe }
    }
}

impl fmt::Debug for Bmc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bmc").field("base", self.shared.line.base()).finish_non_exhaustive()
    }
}
