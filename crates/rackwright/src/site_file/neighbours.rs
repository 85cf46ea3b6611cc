//! Whether several sites get in each other's way: a cluster is described once, a BMC is in one site, and a name
//! stands once in a resource group.

use std::collections::BTreeMap;

use model::{Endpoint, SiteMachine};

use super::{Loaded, Place};
use crate::cli::trouble::Trouble;

/// Machines and racks are found by their resource group and name, so that a name stands once in a group.
fn check_names(other: &Loaded, next: &Loaded) -> Result<(), Trouble> {
    let (theirs, ours) = (other.site(), next.site());
    let is_same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    if !is_same(&theirs.home.subscription, &ours.home.subscription) || !is_same(&theirs.home.resource_group, &ours.home.resource_group) {
        return Ok(());
    }
    let machine = ours.machines.iter().find(|ours| theirs.machines.iter().any(|theirs| theirs.name == ours.name));
    let rack = ours.racks.iter().find(|ours| theirs.racks.iter().any(|theirs| theirs.name == ours.name));
    let shared = machine.map(|machine| format!("machine `{}`", machine.name)).or(rack.map(|rack| format!("rack `{}`", rack.name)));
    let Some(shared) = shared else { return Ok(()) };
    let group = &ours.home.resource_group;
    let places = [other, next].map(|loaded| loaded.described.locate(Place::Cluster));
    let message =
        format!("clusters `{}` and `{}` are in one resource group, `{group}`, and both have {shared}", theirs.cluster, ours.cluster);
    Err(Trouble { details: places.into(), ..Trouble::failed(message) }.hint(
        "call the machines and racks of one of them differently, or keep it under another --data-dir with a resource group of its own",
    ))
}

/// Judges a site beside those that the same process keeps, or is to keep.
pub fn check(others: &[&Loaded], next: &Loaded) -> Result<(), Trouble> {
    let cluster = &next.site().cluster;
    if let Some(first) = others.iter().find(|known| known.site().cluster == *cluster) {
        let places = [first, next].map(|loaded| loaded.described.locate(Place::Cluster));
        return Err(Trouble { details: places.into(), ..Trouble::failed(format!("cluster `{cluster}` is described twice")) });
    }
    let endpoint = |machine: &SiteMachine| Endpoint::of_url(&machine.hardware.bmc_address);
    let bmcs: BTreeMap<Endpoint, &SiteMachine> = next.site().machines.iter().map(|machine| (endpoint(machine), machine)).collect();
    for other in others {
        // Two keepers at one BMC would undo each other's work.
        let shared = other.site().machines.iter().find_map(|machine| Some((machine, *bmcs.get(&endpoint(machine))?)));
        if let Some((theirs, ours)) = shared {
            let places = [other.described.locate(Place::Machine(&theirs.name)), next.described.locate(Place::Machine(&ours.name))];
            let message = format!("BMC {} is in two sites", ours.hardware.bmc_address);
            return Err(Trouble { details: places.into(), ..Trouble::failed(message) });
        }
        check_names(other, next)?;
    }
    Ok(())
}
