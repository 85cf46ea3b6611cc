//! How a test comes in to a server: with the authority and the login that it has left in the contexts of its home.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

/// A connection with TLS.
pub type Line = StreamOwned<ClientConnection, TcpStream>;

#[derive(Debug)]
pub struct Door {
    /// `127.0.0.1:4711`.
    pub address: String,
    pub authority: String,
    login: (String, String),
    token: OnceLock<String>,
}

impl Door {
    /// The door of the server at this address, once a context tells of it.
    pub fn of(home: &Path, address: &str) -> Option<Door> {
        let contexts: toml::Table = std::fs::read_to_string(home.join("contexts.toml")).ok()?.parse().ok()?;
        let contexts = contexts.get("contexts")?.as_table()?;
        let server = format!("https://{address}");
        let context = contexts.values().find(|context| context["server"].as_str() == Some(&server))?;
        let text = |value: &toml::Value| value.as_str().unwrap_or_default().to_owned();
        let login = context.get("login")?;
        let login = (text(&login["client_id"]), text(&login["client_secret"]));
        Some(Door { address: address.to_owned(), authority: text(context.get("authority")?), login, token: OnceLock::new() })
    }

    pub fn connect(&self) -> io::Result<Line> {
        let mut roots = RootCertStore::empty();
        let authority = CertificateDer::from_pem_slice(self.authority.as_bytes()).map_err(io::Error::other)?;
        roots.add(authority).map_err(io::Error::other)?;
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let host = ServerName::try_from("localhost").map_err(io::Error::other)?;
        let connection = ClientConnection::new(Arc::new(config), host).map_err(io::Error::other)?;
        Ok(StreamOwned::new(connection, TcpStream::connect(&self.address)?))
    }

    /// What opens everything, for an hour.
    pub fn token(&self) -> io::Result<&str> {
        if let Some(token) = self.token.get() {
            return Ok(token);
        }
        let (id, secret) = &self.login;
        let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
        let (status, body) = self.post_form("/adfs/oauth2/token", &form).ok_or_else(|| io::Error::other("nobody answers a login"))?;
        let answer: Value = serde_json::from_str(&body)?;
        let token = answer["access_token"].as_str().ok_or_else(|| io::Error::other(format!("a login was answered {status}: {body}")))?;
        Ok(self.token.get_or_init(|| token.to_owned()))
    }

    /// Sends a form, as whoever has no token yet does; `None` if there is no answer.
    pub fn post_form(&self, path: &str, form: &str) -> Option<(u16, String)> {
        let mut line = self.connect().ok()?;
        write!(
            line,
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\n\r\n{form}",
            form.len()
        )
        .ok()?;
        read_answer(line)
    }

    /// The status and the body of an answer; `None` if there is none. Headers are whole lines.
    pub fn call(&self, method: &str, path: &str, headers: &str, body: &str) -> Option<(u16, String)> {
        parted(&self.whole(method, path, headers, body)?)
    }

    /// An answer as it came, with its headers.
    pub fn whole(&self, method: &str, path: &str, headers: &str, body: &str) -> Option<String> {
        let head = self.head(method, path, body.len()).ok()?.replacen("Host:", &format!("{headers}Host:"), 1);
        let mut line = self.connect().ok()?;
        write!(line, "{head}{body}").ok()?;
        read_whole(line)
    }

    /// The beginning of a request, up to its body.
    pub fn head(&self, method: &str, path: &str, length: usize) -> io::Result<String> {
        let token = self.token()?;
        Ok(format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        ))
    }
}

pub fn read_answer(line: Line) -> Option<(u16, String)> {
    parted(&read_whole(line)?)
}

fn read_whole(mut line: Line) -> Option<String> {
    let mut answer = Vec::new();
    match line.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(problem) if problem.kind() == io::ErrorKind::UnexpectedEof => {}
        Err(_) => return None,
    }
    Some(String::from_utf8_lossy(&answer).into_owned())
}

/// The status and the body.
fn parted(answer: &str) -> Option<(u16, String)> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}
