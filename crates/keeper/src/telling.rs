//! What a keeper tells of its work: one line of the log for each thing that people would ask about, a span for each call
//! to a device, and the counts of both.

use model::{Cluster, Connection, CorrelationId, Fault, Machine, MachineName, Operation, OperationResult, Request, Timestamp, Verdict};
use plan::{Plan, Snapshot};
use tokio::time::Instant;
use tracing::{Instrument, debug, field, info, info_span, warn};

use crate::meters::{self, Device, Purpose};

/// Tells what a plan that was just committed begins, ends and refuses, and which devices came and went. `before` is the
/// snapshot that it was made from.
pub(crate) fn note_commit(before: &Snapshot, plan: &Plan, now: Timestamp) {
    for operation in plan.changes.operations.values() {
        let known = before.operations.get(&operation.id);
        if known.is_none() {
            note_begin(operation);
        }
        if known.is_none_or(|known| known.is_running()) {
            note_end(operation);
        }
    }
    for request in plan.changes.requests.values() {
        if before.requests.get(&request.id).is_none_or(|known| known.verdict.is_none()) {
            note_refusal(request);
        }
    }
    for after in plan.changes.machines.values() {
        note_sight(before.machines.get(&after.name).map(AsRef::as_ref), after, now);
    }
    if let Some(after) = plan.changes.cluster.as_ref().filter(|after| after.connection != before.cluster.connection) {
        note_connection(after);
    }
}

/// One line when a BMC ceases to be of use or meets another kind of fault, and one when it is of use again: never one for
/// each look.
fn note_sight(before: Option<&Machine>, after: &Machine, now: Timestamp) {
    let known = before.and_then(|machine| machine.last_seen.bmc_fault.as_ref());
    match (known, &after.last_seen.bmc_fault) {
        (None, None) => {}
        (Some(known), None) => info!(
            cluster = %after.cluster,
            machine = %after.name,
            fault = %known.what.class,
            lasted_ms = now.since(known.at).as_millis(),
            "a BMC is of use again"
        ),
        (Some(known), Some(met)) if known.what.class == met.what.class => {}
        (_, Some(met)) => warn!(
            cluster = %after.cluster,
            machine = %after.name,
            fault = %met.what.class,
            detail = met.what.detail,
            since = %met.at,
            "a BMC cannot be used"
        ),
    }
}

fn note_connection(after: &Cluster) {
    const CHANGED: &str = "the line to the undercloud changed";
    match after.connection {
        Connection::Connected | Connection::Undefined => info!(cluster = %after.name, connection = ?after.connection, "{CHANGED}"),
        Connection::Timeout | Connection::Disconnected => warn!(cluster = %after.name, connection = ?after.connection, "{CHANGED}"),
    }
}

fn note_begin(operation: &Operation) {
    meters::count_started(operation.action);
    info!(
        cluster = %operation.cluster,
        machine = %operation.target,
        operation = %operation.id,
        correlation_id = %operation.correlation_id,
        action = operation.action.command(),
        caller = operation.caller,
        "an operation begins"
    );
}

fn note_end(operation: &Operation) {
    let Some(ended) = &operation.ended else { return };
    let took = ended.at.since(operation.accepted_at);
    meters::count_ended(operation.action, ended.result, took);
    let reason = (ended.result != OperationResult::Succeeded).then_some(ended.message.as_str());
    // A level is part of the code, so the line is written for each.
    macro_rules! tell {
        ($at_level:ident) => {
            $at_level!(
                cluster = %operation.cluster,
                machine = %operation.target,
                operation = %operation.id,
                correlation_id = %operation.correlation_id,
                action = operation.action.command(),
                result = %ended.result,
                took_ms = took.as_millis(),
                reason,
                "an operation has ended"
            )
        };
    }
    match ended.result {
        OperationResult::Failed => tell!(warn),
        OperationResult::Succeeded | OperationResult::Canceled => tell!(info),
    }
}

fn note_refusal(request: &Request) {
    let Some(Verdict::Refused { refusal }) = &request.verdict else { return };
    meters::count_refused(refusal.rule);
    let about = request.ask.part().map(|part| part.name().to_owned());
    info!(
        cluster = %request.cluster,
        machine = about,
        correlation_id = %request.correlation_id,
        caller = request.caller,
        rule = refusal.rule.name(),
        refused = refusal.message,
        evidence = refusal.evidence.join("; "),
        "a request was refused"
    );
}

/// One call to a device, as it is told and measured.
#[derive(Debug)]
pub(crate) struct Called {
    device: Device,
    purpose: Purpose,
    span: tracing::Span,
}

/// On whose behalf a device is called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Behalf<'a> {
    pub snapshot: &'a Snapshot,
    pub machine: Option<&'a MachineName>,
}

impl Called {
    /// A span of its own trace: the request that led to it has long been answered. The correlation id connects the two.
    pub fn new(device: Device, purpose: Purpose, behalf: Behalf<'_>) -> Called {
        let span = info_span!(
            parent: None,
            "device call",
            device = device.name(),
            call = purpose.name(),
            cluster = %behalf.snapshot.cluster.name,
            machine = field::Empty,
            operation = field::Empty,
            correlation_id = field::Empty,
            result = field::Empty,
        );
        if let Some(machine) = behalf.machine {
            span.record("machine", field::display(machine));
            if let Some(operation) = behalf.snapshot.running_on(machine) {
                span.record("operation", field::display(&operation.id));
                span.record("correlation_id", field::display(&operation.correlation_id));
            }
        }
        Called { device, purpose, span }
    }

    /// An errand to the undercloud or to a tenant's cluster.
    pub fn for_errand(snapshot: &Snapshot, step: &plan::ErrandStep) -> Called {
        let device = if step.errand.asked_of().is_some() { Device::Tenant } else { Device::Undercloud };
        let behalf = Behalf { snapshot, machine: step.machine.as_ref() };
        let called = Called::new(device, Purpose::Errand(step.errand.code()), behalf);
        if let Some(operation) = step.operation.as_ref().and_then(|id| snapshot.operations.get(id)) {
            called.span.record("operation", field::display(&operation.id));
            called.span.record("correlation_id", field::display(&operation.correlation_id));
        }
        called
    }

    pub async fn during<T>(self, call: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        let began = Instant::now();
        let result = call.instrument(self.span.clone()).await;
        meters::count_call(self.device, self.purpose, &result, began);
        self.span.record("result", meters::outcome(&result));
        result
    }
}

/// A device did not do what it was asked.
pub(crate) fn note_fault(snapshot: &Snapshot, step: &plan::Step, fault: &Fault) {
    let operation = step.operation.as_ref().and_then(|id| snapshot.operations.get(id));
    warn!(
        cluster = %snapshot.cluster.name,
        machine = %step.machine,
        operation = operation.map(|operation| field::display(&operation.id)),
        correlation_id = operation.map(|operation| field::display::<&CorrelationId>(&operation.correlation_id)),
        ask = %step.ask,
        %fault,
        "a device did not do what it was asked"
    );
}

/// An errand met a fault. Those of a drain are many and are sent again, so that each is told only to whoever listens closely.
pub(crate) fn note_errand_fault(snapshot: &Snapshot, step: &plan::ErrandStep, fault: &Fault) {
    let operation = step.operation.as_ref().and_then(|id| snapshot.operations.get(id));
    macro_rules! tell {
        ($at_level:ident) => {
            $at_level!(
                cluster = %snapshot.cluster.name,
                machine = step.machine.as_ref().map(field::display),
                operation = operation.map(|operation| field::display(&operation.id)),
                correlation_id = operation.map(|operation| field::display::<&CorrelationId>(&operation.correlation_id)),
                errand = %step.errand,
                %fault,
                "an errand met a fault"
            )
        };
    }
    match step.errand {
        model::Errand::Evict { .. } | model::Errand::DeletePod { .. } => tell!(debug),
        _ => tell!(warn),
    }
}
