//! Whether the tables of a site file agree with each other: nothing twice, no rack that is not there, no password sent
//! where anybody can read it.

use std::collections::BTreeMap;

use super::address::Scheme;
use super::page::{Page, Problems};
use super::tables::{ClusterTable, MachineTable, PlainHttp, RackTable};

pub fn check(page: &Page, cluster: &ClusterTable, racks: &[RackTable], machines: &[MachineTable], problems: &mut Problems) {
    let mut seen = Seen { page, first: BTreeMap::new(), problems };
    for rack in racks {
        seen.once(rack.name.line, "rack", &rack.name.value.key(), &format!("rack `{}`", rack.name.value));
        seen.once(
            rack.serial_number.line,
            "rack serial number",
            &rack.serial_number.value,
            &quoted("serial number", &rack.serial_number.value),
        );
    }
    for machine in machines {
        seen.once(machine.name.line, "machine", &machine.name.value.key(), &format!("machine `{}`", machine.name.value));
        let serial = &machine.serial_number;
        seen.once(serial.line, "serial number", &serial.value.to_ascii_lowercase(), &quoted("serial number", &serial.value));
        if let (Some(rack), Some(slot)) = (&machine.rack, &machine.slot) {
            let place = format!("slot {} of rack `{}`", slot.value, rack.value);
            seen.once(slot.line, "slot", &format!("{} {}", rack.value.key(), slot.value), &place);
        }
        if let Some(bmc) = &machine.bmc {
            seen.once(bmc.line, "BMC", &bmc.value.normal, &quoted("BMC address", &bmc.value.to_string()));
        }
        for mac in [&machine.bmc_mac, &machine.boot_mac].into_iter().flatten() {
            seen.once(mac.line, "MAC", &mac.value.0, &quoted("MAC address", &mac.value.0));
        }
        if let Some(address) = &machine.install.address {
            let text = address.value.address.to_string();
            seen.once(address.line, "install address", &text, &quoted("install address", &text));
        }
    }
    for machine in machines {
        check_rack(page, racks, machine, problems);
        check_line(page, cluster, machine, problems);
    }
}

fn quoted(what: &str, value: &str) -> String {
    format!("{what} `{value}`")
}

struct Seen<'a> {
    page: &'a Page,
    /// The line on which each thing stands, by what it is and its value.
    first: BTreeMap<(&'static str, String), usize>,
    problems: &'a mut Problems,
}

impl Seen<'_> {
    /// Notes a thing that a site can have only once. What is empty was complained about already.
    fn once(&mut self, line: usize, kind: &'static str, value: &str, what: &str) {
        if value.is_empty() {
            return;
        }
        match self.first.get(&(kind, value.to_owned())) {
            Some(first) => self.problems.note(self.page, line, format!("{what} is on line {first} already")),
            None => {
                self.first.insert((kind, value.to_owned()), line);
            }
        }
    }
}

fn check_rack(page: &Page, racks: &[RackTable], machine: &MachineTable, problems: &mut Problems) {
    let Some(rack) = &machine.rack else { return };
    if !racks.iter().any(|known| known.name.value == rack.value) {
        let message = format!("`{}` stands in rack `{}`, which is not described", machine.name.value, rack.value);
        problems.note(page, rack.line, message);
    }
}

/// The line to the BMC: encrypted to somebody we know, unless it never leaves this computer or the site's people say so.
fn check_line(page: &Page, cluster: &ClusterTable, machine: &MachineTable, problems: &mut Problems) {
    let Some(bmc) = &machine.bmc else { return };
    let own_trust = machine.access.trust_line;
    match bmc.value.scheme {
        Scheme::Https if own_trust.is_none() && cluster.access.trust_line.is_none() => {
            let address = bmc.value.host_and_port();
            let remedy = format!(
                "give `bmc-ca`, or `bmc-fingerprint` as this shows it: \
                 openssl s_client -connect {address} </dev/null 2>/dev/null | openssl x509 -noout -fingerprint -sha256"
            );
            let message = format!("nothing says which certificate the BMC of `{}` must have", machine.name.value);
            problems.note_with_remedy(page, bmc.line, message, remedy);
        }
        Scheme::Https => {}
        Scheme::Http => {
            if let Some(line) = own_trust {
                problems.note(page, line, format!("the BMC of `{}` is on plain http and shows no certificate", machine.name.value));
            }
            if cluster.plain_http == PlainHttp::Refused && !bmc.value.is_loopback() {
                let message = format!("the password of `{}` would travel unencrypted over plain http", machine.name.value);
                let remedy = "use https, or say `allow-plain-http = true` in [cluster] if the management network is safe";
                problems.note_with_remedy(page, bmc.line, message, remedy);
            }
        }
    }
}
