//! The BMC's own network port and the protocols it speaks there.

use serde_json::json;

use super::answer::Answer;
use super::call::Call;
use super::document;

const PORT_ID: &str = "1";

/// A management network of one /24 per rack; its router has the last usable address.
const SUBNET_MASK: &str = "255.255.255.0";

pub(super) fn interfaces(call: &Call<'_>) -> Result<Answer, Answer> {
    let path = format!("{}/EthernetInterfaces", call.bmc.profile().manager_path());
    let members = [format!("{path}/{PORT_ID}")];
    Ok(document::collection(&path, "EthernetInterface", "Ethernet Interface Collection", members))
}

pub(super) fn interface(call: &Call<'_>) -> Result<Answer, Answer> {
    if call.id != PORT_ID {
        return Err(call.missing());
    }
    let spec = call.bmc.spec();
    let bmc_mac = call.bmc.identity().bmc_mac;
    let [a, b, c, _] = spec.bmc_address.octets();
    let address = json!([{
        "Address": spec.bmc_address.to_string(),
        "SubnetMask": SUBNET_MASK,
        "Gateway": format!("{a}.{b}.{c}.254"),
        "AddressOrigin": "Static",
    }]);
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#EthernetInterface.v1_9_0.EthernetInterface",
        "Id": PORT_ID,
        "Name": "Manager Ethernet Interface",
        "MACAddress": bmc_mac,
        "PermanentMACAddress": bmc_mac,
        "HostName": host_name(call),
        "LinkStatus": "LinkUp",
        "SpeedMbps": 1_000,
        "FullDuplex": true,
        "InterfaceEnabled": true,
        "IPv4Addresses": address,
        "Status": document::enabled(),
    })))
}

fn host_name(call: &Call<'_>) -> String {
    format!("{}-bmc", call.bmc.spec().name)
}

pub(super) fn protocol(call: &Call<'_>) -> Result<Answer, Answer> {
    let port = |number: u16| json!({"ProtocolEnabled": true, "Port": number});
    let host_name = host_name(call);
    Ok(Answer::ok(&json!({
        "@odata.id": call.path,
        "@odata.type": "#ManagerNetworkProtocol.v1_9_0.ManagerNetworkProtocol",
        "Id": "NetworkProtocol",
        "Name": "Manager Network Protocol",
        "HostName": host_name,
        "FQDN": host_name,
        "HTTP": port(80),
        "HTTPS": port(443),
        "SSH": {"ProtocolEnabled": false, "Port": 22},
        "IPMI": {"ProtocolEnabled": false, "Port": 623},
        "Status": document::enabled(),
    })))
}
