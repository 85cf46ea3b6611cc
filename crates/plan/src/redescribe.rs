//! What a new description of a running site changes, and which changes a description cannot make.
//!
//! How a BMC is reached and recognized is not part of it: that may always change, and nothing is decided about it.

use std::collections::BTreeMap;
use std::fmt;

use model::{Hardware, MachineName, RackName, Role, Site, SiteMachine, SiteRack, Standing};

/// The difference between two descriptions of one site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redescription {
    /// In words: `+ machine …`, `~ rack …`, `- machine …`.
    pub differences: Vec<Difference>,
    /// If there is any, nothing of the new description is taken over.
    pub refused: Vec<Unchangeable>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    Added { what: String, as_what: String },
    Changed { what: String, from: String, to: String },
    Removed { what: String },
}

/// A change that only a person's action on the site, or a new site, can bring about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unchangeable {
    /// The cluster's documents, history and secrets lie under its name.
    ClusterName {
        from: String,
        to: String,
    },
    /// Resource ids that people's scripts hold contain these.
    Subscription {
        from: String,
        to: String,
    },
    ResourceGroup {
        from: String,
        to: String,
    },
    /// What a machine is for changes by provisioning it anew, not by calling it something else.
    Role {
        machine: MachineName,
        from: &'static str,
        to: &'static str,
    },
    /// Forgetting a voter would make the quorum look smaller than it is.
    ControlPlaneMachine {
        machine: MachineName,
    },
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

impl fmt::Display for Unchangeable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unchangeable::ClusterName { from, to } => write!(f, "cluster `{from}` cannot be renamed to `{to}` while it is kept"),
            Unchangeable::Subscription { from, to } => write!(f, "the subscription cannot change from `{from}` to `{to}`"),
            Unchangeable::ResourceGroup { from, to } => write!(f, "the resource group cannot change from `{from}` to `{to}`"),
            Unchangeable::Role { machine, from, to } => write!(f, "`{machine}` is {from} and does not become {to} by being called so"),
            Unchangeable::ControlPlaneMachine { machine } => {
                write!(f, "`{machine}` is in the control plane and cannot be taken out of the file")
            }
        }
    }
}

/// Compares the description that is kept with a new one.
pub fn redescribe(before: &Site, after: &Site) -> Redescription {
    let mut result = Redescription { differences: Vec::new(), refused: unchangeable_home(before, after) };
    let mut changed = |what: &str, from: &str, to: &str| {
        if from != to {
            result.differences.push(Difference::Changed { what: what.to_owned(), from: from.to_owned(), to: to.to_owned() });
        }
    };
    changed("location", &before.home.location, &after.home.location);
    changed("version", &before.version, &after.version);
    if before.limits != after.limits {
        changed("limits:", "as before", "those of another speed");
    }
    compare_racks(before, after, &mut result);
    compare_machines(before, after, &mut result);
    result
}

fn unchangeable_home(before: &Site, after: &Site) -> Vec<Unchangeable> {
    let mut refused = Vec::new();
    if before.cluster != after.cluster {
        refused.push(Unchangeable::ClusterName { from: before.cluster.to_string(), to: after.cluster.to_string() });
    }
    let (from, to) = (before.home.subscription.clone(), after.home.subscription.clone());
    if from != to {
        refused.push(Unchangeable::Subscription { from, to });
    }
    let (from, to) = (before.home.resource_group.clone(), after.home.resource_group.clone());
    if from != to {
        refused.push(Unchangeable::ResourceGroup { from, to });
    }
    refused
}

fn compare_racks(before: &Site, after: &Site, result: &mut Redescription) {
    let old: BTreeMap<&RackName, &SiteRack> = before.racks.iter().map(|rack| (&rack.name, rack)).collect();
    let new: BTreeMap<&RackName, &SiteRack> = after.racks.iter().map(|rack| (&rack.name, rack)).collect();
    for (name, rack) in &new {
        let what = format!("rack {name}");
        match old.get(name) {
            None => result.differences.push(Difference::Added { what, as_what: format!("{} ({})", rack.location, rack.serial_number) }),
            Some(known) => {
                let facts = |rack: &SiteRack| {
                    let SiteRack { name: _, availability_zone, location, serial_number, sku } = rack.clone();
                    [("zone", availability_zone), ("location", location), ("serial number", serial_number), ("sku", sku)]
                };
                push_changes(&what, facts(known).into_iter().zip(facts(rack)), result);
            }
        }
    }
    let gone = old.keys().filter(|name| !new.contains_key(*name));
    result.differences.extend(gone.map(|name| Difference::Removed { what: format!("rack {name}") }));
}

fn compare_machines(before: &Site, after: &Site, result: &mut Redescription) {
    let old: BTreeMap<&MachineName, &SiteMachine> = before.machines.iter().map(|machine| (&machine.name, machine)).collect();
    let new: BTreeMap<&MachineName, &SiteMachine> = after.machines.iter().map(|machine| (&machine.name, machine)).collect();
    for (name, machine) in &new {
        let what = format!("machine {name}");
        match old.get(name) {
            None => {
                let Hardware { rack, slot, bmc_address, .. } = &machine.hardware;
                let as_what = format!("{} in {rack} slot {slot}, BMC {bmc_address}", calling(machine));
                result.differences.push(Difference::Added { what, as_what });
            }
            Some(known) => {
                if calling(known) != calling(machine) {
                    let (from, to) = (calling(known), calling(machine));
                    result.refused.push(Unchangeable::Role { machine: (*name).clone(), from, to });
                }
                push_changes(&what, facts(&known.hardware).into_iter().zip(facts(&machine.hardware)), result);
            }
        }
    }
    for (name, machine) in old.iter().filter(|(name, _)| !new.contains_key(*name)) {
        if machine.role == Role::ControlPlane && machine.standing == Standing::Provisioned {
            result.refused.push(Unchangeable::ControlPlaneMachine { machine: (*name).clone() });
        }
        result.differences.push(Difference::Removed { what: format!("machine {name}") });
    }
}

type Named = (&'static str, String);

fn facts(hardware: &Hardware) -> [Named; 7] {
    // The name of the secret follows from that of the machine.
    let Hardware { rack, slot, sku, serial_number, bmc_address, bmc_mac, boot_mac, credentials: _ } = hardware.clone();
    [
        ("rack", rack.to_string()),
        ("slot", slot.to_string()),
        ("sku", sku),
        ("serial number", serial_number),
        ("bmc", bmc_address),
        ("BMC MAC", bmc_mac),
        ("boot MAC", boot_mac),
    ]
}

fn push_changes(what: &str, pairs: impl Iterator<Item = (Named, Named)>, result: &mut Redescription) {
    for ((fact, from), (_, to)) in pairs.filter(|((_, from), (_, to))| from != to) {
        result.differences.push(Difference::Changed { what: format!("{what}: {fact}"), from, to });
    }
}

fn calling(machine: &SiteMachine) -> &'static str {
    match (machine.role, machine.standing) {
        (Role::ControlPlane, Standing::Provisioned) => "control plane",
        (Role::ControlPlane, Standing::Spare) => "the spare",
        (Role::Management, _) => "management",
        (Role::Compute, _) => "compute",
    }
}
