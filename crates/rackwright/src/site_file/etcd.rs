//! How the undercloud's etcd is reached: `etcd = { endpoints = […], ca = …, cert = …, key = … }` in `[cluster]`.

use std::net::IpAddr;
use std::path::PathBuf;

use etcd::{ENDPOINTS_MAX, Endpoint, EtcdCluster, Tls, Transport};
use zeroize::Zeroizing;

use super::logins::read_private;
use super::page::{Located, Page, Problems, Quote};
use super::section::Section;
use super::tables::PlainHttp;

/// What the file says, each part by itself.
#[derive(Debug)]
pub struct EtcdTable {
    pub line: usize,
    pub endpoints: Vec<Located<Endpoint>>,
    ca: Option<Located<String>>,
    cert: Option<Located<String>>,
    key: Option<Located<String>>,
}

/// Everything that a driver of etcd is made from. It holds a key, and is never printed.
pub struct EtcdAccess {
    endpoints: Vec<Endpoint>,
    /// CA, certificate and key, in PEM.
    pems: Option<[Zeroizing<String>; 3]>,
    transport: Transport,
}

impl PartialEq for EtcdAccess {
    fn eq(&self, other: &EtcdAccess) -> bool {
        self.endpoints == other.endpoints && self.pems == other.pems
    }
}

impl EtcdAccess {
    pub fn cluster(&self) -> EtcdCluster {
        EtcdCluster::new(self.transport.clone(), self.endpoints.iter().cloned())
    }
}

pub fn table(mut section: Section<'_>, plain_http: PlainHttp) -> Option<EtcdTable> {
    let line = section.line;
    let mut endpoints = Vec::new();
    for text in section.listed("endpoints") {
        match text.value.parse::<Endpoint>() {
            Ok(value) => endpoints.push(Located { value, line: text.line }),
            Err(problem @ etcd::EndpointError::Login) => section.secret_problem(text.line, format!("`endpoints` of etcd: {problem}")),
            Err(problem) => section.problem(text.line, format!("`endpoints` of etcd: `{}`: {problem}", text.value)),
        }
    }
    let table = EtcdTable {
        line,
        endpoints,
        ca: section.text_if_given("ca"),
        cert: section.text_if_given("cert"),
        key: section.text_if_given("key"),
    };
    table.check(&mut section, plain_http);
    section.finish();
    Some(table)
}

impl EtcdTable {
    fn check(&self, section: &mut Section<'_>, plain_http: PlainHttp) {
        if self.endpoints.len() > ENDPOINTS_MAX {
            section.problem(self.line, format!("`endpoints` of etcd: at most {ENDPOINTS_MAX} are tried, not {}", self.endpoints.len()));
        }
        for (index, endpoint) in self.endpoints.iter().enumerate() {
            if self.endpoints[..index].iter().any(|other| other.value == endpoint.value) {
                section.problem(endpoint.line, format!("`endpoints` of etcd: {} is listed twice", endpoint.value));
            }
        }
        let plain = self.endpoints.iter().find(|endpoint| endpoint.value.is_plain());
        let secure = self.endpoints.iter().find(|endpoint| !endpoint.value.is_plain());
        if let (Some(plain), Some(_)) = (plain, secure) {
            section.problem(plain.line, "`endpoints` of etcd: either all of them are https or none is");
        }
        let lacking = [("ca", &self.ca), ("cert", &self.cert), ("key", &self.key)].into_iter().filter(|(_, file)| file.is_none());
        if secure.is_some() {
            for (name, _) in lacking {
                section.problem(self.line, format!("`etcd` lacks `{name}`: over https etcd and we know each other by certificates"));
            }
        } else if let Some(file) = [&self.ca, &self.cert, &self.key].into_iter().flatten().next() {
            section.problem(file.line, "`etcd` is on plain http, where nobody shows a certificate");
        }
        let is_remote = |endpoint: &&Located<Endpoint>| endpoint.value.is_plain() && !is_loopback(endpoint.value.host());
        if let Some(endpoint) = self.endpoints.iter().find(is_remote).filter(|_| plain_http == PlainHttp::Refused) {
            let message = format!("whoever reaches {} over plain http could take the whole undercloud over", endpoint.value);
            section.problem(endpoint.line, format!("{message}: use https, or say `allow-plain-http = true` in [cluster]"));
        }
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Reads the certificates and the key. What was opened is added to `opened`.
pub fn resolve(page: &Page, table: &EtcdTable, opened: &mut Vec<PathBuf>, problems: &mut Problems) -> Option<EtcdAccess> {
    let endpoints: Vec<Endpoint> = table.endpoints.iter().map(|endpoint| endpoint.value.clone()).collect();
    let (Some(ca), Some(cert), Some(key)) = (&table.ca, &table.cert, &table.key) else {
        return Some(EtcdAccess { endpoints, pems: None, transport: Transport::tcp() });
    };
    let mut open = |file: &Located<String>| {
        let path = page.beside(&file.value);
        opened.push(path.clone());
        let text = std::fs::read_to_string(&path).map(Zeroizing::new);
        text.map_err(|error| problems.note(page, file.line, format!("{} cannot be read: {error}", path.display()))).ok()
    };
    let (ca_pem, cert_pem) = (open(ca), open(cert));
    let key_path = page.beside(&key.value);
    let key_pem = read_private(&key_path)
        .map(Zeroizing::new)
        .map_err(|(message, remedy)| problems.note_quoting(page, key.line, Quote::Line, message, remedy))
        .ok();
    opened.push(key_path);
    let pems = [ca_pem?, cert_pem?, key_pem?];
    let tls = Tls::new(pems[0].as_bytes(), pems[1].as_bytes(), Zeroizing::new(pems[2].as_bytes().to_vec()));
    match tls.and_then(|tls| Transport::tls(&tls)) {
        Ok(transport) => Some(EtcdAccess { endpoints, pems: Some(pems), transport }),
        Err(error) => {
            problems.note(page, table.line, format!("`etcd` cannot be reached with its certificates: {error}"));
            None
        }
    }
}
