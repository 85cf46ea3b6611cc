//! From a loaded site file to the drivers of its devices. Logins go into the vault, and nowhere else (`safekeeping`).

use std::collections::BTreeMap;
use std::sync::Arc;

use keeper::{Equipment, VaultCredentials};
use kubernetes::Undercloud;
use model::MachineName;
use redfish::{Bmc, Login, Transport};
use store::Vault;

use crate::cli::trouble::Trouble;
use crate::site_file::{BmcTrust, EtcdAccess, Loaded, Place};

/// What a site was equipped with before, so that what did not change goes on with its sessions and connections.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    pub loaded: &'a Loaded,
    pub equipment: &'a Equipment,
}

/// Makes the drivers of a site. Nothing is saved and nobody is called yet.
pub async fn equip(loaded: &Loaded, before: Option<Before<'_>>, vault: &Arc<Vault>) -> Result<Equipment, Trouble> {
    let undercloud = match before {
        Some(Before { loaded: known, equipment }) if is_same_undercloud(known, loaded) => equipment.undercloud.clone(),
        _ => undercloud(loaded).await?,
    };
    let mut transports = Transports::default();
    let mut bmcs: BTreeMap<MachineName, Bmc> = BTreeMap::new();
    for machine in &loaded.site().machines {
        let unchanged = before.filter(|before| is_same_way(before.loaded, loaded, &machine.name));
        let bmc = match unchanged.and_then(|before| before.equipment.bmcs.get(&machine.name)) {
            Some(bmc) => bmc.clone(),
            None => {
                let address = machine.hardware.bmc_address.parse().map_err(|error| Trouble::caused("a BMC address is no URL", &error))?;
                let credentials = VaultCredentials::new(vault.clone(), machine.hardware.credentials.clone());
                let transport = transports.to(loaded.trusts.get(&machine.name))?;
                Bmc::of_machine(transport, address, Arc::new(credentials), &machine.hardware.serial_number)
            }
        };
        bmcs.insert(machine.name.clone(), bmc);
    }
    let etcd = match before {
        Some(Before { loaded: known, equipment }) if known.etcd == loaded.etcd => equipment.etcd.clone(),
        _ => loaded.etcd.as_ref().map(EtcdAccess::cluster),
    };
    Ok(Equipment { bmcs, undercloud, etcd })
}

pub async fn undercloud(loaded: &Loaded) -> Result<Undercloud, Trouble> {
    let undercloud = Undercloud::from_kubeconfig_context(&loaded.kubeconfig.text, loaded.kubeconfig_context.as_deref()).await;
    undercloud.map_err(|fault| {
        let at = loaded.described.locate(Place::Kubeconfig);
        Trouble::failed(format!("the kubeconfig of `{}` cannot be used", loaded.site().cluster)).detail(format!("{at}: {fault}"))
    })
}

pub fn is_same_undercloud(before: &Loaded, after: &Loaded) -> bool {
    before.kubeconfig == after.kubeconfig && before.kubeconfig_context == after.kubeconfig_context
}

pub fn is_same_login(before: &Login, after: &Login) -> bool {
    before.user == after.user && *before.password == *after.password
}

/// Whether a machine's BMC is reached, recognized and logged in to as before.
fn is_same_way(before: &Loaded, after: &Loaded, machine: &MachineName) -> bool {
    let address = |loaded: &Loaded| {
        let found = loaded.site().machines.iter().find(|described| described.name == *machine);
        found.map(|described| (described.hardware.bmc_address.clone(), described.hardware.serial_number.clone()))
    };
    let login = match (before.logins.get(machine), after.logins.get(machine)) {
        (Some(before), Some(after)) => is_same_login(before, after),
        _ => false,
    };
    login && address(before) == address(after) && before.trusts.get(machine) == after.trusts.get(machine)
}

/// BMCs that are recognized alike share a transport; those with a pinned certificate have one each.
#[derive(Default)]
pub struct Transports {
    shared: Vec<(BmcTrust, Transport)>,
}

impl Transports {
    pub fn to(&mut self, trust: Option<&BmcTrust>) -> Result<Transport, Trouble> {
        let trust = trust.unwrap_or(&BmcTrust::Plain);
        if let Some((_, transport)) = self.shared.iter().find(|(known, _)| known == trust) {
            return Ok(transport.clone());
        }
        let transport = trust.transport().map_err(|error| Trouble::caused("a BMC's certificate cannot be judged", &error))?;
        if !matches!(trust, BmcTrust::Fingerprint(_)) {
            self.shared.push((trust.clone(), transport.clone()));
        }
        Ok(transport)
    }
}
