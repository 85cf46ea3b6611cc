//! What a month of restarts leaves in the activity log.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{
    ACTIVITY_FORMAT, Action, Activity, ActivityError, ActivityKind, ActivityStatus, Clock, CorrelationId, Delivery, DeviceAsk, Fault,
    FaultClass, HoldChange, HoldOwner, OperationId, Part, Sent, Site, SiteMachine, Span, StepKind, Subject, Timestamp,
};
use store::{NewRecord, SystemClock};

pub const MONTH: Span = Span::hours(24 * 30);

/// A clock that begins in the past, and comes to the present with the last of its steps.
pub struct Past {
    begin: Timestamp,
    step: Span,
    steps: AtomicU64,
}

impl Past {
    pub fn over(span: Span, steps: usize) -> Past {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX).max(1);
        Past { begin: SystemClock.now() - span, step: Span::millis(span.as_millis() / steps), steps: AtomicU64::new(0) }
    }

    pub fn step(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }
}

impl Clock for Past {
    fn now(&self) -> Timestamp {
        self.begin + Span::millis(self.step.as_millis() * self.steps.load(Ordering::Relaxed))
    }
}

/// One restart of a machine, with all that the log says of it.
pub struct Restart {
    pub at: Timestamp,
    pub fails: bool,
    id: String,
    subject: Subject,
    machine: String,
}

impl Restart {
    /// What a restart leaves in the log.
    pub const ENTRIES: usize = 12;

    /// The machines take turns, and one restart in fifty fails.
    pub fn nth(nth: usize, sites: &[Site], at: Timestamp) -> Restart {
        let site = &sites[nth % sites.len()];
        let SiteMachine { name, .. } = &site.machines[nth / sites.len() % site.machines.len()];
        Restart {
            at,
            fails: nth % 50 == 7,
            id: format!("{nth:08x}-0000-4000-8000-000000000000"),
            subject: Subject::new(&site.home, &site.cluster, Part::Machine(name.clone())),
            machine: name.to_string(),
        }
    }

    pub fn correlation_id(&self) -> &str {
        &self.id
    }

    pub fn resource_id(&self) -> String {
        let Subject { subscription, resource_group, .. } = &self.subject;
        format!(
            "/subscriptions/{subscription}/resourceGroups/{resource_group}/providers/Microsoft.NetworkCloud/bareMetalMachines/{}",
            self.machine
        )
    }

    pub fn records(&self) -> io::Result<Vec<NewRecord>> {
        let record = |entry: Activity| Ok(NewRecord { labels: entry.labels(), value: serde_json::to_vec(&entry)?.into() });
        self.entries().into_iter().map(record).collect()
    }

    fn entries(&self) -> [Activity; Self::ENTRIES] {
        let sent = Sent { method: "POST".to_owned(), client_request_id: Some(self.id.clone()) };
        let owner = || HoldOwner::Operation { id: OperationId::new(self.id.as_str()) };
        let device = |ask| ActivityKind::Device { ask, attempt: 1 };
        let step = |step| ActivityKind::Step { action: Action::Restart, step };
        let (started, succeeded) = (ActivityStatus::Started, ActivityStatus::Succeeded);
        let mut entries = [
            (ActivityKind::request("restart", Some(&sent)), ActivityStatus::Accepted),
            (ActivityKind::Hold { owner: owner(), change: HoldChange::Placed }, succeeded),
            (device(DeviceAsk::Cordon), started),
            (step(StepKind::Cordon), succeeded),
            (device(DeviceAsk::GracefulOff), started),
            (step(StepKind::PowerOff), succeeded),
            (device(DeviceAsk::PowerOn), started),
            (step(StepKind::PowerOn), succeeded),
            (step(StepKind::Rejoin), succeeded),
            (ActivityKind::Hold { owner: owner(), change: HoldChange::Released }, succeeded),
            (device(DeviceAsk::Uncordon), started),
            (ActivityKind::Operation { action: Action::Restart }, succeeded),
        ]
        .map(|(what, status)| self.entry(what, status));
        if self.fails {
            let fault = Fault::new(FaultClass::Unreachable, Delivery::No, "connection refused");
            entries[6].status = ActivityStatus::Failed;
            entries[6].error = Some(ActivityError::Faulted { fault });
        }
        entries
    }

    fn entry(&self, what: ActivityKind, status: ActivityStatus) -> Activity {
        Activity {
            format: ACTIVITY_FORMAT,
            what,
            subject: self.subject.clone(),
            operation: Some(OperationId::new(self.id.as_str())),
            correlation_id: CorrelationId::new(self.id.as_str()),
            caller: "alice@example.com".to_owned(),
            status,
            message: format!("the restart of {} went on as it does every night", self.machine),
            error: None,
        }
    }
}
