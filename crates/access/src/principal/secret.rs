//! Secrets of service principals. They are made by us and never chosen by anybody.
//!
//! A slow hash such as Argon2 makes up for secrets that people choose and others guess. Ours have 256 random bits, which nobody guesses at
//! any speed, and a slow hash would let whoever sends wrong secrets use up our processors. So the store has a MAC of each secret: whoever
//! reads the store learns nothing without the key, which is in the vault, and cannot put in a digest of their own. The client and the
//! secret's id are part of it, so that no digest can be moved to another client.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use model::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::guid::{ClientId, SecretId};

/// Random bytes of a secret.
pub const SECRET_BYTES: usize = 32;

/// Bytes of the key: as long as the digest that it keys.
pub const KEY_BYTES: usize = 32;

/// What a MAC pads its key to, with zeros.
const BLOCK_BYTES: usize = 64;

/// How long a secret may be good: two years, as in Azure.
pub const SECRET_LIFE_MAX: Span = Span::hours(2 * 366 * 24);

/// First characters of a secret that are shown, so that people know which one it is; 238 of its 256 bits stay unknown.
const HINT_CHARACTERS: usize = 3;

/// Characters of a secret as we make it. What is longer is not even hashed.
const SECRET_CHARACTERS: usize = 43;

/// A secret, on its only way to whom it was made for.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientSecret(Zeroizing<String>);

/// What is stored of a secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredSecret {
    pub id: SecretId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Its first characters.
    pub hint: String,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    digest: String,
}

/// The key of all digests. It is in the vault.
#[derive(Clone)]
pub struct SecretKey(Zeroizing<[u8; BLOCK_BYTES]>);

impl ClientSecret {
    /// The bytes must be random.
    pub fn new(random: &Zeroizing<[u8; SECRET_BYTES]>) -> ClientSecret {
        ClientSecret(Zeroizing::new(URL_SAFE_NO_PAD.encode(random.as_slice())))
    }

    /// As its owner keeps it. It is shown once and never again.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl SecretKey {
    /// Nothing if it is not [`KEY_BYTES`] long.
    pub fn from_bytes(bytes: &[u8]) -> Option<SecretKey> {
        let key: &[u8; KEY_BYTES] = bytes.try_into().ok()?;
        let mut block = Zeroizing::new([0; BLOCK_BYTES]);
        block[..KEY_BYTES].copy_from_slice(key);
        Some(SecretKey(block))
    }

    /// What is stored of a secret. It expires when its longest life is over, if not before.
    pub fn store(
        &self,
        client: ClientId,
        id: SecretId,
        secret: &ClientSecret,
        created_at: Timestamp,
        expires_at: Timestamp,
    ) -> StoredSecret {
        let digest = self.mac(client, id, secret.text()).finalize().into_bytes();
        StoredSecret {
            id,
            display_name: None,
            hint: secret.text().chars().take(HINT_CHARACTERS).collect(),
            created_at,
            expires_at: expires_at.min(created_at + SECRET_LIFE_MAX),
            digest: URL_SAFE_NO_PAD.encode(digest),
        }
    }

    /// Whether this is the secret. It takes as long whatever is wrong with it, but for its length, which everybody knows.
    pub(super) fn is_digest_of(&self, client: ClientId, stored: &StoredSecret, shown: &str) -> bool {
        if shown.len() != SECRET_CHARACTERS {
            return false;
        }
        let Ok(digest) = URL_SAFE_NO_PAD.decode(&stored.digest) else { return false };
        self.mac(client, stored.id, shown).verify_slice(&digest).is_ok()
    }

    fn mac(&self, client: ClientId, id: SecretId, secret: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new((&*self.0).into());
        let text = Zeroizing::new(format!("client secret\n{client}\n{id}\n{secret}"));
        mac.update(text.as_bytes());
        mac
    }
}

impl fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientSecret").finish_non_exhaustive()
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey").finish_non_exhaustive()
    }
}

impl fmt::Debug for StoredSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredSecret").field("id", &self.id).field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}
