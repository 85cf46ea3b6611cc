//! What the store has of the vault: secrets and wrapped data keys.

use std::collections::{BTreeMap, BTreeSet};

use model::SecretRef;

use super::VaultError;
use super::master::MasterKey;
use super::sealed::{Sealed, unseal_direct};
use super::wrapped::{self, DataKeyId, WrappedKey};
use crate::{Document, Revision, SharedStore};

/// Where secrets lie in the store.
pub(super) const SECRETS: &str = "secrets/";

/// Whether a document is the vault's. Without all of them none of the secrets is of use.
pub(crate) fn is_of_vault(document: &Document) -> bool {
    PREFIXES.iter().any(|prefix| document.key.starts_with(prefix))
}

/// Where the vault's documents lie.
pub(crate) const PREFIXES: [&str; 2] = [SECRETS, wrapped::PREFIX];

pub(super) struct Kept {
    pub secrets: Vec<Document>,
    pub data_keys: BTreeMap<DataKeyId, KeptKey>,
}

pub(super) struct KeptKey {
    pub revision: Revision,
    pub wrapped: WrappedKey,
}

impl Kept {
    /// Keys are listed after the secrets: a key is there before the first secret that needs it.
    pub async fn load(store: &SharedStore) -> Result<Kept, VaultError> {
        let secrets = store.list(SECRETS).await?.documents;
        let keys = store.list(wrapped::PREFIX).await?.documents;
        Ok(Kept { secrets, data_keys: parse_keys(&keys)? })
    }

    pub fn of(documents: &[&Document]) -> Result<Kept, VaultError> {
        let secrets = documents.iter().copied().filter(|document| document.key.starts_with(SECRETS)).cloned().collect();
        Ok(Kept { secrets, data_keys: parse_keys(documents.iter().copied())? })
    }

    /// Whether a master key may be taken that none of the data keys belongs to: nothing is lost by it.
    pub fn takes_any_key(&self, master: &MasterKey) -> bool {
        let is_of_another = |key: &KeptKey| key.wrapped.wrapped_by != master.id();
        self.data_keys.is_empty() || (self.secrets.is_empty() && self.data_keys.values().all(is_of_another))
    }

    /// What the secrets need to be opened, for messages.
    pub fn needed(&self) -> String {
        self.data_keys.values().next_back().map_or_else(|| "this key".to_owned(), |key| key.wrapped.wrapped_by.to_string())
    }

    /// The data keys that secrets were encrypted with.
    pub fn used_keys(&self) -> BTreeSet<DataKeyId> {
        self.secrets.iter().filter_map(key_of).collect()
    }

    /// Whether a master key opens secrets that are encrypted with it directly.
    ///
    /// One readable secret proves the key; a single spoilt one must not keep the others locked away.
    pub fn prove_direct(&self, master: &MasterKey) -> Result<(), VaultError> {
        let Some(first) = self.secrets.first() else { return Ok(()) };
        let cipher = master.direct_cipher().ok_or(VaultError::DirectSecrets)?;
        let is_opened = |document: &Document| match Sealed::parse(&document.value) {
            Some(Sealed::Direct(sealed)) => unseal_direct(&cipher, &name_of(document), sealed).is_some(),
            _ => false,
        };
        if self.secrets.iter().any(is_opened) { Ok(()) } else { Err(VaultError::WrongKey { name: name_of(first) }) }
    }
}

fn parse_keys<'a>(documents: impl IntoIterator<Item = &'a Document>) -> Result<BTreeMap<DataKeyId, KeptKey>, VaultError> {
    let keys = documents.into_iter().filter_map(|document| Some((DataKeyId::of_document(&document.key)?, document)));
    keys.map(|(id, document)| {
        let wrapped = WrappedKey::parse(&document.value).ok_or(VaultError::DataKeyDamaged { id })?;
        Ok((id, KeptKey { revision: document.revision, wrapped }))
    })
    .collect()
}

/// The data key of a secret; none if it has none, or is spoilt.
pub(super) fn key_of(document: &Document) -> Option<DataKeyId> {
    match Sealed::parse(&document.value)? {
        Sealed::Enveloped { id, .. } => Some(id),
        Sealed::Direct(_) => None,
    }
}

pub(super) fn name_of(document: &Document) -> SecretRef {
    SecretRef::new(document.key.strip_prefix(SECRETS).unwrap_or_default())
}

pub(super) fn document_of(name: &SecretRef) -> String {
    format!("{SECRETS}{name}")
}
