//! Sweeping judged requests away, many at once: where a thousand machines report, a commit for each would be nearly half of all
//! commits. Nobody waits for it, and what is not swept when a process dies, the keeper sweeps later.

use std::sync::{Arc, Mutex, PoisonError};

use model::Span;
use store::Commit;
use tracing::error;

use crate::Api;

/// How long a judged request lies there at most: long enough that those of many machines go together, short enough that none is in
/// anybody's way.
pub(crate) const SWEPT_AFTER: Span = Span::millis(100);

/// The keys of what is swept next. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Broom(Arc<Mutex<Vec<String>>>);

impl Broom {
    /// Takes the keys that have come together.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether it is the first since the last sweep, whose sweep takes along what comes until then.
    fn add(&self, key: String) -> bool {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        keys.push(key);
        keys.len() == 1
    }
}

/// Has a judged request swept away soon.
pub(crate) fn sweep_soon(api: &Api, key: String) {
    if !api.broom.add(key) {
        return;
    }
    let (broom, store) = (api.broom.clone(), api.store.clone());
    // A stop waits for it as for an answer, and so leaves nothing behind.
    let answering = api.process.answering.token();
    tokio::spawn(async move {
        // The store is let go first.
        let (_answering, store) = (answering, store);
        tokio::time::sleep(SWEPT_AFTER.to_std()).await;
        let sweep = broom.take().into_iter().fold(Commit::default(), Commit::delete);
        if let Err(problem) = store.commit(sweep).await {
            error!(error = %problem, "judged requests could not be swept away; their keepers do it later");
        }
    });
}

#[cfg(test)]
mod tests {
    use model::keys;

    use super::*;
    use crate::fixtures::{Documents, cluster};

    /// Leaves so many judged requests in the store of an API.
    async fn littered(count: usize) -> (Api, Vec<String>) {
        let api = Documents::default().cluster(&cluster("site")).serve().await;
        let keys: Vec<String> = (0..count).map(|n| format!("{}site/{n:02}", keys::REQUESTS)).collect();
        let litter = keys.iter().fold(Commit::default(), |commit, key| commit.put(key.as_str(), "{}"));
        api.store.commit(litter).await.unwrap();
        (api, keys)
    }

    async fn left(api: &Api) -> (usize, u64) {
        let listing = api.store.list(keys::REQUESTS).await.unwrap();
        (listing.documents.len(), listing.revision.0)
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_judged_within_a_moment_is_swept_in_one_commit() {
        let (api, keys) = littered(30).await;
        let (_, revision) = left(&api).await;
        let (first, later) = keys.split_at(20);
        first.iter().for_each(|key| sweep_soon(&api, key.clone()));
        assert_eq!(left(&api).await, (30, revision), "nobody waits for it");
        tokio::time::sleep(SWEPT_AFTER.to_std() * 2).await;
        assert_eq!(left(&api).await, (10, revision + 1));
        later.iter().for_each(|key| sweep_soon(&api, key.clone()));
        tokio::time::sleep(SWEPT_AFTER.to_std() * 2).await;
        assert_eq!(left(&api).await, (0, revision + 2), "what comes later begins anew");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_waits_for_the_sweep() {
        let (api, keys) = littered(3).await;
        keys.into_iter().for_each(|key| sweep_soon(&api, key));
        api.process.answering.close();
        api.process.answering.wait().await;
        assert_eq!(left(&api).await.0, 0);
    }
}
