//! The loop of one cluster: observe, snapshot, plan, check invariants, commit (intent first), act, observe.
//!
//! A keeper is the only writer of its cluster's documents. It decides nothing: what should happen is in `plan`.

mod accounts;
mod agenda;
mod books;
mod devices;
mod enroll;
mod errands;
mod eyes;
mod inquiries;
mod install;
mod lease;
mod looks;
mod meters;
mod polls;
mod rota;
mod run;
mod telling;
mod tenants;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use etcd::EtcdCluster;
use kubernetes::{Door, Undercloud};
use model::{Clock, ClusterName, Delivery, Fault, FaultClass, Footing, Hardware, KeeperState, MachineName, Site, Span};
use plan::Objection;
use redfish::Bmc;
use store::{SharedStore, StoreError};
use tokio::sync::watch;

pub use books::Books;
pub use devices::{Secrets, VaultCredentials, VaultSecrets};
pub use enroll::enroll_site;
pub use eyes::note_power;
pub use inquiries::MAX_INQUIRIES;
pub use install::{InstallDesk, InstallUrls, JOIN_TOKEN_LIFE, load_install_key};
pub use meters::{METERS, begin_at_zero};
pub use polls::MAX_POLLS;
pub use rota::Rota;
pub use run::{MAX_ERRANDS, MAX_NODE_ASKS};

/// How long a keeper's lease lasts without renewal. Never scaled: it is about our own processes.
pub const LEASE_TTL: Span = Span::seconds(60);

/// A device request is sent only while the lease outlives it by this much: the longest a driver's call can take.
pub const DEVICE_TIMEOUT: Span = redfish::CALL_TIMEOUT;

const _: () = assert!(DEVICE_TIMEOUT.as_millis() >= kubernetes::CALL_TIMEOUT.as_millis(), "every driver's call must fit");
const _: () = assert!(DEVICE_TIMEOUT.as_millis() >= etcd::CALL_TIMEOUT.as_millis(), "every driver's call must fit");
const _: () = assert!(LEASE_TTL.as_millis() >= 2 * DEVICE_TIMEOUT.as_millis(), "a renewal at a third leaves room for one call");

/// Plans are at least this far apart, so that a burst of events is one plan.
pub const PLAN_EVERY: Span = Span::millis(20);

/// How long a keeper that stops waits for the answers of the requests it has sent.
pub const STOP_TIMEOUT: Span = Span::seconds(5);

/// What a keeper works with.
#[derive(Clone)]
pub struct Keeper {
    pub cluster: ClusterName,
    /// Who holds the lease. A store with one process uses one name for ever, so that a restart need not wait.
    pub holder: String,
    pub store: SharedStore,
    pub clock: Arc<dyn Clock>,
    /// The ways to the devices, until a description is taken over that brings others.
    pub bmcs: BTreeMap<MachineName, Bmc>,
    /// Makes the way to a BMC whose machine was replaced.
    pub maker: Arc<dyn BmcMaker>,
    pub undercloud: Undercloud,
    /// The way to the undercloud's etcd, if the description gives one.
    pub etcd: Option<EtcdCluster>,
    /// The ways into tenants' clusters.
    pub door: Arc<dyn Door>,
    /// What virtual machines that are to be made need of the vault.
    pub secrets: Arc<dyn Secrets>,
    /// What machines are installed with; nothing if they cannot reach us.
    pub install: Option<InstallDesk>,
    /// Descriptions of the site that the keeper is offered while it keeps it; the newest counts.
    pub offers: watch::Receiver<Option<Arc<Offer>>>,
    /// The turns that it takes with the other keepers of this process.
    pub rota: Rota,
    /// What came with the description that was taken over last. Clones share it: a keeper that begins again goes on
    /// with the newest devices.
    pub taken_over: watch::Sender<Option<Arc<Equipment>>>,
    /// Where the keeper says how it is doing.
    pub state: watch::Sender<KeeperState>,
    /// Where it says what it stands on.
    pub footing: watch::Sender<Footing>,
}

/// Makes drivers of BMCs for hardware that no description names yet.
pub trait BmcMaker: Send + Sync + std::fmt::Debug {
    /// The driver of this machine's BMC, if its hardware is this. Nobody is called yet.
    fn make(&self, machine: &MachineName, hardware: &Hardware) -> Result<Bmc, Fault>;
}

/// A maker for sites whose hardware is never replaced.
#[derive(Clone, Copy, Debug)]
pub struct NeverReplaced;

impl BmcMaker for NeverReplaced {
    fn make(&self, machine: &MachineName, _hardware: &Hardware) -> Result<Bmc, Fault> {
        Err(Fault::new(FaultClass::Unsupported, Delivery::No, format!("the hardware of `{machine}` cannot be replaced here")))
    }
}

/// The ways to a site's devices. A machine whose way is unchanged comes with the driver that it had, so that its
/// session goes on.
#[derive(Clone, Debug)]
pub struct Equipment {
    pub bmcs: BTreeMap<MachineName, Bmc>,
    pub maker: Arc<dyn BmcMaker>,
    pub undercloud: Undercloud,
    pub etcd: Option<EtcdCluster>,
}

/// A description that the keeper is to take over, as a whole or not at all.
#[derive(Debug)]
pub struct Offer {
    site: Site,
    equipment: Arc<Equipment>,
    verdict: watch::Sender<Option<Verdict>>,
}

/// What became of an offered description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    TakenOver {
        forgotten: BTreeSet<MachineName>,
    },
    /// Nothing of it was taken over.
    Refused(Vec<Objection>),
}

impl Offer {
    /// An offer, and where its verdict will stand.
    pub fn new(site: Site, equipment: Arc<Equipment>) -> (Offer, watch::Receiver<Option<Verdict>>) {
        let (verdict, receiver) = watch::channel(None);
        (Offer { site, equipment, verdict }, receiver)
    }
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").field("cluster", &self.cluster).field("holder", &self.holder).field("bmcs", &self.bmcs.len()).finish()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    #[error("the keeper of `{cluster}` cannot use the store")]
    Store {
        cluster: ClusterName,
        #[source]
        source: StoreError,
    },
    #[error("the description of `{cluster}` cannot be taken over")]
    Objections { cluster: ClusterName, objections: Vec<Objection> },
    #[error("there is no cluster `{cluster}` in the store")]
    NoCluster { cluster: ClusterName },
    #[error("document `{key}` cannot be read")]
    Unreadable {
        key: String,
        #[source]
        source: serde_json::Error,
    },
    #[error("operation {id} was written by a newer version (format {found}); use that version")]
    NewerOperation { id: String, found: u32 },
    #[error("the clock was set, or the computer slept: wall time is {step} off")]
    ClockStepped { step: Span },
    #[error("a request to a device broke off in our own code")]
    TaskPanicked,
    #[error("a commit took so long that the lease might run out before the devices have answered")]
    LeaseTooShort,
    /// A plan broke an invariant. Nothing of it was carried out.
    #[error("a plan was stopped because it breaks an invariant: {violation}")]
    Invariant { violation: String },
}
