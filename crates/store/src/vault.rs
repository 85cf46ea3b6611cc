//! Secrets, encrypted on top of any store.
//!
//! The store and its backups hold ciphertext only; the key is in a file of its own. A secret's name is bound to its
//! ciphertext, so that one secret cannot be put in the place of another. Who may read a secret is not decided here.

mod key;

use std::fmt;
use std::io;
use std::path::Path;

use chacha20poly1305::aead::{Aead, Generate, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use model::SecretRef;
use zeroize::Zeroizing;

use crate::{Commit, Document, Expected, SharedStore, StoreError};
use key::Key;

pub(crate) const PREFIX: &str = "secrets/";

/// The first byte of a stored secret, so that another cipher can follow some day.
const XCHACHA20_POLY1305: u8 = 1;

const NONCE_BYTES: usize = 24;

#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error("there is no secret `{name}`; it was never saved, or was removed")]
    Missing { name: SecretRef },
    /// The secret was saved with another key, under another name, or was altered.
    #[error("secret `{name}` cannot be decrypted with this key; restore the key file that belongs to this store, or save the secret again")]
    WrongKey { name: SecretRef },
    #[error("{path} is missing, but the store has secrets that only this key can decrypt; restore it from where it is kept")]
    KeyFileMissing { path: String },
    #[error("{path} has {found} bytes, and a key has {}; restore it from where it is kept", key::BYTES)]
    KeyFileLength { path: String, found: u64 },
    #[error("{path} can be read by others (mode {mode:03o}); restrict it with `chmod 600 {path}`, and consider the key as known to them")]
    KeyFileExposed { path: String, mode: u32 },
    #[error("{path} cannot be used")]
    KeyFile {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("the operating system gave no random numbers")]
    Randomness,
    #[error("secret `{name}` is too large to be encrypted")]
    TooLarge { name: SecretRef },
    #[error("the vault's store failed")]
    Store(#[from] StoreError),
}

/// Whether a key file can open secrets.
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
    cipher: XChaCha20Poly1305,
}

impl Vault {
    /// Opens the vault with the key in `key_file`. An empty vault gets a new key if the file is absent.
    ///
    /// A key that does not belong to the store's secrets is refused here, and not when the first server needs power.
    pub async fn open(store: SharedStore, key_file: &Path) -> Result<Vault, VaultError> {
        let secrets = store.list(PREFIX).await?.documents;
        let key = match Key::load(key_file)? {
            Some(key) => key,
            None if secrets.is_empty() => Key::create(key_file)?,
            None => return Err(VaultError::KeyFileMissing { path: key_file.display().to_string() }),
        };
        let vault = Vault { store, cipher: XChaCha20Poly1305::new(key.bytes().into()) };
        vault.check_key(&secrets)?;
        Ok(vault)
    }

    /// Whether the key in a file opens secrets that were read elsewhere, in a backup for example. Nothing is made.
    pub fn fit(secrets: &[&Document], key_file: &Path) -> Result<KeyFit, VaultError> {
        if secrets.is_empty() {
            return Ok(KeyFit::NoSecrets);
        }
        let Some(key) = Key::load(key_file)? else { return Ok(KeyFit::NoKeyFile) };
        let cipher = XChaCha20Poly1305::new(key.bytes().into());
        let is_opened = |document: &&Document| decrypt(&cipher, &name_of(document), &document.value).is_ok();
        Ok(if secrets.iter().any(is_opened) { KeyFit::Fits } else { KeyFit::OtherKey })
    }

    /// One readable secret proves the key; a single spoilt one must not keep the others locked away.
    fn check_key(&self, secrets: &[Document]) -> Result<(), VaultError> {
        let mut refusal = Ok(());
        for document in secrets {
            match decrypt(&self.cipher, &name_of(document), &document.value) {
                Ok(_) => return Ok(()),
                Err(error) => refusal = Err(error),
            }
        }
        refusal
    }

    /// A vault whose key is gone when the process ends, for tests and simulations.
    ///
    /// # Panics
    /// If the operating system has no random numbers.
    pub fn ephemeral(store: SharedStore) -> Vault {
        Vault { store, cipher: XChaCha20Poly1305::new(&chacha20poly1305::Key::generate()) }
    }

    /// Saves a secret. One that is stored already is not written again, so that a repeated request leaves no trace.
    pub async fn save(&self, name: &SecretRef, plaintext: &[u8]) -> Result<(), VaultError> {
        match self.load(name).await {
            Ok(stored) if stored.as_slice() == plaintext => return Ok(()),
            // What cannot be decrypted may be replaced: a new value is the only remedy.
            Ok(_) | Err(VaultError::Missing { .. } | VaultError::WrongKey { .. }) => {}
            Err(error) => return Err(error),
        }
        let ciphertext = self.encrypt(name, plaintext)?;
        self.store.commit(Commit::default().put(key_of(name), ciphertext)).await?;
        Ok(())
    }

    pub async fn load(&self, name: &SecretRef) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let document = self.store.get(&key_of(name)).await?.ok_or_else(|| VaultError::Missing { name: name.clone() })?;
        decrypt(&self.cipher, name, &document.value)
    }

    /// The secret, or a random one that is saved first if there is none. Whoever comes second gets what the first one made.
    pub async fn load_or_make(&self, name: &SecretRef) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        match self.load(name).await {
            Err(VaultError::Missing { .. }) => {}
            answer => return answer,
        }
        let made = Key::generate()?;
        let key = key_of(name);
        let commit = Commit::default().expect(key.clone(), Expected::Absent).put(key, self.encrypt(name, made.bytes())?);
        match self.store.commit(commit).await {
            Ok(_) | Err(StoreError::Conflict { .. }) => self.load(name).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a secret; that there is none is no error.
    pub async fn remove(&self, name: &SecretRef) -> Result<(), VaultError> {
        self.store.commit(Commit::default().delete(key_of(name))).await?;
        Ok(())
    }

    fn encrypt(&self, name: &SecretRef, plaintext: &[u8]) -> Result<Vec<u8>, VaultError> {
        let nonce = XNonce::try_generate().map_err(|_| VaultError::Randomness)?;
        let payload = Payload { msg: plaintext, aad: name.as_str().as_bytes() };
        let ciphertext = self.cipher.encrypt(&nonce, payload).map_err(|_| VaultError::TooLarge { name: name.clone() })?;
        Ok([[XCHACHA20_POLY1305].as_slice(), nonce.as_slice(), &ciphertext].concat())
    }
}

fn decrypt(cipher: &XChaCha20Poly1305, name: &SecretRef, stored: &[u8]) -> Result<Zeroizing<Vec<u8>>, VaultError> {
    let wrong_key = || VaultError::WrongKey { name: name.clone() };
    let sealed = stored.strip_prefix(&[XCHACHA20_POLY1305]).ok_or_else(wrong_key)?;
    let (nonce, ciphertext) = sealed.split_first_chunk::<NONCE_BYTES>().ok_or_else(wrong_key)?;
    let payload = Payload { msg: ciphertext, aad: name.as_str().as_bytes() };
    cipher.decrypt(&XNonce::from(*nonce), payload).map(Zeroizing::new).map_err(|_| wrong_key())
}

fn name_of(document: &Document) -> SecretRef {
    SecretRef::new(document.key.strip_prefix(PREFIX).unwrap_or_default())
}

fn key_of(name: &SecretRef) -> String {
    format!("{PREFIX}{name}")
}

/// Neither the key nor any secret is ever printed.
impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
