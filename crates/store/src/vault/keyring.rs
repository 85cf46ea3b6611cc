//! The data keys of an open vault. The newest encrypts; the others decrypt what they encrypted once.

use std::collections::BTreeMap;

use model::SecretRef;
use zeroize::Zeroizing;

use super::VaultError;
use super::cipher::Cipher;
use super::kept::Kept;
use super::key::Key;
use super::master::MasterKey;
use super::sealed::{self, Sealed};
use super::wrapped::DataKeyId;

pub(super) struct Keyring {
    newest: (DataKeyId, Cipher),
    older: BTreeMap<DataKeyId, Cipher>,
}

impl Keyring {
    pub fn of_one(id: DataKeyId, key: &Key) -> Keyring {
        Keyring { newest: (id, Cipher::new(key)), older: BTreeMap::new() }
    }

    /// Unwraps all data keys; nothing if there are none.
    pub async fn unlock(kept: &Kept, master: &MasterKey) -> Result<Option<Keyring>, VaultError> {
        let mut ciphers = BTreeMap::new();
        for (id, key) in &kept.data_keys {
            ciphers.insert(*id, Cipher::new(&master.unwrap(*id, &key.wrapped).await?));
        }
        Ok(ciphers.pop_last().map(|newest| Keyring { newest, older: ciphers }))
    }

    pub fn newest(&self) -> DataKeyId {
        self.newest.0
    }

    pub fn encrypt(&self, name: &SecretRef, plaintext: &[u8]) -> Result<Vec<u8>, VaultError> {
        let (id, cipher) = &self.newest;
        sealed::seal(*id, cipher, name, plaintext)
    }

    pub fn decrypt(&self, name: &SecretRef, stored: &[u8]) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let opened = match Sealed::parse(stored) {
            Some(Sealed::Enveloped { id, sealed }) => self.cipher(id).and_then(|cipher| sealed::unseal(id, cipher, name, sealed)),
            // Those that could be opened were rewritten when the vault was.
            Some(Sealed::Direct(_)) | None => None,
        };
        opened.ok_or_else(|| VaultError::WrongKey { name: name.clone() })
    }

    fn cipher(&self, id: DataKeyId) -> Option<&Cipher> {
        if id == self.newest.0 { Some(&self.newest.1) } else { self.older.get(&id) }
    }
}
