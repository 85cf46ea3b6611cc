//! What is no longer needed: operations past their keeping, requests that nobody came back for.

use model::{Timestamp, VERDICT_LIFE};

use crate::draft::Draft;

pub(crate) fn plan_sweep(draft: &mut Draft, now: Timestamp) {
    let keep = draft.after.cluster.limits.operation_retention;
    let old: Vec<_> = draft.after.ended().take_while(|(at, _)| *at + keep <= now).map(|(_, id)| id.clone()).collect();
    for id in old {
        draft.forget_operation(id);
    }
    let oldest = draft.after.ended().next().map(|(at, _)| *at);
    if let Some(at) = oldest {
        draft.wake_at(at + keep);
    }
    let abandoned: Vec<_> = draft
        .after
        .requests
        .values()
        .filter(|request| request.verdict.is_some() && request.expires_at + VERDICT_LIFE <= now)
        .map(|request| request.id.clone())
        .collect();
    for id in abandoned {
        draft.forget_request(id);
    }
    let next = draft.after.requests.values().map(|request| request.expires_at + VERDICT_LIFE).min();
    if let Some(at) = next {
        draft.wake_at(at);
    }
}
