//! `network_info`: which ports are linked, and the addresses by which the machine is recognized.

use model::{Category, CategoryResult, Comparison, Inspection, PortSeen, SkuPort};

use super::Expected;
use super::sheet::{NOT_OFFERED, Sheet};

pub(super) fn judge(expected: &Expected<'_>, inspection: &Inspection) -> CategoryResult {
    let mut sheet = Sheet::new(Category::NetworkInfo);
    let bmc_mac = inspection.system.bmc_mac.as_deref().map(plain_mac);
    sheet.compare("iDRAC_MAC", Some(&plain_mac(&expected.hardware.bmc_mac)), bmc_mac.as_deref());
    let wanted = expected.sku.map(|sku| sku.ports.as_slice()).unwrap_or_default();
    let Some(seen) = sheet.answer("ports", &format!("{} ports", wanted.len()), &inspection.ports) else { return sheet.judged() };
    boot_port(&mut sheet, expected, seen);
    for port in wanted {
        judge_link(&mut sheet, expected, port, named(seen, &port.name));
    }
    if wanted.is_empty() {
        for port in seen {
            let link = port.is_up.map_or(NOT_OFFERED, link_word);
            sheet.tell(format!("{}_LinkStatus", port.name), Comparison::Info, "", link);
        }
    }
    sheet.judged()
}

fn named<'a>(seen: &'a [PortSeen], name: &str) -> Option<&'a PortSeen> {
    seen.iter().find(|port| port.name.eq_ignore_ascii_case(name))
}

/// A port that should be down and is up is wrong as well: it is cabled to something that nobody knows of.
fn judge_link(sheet: &mut Sheet, expected: &Expected<'_>, wanted: &SkuPort, seen: Option<&PortSeen>) {
    let name = format!("{}_LinkStatus", wanted.name);
    let word = link_word(wanted.link_up);
    match seen.map(|port| port.is_up) {
        None => {
            sheet.tell(name, Comparison::Fail, word, "");
            sheet.log(format!("There is no port {}", wanted.name));
        }
        Some(None) => sheet.tell(name, Comparison::Info, word, NOT_OFFERED),
        Some(Some(is_up)) if is_up == wanted.link_up => {
            // A machine that is off has no links, so that none is up says nothing.
            let comparison = if expected.is_on || is_up { Comparison::Pass } else { Comparison::Info };
            sheet.tell(name, comparison, word, link_word(is_up));
        }
        Some(Some(false)) if !expected.is_on => sheet.tell(name, Comparison::Info, word, "not known: the machine is off"),
        Some(Some(is_up)) => {
            sheet.tell(name, Comparison::Fail, word, link_word(is_up));
            let what = if is_up { "Unexpected link on" } else { "Link failure detected on" };
            sheet.log(format!("{what} {}", wanted.name));
        }
    }
}

/// By the port's name where the site says which one it is; else some port must have the address.
fn boot_port(sheet: &mut Sheet, expected: &Expected<'_>, seen: &[PortSeen]) {
    let wanted = plain_mac(&expected.hardware.boot_mac);
    let Some(name) = expected.sku.and_then(|sku| sku.boot_port.as_deref()) else {
        let holder = seen.iter().find(|port| port.mac.as_deref().is_some_and(|mac| plain_mac(mac) == wanted));
        return match holder {
            Some(port) => sheet.tell(format!("{}_PXE_MAC", port.name), Comparison::Pass, &wanted, &wanted),
            None if seen.iter().any(|port| port.mac.is_some()) => sheet.tell("PXE_MAC", Comparison::Fail, &wanted, "no port has it"),
            None => sheet.tell("PXE_MAC", Comparison::Info, &wanted, NOT_OFFERED),
        };
    };
    let field = format!("{name}_PXE_MAC");
    match named(seen, name) {
        None => sheet.tell(field, Comparison::Fail, wanted, ""),
        Some(port) => sheet.compare(field, Some(&wanted), port.mac.as_deref().map(plain_mac).as_deref()),
    }
}

fn link_word(is_up: bool) -> &'static str {
    if is_up { "Up" } else { "Down" }
}

/// In lower case with colons.
fn plain_mac(mac: &str) -> String {
    mac.to_ascii_lowercase().replace('-', ":")
}
