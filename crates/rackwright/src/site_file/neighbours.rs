//! Whether several sites get in each other's way: a cluster is described once, and a BMC is in one site.

use std::collections::BTreeMap;

use model::{Endpoint, SiteMachine};

use super::{Loaded, Place};
use crate::cli::trouble::Trouble;

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
    }
    Ok(())
}
