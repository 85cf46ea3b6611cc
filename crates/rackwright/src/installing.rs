//! The install face in this process: where it listens, what machines are told to call it by, and the keys of their tokens.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use api::{InstallFace, Welcome};
use clap::Args;
use http::Uri;
use keeper::InstallUrls;
use model::ClusterName;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use store::Vault;
use ticket::InstallKey;
use tokio::net::TcpListener;

use crate::authority::{Authority, AuthorityError};
use crate::cli::trouble::{Exit, Trouble};
use crate::images::ImageArgs;
use crate::private_file;

/// Where a port is remembered that was chosen for us, so that machines find us again after a restart.
const PORT_FILE: &str = "install-port";

/// Bytes of the certificates that machines are given: they go into the agent's configuration, which has room for 16 KiB in all.
pub const CA_MAX: usize = 12 * 1024;

#[derive(Args, Clone, Debug, Default)]
pub struct InstallArgs {
    /// Where machines that are being installed reach us: a listener apart from the API's, which they must not reach. Without it: a
    /// free port of loopback, for simulated machines
    #[arg(long, value_name = "ADDRESS")]
    pub install_listen: Option<String>,
    /// What machines are told to call it by, if not by the address that it listens on. One that begins with https is answered with a
    /// certificate of our own, unless --install-ca says that somebody else answers there
    #[arg(long, value_name = "URL")]
    pub install_url: Option<String>,
    /// What their BMCs are told to fetch images from, if they reach us by another address than the machines do
    #[arg(long, value_name = "URL")]
    pub install_media_url: Option<String>,
    /// The certificates, in PEM, that the proxy at an https `--install-url` is known by; machines are given them
    #[arg(long, value_name = "FILE", requires = "install_url")]
    pub install_ca: Option<PathBuf>,
    #[command(flatten)]
    pub images: ImageArgs,
}

/// A listener for machines, and what they are told to call it by.
#[derive(Debug)]
pub struct InstallDoor {
    pub listener: TcpListener,
    pub urls: InstallUrls,
    pub identity: Identity,
    /// How the images that they are sent are kept.
    pub images: ImageArgs,
}

/// How machines know who answers them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// They do not: it is plain HTTP.
    None,
    /// By a certificate of ours, for this host.
    Own { host: String },
    /// Somebody before us has the certificate; these are who signed it, in PEM.
    Proxy { ca: String },
}

impl InstallDoor {
    /// Takes the address before anything is made. `dir` remembers a port that was chosen for us.
    pub async fn open(args: &InstallArgs, dir: &Path) -> Result<InstallDoor, Trouble> {
        private_file::create_directory(dir).map_err(|error| Trouble::caused(&format!("{} cannot be made", dir.display()), &error))?;
        let listener = match &args.install_listen {
            Some(text) => bind(text).await?,
            None => bind_remembered(&dir.join(PORT_FILE)).await?,
        };
        let address = listener.local_addr().map_err(|error| Trouble::caused("the install face cannot listen", &error))?;
        let url = match &args.install_url {
            Some(url) => checked("--install-url", url)?,
            None if address.ip().is_unspecified() => {
                return Err(Trouble::new(Exit::Usage, format!("machines cannot call {address}: it stands for every address"))
                    .hint("say by which they reach it, for example --install-url https://10.0.0.1:7226"));
            }
            // Whoever is on this computer sees all of it anyway.
            None if address.ip().is_loopback() => format!("http://{address}"),
            None => format!("https://{address}"),
        };
        let identity = identity(&url, args.install_ca.as_deref())?;
        let firmware = match &identity {
            Identity::Own { .. } => url.replacen("https://", "http://", 1),
            Identity::None | Identity::Proxy { .. } => url.clone(),
        };
        let media = args.install_media_url.as_deref().map(|url| checked("--install-media-url", url)).transpose()?;
        let urls = InstallUrls { agents: url, media: media.unwrap_or_else(|| firmware.clone()), firmware };
        Ok(InstallDoor { listener, urls, identity, images: args.images })
    }
}

fn identity(url: &str, ca: Option<&Path>) -> Result<Identity, Trouble> {
    match (url.starts_with("https:"), ca) {
        (_, Some(file)) => Ok(Identity::Proxy { ca: read_authorities(file, url)? }),
        (false, None) => Ok(Identity::None),
        (true, None) => {
            let host = url.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
            Ok(host.map_or(Identity::None, |host| Identity::Own { host }))
        }
    }
}

async fn bind(text: &str) -> Result<TcpListener, Trouble> {
    let numeric = text.strip_prefix("localhost:").map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
    let address: SocketAddr = numeric.parse().map_err(|_| {
        Trouble::new(Exit::Usage, format!("`{text}` is not an address to listen on")).hint("for example --install-listen 10.0.0.1:7226")
    })?;
    TcpListener::bind(address)
        .await
        .map_err(|error| Trouble::caused(&format!("the install face cannot listen on {address}"), &error).hint("is it running already?"))
}

/// A port of loopback: the one of the last time if it is free, else any.
async fn bind_remembered(file: &Path) -> Result<TcpListener, Trouble> {
    let cannot = |error: std::io::Error| Trouble::caused("the install face cannot listen on loopback", &error);
    let before = std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse::<u16>().ok());
    if let Some(port) = before
        && let Ok(listener) = TcpListener::bind(("127.0.0.1", port)).await
    {
        return Ok(listener);
    }
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(cannot)?;
    let port = listener.local_addr().map_err(cannot)?.port();
    private_file::replace(file, &format!("{port}\n"))
        .map_err(|error| Trouble::caused(&format!("{} cannot be written", file.display()), &error))?;
    Ok(listener)
}

/// The certificates of a file, and nothing else that it has: a key beside them would go to every machine.
fn read_authorities(file: &Path, url: &str) -> Result<String, Trouble> {
    let wrong = |why: String| Trouble::new(Exit::Usage, format!("--install-ca {}: {why}", file.display()));
    if !url.starts_with("https:") {
        return Err(wrong(format!("machines call {url} without TLS, where nobody is recognized")).hint("give an https --install-url"));
    }
    let text = std::fs::read(file).map_err(|error| wrong(format!("it cannot be read: {error}")))?;
    let found = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let certificates = found.map_err(|error| wrong(format!("it is no PEM: {error}")))?;
    if certificates.is_empty() {
        return Err(wrong("it has no certificate".to_owned()));
    }
    let pem: String = certificates.iter().map(in_pem).collect();
    if pem.len() > CA_MAX {
        return Err(wrong(format!("its certificates have {} bytes, and there is room for {CA_MAX}", pem.len()))
            .hint("machines need only the certificate of whoever signed the install face's own"));
    }
    Ok(pem)
}

fn in_pem(certificate: &CertificateDer<'_>) -> String {
    use base64::Engine;
    let text = base64::engine::general_purpose::STANDARD.encode(certificate);
    let lines: Vec<&str> = text.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}

/// A URL that machines can call, as an option gives it.
pub fn checked(option: &str, url: &str) -> Result<String, Trouble> {
    let parsed = url.parse::<Uri>().ok().filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some());
    match parsed.filter(|uri| uri.query().is_none() && !url.contains('@')) {
        Some(_) => Ok(url.trim_end_matches('/').to_owned()),
        None => Err(Trouble::new(Exit::Usage, format!("`{url}` is not what machines can call"))
            .hint(format!("for example {option} http://10.0.0.1:7226"))),
    }
}

/// How machines are received.
pub async fn welcome(face: InstallFace, identity: &Identity, vault: &Vault) -> Result<Welcome, Trouble> {
    match identity {
        Identity::None => Ok(api::install_router(face).into()),
        Identity::Proxy { ca } => Ok(api::install_router(face.with_ca(ca)).into()),
        Identity::Own { host } => {
            let cannot = |error: AuthorityError| Trouble::caused("the install face cannot have a certificate", &error);
            let authority = Authority::open(vault).await.map_err(cannot)?;
            let tls = authority.acceptor(&[host]).map_err(cannot)?;
            let face = face.with_ca(authority.certificate());
            Ok(Welcome::Either { tls, inside: api::install_router(face.clone()), outside: api::boot_router(face) })
        }
    }
}

pub type InstallKeys = BTreeMap<ClusterName, InstallKey>;

#[cfg(test)]
mod tests {
    use super::*;

    fn args(listen: Option<&str>, url: Option<&str>) -> InstallArgs {
        InstallArgs { install_listen: listen.map(str::to_owned), install_url: url.map(str::to_owned), ..InstallArgs::default() }
    }

    #[tokio::test]
    async fn a_port_that_was_chosen_for_us_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let first = InstallDoor::open(&args(None, None), dir.path()).await.unwrap().urls;
        assert!(first.agents.starts_with("http://127.0.0.1:"));
        assert_eq!(InstallDoor::open(&args(None, None), dir.path()).await.unwrap().urls, first);
        let held = InstallDoor::open(&args(None, None), dir.path()).await.unwrap();
        let other = InstallDoor::open(&args(None, None), dir.path()).await.unwrap();
        assert_ne!(held.urls, other.urls, "somebody else has it");
    }

    #[tokio::test]
    async fn machines_are_told_what_they_can_call() {
        let dir = tempfile::tempdir().unwrap();
        let open = async |listen: Option<&str>, url: Option<&str>| InstallDoor::open(&args(listen, url), dir.path()).await;
        assert_eq!(open(Some("0.0.0.0:0"), None).await.unwrap_err().exit, Exit::Usage);
        let door = open(Some("0.0.0.0:0"), Some("https://install.example/")).await.unwrap();
        assert_eq!(door.urls.agents, "https://install.example");
        assert_eq!((door.urls.firmware.as_str(), door.urls.media.as_str()), ("http://install.example", "http://install.example"));
        assert_eq!(door.identity, Identity::Own { host: "install.example".to_owned() });
        assert_eq!(open(Some("127.0.0.1:0"), Some("http://10.0.0.1:9")).await.unwrap().identity, Identity::None, "as it was told");
        let other = InstallArgs { install_media_url: Some("http://10.9.0.1:9/".to_owned()), ..args(None, Some("https://10.0.0.1:9")) };
        let urls = InstallDoor::open(&other, dir.path()).await.unwrap().urls;
        assert_eq!((urls.agents.as_str(), urls.media.as_str()), ("https://10.0.0.1:9", "http://10.9.0.1:9"));
        for url in ["install.example", "ftp://install.example", "http://", "http://a/?b", "http://me:secret@a/"] {
            assert_eq!(open(Some("127.0.0.1:0"), Some(url)).await.unwrap_err().exit, Exit::Usage, "{url}");
        }
        assert_eq!(open(Some("somewhere"), None).await.unwrap_err().exit, Exit::Usage);
    }

    #[tokio::test]
    async fn machines_are_given_certificates_and_never_a_key() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("ca.pem");
        let open = async |url: &str| {
            let args = InstallArgs { install_ca: Some(file.clone()), ..args(Some("127.0.0.1:0"), Some(url)) };
            InstallDoor::open(&args, dir.path()).await.map(|door| door.identity)
        };
        let told = |result: Result<Identity, Trouble>| result.unwrap_err().message;
        let https = "https://install.example";
        assert!(told(open(https).await).contains("it cannot be read"));
        std::fs::write(&file, "nothing").unwrap();
        assert!(told(open(https).await).ends_with("it has no certificate"));
        let certificate = |fill: u8, bytes: usize| in_pem(&CertificateDer::from(vec![fill; bytes]));
        let own = certificate(7, 900);
        std::fs::write(&file, format!("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\nwords\n{own}")).unwrap();
        assert_eq!(open(https).await.unwrap(), Identity::Proxy { ca: own });
        assert!(told(open("http://install.example").await).contains("without TLS"));
        std::fs::write(&file, certificate(7, 6_000) + &certificate(8, 6_000)).unwrap();
        assert!(told(open(https).await).contains("and there is room for 12288"));
    }
}
