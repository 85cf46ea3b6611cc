//! Why the vault does not give or take a secret, or does not open at all. No key and no secret is part of any text.

use std::io;

use model::SecretRef;

use super::command::KeyCommandError;
use super::key;
use super::wrapped::{DataKeyId, MasterKeyId};
use crate::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error("there is no secret `{name}`; it was never saved, or was removed")]
    Missing { name: SecretRef },
    /// The secret was saved with another key, under another name, or was altered.
    #[error("secret `{name}` cannot be decrypted with this key; restore the key that belongs to this store, or save the secret again")]
    WrongKey { name: SecretRef },
    #[error("{path} is missing, but the store has secrets that only {needed} can decrypt; restore it from where it is kept")]
    KeyFileMissing { path: String, needed: String },
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
    #[error("the environment has no {variable}, which should hold the master key")]
    VariableMissing { variable: String },
    #[error("{variable} holds no key: a key is {} bytes in base64", key::BYTES)]
    VariableGarbled { variable: String },
    #[error("the key command failed")]
    KeyCommand(#[from] KeyCommandError),
    /// The store's data keys are wrapped under another master key than the one that was given.
    #[error("the vault needs {needed}, but {given}")]
    OtherMasterKey { needed: MasterKeyId, given: String },
    #[error("{origin} is the master key already; a rotation needs another one")]
    SameMasterKey { origin: String },
    #[error(
        "the store has secrets of an older version, which a key command cannot open; open it once with their key file, and rotate the key then"
    )]
    DirectSecrets,
    #[error("data key {id} is damaged in the store, and its secrets cannot be decrypted; restore a backup")]
    DataKeyDamaged { id: DataKeyId },
    #[error("the store has had as many data keys as there can be")]
    DataKeysExhausted,
    #[error("the operating system gave no random numbers")]
    Randomness,
    #[error("the secret is too large to be encrypted")]
    TooLarge,
    #[error("the vault's store failed")]
    Store(#[from] StoreError),
}
