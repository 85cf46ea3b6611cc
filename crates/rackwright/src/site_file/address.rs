//! What a site file says in a form of its own: BMC addresses, MAC addresses, roles, vendors, versions.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use http::Uri;
use model::{Endpoint, Role};

/// Where a BMC's Redfish service is: a scheme and an authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BmcUrl {
    pub uri: Uri,
    pub scheme: Scheme,
    /// Two spellings of one address are one address.
    pub normal: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Http,
    Https,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BmcUrlError {
    #[error("`{0}` is no URL; a BMC's is written like https://10.0.1.17")]
    NoUrl(String),
    #[error("a BMC is reached by https or http, not by `{0}`")]
    Scheme(String),
    #[error("a BMC has an address of its own and no path; leave out `{0}`")]
    Path(String),
    #[error("a user or a password does not belong into an address")]
    Login,
}

impl FromStr for BmcUrl {
    type Err = BmcUrlError;

    fn from_str(text: &str) -> Result<BmcUrl, BmcUrlError> {
        if text.contains('@') {
            return Err(BmcUrlError::Login);
        }
        let no_url = || BmcUrlError::NoUrl(text.to_owned());
        let uri: Uri = text.parse().map_err(|_| no_url())?;
        uri.host().filter(|host| !host.is_empty()).ok_or_else(no_url)?;
        let scheme = match uri.scheme_str() {
            Some("http") => Scheme::Http,
            Some("https") => Scheme::Https,
            Some(other) => return Err(BmcUrlError::Scheme(other.to_owned())),
            None => return Err(no_url()),
        };
        match uri.path_and_query().map_or("/", |path| path.as_str()) {
            "/" | "" => {}
            path => return Err(BmcUrlError::Path(path.to_owned())),
        }
        Ok(BmcUrl { uri, scheme, normal: Endpoint::of_url(text).to_string() })
    }
}

impl BmcUrl {
    /// Whether what is sent there never leaves this computer.
    pub fn is_loopback(&self) -> bool {
        let host = self.uri.host().unwrap_or_default().trim_matches(['[', ']']);
        host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    pub fn host_and_port(&self) -> &str {
        &self.normal
    }
}

impl fmt::Display for BmcUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.uri.to_string().trim_end_matches('/'))
    }
}

/// The address of a network port, in the one spelling that all of ours have: `AC:1F:6B:00:00:01`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mac(pub String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no MAC address; one is written like AC:1F:6B:00:00:01")]
pub struct NoMac(String);

impl FromStr for Mac {
    type Err = NoMac;

    fn from_str(text: &str) -> Result<Mac, NoMac> {
        let separator = if text.contains('-') { '-' } else { ':' };
        let bytes: Vec<Option<u8>> = text
            .split(separator)
            .map(|pair| {
                (pair.len() == 2 && pair.bytes().all(|digit| digit.is_ascii_hexdigit())).then(|| u8::from_str_radix(pair, 16).ok())?
            })
            .collect();
        let [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f)] = bytes[..] else { return Err(NoMac(text.to_owned())) };
        // A group address, or none at all, is that of no port.
        if a & 1 == 1 || [a, b, c, d, e, f] == [0; 6] {
            return Err(NoMac(text.to_owned()));
        }
        Ok(Mac(format!("{a:02X}:{b:02X}:{c:02X}:{d:02X}:{e:02X}:{f:02X}")))
    }
}

/// A role as site files write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoleWord(pub Role);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no role; there are `control-plane`, `management` and `compute`")]
pub struct NoRole(String);

impl FromStr for RoleWord {
    type Err = NoRole;

    fn from_str(text: &str) -> Result<RoleWord, NoRole> {
        match text {
            "control-plane" => Ok(RoleWord(Role::ControlPlane)),
            "management" => Ok(RoleWord(Role::Management)),
            "compute" => Ok(RoleWord(Role::Compute)),
            _ => Err(NoRole(text.to_owned())),
        }
    }
}

pub fn role_word(role: Role) -> &'static str {
    match role {
        Role::ControlPlane => "control-plane",
        Role::Management => "management",
        Role::Compute => "compute",
    }
}

/// Who made a machine. Only the simulator wants to know: a BMC tells it by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VendorWord(pub sim::Vendor);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot be simulated; there are `dell`, `hpe`, `lenovo` and `supermicro`")]
pub struct NoVendor(String);

impl FromStr for VendorWord {
    type Err = NoVendor;

    fn from_str(text: &str) -> Result<VendorWord, NoVendor> {
        match text.to_ascii_lowercase().as_str() {
            "dell" => Ok(VendorWord(sim::Vendor::Dell)),
            "hpe" => Ok(VendorWord(sim::Vendor::Hpe)),
            "lenovo" => Ok(VendorWord(sim::Vendor::Lenovo)),
            "supermicro" => Ok(VendorWord(sim::Vendor::Supermicro)),
            _ => Err(NoVendor(text.to_owned())),
        }
    }
}

/// A runtime version: numbers between dots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version(pub String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no runtime version; one is written like 4.9.2")]
pub struct NoVersion(String);

impl FromStr for Version {
    type Err = NoVersion;

    fn from_str(text: &str) -> Result<Version, NoVersion> {
        let parts: Vec<&str> = text.split('.').collect();
        let numeric = parts.iter().all(|part| !part.is_empty() && part.len() <= 9 && part.bytes().all(|byte| byte.is_ascii_digit()));
        if numeric && parts.len() == 3 { Ok(Version(text.to_owned())) } else { Err(NoVersion(text.to_owned())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_spellings_of_one_address_are_one() {
        let normal = |text: &str| text.parse::<BmcUrl>().unwrap().normal;
        assert_eq!(normal("https://BMC1.example"), normal("https://bmc1.example:443/"));
        assert_eq!("ac-1f-6b-00-00-01".parse::<Mac>(), "AC:1F:6B:00:00:01".parse::<Mac>());
        assert!("https://[::1]:8443".parse::<BmcUrl>().unwrap().is_loopback());
        assert!(!"https://127.example".parse::<BmcUrl>().unwrap().is_loopback());
    }

    #[test]
    fn what_is_no_address_is_refused_in_words() {
        let url = |text: &str| text.parse::<BmcUrl>().unwrap_err().to_string();
        assert!(url("10.0.1.17").contains("like https://10.0.1.17"));
        assert!(url("ftp://10.0.1.17").contains("not by `ftp`"));
        assert!(url("https://10.0.1.17/redfish/v1").contains("leave out `/redfish/v1`"));
        assert!(!url("https://root:calvin@10.0.1.17").contains("calvin"));
        for text in ["", "AC:1F:6B:00:00", "AC:1F:6B:00:00:0g", "00:00:00:00:00:00", "01:00:5E:00:00:01", "02:00:00:00:00:+1"] {
            assert!(text.parse::<Mac>().is_err(), "{text}");
        }
        for text in ["4.9", "4.9.x", "v4.9.2", "4..2"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
