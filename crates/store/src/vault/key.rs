//! The vault's key and the file that keeps it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use chacha20poly1305::aead::Generate;
use zeroize::Zeroizing;

use super::VaultError;

pub(super) const BYTES: usize = 32;

const GROUP_AND_OTHERS: u32 = 0o077;

pub(super) struct Key(Zeroizing<[u8; BYTES]>);

impl Key {
    pub fn bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    pub fn generate() -> Result<Key, VaultError> {
        let key = chacha20poly1305::Key::try_generate().map_err(|_| VaultError::Randomness)?;
        Ok(Key(Zeroizing::new(key.into())))
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
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Key::load(path)?.ok_or_else(|| VaultError::KeyFileMissing { path: path.display().to_string() })
            }
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
