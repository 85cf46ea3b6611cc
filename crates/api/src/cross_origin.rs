//! Keeping web pages away from the API.
//!
//! Pages have no token, so nothing would be done for them. What a browser sends for a page elsewhere is refused before anybody looks
//! at it; it says so in headers that a page cannot change.

use http::{HeaderMap, HeaderValue};

use crate::codes::Code;
use crate::reply::{Refused, shortened};

/// Refuses what a web page sent.
pub(crate) fn check(headers: &HeaderMap) -> Result<(), Refused> {
    if let Some(origin) = headers.get("origin") {
        let page = shortened(&String::from_utf8_lossy(origin.as_bytes()));
        return Err(refused(format!("the request comes from the web page `{page}`; pages may not use this API")));
    }
    let from_outside = |site: &&HeaderValue| !matches!(site.as_bytes(), b"none" | b"same-origin");
    if let Some(site) = headers.get_all("sec-fetch-site").iter().find(from_outside) {
        let site = shortened(&String::from_utf8_lossy(site.as_bytes()));
        return Err(refused(format!("a browser sent the request for a page elsewhere (`{site}`); pages may not use this API")));
    }
    Ok(())
}

fn refused(message: String) -> Refused {
    Refused::new(Code::CrossOriginRefused, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    fn is_served(lines: &[(&'static str, &'static str)]) -> bool {
        check(&headers(lines)).is_ok()
    }

    #[test]
    fn what_a_page_sends_is_not_served() {
        let here = ("host", "localhost:7225");
        for (name, value) in [
            ("origin", "https://evil.example"),
            ("origin", "null"),
            ("origin", "http://localhost:3000"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
            ("sec-fetch-site", ""),
        ] {
            assert!(!is_served(&[here, (name, value)]), "{name}: {value}");
        }
        assert!(is_served(&[here, ("sec-fetch-site", "none")]), "an address that was typed in");
        assert!(is_served(&[here, ("sec-fetch-site", "same-origin")]));
    }
}
