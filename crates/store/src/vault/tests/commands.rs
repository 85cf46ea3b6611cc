use std::time::Duration;

use super::super::command::KeyCommandError;
use super::direct::{assert_all_there, older_store};
use super::*;

/// Turns every byte around, which is no cipher, but shows what was wrapped and by whom.
const KMS: &str = r"turn() { LC_ALL=C tr '\000-\177\200-\377' '\200-\377\000-\177'; }
case $1 in wrap | unwrap) base64 -d | turn | base64 -w 0 ;; *) exit 9 ;; esac";

fn command(directory: &tempfile::TempDir, name: &str, script: &str) -> KeyCommand {
    let path = directory.path().join(name);
    std::fs::write(&path, script).unwrap();
    format!("/bin/sh {}", path.display()).parse().unwrap()
}

async fn refusal_of(script: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let source = MasterKeySource::Command(command(&dir, "kms", script));
    match Vault::open(store(), &source).await.unwrap_err() {
        VaultError::KeyCommand(error) => error.to_string(),
        error => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_vault_opens_with_the_command_that_wrapped_its_key() {
    let (store, dir) = (store(), tempfile::tempdir().unwrap());
    let source = MasterKeySource::Command(command(&dir, "kms", KMS));
    Vault::open(Arc::clone(&store), &source).await.unwrap().save(&bmc(), b"calvin").await.unwrap();
    assert_eq!(Vault::open(Arc::clone(&store), &source).await.unwrap().load(&bmc()).await.unwrap().as_slice(), b"calvin");
    let listing = store.list("").await.unwrap().documents;
    let documents: Vec<&Document> = listing.iter().collect();
    assert_eq!(Vault::fit(&documents, &source).await.unwrap(), KeyFit::Fits);
    let key_file = file(&dir, "vault.key");
    Key::create(path_of(&key_file)).unwrap();
    assert_eq!(Vault::fit(&documents, &key_file).await.unwrap(), KeyFit::OtherKey);
    let refusal = Vault::open(store, &key_file).await.unwrap_err().to_string();
    assert!(refusal.starts_with("the vault needs the key command that wrapped its data keys, but "), "{refusal}");
}

#[tokio::test]
async fn the_master_key_moves_from_a_file_to_a_command_and_back() {
    let dir = tempfile::tempdir().unwrap();
    let (old, back) = (file(&dir, "vault.key"), file(&dir, "back.key"));
    let store = older_store(&old).await;
    let kms = MasterKeySource::Command(command(&dir, "kms", KMS));
    for (from, to) in [(&old, &kms), (&kms, &back)] {
        Vault::rotate_master_key(&store, from, to).await.unwrap();
        assert!(matches!(Vault::open(Arc::clone(&store), from).await, Err(VaultError::OtherMasterKey { .. })));
        assert_all_there(&Vault::open(Arc::clone(&store), to).await.unwrap(), &to.to_string()).await;
    }
}

#[tokio::test]
async fn a_command_that_fails_is_told_with_its_complaint_and_without_any_key() {
    let refusal = refusal_of("cat >&2; echo >&2; echo 'no such key ring' >&2; exit 3").await;
    assert_eq!(refusal, "`/bin/sh … wrap` ended with exit status: 3\n  [withheld]\n  no such key ring");
}

#[tokio::test]
async fn a_command_that_answers_nonsense_is_refused() {
    assert!(refusal_of("echo '?'").await.ends_with("wrap` answered nothing, or what is not base64"));
    assert!(refusal_of("cat > /dev/null").await.ends_with("wrap` answered nothing, or what is not base64"));
    assert!(refusal_of("head -c 20000 /dev/zero | base64 -w 0").await.ends_with("wrap` answered more than 16384 bytes"));
    assert!(refusal_of("exec 0<&-; echo AAAA").await.ends_with("unwrap` answered nothing, or what is not base64"), "no key comes out");
    let other = "case $1 in wrap) cat ;; unwrap) head -c 32 /dev/zero | base64 -w 0 ;; esac";
    assert!(refusal_of(other).await.ends_with("unwrap` answered another key than the one that was wrapped"));
}

#[tokio::test]
async fn a_command_that_does_not_end_is_killed() {
    let (store, dir) = (store(), tempfile::tempdir().unwrap());
    let command = command(&dir, "kms", "exec sleep 600").with_timeout(Duration::from_millis(100));
    let error = Vault::open(store, &MasterKeySource::Command(command)).await.unwrap_err();
    assert!(matches!(error, VaultError::KeyCommand(KeyCommandError::TimedOut { .. })));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let source = MasterKeySource::Command("/no/such/program --key 1".parse().unwrap());
    match Vault::open(store(), &source).await.unwrap_err() {
        VaultError::KeyCommand(error) => assert_eq!(error.to_string(), "`/no/such/program` cannot be run"),
        error => panic!("{error}"),
    }
    assert!(matches!("  ".parse::<KeyCommand>(), Err(KeyCommandError::Empty)));
    assert_eq!(format!("{source:?}"), "Command(KeyCommand { program: \"/no/such/program\", .. })");
}
