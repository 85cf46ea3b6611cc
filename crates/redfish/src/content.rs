//! What a request carries: JSON text that is wiped when it has been sent, because it may hold a password.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::Value;
use zeroize::Zeroizing;

/// Room for a body with secrets. A buffer that grows leaves copies of what it held behind, so it is made large enough
/// for any user name and password at once.
const SECRET_CAPACITY: usize = 4096;

/// The JSON text of one request, and whether a BMC's words about it may be shown.
#[derive(Clone)]
pub(crate) struct Sent {
    text: Bytes,
    pub words: Words,
}

/// Whether the BMC's own words about a failure may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    Repeat,
    /// The request carried an address with a secret in it, which a BMC may quote whole or in part.
    WithoutPaths,
    /// The request carried a password, which a BMC may quote in its complaint.
    Withhold,
}

/// The buffer behind a body; it is wiped when the last who reads it lets go.
struct Wiped(Zeroizing<Vec<u8>>);

impl AsRef<[u8]> for Wiped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Sent {
    pub fn json(value: &Value) -> Sent {
        Sent { text: Bytes::from(value.to_string()), words: Words::Repeat }
    }

    /// An object with an address in it that is good for whoever knows it.
    pub fn with_url(value: &Value) -> Sent {
        Sent { text: Bytes::from(value.to_string()), words: Words::WithoutPaths }
    }

    /// An object whose texts may be secret. It is written straight into a buffer that is wiped.
    pub fn secret(fields: &BTreeMap<&str, Field<'_>>) -> Sent {
        let mut buffer = Wiped(Zeroizing::new(Vec::with_capacity(SECRET_CAPACITY)));
        // Text and flags always have a JSON form, and a Vec takes any number of bytes.
        if let Err(error) = serde_json::to_writer(&mut *buffer.0, fields) {
            tracing::error!(%error, "a request with a secret has no JSON form");
        }
        Sent { text: Bytes::from_owner(buffer), words: Words::Withhold }
    }

    pub fn text(&self) -> Bytes {
        self.text.clone()
    }
}

/// What stands for a word that may be, or be part of, an address with a secret.
const LEFT_OUT: &str = "***";

/// Names of properties are shorter, and the secrets in our addresses, of 43 characters, are longer.
const LONGEST_WORD: usize = 36;

/// A BMC's words without whatever could be an address or a part of one. The rest says what it minds.
pub(crate) fn without_paths(words: &str) -> String {
    let shown = |word: &str| if word.contains('/') || word.len() > LONGEST_WORD { LEFT_OUT.to_owned() } else { word.to_owned() };
    words.split_whitespace().map(shown).collect::<Vec<_>>().join(" ")
}

/// A value in a body with secrets.
#[derive(Clone, Copy, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Field<'a> {
    Text(&'a str),
    Flag(bool),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_left_out_of_what_a_bmc_says_of_it_whole_or_in_part() {
        let secret = "Fn7haSfLUpc3X6127QZGy4-C8ArnpZ2w3jQhniQZw6U";
        let table = [
            (format!("The value 'http://h/install/{secret}/agent.iso' is refused."), "The value *** is refused."),
            (format!("No image at {secret}"), "No image at ***"),
            (format!("Cannot mount (http://h/{})", &secret[..9]), "Cannot mount ***"),
            ("A license is required for virtual media.".to_owned(), "A license is required for virtual media."),
        ];
        for (words, expected) in table {
            assert_eq!(without_paths(&words), expected);
        }
    }

    #[test]
    fn a_body_with_secrets_is_plain_json() {
        let sent = Sent::secret(&BTreeMap::from([("Password", Field::Text("a\"b")), ("Enabled", Field::Flag(true))]));
        assert_eq!(sent.text(), r#"{"Enabled":true,"Password":"a\"b"}"#);
        assert_eq!(sent.words, Words::Withhold);
    }
}
