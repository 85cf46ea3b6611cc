//! A key of the vault, what it is known by, and the file that keeps it.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use chacha20poly1305::aead::Generate;
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

use super::VaultError;

pub(super) const BYTES: usize = 32;

const GROUP_AND_OTHERS: u32 = 0o077;

/// Bytes of a key in base64.
pub(super) const BASE64_BYTES: usize = BYTES.div_ceil(3) * 4;

const FINGERPRINT_BYTES: usize = 8;

/// What a key is known by: the beginning of its hash, from which nobody finds the key. It may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint([u8; FINGERPRINT_BYTES]);

impl Fingerprint {
    pub(super) fn from_bytes(bytes: [u8; FINGERPRINT_BYTES]) -> Fingerprint {
        Fingerprint(bytes)
    }

    pub(super) fn as_bytes(&self) -> &[u8; FINGERPRINT_BYTES] {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

pub(super) struct Key(Zeroizing<[u8; BYTES]>);

impl Key {
    pub fn bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    pub fn generate() -> Result<Key, VaultError> {
        let mut made = chacha20poly1305::Key::try_generate().map_err(|_| VaultError::Randomness)?;
        let key = Key::from_slice(&made);
        made.as_mut_slice().zeroize();
        key.ok_or(VaultError::Randomness)
    }

    /// Nothing if it has another length.
    pub fn from_slice(bytes: &[u8]) -> Option<Key> {
        let mut key = Key(Zeroizing::new([0; BYTES]));
        (bytes.len() == BYTES).then(|| key.0.copy_from_slice(bytes))?;
        Some(key)
    }

    /// Nothing if it is not the base64 of a key. White space around it is passed over.
    pub fn from_base64(text: &[u8]) -> Option<Key> {
        // As long as what is decoded at most, so that no copy is left behind by a buffer that grew.
        let mut decoded = Zeroizing::new([0; BASE64_BYTES]);
        let text = text.trim_ascii();
        let length = (text.len() <= BASE64_BYTES).then(|| BASE64_STANDARD.decode_slice(text, decoded.as_mut_slice()).ok())??;
        Key::from_slice(&decoded[..length])
    }

    pub fn to_base64(&self) -> Zeroizing<[u8; BASE64_BYTES]> {
        let mut text = Zeroizing::new([0; BASE64_BYTES]);
        // The buffer has exactly the length of the text, so nothing is cut off.
        let written = BASE64_STANDARD.encode_slice(self.bytes(), text.as_mut_slice());
        debug_assert_eq!(written, Ok(BASE64_BYTES));
        text
    }

    pub fn fingerprint(&self) -> Fingerprint {
        let hash = Sha256::new().chain_update("rackwright key ").chain_update(self.bytes()).finalize();
        let mut fingerprint = [0; FINGERPRINT_BYTES];
        fingerprint.copy_from_slice(&hash[..FINGERPRINT_BYTES]);
        Fingerprint(fingerprint)
    }

    /// The key in the file; none if there is no file.
    pub fn load(path: &Path) -> Result<Option<Key>, VaultError> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(path, error)),
        };
        let metadata = file.metadata().map_err(|error| unusable(path, error))?;
        if metadata.mode() & GROUP_AND_OTHERS != 0 {
            return Err(VaultError::KeyFileExposed { path: path.display().to_string(), mode: metadata.mode() & 0o777 });
        }
        if metadata.len() != BYTES as u64 {
            return Err(VaultError::KeyFileLength { path: path.display().to_string(), found: metadata.len() });
        }
        let mut key = Key(Zeroizing::new([0; BYTES]));
        file.read_exact(key.0.as_mut_slice()).map_err(|error| unusable(path, error))?;
        Ok(Some(key))
    }

    /// Makes a key and its file. If somebody else made the file meanwhile, theirs is the key.
    pub fn create(path: &Path) -> Result<Key, VaultError> {
        let key = Key::generate()?;
        match key.write_new(path) {
            Ok(()) => Ok(key),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Key::load(path)?.ok_or_else(|| unusable(path, error)),
            Err(error) => Err(unusable(path, error)),
        }
    }

    /// Writes under another name first: a link appears at once and whole, and never replaces a file.
    fn write_new(&self, path: &Path) -> io::Result<()> {
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(format!(".new-{}", std::process::id()));
        let unfinished = Path::new(&unfinished);
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(unfinished)?;
        let linked = file.write_all(self.bytes()).and_then(|()| file.sync_all()).and_then(|()| fs::hard_link(unfinished, path));
        fs::remove_file(unfinished)?;
        linked?;
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(directory)?.sync_all()
    }
}

fn unusable(path: &Path, source: io::Error) -> VaultError {
    VaultError::KeyFile { path: path.display().to_string(), source }
}
