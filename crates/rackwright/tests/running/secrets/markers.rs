//! What was planted, what was emitted, and the search for the one in the other.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

/// Bytes as letters, one for one, so that any of them can be searched as fast as a text.
fn letters(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// What was planted, by what it is.
#[derive(Default)]
pub struct Markers(Vec<(String, String)>);

impl Markers {
    /// As it is, and as base64, hexadecimal digits or a list of numbers would hide it.
    pub fn plant(&mut self, what: &str, secret: impl AsRef<[u8]>) {
        let secret = secret.as_ref();
        assert!(secret.len() >= 12, "{what} is too short to be found by");
        let base64 = |engine: &base64::engine::GeneralPurpose| engine.encode(secret).trim_end_matches('=').to_owned();
        let hexadecimal: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let numbers = |between: &str| secret.iter().map(u8::to_string).collect::<Vec<_>>().join(between);
        for (how, hidden) in [
            ("as it is", letters(secret)),
            ("in base64", base64(&STANDARD)),
            ("in base64 for addresses", base64(&URL_SAFE)),
            ("in hexadecimal", hexadecimal),
            ("as numbers", numbers(",")),
            ("as numbers for people", numbers(", ")),
        ] {
            self.0.push((format!("{what} {how}"), hidden));
        }
    }
}

/// All that came out of the server, by where it came out.
#[derive(Default)]
pub struct Emitted(Vec<(String, String)>);

impl Emitted {
    pub fn hear(&mut self, place: impl Into<String>, bytes: impl AsRef<[u8]>) {
        self.0.push((place.into(), letters(bytes.as_ref())));
    }

    #[track_caller]
    pub fn assert_without(&self, markers: &Markers) {
        for (place, emitted) in &self.0 {
            for (what, marker) in &markers.0 {
                let before = emitted.find(marker.as_str()).map(|at| emitted[..at].chars().rev().take(200).collect::<String>());
                let before = before.map(|reversed| reversed.chars().rev().collect::<String>());
                assert_eq!(before, None, "{what} is in {place}, after this");
            }
        }
    }
}

#[test]
#[should_panic(expected = "a password in hexadecimal is in the log")]
fn what_is_hidden_is_found() {
    let (mut markers, mut emitted) = (Markers::default(), Emitted::default());
    markers.plant("a password", "MARKER-password");
    emitted.hear("the log", "secret=4d41524b45522d70617373776f7264");
    emitted.assert_without(&markers);
}
