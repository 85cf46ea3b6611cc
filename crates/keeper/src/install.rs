//! What an ask needs that belongs to an installation: the address that a machine starts from, and the token by which it joins.
//!
//! Addresses and tokens are good for whoever knows them, so they are made when they are sent and stand nowhere else.

use http::Uri;
use model::{Attempt, ClusterName, Delivery, Fault, FaultClass, Span, Timestamp};
use plan::{Step, With};
use store::{Vault, VaultError};
use ticket::InstallKey;

/// How long a machine has from the making of its token until it has joined. Never scaled: it is the undercloud's clock that counts.
pub const JOIN_TOKEN_LIFE: Span = Span::hours(1);

/// What the machines of a cluster are installed with.
#[derive(Clone, Debug)]
pub struct InstallDesk {
    pub key: InstallKey,
    pub urls: InstallUrls,
}

/// Where the install face is reached, e.g. `https://10.0.0.1:7226`, by each of those who call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallUrls {
    /// Agents and installed systems, which are given the certificate that they know it by.
    pub agents: String,
    /// The machines' firmware, on the same network, which is given none.
    pub firmware: String,
    /// Their BMCs, which are given none either, and may be on another network.
    pub media: String,
}

impl InstallUrls {
    /// The same for everybody.
    pub fn all(url: &str) -> InstallUrls {
        InstallUrls { agents: url.to_owned(), firmware: url.to_owned(), media: url.to_owned() }
    }
}

/// The key of a cluster's installations, made when it is needed for the first time. Several may do so at once.
pub async fn load_install_key(vault: &Vault, cluster: &ClusterName) -> Result<InstallKey, VaultError> {
    let name = InstallKey::secret_of(cluster);
    let bytes = vault.load_or_make(&name).await?;
    InstallKey::from_bytes(&bytes).ok_or(VaultError::WrongKey { name })
}

/// Where the image is that goes into the virtual drive.
pub(crate) fn media_url(step: &Step, desk: Option<&InstallDesk>) -> Result<Uri, Fault> {
    let desk = desk.ok_or_else(no_desk)?;
    url(&desk.urls.media, &ticket::media_path(&desk.key, attempt_of(step)?))
}

/// Where UEFI fetches what it starts.
pub(crate) fn http_url(step: &Step, desk: Option<&InstallDesk>) -> Result<Uri, Fault> {
    let desk = desk.ok_or_else(no_desk)?;
    url(&desk.urls.firmware, &ticket::http_path(&desk.key, attempt_of(step)?))
}

fn url(base: &str, path: &str) -> Result<Uri, Fault> {
    let base = base.trim_end_matches('/');
    // What is wrong with it is told without the path, which has a secret.
    let wrong = || Fault::new(FaultClass::Unsupported, Delivery::No, format!("the install address `{base}` is no URL"));
    format!("{base}{path}").parse().ok().filter(|url: &Uri| url.scheme().is_some() && url.host().is_some()).ok_or_else(wrong)
}

pub(crate) fn join_token(step: &Step, desk: Option<&InstallDesk>, now: Timestamp) -> Result<kubernetes::JoinToken, Fault> {
    let (desk, attempt) = (desk.ok_or_else(no_desk)?, attempt_of(step)?);
    let token = desk.key.join_token(attempt);
    Ok(kubernetes::JoinToken {
        id: token.id,
        secret: token.secret,
        description: format!("Rackwright: {} joins, operation {}", attempt.machine, attempt.operation),
        expires_at: now + JOIN_TOKEN_LIFE,
    })
}

pub(crate) fn volume_of(step: &Step) -> Result<&str, Fault> {
    if let With::Volume { path } = &step.with { Ok(path) } else { Err(incomplete(step)) }
}

pub(crate) fn os_volume_of(step: &Step) -> Result<&str, Fault> {
    if let With::OsVolume { name } = &step.with { Ok(name) } else { Err(incomplete(step)) }
}

fn attempt_of(step: &Step) -> Result<&Attempt, Fault> {
    if let With::Install { attempt, .. } = &step.with { Ok(attempt) } else { Err(incomplete(step)) }
}

fn incomplete(step: &Step) -> Fault {
    Fault::new(FaultClass::Unsupported, Delivery::No, format!("the {} does not say what it is about", step.ask))
}

fn no_desk() -> Fault {
    Fault::new(FaultClass::Unsupported, Delivery::No, "this site has no install address, so its machines cannot be installed")
}

#[cfg(test)]
mod tests;
