//! `[[sku]]`: what machines of a kind are made of, for hardware validation to compare with. A machine may name a SKU that is not
//! described: then nothing is expected of it.

use std::collections::BTreeSet;

use model::{Sku, SkuDrive, SkuPort};
use toml::de::DeTable;

use super::page::{Page, Problems};
use super::section::{Section, kind};

/// Beyond these a number is a slip of the finger.
const SOCKETS_MAX: u32 = 64;
const MEMORY_GB_MAX: u32 = 1_048_576;
const DRIVE_GB_MAX: u32 = 10_000_000;
const DRIVES_MAX: u32 = 256;

pub fn read<'a>(page: &'a Page, root: &'a DeTable<'a>, problems: &mut Problems) -> Vec<Sku> {
    let Some((key, value)) = root.get_key_value("sku") else { return Vec::new() };
    let Some(list) = value.get_ref().as_array() else {
        problems.note(page, page.line_of(&key.span()), "`sku` must be written as [[sku]], once for each");
        return Vec::new();
    };
    let (mut skus, mut names) = (Vec::new(), BTreeSet::new());
    for value in list.iter() {
        let line = page.line_of(&value.span());
        let Some(table) = value.get_ref().as_table() else {
            problems.note(page, line, format!("[[sku]] must be a table, not {}", kind(value)));
            continue;
        };
        let sku = read_one(Section::new(page, "[[sku]]", table, line, problems));
        if !names.insert(sku.name.to_ascii_lowercase()) && !sku.name.is_empty() {
            problems.note(page, line, format!("SKU `{}` is described twice", sku.name));
        }
        skus.push(sku);
    }
    skus
}

fn read_one(mut section: Section<'_>) -> Sku {
    let sku = Sku {
        name: section.text("name").unwrap_or_default().value,
        models: section.texts("models"),
        cpu_sockets: section.number_if_given("cpu-sockets", 1, SOCKETS_MAX).map(u64::from),
        memory_gb: section.number_if_given("memory-gb", 1, MEMORY_GB_MAX).map(u64::from),
        drives: section.each("drive", "[[sku.drive]]", drives).concat(),
        ports: section.each("port", "[[sku.port]]", port),
        boot_port: section.text_if_given("boot-port").map(|port| port.value),
        os_volume: section.text_if_given("os-volume").map(|volume| volume.value),
        os_drive: section.number_if_given("os-drive", 0, DRIVES_MAX - 1),
    };
    if let (Some(_), Some(line)) = (&sku.os_volume, section.line_of_key("os-drive")) {
        section.problem(line, "the operating system goes to `os-volume` or to `os-drive`, not to both");
    }
    section.finish();
    sku
}

/// Drives that are alike, in bays beside each other.
fn drives(mut section: Section<'_>) -> Option<Vec<SkuDrive>> {
    let capacity = section.number("capacity-gb", 1, DRIVE_GB_MAX);
    let kind = section.text("kind").unwrap_or_default();
    if !matches!(kind.value.as_str(), "SSD" | "HDD" | "") {
        section.problem(kind.line, "`kind` must be \"SSD\" or \"HDD\"");
    }
    let count = section.number_if_given("count", 1, DRIVES_MAX).unwrap_or(1);
    section.finish();
    let drive = SkuDrive { capacity_gb: u64::from(capacity?.value), kind: kind.value };
    Some(vec![drive; count as usize])
}

fn port(mut section: Section<'_>) -> Option<SkuPort> {
    let name = section.text("name");
    let link_up = section.flag("link-up");
    if link_up.is_none() && section.line_of_key("link-up").is_none() {
        let line = section.line;
        section.problem(line, "[[sku.port]] needs `link-up`: whether the port is cabled");
    }
    section.finish();
    Some(SkuPort { name: name?.value, link_up: link_up?.value })
}
