//! The system's network ports.

use serde_json::json;
use world::{Link, PowerState, Vendor};

use super::answer::Answer;
use super::call::Call;
use super::document::{self, numbered};
use super::profile::Profile;

/// What a vendor's BMCs call a port.
pub(crate) fn port_name(vendor: Vendor, port: u32) -> String {
    format!("{}{port}", Profile::of(vendor).nic_prefix)
}

pub(super) fn collection(call: &Call<'_>) -> Result<Answer, Answer> {
    let profile = call.bmc.profile();
    let path = format!("{}/EthernetInterfaces", profile.system_path());
    let members = call.bmc.inventory().nics.into_iter().map(|nic| format!("{path}/{}{}", profile.nic_prefix, nic.port));
    Ok(document::collection(&path, "EthernetInterface", "Ethernet Interface Collection", members))
}

pub(super) fn show(call: &Call<'_>) -> Result<Answer, Answer> {
    let (bmc, profile) = (call.bmc, call.bmc.profile());
    let wanted = numbered(profile.nic_prefix, call.id);
    let nic = bmc.inventory().nics.into_iter().find(|nic| Some(nic.port) == wanted).ok_or_else(|| call.missing())?;
    let power = bmc.power();
    let is_plugged = nic.link == Link::Up && bmc.site.look(|world| world.is_link_up(bmc.index, nic.port));
    let is_linked = is_plugged && power == PowerState::On;
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#EthernetInterface.v1_9_0.EthernetInterface",
        "Id": call.id,
        "Name": format!("Port {}", nic.port),
        "MACAddress": nic.mac,
        "PermanentMACAddress": nic.mac,
        "LinkStatus": if is_linked { "LinkUp" } else { "LinkDown" },
        "SpeedMbps": if is_linked { json!(nic.mbps) } else { json!(null) },
        "FullDuplex": true,
        "InterfaceEnabled": true,
        "Status": document::powered(power),
    })))
}
