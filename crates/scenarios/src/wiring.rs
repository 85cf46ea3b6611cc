//! A simulated site as its owner would describe it, and the ways to its devices inside this process.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use etcd::EtcdCluster;
use http::Request;
use keeper::{Equipment, VaultCredentials};
use kubernetes::{Door, InProcessDoor, Undercloud};
use model::{ClusterName, Hardware, Home, Limits, MachineName, RackName, Role, SecretRef, Site, SiteMachine, SiteRack, Standing};
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
        skus: Vec::new(),
    }
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
    Equipment { bmcs, undercloud: Undercloud::in_process(authorized_kubernetes(site)), etcd: Some(etcd_of(site)) }
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
