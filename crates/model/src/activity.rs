//! Entries of the activity log: who did what to what, and what came of it.
//!
//! An entry says all that is ever shown of it, because what it is about may be gone when somebody reads it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::cluster::{Connection, Home};
use crate::device_ask::DeviceAsk;
use crate::errand::Errand;
use crate::fault::Fault;
use crate::hold::HoldOwner;
use crate::name::{ClusterName, CorrelationId, MachineName, OperationId, RackName, TenantClusterName, VmName};
use crate::operation::{Ended, Target};
use crate::refusal::Refusal;
use crate::step::StepKind;
use crate::text::cleaned;

/// The version of what an entry means. A reader that meets a newer one leaves it out.
pub const ACTIVITY_FORMAT: u32 = 1;

/// The caller of what nobody asked for in person.
pub const OURSELVES: &str = "rackwright";

/// The longest text that a client can bring into an entry, in characters. What it was answered may be longer.
pub const ACTIVITY_TEXT_MAX: usize = 1_000;

/// The longest verb of a request in an entry, in characters; no verb that is known is longer.
pub const ACTIVITY_VERB_MAX: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    pub format: u32,
    pub what: ActivityKind,
    pub subject: Subject,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationId>,
    pub correlation_id: CorrelationId,
    pub caller: String,
    pub status: ActivityStatus,
    /// One sentence for people.
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ActivityError>,
}

/// What an entry is about, and where that was in the Azure dialect then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    pub subscription: String,
    pub resource_group: String,
    pub cluster: ClusterName,
    pub part: Part,
}

/// The cluster as a whole, or what of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind", content = "name")]
pub enum Part {
    Cluster,
    Rack(RackName),
    Machine(MachineName),
    #[serde(rename = "virtualMachine")]
    Vm(VmName),
    #[serde(rename = "kubernetesCluster")]
    TenantCluster(TenantClusterName),
}

impl Part {
    /// Its name; empty for the cluster as a whole, which goes by its own.
    pub fn name(&self) -> &str {
        match self {
            Part::Cluster => "",
            Part::Rack(name) => name.as_str(),
            Part::Machine(name) => name.as_str(),
            Part::Vm(name) => name.as_str(),
            Part::TenantCluster(name) => name.as_str(),
        }
    }

    /// What an operation's entries are about.
    pub fn of(target: &Target) -> Part {
        match target {
            Target::Machine(name) => Part::Machine(name.clone()),
            Target::Vm(name) => Part::Vm(name.clone()),
            Target::TenantNode { cluster, .. } => Part::TenantCluster(cluster.clone()),
            Target::Site(_) => Part::Cluster,
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum ActivityKind {
    /// Somebody asked for something, and was answered. `write` is the verb of an update.
    Request {
        verb: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sent: Option<Sent>,
    },
    /// An accepted action came to its end, or was taken up again by a new keeper.
    Operation { action: Action },
    /// A step of an action is over: its effect was seen, or it was left out.
    Step { action: Action, step: StepKind },
    /// A BMC or a node is asked for something that changes it, or has answered that with a fault.
    Device { ask: DeviceAsk, attempt: u32 },
    /// KubeVirt, Cluster API or a tenant's API is asked for something, or has answered that with a fault.
    Errand { errand: Errand, attempt: u32 },
    /// A node is about to be drained, a budget keeps a pod there, or an operation goes on without something.
    Workload { action: Action },
    /// An installation begins, its machine tells of itself, a volume is about to go, or hardware was compared.
    Installation { action: Action },
    /// A hold was placed on the machine, or released.
    Hold { owner: HoldOwner, change: HoldChange },
    /// The undercloud was heard from again, or has been silent for too long.
    Connection { connection: Connection },
    /// More requests were refused without a verdict than the log takes one by one: how many with each code.
    Refusals { by_code: BTreeMap<String, u64> },
    /// The site's description brought it, changed it or took it out.
    Description { change: DescriptionChange },
}

/// What is kept of an HTTP request. Whoever took it in has seen to it that it is short and printable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    pub method: String,
    /// The id that the client gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_request_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HoldChange {
    Placed,
    Released,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DescriptionChange {
    Written,
    Removed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ActivityStatus {
    Started,
    Accepted,
    InProgress,
    Succeeded,
    Failed,
    Canceled,
}

/// Why something did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum ActivityError {
    /// A rule spoke against it.
    Refused { refusal: Refusal },
    /// It never came to a verdict; `code` is that of the answer.
    Rejected { code: String, message: String, target: Option<String> },
    /// How the operation ended.
    Ended { ended: Ended },
    /// The device answered with a fault, or not at all.
    Faulted { fault: Fault },
}

impl ActivityError {
    /// What a client was answered, cut to what an entry may hold: it can repeat the client's own words.
    pub fn rejected(code: &str, message: &str, target: Option<&str>) -> Self {
        let cut = |text: &str| cleaned(text, ACTIVITY_TEXT_MAX);
        ActivityError::Rejected { code: code.to_owned(), message: cut(message), target: target.map(cut) }
    }
}

impl ActivityKind {
    /// A request by its verb, which may be a word that a client made up.
    pub fn request(verb: &str, sent: Option<&Sent>) -> Self {
        ActivityKind::Request { verb: cleaned(verb, ACTIVITY_VERB_MAX), sent: sent.cloned() }
    }
}

impl Subject {
    pub fn new(home: &Home, cluster: &ClusterName, part: Part) -> Self {
        Subject { subscription: home.subscription.clone(), resource_group: home.resource_group.clone(), cluster: cluster.clone(), part }
    }
}

impl Activity {
    /// What the entry can be found by; see [`labels`].
    pub fn labels(&self) -> Vec<String> {
        let Subject { subscription, resource_group, cluster, part } = &self.subject;
        let (kind, name) = match part {
            Part::Cluster => (PartKind::Cluster, cluster.as_str()),
            Part::Rack(name) => (PartKind::Rack, name.as_str()),
            Part::Machine(name) => (PartKind::Machine, name.as_str()),
            Part::Vm(name) => (PartKind::Vm, name.as_str()),
            Part::TenantCluster(name) => (PartKind::TenantCluster, name.as_str()),
        };
        let mut found_by = vec![
            labels::subscription(subscription),
            labels::resource(subscription, resource_group, kind, name),
            labels::correlation(self.correlation_id.as_str()),
        ];
        if self.status == ActivityStatus::Failed {
            found_by.push(labels::failed(subscription));
        }
        found_by
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    Cluster,
    Rack,
    Machine,
    Vm,
    TenantCluster,
}

/// The labels of entries in the log. They are without case, as the names in them are.
pub mod labels {
    use super::PartKind;

    pub fn subscription(subscription: &str) -> String {
        format!("subscription/{}", subscription.to_ascii_lowercase())
    }

    /// Entries about one resource itself; a cluster's do not contain those of its machines.
    pub fn resource(subscription: &str, group: &str, kind: PartKind, name: &str) -> String {
        let kind = match kind {
            PartKind::Cluster => "cluster",
            PartKind::Rack => "rack",
            PartKind::Machine => "machine",
            PartKind::Vm => "vm",
            PartKind::TenantCluster => "tenant-cluster",
        };
        format!("{kind}/{subscription}/{group}/{name}").to_ascii_lowercase()
    }

    pub fn correlation(id: &str) -> String {
        format!("correlation/{}", id.to_ascii_lowercase())
    }

    /// Entries of a subscription that tell of a failure: few among many, and what people look for.
    pub fn failed(subscription: &str) -> String {
        format!("failed/{}", subscription.to_ascii_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(verb: &str, message: &str) -> Activity {
        let home = Home { subscription: "S1".into(), resource_group: "Site1".into(), location: "here".into() };
        let machine = MachineName::new("Rack1Compute01").unwrap();
        Activity {
            format: ACTIVITY_FORMAT,
            what: ActivityKind::request(verb, Some(&Sent { method: "POST".into(), client_request_id: None })),
            subject: Subject::new(&home, &ClusterName::new("site1").unwrap(), Part::Machine(machine)),
            operation: None,
            correlation_id: CorrelationId::new("ABC"),
            caller: "alice".into(),
            status: ActivityStatus::Failed,
            message: "it was refused".into(),
            error: Some(ActivityError::rejected("InvalidAction", message, None)),
        }
    }

    #[test]
    fn an_entry_is_found_without_case() {
        let labels = rejected("fly", "").labels();
        assert_eq!(labels, ["subscription/s1", "machine/s1/site1/rack1compute01", "correlation/abc", "failed/s1"]);
    }

    #[test]
    fn what_a_client_brings_into_an_entry_is_cut_and_cleaned() {
        let entry = rejected(&"v\n".repeat(1_000), &"\u{1b}x".repeat(5_000));
        assert!(serde_json::to_vec(&entry).unwrap().len() < 2_000);
        let Some(ActivityError::Rejected { message, .. }) = &entry.error else { panic!("it was rejected") };
        assert_eq!((message.chars().count(), message.contains('\u{1b}')), (ACTIVITY_TEXT_MAX, false));
    }

    #[test]
    fn an_entry_survives_json() {
        let entry = rejected("fly", "there is no action `fly`");
        let json = serde_json::to_string(&entry).unwrap();
        assert_eq!(serde_json::from_str::<Activity>(&json).unwrap(), entry);
    }
}
