//! A site file as we write it ourselves: for a simulated site, so that a control plane finds it as it finds a real one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::{InstallSettings, Site, SiteMachine, Sku, Standing};
use serde::Serialize;

use super::address::role_word;

/// Where the parts of a site are reached. Files are named as seen from the site file.
#[derive(Debug)]
pub struct Reach {
    pub kubeconfig: PathBuf,
    pub bmc_credentials: PathBuf,
    pub bmc_ca: Option<PathBuf>,
    /// Where the members of etcd take requests; none if nobody may know.
    pub etcd: Vec<String>,
    pub speed: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct File<'a> {
    cluster: ClusterTable<'a>,
    rack: Vec<RackTable<'a>>,
    machine: Vec<MachineTable<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sku: Vec<SkuTable<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct ClusterTable<'a> {
    name: &'a str,
    subscription: &'a str,
    resource_group: &'a str,
    location: &'a str,
    version: &'a str,
    kubeconfig: &'a PathBuf,
    bmc_credentials: &'a PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    bmc_ca: Option<&'a PathBuf>,
    speed: f64,
    /// Last, because it is written as a table of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    etcd: Option<EtcdTable<'a>>,
}

#[derive(Serialize)]
struct EtcdTable<'a> {
    endpoints: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct RackTable<'a> {
    name: &'a str,
    availability_zone: &'a str,
    location: &'a str,
    serial_number: &'a str,
    sku: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct MachineTable<'a> {
    name: &'a str,
    rack: &'a str,
    slot: u32,
    role: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    spare: bool,
    sku: &'a str,
    serial_number: &'a str,
    bmc: &'a str,
    bmc_mac: &'a str,
    boot_mac: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    os_disk: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    data_disks: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    install_address: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    install_gateway: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    install_dns: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct SkuTable<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    models: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_sockets: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_gb: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    boot_port: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    os_volume: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    os_drive: Option<u32>,
    drive: Vec<DriveTable<'a>>,
    port: Vec<PortTable<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct DriveTable<'a> {
    capacity_gb: u64,
    kind: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct PortTable<'a> {
    name: &'a str,
    link_up: bool,
}

fn machine(machine: &SiteMachine) -> MachineTable<'_> {
    let InstallSettings { os_disk, data_disks, network } = &machine.install;
    MachineTable {
        name: machine.name.as_str(),
        rack: machine.hardware.rack.as_str(),
        slot: machine.hardware.slot,
        role: role_word(machine.role),
        spare: machine.standing == Standing::Spare,
        sku: &machine.hardware.sku,
        serial_number: &machine.hardware.serial_number,
        bmc: &machine.hardware.bmc_address,
        bmc_mac: &machine.hardware.bmc_mac,
        boot_mac: &machine.hardware.boot_mac,
        os_disk: os_disk.as_deref(),
        data_disks,
        install_address: network.as_ref().map(|network| network.address.as_str()),
        install_gateway: network.as_ref().and_then(|network| network.gateway.as_deref()),
        install_dns: network.as_ref().map_or(&[], |network| &network.dns),
    }
}

fn sku(sku: &Sku) -> SkuTable<'_> {
    SkuTable {
        name: &sku.name,
        models: &sku.models,
        cpu_sockets: sku.cpu_sockets,
        memory_gb: sku.memory_gb,
        boot_port: sku.boot_port.as_deref(),
        os_volume: sku.os_volume.as_deref(),
        os_drive: sku.os_drive,
        drive: sku.drives.iter().map(|drive| DriveTable { capacity_gb: drive.capacity_gb, kind: &drive.kind }).collect(),
        port: sku.ports.iter().map(|port| PortTable { name: &port.name, link_up: port.link_up }).collect(),
    }
}

/// One table of a file of logins.
#[derive(Serialize)]
pub struct LoginTable {
    pub user: String,
    pub password: String,
}

/// What stands above a file that is written anew at every start of its simulator.
const HEADER: &str =
    "# Written by the simulator at each of its starts, with the addresses that it then has. To change it for good, change a copy.\n\n";

pub fn site(site: &Site, reach: &Reach) -> Result<String, toml::ser::Error> {
    let text = toml::to_string(&File {
        cluster: ClusterTable {
            name: site.cluster.as_str(),
            subscription: &site.home.subscription,
            resource_group: &site.home.resource_group,
            location: &site.home.location,
            version: &site.version,
            kubeconfig: &reach.kubeconfig,
            bmc_credentials: &reach.bmc_credentials,
            bmc_ca: reach.bmc_ca.as_ref(),
            speed: reach.speed,
            etcd: (!reach.etcd.is_empty()).then_some(EtcdTable { endpoints: &reach.etcd }),
        },
        rack: site
            .racks
            .iter()
            .map(|rack| RackTable {
                name: rack.name.as_str(),
                availability_zone: &rack.availability_zone,
                location: &rack.location,
                serial_number: &rack.serial_number,
                sku: &rack.sku,
            })
            .collect(),
        machine: site.machines.iter().map(machine).collect(),
        sku: site.skus.iter().map(sku).collect(),
    })?;
    Ok(format!("{HEADER}{text}"))
}

pub fn logins(logins: &BTreeMap<String, LoginTable>) -> Result<String, toml::ser::Error> {
    toml::to_string(logins)
}
