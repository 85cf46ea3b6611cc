//! Whether the undercloud counts as connected.

use model::{Connection, Contact, Eye, Limits, Timestamp, Wait, WaitKind};

use crate::cadence;
use crate::draft::Draft;

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
    cluster.waits = silence_wait(&draft.after.undercloud, &cluster.limits, now).into_iter().collect();
    draft.save_cluster(cluster);
}

/// One wait for the whole site: a silent undercloud is not a thousand machines' trouble.
fn silence_wait(undercloud: &Contact, limits: &Limits, now: Timestamp) -> Option<Wait> {
    let fault = undercloud.fault.clone()?;
    let since = undercloud.failing_since.unwrap_or(now);
    let retry_at = cadence::retry_at(undercloud, limits).unwrap_or(now);
    let kind = WaitKind::Device { eye: Eye::Undercloud, fault, retry_at };
    Some(Wait { kind, since, expected_by: Some(since + limits.connection_timeout) })
}
