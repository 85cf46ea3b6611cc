//! What can go wrong between us and a device, as a small closed class that decisions match on.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::cleaned;

/// Why a device did not do, or did not say, what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FaultClass {
    /// No answer: refused, timed out, or no route.
    Unreachable,
    /// It answered that it cannot just now (429, 503, 409, a lock of its own), or would not and did not say why.
    Busy,
    /// It does not accept our credentials or our right to do this.
    Denied,
    /// Its certificate is not one that we trust, so nothing was sent: it may be another device.
    Untrusted,
    /// It belongs to another machine than the one that is meant: its address leads elsewhere.
    OtherMachine,
    /// We have no login for it that could be tried: our own vault gave none, or none that can be sent.
    NoLogin,
    /// It knows no such action or value.
    Unsupported,
    /// What we asked about is not there.
    Missing,
    /// It answered, but not in words we understand: a 500, broken JSON, a lacking field.
    Garbled,
}

impl FaultClass {
    pub const ALL: [FaultClass; 9] = [
        FaultClass::Unreachable,
        FaultClass::Busy,
        FaultClass::Denied,
        FaultClass::Untrusted,
        FaultClass::OtherMachine,
        FaultClass::NoLogin,
        FaultClass::Unsupported,
        FaultClass::Missing,
        FaultClass::Garbled,
    ];
}

/// Whether a request that failed may have taken effect all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Delivery {
    /// It never reached the device, or the device refused it.
    No,
    /// It may have reached the device: only looking can tell.
    Maybe,
}

/// A fault as it is remembered and shown; the driver's error keeps the cause for the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    pub class: FaultClass,
    pub delivery: Delivery,
    /// One short sentence without secrets, e.g. `connection refused` or `401 from /redfish/v1/Systems`.
    pub detail: String,
}

/// How much of a device's own words is repeated, in characters: two lines on a terminal.
pub const MESSAGE_LIMIT: usize = 200;

/// The longest detail of a fault, in characters: what was asked, the device's own words, and two fingerprints if need be.
/// It is stored with every operation that meets it, and a device must not fill the store.
pub const DETAIL_LIMIT: usize = 500;

impl Fault {
    pub fn new(class: FaultClass, delivery: Delivery, detail: impl AsRef<str>) -> Self {
        Fault { class, delivery, detail: cleaned(detail.as_ref(), DETAIL_LIMIT) }
    }

    /// `unreachable: connection refused`: without what was asked, where there is room for one line only.
    pub fn in_brief(&self) -> String {
        let asked = self.detail.split_once(' ').filter(|(method, _)| method.bytes().all(|byte| byte.is_ascii_uppercase()));
        let answer = asked.and_then(|(_, rest)| rest.split_once(' ')).filter(|(path, _)| path.starts_with('/'));
        let words = answer.map_or(self.detail.as_str(), |(_, words)| words);
        let cause = words.strip_prefix("no connection (").and_then(|words| words.strip_suffix(')')).unwrap_or(words);
        format!("{}: {cause}", self.class)
    }
}

/// The words of a device as they may be repeated: see [`MESSAGE_LIMIT`].
pub fn shortened(words: &str) -> String {
    cleaned(words, MESSAGE_LIMIT)
}

impl fmt::Display for FaultClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FaultClass::Unreachable => "unreachable",
            FaultClass::Busy => "busy",
            FaultClass::Denied => "denied",
            FaultClass::Untrusted => "untrusted",
            FaultClass::OtherMachine => "another machine",
            FaultClass::NoLogin => "no login",
            FaultClass::Unsupported => "unsupported",
            FaultClass::Missing => "missing",
            FaultClass::Garbled => "garbled",
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class, self.detail)
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_device_says_becomes_one_short_line_without_control_characters() {
        let fault = |words: &str| Fault::new(FaultClass::Busy, Delivery::No, words).detail;
        assert_eq!(fault("GET /x answered 503: \u{1b}[31mwait\u{7}\n  a moment"), "GET /x answered 503: [31mwait a moment");
        assert_eq!(fault(&"x".repeat(9_000)).chars().count(), DETAIL_LIMIT);
        assert_eq!(shortened("a\n  b\u{0}"), "a b");
        assert_eq!(shortened(&"x".repeat(9_000)).chars().count(), MESSAGE_LIMIT);
    }

    #[test]
    fn a_fault_in_brief_leaves_out_what_was_asked() {
        let brief = |words: &str| Fault::new(FaultClass::Unreachable, Delivery::No, words).in_brief();
        assert_eq!(brief("GET /redfish/v1/Systems/1: no connection (connection refused)"), "unreachable: connection refused");
        assert_eq!(brief("POST /redfish/v1/x answered 503: wait"), "unreachable: answered 503: wait");
        assert_eq!(brief("connection refused"), "unreachable: connection refused");
        assert_eq!(brief("GET it"), "unreachable: GET it");
    }

    #[test]
    fn a_fault_is_stored_by_the_name_of_its_class_and_read_again() {
        let stored = [
            ("unreachable", FaultClass::Unreachable),
            ("busy", FaultClass::Busy),
            ("denied", FaultClass::Denied),
            ("untrusted", FaultClass::Untrusted),
            ("otherMachine", FaultClass::OtherMachine),
            ("noLogin", FaultClass::NoLogin),
            ("unsupported", FaultClass::Unsupported),
            ("missing", FaultClass::Missing),
            ("garbled", FaultClass::Garbled),
        ];
        assert_eq!(stored.map(|(_, class)| class), FaultClass::ALL);
        for (name, class) in stored {
            let text = format!(r#"{{"class":"{name}","delivery":"no","detail":"x"}}"#);
            let fault: Fault = serde_json::from_str(&text).unwrap();
            assert_eq!(fault, Fault::new(class, Delivery::No, "x"));
            assert_eq!(serde_json::to_string(&fault).unwrap(), text);
        }
    }
}
