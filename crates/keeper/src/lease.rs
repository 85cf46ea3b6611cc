//! The right to write for a cluster, and the proof that it lasts long enough to ask a device.

use model::{ClusterName, Footing, HeldLease, Span, keys};
use store::{Lease, SharedStore, StoreError};
use tokio::sync::watch;
use tokio::time::{Duration, Instant};
use tracing::info;

use crate::{DEVICE_TIMEOUT, LEASE_TTL};

#[derive(Debug)]
pub(crate) struct Tenure {
    lease: Lease,
    /// Monotonic, counted from before the renewal was sent: the store's idea of the end is never earlier.
    valid_until: Instant,
    /// A predecessor's last device request may still be on its way before this.
    quiet_until: Instant,
}

impl Tenure {
    /// Waits until the lease is ours. Who has it meanwhile is told in `footing`.
    pub async fn begin(
        store: &SharedStore,
        cluster: &ClusterName,
        holder: &str,
        footing: &watch::Sender<Footing>,
    ) -> Result<Tenure, StoreError> {
        let name = keys::keeper_lease(cluster);
        let mut waited = false;
        loop {
            let before = Instant::now();
            match store.acquire_lease(&name, holder, LEASE_TTL).await {
                Ok(lease) => {
                    let quiet = if waited { DEVICE_TIMEOUT } else { Span::ZERO };
                    tell(footing, &lease.holder, lease.expires_at);
                    return Ok(Tenure { lease, valid_until: before + LEASE_TTL.to_std(), quiet_until: before + quiet.to_std() });
                }
                Err(StoreError::LeaseHeld { holder, until, .. }) => {
                    if !waited {
                        info!(%cluster, %holder, "another keeper has this cluster; waiting");
                    }
                    tell(footing, &holder, until);
                    waited = true;
                    tokio::time::sleep(RETRY_EVERY).await;
                }
                Err(other) => return Err(other),
            }
        }
    }

    pub fn fence(&self) -> store::Fence {
        self.lease.fence()
    }

    pub fn renew_at(&self) -> Instant {
        self.valid_until - LEASE_TTL.to_std() * 2 / 3
    }

    pub async fn renew(&mut self, store: &SharedStore, footing: &watch::Sender<Footing>) -> Result<(), StoreError> {
        let before = Instant::now();
        self.lease = store.renew_lease(&self.lease, LEASE_TTL).await?;
        self.valid_until = before + LEASE_TTL.to_std();
        tell(footing, &self.lease.holder, self.lease.expires_at);
        Ok(())
    }

    /// Whether a device may be asked now: our lease outlives the request, and our predecessor's has been answered.
    pub fn may_ask(&self) -> bool {
        let now = Instant::now();
        now >= self.quiet_until && now + DEVICE_TIMEOUT.to_std() <= self.valid_until
    }

    /// When asking may be allowed again: after the predecessor's quiet time, or after a renewal.
    pub fn ask_again_at(&self) -> Instant {
        if Instant::now() < self.quiet_until { self.quiet_until } else { self.renew_at().max(Instant::now() + RETRY_EVERY) }
    }

    pub async fn end(self, store: &SharedStore, footing: &watch::Sender<Footing>) {
        // A lease that is not given back runs out by itself.
        let _ = store.release_lease(&self.lease).await;
        footing.send_modify(|footing| footing.lease = None);
    }
}

fn tell(footing: &watch::Sender<Footing>, holder: &str, expires_at: model::Timestamp) {
    footing.send_modify(|footing| footing.lease = Some(HeldLease { holder: holder.to_owned(), expires_at }));
}

/// How often a waiting keeper asks for the lease.
const RETRY_EVERY: Duration = Duration::from_secs(1);
