//! Tokens of ours whose signatures were found good. To verify one costs more than the rest of a small request, and clients show the same
//! token for an hour.
//!
//! Only that it was signed is remembered, by a digest of the whole token. Whether it is good now, and whether its bearer may still come in,
//! is looked at each time.

use std::collections::BTreeMap;

use model::Timestamp;
use sha2::{Digest, Sha256};

use super::claims::Claims;
use super::rejection::Rejection;

/// Tokens that are remembered: some megabytes at most.
pub const VERIFIED_MAX: usize = 10_000;

#[derive(Clone, Debug, Default)]
pub struct Verified(BTreeMap<[u8; 32], Claims>);

impl Verified {
    /// What a token says that was verified before, if it is good now.
    pub fn find(&self, token: &str, now: Timestamp) -> Option<Result<Claims, Rejection>> {
        let claims = self.0.get(&digest(token))?;
        Some(claims.check_times(now).map(|()| claims.clone()))
    }

    pub fn remember(&mut self, token: &str, claims: Claims, now: Timestamp) {
        if self.0.len() >= VERIFIED_MAX {
            self.0.retain(|_, known| known.check_times(now).is_ok());
        }
        if self.0.len() >= VERIFIED_MAX {
            // More callers than there is room for: each is verified anew once.
            self.0.clear();
        }
        self.0.insert(digest(token), claims);
    }

    /// When the keys have changed: what one signed that is known no more must not go on.
    pub fn forget_all(&mut self) {
        self.0.clear();
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}
