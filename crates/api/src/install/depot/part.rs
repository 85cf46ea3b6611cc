//! An image that is not all there yet: what has come of it, with its digest so far. What came before a break or a restart is kept.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;

/// How much is written to a disk at a time. What comes over a network comes in smaller pieces, each of which would be a thread's work.
const WRITTEN_AT_ONCE: usize = 1024 * 1024;

/// How much of a file is read at a time to know its digest.
const DIGESTED_AT_ONCE: usize = 256 * 1024;

pub(super) struct Part {
    /// Away while a thread writes to it.
    sink: Option<Sink>,
    /// What has come and is not written yet.
    pending: Vec<u8>,
    written: u64,
}

struct Sink {
    target: Target,
    digest: Sha256,
}

enum Target {
    Memory(Vec<u8>),
    File(File, PathBuf),
}

/// What was fetched, all of it.
pub(super) enum Complete {
    Memory(Bytes),
    File(PathBuf),
}

impl Part {
    pub fn in_memory() -> Part {
        Part::of(Target::Memory(Vec::new()), Sha256::new(), 0)
    }

    /// Goes on with what is in the file, unless that is longer than the whole may be.
    pub async fn in_file(path: PathBuf, limit: u64) -> io::Result<Part> {
        on_thread(move || {
            let mut options = OpenOptions::new();
            let mut file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path)?;
            let mut written = file.metadata()?.len();
            let mut digest = Sha256::new();
            if written > limit {
                file.set_len(0)?;
                written = 0;
            } else {
                digest_into(&mut digest, &mut file)?;
            }
            Ok(Part::of(Target::File(file, path), digest, written))
        })
        .await
    }

    fn of(target: Target, digest: Sha256, written: u64) -> Part {
        Part { sink: Some(Sink { target, digest }), pending: Vec::new(), written }
    }

    #[cfg(test)]
    pub fn on(file: File) -> Part {
        Part::of(Target::File(file, PathBuf::new()), Sha256::new(), 0)
    }

    /// How much there is of it.
    pub fn len(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    pub async fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() < WRITTEN_AT_ONCE { Ok(()) } else { self.flush().await }
    }

    pub async fn flush(&mut self) -> io::Result<()> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(());
        }
        self.written += pending.len() as u64;
        self.with_sink(move |sink| sink.append(&pending)).await
    }

    /// Forgets what there is.
    pub async fn clear(&mut self) -> io::Result<()> {
        self.pending.clear();
        self.written = 0;
        self.with_sink(Sink::clear).await
    }

    /// The digest of what there is, in hexadecimal digits.
    pub async fn digest(&mut self) -> io::Result<String> {
        self.flush().await?;
        let sink = self.sink.as_ref().ok_or_else(gone)?;
        Ok(hex(sink.digest.clone()))
    }

    pub fn complete(self) -> io::Result<Complete> {
        match self.sink.ok_or_else(gone)?.target {
            Target::Memory(bytes) => Ok(Complete::Memory(bytes.into())),
            Target::File(_, path) => Ok(Complete::File(path)),
        }
    }

    /// Lets a thread that may wait for a disk do it. Memory is not waited for, so that virtual time stands still.
    async fn with_sink(&mut self, work: impl FnOnce(&mut Sink) -> io::Result<()> + Send + 'static) -> io::Result<()> {
        let mut sink = self.sink.take().ok_or_else(gone)?;
        let (sink, result) = match sink.target {
            Target::Memory(_) => {
                let result = work(&mut sink);
                (sink, result)
            }
            Target::File(..) => {
                on_thread(move || {
                    let result = work(&mut sink);
                    Ok((sink, result))
                })
                .await?
            }
        };
        self.sink = Some(sink);
        result
    }
}

impl Sink {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.target {
            Target::Memory(memory) => memory.extend_from_slice(bytes),
            Target::File(file, _) => file.write_all(bytes)?,
        }
        self.digest.update(bytes);
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.digest = Sha256::new();
        match &mut self.target {
            Target::Memory(memory) => memory.clear(),
            Target::File(file, _) => {
                file.set_len(0)?;
                file.seek(SeekFrom::Start(0))?;
            }
        }
        Ok(())
    }
}

fn gone() -> io::Error {
    io::Error::other("what was being written is gone")
}

/// The digest of a file, in hexadecimal digits.
pub(super) fn digest_of(path: &Path) -> io::Result<String> {
    let mut digest = Sha256::new();
    digest_into(&mut digest, &mut File::open(path)?)?;
    Ok(hex(digest))
}

/// Reads a file to its end.
fn digest_into(digest: &mut Sha256, file: &mut File) -> io::Result<()> {
    let mut piece = vec![0; DIGESTED_AT_ONCE];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(()),
            read => digest.update(&piece[..read]),
        }
    }
}

fn hex(digest: Sha256) -> String {
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Does what may wait for a disk where nobody else waits for it.
pub(super) async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}
