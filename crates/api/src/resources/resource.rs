//! A tracked resource as ARM shows it: what every kind has around its properties.
//!
//! Resources are written as JSON straight from the documents. Fields stand in the order of their names, as in all of our
//! answers.

use model::{Cluster, Modified, Timestamp};
use serde::Serialize;
use serde_json::Value;

use super::Tags;
use crate::links;
use crate::route::Kind;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Resource<'a, P, O = Ours> {
    pub etag: String,
    extended_location: ExtendedLocation,
    pub(super) id: String,
    location: &'a str,
    name: &'a str,
    pub properties: P,
    /// What is ours beside the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rackwright: Option<O>,
    pub system_data: SystemData<'a>,
    tags: &'a Tags,
    pub(super) r#type: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct ExtendedLocation {
    name: String,
    r#type: &'static str,
}

impl ExtendedLocation {
    pub fn of(cluster: &Cluster) -> ExtendedLocation {
        let (home, name) = (&cluster.home, &cluster.name);
        let group = format!("/subscriptions/{}/resourceGroups/{}", home.subscription, home.resource_group);
        ExtendedLocation { name: format!("{group}/providers/Microsoft.ExtendedLocation/customLocations/{name}"), r#type: "CustomLocation" }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SystemData<'a> {
    created_at: Timestamp,
    created_by: &'static str,
    created_by_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified_by_type: Option<&'static str>,
}

/// What a machine tells beside the model. Lists leave out what is `None` here.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ours {
    pub bmc_answered_at: Option<Timestamp>,
    pub bmc_fault: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cordoned_by_others: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evacuated: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installed: Option<Value>,
    pub managed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed_again: Option<Value>,
    pub power_seen_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problems: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_at: Option<Value>,
    pub spare: bool,
    pub undercloud_fault: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unhealthy: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmanaged_reason: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<Vec<Value>>,
}

/// What a resource is known by.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub kind: Kind,
    pub name: &'a str,
    pub created_at: Timestamp,
    /// What tells one state of it from another.
    pub edition: u64,
    pub tags: &'a Tags,
}

impl<'a, P, O> Resource<'a, P, O> {
    pub(super) fn new(cluster: &'a Cluster, known: Known<'a>, properties: P) -> Self {
        let Known { kind, name, created_at, edition, tags } = known;
        Resource {
            etag: super::etag(edition),
            extended_location: ExtendedLocation::of(cluster),
            id: links::id_of(cluster, kind.arm_type(), name),
            location: &cluster.home.location,
            name,
            properties,
            rackwright: None,
            system_data: SystemData {
                created_at,
                created_by: "rackwright",
                created_by_type: "Application",
                last_modified_at: None,
                last_modified_by: None,
                last_modified_by_type: None,
            },
            tags,
            r#type: kind.full_type(),
        }
    }
}

impl<'a> SystemData<'a> {
    pub fn modified(&mut self, modified: &'a Modified) {
        self.last_modified_at = Some(modified.at);
        self.last_modified_by = Some(&modified.by);
        self.last_modified_by_type = Some("User");
    }
}

#[cfg(test)]
mod tests {
    use model::{Delivery, Fault, FaultClass, NodeSeen, Power, Readiness, Seen};
    use serde_json::json;

    use super::*;
    use crate::fixtures::{Documents, NOW, cluster, machine, operation, rack};
    use crate::resources::{clusters, machines, racks};

    fn in_order(resource: &impl Serialize) -> bool {
        let sorted = json!(resource).to_string();
        serde_json::to_string(resource).unwrap() == sorted
    }

    #[tokio::test]
    async fn fields_stand_in_the_order_of_their_names() {
        let at = Timestamp::parse(NOW).unwrap();
        let mut full = machine("site", "r1", "m1");
        full.modified = Some(Modified { by: "alice".into(), at, request_key: None });
        full.last_seen.power = Some(Seen { what: Power::On, at });
        full.last_seen.bmc_fault = Some(Seen { what: Fault::new(FaultClass::Denied, Delivery::No, "x"), at });
        full.last_seen.node = Some(Seen {
            what: NodeSeen {
                name: "m1".into(),
                ready: Readiness::True,
                unschedulable: false,
                cordoned_by_us: false,
                boot_id: "b".into(),
                kubelet_version: "v1".into(),
                os_image: "x".into(),
                machine: "m1".into(),
                internal_ip: Some("10.0.0.1".into()),
                problems: Vec::new(),
            },
            at,
        });
        let documents = Documents::default().cluster(&cluster("site")).rack(&rack("site", "r1")).machine(&full);
        let api = documents.operation(&operation("op1", "site", "m1", at)).serve().await;
        let view = api.cache.view();
        let site = view.clusters.values().next().unwrap();
        assert!(in_order(&machines::render(&view, &site.document, &full)));
        assert!(in_order(&machines::render_in_full(&view, &site.document, &full, at)));
        assert!(in_order(&clusters::render(&view, site)));
        assert!(in_order(&racks::render(&view, &site.document, view.racks_of(&site.document.name).next().unwrap())));
    }
}
