//! The agent's configuration, and where it is found.
//!
//! The control plane put it into the image that the machine was started from: an area that begins with a marker, one JSON object, and
//! line feeds. The boot loader hands the area on as a file; where it could not, it is looked for on optical and removable drives. Other
//! disks are not asked: an old copy of the image on a tenant's disk must not be taken for ours.

use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Deserialize;

use crate::log::Log;

/// The line that the area begins with. Its end is kept apart: the marker must stand in an image once, and this program is in it too.
const MARKER: &str = "RACKWRIGHT-AGENT-CONFIG-v1";
/// How long the area is, the marker included.
pub const AREA_BYTES: usize = 16_384;
/// Where the boot loader puts the area.
pub const AREA_FILE: &str = "RACKWRIGHT.CFG";

/// The files of an ISO image begin at multiples of this.
const SECTOR_BYTES: usize = 2_048;
/// How much of a drive is searched: more than any image of ours.
const SEARCHED_BYTES: u64 = 512 * 1024 * 1024;
const PIECE_BYTES: usize = 1024 * 1024;

/// How long drives are waited for: a BMC's virtual drive comes over USB, some seconds after the kernel.
const DRIVES_TIMEOUT: Duration = Duration::from_secs(60);
const LOOKED_EVERY: Duration = Duration::from_millis(500);

#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct Configuration {
    /// The base of every URL of the control plane.
    pub url: String,
    /// The authority that the control plane is known by, as PEM.
    #[serde(default)]
    pub ca: Option<String>,
    pub cluster: String,
    pub machine: String,
    pub operation: String,
    pub round: u32,
    pub token: String,
    /// When this attempt began.
    #[serde(default)]
    pub time: Option<Timestamp>,
    /// How the machine reaches the control plane; without it, by DHCP.
    #[serde(default)]
    pub network: Option<Network>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Network {
    pub mac: String,
    /// With the length of its prefix, such as `10.0.2.50/24`.
    pub address: String,
    #[serde(default)]
    pub gateway: Option<String>,
    #[serde(default)]
    pub dns: Vec<String>,
}

/// Why an area is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    #[error("it does not begin with the line `{MARKER}`")]
    Unmarked,
    #[error("it ends after {0} of {AREA_BYTES} bytes")]
    CutShort(usize),
    #[error("nothing was put into it")]
    Empty,
    #[error("it is not the JSON of a configuration: {0}")]
    Garbled(String),
    #[error("`url` is no http or https URL")]
    Url,
    #[error("`url` is https, and there is no certificate to know the control plane by")]
    Authority,
}

impl Configuration {
    /// Reads the area.
    pub fn parse(area: &[u8]) -> Result<Configuration, Unusable> {
        let rest = area.strip_prefix(MARKER.as_bytes()).and_then(|rest| rest.strip_prefix(b"\n")).ok_or(Unusable::Unmarked)?;
        if area.len() < AREA_BYTES {
            return Err(Unusable::CutShort(area.len()));
        }
        let json = rest[..AREA_BYTES - MARKER.len() - 1].trim_ascii();
        if json.is_empty() || json.iter().all(|byte| matches!(byte, 0 | b'.')) {
            return Err(Unusable::Empty);
        }
        // What serde says of a place in the text is enough; the text has a token in it.
        let read: Configuration = serde_json::from_slice(json).map_err(|error| Unusable::Garbled(place(&error)))?;
        let uri: http::Uri = read.url.parse().map_err(|_| Unusable::Url)?;
        match (uri.scheme_str(), uri.host()) {
            (Some("http"), Some(_)) => Ok(read),
            (Some("https"), Some(_)) if read.ca.is_some() => Ok(read),
            (Some("https"), Some(_)) => Err(Unusable::Authority),
            _ => Err(Unusable::Url),
        }
    }
}

fn place(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        serde_json::error::Category::Data => "a value is missing or of another kind",
        serde_json::error::Category::Eof => "it ends too early",
        _ => "it is damaged",
    };
    format!("{what}, at line {} column {}", error.line(), error.column())
}

/// Waits for the configuration, and says why there is none if none comes.
pub fn find_configuration(root: &Path, log: &Log) -> Option<Configuration> {
    find_within(root, log, DRIVES_TIMEOUT)
}

fn find_within(root: &Path, log: &Log, timeout: Duration) -> Option<Configuration> {
    let began_at = Instant::now();
    let mut told = Vec::new();
    loop {
        for place in places(root) {
            match read_area(&place).map(|area| Configuration::parse(&area)) {
                Some(Ok(found)) => {
                    log.say(format_args!("the configuration is from {}", place.display()));
                    return Some(found);
                }
                Some(Err(unusable)) if !told.contains(&place) => {
                    log.say(format_args!("the configuration in {} is of no use: {unusable}", place.display()));
                    told.push(place);
                }
                _ => {}
            }
        }
        if began_at.elapsed() >= timeout {
            log.say("no configuration was found");
            return None;
        }
        std::thread::sleep(LOOKED_EVERY);
    }
}

/// Where a configuration may be, the likeliest first.
fn places(root: &Path) -> Vec<PathBuf> {
    let mut optical = Vec::new();
    let mut removable = Vec::new();
    for entry in fs::read_dir(root.join("sys/block")).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_removable = fs::read_to_string(entry.path().join("removable")).is_ok_and(|text| text.trim() == "1");
        let device = root.join("dev").join(&name);
        match name.to_string_lossy().starts_with("sr") {
            true => optical.push(device),
            false if is_removable => removable.push(device),
            false => {}
        }
    }
    optical.sort();
    removable.sort();
    [vec![root.join(AREA_FILE)], optical, removable].concat()
}

/// The area on a drive or in a file, if it has one.
fn read_area(place: &Path) -> Option<Vec<u8>> {
    let mut file = File::open(place).ok()?.take(SEARCHED_BYTES);
    let mut piece = Vec::with_capacity(PIECE_BYTES + AREA_BYTES);
    loop {
        piece.clear();
        let read = file.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut piece);
        let is_last = read.is_err() || piece.len() < PIECE_BYTES;
        let at = (0..piece.len()).step_by(SECTOR_BYTES).find(|at| piece[*at..].starts_with(MARKER.as_bytes()));
        if let Some(at) = at {
            // The area may reach into the next piece.
            let _ = file.by_ref().take(AREA_BYTES as u64).read_to_end(&mut piece);
            piece.drain(..at);
            piece.truncate(AREA_BYTES);
            return Some(piece);
        }
        if is_last {
            return None;
        }
    }
}

/// Debug output ends up in logs; the token does not belong there.
impl fmt::Debug for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Configuration { url, cluster, machine, operation, round, network, .. } = self;
        write!(f, "Configuration({url} {cluster} {machine} {operation} {round} {network:?})")
    }
}

#[cfg(test)]
mod tests;
