//! The logins of a site's BMCs in the vault: saved before a driver needs them, taken back if the description that brought
//! them is not taken over, removed when their machine is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{ClusterName, MachineName, SecretRef};
use redfish::Login;
use store::{Vault, VaultError};

use crate::cli::trouble::Trouble;
use crate::equip::is_same_login;
use crate::site_file::{Loaded, secret_of};

/// Saves the logins of a description; those that `known` has alike lie there already.
pub async fn save(loaded: &Loaded, known: Option<&Loaded>, vault: &Arc<Vault>) -> Result<(), Trouble> {
    let known = known.map(logins_of).unwrap_or_default();
    // At once, so that they share a few commits.
    let saves = logins_of(loaded).into_iter().filter(|(secret, login)| !known.get(secret).is_some_and(|known| is_same_login(known, login)));
    let saved = futures::future::try_join_all(saves.map(|(secret, login)| save_one(vault, secret, login))).await;
    saved.map_err(|error| Trouble::caused("BMC credentials cannot be saved", &error)).map(|_| ())
}

/// Makes the vault agree with the description that is kept, after others that were not taken over, or no longer count.
pub async fn tidy(kept: &Loaded, others: &[Loaded], vault: &Arc<Vault>) {
    let kept = logins_of(kept);
    for (secret, login) in others.iter().flat_map(logins_of) {
        let result = match kept.get(&secret) {
            Some(right) if is_same_login(right, login) => continue,
            Some(right) => save_one(vault, secret.clone(), right).await,
            None => vault.remove(&secret).await,
        };
        if let Err(error) = result {
            tracing::warn!(%secret, %error, "a login cannot be put right in the vault");
        }
    }
}

/// Removes the logins of machines that are gone.
pub async fn forget(cluster: &ClusterName, machines: &BTreeSet<MachineName>, vault: &Arc<Vault>) {
    for machine in machines {
        if let Err(error) = vault.remove(&secret_of(cluster, machine)).await {
            tracing::warn!(%machine, %error, "the login of a machine that is gone cannot be removed");
        }
    }
}

fn logins_of(loaded: &Loaded) -> BTreeMap<SecretRef, &Login> {
    loaded.logins.iter().map(|(machine, login)| (secret_of(&loaded.site().cluster, machine), login)).collect()
}

async fn save_one(vault: &Arc<Vault>, secret: SecretRef, login: &Login) -> Result<(), VaultError> {
    let text = format!("{}\n{}", login.user, *login.password);
    vault.save(&secret, text.as_bytes()).await
}
