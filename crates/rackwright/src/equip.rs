//! From a loaded site file to the drivers of its devices. Logins go into the vault, and nowhere else (`safekeeping`).

use std::collections::BTreeMap;
use std::sync::Arc;

use keeper::{BmcMaker, Equipment, VaultCredentials};
use kubernetes::Undercloud;
use model::{Delivery, Fault, FaultClass, Hardware, MachineName};
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
    let maker = Arc::new(Maker { vault: vault.clone(), trusts: loaded.trusts.clone() });
    Ok(Equipment { bmcs, maker, undercloud, etcd })
}

/// Makes drivers for machines whose hardware was replaced: recognized as the site file says, with another serial number or login.
#[derive(Debug)]
struct Maker {
    vault: Arc<Vault>,
    trusts: BTreeMap<MachineName, BmcTrust>,
}

impl BmcMaker for Maker {
    fn make(&self, machine: &MachineName, hardware: &Hardware) -> Result<Bmc, Fault> {
        let unusable = |class, what: String| Fault::new(class, Delivery::No, what);
        let address = hardware.bmc_address.parse();
        let address = address.map_err(|_| unusable(FaultClass::Missing, format!("`{}` is no URL", hardware.bmc_address)))?;
        let transport = self.trusts.get(machine).unwrap_or(&BmcTrust::Plain).transport();
        let transport = transport.map_err(|error| unusable(FaultClass::Untrusted, error.to_string()))?;
        let credentials = VaultCredentials::new(self.vault.clone(), hardware.credentials.clone());
        Ok(Bmc::of_machine(transport, address, Arc::new(credentials), &hardware.serial_number))
    }
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

#[cfg(test)]
mod tests {
    use model::{RackName, SecretRef};
    use store::{MemoryStore, SystemClock};

    use super::*;

    #[tokio::test]
    async fn a_replaced_machine_gets_a_driver_of_its_own_and_a_wrong_address_is_told() {
        let vault = Arc::new(Vault::ephemeral(Arc::new(MemoryStore::new(Arc::new(SystemClock)))));
        let maker = Maker { vault, trusts: BTreeMap::new() };
        let name = MachineName::new("rack1compute01").unwrap();
        let mut hardware = Hardware {
            rack: RackName::new("rack1").unwrap(),
            slot: 1,
            sku: "x".to_owned(),
            serial_number: "S9".to_owned(),
            bmc_address: "http://10.0.0.9".to_owned(),
            bmc_mac: "00:00:00:00:00:01".to_owned(),
            boot_mac: "00:00:00:00:00:02".to_owned(),
            credentials: SecretRef::new("new"),
        };
        let (first, second) = (maker.make(&name, &hardware).unwrap(), maker.make(&name, &hardware).unwrap());
        assert!(!first.is_same_as(&second));
        hardware.bmc_address = "not an address".to_owned();
        assert_eq!(maker.make(&name, &hardware).unwrap_err().class, FaultClass::Missing);
    }
}
