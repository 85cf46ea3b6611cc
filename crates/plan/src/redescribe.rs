//! What a new description of a running site changes, in words. Whether it may is `objection`'s.
//!
//! How a BMC is reached and recognized is not part of it: that may always change, and nothing is decided about it.

use std::collections::BTreeMap;
use std::fmt;

use model::{Hardware, InstallSettings, MachineName, RackName, Role, Site, SiteMachine, SiteRack, Standing};

/// One difference between two descriptions of a site: `+ machine …`, `~ rack …`, `- machine …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    Added { what: String, as_what: String },
    Changed { what: String, from: String, to: String },
    Removed { what: String },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Added { what, as_what } => write!(f, "+ {what}: {as_what}"),
            Difference::Changed { what, from, to } => write!(f, "~ {what} {from} → {to}"),
            Difference::Removed { what } => write!(f, "- {what}"),
        }
    }
}

/// Compares the description that is kept with a new one.
pub fn redescribe(before: &Site, after: &Site) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut changed = |what: &str, from: &str, to: &str| {
        if from != to {
            differences.push(Difference::Changed { what: what.to_owned(), from: from.to_owned(), to: to.to_owned() });
        }
    };
    changed("cluster", before.cluster.as_str(), after.cluster.as_str());
    changed("subscription", &before.home.subscription, &after.home.subscription);
    changed("resource group", &before.home.resource_group, &after.home.resource_group);
    changed("location", &before.home.location, &after.home.location);
    changed("version", &before.version, &after.version);
    if before.limits != after.limits {
        changed("limits:", "as before", "those of another speed");
    }
    compare_racks(before, after, &mut differences);
    compare_machines(before, after, &mut differences);
    differences
}

fn compare_racks(before: &Site, after: &Site, differences: &mut Vec<Difference>) {
    let old: BTreeMap<&RackName, &SiteRack> = before.racks.iter().map(|rack| (&rack.name, rack)).collect();
    let new: BTreeMap<&RackName, &SiteRack> = after.racks.iter().map(|rack| (&rack.name, rack)).collect();
    for (name, rack) in &new {
        let what = format!("rack {name}");
        match old.get(name) {
            None => differences.push(Difference::Added { what, as_what: format!("{} ({})", rack.location, rack.serial_number) }),
            Some(known) => {
                let facts = |rack: &SiteRack| {
                    let SiteRack { name: _, availability_zone, location, serial_number, sku } = rack.clone();
                    [("zone", availability_zone), ("location", location), ("serial number", serial_number), ("sku", sku)]
                };
                push_changes(&what, facts(known).into_iter().zip(facts(rack)), differences);
            }
        }
    }
    let gone = old.keys().filter(|name| !new.contains_key(*name));
    differences.extend(gone.map(|name| Difference::Removed { what: format!("rack {name}") }));
}

fn compare_machines(before: &Site, after: &Site, differences: &mut Vec<Difference>) {
    let old: BTreeMap<&MachineName, &SiteMachine> = before.machines.iter().map(|machine| (&machine.name, machine)).collect();
    let new: BTreeMap<&MachineName, &SiteMachine> = after.machines.iter().map(|machine| (&machine.name, machine)).collect();
    for (name, machine) in &new {
        let what = format!("machine {name}");
        match old.get(name) {
            None => {
                let Hardware { rack, slot, bmc_address, .. } = &machine.hardware;
                let as_what = format!("{} in {rack} slot {slot}, BMC {bmc_address}", calling(machine));
                differences.push(Difference::Added { what, as_what });
            }
            Some(known) => {
                push_changes(&what, facts(known).into_iter().zip(facts(machine)), differences);
            }
        }
    }
    let gone = old.keys().filter(|name| !new.contains_key(*name));
    differences.extend(gone.map(|name| Difference::Removed { what: format!("machine {name}") }));
}

type Named = (&'static str, String);

fn facts(machine: &SiteMachine) -> Vec<Named> {
    // The name of the secret follows from that of the machine.
    let Hardware { rack, slot, sku, serial_number, bmc_address, bmc_mac, boot_mac, credentials: _ } = machine.hardware.clone();
    let mut facts = vec![
        ("role", calling(machine).to_owned()),
        ("rack", rack.to_string()),
        ("slot", slot.to_string()),
        ("sku", sku),
        ("serial number", serial_number),
        ("bmc", bmc_address),
        ("BMC MAC", bmc_mac),
        ("boot MAC", boot_mac),
    ];
    facts.extend(install_facts(&machine.install));
    facts
}

fn install_facts(install: &InstallSettings) -> [Named; 5] {
    let listed = |texts: &[String]| if texts.is_empty() { "none".to_owned() } else { texts.join(", ") };
    let given = |text: Option<&String>| text.map_or_else(|| "none".to_owned(), Clone::clone);
    let network = install.network.as_ref();
    [
        ("OS disk", given(install.os_disk.as_ref())),
        ("data disks", listed(&install.data_disks)),
        ("install address", network.map_or_else(|| "by DHCP".to_owned(), |network| network.address.clone())),
        ("install gateway", given(network.and_then(|network| network.gateway.as_ref()))),
        ("install DNS", listed(network.map_or(&[], |network| network.dns.as_slice()))),
    ]
}

fn push_changes(what: &str, pairs: impl Iterator<Item = (Named, Named)>, differences: &mut Vec<Difference>) {
    for ((fact, from), (_, to)) in pairs.filter(|((_, from), (_, to))| from != to) {
        differences.push(Difference::Changed { what: format!("{what}: {fact}"), from, to });
    }
}

/// What a machine is for, as a person says it.
pub(crate) fn calling(machine: &SiteMachine) -> &'static str {
    match (machine.role, machine.standing) {
        (Role::ControlPlane, Standing::Provisioned) => "control plane",
        (Role::ControlPlane, Standing::Spare) => "the spare",
        (Role::Management, _) => "management",
        (Role::Compute, _) => "compute",
    }
}
