//! The way in to a control plane: where it listens, whom to trust, and the tokens to show.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio_rustls::TlsConnector;
use uuid::Uuid;

#[derive(Clone)]
pub struct Door {
    pub address: SocketAddr,
    /// None where a process of the benchmark's own answers in the clear.
    tls: Option<TlsConnector>,
    /// Shown one after the other: a control plane rations the requests of each caller.
    pub tokens: Arc<[String]>,
}

impl Door {
    /// A process of the benchmark's own, which rations no requests. Its tokens are told in one word, with commas between them.
    pub fn in_the_clear(address: SocketAddr, tokens: &str) -> Door {
        Door { address, tls: None, tokens: tokens.split(',').map(str::to_owned).collect() }
    }

    /// The same door for one of its callers alone.
    pub fn of_caller(&self, number: usize) -> Door {
        Door { tokens: Arc::new([self.tokens[number % self.tokens.len()].clone()]), ..self.clone() }
    }

    pub fn tls(&self) -> Option<(&TlsConnector, ServerName<'static>)> {
        self.tls.as_ref().map(|tls| (tls, ServerName::from(self.address.ip())))
    }
}

/// Our own command line, in the home and the context of a server that it started.
#[derive(Clone, Copy)]
pub struct Console<'a> {
    pub binary: &'a Path,
    pub home: &'a Path,
    pub context: &'a str,
}

impl Console<'_> {
    /// The door of its server, for the administrator alone.
    pub fn open(self, address: SocketAddr) -> io::Result<Door> {
        let authority = self.say(&["context", "authority"], &[])?;
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(authority.as_bytes()).map_err(io::Error::other)?).map_err(io::Error::other)?;
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let token = self.say(&["token"], &[])?;
        Ok(Door { address, tls: Some(TlsConnector::from(Arc::new(config))), tokens: Arc::new([token]) })
    }

    /// The same door for so many callers more, each a service principal that owns everything.
    pub fn invite(self, door: &Door, callers: usize) -> io::Result<Door> {
        let mut tokens = door.tokens.to_vec();
        for _ in 0..callers {
            let name = format!("caller-{}", Uuid::new_v4());
            let made: Value = serde_json::from_str(&self.say(&["sp", "create", &name, "-o", "json"], &[])?)?;
            self.say(&["role", "assign", "--role", "Owner", "--assignee", &name, "--scope", "/"], &[])?;
            let [id, secret] = ["clientId", "secret"].map(|field| made[field].as_str().unwrap_or_default().to_owned());
            tokens.push(self.say(&["token"], &[("RACKWRIGHT_CLIENT_ID", &id), ("RACKWRIGHT_CLIENT_SECRET", &secret)])?);
        }
        Ok(Door { tokens: tokens.into(), ..door.clone() })
    }

    /// What a command prints.
    fn say(self, arguments: &[&str], environment: &[(&str, &str)]) -> io::Result<String> {
        let mut command = Command::new(self.binary);
        command.args(["--context", self.context]).args(arguments).env("RACKWRIGHT_HOME", self.home).envs(environment.iter().copied());
        let said = command.output()?;
        if !said.status.success() {
            let problem = String::from_utf8_lossy(&said.stderr).into_owned();
            return Err(io::Error::other(format!("`rackwright {}` fails: {problem}", arguments.join(" "))));
        }
        Ok(String::from_utf8_lossy(&said.stdout).trim_end().to_owned())
    }
}
