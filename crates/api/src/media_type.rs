//! What a body may be sent as. ARM takes JSON in UTF-8 and nothing else; a body without a word about it is taken for that.
//! A body that says nothing may be called a text: Azure's SDK does so with parameters in which nothing is set.

use http::{HeaderMap, HeaderValue, header};

use crate::codes::Code;
use crate::reply::{Refused, shortened};

pub(crate) fn check(headers: &HeaderMap, body: &[u8]) -> Result<(), Refused> {
    let is_taken = |value: &HeaderValue| is_json(value) || says_nothing(body) && is_plain_text(value);
    if let Some(other) = headers.get_all(header::CONTENT_TYPE).iter().find(|value| !is_taken(value)) {
        return Err(refused("content type", other, "application/json in UTF-8"));
    }
    let encoded = |value: &&HeaderValue| !value.as_bytes().eq_ignore_ascii_case(b"identity");
    match headers.get_all(header::CONTENT_ENCODING).iter().find(encoded) {
        Some(other) => Err(refused("content encoding", other, "a body as it is")),
        None => Ok(()),
    }
}

/// The same for a body that is a form.
pub(crate) fn check_form(headers: &HeaderMap) -> Result<(), Refused> {
    let is_form = |value: &HeaderValue| {
        let kind = value.to_str().ok().and_then(|text| text.split(';').next());
        kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded"))
    };
    match headers.get_all(header::CONTENT_TYPE).iter().find(|value| !is_form(value)) {
        Some(other) => Err(refused("content type", other, "application/x-www-form-urlencoded")),
        None => Ok(()),
    }
}

fn refused(what: &str, sent: &HeaderValue, taken: &str) -> Refused {
    let sent = shortened(&String::from_utf8_lossy(sent.as_bytes()));
    Refused::new(Code::UnsupportedMediaType, format!("the {what} `{sent}` is not understood; only {taken} is"))
}

/// Nothing at all, or an object without anything in it.
fn says_nothing(body: &[u8]) -> bool {
    let mut signs = body.iter().filter(|byte| !byte.is_ascii_whitespace());
    matches!((signs.next(), signs.next(), signs.next()), (None, ..) | (Some(b'{'), Some(b'}'), None))
}

fn is_plain_text(value: &HeaderValue) -> bool {
    is_kind(value, "text/plain")
}

fn is_json(value: &HeaderValue) -> bool {
    is_kind(value, "application/json")
}

fn is_kind(value: &HeaderValue, wanted: &str) -> bool {
    let Ok(text) = value.to_str() else { return false };
    let mut parts = text.split(';').map(str::trim);
    let is_wanted = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case(wanted));
    let mut charsets =
        parts.filter_map(|parameter| parameter.split_once('=')).filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    // ASCII is UTF-8 too.
    let readable = |charset: &str| ["utf-8", "utf8", "us-ascii"].iter().any(|known| known.eq_ignore_ascii_case(charset));
    is_wanted && charsets.all(|(_, charset)| readable(charset.trim().trim_matches('"')))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = br#"{"evacuate":"True"}"#;

    fn is_taken(name: header::HeaderName, value: &'static str) -> bool {
        check(&HeaderMap::from_iter([(name, HeaderValue::from_static(value))]), BODY).is_ok()
    }

    #[test]
    fn json_in_utf_8_is_taken_however_it_is_written() {
        assert!(check(&HeaderMap::new(), BODY).is_ok(), "nothing was said");
        let written = ["application/json", "Application/JSON", "application/json; charset=utf-8", "application/json;charset=\"UTF-8\";v=1"];
        for value in written {
            assert!(is_taken(header::CONTENT_TYPE, value), "{value}");
        }
        assert!(is_taken(header::CONTENT_ENCODING, "identity"));
    }

    #[test]
    fn anything_else_is_refused() {
        for value in ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16", "json", ""] {
            assert!(!is_taken(header::CONTENT_TYPE, value), "{value}");
        }
        assert!(!is_taken(header::CONTENT_ENCODING, "gzip"));
    }

    #[test]
    fn a_text_that_says_nothing_is_taken_and_no_other() {
        let sent_as = |kind: &'static str, body: &[u8]| {
            check(&HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(kind))]), body).is_ok()
        };
        for nothing in [&b"{}"[..], b" {\n} ", b"", b"  "] {
            assert!(sent_as("text/plain", nothing) && sent_as("Text/Plain; charset=utf-8", nothing), "{nothing:?}");
            assert!(!sent_as("text/html", nothing) && !sent_as("text/plain; charset=utf-16", nothing), "{nothing:?}");
        }
        for something in [&b"{} {}"[..], b"{", b"}{", b"null", b"[]", BODY] {
            assert!(!sent_as("text/plain", something), "{something:?}");
        }
    }
}
