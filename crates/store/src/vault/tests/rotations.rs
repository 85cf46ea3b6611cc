use super::direct::{SECRETS, assert_all_there, older_store};
use super::*;

fn numbers(survey: &VaultSurvey) -> Vec<(u32, usize)> {
    survey.data_keys.iter().map(|key| (key.id.number(), key.secrets)).collect()
}

#[tokio::test]
async fn a_new_master_key_opens_the_vault_and_the_old_one_is_told_which_is_needed() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (file(&dir, "old.key"), file(&dir, "new.key"));
    let store = older_store(&old).await;
    assert_eq!(Vault::rotate_master_key(&store, &old, &new).await.unwrap(), MasterKeyRotation::Done);
    assert_all_there(&Vault::open(Arc::clone(&store), &new).await.unwrap(), "with the new key").await;
    let needed = new.id().unwrap().unwrap();
    match Vault::open(Arc::clone(&store), &old).await.unwrap_err() {
        VaultError::OtherMasterKey { needed: told, .. } => assert_eq!(told, needed),
        error => panic!("{error}"),
    }
    let survey = Vault::survey(&store).await.unwrap();
    assert_eq!((numbers(&survey), survey.master_key()), (vec![(1, SECRETS.len())], Some(needed)), "no secret was written again");
    std::fs::remove_file(path_of(&new)).unwrap();
    let lost = Vault::open(store, &new).await.unwrap_err().to_string();
    assert!(lost.contains(&format!("only {needed} can decrypt")), "{lost}");
}

#[tokio::test]
async fn a_rotation_that_is_asked_for_again_is_done_already() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (file(&dir, "old.key"), file(&dir, "new.key"));
    let store = older_store(&old).await;
    Vault::rotate_master_key(&store, &old, &new).await.unwrap();
    let before = store.list("").await.unwrap();
    assert_eq!(Vault::rotate_master_key(&store, &old, &new).await.unwrap(), MasterKeyRotation::DoneBefore);
    assert_eq!(store.list("").await.unwrap(), before);
    let same = Vault::rotate_master_key(&store, &new, &new).await;
    assert!(matches!(same, Err(VaultError::SameMasterKey { .. })));
    let wrong = Vault::rotate_master_key(&store, &old, &file(&dir, "third.key")).await;
    assert!(matches!(wrong, Err(VaultError::OtherMasterKey { .. })));
    assert!(!dir.path().join("third.key").exists(), "no key is made for a rotation that cannot be");
}

#[tokio::test]
async fn a_new_data_key_encrypts_every_secret_and_the_old_one_goes() {
    let dir = tempfile::tempdir().unwrap();
    let key_file = file(&dir, "vault.key");
    let store = older_store(&key_file).await;
    Vault::open(Arc::clone(&store), &key_file).await.unwrap();
    let before = store.list(kept::SECRETS).await.unwrap().documents;
    Vault::rotate_data_key(&store, &key_file).await.unwrap();
    assert_eq!(numbers(&Vault::survey(&store).await.unwrap()), [(2, SECRETS.len())]);
    let after = store.list(kept::SECRETS).await.unwrap().documents;
    assert!(before.iter().zip(&after).all(|(before, after)| before.value != after.value));
    assert_all_there(&Vault::open(store, &key_file).await.unwrap(), "with the new data key").await;
}

#[tokio::test]
async fn a_data_key_stays_as_long_as_a_secret_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let key_file = file(&dir, "vault.key");
    let store = older_store(&key_file).await;
    Vault::open(Arc::clone(&store), &key_file).await.unwrap();
    let first = document_of(&SecretRef::new(SECRETS[0].0));
    let mut spoilt = store.get(&first).await.unwrap().unwrap().value.to_vec();
    *spoilt.last_mut().unwrap() ^= 1;
    store.commit(Commit::default().put(first, spoilt)).await.unwrap();
    Vault::rotate_data_key(&store, &key_file).await.unwrap();
    assert_eq!(numbers(&Vault::survey(&store).await.unwrap()), [(1, 1), (2, SECRETS.len() - 1)]);
}

#[tokio::test]
async fn a_backup_fits_the_master_key_of_its_time() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (file(&dir, "old.key"), file(&dir, "new.key"));
    let store = older_store(&old).await;
    Vault::open(Arc::clone(&store), &old).await.unwrap();
    let backup = store.list("").await.unwrap().documents;
    Vault::rotate_master_key(&store, &old, &new).await.unwrap();
    let later = store.list("").await.unwrap().documents;
    for (documents, source, fit) in
        [(&backup, &old, KeyFit::Fits), (&backup, &new, KeyFit::OtherKey), (&later, &old, KeyFit::OtherKey), (&later, &new, KeyFit::Fits)]
    {
        let documents: Vec<&Document> = documents.iter().collect();
        assert_eq!(Vault::fit(&documents, source).await.unwrap(), fit, "{source}");
    }
}
