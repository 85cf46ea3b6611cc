//! The closed set of faults that a site can have: their names, whom they strike, and the one number that some of them take.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    BmcUnreachable,
    #[serde(rename = "bmc-401")]
    BmcDenies,
    BmcSlow,
    BmcError,
    BmcIgnores,
    BmcStale,
    BmcGarbage,
    BmcForgetsSessions,
    BmcRestart,
    HostHangs,
    HostPanics,
    HostBootsSlowly,
    HostReadOnlyRoot,
    HostNetworkLoss,
    LinkDown,
    LinkFlapping,
    BmcRefusesMedia,
    BmcIgnoresMedia,
    RaidDeletionFails,
    BootsOldDisk,
    AgentNeverCalls,
    NeverPhonesHome,
    ImageWrong,
    ImageUnreachable,
    DiskMissing,
    DiskTwice,
    DiskSmall,
    MemoryMissing,
    NicMissing,
    DriveMissing,
    FirmwareJobStuck,
    TokenUsedTwice,
    TokenStolen,
    ApiDown,
    ApiSlow,
    ApiForgetsWatches,
    EtcdUnreachable,
    EtcdLearnerNeverCatchesUp,
    TenantApiDown,
    TenantApiTls,
    TenantTokenExpired,
    TenantEvictionError,
    TenantBudgetsUncounted,
    PodFinalizerStuck,
    VmIgnoresShutdown,
    VmCrashes,
}

/// Whom a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    Machine,
    /// The API server of the undercloud.
    Api,
    /// A tenant cluster.
    Tenant,
    /// A pod of a tenant cluster.
    Pod,
    /// A virtual machine.
    Vm,
}

/// The number that a fault takes, with what it is when nobody says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    pub name: &'static str,
    pub default: u32,
    pub least: u32,
    pub most: u32,
}

/// How long an answer is delayed: by default longer than a person waits for a page, shorter than our driver waits.
const SLOWNESS: Setting = Setting { name: "ms", default: 5_000, least: 1, most: 600_000 };

impl FaultKind {
    pub const ALL: [FaultKind; 46] = [
        FaultKind::BmcUnreachable,
        FaultKind::BmcDenies,
        FaultKind::BmcSlow,
        FaultKind::BmcError,
        FaultKind::BmcIgnores,
        FaultKind::BmcStale,
        FaultKind::BmcGarbage,
        FaultKind::BmcForgetsSessions,
        FaultKind::BmcRestart,
        FaultKind::HostHangs,
        FaultKind::HostPanics,
        FaultKind::HostBootsSlowly,
        FaultKind::HostReadOnlyRoot,
        FaultKind::HostNetworkLoss,
        FaultKind::LinkDown,
        FaultKind::LinkFlapping,
        FaultKind::BmcRefusesMedia,
        FaultKind::BmcIgnoresMedia,
        FaultKind::RaidDeletionFails,
        FaultKind::BootsOldDisk,
        FaultKind::AgentNeverCalls,
        FaultKind::NeverPhonesHome,
        FaultKind::ImageWrong,
        FaultKind::ImageUnreachable,
        FaultKind::DiskMissing,
        FaultKind::DiskTwice,
        FaultKind::DiskSmall,
        FaultKind::MemoryMissing,
        FaultKind::NicMissing,
        FaultKind::DriveMissing,
        FaultKind::FirmwareJobStuck,
        FaultKind::TokenUsedTwice,
        FaultKind::TokenStolen,
        FaultKind::ApiDown,
        FaultKind::ApiSlow,
        FaultKind::ApiForgetsWatches,
        FaultKind::EtcdUnreachable,
        FaultKind::EtcdLearnerNeverCatchesUp,
        FaultKind::TenantApiDown,
        FaultKind::TenantApiTls,
        FaultKind::TenantTokenExpired,
        FaultKind::TenantEvictionError,
        FaultKind::TenantBudgetsUncounted,
        FaultKind::PodFinalizerStuck,
        FaultKind::VmIgnoresShutdown,
        FaultKind::VmCrashes,
    ];

    /// As an operator types it.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::BmcUnreachable => "bmc-unreachable",
            FaultKind::BmcDenies => "bmc-401",
            FaultKind::BmcSlow => "bmc-slow",
            FaultKind::BmcError => "bmc-error",
            FaultKind::BmcIgnores => "bmc-ignores",
            FaultKind::BmcStale => "bmc-stale",
            FaultKind::BmcGarbage => "bmc-garbage",
            FaultKind::BmcForgetsSessions => "bmc-forgets-sessions",
            FaultKind::BmcRestart => "bmc-restart",
            FaultKind::HostHangs => "host-hangs",
            FaultKind::HostPanics => "host-panics",
            FaultKind::HostBootsSlowly => "host-boots-slowly",
            FaultKind::HostReadOnlyRoot => "host-read-only-root",
            FaultKind::HostNetworkLoss => "host-network-loss",
            FaultKind::LinkDown => "link-down",
            FaultKind::LinkFlapping => "link-flapping",
            FaultKind::BmcRefusesMedia => "bmc-refuses-media",
            FaultKind::BmcIgnoresMedia => "bmc-ignores-media",
            FaultKind::RaidDeletionFails => "raid-deletion-fails",
            FaultKind::BootsOldDisk => "boots-old-disk",
            FaultKind::AgentNeverCalls => "agent-never-calls",
            FaultKind::NeverPhonesHome => "never-phones-home",
            FaultKind::ImageWrong => "image-wrong",
            FaultKind::ImageUnreachable => "image-unreachable",
            FaultKind::DiskMissing => "disk-missing",
            FaultKind::DiskTwice => "disk-twice",
            FaultKind::DiskSmall => "disk-small",
            FaultKind::MemoryMissing => "memory-missing",
            FaultKind::NicMissing => "nic-missing",
            FaultKind::DriveMissing => "drive-missing",
            FaultKind::FirmwareJobStuck => "firmware-job-stuck",
            FaultKind::TokenUsedTwice => "token-used-twice",
            FaultKind::TokenStolen => "token-stolen",
            FaultKind::ApiDown => "api-down",
            FaultKind::ApiSlow => "api-slow",
            FaultKind::ApiForgetsWatches => "api-forgets-watches",
            FaultKind::EtcdUnreachable => "etcd-unreachable",
            FaultKind::EtcdLearnerNeverCatchesUp => "etcd-learner-never-catches-up",
            FaultKind::TenantApiDown => "tenant-api-down",
            FaultKind::TenantApiTls => "tenant-api-tls",
            FaultKind::TenantTokenExpired => "tenant-token-expired",
            FaultKind::TenantEvictionError => "tenant-eviction-error",
            FaultKind::TenantBudgetsUncounted => "tenant-budgets-uncounted",
            FaultKind::PodFinalizerStuck => "pod-finalizer-stuck",
            FaultKind::VmIgnoresShutdown => "vm-ignores-shutdown",
            FaultKind::VmCrashes => "vm-crashes",
        }
    }

    /// What it does, in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            FaultKind::BmcUnreachable => "connections to the BMC are refused",
            FaultKind::BmcDenies => "the BMC refuses every login and every session with 401",
            FaultKind::BmcSlow => "the BMC answers each request late by `ms` milliseconds",
            FaultKind::BmcError => "the BMC answers each request with the status `status` and does nothing",
            FaultKind::BmcIgnores => "the BMC answers whatever would change something with 204 and does nothing",
            FaultKind::BmcStale => "the BMC goes on reporting the power state that it had when the fault began",
            FaultKind::BmcGarbage => "the BMC does what it is asked, and its answers are cut off and end in HTML",
            FaultKind::BmcForgetsSessions => "the BMC forgets all its sessions at every request number `every`",
            FaultKind::BmcRestart => "the BMC restarts: it is away for three minutes, and its sessions are lost",
            FaultKind::HostHangs => "the operating system freezes and ignores a graceful shutdown, until the power is cut",
            FaultKind::HostPanics => "the kernel panics and the host boots again; with a duration, at every boot until then",
            FaultKind::HostBootsSlowly => "boots that begin meanwhile take `factor` times as long",
            FaultKind::HostReadOnlyRoot => "the root file system is read-only until the host boots again; its node says so",
            FaultKind::HostNetworkLoss => "the host cannot reach the API server; its BMC still answers",
            FaultKind::LinkDown => "port `port` of the machine's network card has no link; its node says so",
            FaultKind::LinkFlapping => "the link of port 2 goes up and down every `every` seconds; its node says so",
            FaultKind::BmcRefusesMedia => "the BMC refuses to insert an image into its virtual drive, with 400",
            FaultKind::BmcIgnoresMedia => "the BMC says that an image was inserted into its virtual drive, and does nothing",
            FaultKind::RaidDeletionFails => "the next `times` deletions of volumes fail",
            FaultKind::BootsOldDisk => "the firmware starts what is on the disk, whatever it was told to start from",
            FaultKind::AgentNeverCalls => "the installing agent starts, and calls nobody",
            FaultKind::NeverPhonesHome => "an installed system comes up, and neither phones home nor joins",
            FaultKind::ImageWrong => "the image server gives the machine other bytes than those of the image",
            FaultKind::ImageUnreachable => "the machine cannot reach the server of its operating system's image",
            FaultKind::DiskMissing => "the installing agent finds no disk to install on",
            FaultKind::DiskTwice => "the installing agent finds two disks that are called what the one to install on is",
            FaultKind::DiskSmall => "the disk to install on is smaller than the image",
            FaultKind::MemoryMissing => "`dimms` modules of the machine's memory are not there",
            FaultKind::NicMissing => "port `port` of the machine's network card is not there",
            FaultKind::DriveMissing => "the drive in bay `bay` is not there",
            FaultKind::FirmwareJobStuck => "a firmware update stays in the BMC's queue and does not end",
            FaultKind::TokenUsedTwice => "a second agent calls with the machine's configuration",
            FaultKind::TokenStolen => "another machine calls with the machine's installation token, before the machine itself",
            FaultKind::ApiDown => "connections to the undercloud's API server are refused",
            FaultKind::ApiSlow => "the API server answers each request late by `ms` milliseconds",
            FaultKind::ApiForgetsWatches => "the API server ends every watch without a word, and answers 410 to a resumption",
            FaultKind::EtcdUnreachable => "connections to the undercloud's etcd are refused; it goes on all the same",
            FaultKind::EtcdLearnerNeverCatchesUp => "a new member of etcd on the machine stays behind, and is never let vote",
            FaultKind::TenantApiDown => "connections to the tenant cluster's API server are refused",
            FaultKind::TenantApiTls => "the tenant cluster's API server shows a certificate that its kubeconfig does not trust",
            FaultKind::TenantTokenExpired => "the tenant cluster's API server answers 401 to the token of its kubeconfig",
            FaultKind::TenantEvictionError => "the tenant cluster's API server answers every eviction with 500",
            FaultKind::TenantBudgetsUncounted => {
                "no disruption budget of the tenant cluster is counted: evictions under a new or changed one are answered 429, others by the last count"
            }
            FaultKind::PodFinalizerStuck => "the pod has a finalizer that nobody takes away, and so never goes",
            FaultKind::VmIgnoresShutdown => "the guest does not hear a shutdown, and stops only when it is forced",
            FaultKind::VmCrashes => "the guest crashes; with a duration, at every boot until then",
        }
    }

    pub fn aim(self) -> Aim {
        match self {
            FaultKind::ApiDown | FaultKind::ApiSlow | FaultKind::ApiForgetsWatches | FaultKind::EtcdUnreachable => Aim::Api,
            FaultKind::TenantApiDown
            | FaultKind::TenantApiTls
            | FaultKind::TenantTokenExpired
            | FaultKind::TenantEvictionError
            | FaultKind::TenantBudgetsUncounted => Aim::Tenant,
            FaultKind::PodFinalizerStuck => Aim::Pod,
            FaultKind::VmIgnoresShutdown | FaultKind::VmCrashes => Aim::Vm,
            _ => Aim::Machine,
        }
    }

    pub fn setting(self) -> Option<Setting> {
        match self {
            FaultKind::BmcSlow | FaultKind::ApiSlow => Some(SLOWNESS),
            FaultKind::BmcError => Some(Setting { name: "status", default: 500, least: 500, most: 599 }),
            FaultKind::BmcForgetsSessions => Some(Setting { name: "every", default: 3, least: 1, most: 1_000 }),
            FaultKind::HostBootsSlowly => Some(Setting { name: "factor", default: 4, least: 2, most: 100 }),
            FaultKind::LinkDown => Some(Setting { name: "port", default: 2, least: 1, most: 2 }),
            FaultKind::LinkFlapping => Some(Setting { name: "every", default: 60, least: 1, most: 3_600 }),
            FaultKind::RaidDeletionFails => Some(Setting { name: "times", default: 2, least: 1, most: 100 }),
            FaultKind::MemoryMissing => Some(Setting { name: "dimms", default: 1, least: 1, most: 16 }),
            FaultKind::NicMissing => Some(Setting { name: "port", default: 2, least: 1, most: 4 }),
            FaultKind::DriveMissing => Some(Setting { name: "bay", default: 2, least: 0, most: 5 }),
            _ => None,
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FaultKind {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        FaultKind::ALL.into_iter().find(|kind| kind.name() == text).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_saved_under_the_name_that_people_type() {
        for kind in FaultKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(kind.name().parse(), Ok(kind));
        }
    }

    #[test]
    fn a_setting_is_named_in_what_the_fault_does_and_has_a_sensible_default() {
        for kind in FaultKind::ALL {
            if let Some(setting) = kind.setting() {
                assert!(kind.about().contains(&format!("`{}`", setting.name)), "{kind}");
                assert!((setting.least..=setting.most).contains(&setting.default), "{kind}");
            }
        }
    }
}
