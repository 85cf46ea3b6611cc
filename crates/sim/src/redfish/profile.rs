//! How the vendors' BMCs differ, as data.

use world::Vendor;

#[derive(Debug)]
pub(super) struct Profile {
    pub manufacturer: &'static str,
    pub system_id: &'static str,
    pub manager_id: &'static str,
    pub chassis_id: &'static str,
    pub log_id: &'static str,
    pub log_name: &'static str,
    pub manager_model: &'static str,
    pub manager_name: &'static str,
    pub firmware_version: &'static str,
    pub bios_version: &'static str,
    pub product: &'static str,
}

impl Profile {
    pub fn of(vendor: Vendor) -> &'static Profile {
        match vendor {
            Vendor::Dell => &DELL,
            Vendor::Hpe => &HPE,
            Vendor::Lenovo => &LENOVO,
            Vendor::Supermicro => &SUPERMICRO,
        }
    }

    pub fn system_path(&self) -> String {
        format!("/redfish/v1/Systems/{}", self.system_id)
    }

    pub fn manager_path(&self) -> String {
        format!("/redfish/v1/Managers/{}", self.manager_id)
    }

    pub fn chassis_path(&self) -> String {
        format!("/redfish/v1/Chassis/{}", self.chassis_id)
    }

    pub fn log_path(&self) -> String {
        format!("{}/LogServices/{}", self.manager_path(), self.log_id)
    }
}

static DELL: Profile = Profile {
    manufacturer: "Dell Inc.",
    system_id: "System.Embedded.1",
    manager_id: "iDRAC.Embedded.1",
    chassis_id: "System.Embedded.1",
    log_id: "Lclog",
    log_name: "Lifecycle Controller Log",
    manager_model: "16G Monolithic",
    manager_name: "iDRAC",
    firmware_version: "7.10.50.00",
    bios_version: "1.15.2",
    product: "Integrated Dell Remote Access Controller",
};

static HPE: Profile = Profile {
    manufacturer: "HPE",
    system_id: "1",
    manager_id: "1",
    chassis_id: "1",
    log_id: "IEL",
    log_name: "iLO Event Log",
    manager_model: "iLO 6",
    manager_name: "Manager",
    firmware_version: "iLO 6 v1.59",
    bios_version: "U54 v2.16",
    product: "ProLiant",
};

static LENOVO: Profile = Profile {
    manufacturer: "Lenovo",
    system_id: "1",
    manager_id: "1",
    chassis_id: "1",
    log_id: "AuditLog",
    log_name: "Audit Log",
    manager_model: "Lenovo XClarity Controller 2",
    manager_name: "XClarity Controller",
    firmware_version: "USX344O 4.12",
    bios_version: "ESE128J-3.20",
    product: "XClarity Controller",
};

/// Ids as boards with AMI's firmware have them, so that a site shows three ways to name a system.
static SUPERMICRO: Profile = Profile {
    manufacturer: "Supermicro",
    system_id: "Self",
    manager_id: "Self",
    chassis_id: "Self",
    log_id: "Log1",
    log_name: "Maintenance Event Log",
    manager_model: "ASPEED AST2600",
    manager_name: "BMC",
    firmware_version: "01.03.16",
    bios_version: "2.1a",
    product: "Supermicro BMC",
};
