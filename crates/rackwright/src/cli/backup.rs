//! `rackwright backup`: a copy of what a server knows, checked on arrival.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Response;
use rustix::fs::RenameFlags;
use rustix::io::Errno;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::client::Target;
use super::render::Table;
use super::screen::{Screen, Sheet, Tone};
use super::session::Session;
use super::trouble::{Exit, Trouble};
use crate::private_file;

/// A store of any size that we know of has arrived by then.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

pub async fn run(session: &Session, screen: &mut Screen, file: &Path) -> Result<(), Trouble> {
    let occupied = || Trouble::failed(format!("{} exists already, and a backup overwrites nothing", file.display()));
    if file.exists() {
        return Err(occupied().hint("choose another name"));
    }
    let response = session.client.fetch(&Target::own(["backup"]), PATIENCE).await?;
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let (revision, checksum) = (header("x-rackwright-revision"), header("x-rackwright-sha256"));
    let unfinished = Unfinished::beside(file)?;
    let (bytes, found) = unfinished.receive(response).await?;
    if found != checksum {
        return Err(Trouble::failed("the backup was damaged on its way, and is thrown away")
            .detail(format!("its SHA-256 is {found}, and should be {checksum}")));
    }
    unfinished.name(file)?;
    let told = json!({
        "file": file.display().to_string(), "bytes": bytes, "revision": revision.parse::<u64>().ok(), "sha256": found, "keyIncluded": false,
    });
    let sheet = || {
        let mut sheet = Sheet::default();
        sheet.line(Tone::Strong, format!("backed up to {}", file.display()));
        sheet.line(Tone::Plain, format!("  revision {revision}, {bytes} bytes, SHA-256 {found}"));
        sheet.line(Tone::Plain, "  key      not inside: keep `vault.key` of the server's data directory in another safe place");
        sheet
    };
    let row = || {
        let mut table = Table::new(&["FILE", "REVISION", "BYTES", "SHA256"]);
        table.row(Tone::Plain, [file.display().to_string(), revision.clone(), bytes.to_string(), found.clone()]);
        table
    };
    session.showing.one(screen, &told, sheet, row)
}

/// A file that has its name only once it is whole, and is gone if it never is.
struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    fn beside(file: &Path) -> Result<Unfinished, Trouble> {
        let mut path = file.as_os_str().to_owned();
        path.push(".unfinished");
        let unfinished = Unfinished { path: PathBuf::from(path) };
        unfinished.open().map_err(|error| unfinished.unwritable(&error))?;
        Ok(unfinished)
    }

    fn open(&self) -> std::io::Result<File> {
        private_file::private(OpenOptions::new().write(true).create(true).truncate(true)).open(&self.path)
    }

    fn unwritable(&self, error: &std::io::Error) -> Trouble {
        Trouble::caused(&format!("{} cannot be written", self.path.display()), error)
    }

    /// The length and the checksum of what has arrived.
    async fn receive(&self, mut response: Response) -> Result<(u64, String), Trouble> {
        let mut file = self.open().map_err(|error| self.unwritable(&error))?;
        let (mut hash, mut bytes) = (Sha256::new(), 0);
        let lost = |error: reqwest::Error| {
            Trouble::new(Exit::Unreachable, "the backup broke off on its way")
                .detail(error.to_string())
                .hint("try again; nothing was kept of it")
        };
        while let Some(chunk) = response.chunk().await.map_err(lost)? {
            file.write_all(&chunk).map_err(|error| self.unwritable(&error))?;
            hash.update(&chunk);
            bytes += chunk.len() as u64;
        }
        file.sync_all().map_err(|error| self.unwritable(&error))?;
        Ok((bytes, hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The file appears at once and whole, and replaces none. Where the file system cannot promise the last, it was looked
    /// for before.
    fn name(&self, file: &Path) -> Result<(), Trouble> {
        let here = rustix::fs::CWD;
        let named = match rustix::fs::renameat_with(here, &self.path, here, file, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if !file.exists() => fs::rename(&self.path, file),
            named => named.map_err(std::io::Error::from),
        };
        named.map_err(|error| Trouble::caused(&format!("{} cannot be made", file.display()), &error))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
