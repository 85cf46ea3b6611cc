//! Keeping web pages away from the API.
//!
//! There is no authentication yet: whoever can send a request is believed. Every page that a browser on this computer
//! shows can send one to a loopback address, some without asking first, and a name that is made to point at 127.0.0.1
//! makes the page's own address ours. Both say so in headers that a page cannot change.

use http::uri::Authority;
use http::{HeaderMap, HeaderValue};

use crate::codes::Code;
use crate::reply::{Refused, shortened};

/// Refuses what a web page sent, and what was addressed to a name that is not this computer's own.
pub(crate) fn check(authority: Option<&Authority>, headers: &HeaderMap) -> Result<(), Refused> {
    if let Some(origin) = headers.get("origin") {
        let page = shortened(&String::from_utf8_lossy(origin.as_bytes()));
        return Err(refused(format!("the request comes from the web page `{page}`; pages may not use this API")));
    }
    let from_outside = |site: &&HeaderValue| !matches!(site.as_bytes(), b"none" | b"same-origin");
    if let Some(site) = headers.get_all("sec-fetch-site").iter().find(from_outside) {
        let site = shortened(&String::from_utf8_lossy(site.as_bytes()));
        return Err(refused(format!("a browser sent the request for a page elsewhere (`{site}`); pages may not use this API")));
    }
    let hosts = headers.get_all("host").iter().map(|host| String::from_utf8_lossy(host.as_bytes()).into_owned());
    let named: Vec<String> = hosts.chain(authority.map(Authority::to_string)).collect();
    match named.iter().find(|name| !is_loopback(name)) {
        None if named.is_empty() => Err(refused("the request does not say which host it is for".to_owned())),
        None => Ok(()),
        Some(name) => {
            let message = format!("the request is for the host `{}`; only localhost, 127.0.0.1 and [::1] are served", shortened(name));
            Err(refused(message))
        }
    }
}

fn refused(message: String) -> Refused {
    Refused::new(Code::CrossOriginRefused, message)
}

/// Whether a host, with or without a port, can only be this computer: a name that DNS does not answer for, or an address.
fn is_loopback(text: &str) -> bool {
    let Ok(authority) = text.parse::<Authority>() else { return false };
    let host = authority.host();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    !text.contains('@') && (host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback()))
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
        check(None, &headers(lines)).is_ok()
    }

    #[test]
    fn this_computers_own_names_are_served() {
        for host in ["localhost", "LOCALHOST:7225", "127.0.0.1", "127.0.0.1:7225", "127.1.2.3:80", "[::1]", "[::1]:7225"] {
            assert!(is_served(&[("host", host)]), "{host}");
        }
    }

    #[test]
    fn other_names_are_not_served_even_if_they_lead_here() {
        let others = [
            "rebound.example",
            "localhost.example:7225",
            "10.0.0.1:7225",
            "127.0.0.1.example",
            "localhost@example",
            "a@localhost",
            "[::2]",
            "",
        ];
        for host in others {
            assert!(!is_served(&[("host", host)]), "{host}");
        }
        assert!(!is_served(&[]), "no host at all");
        assert!(!is_served(&[("host", "localhost"), ("host", "rebound.example")]), "two hosts");
        let rebound = Authority::from_static("rebound.example");
        assert!(check(Some(&rebound), &headers(&[("host", "localhost")])).is_err(), "another host in the request line");
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
