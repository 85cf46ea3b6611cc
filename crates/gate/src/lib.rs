//! The gate: who is asking, kept in the store and known by tokens, and what they may.
//!
//! What is decided about identity and permission is decided in `access`, without I/O. Here are the documents that it decides from, the keys
//! in the vault, and the clock. Nothing here knows HTTP.

mod administrator;
mod device;
mod directory;
mod documents;
mod house;
mod issuers;
mod keys;
mod login;
mod principals;
mod restrain;
mod restraints;
mod roles;
mod session;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use access::attempts::{Logins, Requests, TooMany};
use access::judge::Visible;
use access::token::{Claims, Mint, Rejection, ShownAssertions, Verified};
use access::{Missing, Permission, Scope, TenantId};
use device::Devices;
use model::{Clock, Timestamp};
use ring::rand::{SecureRandom, SystemRandom};
use store::{SharedStore, StoreError, Vault, VaultError};
use tokio_util::sync::CancellationToken;
use uuid::{Builder, Uuid};
use zeroize::Zeroizing;

/// Who a request comes from, once its token was found good.
pub use access::token::Bearer as Caller;
pub use administrator::ADMINISTRATOR;
pub use device::{
    DEVICE_BEGINNINGS, DEVICE_CODE_LIFE, DEVICE_POLL_EVERY, DEVICE_POLL_LEAST, DEVICES_MAX, DeviceCode, DeviceError, DeviceState,
};
pub use directory::Directory;
pub use house::OpenHouse;
pub use issuers::{
    AUDIENCES_MAX, ISSUER_NAME_MAX, ISSUER_URL_MAX, ISSUERS_MAX, Issuer, IssuerError, KEYS_REFRESH_AT_ONCE, KEYS_REFRESH_EVERY, KeyFetcher,
};
pub use keys::ROTATE_AFTER;
pub use login::{LoginError, Shown};
pub use principals::{PRINCIPALS_MAX, PrincipalError};
pub use restrain::{RestraintError, Was};
pub use restraints::{Denial, Restraints};
pub use roles::{Assigned, AssignmentError};
pub use session::SESSION_LIFE;

/// The tenant of everything here. Azure's clients want one, and it must be a GUID.
pub const TENANT: TenantId = TenantId::new(Uuid::from_u128(0x00000000_0000_4000_8000_0000000000aa));

/// What every token of ours is for. Clients know the service by many addresses; a token is good at all of them.
pub const AUDIENCE: &str = "https://management.rackwright/";

/// Who signs our tokens.
pub fn issuer() -> String {
    format!("urn:rackwright:{TENANT}")
}

#[derive(Debug, thiserror::Error)]
pub enum GateError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error("the operating system has no random numbers")]
    NoRandom,
    #[error("the rules of access cannot be read: {0}")]
    Rules(String),
    #[error("the keys of tokens in the vault cannot be understood")]
    Keys,
}

/// One for each process.
pub struct Gate {
    store: SharedStore,
    vault: Arc<Vault>,
    clock: Arc<dyn Clock>,
    directory: RwLock<Directory>,
    /// How often the directory was changed.
    edition: AtomicU64,
    mint: RwLock<Mint>,
    secret_key: access::principal::SecretKey,
    logins: Mutex<Logins>,
    shown: Mutex<ShownAssertions>,
    requests: Mutex<Requests>,
    devices: Mutex<Devices>,
    verified: Mutex<Verified>,
    fetcher: Option<Arc<dyn KeyFetcher>>,
    /// Issuers whose keys are being fetched.
    fetching: Mutex<BTreeSet<String>>,
    /// What our clients know us by: names and addresses, without ports.
    hosts: Vec<String>,
    /// Two changes at once would each not see the other's.
    writing: tokio::sync::Mutex<()>,
}

impl Gate {
    /// Reads what there is, and makes the keys that are missing; [`Gate::follow`] keeps it up to date from then on.
    pub async fn open(store: SharedStore, vault: Arc<Vault>, clock: Arc<dyn Clock>) -> Result<Gate, GateError> {
        let directory = Directory::load(&store).await?;
        let secret_key = keys::secret_key(&vault).await?;
        let signing = keys::load(&vault, clock.now()).await?;
        Ok(Gate {
            store,
            vault,
            clock,
            directory: RwLock::new(directory),
            edition: AtomicU64::default(),
            mint: RwLock::new(Mint::new(issuer(), vec![AUDIENCE.to_owned()], signing)),
            secret_key,
            logins: Mutex::default(),
            shown: Mutex::default(),
            requests: Mutex::default(),
            devices: Mutex::default(),
            verified: Mutex::default(),
            fetcher: None,
            fetching: Mutex::default(),
            hosts: ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into(),
            writing: tokio::sync::Mutex::default(),
        })
    }

    /// Who asks other issuers for their keys. Without one, their keys must be given.
    #[must_use]
    pub fn with_fetcher(self, fetcher: Arc<dyn KeyFetcher>) -> Gate {
        Gate { fetcher: Some(fetcher), ..self }
    }

    /// The names and addresses that our certificate has.
    #[must_use]
    pub fn with_hosts(self, hosts: Vec<String>) -> Gate {
        Gate { hosts, ..self }
    }

    /// Whether it is us whom a client means by this name or address. What a request says of itself proves nothing.
    pub fn is_host(&self, host: &str) -> bool {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(bare))
    }

    /// Follows the store and renews the keys of tokens until `shutdown`.
    pub async fn follow(self: Arc<Self>, shutdown: CancellationToken) {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => {}
            () = directory::follow(&self) => {}
            () = keys::renew(&self) => {}
            () = issuers::refresh(&self) => {}
        }
    }

    /// Whom a token was given to, if it is good now, and if who has it may still come in.
    pub fn authenticate(&self, token: &str) -> Result<Caller, Rejection> {
        let bearer = self.verify(token)?.bearer();
        self.check_still_there(&bearer)?;
        Ok(bearer)
    }

    fn verify(&self, token: &str) -> Result<Claims, Rejection> {
        let now = self.clock.now();
        if let Some(known) = lock(&self.verified).find(token, now) {
            return known;
        }
        let mint = self.mint();
        let claims = mint.check(token, now)?;
        // While the keys are held: whoever changes them forgets afterwards what was verified with those before.
        lock(&self.verified).remember(token, claims.clone(), now);
        drop(mint);
        Ok(claims)
    }

    /// People are not ours to know: who vouched for them has done so when the token was made, and is asked only whether we still trust them.
    fn check_still_there(&self, bearer: &Caller) -> Result<(), Rejection> {
        let directory = self.directory();
        match (bearer.client, &bearer.vouched_by) {
            (Some(_), _) => directory.check_principal(bearer.principal, bearer.credential.as_ref()),
            (None, Some(issuer)) if !directory.trusts(issuer) => Err(Rejection::WrongIssuer),
            _ => Ok(()),
        }
    }

    pub fn may(&self, caller: &Caller, permission: &Permission, scope: &Scope) -> Result<(), Missing> {
        self.directory().judge().may(caller.principal, permission, scope)
    }

    /// Where the caller has a permission.
    pub fn visible(&self, caller: &Caller, permission: &Permission) -> Visible {
        self.directory().judge().visible(caller.principal, permission)
    }

    /// Counts a request of a caller.
    pub fn count(&self, caller: &Caller) -> Result<(), TooMany> {
        lock(&self.requests).take(caller.principal, self.clock.now())
    }

    pub fn directory(&self) -> RwLockReadGuard<'_, Directory> {
        self.directory.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The public keys, as others verify our tokens with.
    pub fn jwks(&self) -> serde_json::Value {
        self.mint().keys().jwks(self.now())
    }

    /// Signs tokens with a new key from now on. Those that there are stay good until they expire.
    pub async fn rotate_signing_key(&self) -> Result<(), GateError> {
        keys::renew_once(self, keys::Rotation::Now).await
    }

    /// Which edition of the directory is decided from. While it is the same, so is what was decided; asked for before anything is decided.
    pub fn edition(&self) -> u64 {
        self.edition.load(Ordering::Acquire)
    }

    fn change(&self) -> RwLockWriteGuard<'_, Directory> {
        let directory = self.directory.write().unwrap_or_else(PoisonError::into_inner);
        self.edition.fetch_add(1, Ordering::AcqRel);
        directory
    }

    fn mint(&self) -> RwLockReadGuard<'_, Mint> {
        self.mint.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").finish_non_exhaustive()
    }
}

/// What a panic left behind in here is whole: each is changed in one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>, GateError> {
    let mut bytes = Zeroizing::new([0; N]);
    SystemRandom::new().fill(bytes.as_mut_slice()).map_err(|_| GateError::NoRandom)?;
    Ok(bytes)
}

fn random_id() -> Result<Uuid, GateError> {
    Ok(Builder::from_random_bytes(*random::<16>()?).into_uuid())
}
