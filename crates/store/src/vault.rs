//! Secrets, encrypted on top of any store.
//!
//! Secrets are encrypted with a data key, and data keys with the master key, which comes from a file, the environment or a command. The
//! store and its backups hold ciphertext and wrapped data keys only. A secret's name is bound to its ciphertext, so that one secret
//! cannot be put in the place of another. Who may read a secret is not decided here.

mod cipher;
mod command;
mod error;
mod kept;
mod key;
mod keyring;
mod master;
mod opening;
mod rotation;
mod sealed;
mod survey;
mod wrapped;

use std::fmt;

use model::SecretRef;
use zeroize::Zeroizing;

use crate::{Commit, Document, Expected, SharedStore, StoreError};
use kept::{Kept, document_of};
use key::Key;
use keyring::Keyring;

pub use command::{KEY_COMMAND_ANSWER_BYTES, KEY_COMMAND_TIMEOUT, KeyCommand, KeyCommandError};
pub use error::VaultError;
pub(crate) use kept::{PREFIXES, is_of_vault};
pub use key::Fingerprint;
pub use master::{MASTER_KEY_VARIABLE, MasterKeySource, NEW_MASTER_KEY_VARIABLE};
pub use rotation::MasterKeyRotation;
pub use survey::{DataKeySurvey, VaultSurvey};
pub use wrapped::{DataKeyId, MasterKeyId};

/// Whether a master key can open secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFit {
    /// There is nothing to open.
    NoSecrets,
    NoKeyFile,
    Fits,
    OtherKey,
}

pub struct Vault {
    store: SharedStore,
    keyring: Keyring,
}

impl Vault {
    /// Opens the vault with its master key. An empty vault takes any key, and gets a new one if its file is absent.
    ///
    /// A key that does not belong to the store's secrets is refused here, and not when the first server needs power. Secrets that are
    /// not under the newest data key are brought under it.
    pub async fn open(store: SharedStore, source: &MasterKeySource) -> Result<Vault, VaultError> {
        opening::open(store, source).await
    }

    /// Whether a master key opens a vault that was read elsewhere, in a backup for example. Nothing is made.
    pub async fn fit(documents: &[&Document], source: &MasterKeySource) -> Result<KeyFit, VaultError> {
        fit(&Kept::of(documents)?, source).await
    }

    /// Whether a master key opens the vault of a store. Nothing is made, and nothing rewritten.
    pub async fn fit_store(store: &SharedStore, source: &MasterKeySource) -> Result<KeyFit, VaultError> {
        fit(&Kept::load(store).await?, source).await
    }

    /// A vault whose key is gone when the process ends, for tests and simulations.
    ///
    /// # Panics
    /// If the operating system has no random numbers.
    pub fn ephemeral(store: SharedStore) -> Vault {
        let key = Key::generate().expect("the operating system has random numbers");
        Vault { store, keyring: Keyring::of_one(DataKeyId::FIRST, &key) }
    }

    /// Saves a secret. One that is stored already is not written again, so that a repeated request leaves no trace.
    pub async fn save(&self, name: &SecretRef, plaintext: &[u8]) -> Result<(), VaultError> {
        match self.load(name).await {
            Ok(stored) if stored.as_slice() == plaintext => return Ok(()),
            // What cannot be decrypted may be replaced: a new value is the only remedy.
            Ok(_) | Err(VaultError::Missing { .. } | VaultError::WrongKey { .. }) => {}
            Err(error) => return Err(error),
        }
        let ciphertext = self.keyring.encrypt(name, plaintext)?;
        self.store.commit(Commit::default().put(document_of(name), ciphertext)).await?;
        Ok(())
    }

    pub async fn load(&self, name: &SecretRef) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let document = self.store.get(&document_of(name)).await?.ok_or_else(|| VaultError::Missing { name: name.clone() })?;
        self.keyring.decrypt(name, &document.value)
    }

    /// The secret, or a random one that is saved first if there is none. Whoever comes second gets what the first one made.
    pub async fn load_or_make(&self, name: &SecretRef) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        match self.load(name).await {
            Err(VaultError::Missing { .. }) => {}
            answer => return answer,
        }
        let made = Key::generate()?;
        self.save_first(name, made.bytes()).await
    }

    /// Saves a secret unless there is one. The answer is the one that is there: whoever comes second gets what the first one saved.
    pub async fn save_first(&self, name: &SecretRef, plaintext: &[u8]) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let document = document_of(name);
        let ciphertext = self.keyring.encrypt(name, plaintext)?;
        match self.store.commit(Commit::default().expect(document.clone(), Expected::Absent).put(document, ciphertext)).await {
            Ok(_) | Err(StoreError::Conflict { .. }) => self.load(name).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a secret; that there is none is no error.
    pub async fn remove(&self, name: &SecretRef) -> Result<(), VaultError> {
        self.store.commit(Commit::default().delete(document_of(name))).await?;
        Ok(())
    }
}

async fn fit(kept: &Kept, source: &MasterKeySource) -> Result<KeyFit, VaultError> {
    if kept.secrets.is_empty() {
        return Ok(KeyFit::NoSecrets);
    }
    let Some(master) = source.load()? else { return Ok(KeyFit::NoKeyFile) };
    let proof = match Keyring::unlock(kept, &master).await {
        Ok(Some(_)) => Ok(()),
        Ok(None) => kept.prove_direct(&master),
        Err(error) => Err(error),
    };
    match proof {
        Ok(()) => Ok(KeyFit::Fits),
        Err(VaultError::OtherMasterKey { .. } | VaultError::WrongKey { .. } | VaultError::DirectSecrets) => Ok(KeyFit::OtherKey),
        Err(error) => Err(error),
    }
}

/// Neither the key nor any secret is ever printed.
impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
