//! What machines are built from, for whoever writes down what a site's machines should be. The BMCs tell the same over Redfish, in
//! their vendors' words.

use world::Link;

use crate::redfish::port_name;
use crate::site::Site;

/// The parts of a machine as its BMC names and counts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    pub model: &'static str,
    pub sockets: usize,
    pub memory_gib: u32,
    /// By bay, from 0: gigabytes as makers count them.
    pub drives_gb: Vec<u64>,
    /// The name of each port, and whether it is cabled. The machine boots over the network from the first.
    pub ports: Vec<(String, bool)>,
}

impl Site {
    /// The parts of a machine as it was built; nothing if there is no such machine.
    pub fn parts(&self, machine: &str) -> Option<Parts> {
        let index = self.layout().machines().iter().position(|spec| spec.name == machine)?;
        let spec = &self.layout().machines()[index];
        let inventory = self.look(|world| world.inventory(index));
        Some(Parts {
            model: spec.model,
            sockets: inventory.processors.len(),
            memory_gib: inventory.dimms.iter().map(|dimm| dimm.mib).sum::<u32>() / 1_024,
            drives_gb: inventory.drives.iter().map(|drive| drive.bytes / 1_000_000_000).collect(),
            ports: inventory.nics.iter().map(|nic| (port_name(spec.vendor, nic.port), nic.link == Link::Up)).collect(),
        })
    }
}
