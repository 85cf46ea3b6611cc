//! Processors, memory and network interfaces, read from their documents.

use super::{Health, health, id, is_absent};
use crate::document::{number, text};
use crate::listing::Member;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Processor {
    pub id: String,
    pub model: Option<String>,
    pub cores: Option<u64>,
    pub threads: Option<u64>,
    pub health: Option<Health>,
}

/// One memory module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimm {
    pub id: String,
    pub capacity_mib: Option<u64>,
    pub speed_mhz: Option<u64>,
    pub serial: Option<String>,
    pub health: Option<Health>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nic {
    pub id: String,
    pub name: Option<String>,
    /// In lower case with colons, however the BMC writes it.
    pub mac: Option<String>,
    pub link: Option<LinkState>,
    pub speed_mbps: Option<u64>,
    pub health: Option<Health>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    Up,
    Down,
}

pub(super) fn read_processor(member: &Member) -> Option<Processor> {
    let document = &member.document;
    // Accelerators are processors too, to the standard.
    let is_cpu = text(document, "ProcessorType").is_none_or(|kind| kind.eq_ignore_ascii_case("CPU"));
    (is_cpu && !is_absent(document)).then(|| Processor {
        id: id(member),
        model: text(document, "Model"),
        cores: number(document, "TotalCores"),
        threads: number(document, "TotalThreads"),
        health: health(document),
    })
}

pub(super) fn read_dimm(member: &Member) -> Option<Dimm> {
    let document = &member.document;
    (!is_absent(document)).then(|| Dimm {
        id: id(member),
        capacity_mib: number(document, "CapacityMiB"),
        speed_mhz: number(document, "OperatingSpeedMhz"),
        serial: text(document, "SerialNumber"),
        health: health(document),
    })
}

pub(crate) fn read_nic(member: &Member) -> Option<Nic> {
    let document = &member.document;
    let mac = ["MACAddress", "PermanentMACAddress"].iter().find_map(|name| text(document, name).as_deref().and_then(read_mac));
    let link = text(document, "LinkStatus").and_then(|status| match status.to_ascii_lowercase().as_str() {
        "linkup" => Some(LinkState::Up),
        "linkdown" | "nolink" => Some(LinkState::Down),
        _ => None,
    });
    (!is_absent(document)).then(|| Nic {
        id: id(member),
        name: text(document, "Name"),
        mac,
        link,
        speed_mbps: number(document, "SpeedMbps"),
        health: health(document),
    })
}

fn read_mac(text: &str) -> Option<String> {
    let digits: Vec<char> = text.chars().filter(|c| !matches!(c, ':' | '-' | '.')).collect();
    let is_mac = digits.len() == 12 && digits.iter().all(char::is_ascii_hexdigit);
    let pairs = || digits.chunks(2).map(|pair| pair.iter().collect::<String>().to_ascii_lowercase()).collect::<Vec<_>>();
    is_mac.then(|| pairs().join(":"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn member(document: Value) -> Member {
        Member { path: "/redfish/v1/Systems/1/X/slot7".into(), document }
    }

    #[test]
    fn a_mac_is_shown_in_one_way() {
        for written in ["00:5C:52:31:3A:9C", "00-5c-52-31-3a-9c", "005C.5231.3A9C", "005c52313a9c"] {
            assert_eq!(read_mac(written).as_deref(), Some("00:5c:52:31:3a:9c"), "{written}");
        }
        for odd in ["", "N/A", "00:5C:52:31:3A", "00:5C:52:31:3A:9G"] {
            assert_eq!(read_mac(odd), None, "{odd}");
        }
    }

    #[test]
    fn empty_sockets_and_accelerators_are_no_processors() {
        assert_eq!(read_processor(&member(json!({"Status": {"State": "Absent"}}))), None);
        assert_eq!(read_processor(&member(json!({"ProcessorType": "GPU"}))), None);
        let read = read_processor(&member(json!({"TotalCores": "32", "Model": 5, "Status": {"Health": "Warning"}}))).unwrap();
        assert_eq!((read.id.as_str(), read.cores, read.model, read.health), ("slot7", Some(32), None, Some(Health::Warning)));
    }

    #[test]
    fn a_nic_without_a_link_is_down_and_one_that_does_not_say_is_neither() {
        let link = |status: &str| read_nic(&member(json!({"LinkStatus": status}))).unwrap().link;
        assert_eq!((link("LinkUp"), link("NoLink"), link("LinkDown")), (Some(LinkState::Up), Some(LinkState::Down), Some(LinkState::Down)));
        assert_eq!(link("Starting"), None);
    }
}
