//! Asking devices: one request, one answer. What to do about the answer is not decided here.

use std::sync::Arc;

use async_trait::async_trait;
use kubernetes::Undercloud;
use model::{Delivery, DeviceAsk, Fault, FaultClass, MachineName, Party, SecretRef, Timestamp};
use plan::Step;
use redfish::{Bmc, BootSource, Credentials, Login, Persistence};
use store::Vault;
use zeroize::Zeroizing;

use crate::InstallDesk;
use crate::{accounts, install};

/// BMC credentials out of the vault, resolved for each login and kept nowhere.
#[derive(Debug)]
pub struct VaultCredentials {
    vault: Arc<Vault>,
    secret: SecretRef,
}

impl VaultCredentials {
    pub fn new(vault: Arc<Vault>, secret: SecretRef) -> Self {
        VaultCredentials { vault, secret }
    }
}

#[async_trait]
impl Credentials for VaultCredentials {
    /// The secret is `user`, a line feed, and the password.
    async fn login(&self) -> Result<Login, Fault> {
        let secret = self.vault.load(&self.secret).await.map_err(|error| {
            tracing::warn!(secret = %self.secret, %error, "BMC credentials cannot be read");
            Fault::new(FaultClass::NoLogin, Delivery::No, format!("credentials `{}` cannot be read from the vault", self.secret))
        })?;
        let text = std::str::from_utf8(&secret).unwrap_or_default();
        let (user, password) = text.split_once('\n').unwrap_or((text, ""));
        Ok(Login::new(user, password))
    }
}

/// Secrets out of the vault, resolved when they are needed and kept nowhere.
#[async_trait]
pub trait Secrets: Send + Sync + std::fmt::Debug {
    async fn load(&self, secret: &SecretRef) -> Result<Zeroizing<Vec<u8>>, Fault>;

    /// Removes what nothing refers to any more. One that cannot be removed stays, and harms nobody but by being there.
    async fn forget(&self, secret: &SecretRef);
}

#[derive(Debug)]
pub struct VaultSecrets {
    vault: Arc<Vault>,
}

impl VaultSecrets {
    pub fn new(vault: Arc<Vault>) -> Self {
        VaultSecrets { vault }
    }
}

#[async_trait]
impl Secrets for VaultSecrets {
    async fn load(&self, secret: &SecretRef) -> Result<Zeroizing<Vec<u8>>, Fault> {
        self.vault.load(secret).await.map_err(|error| {
            tracing::warn!(%secret, %error, "a secret cannot be read");
            Fault::new(FaultClass::NoLogin, Delivery::No, format!("secret `{secret}` cannot be read from the vault"))
        })
    }

    async fn forget(&self, secret: &SecretRef) {
        if let Err(error) = self.vault.remove(secret).await {
            tracing::warn!(%secret, %error, "a secret that nobody refers to could not be removed");
        }
    }
}

/// Who a step may go to, and what it may need.
#[derive(Clone, Debug)]
pub(crate) struct Desk {
    pub bmc: Option<Bmc>,
    pub undercloud: Undercloud,
    pub install: Option<InstallDesk>,
}

/// Carries out one step of a plan.
pub(crate) async fn request(step: &Step, desk: &Desk, now: Timestamp) -> Result<(), Fault> {
    match step.ask.party() {
        Party::Bmc => request_of_bmc(step, desk).await,
        Party::Undercloud => request_of_undercloud(step, desk, now).await,
        Party::Etcd => Err(Fault::new(FaultClass::Unsupported, Delivery::No, format!("there is no way to ask for the {}", step.ask))),
    }
}

async fn request_of_bmc(step: &Step, desk: &Desk) -> Result<(), Fault> {
    let bmc = desk.bmc.as_ref().ok_or_else(|| no_bmc(&step.machine))?;
    match (step.ask, step.ask.power()) {
        (_, Some(power)) => bmc.request_power(power).await,
        (DeviceAsk::InsertMedia, _) => bmc.request_insert_media(&install::media_url(step, desk.install.as_ref())?).await,
        (DeviceAsk::EjectMedia, _) => bmc.request_eject_media().await,
        (DeviceAsk::BootFromMedia, _) => request_boot(bmc, &BootSource::Cd).await,
        (DeviceAsk::BootFromHttp, _) => request_boot(bmc, &BootSource::UefiHttp(install::http_url(step, desk.install.as_ref())?)).await,
        (DeviceAsk::BootFromPxe, _) => request_boot(bmc, &BootSource::Pxe).await,
        (DeviceAsk::BootFromDisk, _) => request_boot(bmc, &BootSource::Hdd).await,
        // What became of the job is seen by looking at the volumes.
        (DeviceAsk::DeleteVolume, _) => bmc.request_volume_delete(install::volume_of(step)?).await.map(drop),
        (DeviceAsk::MakeOsVolume, _) => bmc.request_os_volume(install::os_volume_of(step)?).await.map(drop),
        (DeviceAsk::WriteAccount | DeviceAsk::DropAccount, _) => accounts::request(step, bmc).await,
        (other, None) => Err(misdirected(other)),
    }
}

/// For good: "once" is kept for ever by some and forgotten by others, and the disk is set again afterwards in any case.
async fn request_boot(bmc: &Bmc, source: &BootSource) -> Result<(), Fault> {
    bmc.request_boot(source, Persistence::Continuous).await
}

async fn request_of_undercloud(step: &Step, desk: &Desk, now: Timestamp) -> Result<(), Fault> {
    match step.ask {
        DeviceAsk::Cordon => desk.undercloud.request_cordon(node_of(step)?, &step.reason).await,
        DeviceAsk::Uncordon => desk.undercloud.request_uncordon(node_of(step)?).await,
        DeviceAsk::MintJoinToken => desk.undercloud.request_join_token(&install::join_token(step, desk.install.as_ref(), now)?).await,
        DeviceAsk::DropJoinToken => {
            let token = install::join_token(step, desk.install.as_ref(), now)?;
            desk.undercloud.request_join_token_end(&token.id).await
        }
        other => Err(misdirected(other)),
    }
}

/// [`DeviceAsk::party`] and the tables above disagree.
fn misdirected(ask: DeviceAsk) -> Fault {
    Fault::new(FaultClass::Unsupported, Delivery::No, format!("the {ask} was sent to the wrong device"))
}

/// A machine that is in the store but no longer in the site's description.
pub(crate) fn no_bmc(machine: &MachineName) -> Fault {
    Fault::new(FaultClass::Missing, Delivery::No, format!("no BMC is configured for `{machine}`"))
}

pub(crate) fn is_for_node(ask: DeviceAsk) -> bool {
    ask.party() == Party::Undercloud
}

fn node_of(step: &Step) -> Result<&str, Fault> {
    step.node.as_deref().ok_or_else(|| Fault::new(FaultClass::Missing, Delivery::No, format!("`{}` has no node", step.machine)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn credentials_that_our_own_vault_does_not_give_are_not_blamed_on_the_bmc() {
        let vault = Arc::new(Vault::ephemeral(Arc::new(store::MemoryStore::new(Arc::new(store::SystemClock)))));
        let fault = VaultCredentials::new(vault, SecretRef::new("bmc/site1/rack1compute01")).login().await.unwrap_err();
        assert_eq!(fault.to_string(), "no login: credentials `bmc/site1/rack1compute01` cannot be read from the vault");
    }
}
