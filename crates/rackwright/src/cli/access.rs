//! How commands show who they are, and know whom they talk to.

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::context::Context;
use super::trouble::{Exit, Trouble};

/// What stands in the place of what a context says, for jobs that have no home.
const TOKEN_VARIABLE: &str = "RACKWRIGHT_TOKEN";
const CLIENT_ID_VARIABLE: &str = "RACKWRIGHT_CLIENT_ID";
const CLIENT_SECRET_VARIABLE: &str = "RACKWRIGHT_CLIENT_SECRET";
const AUTHORITY_VARIABLE: &str = "RACKWRIGHT_CA_FILE";

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    pub fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Who commands log in as.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Login {
    pub client_id: String,
    pub client_secret: Secret,
}

/// A person, whom another issuer knows. What they showed of it is not kept; what the server gave them for it is, and gets them tokens
/// until their login ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Person {
    /// As the server calls them.
    pub name: String,
    pub refresh_token: Secret,
}

/// What is shown to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    Token(Secret),
    Login(Login),
    Person(Person),
}

#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Who signed the server's certificate, in PEM; without it, those whom this computer trusts.
    pub authority: Option<String>,
    pub pass: Option<Pass>,
}

impl Access {
    /// What a context says, and what the environment says instead.
    pub fn of(context: Option<&Context>) -> Result<Access, Trouble> {
        let authority = match variable(AUTHORITY_VARIABLE) {
            Some(file) => Some(std::fs::read_to_string(&file).map_err(|problem| {
                Trouble::new(Exit::Usage, format!("{AUTHORITY_VARIABLE} names `{file}`, which cannot be read: {problem}"))
            })?),
            None => context.and_then(|context| context.authority.clone()),
        };
        Ok(Access { authority, pass: pass_of_environment().or_else(|| context?.pass()) })
    }

    /// Whom this process trusts when it calls the server.
    pub fn tls(&self) -> Result<rustls::ClientConfig, Trouble> {
        let mut roots = rustls::RootCertStore::empty();
        let wrong = |why: String| Trouble::failed(format!("the server's authority cannot be used: {why}"));
        match &self.authority {
            Some(pem) => {
                for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
                    let certificate = certificate.map_err(|problem| wrong(problem.to_string()))?;
                    roots.add(certificate).map_err(|problem| wrong(problem.to_string()))?;
                }
                if roots.is_empty() {
                    return Err(wrong("there is no certificate in it".to_owned()));
                }
            }
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
        }
        rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map(|builder| builder.with_root_certificates(roots).with_no_client_auth())
            .map_err(|problem| wrong(problem.to_string()))
    }
}

/// For what is spoken to in the clear, on this computer: nobody is trusted, and nobody need be.
pub fn no_tls() -> rustls::ClientConfig {
    rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has the usual versions")
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}

fn pass_of_environment() -> Option<Pass> {
    if let Some(token) = variable(TOKEN_VARIABLE) {
        return Some(Pass::Token(Secret(token)));
    }
    let (client_id, secret) = variable(CLIENT_ID_VARIABLE).zip(variable(CLIENT_SECRET_VARIABLE))?;
    Some(Pass::Login(Login { client_id, client_secret: Secret(secret) }))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}
