//! Requests whose senders wait for a verdict. Each is woken for its own and for nothing else: where a thousand machines report at
//! once, a thousand wait, and hundreds of changes come in between.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{RequestId, Verdict, keys};
use store::Change;
use tokio::sync::oneshot;

use super::{Cache, View};

#[derive(Debug, Default)]
pub(super) struct Verdicts(Mutex<BTreeMap<RequestId, oneshot::Sender<Verdict>>>);

impl Verdicts {
    /// Tells those whose requests these changes have judged.
    pub fn tell(&self, changes: &[Change], view: &View) {
        let mut waiting = self.lock();
        for change in changes.iter().filter(|change| change.key.starts_with(keys::REQUESTS)) {
            let id = RequestId::new(change.key.rsplit('/').next().unwrap_or_default());
            if let Some(verdict) = verdict_in(view, &id)
                && let Some(sender) = waiting.remove(&id)
            {
                // One that does not wait any more was too late.
                drop(sender.send(verdict));
            }
        }
    }

    /// The same after everything was read again.
    pub fn tell_all(&self, view: &View) {
        let mut waiting = self.lock();
        let judged: Vec<(RequestId, Verdict)> =
            waiting.keys().filter_map(|id| verdict_in(view, id).map(|verdict| (id.clone(), verdict))).collect();
        for (id, verdict) in judged {
            if let Some(sender) = waiting.remove(&id) {
                drop(sender.send(verdict));
            }
        }
    }

    #[cfg(test)]
    pub fn waits_for_nobody(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<RequestId, oneshot::Sender<Verdict>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn verdict_in(view: &View, id: &RequestId) -> Option<Verdict> {
    view.requests.get(id).and_then(|judged| judged.verdict.clone())
}

/// A place among those who wait, given up when it is dropped.
struct Waiting<'a> {
    cache: &'a Arc<Cache>,
    id: &'a RequestId,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.cache.verdicts.lock().remove(self.id);
    }
}

impl Cache {
    /// The verdict of a request, once there is one. One sender waits for one request.
    pub(crate) async fn verdict(self: &Arc<Cache>, id: &RequestId) -> Verdict {
        let (sender, verdict) = oneshot::channel();
        self.verdicts.lock().insert(id.clone(), sender);
        let _waiting = Waiting { cache: self, id };
        // It may have come before anybody waited for it.
        if let Some(verdict) = verdict_in(&self.view(), id) {
            return verdict;
        }
        match verdict.await {
            Ok(verdict) => verdict,
            // Somebody else waits for the same request now; nobody is to.
            Err(_) => std::future::pending().await,
        }
    }
}
