//! All resources of a subscription or a resource group in one list, as `az resource list` asks for it.

use std::collections::BTreeMap;

use axum::response::Response;
use http::StatusCode;
use model::{Cluster, ClusterName, Machine, MachineName, Rack, RackName, TenantCluster, TenantClusterName, Vm, VmName};
use serde::Serialize;

use super::filter::{Filter, Judged};
use super::{check_place, parse_place};
use crate::cache::{Versioned, View};
use crate::call::Call;
use crate::links;
use crate::paging::{PAGE_DEFAULT, Paging};
use crate::reply::{Refused, json_response};
use crate::route::Kind;

/// One resource of any kind, with the cluster that it belongs to.
struct Item<'a> {
    cluster: &'a Cluster,
    kind: Kind,
    name: &'a str,
    tags: &'a BTreeMap<String, String>,
}

/// A place in the list: clusters first, then racks, machines, virtual machines and tenants' clusters.
enum Place {
    Cluster(ClusterName),
    Rack((ClusterName, RackName)),
    Machine((ClusterName, MachineName)),
    Vm((ClusterName, VmName)),
    TenantCluster((ClusterName, TenantClusterName)),
}

impl Place {
    fn parse(token: &str) -> Option<Place> {
        let (kind, place) = token.split_once('/')?;
        match Kind::parse(kind)? {
            Kind::Clusters => ClusterName::new(place).ok().map(Place::Cluster),
            Kind::Racks => parse_place(place, RackName::new).map(Place::Rack),
            Kind::Machines => parse_place(place, MachineName::new).map(Place::Machine),
            Kind::Vms => parse_place(place, VmName::new).map(Place::Vm),
            Kind::TenantClusters => parse_place(place, TenantClusterName::new).map(Place::TenantCluster),
        }
    }
}

pub(crate) fn list(view: &View, call: &Call, subscription: &str, group: Option<&str>) -> Result<Response, Refused> {
    let clusters = view.clusters_in(subscription, group);
    if clusters.is_empty() {
        check_place(view, subscription, group)?;
    }
    let paging = Paging::of(call, PAGE_DEFAULT)?;
    let filter = Filter::parse(call.query("$filter").unwrap_or_default())?;
    let after = paging.after(Place::parse)?;
    let rest = items_after(view, &clusters, after.as_ref()).filter(|item| filter.admits(&item.judged()));
    Ok(json_response(StatusCode::OK, &paging.page(call, rest, Item::token, Item::render)))
}

fn items_after<'a>(view: &'a View, clusters: &[&'a Versioned<Cluster>], after: Option<&Place>) -> impl Iterator<Item = Item<'a>> {
    // Of each kind where it begins: nothing for one that is over.
    let whole = (Some(None), Some(None), Some(None), Some(None), Some(None));
    let (own, racks, machines, vms, tenants) = match after {
        None => whole,
        Some(Place::Cluster(place)) => (Some(Some(place.clone())), whole.1, whole.2, whole.3, whole.4),
        Some(Place::Rack(place)) => (None, Some(Some(place)), whole.2, whole.3, whole.4),
        Some(Place::Machine(place)) => (None, None, Some(Some(place)), whole.3, whole.4),
        Some(Place::Vm(place)) => (None, None, None, Some(Some(place)), whole.4),
        Some(Place::TenantCluster(place)) => (None, None, None, None, Some(Some(place))),
    };
    let own = own.into_iter().flat_map(|after: Option<ClusterName>| {
        clusters.iter().filter(move |cluster| after.as_ref().is_none_or(|after| cluster.document.name > *after)).copied()
    });
    let own: Vec<Item> = own.map(|cluster| Item::of_cluster(&cluster.document)).collect();
    let racks = racks.into_iter().flat_map(|after| view.racks_after(clusters, after));
    let machines = machines.into_iter().flat_map(|after| view.machines_after(clusters, after));
    let vms = vms.into_iter().flat_map(|after| view.vms_after(clusters, after));
    let tenants = tenants.into_iter().flat_map(|after| view.tenant_clusters_after(clusters, after));
    let racks = racks.map(|(cluster, rack)| Item::of_rack(&cluster.document, &rack.document));
    let machines = machines.map(|(cluster, machine)| Item::of_machine(&cluster.document, &machine.document));
    let vms = vms.map(|(cluster, vm)| Item::of_vm(&cluster.document, &vm.document));
    let tenants = tenants.map(|(cluster, tenant)| Item::of_tenant_cluster(&cluster.document, &tenant.document));
    own.into_iter().chain(racks).chain(machines).chain(vms).chain(tenants)
}

impl<'a> Item<'a> {
    fn of_cluster(cluster: &'a Cluster) -> Self {
        Item { cluster, kind: Kind::Clusters, name: cluster.name.as_str(), tags: &cluster.tags }
    }

    fn of_rack(cluster: &'a Cluster, rack: &'a Rack) -> Self {
        Item { cluster, kind: Kind::Racks, name: rack.name.as_str(), tags: &rack.tags }
    }

    fn of_machine(cluster: &'a Cluster, machine: &'a Machine) -> Self {
        Item { cluster, kind: Kind::Machines, name: machine.name.as_str(), tags: &machine.tags }
    }

    fn of_vm(cluster: &'a Cluster, vm: &'a Vm) -> Self {
        Item { cluster, kind: Kind::Vms, name: vm.name.as_str(), tags: &vm.tags }
    }

    fn of_tenant_cluster(cluster: &'a Cluster, tenant: &'a TenantCluster) -> Self {
        Item { cluster, kind: Kind::TenantClusters, name: tenant.name.as_str(), tags: &tenant.settings.tags }
    }

    fn judged(&self) -> Judged<'a> {
        let home = &self.cluster.home;
        let arm_type = self.kind.full_type();
        Judged { name: self.name, arm_type, group: &home.resource_group, location: &home.location, tags: self.tags }
    }

    fn token(&self) -> String {
        match self.kind {
            Kind::Clusters => format!("{}/{}", self.kind.arm_type(), self.name),
            Kind::Racks | Kind::Machines | Kind::Vms | Kind::TenantClusters => {
                format!("{}/{}/{}", self.kind.arm_type(), self.cluster.name, self.name)
            }
        }
    }

    fn render(&self) -> Rendered<'a> {
        Rendered {
            id: links::id_of(self.cluster, self.kind.arm_type(), self.name),
            location: &self.cluster.home.location,
            name: self.name,
            tags: self.tags,
            r#type: self.kind.full_type(),
        }
    }
}

/// A resource as it stands in this list, in the order of its names.
#[derive(Debug, Serialize)]
struct Rendered<'a> {
    id: String,
    location: &'a str,
    name: &'a str,
    tags: &'a BTreeMap<String, String>,
    r#type: &'static str,
}

#[cfg(test)]
mod tests {
    use http::{Method, StatusCode};

    use crate::fixtures::{Documents, cluster, machine, rack, read_pages, send};

    #[tokio::test]
    async fn pages_of_any_size_hold_each_resource_once_and_keep_their_filter() {
        let mut documents = Documents::default();
        for site in ["site", "site-b", "site10"] {
            documents = documents.cluster(&cluster(site)).rack(&rack(site, "r1")).rack(&rack(site, "r2"));
            for name in ["m1", "m2", "m10"] {
                let mut machine = machine(site, "r1", name);
                machine.tags.insert("Row".to_owned(), name.to_owned());
                documents = documents.machine(&machine);
            }
        }
        let api = documents.serve().await;
        let kind = "$filter=resourceType%20eq%20'Microsoft.NetworkCloud/bareMetalMachines'";
        let cases =
            [("", 18), (kind, 9), ("$filter=tagName%20eq%20'row'%20and%20tagValue%20eq%20'm10'", 3), ("$filter=name%20eq%20'R1'", 3)];
        for place in ["/subscriptions/S1/resources", "/subscriptions/s1/resourceGroups/G1/resources"] {
            for (filter, count) in cases {
                let list = |top: usize| format!("{place}?api-version=1&{filter}&$top={top}");
                let (_, all) = read_pages(&api, &list(100), "id").await;
                assert_eq!(all.len(), count, "{filter}");
                for top in 1..=all.len() {
                    assert_eq!(
                        read_pages(&api, &list(top), "id").await,
                        (all.len().div_ceil(top), all.clone()),
                        "{filter}, {top} on a page"
                    );
                }
            }
        }
        for wrong in ["$filter=colour%20eq%20'red'", "$skipToken=toasters/1", "$skipToken=racks/1"] {
            let (status, _) = send(&api, Method::GET, &format!("/subscriptions/s1/resources?api-version=1&{wrong}"), "").await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{wrong}");
        }
    }
}
