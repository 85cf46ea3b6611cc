//! What a keeper measures. Nothing is decided on it; where it goes is chosen by whoever installs a recorder.

use model::{Action, ClusterName, DeviceAsk, Fault, FaultClass, LookAt, Meter, OperationResult, Rule, Span};
use tokio::time::Instant;

const STARTED: Meter = Meter::counter("rackwright_operations_started_total", &["action"], "Operations that were accepted.");
const ENDED: Meter = Meter::counter("rackwright_operations_total", &["action", "result"], "Operations that have ended, by how.");
const DURATION: Meter = Meter::histogram(
    "rackwright_operation_seconds",
    &["action", "result"],
    &[1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_200.0, 2_400.0, 3_600.0, 7_200.0, 14_400.0],
    "How long operations took, from their acceptance to their end.",
);
const REFUSED: Meter = Meter::counter("rackwright_refusals_total", &["rule"], "Requests that a rule refused.");
const PLANNED: Meter = Meter::histogram(
    "rackwright_plan_seconds",
    &["cluster"],
    &[0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0],
    "How long one plan took, its check against the invariants included.",
);
const COMMITTED: Meter = Meter::histogram(
    "rackwright_commit_seconds",
    &["cluster"],
    &[0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0],
    "How long a keeper's commit took until it was durable.",
);
const WOKEN: Meter = Meter::counter("rackwright_keeper_wakeups_total", &["cluster"], "Rounds of the keeper's loop.");
const FAILED: Meter =
    Meter::counter("rackwright_keeper_failures_total", &["cluster"], "How often keeping broke off and had to begin again from the store.");
const CALLS: Meter = Meter::counter(
    "rackwright_device_calls_total",
    &["device", "call", "result"],
    "Calls to BMCs, underclouds, their etcds and tenants' clusters, by what was asked and by the fault they met; `ok` if none.",
);
const CALL_DURATION: Meter = Meter::histogram(
    "rackwright_device_call_seconds",
    &["device", "call"],
    &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0],
    "How long calls to devices took, logging in included.",
);

/// Every metric of this crate.
pub const METERS: &[Meter] = &[STARTED, ENDED, DURATION, REFUSED, PLANNED, COMMITTED, WOKEN, FAILED, CALLS, CALL_DURATION];

/// Shows what can be counted before any of it happens.
///
/// A series that appears with its first event was never seen at 0, so nobody could tell that it grew: an alert on the
/// increase would sleep through the first failure.
pub fn begin_at_zero<'a>(clusters: impl IntoIterator<Item = &'a ClusterName>) {
    for action in Action::KINDS {
        metrics::counter!(STARTED.name, "action" => action.command()).increment(0);
        for result in OperationResult::ALL {
            metrics::counter!(ENDED.name, "action" => action.command(), "result" => result.to_string()).increment(0);
        }
    }
    for rule in Rule::ALL {
        metrics::counter!(REFUSED.name, "rule" => rule.name()).increment(0);
    }
    let devices = [
        (Device::Bmc, Purpose::OF_BMC.as_slice()),
        (Device::Undercloud, Purpose::OF_UNDERCLOUD.as_slice()),
        (Device::Tenant, Purpose::OF_TENANT.as_slice()),
        (Device::Etcd, Purpose::OF_ETCD.as_slice()),
    ];
    for (device, purposes) in devices {
        let results = std::iter::once(OK.to_owned()).chain(FaultClass::ALL.map(fault_label));
        for (result, purpose) in results.flat_map(|result| purposes.iter().map(move |purpose| (result.clone(), purpose))) {
            metrics::counter!(CALLS.name, "device" => device.name(), "call" => purpose.name(), "result" => result).increment(0);
        }
    }
    for cluster in clusters {
        for meter in [WOKEN, FAILED] {
            metrics::counter!(meter.name, "cluster" => cluster.to_string()).increment(0);
        }
    }
}

pub(crate) fn count_started(action: Action) {
    metrics::counter!(STARTED.name, "action" => action.command()).increment(1);
}

pub(crate) fn count_ended(action: Action, result: OperationResult, took: Span) {
    let (action, result) = (action.command(), result.to_string());
    metrics::counter!(ENDED.name, "action" => action, "result" => result.clone()).increment(1);
    metrics::histogram!(DURATION.name, "action" => action, "result" => result).record(took.to_std());
}

pub(crate) fn count_refused(rule: Rule) {
    metrics::counter!(REFUSED.name, "rule" => rule.name()).increment(1);
}

pub(crate) fn count_wakeup(cluster: &ClusterName) {
    metrics::counter!(WOKEN.name, "cluster" => cluster.to_string()).increment(1);
}

pub(crate) fn count_failure(cluster: &ClusterName) {
    metrics::counter!(FAILED.name, "cluster" => cluster.to_string()).increment(1);
}

pub(crate) fn time_plan(cluster: &ClusterName, began: Instant) {
    metrics::histogram!(PLANNED.name, "cluster" => cluster.to_string()).record(began.elapsed());
}

pub(crate) fn time_commit(cluster: &ClusterName, began: Instant) {
    metrics::histogram!(COMMITTED.name, "cluster" => cluster.to_string()).record(began.elapsed());
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Device {
    Bmc,
    Undercloud,
    /// A tenant cluster's own API.
    Tenant,
    /// The undercloud's etcd.
    Etcd,
}

impl Device {
    pub fn name(self) -> &'static str {
        match self {
            Device::Bmc => "bmc",
            Device::Undercloud => "undercloud",
            Device::Tenant => "tenant",
            Device::Etcd => "etcd",
        }
    }
}

/// What a device is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Look,
    /// More than its power.
    LookAt(LookAt),
    Listen,
    Contact,
    Ask(DeviceAsk),
    /// By its errand's code.
    Errand(&'static str),
}

impl Purpose {
    const OF_BMC: [Purpose; 23] = [
        Purpose::Look,
        Purpose::LookAt(LookAt::Survey),
        Purpose::LookAt(LookAt::Boot),
        Purpose::LookAt(LookAt::Volumes),
        Purpose::LookAt(LookAt::Hardware),
        Purpose::LookAt(LookAt::Accounts),
        Purpose::Listen,
        Purpose::Ask(DeviceAsk::GracefulOff),
        Purpose::Ask(DeviceAsk::ForceOff),
        Purpose::Ask(DeviceAsk::PowerOn),
        Purpose::Ask(DeviceAsk::InsertMedia),
        Purpose::Ask(DeviceAsk::EjectMedia),
        Purpose::Ask(DeviceAsk::BootFromMedia),
        Purpose::Ask(DeviceAsk::BootFromHttp),
        Purpose::Ask(DeviceAsk::BootFromPxe),
        Purpose::Ask(DeviceAsk::BootFromDisk),
        Purpose::Ask(DeviceAsk::AgentOn),
        Purpose::Ask(DeviceAsk::AgentOff),
        Purpose::Ask(DeviceAsk::SystemOn),
        Purpose::Ask(DeviceAsk::DeleteVolume),
        Purpose::Ask(DeviceAsk::MakeOsVolume),
        Purpose::Ask(DeviceAsk::WriteAccount),
        Purpose::Ask(DeviceAsk::DropAccount),
    ];
    const OF_UNDERCLOUD: [Purpose; 12] = [
        Purpose::Contact,
        Purpose::Ask(DeviceAsk::Cordon),
        Purpose::Ask(DeviceAsk::Uncordon),
        Purpose::Ask(DeviceAsk::MintJoinToken),
        Purpose::Ask(DeviceAsk::DropJoinToken),
        Purpose::Errand("skipRemediation"),
        Purpose::Errand("resumeRemediation"),
        Purpose::Errand("stopVm"),
        Purpose::Errand("startVm"),
        Purpose::Errand("createVm"),
        Purpose::Errand("deleteVm"),
        Purpose::Errand("discardOsDisk"),
    ];
    const OF_TENANT: [Purpose; 6] = [
        Purpose::Errand("cordonNode"),
        Purpose::Errand("uncordonNode"),
        Purpose::Errand("evict"),
        Purpose::Errand("deletePod"),
        Purpose::Errand("markOutOfService"),
        Purpose::Errand("clearOutOfService"),
    ];

    const OF_ETCD: [Purpose; 4] =
        [Purpose::Look, Purpose::Ask(DeviceAsk::LeaveEtcd), Purpose::Ask(DeviceAsk::JoinEtcd), Purpose::Ask(DeviceAsk::PromoteEtcd)];

    pub fn name(self) -> &'static str {
        match self {
            Purpose::Look => "look",
            Purpose::LookAt(LookAt::Survey) => "look-at-offers",
            Purpose::LookAt(LookAt::Boot) => "look-at-boot",
            Purpose::LookAt(LookAt::Volumes) => "look-at-volumes",
            Purpose::LookAt(LookAt::Hardware) => "look-at-hardware",
            Purpose::LookAt(LookAt::Accounts) => "look-at-accounts",
            Purpose::LookAt(LookAt::Etcd) => "look-at-etcd",
            Purpose::Listen => "listen",
            Purpose::Contact => "contact",
            Purpose::Ask(DeviceAsk::GracefulOff) => "graceful-off",
            Purpose::Ask(DeviceAsk::ForceOff) => "force-off",
            Purpose::Ask(DeviceAsk::PowerOn) => "power-on",
            Purpose::Ask(DeviceAsk::Cordon) => "cordon",
            Purpose::Ask(DeviceAsk::Uncordon) => "uncordon",
            Purpose::Ask(DeviceAsk::InsertMedia) => "insert-media",
            Purpose::Ask(DeviceAsk::EjectMedia) => "eject-media",
            Purpose::Ask(DeviceAsk::BootFromMedia) => "boot-from-media",
            Purpose::Ask(DeviceAsk::BootFromHttp) => "boot-from-http",
            Purpose::Ask(DeviceAsk::BootFromPxe) => "boot-from-pxe",
            Purpose::Ask(DeviceAsk::BootFromDisk) => "boot-from-disk",
            Purpose::Ask(DeviceAsk::AgentOn) => "agent-on",
            Purpose::Ask(DeviceAsk::AgentOff) => "agent-off",
            Purpose::Ask(DeviceAsk::SystemOn) => "system-on",
            Purpose::Ask(DeviceAsk::DeleteVolume) => "delete-volume",
            Purpose::Ask(DeviceAsk::MakeOsVolume) => "make-os-volume",
            Purpose::Ask(DeviceAsk::WriteAccount) => "write-account",
            Purpose::Ask(DeviceAsk::DropAccount) => "drop-account",
            Purpose::Ask(DeviceAsk::MintJoinToken) => "mint-join-token",
            Purpose::Ask(DeviceAsk::DropJoinToken) => "drop-join-token",
            Purpose::Ask(DeviceAsk::LeaveEtcd) => "leave-etcd",
            Purpose::Ask(DeviceAsk::JoinEtcd) => "join-etcd",
            Purpose::Ask(DeviceAsk::PromoteEtcd) => "promote-etcd",
            Purpose::Errand(code) => code,
        }
    }
}

/// The label of a call that met no fault.
const OK: &str = "ok";

fn fault_label(class: FaultClass) -> String {
    class.to_string().replace(' ', "-")
}

/// How a call ended, as a label: the class of its fault, or `ok`.
pub(crate) fn outcome<T>(result: &Result<T, Fault>) -> String {
    match result {
        Ok(_) => OK.to_owned(),
        Err(fault) => fault_label(fault.class),
    }
}

pub(crate) fn count_call<T>(device: Device, purpose: Purpose, result: &Result<T, Fault>, began: Instant) {
    let (device, call) = (device.name(), purpose.name());
    metrics::counter!(CALLS.name, "device" => device, "call" => call, "result" => outcome(result)).increment(1);
    metrics::histogram!(CALL_DURATION.name, "device" => device, "call" => call).record(began.elapsed());
}
