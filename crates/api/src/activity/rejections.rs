//! Requests that were refused before a keeper saw them, as entries of the activity log.
//!
//! Only what concerns something that is known is written down, and an unknown machine, virtual machine or tenant cluster
//! where it can only have been one cluster's: what is nobody's has no log. How the entries get there, and how many, is in `desk`.

mod desk;

use std::sync::Arc;

use model::{ACTIVITY_FORMAT, Activity, ActivityKind, ActivityStatus, Cluster, CorrelationId, OperationId, Part, Request, Sent, Subject};
use store::NewRecord;

use crate::Api;
use crate::cache::View;
use crate::call::Call;
use crate::operations;
use crate::reply::Refused;
use crate::resources::{Place, machines, tenant_clusters, vms};
use crate::route::Route;
use desk::{Desk, Waiting};

pub use desk::{REJECTIONS_BURST, REJECTIONS_PER_MINUTE};

/// The way of refusals into the log.
#[derive(Debug, Default)]
pub(crate) struct Rejections {
    desk: Arc<Desk>,
}

impl Rejections {
    /// How many refusals have no entry of their own: too many came, or the store did not take them. The log tells how
    /// many of each kind there were.
    pub fn dropped(&self) -> u64 {
        self.desk.dropped()
    }

    /// Writes a refusal down in the background, unless it is in the log already. It never delays the answer.
    pub(crate) fn note(&self, api: &Api, call: &Call, concern: &Concern, refused: &Refused) {
        if refused.is_logged() {
            return;
        }
        let Some(rejected) = concern.find(&api.cache.view()) else { return };
        let cluster = Subject { part: Part::Cluster, ..rejected.subject.clone() };
        let record = rejected.record(&call.caller(), &call.correlation_id, Some(&call.sent()), refused);
        self.desk.take_in(api, Waiting { cluster, code: refused.code(), record });
    }
}

/// What a request that changes something is about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Concern {
    Machine { subscription: String, group: String, name: String, verb: String },
    Vm { subscription: String, group: String, name: String, verb: String },
    TenantCluster { subscription: String, group: String, name: String, verb: String },
    Cluster { subscription: String, group: String, name: String, verb: String },
    Operation { id: String, verb: &'static str },
}

impl Concern {
    fn machine(subscription: &str, group: &str, name: &str, verb: &str) -> Concern {
        Concern::Machine { subscription: subscription.into(), group: group.into(), name: name.into(), verb: verb.into() }
    }

    fn vm(subscription: &str, group: &str, name: &str, verb: &str) -> Concern {
        Concern::Vm { subscription: subscription.into(), group: group.into(), name: name.into(), verb: verb.into() }
    }

    fn cluster(subscription: &str, group: &str, name: &str, verb: &str) -> Concern {
        Concern::Cluster { subscription: subscription.into(), group: group.into(), name: name.into(), verb: verb.into() }
    }

    fn tenant_cluster(subscription: &str, group: &str, name: &str, verb: &str) -> Concern {
        Concern::TenantCluster { subscription: subscription.into(), group: group.into(), name: name.into(), verb: verb.into() }
    }

    pub fn of(route: &Route) -> Option<Concern> {
        match route {
            Route::Act { subscription, group, machine, verb } => Some(Concern::machine(subscription, group, machine, verb)),
            Route::Update { subscription, group, name, .. } => Some(Concern::machine(subscription, group, name, "write")),
            Route::Delete { subscription, group, name } => Some(Concern::machine(subscription, group, name, "delete")),
            Route::ActOnVm { subscription, group, name, verb } => Some(Concern::vm(subscription, group, name, verb)),
            Route::UpdateVm { subscription, group, name, .. } => Some(Concern::vm(subscription, group, name, "write")),
            Route::DeleteVm { subscription, group, name } => Some(Concern::vm(subscription, group, name, "delete")),
            Route::ActOnTenantCluster { subscription, group, name, verb } => Some(Concern::tenant_cluster(subscription, group, name, verb)),
            Route::UpdateTenantCluster { subscription, group, name } | Route::UpdatePool { subscription, group, tenant: name, .. } => {
                Some(Concern::tenant_cluster(subscription, group, name, "write"))
            }
            Route::PutRuntime { subscription, group, cluster, .. } | Route::WriteKeySet { subscription, group, cluster, .. } => {
                Some(Concern::cluster(subscription, group, cluster, "write"))
            }
            Route::DeleteRuntime { subscription, group, cluster, .. } | Route::DeleteKeySet { subscription, group, cluster, .. } => {
                Some(Concern::cluster(subscription, group, cluster, "delete"))
            }
            Route::ActOnCluster { subscription, group, cluster, verb } => Some(Concern::cluster(subscription, group, cluster, verb)),
            Route::CancelOperation { id } => Some(Concern::Operation { id: id.clone(), verb: "cancel" }),
            _ => None,
        }
    }

    /// What it is about, if that is known.
    fn find(&self, view: &View) -> Option<Rejected> {
        match self {
            Concern::Machine { subscription, group, name, verb } => {
                if let Ok((cluster, machine)) = machines::find(view, subscription, group, name) {
                    return Some(Rejected::new(&cluster.document, Part::Machine(machine.document.name.clone()), None, verb));
                }
                of_nobody(view, subscription, group, name, verb)
            }
            Concern::Vm { subscription, group, name, verb } => match vms::find(view, subscription, group, name) {
                Ok((cluster, vm)) => Some(Rejected::new(&cluster.document, Part::Vm(vm.document.name.clone()), None, verb)),
                Err(_) => of_nobody(view, subscription, group, name, verb),
            },
            Concern::TenantCluster { subscription, group, name, verb } => {
                let place = Place { subscription: subscription.clone(), group: group.clone(), name: name.clone() };
                match tenant_clusters::find(view, &place) {
                    Ok((cluster, tenant)) => {
                        Some(Rejected::new(&cluster.document, Part::TenantCluster(tenant.document.name.clone()), None, verb))
                    }
                    Err(_) => of_nobody(view, subscription, group, name, verb),
                }
            }
            Concern::Cluster { subscription, group, name, verb } => {
                let mut clusters = view.clusters_in(subscription, Some(group)).into_iter();
                let cluster = clusters.find(|cluster| cluster.document.name.as_str().eq_ignore_ascii_case(name))?;
                Some(Rejected::new(&cluster.document, Part::Cluster, None, verb))
            }
            Concern::Operation { id, verb } => {
                let (operation, cluster) = operations::find(view, id).ok()?;
                Some(Rejected::new(&cluster, Part::of(&operation.target), Some(operation.id.clone()), verb))
            }
        }
    }
}

/// A name that nobody has is told of the cluster that it was looked for in, if that can only be one.
fn of_nobody(view: &View, subscription: &str, group: &str, name: &str, verb: &str) -> Option<Rejected> {
    let [cluster] = view.clusters_in(subscription, Some(group))[..] else { return None };
    Some(Rejected { about: model::shortened(name), ..Rejected::new(&cluster.document, Part::Cluster, None, verb) })
}

/// What was refused.
struct Rejected {
    subject: Subject,
    /// The name of what it was asked of, as it stands in the entry.
    about: String,
    operation: Option<OperationId>,
    verb: String,
}

impl Rejected {
    fn new(cluster: &Cluster, part: Part, operation: Option<OperationId>, verb: &str) -> Self {
        let about = match &part {
            Part::Cluster => cluster.name.to_string(),
            Part::Rack(name) => name.to_string(),
            Part::Machine(name) => name.to_string(),
            Part::Vm(name) => name.to_string(),
            Part::TenantCluster(name) => name.to_string(),
        };
        Rejected { subject: Subject::new(&cluster.home, &cluster.name, part), about, operation, verb: verb.to_owned() }
    }

    fn record(self, caller: &str, correlation_id: &CorrelationId, sent: Option<&Sent>, refused: &Refused) -> NewRecord {
        let what = ActivityKind::request(&self.verb, sent);
        let message = format!("{} of `{}` was not taken up", model::shortened(&self.verb), self.about);
        let entry = Activity {
            format: ACTIVITY_FORMAT,
            what,
            subject: self.subject,
            operation: self.operation,
            correlation_id: correlation_id.clone(),
            caller: caller.to_owned(),
            status: ActivityStatus::Failed,
            message,
            error: Some(refused.logged()),
        };
        print(&entry)
    }
}

fn print(entry: &Activity) -> NewRecord {
    let value = serde_json::to_vec(entry).expect("an entry has string keys and no failing serializers");
    NewRecord { labels: entry.labels(), value: value.into() }
}

/// The record of a request that is taken back because nobody judged it. It belongs into the commit that takes it back.
pub(crate) fn withdrawn(view: &View, request: &Request, refused: &Refused) -> Option<NewRecord> {
    if request.ask.is_preview() {
        return None;
    }
    let cluster = &view.clusters.get(&request.cluster)?.document;
    let operation = request.ask.operation();
    let of_operation = || Some(Part::of(&view.operations.get(operation?)?.target));
    let part = request.ask.part().or_else(of_operation).unwrap_or(Part::Cluster);
    let rejected = Rejected::new(cluster, part, operation.cloned(), request.ask.verb());
    Some(rejected.record(&request.caller, &request.correlation_id, request.sent.as_ref(), refused))
}

#[cfg(test)]
mod tests;
