//! Bodies as forms, which is how tokens are asked for.

use std::borrow::Cow;

use zeroize::Zeroizing;

/// The fields of a form. What is in it may be a secret.
pub(super) struct Form(Vec<(String, Zeroizing<String>)>);

impl Form {
    /// Nothing if it is no text.
    pub fn parse(body: &[u8]) -> Option<Form> {
        let text = std::str::from_utf8(body).ok()?;
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let fields = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name)?.to_string(), decoded(value)?))
        });
        fields.collect::<Option<Vec<_>>>().map(Form)
    }

    /// A field that is there once, and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut values = self.0.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let first = values.next().filter(|value| !value.is_empty())?;
        values.next().is_none().then_some(first)
    }
}

pub(super) fn decoded(text: &str) -> Option<Zeroizing<String>> {
    let spaced = Zeroizing::new(text.replace('+', " "));
    let decoded = percent_encoding::percent_decode_str(&spaced).decode_utf8().ok().map(Cow::into_owned);
    decoded.map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded_and_one_that_is_there_twice_is_not_taken() {
        let form = Form::parse(b"grant_type=client_credentials&client_secret=a%2Bb+c&x=1&x=2&empty=&&flag").unwrap();
        assert_eq!(form.get("grant_type"), Some("client_credentials"));
        assert_eq!(form.get("client_secret"), Some("a+b c"));
        for name in ["x", "empty", "flag", "absent"] {
            assert_eq!(form.get(name), None, "{name}");
        }
        assert!(Form::parse(b"a=%ff").is_none());
        assert!(Form::parse(b"\xff").is_none());
    }
}
