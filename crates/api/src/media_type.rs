//! What a body may be sent as. ARM takes JSON in UTF-8 and nothing else; a body without a word about it is taken for that.

use http::{HeaderMap, HeaderValue, header};

use crate::codes::Code;
use crate::reply::{Refused, shortened};

pub(crate) fn check(headers: &HeaderMap) -> Result<(), Refused> {
    if let Some(other) = headers.get_all(header::CONTENT_TYPE).iter().find(|value| !is_json(value)) {
        return Err(refused("content type", other, "application/json in UTF-8"));
    }
    let encoded = |value: &&HeaderValue| !value.as_bytes().eq_ignore_ascii_case(b"identity");
    match headers.get_all(header::CONTENT_ENCODING).iter().find(encoded) {
        Some(other) => Err(refused("content encoding", other, "a body as it is")),
        None => Ok(()),
    }
}

fn refused(what: &str, sent: &HeaderValue, taken: &str) -> Refused {
    let sent = shortened(&String::from_utf8_lossy(sent.as_bytes()));
    Refused::new(Code::UnsupportedMediaType, format!("the {what} `{sent}` is not understood; only {taken} is"))
}

fn is_json(value: &HeaderValue) -> bool {
    let Ok(text) = value.to_str() else { return false };
    let mut parts = text.split(';').map(str::trim);
    let json = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    let mut charsets =
        parts.filter_map(|parameter| parameter.split_once('=')).filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    // ASCII is UTF-8 too.
    let readable = |charset: &str| ["utf-8", "utf8", "us-ascii"].iter().any(|known| known.eq_ignore_ascii_case(charset));
    json && charsets.all(|(_, charset)| readable(charset.trim().trim_matches('"')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_taken(name: header::HeaderName, value: &'static str) -> bool {
        check(&HeaderMap::from_iter([(name, HeaderValue::from_static(value))])).is_ok()
    }

    #[test]
    fn json_in_utf_8_is_taken_however_it_is_written() {
        assert!(check(&HeaderMap::new()).is_ok(), "nothing was said");
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
}
