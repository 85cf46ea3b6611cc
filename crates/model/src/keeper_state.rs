//! How a keeper is doing, as its own process knows it. It is not stored: a keeper that cannot write could not say so.

use serde::Serialize;

use crate::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all_fields = "camelCase", tag = "state")]
pub enum KeeperState {
    Starting,
    /// Another process keeps the cluster.
    AwaitingLease {
        since: Timestamp,
    },
    Keeping {
        since: Timestamp,
    },
    /// It broke off, and begins again and again; what is shown of the cluster grows old meanwhile.
    Failing {
        since: Timestamp,
        error: String,
    },
}
