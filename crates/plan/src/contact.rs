//! Whether the undercloud counts as connected.

use model::{Cluster, Connection, Contact, Eye, Fault, Limits, Seen, Timestamp, Wait, WaitKind};

use crate::draft::Draft;
use crate::snapshot::Snapshot;

/// A cluster is `Timeout`, then `Disconnected`, when nothing was heard for too long; one answer sets it right.
///
/// Before the first answer silence counts from the keeper's start: a keeper that has just come up has not listened yet.
pub(crate) fn plan_connection(draft: &mut Draft, now: Timestamp) {
    let limits = &draft.after.cluster.limits;
    let heard_at = draft.after.undercloud.answered_at;
    let silent_since = heard_at.unwrap_or(draft.after.keeper_started_at);
    let silence = now.since(silent_since);
    let connection = if silence > limits.connection_lost {
        Connection::Disconnected
    } else if silence > limits.connection_timeout {
        Connection::Timeout
    } else if heard_at.is_some() {
        Connection::Connected
    } else {
        draft.after.cluster.connection
    };
    let next_change = [limits.connection_timeout, limits.connection_lost]
        .into_iter()
        .map(|span| silent_since + span + model::Span::millis(1))
        .find(|at| *at > now);
    if let Some(at) = next_change {
        draft.wake_at(at);
    }
    let mut cluster = (*draft.after.cluster).clone();
    if cluster.connection != connection {
        cluster.connection = connection;
        cluster.connection_since = now;
    }
    let silence = silence_wait(&draft.after.undercloud, &cluster, now);
    // A silent undercloud is silent about tenants too.
    let of_tenants = || tenants_silence(&draft.after, now).map(|failing| tenants_wait(&cluster.limits, failing));
    cluster.waits = silence.or_else(of_tenants).into_iter().collect();
    draft.save_cluster(cluster);
}

/// One wait for the whole site: a silent undercloud is not a thousand machines' trouble.
fn silence_wait(undercloud: &Contact, cluster: &Cluster, now: Timestamp) -> Option<Wait> {
    let failing = run_of_failures(undercloud, known_silence(cluster).as_ref(), now)?;
    let kind = WaitKind::Device { eye: Eye::Undercloud, fault: failing.what, retry_every: cluster.limits.last_retry };
    Some(Wait { kind, since: failing.at, expected_by: Some(failing.at + cluster.limits.connection_timeout) })
}

/// The fault that the present silence of the undercloud is known by.
pub fn known_silence(cluster: &Cluster) -> Option<Seen<Fault>> {
    known_fault(cluster, Eye::Undercloud)
}

fn known_fault(cluster: &Cluster, of: Eye) -> Option<Seen<Fault>> {
    cluster.waits.iter().find_map(|wait| match &wait.kind {
        WaitKind::Device { eye, fault, .. } if *eye == of => Some(Seen { what: fault.clone(), at: wait.since }),
        _ => None,
    })
}

/// Why nothing new is heard of virtual machines and tenant clusters, though the undercloud may be heard of otherwise. What was
/// listed before is not believed meanwhile.
pub(crate) fn tenants_silence(snapshot: &Snapshot, now: Timestamp) -> Option<Seen<Fault>> {
    run_of_failures(&snapshot.tenants.contact, known_fault(&snapshot.cluster, Eye::Tenants).as_ref(), now)
}

pub(crate) fn tenants_wait(limits: &Limits, failing: Seen<Fault>) -> Wait {
    let kind = WaitKind::Device { eye: Eye::Tenants, fault: failing.what, retry_every: limits.last_retry };
    Wait { kind, since: failing.at, expected_by: Some(failing.at + limits.connection_timeout) }
}

/// Whether what is known of virtual machines and tenant clusters is what there is now.
pub(crate) fn are_tenants_heard(snapshot: &Snapshot) -> bool {
    let Snapshot { tenants, undercloud, .. } = snapshot;
    tenants.listed_at.is_some() && tenants.contact.fault.is_none() && undercloud.fault.is_none()
}

/// What a device that fails is known by: the first fault of its class and when that was, as long as the class is the
/// same. The words of a fault may change with every look, and only a transition is worth storing.
pub(crate) fn run_of_failures(contact: &Contact, known: Option<&Seen<Fault>>, now: Timestamp) -> Option<Seen<Fault>> {
    let fault = contact.fault.as_ref()?;
    let known = known.filter(|known| known.what.class == fault.class).cloned();
    Some(known.unwrap_or_else(|| Seen { what: fault.clone(), at: contact.failing_since.unwrap_or(now) }))
}

/// The fault of a silent undercloud, in the words that it is known by.
pub(crate) fn undercloud_fault(snapshot: &Snapshot) -> Option<Fault> {
    run_of_failures(&snapshot.undercloud, known_silence(&snapshot.cluster).as_ref(), snapshot.keeper_started_at).map(|failing| failing.what)
}
