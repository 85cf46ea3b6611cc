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
    fn a_body_with_secrets_is_plain_json() {
        let sent = Sent::secret(&BTreeMap::from([("Password", Field::Text("a\"b")), ("Enabled", Field::Flag(true))]));
        assert_eq!(sent.text(), r#"{"Enabled":true,"Password":"a\"b"}"#);
        assert_eq!(sent.words, Words::Withhold);
    }
}
