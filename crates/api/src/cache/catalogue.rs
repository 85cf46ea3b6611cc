//! Runtimes and key sets among the documents: what machines are installed with.

use imbl::OrdMap;
use model::{Bundle, ClusterName, KeySet, RuntimeVersion, keys};
use store::Revision;

use super::{Versioned, decode};

#[derive(Clone, Debug, Default)]
pub(crate) struct Catalogue {
    pub runtimes: OrdMap<ClusterName, OrdMap<RuntimeVersion, Versioned<Bundle>>>,
    /// By the whole key, which tells the two kinds apart.
    pub key_sets: OrdMap<ClusterName, OrdMap<String, Versioned<KeySet>>>,
}

impl Catalogue {
    /// Takes the document in, if it is one of these; says whether its key is one of theirs.
    pub fn put(&mut self, key: &str, value: &[u8], revision: Revision) -> bool {
        if let Some((cluster, _)) = runtime_of(key) {
            if let Some(document) = decode::<Bundle>(key, value) {
                self.runtimes.entry(cluster).or_default().insert(document.version, Versioned { document, revision });
            }
            true
        } else if key.starts_with(keys::KEYSETS) {
            if let Some(document) = decode::<KeySet>(key, value) {
                let of_cluster = self.key_sets.entry(document.cluster.clone()).or_default();
                of_cluster.insert(key.to_owned(), Versioned { document, revision });
            }
            true
        } else {
            false
        }
    }

    pub fn remove(&mut self, key: &str) {
        if let Some((cluster, version)) = runtime_of(key) {
            self.runtimes.get_mut(&cluster).map(|runtimes| runtimes.remove(&version));
        } else if let Some((cluster, _)) = key.strip_prefix(keys::KEYSETS).and_then(|place| place.split_once('/'))
            && let Ok(cluster) = ClusterName::new(cluster)
        {
            self.key_sets.get_mut(&cluster).map(|key_sets| key_sets.remove(key));
        }
    }
}

/// Which runtime a key is of; the document itself does not name its cluster.
fn runtime_of(key: &str) -> Option<(ClusterName, RuntimeVersion)> {
    let (cluster, version) = key.strip_prefix(keys::RUNTIMES)?.split_once('/')?;
    Some((ClusterName::new(cluster).ok()?, RuntimeVersion::parse(version).ok()?))
}
