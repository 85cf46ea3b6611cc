//! The results of hardware validation: per field what was expected, what was fetched, and how they compare.

use serde::{Deserialize, Serialize};

use crate::name::{ClusterName, MachineName, OperationId};
use crate::runtime::RuntimeVersion;
use crate::time::Timestamp;

/// The latest validation of a machine, in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Validation {
    pub cluster: ClusterName,
    pub machine: MachineName,
    pub by: OperationId,
    pub at: Timestamp,
    /// Whose firmware minimums were used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<RuntimeVersion>,
    pub categories: Vec<CategoryResult>,
}

impl Validation {
    /// `Fail` if any category failed.
    pub fn result(&self) -> ValidationResult {
        let failed = self.categories.iter().any(|category| category.result == ValidationResult::Fail);
        if failed { ValidationResult::Fail } else { ValidationResult::Pass }
    }
}

/// What the machine keeps of it: `hardwareValidationStatus`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ValidationMark {
    pub at: Timestamp,
    pub result: ValidationResult,
    #[serde(default, skip_serializing_if = "Judged::is_hardware")]
    pub of: Judged,
}

/// What a validation has come to judge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Judged {
    #[default]
    Hardware,
    /// The BMC was silent, so that nothing is said of the hardware.
    Login,
}

impl Judged {
    fn is_hardware(&self) -> bool {
        *self == Judged::Hardware
    }
}

impl ValidationMark {
    /// Whether hardware was seen that is not what it should be.
    pub fn is_of_bad_hardware(&self) -> bool {
        self.result == ValidationResult::Fail && self.of == Judged::Hardware
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ValidationResult {
    Pass,
    Fail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    DeviceLogin,
    SystemInfo,
    DriveInfo,
    NetworkInfo,
    HealthInfo,
    BootInfo,
}

impl Category {
    pub const ALL: [Category; 6] =
        [Category::DeviceLogin, Category::SystemInfo, Category::DriveInfo, Category::NetworkInfo, Category::HealthInfo, Category::BootInfo];

    pub fn as_str(self) -> &'static str {
        match self {
            Category::DeviceLogin => "device_login",
            Category::SystemInfo => "system_info",
            Category::DriveInfo => "drive_info",
            Category::NetworkInfo => "network_info",
            Category::HealthInfo => "health_info",
            Category::BootInfo => "boot_info",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CategoryResult {
    pub category: Category,
    pub result: ValidationResult,
    pub fields: Vec<FieldResult>,
    #[serde(default)]
    pub log: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldResult {
    pub name: String,
    pub comparison: Comparison,
    pub expected: String,
    pub fetched: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Comparison {
    Pass,
    Fail,
    Warning,
    Info,
}
