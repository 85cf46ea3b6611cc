//! Secrets of the first format, which were encrypted with the master key itself.

use super::super::cipher::Cipher;
use super::super::sealed::seal_direct;
use super::*;

pub(super) const SECRETS: [(&str, &[u8]); 3] = [("bmc/1", b"root\ncalvin"), ("bmc/2", b"root\nhobbes"), ("install/site1", &[7; 32])];

/// A store as an older version left it, with its key in a file.
pub(super) async fn older_store(key_file: &MasterKeySource) -> SharedStore {
    let store = store();
    let cipher = Cipher::new(&Key::create(path_of(key_file)).unwrap());
    let commit = SECRETS.iter().fold(Commit::default(), |commit, (name, plaintext)| {
        let name = SecretRef::new(*name);
        commit.put(document_of(&name), seal_direct(&cipher, &name, plaintext))
    });
    store.commit(commit).await.unwrap();
    store
}

pub(super) async fn assert_all_there(vault: &Vault, remark: &str) {
    for (name, plaintext) in SECRETS {
        assert_eq!(vault.load(&SecretRef::new(name)).await.unwrap().as_slice(), plaintext, "{name}, {remark}");
    }
}

#[tokio::test]
async fn they_are_rewritten_when_the_vault_is_opened_and_once_only() {
    let dir = tempfile::tempdir().unwrap();
    let key_file = file(&dir, "vault.key");
    let store = older_store(&key_file).await;
    assert_eq!(Vault::survey(&store).await.unwrap().direct_secrets, 3);
    assert_all_there(&Vault::open(Arc::clone(&store), &key_file).await.unwrap(), "opened").await;
    let survey = Vault::survey(&store).await.unwrap();
    assert_eq!((survey.direct_secrets, survey.secrets, survey.data_keys[0].secrets), (0, 3, 3));
    let before = store.list("").await.unwrap();
    assert_all_there(&Vault::open(Arc::clone(&store), &key_file).await.unwrap(), "opened again").await;
    assert_eq!(store.list("").await.unwrap(), before, "nothing is written twice");
}

#[tokio::test]
async fn another_key_or_a_command_does_not_open_them_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = older_store(&file(&dir, "vault.key")).await;
    let other = file(&dir, "other.key");
    Key::create(path_of(&other)).unwrap();
    let command = MasterKeySource::Command("false".parse().unwrap());
    let before = store.list("").await.unwrap();
    assert!(matches!(Vault::open(Arc::clone(&store), &other).await, Err(VaultError::WrongKey { .. })));
    assert!(matches!(Vault::open(Arc::clone(&store), &command).await, Err(VaultError::DirectSecrets)));
    assert_eq!(store.list("").await.unwrap(), before);
}

#[tokio::test]
async fn a_key_fits_a_backup_of_an_older_version_too() {
    let dir = tempfile::tempdir().unwrap();
    let (key_file, other) = (file(&dir, "vault.key"), file(&dir, "other.key"));
    let store = older_store(&key_file).await;
    Key::create(path_of(&other)).unwrap();
    let listing = store.list("").await.unwrap().documents;
    let documents: Vec<&Document> = listing.iter().collect();
    assert_eq!(Vault::fit(&documents, &key_file).await.unwrap(), KeyFit::Fits);
    assert_eq!(Vault::fit(&documents, &other).await.unwrap(), KeyFit::OtherKey);
    assert_eq!(Vault::fit(&documents, &file(&dir, "none.key")).await.unwrap(), KeyFit::NoKeyFile);
}
