//! Where a device listens, in the one form in which two spellings of one address are equal.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

/// Host and port of a URL: lower case, with the scheme's usual port written out.
///
/// The names of this computer for itself are one: `localhost`, `127.0.0.1` and `[::1]` lead to the same listener as far
/// as anybody can tell from a description. Other names are not resolved.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    host: String,
    port: String,
}

impl Endpoint {
    /// Of `https://host`, `http://host:8000/` and the like. What is no URL is an endpoint of its own spelling.
    pub fn of_url(url: &str) -> Endpoint {
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let usual_port = if scheme.eq_ignore_ascii_case("http") { "80" } else { "443" };
        let (host, port) = match authority.rsplit_once(':') {
            // The colons inside the brackets are the address's own.
            Some((host, port)) if !port.contains(']') => (host, port),
            _ => (authority, ""),
        };
        let port = if port.is_empty() { usual_port } else { port };
        Endpoint { host: normal_host(host), port: port.to_owned() }
    }
}

fn normal_host(host: &str) -> String {
    let host = host.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    match host.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V6(address)) if address.is_loopback() => loopback.to_string(),
        Ok(address) => address.to_string(),
        Err(_) if host == "localhost" || host.ends_with(".localhost") => loopback.to_string(),
        Err(_) => host,
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_spellings_of_one_address_are_one_endpoint() {
        for (one, other) in [
            ("https://BMC1.example", "https://bmc1.example:443/"),
            ("http://10.0.0.1", "http://10.0.0.1:80"),
            ("http://localhost:8000", "http://127.0.0.1:8000"),
            ("http://[::1]:8000", "http://localhost:8000"),
            ("https://[FE80::0:1]", "https://[fe80::1]:443"),
            ("https://bmc.example.", "https://bmc.example"),
        ] {
            assert_eq!(Endpoint::of_url(one), Endpoint::of_url(other), "{one} and {other}");
        }
        assert_ne!(Endpoint::of_url("http://127.0.0.1:8000"), Endpoint::of_url("http://127.0.0.2:8000"));
        assert_ne!(Endpoint::of_url("https://h:443"), Endpoint::of_url("https://h:8443"));
        assert_eq!(Endpoint::of_url("https://[fe80::1]").to_string(), "[fe80::1]:443");
    }
}
