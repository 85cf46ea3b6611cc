//! An image that is there, and whose digest was right when it was looked at.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::part::on_thread;

#[derive(Debug)]
pub struct Kept {
    content: Content,
    length: u64,
}

#[derive(Debug)]
enum Content {
    Memory(Bytes),
    /// Whoever reads it does so at places of his own, so that all share one handle.
    File {
        file: Arc<File>,
        path: PathBuf,
        seen: Looks,
    },
}

/// What changes with nearly everything that can happen to a file, and costs nothing to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Looks {
    inode: u64,
    length: u64,
    modified: (i64, i64),
}

impl Looks {
    pub fn of(metadata: &Metadata) -> Looks {
        Looks { inode: metadata.ino(), length: metadata.len(), modified: (metadata.mtime(), metadata.mtime_nsec()) }
    }
}

impl Kept {
    pub(super) fn in_memory(bytes: Bytes) -> Kept {
        Kept { length: bytes.len() as u64, content: Content::Memory(bytes) }
    }

    /// A file that has just been found right.
    pub(super) fn in_file(path: &Path) -> io::Result<Kept> {
        let file = File::open(path)?;
        let seen = Looks::of(&file.metadata()?);
        Ok(Kept { length: seen.length, content: Content::File { file: Arc::new(file), path: path.to_owned(), seen } })
    }

    pub fn len(&self) -> u64 {
        self.length
    }

    /// What lies there, which is so much at most and not less before the end.
    pub async fn read(&self, at: u64, length: usize) -> io::Result<Bytes> {
        let length = usize::try_from(self.length.saturating_sub(at)).unwrap_or(usize::MAX).min(length);
        match &self.content {
            Content::Memory(bytes) => {
                let at = usize::try_from(at).map_err(io::Error::other)?.min(bytes.len());
                Ok(bytes.slice(at..at + length))
            }
            Content::File { file, .. } => {
                let file = Arc::clone(file);
                on_thread(move || {
                    let mut piece = vec![0; length];
                    file.read_exact_at(&mut piece, at)?;
                    Ok(piece.into())
                })
                .await
            }
        }
    }

    /// All of it, in memory.
    pub async fn whole(&self) -> io::Result<Bytes> {
        self.read(0, usize::try_from(self.length).map_err(io::Error::other)?).await
    }

    /// Whether it still is the file that was found right, as far as that shows without reading it.
    pub(super) async fn is_untouched(&self) -> bool {
        match &self.content {
            Content::Memory(_) => true,
            Content::File { path, seen, .. } => {
                let path = path.clone();
                let looks = on_thread(move || path.metadata().map(|metadata| Looks::of(&metadata))).await;
                looks.is_ok_and(|looks| looks == *seen)
            }
        }
    }
}
