//! What whoever watches sees of tenants.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{
    BudgetSeen, LabelSelector, NodeRole, TenantCluster, TenantClusterName, TenantClusterSeen, TenantMachineSeen, Timestamp, VmName,
};
use plan::{Snapshot, Tenants};

use super::{Lodging, VmBody};

impl Lodging {
    /// What whoever watches sees of it.
    pub fn show(&self, snapshot: &mut Snapshot, now: Timestamp) {
        if let Some(fault) = &self.watch_fault {
            return snapshot.tenants.contact.failed(now, fault.clone());
        }
        snapshot.tenants.contact.answered(now);
        let gone: Vec<VmName> = snapshot.tenants.vms().keys().filter(|name| !self.vms.contains_key(*name)).cloned().collect();
        for name in gone {
            snapshot.tenants.forget_vm(&name);
        }
        for vm in self.vms.values() {
            snapshot.tenants.set_vm(vm.seen.clone());
        }
        let clusters: Vec<TenantClusterName> = self.clusters();
        for cluster in &clusters {
            snapshot.tenants.clusters.insert(cluster.clone(), Arc::new(self.cluster_seen(cluster)));
            let settings = self.policies.get(cluster).cloned().unwrap_or_default();
            let document = TenantCluster {
                name: cluster.clone(),
                cluster: snapshot.cluster.name.clone(),
                settings,
                pools: BTreeMap::new(),
                created_at: Timestamp::EPOCH,
                last_seen: self.cluster_seen(cluster),
                nodes: BTreeMap::new(),
                fault: None,
            };
            snapshot.tenant_clusters.insert(cluster.clone(), Arc::new(document));
            self.show_inside(cluster, &mut snapshot.tenants, now);
        }
    }

    fn clusters(&self) -> Vec<TenantClusterName> {
        let mut clusters: Vec<_> = self.vms.values().filter_map(|vm| vm.seen.node_of.as_ref()).map(|of| of.cluster.clone()).collect();
        clusters.sort();
        clusters.dedup();
        clusters
    }

    fn nodes_of<'a>(&'a self, cluster: &'a TenantClusterName) -> impl Iterator<Item = &'a VmBody> {
        self.vms.values().filter(move |vm| vm.seen.node_of.as_ref().is_some_and(|of| of.cluster == *cluster))
    }

    fn cluster_seen(&self, cluster: &TenantClusterName) -> TenantClusterSeen {
        let machine = |vm: &VmBody| TenantMachineSeen {
            name: vm.seen.name.to_string(),
            uid: "m".into(),
            role: NodeRole::Worker,
            pool: None,
            version: "v1".into(),
            is_skipped: self.skipped.get(vm.seen.name.as_str()).copied().unwrap_or(false),
        };
        TenantClusterSeen {
            name: cluster.clone(),
            uid: "c".into(),
            phase: "Provisioned".into(),
            version: "v1".into(),
            pools: Vec::new(),
            machines: self.nodes_of(cluster).map(machine).collect(),
            created_at: None,
        }
    }

    fn show_inside(&self, cluster: &TenantClusterName, tenants: &mut Tenants, now: Timestamp) {
        let mut inside = tenants.insides.get(cluster).cloned().unwrap_or_default();
        if let Some(fault) = self.api_faults.get(cluster) {
            inside.contact.failed(now, fault.clone());
            tenants.insides.insert(cluster.clone(), inside);
            return;
        }
        inside.contact.answered(now);
        inside.listed_at.get_or_insert(now);
        let nodes = self.nodes_of(cluster).filter_map(|vm| self.nodes.get(vm.seen.name.as_str()));
        inside.nodes = nodes.map(|node| (node.name.clone(), Arc::new(node.clone()))).collect();
        let keys: Vec<_> = inside.pods().keys().cloned().collect();
        for key in keys {
            inside.forget_pod(&key);
        }
        for ((of, _), pod) in &self.pods {
            if of == cluster {
                inside.set_pod(pod.seen.clone());
            }
        }
        inside.budgets =
            self.budgets.iter().map(|(name, allowed)| (("app".to_owned(), name.clone()), Arc::new(budget(name, *allowed)))).collect();
        tenants.insides.insert(cluster.clone(), inside);
    }
}

fn budget(name: &str, allowed: u32) -> BudgetSeen {
    BudgetSeen {
        namespace: "app".into(),
        name: name.into(),
        selector: LabelSelector::nothing(),
        allowed,
        healthy: 1,
        needed: 1,
        is_counted: true,
        spares_unready: false,
    }
}
