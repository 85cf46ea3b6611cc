//! The master key: where it comes from, and wrapping data keys with it.

use std::fmt;
use std::path::PathBuf;

use zeroize::Zeroizing;

use super::VaultError;
use super::cipher::Cipher;
use super::command::KeyCommand;
use super::key::Key;
use super::wrapped::{DataKeyId, MasterKeyId, WrappedKey};

/// The variable that may hold the master key, in base64.
///
/// It stays in our environment: a variable cannot be removed soundly once there are threads, and whoever may read our first environment
/// in `/proc` sees it even then. No command that we run gets it.
pub const MASTER_KEY_VARIABLE: &str = "RACKWRIGHT_MASTER_KEY";

/// The variable that may hold the key that follows, while the master key is rotated.
pub const NEW_MASTER_KEY_VARIABLE: &str = "RACKWRIGHT_NEW_MASTER_KEY";

pub(super) const SECRET_VARIABLES: [&str; 2] = [MASTER_KEY_VARIABLE, NEW_MASTER_KEY_VARIABLE];

/// Where a master key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MasterKeySource {
    /// Its bytes; the file is made for a vault that is empty.
    File(PathBuf),
    /// A variable of the environment, with the key in base64.
    Variable(&'static str),
    /// A command that wraps and unwraps with a key that we never see.
    Command(KeyCommand),
}

impl fmt::Display for MasterKeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MasterKeySource::File(path) => path.display().fmt(f),
            MasterKeySource::Variable(variable) => f.write_str(variable),
            MasterKeySource::Command(command) => write!(f, "key command `{}`", command.program()),
        }
    }
}

impl MasterKeySource {
    /// The key; none if its file is absent.
    pub(super) fn load(&self) -> Result<Option<MasterKey>, VaultError> {
        let lock = match self {
            MasterKeySource::File(path) => match Key::load(path)? {
                Some(key) => Lock::Held(key),
                None => return Ok(None),
            },
            MasterKeySource::Variable(variable) => Lock::Held(load_variable(variable)?),
            MasterKeySource::Command(command) => Lock::Command(command.clone()),
        };
        Ok(Some(MasterKey { origin: self.to_string(), lock }))
    }

    /// The key; made first if its file is absent.
    pub(super) fn load_or_create(&self) -> Result<MasterKey, VaultError> {
        match (self.load()?, self) {
            (Some(master), _) => Ok(master),
            (None, MasterKeySource::File(path)) => Ok(MasterKey { origin: self.to_string(), lock: Lock::Held(Key::create(path)?) }),
            (None, _) => Err(VaultError::VariableMissing { variable: self.to_string() }),
        }
    }

    /// What the key is known by; none if its file is absent. No command is run.
    pub fn id(&self) -> Result<Option<MasterKeyId>, VaultError> {
        Ok(self.load()?.map(|master| master.id()))
    }
}

fn load_variable(variable: &str) -> Result<Key, VaultError> {
    let text = std::env::var_os(variable).ok_or_else(|| VaultError::VariableMissing { variable: variable.to_owned() })?;
    let text = Zeroizing::new(text.into_encoded_bytes());
    Key::from_base64(&text).ok_or_else(|| VaultError::VariableGarbled { variable: variable.to_owned() })
}

/// A master key that can be used.
pub(super) struct MasterKey {
    origin: String,
    lock: Lock,
}

enum Lock {
    Held(Key),
    Command(KeyCommand),
}

impl MasterKey {
    pub fn id(&self) -> MasterKeyId {
        match &self.lock {
            Lock::Held(key) => MasterKeyId::Held(key.fingerprint()),
            Lock::Command(_) => MasterKeyId::Command,
        }
    }

    /// Where it came from, for messages.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    pub async fn wrap(&self, id: DataKeyId, key: &Key) -> Result<WrappedKey, VaultError> {
        let wrapping = match &self.lock {
            Lock::Held(master) => Cipher::new(master).seal(&bound_to(id), key.bytes())?,
            Lock::Command(command) => command.wrap(key).await?,
        };
        Ok(WrappedKey { wrapped_by: self.id(), fingerprint: key.fingerprint(), wrapping })
    }

    pub async fn unwrap(&self, id: DataKeyId, wrapped: &WrappedKey) -> Result<Key, VaultError> {
        if wrapped.wrapped_by != self.id() {
            return Err(VaultError::OtherMasterKey { needed: wrapped.wrapped_by, given: self.introduction() });
        }
        let damaged = VaultError::DataKeyDamaged { id };
        match &self.lock {
            Lock::Held(master) => {
                let unsealed = Cipher::new(master).unseal(&bound_to(id), &wrapped.wrapping);
                unsealed.and_then(|bytes| Key::from_slice(&bytes)).filter(|key| key.fingerprint() == wrapped.fingerprint).ok_or(damaged)
            }
            Lock::Command(command) => {
                let key = command.unwrap(&wrapped.wrapping).await?;
                if key.fingerprint() == wrapped.fingerprint { Ok(key) } else { Err(command.other_key().into()) }
            }
        }
    }

    /// The cipher of secrets of the first format, which had no data keys.
    pub fn direct_cipher(&self) -> Option<Cipher> {
        match &self.lock {
            Lock::Held(key) => Some(Cipher::new(key)),
            Lock::Command(_) => None,
        }
    }

    fn introduction(&self) -> String {
        match self.id() {
            MasterKeyId::Held(fingerprint) => format!("{} is master key {fingerprint}", self.origin),
            MasterKeyId::Command => format!("{} was given", self.origin),
        }
    }
}

fn bound_to(id: DataKeyId) -> Vec<u8> {
    [b"rackwright data key ".as_slice(), &id.to_bytes()].concat()
}
