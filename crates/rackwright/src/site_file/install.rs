//! What a site file says of how one machine is installed: its disks, and the network of its agent.

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use model::{DATA_DISKS_MAX, DISK_ID_MAX, DNS_MAX, InstallNetwork, InstallSettings, is_same_disk};

use super::page::Located;
use super::section::Section;

#[derive(Debug, Default)]
pub struct InstallKeys {
    os_disk: Option<Located<String>>,
    data_disks: Vec<Located<String>>,
    pub address: Option<Located<HostAddress>>,
    gateway: Option<Located<IpAddr>>,
    dns: Vec<Located<IpAddr>>,
}

/// An address in its network: `10.0.2.50/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostAddress {
    pub address: IpAddr,
    prefix: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoHostAddress {
    #[error("`{0}` is no address with its network; one is written like 10.0.2.50/24")]
    Form(String),
    #[error("`{0}` is the address of no machine")]
    NoHost(String),
}

impl FromStr for HostAddress {
    type Err = NoHostAddress;

    fn from_str(text: &str) -> Result<HostAddress, NoHostAddress> {
        let form = || NoHostAddress::Form(text.to_owned());
        let (address, prefix) = text.split_once('/').ok_or_else(form)?;
        let address: IpAddr = address.parse().map_err(|_| form())?;
        let prefix: u8 = prefix.parse().map_err(|_| form())?;
        let (bits, value) = bits_of(address);
        if prefix == 0 || u32::from(prefix) > bits {
            return Err(form());
        }
        let host = value & !mask(bits, prefix);
        // The first and the last address of a network of version 4 are not for machines, unless it has no others.
        let is_reserved = address.is_ipv4() && prefix < 31 && (host == 0 || host == !mask(bits, prefix) & all(bits));
        if is_reserved || address.is_unspecified() || address.is_loopback() || address.is_multicast() {
            return Err(NoHostAddress::NoHost(text.to_owned()));
        }
        Ok(HostAddress { address, prefix })
    }
}

/// How many bits an address has, and what they say.
fn bits_of(address: IpAddr) -> (u32, u128) {
    match address {
        IpAddr::V4(address) => (32, u128::from(address.to_bits())),
        IpAddr::V6(address) => (128, address.to_bits()),
    }
}

fn all(bits: u32) -> u128 {
    u128::MAX >> (128 - bits)
}

fn mask(bits: u32, prefix: u8) -> u128 {
    let host_bits = bits - u32::from(prefix);
    all(bits) & u128::MAX.checked_shl(host_bits).unwrap_or(0)
}

impl HostAddress {
    /// Whether another address is in the same network.
    fn reaches(self, other: IpAddr) -> bool {
        let ((bits, own), (other_bits, other)) = (bits_of(self.address), bits_of(other));
        bits == other_bits && (own ^ other) & mask(bits, self.prefix) == 0
    }
}

impl fmt::Display for HostAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

pub fn keys(section: &mut Section<'_>) -> InstallKeys {
    let os_disk = section.text_if_given("os-disk").filter(|id| is_disk_id(section, "os-disk", id));
    let data_disks = data_disks(section, os_disk.as_ref());
    let address: Option<Located<HostAddress>> = section.parsed_if_given("install-address");
    let gateway: Option<Located<IpAddr>> = section.parsed_if_given("install-gateway");
    let dns = dns(section);
    if section.line_of_key("install-address").is_none() {
        for key in ["install-gateway", "install-dns"] {
            if let Some(line) = section.line_of_key(key) {
                section.problem(line, format!("`{key}` is of use only with `install-address`: without it all of this comes by DHCP"));
            }
        }
    }
    if let (Some(address), Some(gateway)) = (&address, &gateway) {
        if !address.value.reaches(gateway.value) {
            section.problem(gateway.line, format!("`install-gateway` {} is not in the network of {}", gateway.value, address.value));
        } else if address.value.address == gateway.value {
            section.problem(gateway.line, format!("`install-gateway` {} is the machine's own address", gateway.value));
        }
    }
    InstallKeys { os_disk, data_disks, address, gateway, dns }
}

fn is_disk_id(section: &mut Section<'_>, key: &str, id: &Located<String>) -> bool {
    let text = &id.value;
    let problem = if text.trim().is_empty() || text.trim() != text || text.chars().any(model::is_unprintable) {
        "a serial number or WWN has no control characters, and no blanks around it".to_owned()
    } else if text.chars().count() > DISK_ID_MAX {
        format!("a serial number or WWN has at most {DISK_ID_MAX} characters")
    } else {
        return true;
    };
    section.problem(id.line, format!("`{key}`: {problem}"));
    false
}

fn data_disks(section: &mut Section<'_>, os_disk: Option<&Located<String>>) -> Vec<Located<String>> {
    let listed = section.listed_if_given("data-disks");
    if let Some(excess) = listed.get(DATA_DISKS_MAX) {
        section.problem(excess.line, format!("`data-disks` has {} disks; at most {DATA_DISKS_MAX} are meant", listed.len()));
        return Vec::new();
    }
    let mut disks: Vec<Located<String>> = Vec::new();
    for id in listed {
        if !is_disk_id(section, "data-disks", &id) {
            continue;
        }
        let is_same = |other: &Located<String>| is_same_disk(&other.value, &id.value);
        if os_disk.is_some_and(is_same) {
            section.problem(
                id.line,
                format!("`data-disks` has `{}`, which `os-disk` names: the system cannot go to a disk that is wiped", id.value),
            );
        } else if disks.iter().any(is_same) {
            section.problem(id.line, format!("`data-disks` has `{}` twice", id.value));
        } else {
            disks.push(id);
        }
    }
    disks
}

fn dns(section: &mut Section<'_>) -> Vec<Located<IpAddr>> {
    let listed = section.listed_if_given("install-dns");
    if let Some(excess) = listed.get(DNS_MAX) {
        section.problem(excess.line, format!("`install-dns` has {} servers; at most {DNS_MAX} are asked", listed.len()));
    }
    let mut known = BTreeSet::new();
    let mut servers = Vec::new();
    for server in listed {
        match server.value.parse::<IpAddr>() {
            Ok(address) if known.insert(address) => servers.push(Located { value: address, line: server.line }),
            Ok(address) => section.problem(server.line, format!("`install-dns` has {address} twice")),
            Err(_) => section.problem(server.line, format!("`install-dns`: `{}` is no IP address", server.value)),
        }
    }
    servers
}

impl InstallKeys {
    pub fn settings(&self) -> InstallSettings {
        let network = self.address.as_ref().map(|address| InstallNetwork {
            address: address.value.to_string(),
            gateway: self.gateway.as_ref().map(|gateway| gateway.value.to_string()),
            dns: self.dns.iter().map(|server| server.value.to_string()).collect(),
        });
        InstallSettings {
            os_disk: self.os_disk.as_ref().map(|id| id.value.clone()),
            data_disks: self.data_disks.iter().map(|id| id.value.clone()).collect(),
            network,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reaches_its_own_network_alone() {
        let address = |text: &str| text.parse::<HostAddress>().unwrap();
        let table = [
            ("10.0.2.50/24", "10.0.2.1", true),
            ("10.0.2.50/24", "10.0.3.1", false),
            ("10.0.2.50/31", "10.0.2.51", true),
            ("10.0.2.50/32", "10.0.2.51", false),
            ("10.0.2.50/24", "fe80::1", false),
            ("2001:db8::5/64", "2001:db8::1", true),
            ("2001:db8::5/128", "2001:db8::1", false),
        ];
        for (own, other, expected) in table {
            assert_eq!(address(own).reaches(other.parse().unwrap()), expected, "{own} {other}");
        }
        assert_eq!(address("10.0.2.50/24").to_string(), "10.0.2.50/24");
    }

    #[test]
    fn what_is_no_address_of_a_machine_is_refused() {
        for text in ["10.0.2.50", "10.0.2.50/33", "10.0.2.50/0", "10.0.2/24", "x/24", "10.0.2.50/-1", "2001:db8::5/129", ""] {
            assert_eq!(text.parse::<HostAddress>(), Err(NoHostAddress::Form(text.to_owned())), "{text}");
        }
        for text in ["10.0.2.0/24", "10.0.2.255/24", "127.0.0.1/8", "0.0.0.0/8", "224.0.0.5/24", "::1/64"] {
            assert_eq!(text.parse::<HostAddress>(), Err(NoHostAddress::NoHost(text.to_owned())), "{text}");
        }
    }
}
