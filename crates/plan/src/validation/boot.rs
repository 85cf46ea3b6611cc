//! `boot_info`: what the machine starts from. We set the source ourselves for each installation, so a network boot that is set up
//! otherwise only warns.

use model::{Category, CategoryResult, Comparison, Inspection};

use super::Expected;
use super::sheet::{NOT_OFFERED, Sheet};

pub(super) fn judge(expected: &Expected<'_>, inspection: &Inspection) -> CategoryResult {
    let mut sheet = Sheet::new(Category::BootInfo);
    let Some(seen) = sheet.answer("boot_device_name", "", &inspection.boot) else { return sheet.judged() };
    sheet.tell("boot_device_name", Comparison::Info, "", seen.device.as_deref().unwrap_or(NOT_OFFERED));
    state(&mut sheet, "boot_device_state", seen.is_enabled, Comparison::Fail);
    let wanted = expected.sku.and_then(|sku| sku.boot_port.as_deref());
    let comparison = match (wanted, seen.pxe_port.as_deref()) {
        (Some(wanted), Some(seen)) if is_of_port(seen, wanted) => Comparison::Pass,
        (Some(_), Some(_)) => Comparison::Warning,
        _ => Comparison::Info,
    };
    sheet.tell("pxe_device_1_name", comparison, wanted.unwrap_or_default(), seen.pxe_port.as_deref().unwrap_or(NOT_OFFERED));
    state(&mut sheet, "pxe_device_1_state", seen.is_pxe_enabled, Comparison::Warning);
    sheet.judged()
}

/// `NIC.Embedded.1-1-1` is a partition of port `NIC.Embedded.1-1`.
fn is_of_port(seen: &str, port: &str) -> bool {
    let (seen, port) = (seen.to_ascii_lowercase(), port.to_ascii_lowercase());
    seen == port || seen.strip_prefix(&port).is_some_and(|rest| rest.starts_with('-'))
}

fn state(sheet: &mut Sheet, name: &str, is_enabled: Option<bool>, if_not: Comparison) {
    match is_enabled {
        None => sheet.tell(name, Comparison::Info, "Enabled", NOT_OFFERED),
        Some(true) => sheet.tell(name, Comparison::Pass, "Enabled", "Enabled"),
        Some(false) => sheet.tell(name, if_not, "Enabled", "Disabled"),
    }
}
