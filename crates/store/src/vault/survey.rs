//! What a vault holds, as far as it can be told without any key.

use super::kept::{Kept, key_of};
use super::sealed::Sealed;
use super::wrapped::{DataKeyId, MasterKeyId};
use super::{Vault, VaultError};
use crate::SharedStore;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultSurvey {
    /// Oldest first; the last one encrypts.
    pub data_keys: Vec<DataKeySurvey>,
    /// Secrets that an older version encrypted with the master key itself; they are rewritten when the vault is opened.
    pub direct_secrets: usize,
    pub secrets: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataKeySurvey {
    pub id: DataKeyId,
    pub wrapped_by: MasterKeyId,
    /// How many secrets are encrypted with it.
    pub secrets: usize,
}

impl VaultSurvey {
    /// The master key that opens the vault; none if it has none yet, or is of an older version.
    pub fn master_key(&self) -> Option<MasterKeyId> {
        self.data_keys.last().map(|key| key.wrapped_by)
    }
}

impl Vault {
    /// Counts what is there. Nothing is decrypted, and no secret is named.
    pub async fn survey(store: &SharedStore) -> Result<VaultSurvey, VaultError> {
        let kept = Kept::load(store).await?;
        let count = |id: DataKeyId| kept.secrets.iter().filter(|document| key_of(document) == Some(id)).count();
        let data_keys =
            kept.data_keys.iter().map(|(id, key)| DataKeySurvey { id: *id, wrapped_by: key.wrapped.wrapped_by, secrets: count(*id) });
        let is_direct = |value: &[u8]| matches!(Sealed::parse(value), Some(Sealed::Direct(_)));
        let direct_secrets = kept.secrets.iter().filter(|document| is_direct(&document.value)).count();
        Ok(VaultSurvey { data_keys: data_keys.collect(), direct_secrets, secrets: kept.secrets.len() })
    }
}
