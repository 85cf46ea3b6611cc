//! Whether this process is of use to those who ask it: what `/readyz` answers.
//!
//! Reads are served either way, from what is known, with its age. A machine that nobody sees is no reason: that is the
//! site's trouble, and sending people to another replica would not mend it.

use std::fmt;

use model::{ClusterName, Footing, KeeperState, Timestamp};

/// What readiness is judged on.
#[derive(Clone, Debug)]
pub struct Vitals {
    pub life: Life,
    pub store: StoreSight,
    /// The clusters that this process keeps.
    pub keepers: Vec<(ClusterName, KeeperState, Footing)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Running,
    /// It was told to stop; what it began is being finished.
    Stopping,
}

/// What the API sees of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreSight {
    Current,
    /// The store has commits that the cache has not taken in, though it had time to.
    Behind {
        by: u64,
    },
    Unreadable {
        error: String,
    },
}

/// One thing without which the process is not ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    Stopping,
    StoreUnreadable { error: String },
    CacheBehind { by: u64 },
    NoKeeper,
    KeeperStarting { cluster: ClusterName },
    LeaseElsewhere { cluster: ClusterName, holder: Option<String> },
    LeaseRunOut { cluster: ClusterName },
    KeeperFailing { cluster: ClusterName, error: String },
}

/// Everything that is missing; nothing if the process is ready.
pub fn readiness(vitals: &Vitals, now: Timestamp) -> Vec<Lack> {
    let stopping = (vitals.life == Life::Stopping).then_some(Lack::Stopping);
    let store = match &vitals.store {
        StoreSight::Current => None,
        StoreSight::Behind { by } => Some(Lack::CacheBehind { by: *by }),
        StoreSight::Unreadable { error } => Some(Lack::StoreUnreadable { error: error.clone() }),
    };
    let none = vitals.keepers.is_empty().then_some(Lack::NoKeeper);
    let keepers = vitals.keepers.iter().filter_map(|(cluster, state, footing)| keeper_lack(cluster, state, footing, now));
    stopping.into_iter().chain(store).chain(none).chain(keepers).collect()
}

fn keeper_lack(cluster: &ClusterName, state: &KeeperState, footing: &Footing, now: Timestamp) -> Option<Lack> {
    let cluster = cluster.clone();
    match state {
        KeeperState::Starting => Some(Lack::KeeperStarting { cluster }),
        KeeperState::AwaitingLease { .. } => {
            Some(Lack::LeaseElsewhere { cluster, holder: footing.lease.as_ref().map(|lease| lease.holder.clone()) })
        }
        KeeperState::Failing { error, .. } => Some(Lack::KeeperFailing { cluster, error: error.clone() }),
        // A keeper renews its lease long before it ends. One whose lease is over hangs, whatever it last said of itself.
        KeeperState::Keeping { .. } => match &footing.lease {
            Some(lease) if lease.expires_at > now => None,
            _ => Some(Lack::LeaseRunOut { cluster }),
        },
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lack::Stopping => f.write_str("the process is stopping"),
            Lack::StoreUnreadable { error } => write!(f, "the store cannot be read: {error}"),
            Lack::CacheBehind { by } => write!(f, "the cache is {by} revisions behind the store"),
            Lack::NoKeeper => f.write_str("no cluster is kept by this process"),
            Lack::KeeperStarting { cluster } => write!(f, "the keeper of `{cluster}` is starting"),
            Lack::LeaseElsewhere { cluster, holder: Some(holder) } => {
                write!(f, "the keeper of `{cluster}` waits for its lease, which `{holder}` has")
            }
            Lack::LeaseElsewhere { cluster, holder: None } => write!(f, "the keeper of `{cluster}` waits for its lease"),
            Lack::LeaseRunOut { cluster } => write!(f, "the keeper of `{cluster}` has not renewed its lease"),
            Lack::KeeperFailing { cluster, error } => write!(f, "the keeper of `{cluster}` is failing: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::HeldLease;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(100_000);

    fn footing(holder: &str, expires_at: i64) -> Footing {
        let lease = HeldLease { holder: holder.to_owned(), expires_at: Timestamp::from_millis(expires_at) };
        Footing { lease: Some(lease), ..Footing::default() }
    }

    fn keeping() -> (KeeperState, Footing) {
        (KeeperState::Keeping { since: Timestamp::EPOCH }, footing("local", 100_001))
    }

    fn lacks(life: Life, store: StoreSight, keepers: &[(KeeperState, Footing)]) -> Vec<String> {
        let named = keepers.iter().enumerate();
        let keepers =
            named.map(|(n, (state, footing))| (ClusterName::new(format!("site{}", n + 1)).unwrap(), state.clone(), footing.clone()));
        let vitals = Vitals { life, store, keepers: keepers.collect() };
        readiness(&vitals, NOW).iter().map(ToString::to_string).collect()
    }

    /// What is missing with one keeper, everything else being well.
    fn of_keeper(state: KeeperState, footing: Footing) -> String {
        lacks(Life::Running, StoreSight::Current, &[(state, footing)]).join("; ")
    }

    #[test]
    fn a_process_that_keeps_all_its_clusters_is_ready() {
        assert_eq!(lacks(Life::Running, StoreSight::Current, &[keeping(), keeping()]), [""; 0]);
    }

    #[test]
    fn each_keeper_must_keep_under_its_own_lease() {
        let since = Timestamp::EPOCH;
        assert_eq!(of_keeper(KeeperState::Starting, Footing::default()), "the keeper of `site1` is starting");
        assert_eq!(
            of_keeper(KeeperState::AwaitingLease { since }, footing("other", 100_001)),
            "the keeper of `site1` waits for its lease, which `other` has"
        );
        assert_eq!(of_keeper(KeeperState::AwaitingLease { since }, Footing::default()), "the keeper of `site1` waits for its lease");
        assert_eq!(
            of_keeper(KeeperState::Failing { since, error: "the disk is full".to_owned() }, footing("local", 100_001)),
            "the keeper of `site1` is failing: the disk is full"
        );
        assert_eq!(of_keeper(KeeperState::Keeping { since }, Footing::default()), "the keeper of `site1` has not renewed its lease");
    }

    #[test]
    fn a_lease_counts_until_the_moment_it_ends() {
        let keeping = KeeperState::Keeping { since: Timestamp::EPOCH };
        assert_eq!(of_keeper(keeping.clone(), footing("local", 100_001)), "");
        assert_eq!(of_keeper(keeping, footing("local", 100_000)), "the keeper of `site1` has not renewed its lease");
    }

    #[test]
    fn everything_that_is_missing_is_named() {
        let unreadable = StoreSight::Unreadable { error: "the store is closed".to_owned() };
        assert_eq!(
            lacks(Life::Stopping, unreadable, &[keeping(), (KeeperState::Starting, Footing::default())]),
            ["the process is stopping", "the store cannot be read: the store is closed", "the keeper of `site2` is starting"]
        );
        assert_eq!(lacks(Life::Running, StoreSight::Behind { by: 3 }, &[keeping()]), ["the cache is 3 revisions behind the store"]);
        assert_eq!(lacks(Life::Running, StoreSight::Current, &[]), ["no cluster is kept by this process"]);
    }
}
