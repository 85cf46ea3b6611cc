//! All resources of a subscription or a resource group in one list, as `az resource list` asks for it.

use std::collections::BTreeMap;

use axum::response::Response;
use http::StatusCode;
use model::{
    Cluster, ClusterName, Machine, MachineName, Modified, Rack, RackName, TenantCluster, TenantClusterName, Timestamp, Vm, VmName,
};
use serde::Serialize;

use super::expand::Expand;
use super::filter::{Filter, Judged};
use super::resource::ExtendedLocation;
use super::{check_place, machines, parse_place, tenant_clusters, vms};
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
    created_at: Timestamp,
    modified: Option<&'a Modified>,
    is: Is<'a>,
}

/// What tells how it is doing.
enum Is<'a> {
    /// Part of a site that is described: that went well.
    Described,
    Machine(&'a Machine),
    Vm(&'a Vm),
    TenantCluster(&'a TenantCluster),
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
    let expand = Expand::parse(call.query("$expand").unwrap_or_default())?;
    let after = paging.after(Place::parse)?;
    let sight = call.sight()?;
    let rest = items_after(view, &clusters, after.as_ref()).filter(|item| filter.admits(&item.judged()) && sight.sees(&item.id()));
    Ok(json_response(StatusCode::OK, &paging.page(call, rest, Item::token, |item| item.render(view, expand))))
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
        let (name, tags, created_at) = (cluster.name.as_str(), &cluster.tags, cluster.created_at);
        Item { cluster, kind: Kind::Clusters, name, tags, created_at, modified: None, is: Is::Described }
    }

    fn of_rack(cluster: &'a Cluster, rack: &'a Rack) -> Self {
        let (name, tags, created_at) = (rack.name.as_str(), &rack.tags, rack.created_at);
        Item { cluster, kind: Kind::Racks, name, tags, created_at, modified: None, is: Is::Described }
    }

    fn of_machine(cluster: &'a Cluster, machine: &'a Machine) -> Self {
        let (name, tags, created_at) = (machine.name.as_str(), &machine.tags, machine.created_at);
        Item { cluster, kind: Kind::Machines, name, tags, created_at, modified: machine.modified.as_ref(), is: Is::Machine(machine) }
    }

    fn of_vm(cluster: &'a Cluster, vm: &'a Vm) -> Self {
        let (name, tags, created_at) = (vm.name.as_str(), &vm.tags, vm.created_at);
        Item { cluster, kind: Kind::Vms, name, tags, created_at, modified: vm.modified.as_ref(), is: Is::Vm(vm) }
    }

    fn of_tenant_cluster(cluster: &'a Cluster, tenant: &'a TenantCluster) -> Self {
        let (name, tags, created_at) = (tenant.name.as_str(), &tenant.settings.tags, tenant.created_at);
        let (modified, is) = (tenant.settings.modified.as_ref(), Is::TenantCluster(tenant));
        Item { cluster, kind: Kind::TenantClusters, name, tags, created_at, modified, is }
    }

    fn judged(&self) -> Judged<'a> {
        let home = &self.cluster.home;
        let arm_type = self.kind.full_type();
        Judged { name: self.name, arm_type, group: &home.resource_group, location: &home.location, tags: self.tags }
    }

    fn id(&self) -> String {
        links::id_of(self.cluster, self.kind.arm_type(), self.name)
    }

    fn token(&self) -> String {
        match self.kind {
            Kind::Clusters => format!("{}/{}", self.kind.arm_type(), self.name),
            Kind::Racks | Kind::Machines | Kind::Vms | Kind::TenantClusters => {
                format!("{}/{}/{}", self.kind.arm_type(), self.cluster.name, self.name)
            }
        }
    }

    fn provisioning_state(&self, view: &View) -> &'static str {
        match self.is {
            Is::Described => "Succeeded",
            Is::Machine(machine) => machines::provisioning_state_of(view, machine),
            Is::Vm(vm) => vms::provisioning_state(vm),
            Is::TenantCluster(tenant) => tenant_clusters::provisioning_state(tenant),
        }
    }

    fn render(&self, view: &View, expand: Expand) -> Rendered<'a> {
        Rendered {
            changed_time: expand.changed_time.then(|| self.modified.map_or(self.created_at, |modified| modified.at)),
            created_time: expand.created_time.then_some(self.created_at),
            extended_location: ExtendedLocation::of(self.cluster),
            id: self.id(),
            location: &self.cluster.home.location,
            name: self.name,
            provisioning_state: expand.provisioning_state.then(|| self.provisioning_state(view)),
            tags: self.tags,
            r#type: self.kind.full_type(),
        }
    }
}

/// A resource as it stands in this list, in the order of its names.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rendered<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_time: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_time: Option<Timestamp>,
    extended_location: ExtendedLocation,
    id: String,
    location: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    provisioning_state: Option<&'static str>,
    tags: &'a BTreeMap<String, String>,
    r#type: &'static str,
}

#[cfg(test)]
mod tests {
    use http::{Method, StatusCode};
    use model::Timestamp;
    use serde_json::Value;

    use crate::fixtures::{Documents, NOW, cluster, machine, operation, rack, read_pages, send, tenant_cluster, vm};

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
        for wrong in ["$filter=colour%20eq%20'red'", "$expand=createdTime,colour", "$skipToken=toasters/1", "$skipToken=racks/1"] {
            let (status, _) = send(&api, Method::GET, &format!("/subscriptions/s1/resources?api-version=1&{wrong}"), "").await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{wrong}");
        }
    }

    #[tokio::test]
    async fn what_is_expanded_stands_beside_each_resource_and_is_not_there_otherwise() {
        let mut busy = machine("site", "r1", "m1");
        busy.modified =
            Some(model::Modified { by: "alice".into(), at: Timestamp::parse("2026-11-15T15:00:00.000Z").unwrap(), request_key: None });
        let documents = Documents::default().cluster(&cluster("site")).rack(&rack("site", "r1")).machine(&busy).vm(&vm("site", "fw", "m1"));
        let api = documents
            .tenant_cluster(&tenant_cluster("site", "naks", &["m1"]))
            .operation(&operation("op1", "site", "m1", Timestamp::parse(NOW).unwrap()))
            .serve()
            .await;
        let list = |query: &str| format!("/subscriptions/s1/resources?api-version=1{query}");
        let (_, plain) = send(&api, Method::GET, &list(""), "").await;
        let (_, expanded) = send(&api, Method::GET, &list("&$expand=createdTime,%20changedtime,provisioningState"), "").await;
        let told = |answer: &Value| -> Vec<String> {
            let fields = ["name", "createdTime", "changedTime", "provisioningState"];
            let line = |one: &Value| fields.map(|field| one[field].as_str().unwrap_or("-").to_owned()).join(" ");
            answer["value"].as_array().unwrap().iter().map(line).collect()
        };
        assert_eq!(told(&plain), ["site - - -", "r1 - - -", "m1 - - -", "fw - - -", "naks - - -"]);
        let of = |name: &str, changed: &str, state: &str| format!("{name} {NOW} {changed} {state}");
        let later = "2026-11-15T15:00:00.000Z";
        assert_eq!(
            told(&expanded),
            [
                of("site", NOW, "Succeeded"),
                of("r1", NOW, "Succeeded"),
                of("m1", later, "Provisioning"),
                of("fw", NOW, "Succeeded"),
                of("naks", NOW, "Succeeded")
            ]
        );
        assert_eq!(plain["value"][1]["extendedLocation"]["type"], "CustomLocation");
    }
}
