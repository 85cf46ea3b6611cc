//! What the agent of its latest installation found in a machine, in a few lines.

use model::{HostDisk, HostInventory, size_in_words};
use serde_json::Value;

use super::clock::Clock;
use super::layout::Fact;
use crate::cli::answer::{field, items, text_of};
use crate::cli::screen::Tone;

pub fn inventory(machine: &Value, clock: Clock) -> Vec<Fact<'static>> {
    let Some(text) = machine.pointer("/properties/hardwareInventory/additionalHostInformation").and_then(Value::as_str) else {
        return Vec::new();
    };
    // A newer server may have put something else there: then it is left to `-o json`.
    let Ok(found) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let host: HostInventory = serde_json::from_value(found.clone()).unwrap_or_default();
    let mut lines = vec![(Tone::Plain, "found", format!("{}, at {}", capacity(&host), clock.time(&found, "/foundAt")))];
    lines.extend(host.disks.iter().map(|disk| (Tone::Plain, "disk", disk_in_words(disk))));
    lines.extend(items(machine, "/properties/hardwareInventory/interfaces").iter().map(port));
    lines
}

/// Memory, processors and firmware, as far as they are known.
fn capacity(host: &HostInventory) -> String {
    let memory = host.memory_bytes.map(|bytes| format!("{} memory", size_in_words(bytes)));
    let cpus = host.cpus.as_ref().and_then(|cpus| {
        let model = cpus.model.as_deref().map(text_of);
        let (sockets, cores) = (cpus.sockets.unwrap_or(1), cpus.cores.map(|cores| format!("{cores} cores")));
        Some(match (model, cores) {
            (Some(model), Some(cores)) => format!("{sockets} × {model}, {cores}"),
            (Some(model), None) => format!("{sockets} × {model}"),
            (None, cores) => cores?,
        })
    });
    let firmware = host.firmware.map(|firmware| match firmware {
        model::HostFirmware::Uefi => "UEFI".to_owned(),
        model::HostFirmware::Bios => "BIOS".to_owned(),
    });
    let known: Vec<String> = [memory, cpus, firmware].into_iter().flatten().collect();
    if known.is_empty() { "by the agent".to_owned() } else { known.join(", ") }
}

fn disk_in_words(disk: &HostDisk) -> String {
    let size = disk.bytes.map(size_in_words);
    let kind = disk.kind.as_deref().map(text_of);
    let model = disk.model.as_deref().map(text_of);
    let serial = disk.serial.as_deref().map(|serial| format!("serial {}", text_of(serial)));
    let wwn = disk.wwn.as_deref().map(|wwn| format!("WWN {}", text_of(wwn)));
    let flags = [(disk.read_only, "read-only"), (disk.removable, "removable")];
    let flags = flags.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word.to_owned());
    let known: Vec<String> = [size, kind, model, serial, wwn].into_iter().flatten().chain(flags).collect();
    format!("{}: {}", text_of(&disk.name), known.join(", "))
}

fn port(port: &Value) -> Fact<'static> {
    let mac = field(port, "/macAddress").map(|mac| format!(" {mac}")).unwrap_or_default();
    let link = field(port, "/linkStatus").map(|link| format!(", link {}", link.to_ascii_lowercase())).unwrap_or_default();
    (Tone::Plain, "port", format!("{}{mac}{link}", field(port, "/name").unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn what_was_found_is_told_in_a_few_lines() {
        let found = json!({
            "foundAt": "2026-11-15T14:00:00.000Z",
            "disks": [
                { "name": "sda", "serial": "S1", "wwn": "0x5002", "model": "MTFDDAK480TGA", "bytes": 480_103_981_056_u64, "kind": "ssd" },
                { "name": "sr0", "removable": true, "readOnly": true, "bytes": 36_700_160 },
            ],
            "memoryBytes": 503_316_480,
            "cpus": { "model": "QEMU Virtual CPU", "sockets": 1, "cores": 1, "threads": 1 },
            "firmware": "bios",
        });
        let interfaces = json!([{ "name": "eth0", "macAddress": "52:54:00:00:00:01", "linkStatus": "Up" }, { "name": "eth1" }]);
        let inventoried = json!({ "additionalHostInformation": found.to_string(), "interfaces": interfaces });
        let machine = json!({ "properties": { "hardwareInventory": inventoried } });
        let clock = Clock::at("2026-11-15T14:05:00Z");
        let told: Vec<String> = inventory(&machine, clock).into_iter().map(|(_, what, text)| format!("{what}: {text}")).collect();
        expect![[r#"
            found: 480 MiB memory, 1 × QEMU Virtual CPU, 1 cores, BIOS, at 14:00:00Z
            disk: sda: 447 GiB, ssd, MTFDDAK480TGA, serial S1, WWN 0x5002
            disk: sr0: 35 MiB, read-only, removable
            port: eth0 52:54:00:00:00:01, link up
            port: eth1"#]]
        .assert_eq(&told.join("\n"));
        assert_eq!(inventory(&json!({ "properties": {} }), clock), Vec::new());
    }
}
