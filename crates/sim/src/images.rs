//! A server of images: operating systems and what a machine is started from to install one.
//!
//! They are made up from their version alone, the same on every run, and small: what is simulated is that they are
//! fetched, written and started, not how large they are. A simulated operating system says in its first bytes what it is.

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};
use world::{Random, Release};

/// The line that the area for a machine's own configuration begins with.
pub const CONFIG_LINE: &[u8] = b"RACKWRIGHT-AGENT-CONFIG-v1\n";

/// How long that area is.
pub const CONFIG_AREA: usize = 16_384;

/// Where the area is in the images here: behind the volume descriptors of a CD.
const CONFIG_AT: usize = 32_768;

/// The line that a simulated operating system begins with; the next line is its release as JSON.
const SYSTEM_LINE: &[u8] = b"RACKWRIGHT-SIMULATED-OS-v1\n";

/// How much of an image is read to know its release.
pub(crate) const SYSTEM_HEAD: usize = 4_096;

const SYSTEM_BYTES: usize = 256 * 1_024;
const AGENT_BYTES: usize = 128 * 1_024;

/// An image as a bundle names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Where it is on the server, such as `/images/4.4.3/os.img`.
    pub path: String,
    /// In lower-case hexadecimal digits.
    pub sha256: String,
    pub bytes: u64,
}

/// The images of one runtime version, and what its operating system says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    pub version: String,
    pub os_name: String,
    pub kubernetes_version: String,
    pub os: Image,
    /// For virtual media.
    pub agent: Image,
    /// For UEFI over HTTP.
    pub http: Image,
    pub pxe: Image,
}

/// What is served under `/images/{version}/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    System,
    Agent,
    Http,
    Pxe,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::System, Kind::Agent, Kind::Http, Kind::Pxe];

    fn file(self) -> &'static str {
        match self {
            Kind::System => "os.img",
            Kind::Agent => "agent.iso",
            Kind::Http => "boot.efi",
            Kind::Pxe => "pxe.img",
        }
    }
}

/// The images of a version. Any version has some.
pub fn runtime(version: &str) -> Runtime {
    let Release { os_name, kubernetes_version } = release(version);
    let image = |kind| described(version, kind);
    Runtime {
        version: version.to_owned(),
        os_name,
        kubernetes_version,
        os: image(Kind::System),
        agent: image(Kind::Agent),
        http: image(Kind::Http),
        pxe: image(Kind::Pxe),
    }
}

/// The images of some versions.
pub fn runtimes<'v>(versions: impl IntoIterator<Item = &'v str>) -> Vec<Runtime> {
    versions.into_iter().map(runtime).collect()
}

/// No kubelet is newer than the site's API servers.
fn release(version: &str) -> Release {
    let minor: u32 = version.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or(0);
    let kubernetes_version = match minor {
        0..=1 => "v1.31.8",
        2..=4 => "v1.32.6",
        5..=7 => "v1.33.3",
        _ => world::KUBERNETES_VERSION,
    };
    Release { os_name: format!("Microsoft Azure Linux 3.0 ({version})"), kubernetes_version: kubernetes_version.to_owned() }
}

fn described(version: &str, kind: Kind) -> Image {
    let content = content(version, kind);
    Image { path: format!("/images/{version}/{}", kind.file()), sha256: hex(&Sha256::digest(&content)), bytes: content.len() as u64 }
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn content(version: &str, kind: Kind) -> Vec<u8> {
    let mut random = Random::new(0, &format!("image/{version}/{}", kind.file()));
    let length = if kind == Kind::System { SYSTEM_BYTES } else { AGENT_BYTES };
    let mut bytes: Vec<u8> = (0..length / 8).flat_map(|_| random.next_u64().to_le_bytes()).collect();
    if kind == Kind::System {
        let mut head = SYSTEM_LINE.to_vec();
        head.extend(serde_json::to_vec(&release(version)).unwrap_or_default());
        head.resize(SYSTEM_HEAD, b'\n');
        bytes[..SYSTEM_HEAD].copy_from_slice(&head);
    } else {
        let area = &mut bytes[CONFIG_AT..CONFIG_AT + CONFIG_AREA];
        area.fill(b'\n');
        area[..CONFIG_LINE.len()].copy_from_slice(CONFIG_LINE);
    }
    bytes
}

/// What an image says of itself, from its first bytes; nothing if it is no operating system that runs here.
pub(crate) fn read_release(head: &[u8]) -> Option<Release> {
    let rest = head.strip_prefix(SYSTEM_LINE)?;
    let line = rest.split(|byte| *byte == b'\n').next()?;
    serde_json::from_slice(line).ok()
}

/// What was put into an image's area, if it has one and something was.
pub(crate) fn read_config(image: &[u8]) -> Option<&[u8]> {
    let at = image.windows(CONFIG_LINE.len()).position(|window| window == CONFIG_LINE)?;
    let area = image.get(at..at + CONFIG_AREA)?;
    Some(area[CONFIG_LINE.len()..].trim_ascii())
}

/// The server: `GET` and `HEAD` of `/images/{version}/{file}`, whole or in part.
pub fn router() -> Router {
    Router::new().route("/images/{version}/{file}", get(serve))
}

async fn serve(Path((version, file)): Path<(String, String)>, headers: HeaderMap) -> Response {
    let is_version = version.split('.').count() == 3 && version.split('.').all(|part| part.parse::<u32>().is_ok());
    let kind = Kind::ALL.into_iter().find(|kind| kind.file() == file);
    let (true, Some(kind)) = (is_version, kind) else { return StatusCode::NOT_FOUND.into_response() };
    let content = Bytes::from(content(&version, kind));
    let length = content.len();
    let (status, part, range) = match headers.get(header::RANGE).and_then(|range| range.to_str().ok()) {
        None => (StatusCode::OK, content, None),
        Some(range) => match parse_range(range, length) {
            Some((first, last)) => {
                (StatusCode::PARTIAL_CONTENT, content.slice(first..=last), Some(format!("bytes {first}-{last}/{length}")))
            }
            None => (StatusCode::RANGE_NOT_SATISFIABLE, Bytes::new(), Some(format!("bytes */{length}"))),
        },
    };
    let mut response = (status, [(header::CONTENT_TYPE, "application/octet-stream")], Body::from(part)).into_response();
    response.headers_mut().insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if let Some(range) = range.and_then(|range| HeaderValue::from_str(&range).ok()) {
        response.headers_mut().insert(header::CONTENT_RANGE, range);
    }
    response
}

/// The first and the last byte that `bytes=…` means; nothing if there are no such bytes. Several ranges are not offered.
fn parse_range(range: &str, length: usize) -> Option<(usize, usize)> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let (first, last) = match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) => (first, last.min(length - 1)),
        (Ok(first), Err(_)) if last.is_empty() => (first, length - 1),
        (Err(_), Ok(count)) if first.is_empty() && count > 0 => (length.saturating_sub(count), length - 1),
        _ => return None,
    };
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_within_the_image_or_refused() {
        let table = [
            ("bytes=0-9", Some((0, 9))),
            ("bytes=90-", Some((90, 99))),
            ("bytes=-10", Some((90, 99))),
            ("bytes=-1000", Some((0, 99))),
            ("bytes=50-1000", Some((50, 99))),
            ("bytes=100-", None),
            ("bytes=9-3", None),
            ("bytes=-0", None),
            ("bytes=a-b", None),
            ("bytes=0-1,5-6", None),
            ("lines=0-1", None),
        ];
        for (range, expected) in table {
            assert_eq!(parse_range(range, 100), expected, "{range}");
        }
    }

    #[test]
    fn every_version_has_images_of_its_own_and_they_say_what_they_are() {
        let [old, new] = ["4.1.6", "4.4.3"].map(runtime);
        assert_ne!(old.os.sha256, new.os.sha256);
        assert_eq!(old, runtime("4.1.6"));
        let system = content("4.1.6", Kind::System);
        let release = read_release(&system[..SYSTEM_HEAD]).unwrap();
        assert_eq!((&release.os_name, &release.kubernetes_version), (&old.os_name, &old.kubernetes_version));
        assert_eq!(read_release(b"something else"), None);
        for kind in [Kind::Agent, Kind::Http, Kind::Pxe] {
            assert_eq!(read_config(&content("4.1.6", kind)), Some(&b""[..]), "{kind:?}");
        }
        assert_eq!(read_config(&system), None);
    }
}
