//! Virtual machines and tenant clusters among the documents, and which of them are on which machine.

use imbl::{OrdMap, OrdSet};
use model::{ClusterName, MachineName, TenantCluster, TenantClusterName, Vm, VmName, keys};
use store::Revision;

use super::{Versioned, decode};

/// What is on a machine. Clusters come before virtual machines, as their types do in the alphabet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Workload {
    Vm(VmName),
    TenantCluster(TenantClusterName),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Workloads {
    pub vms: OrdMap<ClusterName, OrdMap<VmName, Versioned<Vm>>>,
    pub clusters: OrdMap<ClusterName, OrdMap<TenantClusterName, Versioned<TenantCluster>>>,
    by_machine: OrdMap<(ClusterName, MachineName), OrdSet<Workload>>,
}

impl Workloads {
    /// Takes the document in, if it is one of these; says whether its key is one of theirs.
    pub fn put(&mut self, key: &str, value: &[u8], revision: Revision) -> bool {
        if key.starts_with(keys::VMS) {
            if let Some(document) = decode::<Vm>(key, value) {
                let (cluster, name) = (document.cluster.clone(), document.name.clone());
                self.unplace(&cluster, &Workload::Vm(name.clone()));
                self.place(&cluster, document.machine.iter(), &Workload::Vm(name.clone()));
                self.vms.entry(cluster).or_default().insert(name, Versioned { document, revision });
            }
            true
        } else if key.starts_with(keys::TENANT_CLUSTERS) {
            if let Some(document) = decode::<TenantCluster>(key, value) {
                let (cluster, name) = (document.cluster.clone(), document.name.clone());
                self.unplace(&cluster, &Workload::TenantCluster(name.clone()));
                let machines = document.nodes.values().filter_map(|node| node.machine.as_ref());
                self.place(&cluster, machines, &Workload::TenantCluster(name.clone()));
                self.clusters.entry(cluster).or_default().insert(name, Versioned { document, revision });
            }
            true
        } else {
            false
        }
    }

    pub fn remove(&mut self, key: &str) {
        if let Some((cluster, name)) = key.strip_prefix(keys::VMS).and_then(|place| place.split_once('/')) {
            if let (Ok(cluster), Ok(name)) = (ClusterName::new(cluster), VmName::new(name)) {
                self.unplace(&cluster, &Workload::Vm(name.clone()));
                self.vms.get_mut(&cluster).map(|vms| vms.remove(&name));
            }
        } else if let Some((cluster, name)) = key.strip_prefix(keys::TENANT_CLUSTERS).and_then(|place| place.split_once('/'))
            && let (Ok(cluster), Ok(name)) = (ClusterName::new(cluster), TenantClusterName::new(name))
        {
            self.unplace(&cluster, &Workload::TenantCluster(name.clone()));
            self.clusters.get_mut(&cluster).map(|clusters| clusters.remove(&name));
        }
    }

    fn place<'a>(&mut self, cluster: &ClusterName, machines: impl Iterator<Item = &'a MachineName>, what: &Workload) {
        for machine in machines {
            self.by_machine.entry((cluster.clone(), machine.clone())).or_default().insert(what.clone());
        }
    }

    /// Takes it off the machines that it is on as its present document says.
    fn unplace(&mut self, cluster: &ClusterName, what: &Workload) {
        let machines: Vec<MachineName> = match what {
            Workload::Vm(name) => {
                let vm = self.vms.get(cluster).and_then(|vms| vms.get(name));
                vm.and_then(|vm| vm.document.machine.clone()).into_iter().collect()
            }
            Workload::TenantCluster(name) => {
                let tenant = self.clusters.get(cluster).and_then(|clusters| clusters.get(name));
                tenant.into_iter().flat_map(|tenant| tenant.document.nodes.values().filter_map(|node| node.machine.clone())).collect()
            }
        };
        for machine in machines {
            let place = (cluster.clone(), machine);
            if let Some(there) = self.by_machine.get_mut(&place) {
                there.remove(what);
                if there.is_empty() {
                    self.by_machine.remove(&place);
                }
            }
        }
    }

    /// What is on a machine, or was last: clusters first, each by name.
    pub fn on(&self, cluster: &ClusterName, machine: &MachineName) -> impl Iterator<Item = &Workload> {
        self.by_machine.get(&(cluster.clone(), machine.clone())).into_iter().flatten()
    }
}
