//! What the activity log says when a site's description is taken over.

use model::{
    ACTIVITY_FORMAT, ACTIVITY_TEXT_MAX, Activity, ActivityKind, ActivityStatus, Cluster, CorrelationId, DescriptionChange, OURSELVES, Part,
    Site, Subject, Timestamp, cleaned,
};

use crate::enroll::{Enrolment, Stored};
use crate::objection::Objection;

/// The entries of an enrolment: the cluster, its racks and its machines, as far as they are written or forgotten.
pub fn chronicle_enrolment(stored: &Stored, site: &Site, enrolment: &Enrolment, now: Timestamp) -> Vec<Activity> {
    let correlation_id = CorrelationId::new(format!("{}-{}", site.cluster.key(), now.as_millis()));
    let entry = |part: Part, change: DescriptionChange, message: String| Activity {
        format: ACTIVITY_FORMAT,
        what: ActivityKind::Description { change },
        subject: Subject::new(&site.home, &site.cluster, part),
        operation: None,
        correlation_id: correlation_id.clone(),
        caller: OURSELVES.to_owned(),
        status: ActivityStatus::Succeeded,
        message,
        error: None,
    };
    let (written, removed) = (DescriptionChange::Written, DescriptionChange::Removed);
    let mut entries = Vec::new();
    if enrolment.cluster.is_some() {
        let message = told(&format!("cluster `{}`", site.cluster), stored.cluster.is_some());
        entries.push(entry(Part::Cluster, written, message));
    }
    for name in enrolment.racks.keys() {
        let message = told(&format!("rack `{name}`"), stored.racks.contains_key(name));
        entries.push(entry(Part::Rack(name.clone()), written, message));
    }
    for name in enrolment.machines.keys() {
        let message = told(&format!("`{name}`"), stored.machines.contains_key(name));
        entries.push(entry(Part::Machine(name.clone()), written, message));
    }
    for name in &enrolment.forgotten_machines {
        entries.push(entry(Part::Machine(name.clone()), removed, format!("`{name}` was taken out by the site's description")));
    }
    for name in &enrolment.forgotten_racks {
        entries.push(entry(Part::Rack(name.clone()), removed, format!("rack `{name}` was taken out by the site's description")));
    }
    entries
}

/// The entry of a description of which nothing was taken over.
pub fn chronicle_objections(cluster: &Cluster, objections: &[Objection], now: Timestamp) -> Activity {
    let objections: Vec<String> = objections.iter().map(ToString::to_string).collect();
    let message = format!("the site's new description was not taken over: {}", objections.join("; "));
    Activity {
        format: ACTIVITY_FORMAT,
        what: ActivityKind::Description { change: DescriptionChange::Written },
        subject: Subject::new(&cluster.home, &cluster.name, Part::Cluster),
        operation: None,
        correlation_id: CorrelationId::new(format!("{}-{}", cluster.name.key(), now.as_millis())),
        caller: OURSELVES.to_owned(),
        status: ActivityStatus::Failed,
        message: cleaned(&message, ACTIVITY_TEXT_MAX),
        error: None,
    }
}

fn told(what: &str, is_known: bool) -> String {
    if is_known { format!("{what} was changed by the site's description") } else { format!("{what} was added by the site's description") }
}
