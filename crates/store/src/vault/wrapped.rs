//! How a data key lies in the store: wrapped, with the name of the master key that unwraps it.

use std::fmt;

use super::key::Fingerprint;

/// Where wrapped data keys lie in the store. They are part of every backup; the master key is of none.
pub(crate) const PREFIX: &str = "vault-keys/";

const FORMAT: u8 = 1;
const BY_KEY: u8 = 1;
const BY_COMMAND: u8 = 2;

/// Which data key: they are counted, and the one with the highest number encrypts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataKeyId(u32);

impl DataKeyId {
    pub(super) const FIRST: DataKeyId = DataKeyId(1);

    pub(super) fn next(self) -> Option<DataKeyId> {
        self.0.checked_add(1).map(DataKeyId)
    }

    pub(super) fn from_bytes(bytes: [u8; 4]) -> DataKeyId {
        DataKeyId(u32::from_be_bytes(bytes))
    }

    pub(super) fn to_bytes(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }

    /// Its document's key. Zeros before the number keep documents in the order of their numbers.
    pub(super) fn document(self) -> String {
        format!("{PREFIX}{:010}", self.0)
    }

    pub(super) fn of_document(key: &str) -> Option<DataKeyId> {
        key.strip_prefix(PREFIX)?.parse().ok().map(DataKeyId)
    }

    pub fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Display for DataKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which master key. It says nothing about the key itself, and may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MasterKeyId {
    /// A key that we hold, known by its fingerprint.
    Held(Fingerprint),
    /// A key that only a key command can use, and that has no name here.
    Command,
}

impl fmt::Display for MasterKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MasterKeyId::Held(fingerprint) => write!(f, "master key {fingerprint}"),
            MasterKeyId::Command => f.write_str("the key command that wrapped its data keys"),
        }
    }
}

/// A data key that only its master key can unwrap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrappedKey {
    pub wrapped_by: MasterKeyId,
    /// Tells whether what comes out of the wrapping is what went in.
    pub fingerprint: Fingerprint,
    pub wrapping: Vec<u8>,
}

impl WrappedKey {
    pub fn to_bytes(&self) -> Vec<u8> {
        let (kind, master) = match &self.wrapped_by {
            MasterKeyId::Held(fingerprint) => (BY_KEY, fingerprint.as_bytes().as_slice()),
            MasterKeyId::Command => (BY_COMMAND, [].as_slice()),
        };
        [[FORMAT, kind].as_slice(), master, self.fingerprint.as_bytes(), &self.wrapping].concat()
    }

    /// Nothing if it is of no format that we know.
    pub fn parse(stored: &[u8]) -> Option<WrappedKey> {
        let rest = stored.strip_prefix(&[FORMAT])?;
        let (wrapped_by, rest) = match rest.split_first()? {
            (&BY_KEY, rest) => rest.split_first_chunk().map(|(id, rest)| (MasterKeyId::Held(Fingerprint::from_bytes(*id)), rest))?,
            (&BY_COMMAND, rest) => (MasterKeyId::Command, rest),
            _ => return None,
        };
        let (fingerprint, wrapping) = rest.split_first_chunk()?;
        Some(WrappedKey { wrapped_by, fingerprint: Fingerprint::from_bytes(*fingerprint), wrapping: wrapping.to_vec() })
    }
}
