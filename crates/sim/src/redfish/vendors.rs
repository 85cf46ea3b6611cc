//! The four kinds of BMC that a simulated site has. Each differs from the others where real ones do.

use world::{AfterRestart, Component, MediaSlot};

use super::profile::{
    CdWithoutMedia, FirmwareMembers, IfMatch, MediaInsertion, MediaPlace, Once, PowerTold, Profile, ResetTypes, WhenFull,
};

pub(super) static DELL: Profile = Profile {
    manufacturer: "Dell Inc.",
    system_id: "System.Embedded.1",
    manager_id: "iDRAC.Embedded.1",
    chassis_id: "System.Embedded.1",
    storage_id: "RAID.Integrated.1-1",
    log_id: "Lclog",
    log_name: "Lifecycle Controller Log",
    manager_model: "16G Monolithic",
    manager_name: "iDRAC",
    product: "Integrated Dell Remote Access Controller",
    raid_model: "PERC H755 Front",
    processor_prefix: "CPU.Socket.",
    dimm_prefix: "DIMM.Socket.",
    nic_prefix: "NIC.Integrated.1-",
    drive_prefix: "Disk.Bay.",
    volume_prefix: "Disk.Virtual.",
    task_prefix: "JID_",
    media_slots: [("CD", MediaSlot::Cd), ("RemovableDisk", MediaSlot::Usb)],
    bmc_version: "7.10.50.00",
    bios_version: "1.15.2",
    raid_version: "52.26.0-5179",
    nic_version: "22.31.13.70",
    has_vendor: true,
    media_place: MediaPlace::SystemAndManager,
    media_insertion: MediaInsertion::Action,
    reset_types: ResetTypes::AllowableValues,
    cd_without_media: CdWithoutMedia::Accepted,
    once: Once::Kept,
    if_match: IfMatch::Optional,
    when_full: WhenFull::EndOldest,
    firmware_members: FirmwareMembers::Always,
    kept_firmware: &[
        ("Previous-159-1.12.1", Component::Bios, "1.12.1"),
        ("Previous-25227-7.00.60.00", Component::Bmc, "7.00.60.00"),
        ("Available-159-1.16.0", Component::Bios, "1.16.0"),
    ],
    has_dead_action: false,
    power_told: PowerTold::AtOnce,
    update_task: AfterRestart::Remembered,
    offers_events: true,
    offers_boot_options: true,
    offers_account_keys: true,
    license: Some("iDRAC9 16G Datacenter License"),
};

pub(super) static HPE: Profile = Profile {
    manufacturer: "HPE",
    system_id: "1",
    manager_id: "1",
    chassis_id: "1",
    storage_id: "DE00A000",
    log_id: "IEL",
    log_name: "iLO Event Log",
    manager_model: "iLO 6",
    manager_name: "Manager",
    product: "ProLiant",
    raid_model: "HPE MR416i-p Gen11",
    processor_prefix: "",
    dimm_prefix: "DIMM",
    nic_prefix: "",
    drive_prefix: "",
    volume_prefix: "",
    task_prefix: "",
    media_slots: [("1", MediaSlot::Usb), ("2", MediaSlot::Cd)],
    bmc_version: "iLO 6 v1.59",
    bios_version: "U54 v2.16",
    raid_version: "52.24.3-4948",
    nic_version: "22.36.10.10",
    has_vendor: true,
    media_place: MediaPlace::ManagerOnly,
    media_insertion: MediaInsertion::Action,
    reset_types: ResetTypes::AllowableValues,
    cd_without_media: CdWithoutMedia::Accepted,
    once: Once::Kept,
    if_match: IfMatch::Optional,
    when_full: WhenFull::EndOldest,
    firmware_members: FirmwareMembers::OnceListed,
    kept_firmware: &[],
    has_dead_action: true,
    power_told: PowerTold::AtOnce,
    update_task: AfterRestart::Forgotten,
    offers_events: false,
    offers_boot_options: true,
    offers_account_keys: true,
    license: None,
};

pub(super) static LENOVO: Profile = Profile {
    manufacturer: "Lenovo",
    system_id: "1",
    manager_id: "1",
    chassis_id: "1",
    storage_id: "RAID_Slot4",
    log_id: "AuditLog",
    log_name: "Audit Log",
    manager_model: "Lenovo XClarity Controller 2",
    manager_name: "XClarity Controller",
    product: "XClarity Controller",
    raid_model: "ThinkSystem RAID 940-8i",
    processor_prefix: "",
    dimm_prefix: "",
    nic_prefix: "NIC",
    drive_prefix: "Disk.",
    volume_prefix: "",
    task_prefix: "",
    media_slots: [("EXT1", MediaSlot::Cd), ("EXT2", MediaSlot::Usb)],
    bmc_version: "USX344O 4.12",
    bios_version: "ESE128J-3.20",
    raid_version: "52.26.0-5014",
    nic_version: "22.38.10.02",
    has_vendor: true,
    media_place: MediaPlace::ManagerOnly,
    media_insertion: MediaInsertion::Patch,
    reset_types: ResetTypes::ActionInfo,
    cd_without_media: CdWithoutMedia::Accepted,
    once: Once::Kept,
    if_match: IfMatch::Demanded,
    when_full: WhenFull::EndOldest,
    firmware_members: FirmwareMembers::Always,
    kept_firmware: &[],
    has_dead_action: false,
    power_told: PowerTold::AtOnce,
    update_task: AfterRestart::Remembered,
    offers_events: true,
    offers_boot_options: true,
    offers_account_keys: false,
    license: None,
};

pub(super) static SUPERMICRO: Profile = Profile {
    manufacturer: "Supermicro",
    system_id: "1",
    manager_id: "1",
    chassis_id: "1",
    storage_id: "HA-RAID",
    log_id: "Log1",
    log_name: "Maintenance Event Log",
    manager_model: "ASPEED AST2600",
    manager_name: "BMC",
    product: "Supermicro BMC",
    raid_model: "Supermicro 3916",
    processor_prefix: "",
    dimm_prefix: "",
    nic_prefix: "",
    drive_prefix: "Disk.Bay.",
    volume_prefix: "",
    task_prefix: "",
    media_slots: [("CD1", MediaSlot::Cd), ("USB1", MediaSlot::Usb)],
    bmc_version: "01.03.16",
    bios_version: "2.1a",
    raid_version: "52.22.0-4544",
    nic_version: "22.35.20.00",
    has_vendor: false,
    media_place: MediaPlace::ManagerLinkedFromSystem,
    media_insertion: MediaInsertion::Action,
    reset_types: ResetTypes::Untold,
    cd_without_media: CdWithoutMedia::InternalError,
    once: Once::BecomesContinuous,
    if_match: IfMatch::Optional,
    when_full: WhenFull::Refuse,
    firmware_members: FirmwareMembers::Always,
    kept_firmware: &[],
    has_dead_action: false,
    power_told: PowerTold::Late,
    update_task: AfterRestart::Remembered,
    offers_events: false,
    offers_boot_options: false,
    offers_account_keys: false,
    license: None,
};

#[cfg(test)]
mod tests {
    use world::{MediaSlot, Vendor};

    use super::*;

    /// What the page shows in one cell.
    type Cell = fn(&Profile) -> String;

    const ROWS: [(&str, Cell); 15] = [
        ("ids of System and Manager", |profile| format!("`{}`, `{}`", profile.system_id, profile.manager_id)),
        ("virtual media is found under", |profile| match profile.media_place {
            MediaPlace::SystemAndManager => "System and Manager".to_owned(),
            MediaPlace::ManagerOnly => "Manager; the System does not link it".to_owned(),
            MediaPlace::ManagerLinkedFromSystem => "Manager; the System links there".to_owned(),
        }),
        ("the CD drive is", |profile| {
            let slot = profile.media_slots.iter().find(|(_, slot)| *slot == MediaSlot::Cd);
            format!("`{}`", slot.map_or("", |(id, _)| id))
        }),
        ("an image is inserted by", |profile| match profile.media_insertion {
            MediaInsertion::Action => "InsertMedia, EjectMedia".to_owned(),
            MediaInsertion::Patch => "PATCH of Image; there are no actions".to_owned(),
        }),
        ("reset types are told by", |profile| match profile.reset_types {
            ResetTypes::AllowableValues => "AllowableValues".to_owned(),
            ResetTypes::ActionInfo => "ActionInfo".to_owned(),
            ResetTypes::Untold => "nothing".to_owned(),
        }),
        ("`Vendor` in the root", |profile| yes(profile.has_vendor)),
        ("boot override Cd without media", |profile| match profile.cd_without_media {
            CdWithoutMedia::Accepted => "taken".to_owned(),
            CdWithoutMedia::InternalError => "500".to_owned(),
        }),
        ("boot override Once", |profile| match profile.once {
            Once::Kept => "holds once".to_owned(),
            Once::BecomesContinuous => "becomes Continuous".to_owned(),
        }),
        ("PATCH without If-Match", |profile| match profile.if_match {
            IfMatch::Optional => "taken".to_owned(),
            IfMatch::Demanded => "428".to_owned(),
        }),
        ("the 17th session", |profile| match profile.when_full {
            WhenFull::EndOldest => "ends the oldest".to_owned(),
            WhenFull::Refuse => "503".to_owned(),
        }),
        ("firmware members before the list was read", |profile| match profile.firmware_members {
            FirmwareMembers::Always => "there".to_owned(),
            FirmwareMembers::OnceListed => "404".to_owned(),
        }),
        ("firmware is listed that does not run", |profile| yes(!profile.kept_firmware.is_empty())),
        ("an advertised action that answers 501", |profile| yes(profile.has_dead_action)),
        ("a change of power is told", |profile| match profile.power_told {
            PowerTold::AtOnce => "at once".to_owned(),
            PowerTold::Late => format!("{} s late", world::Pace::REAL.power_lag.0 / 1_000),
        }),
        ("the task of a BMC update, after the restart", |profile| match profile.update_task {
            AfterRestart::Remembered => "there".to_owned(),
            AfterRestart::Forgotten => "gone".to_owned(),
        }),
    ];

    fn yes(is_so: bool) -> String {
        if is_so { "yes" } else { "no" }.to_owned()
    }

    #[test]
    fn the_page_about_the_simulated_bmcs_says_what_the_profiles_say() {
        let page = include_str!("../../../../docs/simulated-bmcs.md");
        let vendors = [Vendor::Dell, Vendor::Hpe, Vendor::Lenovo, Vendor::Supermicro].map(Profile::of);
        let offers: [(&str, Cell); 4] = [
            ("a stream of events", |profile| yes(profile.offers_events)),
            ("boot options and their order", |profile| yes(profile.offers_boot_options)),
            ("SSH keys of accounts", |profile| yes(profile.offers_account_keys)),
            ("the BMC's license", |profile| yes(profile.license.is_some())),
        ];
        for (title, cell) in ROWS.into_iter().chain(offers) {
            let row = format!("| {title} | {} |", vendors.map(cell).join(" | "));
            assert!(page.contains(&row), "docs/simulated-bmcs.md lacks the row\n{row}");
        }
    }
}
