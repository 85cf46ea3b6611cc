//! A BMC to be checked: how to reach it, who we are to it, and what it does not offer.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::Uri;
use model::Fault;
use redfish::{Bmc, Credentials, Login, Transport};
use tokio::time::Instant;

/// Something that a BMC may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ability {
    /// A boot source for one start reads back as such.
    BootOnce,
    BootHttp,
    Processors,
    Memory,
    Drives,
    Volumes,
    Nics,
    FirmwareInventory,
    FirmwareUpdate,
    Jobs,
    StorageReset,
    /// A volume for the operating system can be made.
    OsVolume,
    /// How much memory there is, and how many processors.
    Sums,
    Sensors,
    PowerSupplies,
    Logs,
    BootOptions,
    License,
    Accounts,
    BmcReset,
    Events,
}

/// What a check found lacking.
pub type Lacks = BTreeSet<Ability>;

#[derive(Clone)]
pub struct Peer {
    pub transport: Transport,
    pub base: String,
    pub user: String,
    pub password: String,
    /// An image that the peer can fetch, if it fetches images at all.
    pub image: Uri,
    /// How long an effect may take to be seen.
    pub patience: Duration,
    /// How long after power-on the machine has an operating system that obeys.
    pub boot_time: Duration,
    pub lacks: &'static [Ability],
}

struct Known(Login);

#[async_trait]
impl Credentials for Known {
    async fn login(&self) -> Result<Login, Fault> {
        Ok(self.0.clone())
    }
}

impl Peer {
    pub fn bmc(&self) -> Bmc {
        self.bmc_as(&self.user, &self.password)
    }

    pub fn bmc_as(&self, user: &str, password: &str) -> Bmc {
        Bmc::new(self.transport.clone(), self.base.parse().unwrap(), Arc::new(Known(Login::new(user, password))))
    }

    /// Looks every second until `seen`; a peer that does not get there in its time fails the test.
    pub async fn until(&self, what: &str, mut seen: impl AsyncFnMut() -> bool) {
        let deadline = Instant::now() + self.patience;
        while !seen().await {
            assert!(Instant::now() < deadline, "{what} was not seen within {:?}", self.patience);
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}

/// What the BMC gave, or nothing if it does not offer it. Any other fault fails the test.
pub fn offered<T>(outcome: Result<T, Fault>, ability: Ability, lacks: &mut Lacks) -> Option<T> {
    match outcome {
        Ok(given) => Some(given),
        // A 400 that names no message may pass for all that a driver can know. Nothing else goes on here, so it means never.
        Err(fault) if fault.class == model::FaultClass::Unsupported || fault.detail.contains(" answered 400") => {
            lacks.insert(ability);
            None
        }
        Err(fault) => panic!("{ability:?}: {fault}"),
    }
}
