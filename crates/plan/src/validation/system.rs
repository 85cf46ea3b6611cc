//! `system_info`: the machine as a whole, its license, its firmware.

use model::{Category, CategoryResult, Comparison, FirmwareFloor, FirmwareSeen, Inspection, LicenseSeen, firmware_cmp};

use super::Expected;
use super::sheet::{NOT_OFFERED, Sheet};

const LICENSE: &str = "iDRAC License Check";
const WANTED_LICENSE: &str = "a license that is no trial; Enterprise or Datacenter of an iDRAC";

pub(super) fn judge(expected: &Expected<'_>, inspection: &Inspection) -> CategoryResult {
    let (mut sheet, seen) = (Sheet::new(Category::SystemInfo), &inspection.system);
    if expected.sku.is_none() {
        // Without it parts are told and not judged, and nobody should take that for a comparison.
        sheet.tell("sku", Comparison::Warning, &expected.hardware.sku, "not described");
    }
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    let memory = number(expected.sku.and_then(|sku| sku.memory_gb));
    sheet.compare("memory_capacity_GB", memory.as_deref(), number(seen.memory_gib).as_deref());
    let sockets = number(expected.sku.and_then(|sku| sku.cpu_sockets));
    sheet.compare("cpu_sockets", sockets.as_deref(), number(seen.sockets).as_deref());
    model(&mut sheet, expected, seen.model.as_deref());
    sheet.compare("Serial_Number", Some(&expected.hardware.serial_number), seen.serial_number.as_deref());
    if let Some(license) = sheet.answer(LICENSE, WANTED_LICENSE, &inspection.license) {
        judge_license(&mut sheet, license);
    }
    firmware(&mut sheet, expected, inspection);
    sheet.judged()
}

fn model(sheet: &mut Sheet, expected: &Expected<'_>, seen: Option<&str>) {
    let models = expected.sku.map(|sku| sku.models.as_slice()).unwrap_or_default();
    let wanted = models.join(" or ");
    match models.iter().find(|model| seen.is_some_and(|seen| seen.eq_ignore_ascii_case(model))) {
        Some(_) => sheet.tell("Model", Comparison::Pass, wanted, seen.unwrap_or_default()),
        None => sheet.compare("Model", Some(wanted.as_str()).filter(|wanted| !wanted.is_empty()), seen),
    }
}

/// A trial ends after thirty days, and virtual media with it. Only an iDRAC's lesser licenses are known to lack what is needed.
fn judge_license(sheet: &mut Sheet, license: &LicenseSeen) {
    let name = license.name.to_ascii_lowercase();
    let is_lesser = name.contains("idrac") && !name.contains("enterprise") && !name.contains("datacenter");
    let comparison = if license.is_trial || is_lesser { Comparison::Fail } else { Comparison::Pass };
    let trial = if license.is_trial { " (trial)" } else { "" };
    sheet.tell(LICENSE, comparison, WANTED_LICENSE, format!("{}{trial}", license.name));
}

/// Each version is told; those that the runtime has a minimum for are judged.
fn firmware(sheet: &mut Sheet, expected: &Expected<'_>, inspection: &Inspection) {
    let model = inspection.system.model.as_deref().unwrap_or_default();
    let floors = expected.bundle.map(|bundle| bundle.firmware.as_slice()).unwrap_or_default();
    let floors: Vec<&FirmwareFloor> = floors.iter().filter(|floor| floor.model.eq_ignore_ascii_case(model)).collect();
    match expected.bundle {
        None => sheet.tell("unsupported_firmware_check", Comparison::Info, "", "no runtime is known"),
        Some(bundle) if floors.is_empty() => {
            let none = format!("runtime {} has no minimum for this model", bundle.version);
            sheet.tell("unsupported_firmware_check", Comparison::Info, "", none);
        }
        Some(_) => {}
    }
    let Some(seen) = sheet.answer("firmware", "", &inspection.firmware) else {
        for floor in floors {
            sheet.tell(check_of(floor), Comparison::Info, at_least(floor), NOT_OFFERED);
        }
        return;
    };
    for firmware in seen {
        let version = firmware.version.as_deref().unwrap_or(NOT_OFFERED);
        sheet.tell(format!("{} - firmware_version", firmware.name), Comparison::Info, "", version);
    }
    for floor in floors {
        judge_floor(sheet, floor, seen);
    }
}

/// Where a machine has several of a component, as ports of a card, the oldest counts.
fn judge_floor(sheet: &mut Sheet, floor: &FirmwareFloor, seen: &[FirmwareSeen]) {
    let component = floor.component.to_ascii_lowercase();
    let of_component = seen.iter().filter(|firmware| firmware.name.to_ascii_lowercase().contains(&component));
    let oldest = of_component.filter_map(|firmware| firmware.version.as_deref()).min_by(|a, b| firmware_cmp(a, b));
    let Some(oldest) = oldest else {
        sheet.log(format!("Unable to determine firmware release of {}", floor.component));
        return sheet.tell(check_of(floor), Comparison::Info, at_least(floor), NOT_OFFERED);
    };
    let comparison = if firmware_cmp(oldest, &floor.minimum).is_lt() { Comparison::Fail } else { Comparison::Pass };
    sheet.tell(check_of(floor), comparison, at_least(floor), oldest);
}

fn check_of(floor: &FirmwareFloor) -> String {
    format!("{} - unsupported_firmware_check", floor.component)
}

fn at_least(floor: &FirmwareFloor) -> String {
    format!("at least {}", floor.minimum)
}
