//! `hardwareInventory` of a machine: what the agent of its latest installation has found.

use model::{HostInventory, HostNic, Inventoried};
use serde_json::{Value, json};

/// The model has fields for ports alone. What else was found is one JSON text in its free one.
pub(super) fn render(inventory: &Inventoried) -> Value {
    let host = &inventory.host;
    json!({
        "additionalHostInformation": additional(inventory).to_string(),
        "interfaces": host.nics.iter().map(interface).collect::<Vec<_>>(),
        "nics": host.nics.iter().map(nic).collect::<Vec<_>>(),
    })
}

fn additional(inventory: &Inventoried) -> Value {
    let HostInventory { disks, memory_bytes, cpus, firmware, .. } = &inventory.host;
    let mut found = json!({ "foundAt": inventory.at, "operation": inventory.by, "disks": disks });
    for (name, value) in [("memoryBytes", json!(memory_bytes)), ("cpus", json!(cpus)), ("firmware", json!(firmware))] {
        if !value.is_null() {
            found[name] = value;
        }
    }
    found
}

fn interface(nic: &HostNic) -> Value {
    let mut interface = self::nic(nic);
    if let Some(link) = nic.link {
        interface["linkStatus"] = json!(if link { "Up" } else { "Down" });
    }
    interface
}

fn nic(nic: &HostNic) -> Value {
    let mut rendered = json!({ "name": nic.name });
    if let Some(mac) = &nic.mac {
        rendered["macAddress"] = json!(mac);
    }
    rendered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{NOW, of_json};

    #[test]
    fn ports_stand_in_the_models_fields_and_all_else_in_its_free_one() {
        let inventory: Inventoried = of_json(json!({
            "cluster": "site", "machine": "m1", "by": "8f3c1a2b", "at": NOW,
            "host": {
                "disks": [{ "name": "sda", "serial": "S1", "bytes": 480_103_981_056_u64, "kind": "ssd" }],
                "nics": [{ "name": "eth0", "mac": "52:54:00:00:00:01", "link": true, "mbps": 1000 }, { "name": "eth1" }],
                "memoryBytes": 4_294_967_296_u64,
                "firmware": "uefi",
            },
        }));
        let rendered = render(&inventory);
        let mac = "52:54:00:00:00:01";
        assert_eq!(rendered["interfaces"], json!([{ "name": "eth0", "macAddress": mac, "linkStatus": "Up" }, { "name": "eth1" }]));
        assert_eq!(rendered["nics"], json!([{ "name": "eth0", "macAddress": mac }, { "name": "eth1" }]));
        let additional: Value = serde_json::from_str(rendered["additionalHostInformation"].as_str().unwrap()).unwrap();
        let disk =
            json!({ "name": "sda", "serial": "S1", "bytes": 480_103_981_056_u64, "kind": "ssd", "readOnly": false, "removable": false });
        let expected = json!({
            "foundAt": NOW, "operation": "8f3c1a2b", "disks": [disk], "memoryBytes": 4_294_967_296_u64, "firmware": "uefi",
        });
        assert_eq!(additional, expected);
    }
}
