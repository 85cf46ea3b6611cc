//! The logins of a site's BMCs in the vault: saved before a driver needs them, taken back if the description that brought
//! them is not taken over, removed when their machine is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{ClusterName, MachineName, SecretRef};
use redfish::Login;
use store::{Vault, VaultError};
use zeroize::Zeroizing;

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

/// Machines whose login is another one than the vault has for them, which is what a description gave before.
pub async fn changed(loaded: &Loaded, vault: &Arc<Vault>) -> BTreeSet<MachineName> {
    let mut changed = BTreeSet::new();
    for (machine, login) in &loaded.logins {
        let kept = vault.load(&secret_of(&loaded.site().cluster, machine)).await;
        if kept.is_ok_and(|kept| *kept != *text_of(login)) {
            changed.insert(machine.clone());
        }
    }
    changed
}

/// The same against another description.
pub fn changed_since(before: &Loaded, after: &Loaded) -> BTreeSet<MachineName> {
    let is_other = |machine: &MachineName, login: &Login| before.logins.get(machine).is_some_and(|known| !is_same_login(known, login));
    after.logins.iter().filter(|(machine, login)| is_other(machine, login)).map(|(machine, _)| machine.clone()).collect()
}

/// Removes logins that nobody refers to any more.
pub async fn remove(logins: &BTreeSet<SecretRef>, vault: &Arc<Vault>) {
    for secret in logins {
        if let Err(error) = vault.remove(secret).await {
            tracing::warn!(%secret, %error, "a login that no machine has any more cannot be removed");
        }
    }
}

/// Makes the vault agree with the description that is kept, after others that were not taken over, or no longer count.
pub async fn tidy(kept: &Loaded, others: &[Loaded], vault: &Arc<Vault>) {
    let kept = logins_of(kept);
    for (secret, _) in others.iter().flat_map(logins_of) {
        let result = match kept.get(&secret) {
            // Also where it is the same: a description in between may have removed it.
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
    vault.save(&secret, &text_of(login)).await
}

/// As the vault keeps it; of its full length at once, because a text that grows leaves copies behind.
fn text_of(login: &Login) -> Zeroizing<Vec<u8>> {
    Zeroizing::new([login.user.as_str(), "\n", login.password.as_str()].concat().into_bytes())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use store::{MemoryStore, SystemClock};

    use super::*;

    /// A site of one machine with a password, in a directory of its own.
    fn described(directory: &Path, machine: &str, password: &str) -> Loaded {
        let text = include_str!("../../../examples/seed-000.toml");
        let mut table: toml::Table = text.parse().unwrap();
        table["machine"].as_array_mut().unwrap().truncate(1);
        table.remove("simulated");
        table["machine"][0]["name"] = machine.into();
        let cluster = table["cluster"].as_table_mut().unwrap();
        cluster.retain(|key, _| !key.starts_with("bmc-"));
        cluster.insert("kubeconfig".into(), "k.yaml".into());
        cluster.insert("bmc-credentials".into(), "l.toml".into());
        cluster.insert("allow-plain-http".into(), true.into());
        table["machine"][0]["bmc"] = "http://127.0.0.1:1".into();
        std::fs::write(directory.join("site.toml"), table.to_string()).unwrap();
        crate::private_file::replace(&directory.join("k.yaml"), "").unwrap();
        crate::private_file::replace(&directory.join("l.toml"), &format!("[default]\nuser = \"u\"\npassword = \"{password}\"\n")).unwrap();
        Loaded::read(&directory.join("site.toml")).unwrap()
    }

    #[tokio::test]
    async fn the_vault_follows_what_is_kept_whatever_else_was_described_meanwhile() {
        let directory = tempfile::tempdir().unwrap();
        let vault = Arc::new(Vault::ephemeral(Arc::new(MemoryStore::new(Arc::new(SystemClock)))));
        let read = |name: &'static str| {
            let vault = vault.clone();
            async move {
                let cluster = described(tempfile::tempdir().unwrap().path(), "m1", "x").site().cluster.clone();
                let secret = secret_of(&cluster, &MachineName::new(name).unwrap());
                vault.load(&secret).await.ok().map(|text| String::from_utf8(text.to_vec()).unwrap())
            }
        };
        let kept = described(directory.path(), "m1", "right");
        save(&kept, None, &vault).await.unwrap();
        let refused = [described(directory.path(), "m1", "wrong"), described(directory.path(), "m2", "wrong")];
        for other in &refused {
            save(other, Some(&kept), &vault).await.unwrap();
        }
        assert_eq!((read("m1").await.as_deref(), read("m2").await.as_deref()), (Some("u\nwrong"), Some("u\nwrong")));
        let changed_now = changed(&kept, &vault).await;
        assert_eq!((changed_now.len(), changed_since(&kept, &refused[0]).len()), (1, 1), "the password of `m1` is another one");
        assert_eq!(changed_since(&kept, &refused[1]).len(), 0, "a new machine has no login of before");
        tidy(&kept, &refused, &vault).await;
        assert_eq!(changed(&kept, &vault).await.len(), 0);
        assert_eq!((read("m1").await.as_deref(), read("m2").await), (Some("u\nright"), None));
    }
}
