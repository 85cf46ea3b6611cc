//! Whether several sites get in each other's way: a cluster is described once, a BMC is in one site, and a name
//! stands once in a resource group.

use std::collections::BTreeMap;

use model::{ClusterName, Endpoint, MachineName, Site};

use super::{Loaded, Place};
use crate::cli::trouble::Trouble;

/// What the sites have that no two of them may have, each with the number of the site that has it: a site is judged beside a
/// hundred others for what it has itself, not for what they have.
#[derive(Debug, Default)]
pub struct Neighbours {
    count: usize,
    clusters: BTreeMap<ClusterName, usize>,
    bmcs: BTreeMap<Endpoint, (usize, MachineName)>,
    names: BTreeMap<Name, usize>,
}

/// A machine or rack as it is found: by its subscription and resource group, and by what it is and how it is called.
type Name = (String, String, &'static str, String);

/// Judges a site beside those that the same process keeps, or is to keep.
pub fn check(others: &[&Loaded], next: &Loaded) -> Result<(), Trouble> {
    let mut neighbours = Neighbours::default();
    for other in others {
        neighbours.admit(other);
    }
    neighbours.judge(&|number| others[number], next)
}

impl Neighbours {
    /// What speaks against a site beside those that were admitted, the first of which is number 0.
    pub fn judge<'a>(&self, others: &dyn Fn(usize) -> &'a Loaded, next: &Loaded) -> Result<(), Trouble> {
        let site = next.site();
        if let Some(first) = self.clusters.get(&site.cluster) {
            let places = [others(*first), next].map(|loaded| loaded.described.locate(Place::Cluster));
            return Err(Trouble { details: places.into(), ..Trouble::failed(format!("cluster `{}` is described twice", site.cluster)) });
        }
        // Two keepers at one BMC would undo each other's work.
        let shared =
            site.machines.iter().find_map(|machine| Some((machine, self.bmcs.get(&Endpoint::of_url(&machine.hardware.bmc_address))?)));
        if let Some((ours, (number, theirs))) = shared {
            let places = [others(*number).described.locate(Place::Machine(theirs)), next.described.locate(Place::Machine(&ours.name))];
            let message = format!("BMC {} is in two sites", ours.hardware.bmc_address);
            return Err(Trouble { details: places.into(), ..Trouble::failed(message) });
        }
        self.judge_names(others, next)
    }

    /// Machines and racks are found by their resource group and name, so that a name stands once in a group.
    fn judge_names<'a>(&self, others: &dyn Fn(usize) -> &'a Loaded, next: &Loaded) -> Result<(), Trouble> {
        let shared = names_of(next.site()).find_map(|(name, told)| Some((*self.names.get(&name)?, told)));
        let Some((number, told)) = shared else { return Ok(()) };
        let (theirs, ours) = (others(number).site(), next.site());
        let group = &ours.home.resource_group;
        let places = [others(number), next].map(|loaded| loaded.described.locate(Place::Cluster));
        let message =
            format!("clusters `{}` and `{}` are in one resource group, `{group}`, and both have {told}", theirs.cluster, ours.cluster);
        Err(Trouble { details: places.into(), ..Trouble::failed(message) }.hint(
            "call the machines and racks of one of them differently, or keep it under another --data-dir with a resource group of its own",
        ))
    }

    /// Takes a site in, against which nothing spoke.
    pub fn admit(&mut self, next: &Loaded) {
        let (site, number) = (next.site(), self.count);
        self.count += 1;
        self.clusters.insert(site.cluster.clone(), number);
        let bmcs = site.machines.iter().map(|machine| (Endpoint::of_url(&machine.hardware.bmc_address), (number, machine.name.clone())));
        self.bmcs.extend(bmcs);
        self.names.extend(names_of(site).map(|(name, _)| (name, number)));
    }
}

/// The names of a site's machines and racks, each with what a person calls it.
fn names_of(site: &Site) -> impl Iterator<Item = (Name, String)> {
    let machines = site.machines.iter().map(|machine| ("machine", machine.name.as_str()));
    let racks = site.racks.iter().map(|rack| ("rack", rack.name.as_str()));
    let (subscription, group) = (site.home.subscription.to_ascii_lowercase(), site.home.resource_group.to_ascii_lowercase());
    machines
        .chain(racks)
        .map(move |(kind, name)| ((subscription.clone(), group.clone(), kind, name.to_ascii_lowercase()), format!("{kind} `{name}`")))
}
