//! Runtimes, key sets, validations and inventories among the documents: what machines are installed with, whether they are what they
//! should be, and what they have.

use imbl::OrdMap;
use model::{Bundle, ClusterName, Inventoried, KeySet, MachineName, RuntimeVersion, Validation, keys};
use store::Revision;

use super::{Versioned, View, decode};

#[derive(Clone, Debug, Default)]
pub(crate) struct Catalogue {
    pub runtimes: OrdMap<ClusterName, OrdMap<RuntimeVersion, Versioned<Bundle>>>,
    /// By the whole key, which tells the two kinds apart.
    pub key_sets: OrdMap<ClusterName, OrdMap<String, Versioned<KeySet>>>,
    validations: OrdMap<ClusterName, OrdMap<MachineName, Versioned<Validation>>>,
    inventories: OrdMap<ClusterName, OrdMap<MachineName, Versioned<Inventoried>>>,
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
        } else if key.starts_with(keys::VALIDATIONS) {
            if let Some(document) = decode::<Validation>(key, value) {
                let of_cluster = self.validations.entry(document.cluster.clone()).or_default();
                of_cluster.insert(document.machine.clone(), Versioned { document, revision });
            }
            true
        } else if key.starts_with(keys::INVENTORIES) {
            if let Some(document) = decode::<Inventoried>(key, value) {
                let of_cluster = self.inventories.entry(document.cluster.clone()).or_default();
                of_cluster.insert(document.machine.clone(), Versioned { document, revision });
            }
            true
        } else {
            // Logs of installations are read from the store when somebody asks for one: they are long, and seldom asked for.
            key.starts_with(keys::INSTALL_LOGS)
        }
    }

    pub fn remove(&mut self, key: &str) {
        if let Some((cluster, version)) = runtime_of(key) {
            self.runtimes.get_mut(&cluster).map(|runtimes| runtimes.remove(&version));
        } else if let Some((cluster, _)) = key.strip_prefix(keys::KEYSETS).and_then(|place| place.split_once('/'))
            && let Ok(cluster) = ClusterName::new(cluster)
        {
            self.key_sets.get_mut(&cluster).map(|key_sets| key_sets.remove(key));
        } else if let Some((cluster, machine)) = key.strip_prefix(keys::VALIDATIONS).and_then(|place| place.split_once('/'))
            && let (Ok(cluster), Ok(machine)) = (ClusterName::new(cluster), MachineName::new(machine))
        {
            self.validations.get_mut(&cluster).map(|validations| validations.remove(&machine));
        } else if let Some((cluster, machine)) = key.strip_prefix(keys::INVENTORIES).and_then(|place| place.split_once('/'))
            && let (Ok(cluster), Ok(machine)) = (ClusterName::new(cluster), MachineName::new(machine))
        {
            self.inventories.get_mut(&cluster).map(|inventories| inventories.remove(&machine));
        }
    }
}

impl View {
    /// The latest validation of a machine.
    pub fn validation(&self, cluster: &ClusterName, machine: &MachineName) -> Option<&Versioned<Validation>> {
        self.catalogue.validations.get(cluster)?.get(machine)
    }
}

impl View {
    /// What the agent of its latest installation has found in a machine.
    pub fn inventory(&self, cluster: &ClusterName, machine: &MachineName) -> Option<&Versioned<Inventoried>> {
        self.catalogue.inventories.get(cluster)?.get(machine)
    }
}

/// Which runtime a key is of; the document itself does not name its cluster.
fn runtime_of(key: &str) -> Option<(ClusterName, RuntimeVersion)> {
    let (cluster, version) = key.strip_prefix(keys::RUNTIMES)?.split_once('/')?;
    Some((ClusterName::new(cluster).ok()?, RuntimeVersion::parse(version).ok()?))
}
