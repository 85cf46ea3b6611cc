mod commands;
mod crashes;
mod direct;
mod rotations;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::{MemoryStore, SystemClock};

fn store() -> SharedStore {
    Arc::new(MemoryStore::new(Arc::new(SystemClock)))
}

fn bmc() -> SecretRef {
    SecretRef::new("bmc/site1/rack1compute01")
}

fn file(directory: &tempfile::TempDir, name: &str) -> MasterKeySource {
    MasterKeySource::File(directory.path().join(name))
}

fn path_of(source: &MasterKeySource) -> &Path {
    match source {
        MasterKeySource::File(path) => path,
        _ => panic!("it is no file"),
    }
}

#[tokio::test]
async fn a_secret_comes_back_after_the_vault_is_opened_again() {
    let (store, dir) = (store(), tempfile::tempdir().unwrap());
    let key_file = file(&dir, "vault.key");
    Vault::open(Arc::clone(&store), &key_file).await.unwrap().save(&bmc(), b"calvin").await.unwrap();
    let vault = Vault::open(store, &key_file).await.unwrap();
    assert_eq!(vault.load(&bmc()).await.unwrap().as_slice(), b"calvin");
}

#[tokio::test]
async fn the_key_file_is_for_its_owner_only_and_nothing_else_is_left_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    Vault::open(store(), &file(&dir, "vault.key")).await.unwrap();
    let files: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(Result::unwrap).collect();
    assert_eq!(files.len(), 1);
    let metadata = files[0].metadata().unwrap();
    assert_eq!((metadata.permissions().mode() & 0o777, metadata.len()), (0o600, 32));
}

#[tokio::test]
async fn the_store_holds_neither_the_secret_nor_twice_the_same_ciphertext() {
    let store = store();
    let vault = Vault::ephemeral(Arc::clone(&store));
    let other = SecretRef::new("bmc/site1/rack1compute02");
    vault.save(&bmc(), b"calvin").await.unwrap();
    vault.save(&other, b"calvin").await.unwrap();
    let documents = store.list("").await.unwrap().documents;
    assert!(documents.iter().all(|document| !document.value.windows(6).any(|bytes| bytes == b"calvin")));
    assert_ne!(documents[0].value, documents[1].value);
}

#[tokio::test]
async fn saving_an_unchanged_secret_writes_nothing() {
    let store = store();
    let vault = Vault::ephemeral(Arc::clone(&store));
    vault.save(&bmc(), b"calvin").await.unwrap();
    let before = store.list("").await.unwrap();
    vault.save(&bmc(), b"calvin").await.unwrap();
    assert_eq!(store.list("").await.unwrap(), before);
    vault.save(&bmc(), b"hobbes").await.unwrap();
    assert_eq!(vault.load(&bmc()).await.unwrap().as_slice(), b"hobbes");
}

#[tokio::test]
async fn a_ciphertext_under_another_name_is_refused() {
    let store = store();
    let vault = Vault::ephemeral(Arc::clone(&store));
    vault.save(&bmc(), b"calvin").await.unwrap();
    let stolen = store.get("secrets/bmc/site1/rack1compute01").await.unwrap().unwrap().value;
    store.commit(Commit::default().put("secrets/mine", stolen)).await.unwrap();
    assert!(matches!(vault.load(&SecretRef::new("mine")).await, Err(VaultError::WrongKey { .. })));
}

#[tokio::test]
async fn an_altered_or_cut_ciphertext_is_refused() {
    let store = store();
    let vault = Vault::ephemeral(Arc::clone(&store));
    vault.save(&bmc(), b"calvin").await.unwrap();
    let key = document_of(&bmc());
    let sealed = store.get(&key).await.unwrap().unwrap().value;
    for length in 0..sealed.len() {
        store.commit(Commit::default().put(key.as_str(), sealed.slice(..length))).await.unwrap();
        assert!(matches!(vault.load(&bmc()).await, Err(VaultError::WrongKey { .. })), "cut to {length} bytes");
        let mut altered = sealed.to_vec();
        altered[length] ^= 1;
        store.commit(Commit::default().put(key.as_str(), altered)).await.unwrap();
        assert!(matches!(vault.load(&bmc()).await, Err(VaultError::WrongKey { .. })), "byte {length} altered");
    }
}

#[tokio::test]
async fn another_key_is_refused_when_the_vault_is_opened_and_told_which_one_is_needed() {
    let (store, dir) = (store(), tempfile::tempdir().unwrap());
    let (right, wrong) = (file(&dir, "right.key"), file(&dir, "wrong.key"));
    Vault::open(Arc::clone(&store), &right).await.unwrap().save(&bmc(), b"calvin").await.unwrap();
    let fingerprint = |source: &MasterKeySource| Key::load(path_of(source)).unwrap().unwrap().fingerprint();
    Key::create(path_of(&wrong)).unwrap();
    let refusal = Vault::open(store, &wrong).await.unwrap_err().to_string();
    let (needed, given) = (fingerprint(&right), fingerprint(&wrong));
    assert_eq!(refusal, format!("the vault needs master key {needed}, but {wrong} is master key {given}"));
}

#[tokio::test]
async fn a_vault_without_secrets_takes_another_key() {
    let (store, dir) = (store(), tempfile::tempdir().unwrap());
    for name in ["first.key", "second.key"] {
        Vault::open(Arc::clone(&store), &file(&dir, name)).await.unwrap();
        assert_eq!(Vault::survey(&store).await.unwrap().data_keys.len(), 1);
    }
    Vault::open(Arc::clone(&store), &file(&dir, "second.key")).await.unwrap().save(&bmc(), b"calvin").await.unwrap();
    assert!(matches!(Vault::open(store, &file(&dir, "first.key")).await, Err(VaultError::OtherMasterKey { .. })));
}

#[tokio::test]
async fn secrets_whose_data_key_is_gone_are_refused_when_the_vault_is_opened() {
    let (store, dir) = (store(), tempfile::tempdir().unwrap());
    Vault::ephemeral(Arc::clone(&store)).save(&bmc(), b"calvin").await.unwrap();
    let key_file = file(&dir, "vault.key");
    Key::create(path_of(&key_file)).unwrap();
    assert!(matches!(Vault::open(store, &key_file).await, Err(VaultError::WrongKey { .. })));
}

#[tokio::test]
async fn a_damaged_or_exchanged_data_key_is_refused() {
    let (store, dir) = (store(), tempfile::tempdir().unwrap());
    let key_file = file(&dir, "vault.key");
    Vault::open(Arc::clone(&store), &key_file).await.unwrap().save(&bmc(), b"calvin").await.unwrap();
    let key = DataKeyId::FIRST.document();
    let wrapped = store.get(&key).await.unwrap().unwrap().value;
    for position in 0..wrapped.len() {
        let mut altered = wrapped.to_vec();
        altered[position] ^= 1;
        store.commit(Commit::default().put(key.as_str(), altered)).await.unwrap();
        assert!(Vault::open(Arc::clone(&store), &key_file).await.is_err(), "byte {position} altered");
    }
    store.commit(Commit::default().delete(key).put("vault-keys/0000000002", wrapped)).await.unwrap();
    assert!(matches!(Vault::open(store, &key_file).await, Err(VaultError::DataKeyDamaged { .. })), "under another number");
}

#[test]
fn a_key_is_read_from_base64_and_nothing_else_is() {
    let key = Key::generate().unwrap();
    let text = key.to_base64();
    assert_eq!(Key::from_base64(text.as_slice()).unwrap().bytes(), key.bytes());
    assert_eq!(Key::from_base64(&[b" ", text.as_slice(), b"\n"].concat()).unwrap().bytes(), key.bytes());
    for wrong in [&text[..40], &text[..43], b"", &[text.as_slice(), b"AAAA"].concat(), &[b'!'; 44]] {
        assert!(Key::from_base64(wrong).is_none());
    }
}

#[test]
fn a_variable_that_is_absent_is_named() {
    let error = MasterKeySource::Variable("RACKWRIGHT_TEST_NO_SUCH_KEY").id().unwrap_err();
    assert_eq!(error.to_string(), "the environment has no RACKWRIGHT_TEST_NO_SUCH_KEY, which should hold the master key");
}

#[tokio::test]
async fn one_spoilt_secret_does_not_lock_the_others_away_and_can_be_saved_again() {
    let (store, dir) = (store(), tempfile::tempdir().unwrap());
    let key_file = file(&dir, "vault.key");
    Vault::open(Arc::clone(&store), &key_file).await.unwrap().save(&bmc(), b"calvin").await.unwrap();
    store.commit(Commit::default().put("secrets/a", "spoilt")).await.unwrap();
    let vault = Vault::open(store, &key_file).await.unwrap();
    let spoilt = SecretRef::new("a");
    assert!(matches!(vault.load(&spoilt).await, Err(VaultError::WrongKey { .. })));
    vault.save(&spoilt, b"new").await.unwrap();
    assert_eq!(vault.load(&spoilt).await.unwrap().as_slice(), b"new");
}

#[tokio::test]
async fn a_missing_key_file_is_not_replaced_while_there_are_secrets() {
    let (store, dir) = (store(), tempfile::tempdir().unwrap());
    Vault::ephemeral(Arc::clone(&store)).save(&bmc(), b"calvin").await.unwrap();
    let key_file = file(&dir, "vault.key");
    assert!(matches!(Vault::open(store, &key_file).await, Err(VaultError::KeyFileMissing { .. })));
    assert!(!path_of(&key_file).exists());
}

#[tokio::test]
async fn a_key_file_of_the_wrong_length_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let key_file = file(&dir, "vault.key");
    std::fs::write(path_of(&key_file), [7; 31]).unwrap();
    std::fs::set_permissions(path_of(&key_file), Permissions::from_mode(0o600)).unwrap();
    assert!(matches!(Vault::open(store(), &key_file).await, Err(VaultError::KeyFileLength { found: 31, .. })));
}

#[tokio::test]
async fn a_key_file_that_others_can_read_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let key_file = file(&dir, "vault.key");
    Key::create(path_of(&key_file)).unwrap();
    for mode in [0o640, 0o604, 0o660] {
        std::fs::set_permissions(path_of(&key_file), Permissions::from_mode(mode)).unwrap();
        assert!(matches!(Vault::open(store(), &key_file).await, Err(VaultError::KeyFileExposed { mode: found, .. }) if found == mode));
    }
}

#[tokio::test]
async fn a_removed_secret_is_missing_and_may_be_removed_again() {
    let vault = Vault::ephemeral(store());
    vault.save(&bmc(), b"calvin").await.unwrap();
    vault.remove(&bmc()).await.unwrap();
    vault.remove(&bmc()).await.unwrap();
    assert!(matches!(vault.load(&bmc()).await, Err(VaultError::Missing { name }) if name == bmc()));
}

#[tokio::test]
async fn a_secret_that_is_made_is_made_once_whoever_comes_and_is_nobody_elses() {
    let vault = Vault::ephemeral(store());
    let install = SecretRef::new("install/site1");
    let all = futures::future::join_all((0..8).map(|_| vault.load_or_make(&install))).await;
    let first = all[0].as_ref().unwrap();
    assert_eq!(first.len(), 32);
    assert!(all.iter().all(|one| one.as_ref().unwrap() == first));
    assert_eq!(vault.load(&install).await.unwrap(), *first);
    assert_ne!(vault.load_or_make(&SecretRef::new("install/site2")).await.unwrap(), *first);
}

#[tokio::test]
async fn debug_shows_neither_key_nor_secret() {
    assert_eq!(format!("{:?}", Vault::ephemeral(store())), "Vault { .. }");
}
