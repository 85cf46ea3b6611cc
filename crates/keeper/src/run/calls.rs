//! Which BMCs are being called, so that the session of one that is replaced is ended after its last call, which might
//! otherwise open another.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::MachineName;
use redfish::Bmc;
use tokio::sync::{OwnedRwLockReadGuard, RwLock};

/// Calls share their machine's lock; whoever ends the session waits until it is free.
#[derive(Debug, Default)]
pub(super) struct Calls {
    under_way: BTreeMap<MachineName, Arc<RwLock<()>>>,
}

/// Held for as long as a call lasts.
pub(super) type Call = OwnedRwLockReadGuard<()>;

impl Calls {
    /// Notes a call of the machine's present BMC.
    pub fn begin(&mut self, machine: &MachineName) -> Option<Call> {
        // Nobody waits for this lock before it is taken out of the map, so it is always free for one more call.
        self.under_way.entry(machine.clone()).or_default().clone().try_read_owned().ok()
    }

    /// Ends the session of a BMC that nobody calls any more from now on.
    pub fn end_session(&mut self, machine: &MachineName, bmc: Bmc) -> impl Future<Output = ()> + Send + 'static {
        let under_way = self.under_way.remove(machine);
        async move {
            if let Some(under_way) = under_way {
                let _last = under_way.write().await;
            }
            bmc.close().await;
        }
    }
}
