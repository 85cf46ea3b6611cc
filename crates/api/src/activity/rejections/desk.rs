//! How refusals get into the log: a queue, a budget, and one writer at a time, which puts what waits into one commit.
//!
//! Refusals cost their senders nothing, so that a mad script could push everything else out of the log. What is over the
//! budget is counted, and one entry a minute and cluster tells how many there were: nothing vanishes silently.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::{ACTIVITY_FORMAT, Activity, ActivityKind, ActivityStatus, Clock, ClusterName, CorrelationId, OURSELVES, Subject, Timestamp};
use store::{Commit, NewRecord, SharedStore, StoreError};
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::warn;

use crate::{Api, Process};

/// Refusals without a verdict that get an entry each, if they come at once. They are also all that may wait for the store.
pub const REJECTIONS_BURST: usize = 600;

/// How many more of them get one with every minute. At this pace the log reaches back for two weeks.
pub const REJECTIONS_PER_MINUTE: usize = 10;

/// Refusals that are put into one commit: what keepers commit never waits long behind one.
const BATCH_MAX: usize = 100;

/// How often an entry tells what had none of its own.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// The same while the process stops, so that a flood that goes on does not become one of commits.
const TELL_EVERY_AT_STOP: Duration = Duration::from_secs(1);

/// A refusal on its way.
#[derive(Debug)]
pub(super) struct Waiting {
    pub cluster: Subject,
    pub code: &'static str,
    pub record: NewRecord,
}

#[derive(Debug, Default)]
pub(super) struct Desk {
    papers: Mutex<Papers>,
    /// Rung when something has come that can be written at once.
    bell: Notify,
    dropped: AtomicU64,
}

#[derive(Debug, Default)]
struct Papers {
    waiting: VecDeque<Waiting>,
    budget: Budget,
    untold: BTreeMap<ClusterName, Untold>,
    /// Since when there is something untold.
    untold_since: Option<Instant>,
    told_at: Option<Instant>,
    /// Whether somebody is at work on all this.
    has_writer: bool,
}

/// What of one cluster has no entry of its own.
#[derive(Clone, Debug)]
struct Untold {
    cluster: Subject,
    by_code: BTreeMap<String, u64>,
}

/// How many refusals may get an entry each; it fills up with every minute.
#[derive(Debug, Default)]
struct Budget {
    used: usize,
    filled_at: Option<Instant>,
}

impl Budget {
    fn take(&mut self, now: Instant) -> bool {
        let filled_at = *self.filled_at.get_or_insert(now);
        let minutes = u32::try_from(now.duration_since(filled_at).as_secs() / 60).unwrap_or(u32::MAX);
        if minutes > 0 {
            self.used = self.used.saturating_sub(REJECTIONS_PER_MINUTE.saturating_mul(minutes as usize));
            self.filled_at = Some(filled_at + Duration::from_secs(60) * minutes);
        }
        let has_room = self.used < REJECTIONS_BURST;
        self.used += usize::from(has_room);
        has_room
    }
}

/// What the writer has to do next.
enum Next {
    Write(Vec<Waiting>),
    Tell(Vec<Untold>),
    Wait(Instant),
    Nothing,
}

impl Papers {
    fn leave_untold(&mut self, cluster: Subject, code: &str, now: Instant) {
        let untold = self.untold.entry(cluster.cluster.clone()).or_insert_with(|| Untold { cluster, by_code: BTreeMap::new() });
        *untold.by_code.entry(code.to_owned()).or_default() += 1;
        self.untold_since.get_or_insert(now);
    }

    fn tell_at(&self, is_stopping: bool) -> Option<Instant> {
        let since = self.untold_since?;
        Some(if is_stopping { self.told_at.map_or(since, |told_at| told_at + TELL_EVERY_AT_STOP) } else { since + TELL_EVERY })
    }

    fn next(&mut self, now: Instant, is_stopping: bool) -> Next {
        if !self.waiting.is_empty() {
            let batch = self.waiting.len().min(BATCH_MAX);
            return Next::Write(self.waiting.drain(..batch).collect());
        }
        match self.tell_at(is_stopping) {
            None => {
                self.has_writer = false;
                Next::Nothing
            }
            Some(at) if now < at => Next::Wait(at),
            Some(_) => {
                (self.untold_since, self.told_at) = (None, Some(now));
                Next::Tell(std::mem::take(&mut self.untold).into_values().collect())
            }
        }
    }
}

impl Desk {
    fn papers(&self) -> MutexGuard<'_, Papers> {
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        !self.papers().has_writer
    }

    pub fn take_in(self: &Arc<Self>, api: &Api, refusal: Waiting) {
        let now = Instant::now();
        let mut papers = self.papers();
        if papers.waiting.len() < REJECTIONS_BURST && papers.budget.take(now) {
            papers.waiting.push_back(refusal);
            self.bell.notify_one();
        } else {
            papers.leave_untold(refusal.cluster, refusal.code, now);
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        if !std::mem::replace(&mut papers.has_writer, true) {
            let writer =
                Writer { desk: Arc::clone(self), store: api.store.clone(), clock: api.clock.clone(), process: api.process.clone() };
            tokio::spawn(writer.run());
        }
    }
}

/// Works until nothing is left to be written.
struct Writer {
    desk: Arc<Desk>,
    store: SharedStore,
    clock: Arc<dyn Clock>,
    process: Process,
}

impl Writer {
    async fn run(self) {
        loop {
            let next = self.desk.papers().next(Instant::now(), self.process.stopping.is_cancelled());
            match next {
                Next::Write(batch) => self.write(batch).await,
                Next::Tell(untold) => self.tell(untold).await,
                Next::Wait(at) => self.wait(at).await,
                Next::Nothing => return,
            }
        }
    }

    async fn wait(&self, at: Instant) {
        let stopping = async {
            if self.process.stopping.is_cancelled() {
                std::future::pending::<()>().await;
            }
            self.process.stopping.cancelled().await;
        };
        tokio::select! {
            () = tokio::time::sleep_until(at) => {}
            () = self.desk.bell.notified() => {}
            () = stopping => {}
        }
    }

    async fn write(&self, batch: Vec<Waiting>) {
        let records = batch.iter().map(|waiting| waiting.record.clone()).collect();
        let Err(problem) = self.commit(records).await else { return };
        warn!(error = %problem, refusals = batch.len(), "refusals could not be written to the activity log");
        self.desk.dropped.fetch_add(batch.len() as u64, Ordering::Relaxed);
        let mut papers = self.desk.papers();
        for waiting in batch {
            papers.leave_untold(waiting.cluster, waiting.code, Instant::now());
        }
    }

    async fn tell(&self, untold: Vec<Untold>) {
        let now = self.clock.now();
        let Err(problem) = self.commit(untold.iter().map(|untold| untold.record(now)).collect()).await else { return };
        warn!(error = %problem, "it could not be written to the activity log that requests were refused");
        let mut papers = self.desk.papers();
        papers.untold_since.get_or_insert(Instant::now());
        for Untold { cluster, by_code } in untold {
            let kept = papers.untold.entry(cluster.cluster.clone()).or_insert_with(|| Untold { cluster, by_code: BTreeMap::new() });
            for (code, count) in by_code {
                *kept.by_code.entry(code).or_default() += count;
            }
        }
    }

    async fn commit(&self, records: Vec<NewRecord>) -> Result<(), StoreError> {
        // A stop waits for it as for an answer.
        let _answering = self.process.answering.token();
        self.store.commit(Commit { records, ..Commit::default() }).await.map(|_| ())
    }
}

impl Untold {
    fn record(&self, now: Timestamp) -> NewRecord {
        let counts: Vec<String> = self.by_code.iter().map(|(code, count)| format!("{count} with {code}")).collect();
        let total: u64 = self.by_code.values().sum();
        let (requests, were) = if total == 1 { ("request", "was") } else { ("requests", "were") };
        let entry = Activity {
            format: ACTIVITY_FORMAT,
            what: ActivityKind::Refusals { by_code: self.by_code.clone() },
            subject: self.cluster.clone(),
            operation: None,
            correlation_id: CorrelationId::new(format!("{}-{}", self.cluster.cluster.key(), now.as_millis())),
            caller: OURSELVES.to_owned(),
            status: ActivityStatus::Failed,
            message: format!("{total} more {requests} {were} refused without a verdict: {}", counts.join(", ")),
            error: None,
        };
        super::print(&entry)
    }
}

#[cfg(test)]
mod tests;
