//! The directory of images: one file for each, by its digest, and beside them what is on its way. Nobody else may read them.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use model::{Artefact, Digest};
use sha2::{Digest as _, Sha256};

/// How the name of a file ends that is not complete.
const PART: &str = ".part";

/// Digits of a URL's digest: two origins of one image are not mixed up.
const ORIGIN_DIGITS: usize = 8;

/// What lies in the directory, as far as it is ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub name: String,
    pub digest: Digest,
    pub bytes: u64,
    pub modified: SystemTime,
}

#[derive(Clone, Debug)]
pub(super) struct Directory {
    path: PathBuf,
}

impl Directory {
    pub fn open(path: &Path) -> io::Result<Directory> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        Ok(Directory { path: path.to_owned() })
    }

    /// Where an image is that is complete.
    pub fn whole(&self, digest: &Digest) -> PathBuf {
        self.path.join(digest.as_str())
    }

    /// Where an image is while it comes.
    pub fn part(&self, artefact: &Artefact) -> PathBuf {
        let origin: String = Sha256::digest(&artefact.url).iter().map(|byte| format!("{byte:02x}")).collect();
        self.path.join(format!("{}.{}{PART}", artefact.sha256, &origin[..ORIGIN_DIGITS]))
    }

    pub fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    /// Everything of ours, with what was written first first.
    pub fn list(&self) -> io::Result<Vec<Found>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let Some((name, digest)) = entry.file_name().into_string().ok().and_then(|name| digest_in(&name).map(|digest| (name, digest)))
            else {
                continue;
            };
            // One that goes away meanwhile is not there.
            let Ok(metadata) = entry.metadata() else { continue };
            found.push(Found { name, digest, bytes: metadata.len(), modified: metadata.modified()? });
        }
        found.sort_by(|a, b| (a.modified, &a.name).cmp(&(b.modified, &b.name)));
        Ok(found)
    }

    /// How many bytes more the disk takes from us.
    pub fn free(&self) -> io::Result<u64> {
        let disk = rustix::fs::statvfs(&self.path)?;
        Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
}

fn digest_in(name: &str) -> Option<Digest> {
    let digits = if let Some(part) = name.strip_suffix(PART) { part.split_once('.')?.0 } else { name };
    Digest::parse(digits).ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_is_ours_is_known_by_its_name_and_nobody_else_may_read_it() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(&place.path().join("a/images")).unwrap();
        assert_eq!(place.path().join("a/images").metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let digest = Digest::parse(&"ab".repeat(32)).unwrap();
        let artefact = |url: &str| Artefact { url: url.to_owned(), sha256: digest.clone(), bytes: 9 };
        let (one, other) = (directory.part(&artefact("http://one/")), directory.part(&artefact("http://other/")));
        assert_ne!(one, other, "each origin has its own");
        fs::write(directory.whole(&digest), "12").unwrap();
        fs::write(&one, "123").unwrap();
        fs::write(place.path().join("a/images/README"), "somebody's").unwrap();
        let found: Vec<(Digest, u64)> = directory.list().unwrap().into_iter().map(|found| (found.digest, found.bytes)).collect();
        assert_eq!(found, [(digest.clone(), 2), (digest, 3)]);
        assert!(directory.free().unwrap() > 0);
    }
}
