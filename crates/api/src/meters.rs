//! What the API measures, and what it counts of the documents whenever somebody asks. Labels have few values.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, Method, StatusCode, header};
use model::{
    Action, Cluster, ClusterName, Connection, FaultClass, KeeperState, Machine, Management, Meter, Power, Provisioning, Timestamp, Wait,
    WaitKind,
};
use tokio::time::Instant;

use crate::cache::View;
use crate::{Api, KeeperWatch, health};

const REQUESTS: Meter =
    Meter::counter("rackwright_http_requests_total", &["method", "route", "status"], "Requests that the API answered, by kind and status.");
const REQUEST_DURATION: Meter = Meter::histogram(
    "rackwright_http_request_seconds",
    &["route"],
    &[0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0],
    "How long requests took to be answered, the wait for a verdict included.",
);
const INSTALL_REQUESTS: Meter = Meter::counter(
    "rackwright_install_requests_total",
    &["what", "status"],
    "Requests of machines that are being installed, by what they ask for and status.",
);
const IN_FLIGHT: Meter = Meter::gauge(
    "rackwright_http_requests_in_flight",
    &[],
    "Requests that are being answered, the one that asks included; one more while judged ones are swept away.",
);
const READY: Meter = Meter::gauge("rackwright_ready", &[], "1 if `/readyz` answers 200, else 0.");
const STORE_REVISION: Meter = Meter::gauge("rackwright_store_revision", &[], "The number of the store's newest commit.");
const CACHE_REVISION: Meter = Meter::gauge("rackwright_cache_revision", &[], "The newest commit that reads are served from.");
const KEEPER_STATE: Meter =
    Meter::gauge("rackwright_keeper_state", &["cluster", "state"], "1 for the state that the cluster's keeper is in, else 0.");
const LEASE_REMAINING: Meter = Meter::gauge(
    "rackwright_keeper_lease_remaining_seconds",
    &["cluster"],
    "How long the lease lasts that the cluster is kept under; 0 without one.",
);
const LAST_KNOWN_AGE: Meter = Meter::gauge(
    "rackwright_last_known_age_seconds",
    &["cluster", "which"],
    "How long ago the machine that was silent longest (`oldest`), or the one that was heard last (`newest`), answered through its BMC.",
);
const UNSEEN: Meter = Meter::gauge("rackwright_machines_unseen", &["cluster"], "Machines that have not answered since their keeper began.");
const SITE_FILE_REFUSED: Meter = Meter::gauge(
    "rackwright_site_file_refused",
    &["cluster"],
    "1 while the site file says something that was not taken over, so that the site is kept as it was described before; else 0.",
);
const CONNECTED: Meter =
    Meter::gauge("rackwright_cluster_connected", &["cluster"], "1 if the cluster's undercloud has been heard from lately, else 0.");
const MACHINES: Meter = Meter::gauge("rackwright_machines", &["cluster"], "Machines of the cluster.");
const BY_POWER: Meter =
    Meter::gauge("rackwright_machines_by_power", &["cluster", "power"], "Machines by the power state that was seen last.");
const BY_PROVISIONING: Meter =
    Meter::gauge("rackwright_machines_by_provisioning", &["cluster", "state"], "Machines by their provisioning state.");
const MACHINES_READY: Meter =
    Meter::gauge("rackwright_machines_ready", &["cluster"], "Machines that are on, provisioned, and whose node is ready.");
const CORDONED: Meter = Meter::gauge("rackwright_machines_cordoned", &["cluster"], "Machines that are kept free of new workloads.");
const UNMANAGED: Meter = Meter::gauge("rackwright_machines_unmanaged", &["cluster"], "Machines that nothing is sent to.");
const DEGRADED: Meter = Meter::gauge("rackwright_machines_degraded", &["cluster"], "Machines whose node tells of a problem.");
const CONTROL_PLANE: Meter = Meter::gauge(
    "rackwright_control_plane_members",
    &["cluster", "state"],
    "Control-plane machines: those that are meant to vote and are `ready` or `not-ready`, and the `spare`.",
);
const BLIND: Meter = Meter::gauge(
    "rackwright_machines_blind",
    &["cluster", "fault"],
    "Machines that cannot be seen through their BMC, by the fault that it answers with.",
);
const LATE: Meter = Meter::gauge(
    "rackwright_waits_late",
    &["cluster", "wait"],
    "Waits that have lasted longer than is usual: for a `device` that cannot be used, or for `progress`.",
);
const RUNNING: Meter = Meter::gauge("rackwright_operations_running", &["cluster", "action"], "Operations under way.");
const PENDING: Meter = Meter::gauge("rackwright_requests_pending", &["cluster"], "Requests that wait for their verdict.");
const UNLOGGED: Meter = Meter::counter(
    "rackwright_refusals_unlogged_total",
    &[],
    "Refusals of the API's own that are not in the activity log: too many came at once, or the store did not take them.",
);
const DENIALS: Meter = Meter::counter(
    "rackwright_denials_total",
    &["reason"],
    "Requests and logins that were denied: by the code of the error, or `LoginFailed` and `LoginLimited`; `ConnectionLimit` counts connections, `InstallDenied` what was asked of the install face.",
);
const UNNOTICED: Meter = Meter::counter(
    "rackwright_denials_unlogged_total",
    &[],
    "Denials without a line of their own in the log, because one caller or one address had many.",
);
const SHED: Meter = Meter::counter(
    "rackwright_http_requests_shed_total",
    &["route"],
    "Requests that were turned away because too much was being answered.",
);

/// Every metric of this crate.
pub const METERS: &[Meter] = &[
    REQUESTS,
    REQUEST_DURATION,
    INSTALL_REQUESTS,
    IN_FLIGHT,
    READY,
    STORE_REVISION,
    CACHE_REVISION,
    KEEPER_STATE,
    LEASE_REMAINING,
    LAST_KNOWN_AGE,
    UNSEEN,
    SITE_FILE_REFUSED,
    CONNECTED,
    MACHINES,
    BY_POWER,
    BY_PROVISIONING,
    MACHINES_READY,
    CORDONED,
    UNMANAGED,
    DEGRADED,
    CONTROL_PLANE,
    BLIND,
    LATE,
    RUNNING,
    PENDING,
    UNLOGGED,
    DENIALS,
    UNNOTICED,
    SHED,
];

pub(crate) fn count_request(method: &Method, route: &'static str, status: StatusCode, began: Instant) {
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].into_iter().find(|known| *known == method.as_str());
    // Anybody can make methods up.
    let method = known.unwrap_or("other");
    let status = status.as_u16().to_string();
    metrics::counter!(REQUESTS.name, "method" => method, "route" => route, "status" => status).increment(1);
    metrics::histogram!(REQUEST_DURATION.name, "route" => route).record(began.elapsed());
}

pub(crate) fn count_denial(reason: &'static str) {
    metrics::counter!(DENIALS.name, "reason" => reason).increment(1);
}

pub(crate) fn count_unnoticed_denial() {
    metrics::counter!(UNNOTICED.name).increment(1);
}

pub(crate) fn count_shed(route: &'static str) {
    metrics::counter!(SHED.name, "route" => route).increment(1);
}

/// Counts a request to the install face. Its path has secrets, so only its kind is told.
pub(crate) fn count_install_request(what: &'static str, status: StatusCode) {
    metrics::counter!(INSTALL_REQUESTS.name, "what" => what, "status" => status.as_u16().to_string()).increment(1);
}

/// Counts the documents, and shows everything that was measured in this process.
pub(crate) async fn show(api: &Api) -> Response {
    let (vitals, revision) = health::observe(api).await;
    let now = api.clock.now();
    let view = api.cache.view();
    set(READY, &[], f64::from(u8::from(plan::readiness(&vitals, now).is_empty())));
    set_count(IN_FLIGHT, &[], api.process.answering.len());
    metrics::counter!(UNLOGGED.name).absolute(api.rejections.dropped());
    set_revision(STORE_REVISION, revision.map_or(0, |revision| revision.0));
    set_revision(CACHE_REVISION, view.revision.0);
    for (cluster, keeper) in api.keepers.iter() {
        gauge_keeper(cluster, keeper, now);
    }
    let running = running(&view);
    // Nobody looks at the others: what is stored of them is no measurement.
    for cluster in view.clusters.values().filter(|cluster| api.keepers.contains_key(&cluster.document.name)) {
        gauge_cluster(&view, &cluster.document, &running, now);
    }
    let mut response = Response::new(Body::from((api.process.exposition)()));
    let text = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, text);
    response
}

fn set(meter: Meter, labels: &[(&'static str, &str)], value: f64) {
    let labels: Vec<metrics::Label> = labels.iter().map(|(name, value)| metrics::Label::new(*name, (*value).to_owned())).collect();
    metrics::gauge!(meter.name, labels).set(value);
}

#[expect(clippy::cast_precision_loss, reason = "Prometheus keeps every number as a float; revisions stay far below 2^52")]
fn set_revision(meter: Meter, revision: u64) {
    set(meter, &[], revision as f64);
}

#[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 machines")]
fn set_count(meter: Meter, labels: &[(&'static str, &str)], count: usize) {
    set(meter, labels, count as f64);
}

fn gauge_keeper(cluster: &ClusterName, keeper: &KeeperWatch, now: Timestamp) {
    let (state, footing) = (keeper.state.borrow(), keeper.footing.borrow());
    let name = match *state {
        KeeperState::Starting => "starting",
        KeeperState::AwaitingLease { .. } => "awaiting-lease",
        KeeperState::Keeping { .. } => "keeping",
        KeeperState::Failing { .. } => "failing",
    };
    let cluster = ("cluster", cluster.as_str());
    for known in ["starting", "awaiting-lease", "keeping", "failing"] {
        set_count(KEEPER_STATE, &[cluster, ("state", known)], usize::from(known == name));
    }
    let seconds = |span: model::Span| span.to_std().as_secs_f64();
    set(LEASE_REMAINING, &[cluster], footing.lease.as_ref().map_or(0.0, |lease| seconds(lease.expires_at.since(now))));
    set_count(UNSEEN, &[cluster], footing.looks.unseen);
    set_count(SITE_FILE_REFUSED, &[cluster], usize::from(keeper.site_file.borrow().is_some()));
    for (which, at) in [("oldest", footing.looks.oldest_at), ("newest", footing.looks.newest_at)] {
        if let Some(at) = at {
            set(LAST_KNOWN_AGE, &[cluster, ("which", which)], seconds(now.since(at)));
        }
    }
}

/// How many operations of each kind each cluster has under way. All are looked at once, however many clusters there are.
fn running(view: &View) -> Running<'_> {
    let mut running = Running::new();
    for operation in view.operations.values().filter(|operation| operation.is_running()) {
        *running.entry((&operation.cluster, operation.action.command())).or_default() += 1;
    }
    running
}

type Running<'a> = BTreeMap<(&'a ClusterName, &'static str), usize>;

fn gauge_cluster(view: &View, cluster: &Cluster, running: &Running<'_>, now: Timestamp) {
    let machines: Vec<&Machine> = view.machines_of(&cluster.name).map(|machine| machine.document.as_ref()).collect();
    let count = |is: &dyn Fn(&Machine) -> bool| machines.iter().filter(|machine| is(machine)).count();
    let named = ("cluster", cluster.name.as_str());
    set_count(CONNECTED, &[named], usize::from(cluster.connection == Connection::Connected));
    set_count(MACHINES, &[named], machines.len());
    set_count(MACHINES_READY, &[named], count(&Machine::is_ready));
    set_count(CORDONED, &[named], count(&Machine::is_cordoned));
    set_count(UNMANAGED, &[named], count(&|machine| !matches!(machine.management, Management::Managed)));
    set_count(DEGRADED, &[named], count(&|machine| !plan::problems(machine).is_empty()));
    set_count(CONTROL_PLANE, &[named, ("state", "ready")], count(&|machine| machine.is_active_kcp() && machine.is_ready()));
    set_count(CONTROL_PLANE, &[named, ("state", "not-ready")], count(&|machine| machine.is_active_kcp() && !machine.is_ready()));
    set_count(CONTROL_PLANE, &[named, ("state", "spare")], count(&Machine::is_spare));
    for (label, power) in POWERS {
        let seen = |machine: &Machine| machine.last_seen.power.as_ref().map(|power| power.what);
        set_count(BY_POWER, &[named, ("power", label)], count(&|machine| seen(machine) == power));
    }
    for (label, state) in PROVISIONINGS {
        set_count(BY_PROVISIONING, &[named, ("state", label)], count(&|machine| machine.provisioning == state));
    }
    for class in FaultClass::ALL {
        let fault = |machine: &Machine| machine.last_seen.bmc_fault.as_ref().map(|fault| fault.what.class);
        set_count(BLIND, &[named, ("fault", &class.to_string().replace(' ', "-"))], count(&|machine| fault(machine) == Some(class)));
    }
    let waits = machines.iter().flat_map(|machine| &machine.waits).chain(&cluster.waits);
    let (device, progress): (Vec<&Wait>, Vec<&Wait>) = waits.filter(|wait| wait.is_late(now)).partition(|wait| is_for_device(wait));
    set_count(LATE, &[named, ("wait", "device")], device.len());
    set_count(LATE, &[named, ("wait", "progress")], progress.len());
    for action in Action::KINDS {
        let of_kind = running.get(&(&cluster.name, action.command())).copied().unwrap_or_default();
        set_count(RUNNING, &[named, ("action", action.command())], of_kind);
    }
    set_count(PENDING, &[named], view.pending(&cluster.name));
}

/// Whether it is a device that is waited for, which is counted as a blind machine or a silent undercloud already.
fn is_for_device(wait: &Wait) -> bool {
    matches!(wait.kind, WaitKind::Device { .. } | WaitKind::FirstLook { .. })
}

const POWERS: [(&str, Option<Power>); 5] = [
    ("on", Some(Power::On)),
    ("off", Some(Power::Off)),
    ("powering-on", Some(Power::PoweringOn)),
    ("powering-off", Some(Power::PoweringOff)),
    ("unknown", None),
];

const PROVISIONINGS: [(&str, Provisioning); 6] = [
    ("preparing", Provisioning::Preparing),
    ("error", Provisioning::Error),
    ("available", Provisioning::Available),
    ("provisioning", Provisioning::Provisioning),
    ("provisioned", Provisioning::Provisioned),
    ("deprovisioning", Provisioning::Deprovisioning),
];
