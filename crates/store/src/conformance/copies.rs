//! Checks of copies, for stores that can be copied and for those that cannot.

use std::io::Read;

use super::Bench;
use crate::{StoreCopy, StoreError};

/// Nothing, from a store that cannot be copied and says so.
async fn copy(bench: &Bench) -> Option<StoreCopy> {
    match bench.store.copy().await {
        Ok(copy) => Some(copy),
        Err(StoreError::Unsupported) => None,
        Err(other) => panic!("a copy is made, or is not for this store to make: {other}"),
    }
}

fn read(mut copy: StoreCopy) -> Vec<u8> {
    let mut bytes = Vec::new();
    copy.file.read_to_end(&mut bytes).expect("a copy can be read");
    assert_eq!(bytes.len() as u64, copy.bytes);
    bytes
}

pub async fn a_copy_is_of_one_revision_and_what_follows_is_not_in_it(bench: Bench) {
    const BEFORE: &str = "written before the copy";
    const AFTER: &str = "written after the copy";
    let revision = bench.put("a", BEFORE).await;
    let copy = copy(&bench).await;
    bench.put("b", AFTER).await;
    assert_eq!(bench.value("b").await.as_deref(), Some(AFTER), "the store goes on, copied or not");
    let Some(copy) = copy else { return };
    assert_eq!(copy.revision, revision);
    let bytes = read(copy);
    let holds = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    assert_eq!((holds(BEFORE), holds(AFTER)), (true, false));
}

pub async fn one_copy_is_read_at_a_time(bench: Bench) {
    let Some(first) = copy(&bench).await else {
        assert!(copy(&bench).await.is_none(), "a store can be copied always or never");
        return;
    };
    assert!(matches!(bench.store.copy().await.unwrap_err(), StoreError::CopyBusy));
    drop(first);
    assert!(copy(&bench).await.is_some(), "the first is read, so the next has its turn");
}
