//! The SQLite store does what every store must do.

use std::sync::Arc;

use model::Clock;
use store::conformance::Subject;
use store::{Retention, SqliteStore};

async fn make(clock: Arc<dyn Clock>, retention: Retention) -> Subject {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open_with(dir.path(), clock, retention).unwrap();
    Subject { store: Arc::new(store), keep: Box::new(dir) }
}

store::conformance_tests!(make);
