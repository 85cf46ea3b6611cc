//! A simulated site as its owner would describe it, and the ways to its devices inside this process.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use etcd::EtcdCluster;
use http::Request;
use keeper::{BmcMaker, Equipment, VaultCredentials};
use kubernetes::{Door, InProcessDoor, Undercloud};
use model::{
    ClusterName, Delivery, Fault, FaultClass, Hardware, Home, JoinFacts, Limits, MachineName, RackName, Role, SecretRef, Site, SiteMachine,
    SiteRack, Sku, SkuDrive, SkuPort, Standing,
};
use redfish::{Bmc, Transport};
use store::Vault;
use tower::ServiceExt;

pub const SUBSCRIPTION: &str = "00000000-0000-4000-8000-000000000001";

/// The simulated site as its owner would describe it, in a resource group of its own name.
pub fn definition_of(site: &sim::Site) -> Site {
    let layout = site.layout();
    let racks = (1..=layout.racks)
        .map(|number| SiteRack {
            name: rack_name(number),
            availability_zone: number.to_string(),
            location: "row 1".to_owned(),
            serial_number: format!("RACK{number}"),
            sku: "simulated".to_owned(),
        })
        .collect();
    Site {
        cluster: ClusterName::new(layout.site.as_str()).expect("a simulated site has a valid name"),
        home: Home { subscription: SUBSCRIPTION.to_owned(), resource_group: layout.site.clone(), location: "local".to_owned() },
        version: "4.9.2".to_owned(),
        limits: Limits::default(),
        racks,
        machines: layout.machines().iter().map(|machine| described(&layout.site, machine)).collect(),
        skus: skus_of(site),
        join: Some(JoinFacts { api_url: "http://undercloud.invalid".to_owned(), ca_hash: None }),
        new_logins: std::collections::BTreeSet::new(),
    }
}

/// What the machines should be made of: what they are made of. One for each model, by its name.
fn skus_of(site: &sim::Site) -> Vec<Sku> {
    let mut skus: BTreeMap<&str, Sku> = BTreeMap::new();
    for machine in site.layout().machines() {
        skus.entry(machine.model).or_insert_with(|| {
            let parts = site.parts(&machine.name).expect("the machine is in the site");
            Sku {
                name: parts.model.to_owned(),
                models: vec![parts.model.to_owned()],
                cpu_sockets: Some(parts.sockets as u64),
                memory_gb: Some(u64::from(parts.memory_gib)),
                drives: parts.drives_gb.iter().map(|gb| SkuDrive { capacity_gb: *gb, kind: "SSD".to_owned() }).collect(),
                ports: parts.ports.iter().map(|(name, link_up)| SkuPort { name: name.clone(), link_up: *link_up }).collect(),
                boot_port: parts.ports.first().map(|(name, _)| name.clone()),
                os_volume: None,
                os_drive: None,
            }
        });
    }
    skus.into_values().collect()
}

fn rack_name(number: u32) -> RackName {
    RackName::new(format!("rack{number}")).expect("a simulated rack has a valid name")
}

fn described(site: &str, machine: &sim::MachineSpec) -> SiteMachine {
    SiteMachine {
        name: MachineName::new(machine.name.as_str()).expect("a simulated machine has a valid name"),
        role: match machine.role {
            sim::Role::ControlPlane | sim::Role::SpareControlPlane => Role::ControlPlane,
            sim::Role::Management => Role::Management,
            sim::Role::Compute => Role::Compute,
        },
        standing: if matches!(machine.role, sim::Role::SpareControlPlane) { Standing::Spare } else { Standing::Provisioned },
        install: model::InstallSettings::default(),
        hardware: Hardware {
            rack: rack_name(machine.rack),
            slot: machine.slot,
            sku: machine.model.to_owned(),
            serial_number: machine.serial_number.clone(),
            bmc_address: format!("http://{}.bmc.invalid", machine.name),
            bmc_mac: machine.bmc_mac.clone(),
            boot_mac: machine.boot_mac.clone(),
            credentials: SecretRef::new(format!("bmc/{site}/{}", machine.name)),
        },
    }
}

/// New ways to all devices of a description. A machine is recognized by its serial number, whatever it is called.
pub async fn equipment_of(site: &sim::Site, definition: &Site, vault: &Arc<Vault>) -> Equipment {
    let mut bmcs = BTreeMap::new();
    for described in &definition.machines {
        let machines = site.layout().machines();
        let machine = machines.iter().find(|machine| machine.serial_number == described.hardware.serial_number);
        let machine = machine.expect("what is described is simulated");
        let secret = described.hardware.credentials.clone();
        let login = format!("{}\n{}", machine.bmc_user, machine.bmc_password);
        vault.save(&secret, login.as_bytes()).await.expect("the vault takes secrets");
        let service = site.redfish(&machine.name).expect("every machine has a BMC");
        let credentials = Arc::new(VaultCredentials::new(vault.clone(), secret));
        let address = described.hardware.bmc_address.parse().expect("an address is a URL");
        let bmc = Bmc::of_machine(Transport::in_process(service), address, credentials, &described.hardware.serial_number);
        bmcs.insert(described.name.clone(), bmc);
    }
    let maker = Arc::new(Maker { site: site.clone(), vault: vault.clone() });
    Equipment { bmcs, maker, undercloud: Undercloud::in_process(authorized_kubernetes(site)), etcd: Some(etcd_of(site)) }
}

/// Makes drivers for machines whose hardware was replaced. The address of a BMC begins with the name of the simulated machine.
struct Maker {
    site: sim::Site,
    vault: Arc<Vault>,
}

impl std::fmt::Debug for Maker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Maker").finish_non_exhaustive()
    }
}

impl BmcMaker for Maker {
    fn make(&self, _machine: &MachineName, hardware: &Hardware) -> Result<Bmc, Fault> {
        let unknown = || Fault::new(FaultClass::Missing, Delivery::No, format!("`{}` is no simulated BMC", hardware.bmc_address));
        let address: http::Uri = hardware.bmc_address.parse().map_err(|_| unknown())?;
        let name = address.host().and_then(|host| host.split('.').next()).ok_or_else(unknown)?;
        let service = self.site.redfish(name).ok_or_else(unknown)?;
        let credentials = Arc::new(VaultCredentials::new(self.vault.clone(), hardware.credentials.clone()));
        Ok(Bmc::of_machine(Transport::in_process(service), address, credentials, &hardware.serial_number))
    }
}

/// The site's etcd, at the addresses that its members would have.
pub fn etcd_of(site: &sim::Site) -> EtcdCluster {
    let endpoint = |machine: &sim::MachineSpec| format!("https://{}:2379", machine.host_address).parse().expect("an address is a URL");
    EtcdCluster::new(etcd::Transport::in_process(site.etcd()), site.etcd_machines().map(endpoint))
}

/// The ways into the site's tenant clusters: the host in a kubeconfig begins with the cluster's name.
pub fn door_of(site: &sim::Site) -> impl Door + use<> {
    let site = site.clone();
    InProcessDoor::new(move |host: &str| {
        let api = site.tenant_kubernetes(host.split('.').next().unwrap_or(host))?;
        Some(api.map_request(|request: Request<kube::client::Body>| request.map(Body::new)))
    })
}

/// The undercloud's API with the token that a kubeconfig would carry.
pub fn authorized_kubernetes(
    site: &sim::Site,
) -> impl tower::Service<Request<kube::client::Body>, Response = http::Response<Body>, Error = std::io::Error, Future: Send> + Clone + Send + use<>
{
    let token = site.layout().kubernetes_token();
    site.kubernetes().map_request(move |mut request: Request<kube::client::Body>| {
        let bearer = format!("Bearer {token}").parse().expect("a token is printable");
        request.headers_mut().insert(http::header::AUTHORIZATION, bearer);
        request.map(Body::new)
    })
}
