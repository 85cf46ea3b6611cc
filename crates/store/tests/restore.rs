//! Backups under load, and putting them back: whole, free of old leases, and never over something that is in use.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{SecretRef, Span};
use store::{Commit, KeyFit, MasterKeySource, Restoration, SharedStore, SqliteStore, Store, StoreError, SystemClock, Vault};

fn open(dir: &Path) -> SqliteStore {
    SqliteStore::open(dir, Arc::new(SystemClock)).unwrap()
}

/// Takes a backup as a client of the API gets it.
async fn download(store: &SqliteStore, to: &Path) {
    let mut copy = store.copy().await.unwrap();
    let mut bytes = Vec::new();
    copy.file.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, copy.bytes);
    fs::write(to, bytes).unwrap();
}

/// A directory with a store of one cluster, a held lease and a secret, and its backup.
async fn backed_up(dir: &Path) -> PathBuf {
    let store: Arc<SqliteStore> = Arc::new(open(&dir.join("old")));
    store.commit(Commit::default().put("clusters/site1", "{}")).await.unwrap();
    store.acquire_lease("keeper/site1", "somebody", Span::hours(1)).await.unwrap();
    let vault = Vault::open(store.clone() as SharedStore, &key_in(&dir.join("old"))).await.unwrap();
    vault.save(&SecretRef::new("bmc/1"), b"root\ncalvin").await.unwrap();
    let backup = dir.join("backup.db");
    download(&store, &backup).await;
    backup
}

fn key_in(dir: &Path) -> MasterKeySource {
    MasterKeySource::File(dir.join("vault.key"))
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).filter(|name| name != "lock").collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_copy_under_load_is_of_one_revision() {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(open(&dir.path().join("store")));
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                for n in 0..100 {
                    // Both in one commit: a copy has both or neither.
                    let commit =
                        Commit::default().put(format!("a/{writer}/{n}"), vec![n; 2_000]).put(format!("b/{writer}/{n}"), vec![n; 10]);
                    store.commit(commit).await.unwrap();
                }
            })
        })
        .collect();
    for n in 0..5 {
        let backup = dir.path().join(format!("{n}.db"));
        download(&store, &backup).await;
        let restoration = Restoration::prepare(&backup, &dir.path().join(format!("into-{n}"))).unwrap();
        let of = |letter: char| restoration.documents.iter().filter(|document| document.key.starts_with(letter)).count();
        assert_eq!((of('a'), of('a') as u64), (of('b'), restoration.revision.0));
        restoration.finish(None).unwrap();
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert!(!names(&dir.path().join("store")).iter().any(|name| name.contains("copy")), "a copy leaves nothing behind");
}

#[tokio::test]
async fn a_restored_store_has_everything_but_the_leases() {
    let dir = tempfile::tempdir().unwrap();
    let backup = backed_up(dir.path()).await;
    let into = dir.path().join("new");
    let restoration = Restoration::prepare(&backup, &into).unwrap();
    assert!(restoration.latest_at.is_some());
    assert_eq!(Vault::fit(&restoration.secrets(), &key_in(&into)).await.unwrap(), KeyFit::NoKeyFile);
    assert_eq!(Vault::fit(&restoration.secrets(), &key_in(&dir.path().join("old"))).await.unwrap(), KeyFit::Fits);
    assert_eq!(restoration.finish(None).unwrap(), None);
    assert_eq!(names(&into), ["rackwright.db"]);
    let store = open(&into);
    assert_eq!(&store.get("clusters/site1").await.unwrap().unwrap().value[..], b"{}");
    let lease = store.acquire_lease("keeper/site1", "another", Span::hours(1)).await.unwrap();
    assert!(lease.epoch > 1, "what the former holder might still write is fenced off");
}

#[tokio::test]
async fn a_store_without_its_key_can_be_restored_without_its_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let backup = backed_up(dir.path()).await;
    let into = dir.path().join("new");
    let other = Arc::new(store::MemoryStore::new(Arc::new(SystemClock)));
    fs::create_dir(&into).unwrap();
    Vault::open(other, &key_in(&into)).await.unwrap();
    let mut restoration = Restoration::prepare(&backup, &into).unwrap();
    assert_eq!(Vault::fit(&restoration.secrets(), &key_in(&into)).await.unwrap(), KeyFit::OtherKey);
    restoration.discard_secrets().unwrap();
    assert_eq!(Vault::fit(&restoration.secrets(), &key_in(&into)).await.unwrap(), KeyFit::NoSecrets);
    restoration.finish(None).unwrap();
    let store: SharedStore = Arc::new(open(&into));
    Vault::open(store, &key_in(&into)).await.expect("there is nothing that the key does not open");
}

#[tokio::test]
async fn a_store_that_is_there_stays_unless_it_is_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let backup = backed_up(dir.path()).await;
    let old = dir.path().join("old");
    let restoration = Restoration::prepare(&backup, &old).unwrap();
    assert!(restoration.occupant().is_some());
    assert!(matches!(restoration.finish(None).unwrap_err(), StoreError::Occupied { .. }));
    let store = open(&old);
    assert!(matches!(Restoration::prepare(&backup, &old).unwrap_err(), StoreError::InUse { .. }));
    drop(store);
    let kept = Restoration::prepare(&backup, &old).unwrap().finish(Some("before-1")).unwrap();
    assert_eq!(kept, Some(old.join("rackwright.db.before-1")));
    assert_eq!(names(&old), ["rackwright.db", "rackwright.db.before-1", "vault.key"]);
    open(&old);
}

#[tokio::test]
async fn what_is_no_whole_backup_is_refused_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let sound = fs::read(backed_up(dir.path()).await).unwrap();
    let foreign = dir.path().join("foreign.db");
    let connection = rusqlite::Connection::open(&foreign).unwrap();
    connection.execute_batch("CREATE TABLE state (a); INSERT INTO state VALUES (1);").unwrap();
    connection.close().unwrap();
    let mut scribbled = sound.clone();
    let (middle, end) = (sound.len() / 2, sound.len());
    scribbled[middle..end].fill(0xaa);
    let flipped = {
        let place = sound.windows(14).position(|bytes| bytes == b"clusters/site1").unwrap();
        let mut bytes = sound.clone();
        bytes[place] ^= 1;
        bytes
    };
    let cases: [(&str, Vec<u8>); 6] = [
        ("empty", Vec::new()),
        ("text", b"this is a letter, and no database at all".to_vec()),
        ("truncated", sound[..sound.len() - 4_096].to_vec()),
        ("scribbled", scribbled),
        ("flipped", flipped),
        ("foreign", fs::read(&foreign).unwrap()),
    ];
    let file = dir.path().join("case.db");
    let into = dir.path().join("new");
    for (what, bytes) in cases {
        fs::write(&file, bytes).unwrap();
        match Restoration::prepare(&file, &into) {
            Err(StoreError::Damaged { path, detail }) => {
                assert_eq!(path, file.display().to_string(), "{what}");
                assert!(detail.ends_with("nothing was restored from it"), "{what}: {detail}");
            }
            other => panic!("{what}: {other:?}"),
        }
        assert!(!into.exists(), "{what}: {:?}", fs::read_dir(&into).unwrap().collect::<Vec<_>>());
    }
    assert!(matches!(Restoration::prepare(&dir.path().join("absent.db"), &into).unwrap_err(), StoreError::Io { .. }));
}

#[tokio::test]
async fn revisions_of_a_lost_store_do_not_come_again_with_another_meaning() {
    let dir = tempfile::tempdir().unwrap();
    let backup = backed_up(dir.path()).await;
    let lost = open(&dir.path().join("old")).commit(Commit::default().put("clusters/site1", "written after the backup")).await.unwrap();
    let new = dir.path().join("new");
    Restoration::prepare(&backup, &new).unwrap().finish(None).unwrap();
    let restored = open(&new);
    let next = restored.commit(Commit::default().put("clusters/site1", "written after the restore")).await.unwrap();
    assert!(next.0 > lost.0 + 1_000_000, "{next:?} is far from {lost:?}");
    let watched = restored.watch("", lost).await.map(|_| ());
    assert!(matches!(watched, Err(StoreError::Compacted { .. })), "whoever watches from before lists again: {watched:?}");
}

#[tokio::test]
async fn the_files_of_a_store_are_their_owners_alone() {
    use std::os::unix::fs::MetadataExt;
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.commit(Commit::default().put("a", "b")).await.unwrap();
    store.backup(&dir.path().join("copy.db")).await.unwrap();
    for name in names(dir.path()) {
        assert_eq!(fs::metadata(dir.path().join(&name)).unwrap().mode() & 0o777, 0o600, "{name}");
    }
}
