//! Runtime bundles: what a version of the runtime installs on a machine, and what it asks of one.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::machine::Role;

/// The version of a runtime, e.g. `4.4.3`. Ordered as numbers: `4.10.0` is after `4.9.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RuntimeVersion {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no runtime version: three numbers with points between are meant, as in 4.4.3")]
pub struct InvalidVersion(pub String);

impl RuntimeVersion {
    pub fn parse(text: &str) -> Result<RuntimeVersion, InvalidVersion> {
        let invalid = || InvalidVersion(text.chars().take(64).collect());
        let number = |part: &str| {
            let is_plain = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) && (part == "0" || !part.starts_with('0'));
            if is_plain { part.parse().map_err(|_| invalid()) } else { Err(invalid()) }
        };
        let parts: Vec<&str> = text.split('.').collect();
        let [major, minor, patch] = parts[..] else { return Err(invalid()) };
        Ok(RuntimeVersion { major: number(major)?, minor: number(minor)?, patch: number(patch)? })
    }
}

impl TryFrom<String> for RuntimeVersion {
    type Error = InvalidVersion;
    fn try_from(text: String) -> Result<Self, InvalidVersion> {
        RuntimeVersion::parse(&text)
    }
}

impl From<RuntimeVersion> for String {
    fn from(version: RuntimeVersion) -> String {
        version.to_string()
    }
}

impl fmt::Display for RuntimeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{}.{}", self.major, self.minor, self.patch))
    }
}

/// SHA-256 of something that is fetched or written, in lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no SHA-256 digest: 64 hexadecimal digits are meant")]
pub struct InvalidDigest(pub String);

impl Digest {
    const DIGITS: usize = 64;

    pub fn parse(text: &str) -> Result<Digest, InvalidDigest> {
        let digits = text.strip_prefix("sha256:").unwrap_or(text);
        if digits.len() == Digest::DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            Ok(Digest(digits.to_ascii_lowercase()))
        } else {
            Err(InvalidDigest(text.chars().take(80).collect()))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first digits, which are enough to tell two apart where a person looks.
    pub fn short(&self) -> &str {
        &self.0[..12]
    }
}

impl TryFrom<String> for Digest {
    type Error = InvalidDigest;
    fn try_from(text: String) -> Result<Self, InvalidDigest> {
        Digest::parse(&text)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Something that is fetched from a URL and known by its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Artefact {
    pub url: String,
    pub sha256: Digest,
    /// How long it is. What is longer or shorter is not it.
    pub bytes: u64,
}

/// The image of an operating system, known by what is on the disk once it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OsImage {
    /// Where it is fetched from: packed, if it is packed.
    pub url: String,
    pub sha256: Digest,
    pub bytes: u64,
    /// How it is packed on the way to the machine, which unpacks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed: Option<Packed>,
}

/// A packed image, as a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Packed {
    pub format: Packing,
    pub sha256: Digest,
    pub bytes: u64,
}

/// How an image is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Packing {
    Zstd,
}

impl OsImage {
    /// The file that is fetched, and sent to machines as it is.
    pub fn file(&self) -> Artefact {
        let (sha256, bytes) = self.packed.as_ref().map_or((&self.sha256, self.bytes), |packed| (&packed.sha256, packed.bytes));
        Artefact { url: self.url.clone(), sha256: sha256.clone(), bytes }
    }
}

impl From<Artefact> for OsImage {
    /// One that is not packed.
    fn from(Artefact { url, sha256, bytes }: Artefact) -> OsImage {
        OsImage { url, sha256, bytes, packed: None }
    }
}

/// A version of the runtime: what is installed, how a machine is started to install it, and what its firmware must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bundle {
    pub version: RuntimeVersion,
    /// What a node calls its operating system once it runs, e.g. `Azure Linux 3.0`.
    pub os_name: String,
    pub os_image: OsImage,
    pub kubernetes_version: String,
    pub boot: BootArtefacts,
    /// Minimum firmware, by model of machine and component.
    #[serde(default)]
    pub firmware: Vec<FirmwareFloor>,
    /// The first-boot configuration of each role, with places for what differs from machine to machine.
    pub user_data: BTreeMap<Role, String>,
}

/// What a machine is started from to be installed. The agent's image is the usual way; the others need more of the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BootArtefacts {
    /// The agent's image for virtual media, with room for a machine's own configuration.
    pub agent_image: Artefact,
    /// What UEFI fetches over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<Artefact>,
    /// What PXE fetches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pxe: Option<Artefact>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FirmwareFloor {
    /// The model of machine as its BMC tells it, e.g. `PowerEdge R750`.
    pub model: String,
    /// `BIOS`, `iDRAC`, `CPLD`, …: what the name of a firmware must contain, in any case.
    pub component: String,
    pub minimum: String,
}

/// Compares two versions of firmware as people read them: numbers as numbers, the rest as text.
pub fn firmware_cmp(a: &str, b: &str) -> Ordering {
    let parts = |version: &str| version.split(['.', '-', '_', ' ']).map(str::to_owned).collect::<Vec<_>>();
    let (a, b) = (parts(a), parts(b));
    for index in 0..a.len().max(b.len()) {
        let (one, other) = (a.get(index).map_or("0", String::as_str), b.get(index).map_or("0", String::as_str));
        let order = match (one.parse::<u64>(), other.parse::<u64>()) {
            (Ok(one), Ok(other)) => one.cmp(&other),
            _ => crate::name::natural_cmp(one, other),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

/// What was installed on a machine, as far as we did it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Installed {
    pub version: RuntimeVersion,
    pub image: Digest,
    pub at: crate::time::Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_three_plain_numbers_and_ordered_by_them() {
        for bad in ["", "4", "4.1", "4.1.6.1", "4.01.6", "4.1.x", "v4.1.6", "4..6", "4.1.99999999999", "-4.1.6"] {
            assert!(RuntimeVersion::parse(bad).is_err(), "{bad}");
        }
        let order: Vec<String> = {
            let mut all: Vec<RuntimeVersion> = ["4.10.0", "4.9.12", "4.9.2"].map(|text| RuntimeVersion::parse(text).unwrap()).to_vec();
            all.sort();
            all.iter().map(ToString::to_string).collect()
        };
        assert_eq!(order, ["4.9.2", "4.9.12", "4.10.0"]);
    }

    #[test]
    fn a_digest_is_64_hexadecimal_digits_in_any_case() {
        let digits = "AB".repeat(32);
        assert_eq!(Digest::parse(&format!("sha256:{digits}")).unwrap().as_str(), digits.to_ascii_lowercase());
        assert!(Digest::parse(&digits[1..]).is_err());
        assert!(Digest::parse(&"g".repeat(64)).is_err());
    }

    #[test]
    fn what_is_sent_of_an_image_is_its_packed_file_if_it_has_one() {
        let digest = |digit: &str| Digest::parse(&digit.repeat(64)).unwrap();
        let plain = OsImage::from(Artefact { url: "http://images/os".to_owned(), sha256: digest("1"), bytes: 9 });
        assert_eq!((plain.file().sha256, plain.file().bytes), (digest("1"), 9));
        let packed = OsImage { packed: Some(Packed { format: Packing::Zstd, sha256: digest("2"), bytes: 5 }), ..plain };
        assert_eq!((packed.file().sha256, packed.file().bytes, packed.sha256), (digest("2"), 5, digest("1")));
    }

    #[test]
    fn firmware_is_compared_number_by_number() {
        let table = [
            ("2.1.0", "2.1.0", Ordering::Equal),
            ("2.1", "2.1.0", Ordering::Equal),
            ("2.10.0", "2.9.9", Ordering::Greater),
            ("7.00.30.00", "7.0.30", Ordering::Equal),
            ("1.2.3-a", "1.2.3-b", Ordering::Less),
            ("U46 v2.10", "U46 v2.9", Ordering::Greater),
        ];
        for (a, b, expected) in table {
            assert_eq!(firmware_cmp(a, b), expected, "{a} {b}");
        }
    }
}
