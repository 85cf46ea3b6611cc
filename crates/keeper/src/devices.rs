//! Asking devices: one request, one answer. What to do about the answer is not decided here.

use std::sync::Arc;

use async_trait::async_trait;
use kubernetes::Undercloud;
use model::{Delivery, DeviceAsk, Fault, FaultClass, MachineName, Party, SecretRef};
use plan::Step;
use redfish::{Bmc, Credentials, Login};
use store::Vault;
use zeroize::Zeroizing;

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

/// Carries out one step of a plan.
pub(crate) async fn request(step: &Step, bmc: Option<&Bmc>, undercloud: &Undercloud) -> Result<(), Fault> {
    match (step.ask, step.ask.power()) {
        (DeviceAsk::Cordon, _) => undercloud.request_cordon(node_of(step)?, &step.reason).await,
        (DeviceAsk::Uncordon, _) => undercloud.request_uncordon(node_of(step)?).await,
        (_, Some(power)) => bmc.ok_or_else(|| no_bmc(&step.machine))?.request_power(power).await,
        (other, None) => Err(Fault::new(FaultClass::Unsupported, Delivery::No, format!("there is no way yet to ask for the {other}"))),
    }
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
