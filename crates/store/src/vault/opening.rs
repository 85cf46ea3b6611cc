//! Opening the vault: which key it takes, its first data key, and bringing secrets under the newest one.
//!
//! Each commit leaves every secret readable with the keys that are stored beside it, so a crash between two of them loses nothing, and
//! the next opening goes on.

use std::collections::BTreeSet;

use super::kept::{Kept, key_of, name_of};
use super::key::Key;
use super::keyring::Keyring;
use super::master::{MasterKey, MasterKeySource};
use super::sealed::{Sealed, unseal_direct};
use super::wrapped::DataKeyId;
use super::{Vault, VaultError};
use crate::{Commit, Document, Expected, SharedStore, StoreError};

/// How many secrets are rewritten in one commit: a large site's in a few, and none so large that others wait for it.
const REWRITTEN_AT_ONCE: usize = 500;

pub(super) async fn open(store: SharedStore, source: &MasterKeySource) -> Result<Vault, VaultError> {
    let kept = Kept::load(&store).await?;
    let master = master_for(&kept, source)?;
    let unlocked = if kept.takes_any_key(&master) { None } else { Keyring::unlock(&kept, &master).await? };
    let keyring = match unlocked {
        Some(keyring) => keyring,
        None => begin(&store, &kept, &master).await?,
    };
    let vault = Vault { store, keyring };
    vault.settle(&master).await?;
    Ok(vault)
}

/// A key file is made only where there is nothing that it could fail to open.
fn master_for(kept: &Kept, source: &MasterKeySource) -> Result<MasterKey, VaultError> {
    if kept.secrets.is_empty() {
        return source.load_or_create();
    }
    source.load()?.ok_or_else(|| VaultError::KeyFileMissing { path: source.to_string(), needed: kept.needed() })
}

/// Makes the first data key, also for secrets of the time before there were any.
async fn begin(store: &SharedStore, kept: &Kept, master: &MasterKey) -> Result<Keyring, VaultError> {
    kept.prove_direct(master)?;
    // Data keys of a vault without secrets, whose master key is another one: nobody needs them.
    let stale = kept
        .data_keys
        .iter()
        .fold(Commit::default(), |commit, (id, key)| commit.expect(id.document(), Expected::At(key.revision)).delete(id.document()));
    match add_data_key(store, kept, master, stale).await {
        Err(VaultError::Store(StoreError::Conflict { .. })) => {
            // Somebody else opens it for the first time too, and was faster: theirs is the key.
            let kept = Kept::load(store).await?;
            let keyring = Keyring::unlock(&kept, master).await?;
            keyring.ok_or(VaultError::DataKeyDamaged { id: DataKeyId::FIRST })
        }
        keyring => keyring,
    }
}

/// Makes a data key that follows those that are there, with whatever else belongs into the commit.
pub(super) async fn add_data_key(store: &SharedStore, kept: &Kept, master: &MasterKey, commit: Commit) -> Result<Keyring, VaultError> {
    let id = match kept.data_keys.last_key_value() {
        Some((newest, _)) => newest.next().ok_or(VaultError::DataKeysExhausted)?,
        None => DataKeyId::FIRST,
    };
    let key = Key::generate()?;
    let wrapped = master.wrap(id, &key).await?;
    store.commit(commit.expect(id.document(), Expected::Absent).put(id.document(), wrapped.to_bytes())).await?;
    Ok(Keyring::of_one(id, &key))
}

impl Vault {
    /// Rewrites what is not under the newest data key, then removes the data keys that nothing needs any more.
    async fn settle(&self, master: &MasterKey) -> Result<(), VaultError> {
        let newest = self.keyring.newest();
        let kept = Kept::load(&self.store).await?;
        let outdated: Vec<&Document> = kept.secrets.iter().filter(|document| key_of(document) != Some(newest)).collect();
        for documents in outdated.chunks(REWRITTEN_AT_ONCE) {
            self.rewrite(documents, master).await?;
        }
        self.remove_unused_keys().await
    }

    /// A secret that cannot be opened stays as it is; one that somebody else writes just now is left for the next opening.
    async fn rewrite(&self, documents: &[&Document], master: &MasterKey) -> Result<(), VaultError> {
        let mut commit = Commit::default();
        for document in documents {
            let name = name_of(document);
            let opened = match Sealed::parse(&document.value) {
                Some(Sealed::Direct(sealed)) => master.direct_cipher().and_then(|cipher| unseal_direct(&cipher, &name, sealed)),
                _ => self.keyring.decrypt(&name, &document.value).ok(),
            };
            let Some(plaintext) = opened else {
                tracing::warn!(secret = %name, "a secret cannot be decrypted, and stays as it is");
                continue;
            };
            let rewritten = self.keyring.encrypt(&name, &plaintext)?;
            commit = commit.expect(document.key.as_str(), Expected::At(document.revision)).put(document.key.as_str(), rewritten);
        }
        match self.store.commit(commit).await {
            Ok(_) | Err(StoreError::Conflict { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn remove_unused_keys(&self) -> Result<(), VaultError> {
        let kept = Kept::load(&self.store).await?;
        let used: BTreeSet<DataKeyId> = kept.used_keys();
        let is_unused = |id: &&DataKeyId| **id < self.keyring.newest() && !used.contains(id);
        let commit = kept.data_keys.keys().filter(is_unused).fold(Commit::default(), |commit, id| commit.delete(id.document()));
        if !commit.writes.is_empty() {
            self.store.commit(commit).await?;
        }
        Ok(())
    }
}
