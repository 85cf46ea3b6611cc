//! Rotation of the vault's keys, while nobody else has the store open.
//!
//! The master key changes in one commit: before it the old key opens the vault, after it the new one. A new data key is added in one
//! commit, and secrets follow it in others; until the last one both are there.

use super::kept::Kept;
use super::master::{MasterKey, MasterKeySource};
use super::opening::add_data_key;
use super::wrapped::MasterKeyId;
use super::{Vault, VaultError};
use crate::{Commit, Expected, SharedStore};

/// What a rotation of the master key found to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MasterKeyRotation {
    Done,
    /// The new key was the vault's already: the rotation was asked for again.
    DoneBefore,
}

impl Vault {
    /// Wraps all data keys under another master key. The one of before opens the vault no more.
    pub async fn rotate_master_key(
        store: &SharedStore,
        current: &MasterKeySource,
        new: &MasterKeySource,
    ) -> Result<MasterKeyRotation, VaultError> {
        if is_done(store, current, new).await? {
            return Ok(MasterKeyRotation::DoneBefore);
        }
        Vault::open(store.clone(), current).await?;
        let (from, to) = (current.load_or_create()?, new.load_or_create()?);
        // What a command wraps with may have changed inside, so the same command may wrap again.
        if from.id() == to.id() && to.id() != MasterKeyId::Command {
            return Err(VaultError::SameMasterKey { origin: to.origin().to_owned() });
        }
        wrap_again(store, &from, &to).await?;
        Ok(MasterKeyRotation::Done)
    }

    /// Adds a data key and encrypts every secret with it, and removes those of before.
    pub async fn rotate_data_key(store: &SharedStore, source: &MasterKeySource) -> Result<(), VaultError> {
        Vault::open(store.clone(), source).await?;
        let master = source.load_or_create()?;
        add_data_key(store, &Kept::load(store).await?, &master, Commit::default()).await?;
        Vault::open(store.clone(), source).await?;
        Ok(())
    }
}

/// Whether the vault has the new key already, and not because it is the current one.
async fn is_done(store: &SharedStore, current: &MasterKeySource, new: &MasterKeySource) -> Result<bool, VaultError> {
    let Some(master @ MasterKeyId::Held(_)) = new.id()? else { return Ok(false) };
    let kept = Kept::load(store).await?;
    let has_it = !kept.data_keys.is_empty() && kept.data_keys.values().all(|key| key.wrapped.wrapped_by == master);
    if !has_it || current.id().is_ok_and(|current| current == Some(master)) {
        return Ok(false);
    }
    Vault::open(store.clone(), new).await.map(|_| true)
}

async fn wrap_again(store: &SharedStore, from: &MasterKey, to: &MasterKey) -> Result<(), VaultError> {
    let mut commit = Commit::default();
    for (id, kept) in Kept::load(store).await?.data_keys {
        let wrapped = to.wrap(id, &from.unwrap(id, &kept.wrapped).await?).await?;
        commit = commit.expect(id.document(), Expected::At(kept.revision)).put(id.document(), wrapped.to_bytes());
    }
    store.commit(commit).await?;
    Ok(())
}
