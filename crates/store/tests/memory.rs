//! The memory store does what every store must do.

use std::sync::{Arc, Mutex};

use model::{Clock, Timestamp};
use store::conformance::Subject;
use store::{Commit, MemoryStore, Retention, Revision, SharedStore, Store, StoreError, TokioClock};

async fn make(clock: Arc<dyn Clock>, retention: Retention) -> Subject {
    Subject { store: Arc::new(MemoryStore::new(clock).with_retention(retention)), keep: Box::new(()) }
}

store::conformance_tests!(make);

#[tokio::test]
async fn memory_is_not_copied() {
    let store = MemoryStore::new(Arc::new(TokioClock::starting_at(Timestamp::EPOCH)));
    assert!(matches!(store.copy().await.unwrap_err(), StoreError::Unsupported));
}

/// A simulation takes the same course every time only if this order is not left to chance.
#[tokio::test(start_paused = true)]
async fn watchers_are_woken_in_the_order_in_which_they_began_to_wait() {
    let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(TokioClock::starting_at(Timestamp::EPOCH))));
    let woken = Arc::new(Mutex::new(Vec::new()));
    let mut waiting = tokio::task::JoinSet::new();
    for n in 0..50 {
        let (mut watch, woken) = (store.watch("", Revision(0)).await.unwrap(), Arc::clone(&woken));
        waiting.spawn(async move {
            watch.next().await.unwrap();
            woken.lock().unwrap().push(n);
        });
    }
    tokio::task::yield_now().await;
    store.commit(Commit::default().put("a", "1")).await.unwrap();
    waiting.join_all().await;
    assert_eq!(*woken.lock().unwrap(), (0..50).collect::<Vec<_>>());
}
