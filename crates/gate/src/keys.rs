//! The keys of tokens and of secrets, in the vault.
//!
//! A key of tokens is a random seed and the time from which on it signs. The last one verifies until its last token has expired, so nobody
//! is logged out by a change of keys.

use std::time::Duration;

use access::principal::SecretKey;
use access::token::{SEED_BYTES, SigningKey, SigningKeys};
use model::{SecretRef, Span, Timestamp};
use serde::{Deserialize, Serialize};
use store::{Vault, VaultError};
use tracing::{error, info};
use zeroize::{Zeroize, Zeroizing};

use crate::{Gate, GateError, random};

const SECRET_KEY: &str = "access/secret-key";
const SIGNING_KEYS: &str = "access/signing-keys";

/// How long a key signs before the next takes over.
pub const ROTATE_AFTER: Span = Span::hours(30 * 24);

/// How often the age of the key that signs is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(60 * 60);

#[derive(Serialize, Deserialize)]
struct Seed {
    signs_from: Timestamp,
    seed: [u8; SEED_BYTES],
}

impl Drop for Seed {
    fn drop(&mut self) {
        self.seed.zeroize();
    }
}

pub async fn secret_key(vault: &Vault) -> Result<SecretKey, GateError> {
    let bytes = vault.load_or_make(&SecretRef::new(SECRET_KEY)).await?;
    SecretKey::from_bytes(&bytes).ok_or(GateError::Keys)
}

/// The keys of tokens; the first one is made if there is none.
pub async fn load(vault: &Vault, now: Timestamp) -> Result<SigningKeys, GateError> {
    let mut seeds = read(vault).await?;
    if seeds.is_empty() {
        seeds.push(Seed { signs_from: now, seed: *random()? });
        write(vault, &seeds).await?;
    }
    signing(&seeds)
}

/// Looks at the keys now and then, for ever.
pub async fn renew(gate: &Gate) {
    loop {
        if let Err(problem) = renew_once(gate, Rotation::WhenOld).await {
            error!(error = %problem, "the keys of tokens could not be renewed");
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    WhenOld,
    Now,
}

pub async fn renew_once(gate: &Gate, rotation: Rotation) -> Result<(), GateError> {
    let _alone = gate.writing.lock().await;
    let now = gate.now();
    let mut seeds = read(&gate.vault).await?;
    // One from the future is of a clock that was ahead: its time may be years away.
    let newest = seeds.iter().map(|seed| seed.signs_from).filter(|signs_from| *signs_from <= now).max();
    let is_due = rotation == Rotation::Now || newest.is_none_or(|newest| now >= newest + ROTATE_AFTER);
    if is_due {
        seeds.push(Seed { signs_from: now, seed: *random()? });
    }
    let mut keys = signing(&seeds)?;
    let spent = keys.forget_spent(now);
    if !is_due && spent.is_empty() {
        return Ok(());
    }
    seeds.retain(|seed| SigningKey::from_seed(&seed.seed, seed.signs_from).is_some_and(|key| !spent.iter().any(|id| id == key.id())));
    write(&gate.vault, &seeds).await?;
    gate.mint.write().unwrap_or_else(std::sync::PoisonError::into_inner).set_keys(keys);
    crate::lock(&gate.verified).forget_all();
    info!(keys = seeds.len(), forgotten = spent.len(), "the keys of tokens were renewed");
    Ok(())
}

async fn read(vault: &Vault) -> Result<Vec<Seed>, GateError> {
    match vault.load(&SecretRef::new(SIGNING_KEYS)).await {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|_| GateError::Keys),
        Err(VaultError::Missing { .. }) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

async fn write(vault: &Vault, seeds: &[Seed]) -> Result<(), GateError> {
    let bytes = Zeroizing::new(serde_json::to_vec(seeds).map_err(|_| GateError::Keys)?);
    Ok(vault.save(&SecretRef::new(SIGNING_KEYS), &bytes).await?)
}

fn signing(seeds: &[Seed]) -> Result<SigningKeys, GateError> {
    let mut keys = SigningKeys::default();
    for seed in seeds {
        keys.add(SigningKey::from_seed(&seed.seed, seed.signs_from).ok_or(GateError::Keys)?);
    }
    Ok(keys)
}
