//! `drive_info`: what is in each bay.

use model::{Category, CategoryResult, Comparison, DriveSeen, Inspection, SkuDrive};

use super::Expected;
use super::sheet::{NOT_OFFERED, Sheet};

/// By how many hundredths the capacity of a drive may differ: makers round what they print on it in their own ways.
const CAPACITY_TOLERANCE: u64 = 2;

pub(super) fn judge(expected: &Expected<'_>, inspection: &Inspection) -> CategoryResult {
    let mut sheet = Sheet::new(Category::DriveInfo);
    let wanted = expected.sku.map(|sku| sku.drives.as_slice()).unwrap_or_default();
    let Some(seen) = sheet.answer("drives", &format!("{} drives", wanted.len()), &inspection.drives) else { return sheet.judged() };
    for (bay, wanted) in wanted.iter().enumerate() {
        let drive = seen.iter().find(|drive| usize::try_from(drive.bay) == Ok(bay));
        judge_drive(&mut sheet, bay, wanted, drive);
    }
    if wanted.is_empty() {
        for drive in seen {
            sheet.tell(capacity_of(drive.bay), Comparison::Info, "", capacity(drive));
            sheet.tell(kind_of(drive.bay), Comparison::Info, "", drive.kind.as_deref().unwrap_or(NOT_OFFERED));
        }
    }
    sheet.judged()
}

/// An empty bay is fetched as nothing at all.
fn judge_drive(sheet: &mut Sheet, bay: usize, wanted: &SkuDrive, drive: Option<&DriveSeen>) {
    let Some(drive) = drive else {
        sheet.tell(capacity_of(bay), Comparison::Fail, wanted.capacity_gb.to_string(), "");
        sheet.tell(kind_of(bay), Comparison::Fail, &wanted.kind, "");
        return sheet.log(format!("No drive is seen in bay {bay}"));
    };
    let comparison = match drive.capacity_gb {
        None => Comparison::Info,
        Some(gb) if gb.abs_diff(wanted.capacity_gb) * 100 <= wanted.capacity_gb * CAPACITY_TOLERANCE => Comparison::Pass,
        Some(_) => Comparison::Fail,
    };
    sheet.tell(capacity_of(bay), comparison, wanted.capacity_gb.to_string(), capacity(drive));
    sheet.compare(kind_of(bay), Some(&wanted.kind), drive.kind.as_deref());
}

fn capacity(drive: &DriveSeen) -> String {
    drive.capacity_gb.map_or_else(|| NOT_OFFERED.to_owned(), |gb| gb.to_string())
}

fn capacity_of(bay: impl std::fmt::Display) -> String {
    format!("Disk_{bay}_Capacity_GB")
}

fn kind_of(bay: impl std::fmt::Display) -> String {
    format!("Disk_{bay}_Type")
}
