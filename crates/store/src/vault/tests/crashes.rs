//! A crash at each commit of whatever rewrites the vault: nothing is lost, and the next try comes to its end.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;

use super::direct::{SECRETS, assert_all_there, older_store};
use super::*;
use crate::{Change, Lease, Listing, LogQuery, Record, Revision, Store, Watch};

/// When the power goes: the last commit is lost, or only its answer is.
#[derive(Clone, Copy, Debug)]
enum Cut {
    Before,
    After,
}

/// A store whose process ends at a commit.
struct Crashing {
    inner: SharedStore,
    commits_left: AtomicUsize,
    cut: Cut,
}

impl Crashing {
    fn at(commit: usize, cut: Cut, inner: &SharedStore) -> SharedStore {
        Arc::new(Crashing { inner: Arc::clone(inner), commits_left: AtomicUsize::new(commit), cut })
    }
}

#[async_trait]
impl Store for Crashing {
    async fn get(&self, key: &str) -> Result<Option<Document>, StoreError> {
        self.inner.get(key).await
    }

    async fn list(&self, prefix: &str) -> Result<Listing, StoreError> {
        self.inner.list(prefix).await
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, StoreError> {
        let left = self.commits_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        match (left, self.cut) {
            (Ok(_), _) => self.inner.commit(commit).await,
            (Err(_), Cut::Before) => Err(StoreError::Closed),
            (Err(_), Cut::After) => self.inner.commit(commit).await.and(Err(StoreError::Closed)),
        }
    }

    async fn watch(&self, prefix: &str, from: Revision) -> Result<Box<dyn Watch>, StoreError> {
        self.inner.watch(prefix, from).await
    }

    async fn history(&self, prefix: &str, limit: usize) -> Result<Vec<Change>, StoreError> {
        self.inner.history(prefix, limit).await
    }

    async fn read_log(&self, query: LogQuery) -> Result<Vec<Record>, StoreError> {
        self.inner.read_log(query).await
    }

    async fn acquire_lease(&self, name: &str, holder: &str, ttl: model::Span) -> Result<Lease, StoreError> {
        self.inner.acquire_lease(name, holder, ttl).await
    }

    async fn renew_lease(&self, lease: &Lease, ttl: model::Span) -> Result<Lease, StoreError> {
        self.inner.renew_lease(lease, ttl).await
    }

    async fn release_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        self.inner.release_lease(lease).await
    }
}

fn is_crash<T>(result: &Result<T, VaultError>) -> bool {
    matches!(result, Err(VaultError::Store(StoreError::Closed)))
}

/// Every commit at which a process may end, and how, up to more than any of these have.
fn cuts() -> impl Iterator<Item = (usize, Cut)> {
    (0..8).flat_map(|commit| [(commit, Cut::Before), (commit, Cut::After)])
}

#[tokio::test]
async fn of_the_first_opening_of_an_older_store() {
    let mut crashes = 0;
    for (commit, cut) in cuts() {
        let dir = tempfile::tempdir().unwrap();
        let key_file = file(&dir, "vault.key");
        let store = older_store(&key_file).await;
        let opened = Vault::open(Crashing::at(commit, cut, &store), &key_file).await;
        crashes += usize::from(is_crash(&opened));
        let vault = Vault::open(Arc::clone(&store), &key_file).await.unwrap();
        assert_all_there(&vault, &format!("{cut:?} commit {commit}")).await;
        let survey = Vault::survey(&store).await.unwrap();
        assert_eq!((survey.direct_secrets, survey.data_keys.len()), (0, 1), "{cut:?} commit {commit}");
    }
    assert_eq!(crashes, 4, "its commits are the data key and the secrets");
}

#[tokio::test]
async fn of_the_first_opening_of_an_empty_store() {
    for (commit, cut) in cuts() {
        let (store, dir) = (store(), tempfile::tempdir().unwrap());
        let key_file = file(&dir, "vault.key");
        let _ = Vault::open(Crashing::at(commit, cut, &store), &key_file).await;
        Vault::open(Arc::clone(&store), &key_file).await.unwrap().save(&bmc(), b"calvin").await.unwrap();
        assert_eq!(Vault::open(store, &key_file).await.unwrap().load(&bmc()).await.unwrap().as_slice(), b"calvin");
    }
}

#[tokio::test]
async fn of_a_rotation_of_the_master_key() {
    let mut crashes = 0;
    for (commit, cut) in cuts() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (file(&dir, "old.key"), file(&dir, "new.key"));
        let store = older_store(&old).await;
        let rotated = Vault::rotate_master_key(&Crashing::at(commit, cut, &store), &old, &new).await;
        crashes += usize::from(is_crash(&rotated));
        let with_old = Vault::open(Arc::clone(&store), &old).await;
        let is_rotated = matches!(with_old, Err(VaultError::OtherMasterKey { .. }));
        let vault = if is_rotated { Vault::open(Arc::clone(&store), &new).await.unwrap() } else { with_old.unwrap() };
        assert_all_there(&vault, &format!("{cut:?} commit {commit}")).await;
        Vault::rotate_master_key(&store, &old, &new).await.unwrap();
        assert_all_there(&Vault::open(store, &new).await.unwrap(), "rotated").await;
    }
    assert_eq!(crashes, 6, "its commits are the two of the opening, and one");
}

#[tokio::test]
async fn of_a_rotation_of_the_data_key() {
    let mut crashes = 0;
    for (commit, cut) in cuts() {
        let dir = tempfile::tempdir().unwrap();
        let key_file = file(&dir, "vault.key");
        let store = older_store(&key_file).await;
        let rotated = Vault::rotate_data_key(&Crashing::at(commit, cut, &store), &key_file).await;
        crashes += usize::from(is_crash(&rotated));
        let vault = Vault::open(Arc::clone(&store), &key_file).await.unwrap();
        assert_all_there(&vault, &format!("{cut:?} commit {commit}")).await;
        let survey = Vault::survey(&store).await.unwrap();
        assert_eq!((survey.data_keys.len(), survey.data_keys[0].secrets), (1, SECRETS.len()), "the opening has finished it");
    }
    assert_eq!(crashes, 10, "two of the opening, the new key, the secrets, and the removal of the old key");
}
