//! A site as a TOML file: racks, machines, where their BMCs are and how they are recognized and logged in to, and where
//! the undercloud's kubeconfig lies.
//!
//! Reading has two halves. [`Described`] is the file by itself, in form and in agreement with itself: what a simulator
//! needs. [`Loaded`] has opened everything that the file points to: what a control plane needs. All problems are told at
//! once, each with its file and line.

mod address;
mod consistency;
mod etcd;
mod install;
mod kubeconfig;
mod logins;
pub mod neighbours;
mod page;
mod section;
mod simulated;
mod skus;
mod tables;
#[cfg(test)]
mod tests;
mod trust;
pub mod written;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use model::{ClusterName, Hardware, Home, Limits, MachineName, SecretRef, Site, SiteMachine, SiteRack, Standing};
use redfish::Login;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::cli::trouble::Trouble;
pub use etcd::EtcdAccess;
use kubeconfig::ClusterAccess;
use page::{Page, Problems};
use section::{Section, kind};
use simulated::SimulatedTable;
use tables::{ClusterTable, MachineTable, RackTable};
pub use trust::BmcTrust;

/// Where in a site file something stands.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    Cluster,
    Subscription,
    ResourceGroup,
    Kubeconfig,
    Etcd,
    Role(&'a MachineName),
    Machine(&'a MachineName),
}

/// A site file that is right in form and agrees with itself. Nothing that it points to was opened.
#[derive(Debug)]
pub struct Described {
    page: Page,
    pub site: Site,
    cluster: ClusterTable,
    machines: Vec<MachineTable>,
    simulated: SimulatedTable,
}

/// A site file with everything it points to.
pub struct Loaded {
    pub described: Described,
    pub kubeconfig: ClusterAccess,
    pub kubeconfig_context: Option<String>,
    pub etcd: Option<EtcdAccess>,
    pub logins: BTreeMap<MachineName, Login>,
    pub trusts: BTreeMap<MachineName, BmcTrust>,
    /// Every file that was opened, the site file first.
    pub sources: Vec<PathBuf>,
}

impl Described {
    pub fn read(path: &Path) -> Result<Described, Trouble> {
        let page = Page::read(path)?;
        let mut problems = Problems::default();
        let (root, errors) = DeTable::parse_recoverable(&page.text);
        for error in &errors {
            problems.note(&page, error.span().map_or(1, |span| page.line_of(&span)), error.message());
        }
        // What follows a broken line is read wrongly, and would be complained about wrongly.
        problems = problems.verdict(&page)?;
        let root = root.get_ref();
        let cluster = read_cluster(&page, root, &mut problems);
        let racks: Vec<RackTable> = each(&page, root, "rack", "[[rack]]", &mut problems, tables::rack);
        let machines: Vec<MachineTable> = each(&page, root, "machine", "[[machine]]", &mut problems, tables::machine);
        let skus = skus::read(&page, root, &mut problems);
        let simulated = read_simulated(&page, root, &mut problems);
        let is_known = |key: &str| matches!(key, "cluster" | "rack" | "machine" | "sku" | "simulated");
        for (key, _) in root.iter().filter(|(key, _)| !is_known(key.get_ref().as_ref())) {
            let message = format!("a site file has [cluster], [[rack]], [[machine]], [[sku]] and [simulated], and no `{}`", key.get_ref());
            problems.note(&page, page.line_of(&key.span()), message);
        }
        consistency::check(&page, &cluster, &racks, &machines, &mut problems);
        simulated::check(&page, &simulated, &machines, &mut problems);
        let site = site_of(&cluster, &racks, &machines).map(|site| Site { skus, ..site });
        problems.verdict(&page)?;
        let site = site.ok_or_else(|| Trouble::failed(format!("{} cannot be used", path.display())))?;
        Ok(Described { page, site, cluster, machines, simulated })
    }

    pub fn path(&self) -> &Path {
        &self.page.path
    }

    /// Who made a machine: said outright, or told by the product line in its SKU.
    pub fn vendor(&self, machine: &MachineName) -> Option<sim::Vendor> {
        let machine = self.machines.iter().find(|table| table.name.value == *machine)?;
        machine.vendor.as_ref().map(|vendor| vendor.value.0).or_else(|| {
            let sku = machine.sku.to_ascii_lowercase();
            let lines = [
                ("poweredge", sim::Vendor::Dell),
                ("proliant", sim::Vendor::Hpe),
                ("thinksystem", sim::Vendor::Lenovo),
                ("sys-", sim::Vendor::Supermicro),
            ];
            lines.into_iter().find(|(line, _)| sku.contains(line)).map(|(_, vendor)| vendor)
        })
    }

    /// What a simulator puts on the machines.
    pub fn tenancy(&self) -> &sim::Tenancy {
        &self.simulated.tenancy
    }

    /// `file:line` of something that the file says.
    pub fn locate(&self, place: Place<'_>) -> String {
        let machine = |name: &MachineName| self.machines.iter().find(|table| table.name.value == *name);
        let line = match place {
            Place::Cluster => self.cluster.name.as_ref().map_or(self.cluster.line, |name| name.line),
            Place::Subscription => self.cluster.subscription.line,
            Place::ResourceGroup => self.cluster.resource_group.line,
            Place::Kubeconfig => self.cluster.kubeconfig_context.as_ref().map_or(self.cluster.kubeconfig.line, |context| context.line),
            Place::Etcd => self.cluster.etcd.as_ref().map_or(self.cluster.line, |etcd| etcd.line),
            Place::Role(name) => machine(name).map_or(1, |table| table.role.line),
            Place::Machine(name) => machine(name).map_or(1, |table| table.name.line),
        };
        format!("{}:{line}", self.page.path.display())
    }
}

impl Loaded {
    pub fn read(path: &Path) -> Result<Loaded, Trouble> {
        Loaded::read_in(path, &|name| std::env::var(name).ok())
    }

    fn read_in(path: &Path, environment: logins::Environment<'_>) -> Result<Loaded, Trouble> {
        let mut described = Described::read(path)?;
        let Described { page, cluster, machines, .. } = &described;
        let mut problems = Problems::default();
        let mut sources = vec![path.to_owned()];
        let logins = logins::resolve(page, cluster, machines, environment, &mut sources, &mut problems);
        let trusts = trust::resolve(page, cluster, machines, &mut sources, &mut problems);
        let kubeconfig_path = page.beside(&cluster.kubeconfig.value);
        let kubeconfig = logins::read_private(&kubeconfig_path).unwrap_or_else(|(message, remedy)| {
            problems.note_quoting(page, cluster.kubeconfig.line, page::Quote::Line, message, remedy);
            String::new()
        });
        let kubeconfig = ClusterAccess::new(&kubeconfig_path, kubeconfig);
        sources.push(kubeconfig_path);
        sources.extend(kubeconfig.files.keys().cloned());
        let etcd = cluster.etcd.as_ref().and_then(|etcd| etcd::resolve(page, etcd, &mut sources, &mut problems));
        problems.verdict(page)?;
        let kubeconfig_context = cluster.kubeconfig_context.as_ref().map(|context| context.value.clone());
        described.site.join = kubeconfig.join_facts(kubeconfig_context.as_deref());
        Ok(Loaded { kubeconfig, kubeconfig_context, etcd, logins, trusts, sources, described })
    }

    pub fn site(&self) -> &Site {
        &self.described.site
    }
}

/// A kubeconfig holds keys and tokens, and is never printed.
impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").field("path", &self.described.path()).field("sources", &self.sources).finish_non_exhaustive()
    }
}

fn read_cluster<'a>(page: &'a Page, root: &'a DeTable<'a>, problems: &mut Problems) -> ClusterTable {
    let Some((key, value)) = root.get_key_value("cluster") else {
        problems.note(page, 1, "there is no [cluster]");
        return ClusterTable::default();
    };
    let line = page.line_of(&key.span());
    match value.get_ref().as_table() {
        Some(table) => tables::cluster(Section::new(page, "[cluster]", table, line, problems)),
        None => {
            problems.note(page, line, format!("`cluster` must be a table, not {}", kind(value)));
            ClusterTable::default()
        }
    }
}

fn read_simulated<'a>(page: &'a Page, root: &'a DeTable<'a>, problems: &mut Problems) -> SimulatedTable {
    let Some((key, value)) = root.get_key_value("simulated") else { return SimulatedTable::default() };
    let line = page.line_of(&key.span());
    match value.get_ref().as_table() {
        Some(table) => simulated::simulated(Section::new(page, "[simulated]", table, line, problems)),
        None => {
            problems.note(page, line, format!("`simulated` must be a table, not {}", kind(value)));
            SimulatedTable::default()
        }
    }
}

/// Reads every table of a list. An empty list is a problem: a site has racks and machines.
fn each<'a, T>(
    page: &'a Page,
    root: &'a DeTable<'a>,
    key: &str,
    what: &'static str,
    problems: &mut Problems,
    read: impl Fn(Section<'_>) -> Option<T>,
) -> Vec<T> {
    let Some((name, value)) = root.get_key_value(key) else {
        problems.note(page, 1, format!("there is no {what}"));
        return Vec::new();
    };
    let tables: Vec<&Spanned<DeValue<'_>>> = match value.get_ref().as_array() {
        Some(list) if list.iter().next().is_some() => list.iter().collect(),
        _ => {
            problems.note(page, page.line_of(&name.span()), format!("`{key}` must be written as {what}, once for each"));
            return Vec::new();
        }
    };
    let mut read_tables = Vec::new();
    for value in tables {
        let line = page.line_of(&value.span());
        match value.get_ref().as_table() {
            Some(table) => read_tables.extend(read(Section::new(page, what, table, line, problems))),
            None => problems.note(page, line, format!("{what} must be a table, not {}", kind(value))),
        }
    }
    read_tables
}

/// Where the login of a machine lies in the vault.
pub fn secret_of(cluster: &ClusterName, machine: &MachineName) -> SecretRef {
    SecretRef::new(format!("bmc/{}/{}", cluster.key(), machine.key()))
}

/// The site that complete tables describe; `None` if one has a hole, which then has been complained about.
fn site_of(cluster: &ClusterTable, racks: &[RackTable], machines: &[MachineTable]) -> Option<Site> {
    let name = cluster.name.as_ref()?.value.clone();
    let machines = machines.iter().map(|machine| {
        Some(SiteMachine {
            role: machine.role.value,
            standing: if machine.spare.as_ref().is_some_and(|spare| spare.value) { Standing::Spare } else { Standing::Provisioned },
            hardware: Hardware {
                credentials: secret_of(&name, &machine.name.value),
                rack: machine.rack.as_ref()?.value.clone(),
                slot: machine.slot.as_ref()?.value,
                sku: machine.sku.clone(),
                serial_number: machine.serial_number.value.clone(),
                bmc_address: machine.bmc.as_ref()?.value.to_string(),
                bmc_mac: machine.bmc_mac.as_ref()?.value.0.clone(),
                boot_mac: machine.boot_mac.as_ref()?.value.0.clone(),
            },
            install: machine.install.settings(),
            name: machine.name.value.clone(),
        })
    });
    let machines = machines.collect::<Option<Vec<SiteMachine>>>()?;
    let racks = racks.iter().map(|rack| SiteRack {
        name: rack.name.value.clone(),
        availability_zone: rack.availability_zone.clone(),
        location: rack.location.clone(),
        serial_number: rack.serial_number.value.clone(),
        sku: rack.sku.clone(),
    });
    Some(Site {
        home: Home {
            subscription: cluster.subscription.value.clone(),
            resource_group: cluster.resource_group.value.clone(),
            location: cluster.location.value.clone(),
        },
        version: cluster.version.value.clone(),
        limits: Limits::default().scaled(if cluster.speed > 0.0 { cluster.speed } else { 1.0 }),
        cluster: name,
        racks: racks.collect(),
        machines,
        skus: Vec::new(),
        join: None,
        new_logins: std::collections::BTreeSet::new(),
    })
}
