//! Where a member of etcd takes requests.

use std::fmt;
use std::str::FromStr;

use http::Uri;
use http::uri::{Authority, Scheme};

/// How many endpoints are tried. etcd itself advises against more than seven members.
pub const ENDPOINTS_MAX: usize = 9;

/// `https://10.1.0.4:2379`: a scheme, a host and a port, and nothing else.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    scheme: Scheme,
    authority: Authority,
}

/// Why a text is no endpoint. The text is not repeated: somebody may have written a password into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    #[error("it is no URL; an endpoint of etcd looks like https://10.1.0.4:2379")]
    Url,
    #[error("an endpoint of etcd begins with http:// or https://")]
    Scheme,
    #[error("an endpoint of etcd names its port, usually 2379")]
    Port,
    #[error("an endpoint of etcd has no path after its port")]
    Path,
    #[error("a login does not belong into an address: etcd knows us by our certificate")]
    Login,
}

impl Endpoint {
    pub fn is_plain(&self) -> bool {
        self.scheme == Scheme::HTTP
    }

    pub fn host(&self) -> &str {
        self.authority.host()
    }

    /// `10.1.0.4:2379`
    pub fn authority(&self) -> &str {
        self.authority.as_str()
    }

    pub(crate) fn join(&self, path: &'static str) -> Uri {
        let parts = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone()).path_and_query(path);
        // All three parts are valid by themselves, and so is their sum.
        parts.build().unwrap_or_else(|_| Uri::from_static(path))
    }
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Endpoint, EndpointError> {
        if text.contains('@') {
            return Err(EndpointError::Login);
        }
        let parts = text.parse::<Uri>().map_err(|_| EndpointError::Url)?.into_parts();
        let scheme = parts.scheme.filter(|scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme)).ok_or(EndpointError::Scheme)?;
        let authority = parts.authority.ok_or(EndpointError::Url)?;
        if authority.host().is_empty() {
            return Err(EndpointError::Url);
        }
        if authority.port_u16().is_none_or(|port| port == 0) {
            return Err(EndpointError::Port);
        }
        match parts.path_and_query.as_ref().map_or("", |path| path.as_str()) {
            "" | "/" => Ok(Endpoint { scheme, authority }),
            _ => Err(EndpointError::Path),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.authority)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_a_scheme_a_host_and_a_port() {
        for (text, shown) in [
            ("https://10.1.0.4:2379", "https://10.1.0.4:2379"),
            ("http://[::1]:2379/", "http://[::1]:2379"),
            ("https://etcd-1.site1.example:2379", "https://etcd-1.site1.example:2379"),
        ] {
            assert_eq!(text.parse::<Endpoint>().unwrap().to_string(), shown);
        }
        let refused = [
            ("", EndpointError::Url),
            ("10.1.0.4:2379", EndpointError::Scheme),
            ("ftp://10.1.0.4:2379", EndpointError::Scheme),
            ("https://10.1.0.4", EndpointError::Port),
            ("https://10.1.0.4:0", EndpointError::Port),
            ("https://10.1.0.4:2379/v3", EndpointError::Path),
            ("https://10.1.0.4:2379?x=1", EndpointError::Path),
            ("https://root:s3cret@10.1.0.4:2379", EndpointError::Login),
        ];
        for (text, expected) in refused {
            assert_eq!(text.parse::<Endpoint>().unwrap_err(), expected, "{text}");
        }
    }
}
