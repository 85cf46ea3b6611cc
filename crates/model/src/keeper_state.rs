//! How a keeper is doing, as its own process knows it. It is not stored: a keeper that cannot write could not say so.

use serde::Serialize;

use crate::time::Timestamp;

/// What a keeper stands on: its lease, and how fresh what it knows is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Footing {
    /// Who has the right to keep the cluster; `None` before anybody was found to have it.
    pub lease: Option<HeldLease>,
    pub looks: Looks,
}

/// A change of the site file that was not taken over: the site is kept as it was described before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteFileRefused {
    pub since: Timestamp,
    /// One line for people.
    pub problem: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldLease {
    pub holder: String,
    pub expires_at: Timestamp,
}

/// When the machines of a cluster last told something of themselves, through their BMCs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Looks {
    /// Machines that have not answered since the keeper began: only what was stored before is known of them.
    pub unseen: usize,
    /// The machine that was silent longest.
    pub oldest_at: Option<Timestamp>,
    pub newest_at: Option<Timestamp>,
}

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
