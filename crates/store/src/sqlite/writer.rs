//! The one thread that writes.
//!
//! It takes everything that waits, decides each job on a draft of the ledger, writes the rows of all in one
//! transaction, syncs once, publishes the draft and answers. Nothing is visible before it is durable, and nobody
//! gets an answer that a failing sync could turn into a lie: refusals wait for the sync too, because they may
//! rest on a commit of the same batch.

use std::sync::Arc;
use std::time::{Duration, Instant};

use model::{Clock, Timestamp};
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::errors::Place;
use super::{records, rows};
use crate::ledger::{Accepted, Ledger, Tenure};
use crate::published::Published;
use crate::{Lease, Retention, StoreError};

/// The most jobs that share a transaction, so that the first of them does not wait for ever longer batches.
const LARGEST_BATCH: usize = 256;

/// How far apart batches begin while several callers commit at a time, unless as many as the last time have come sooner. A transaction and
/// its sync cost about the same for one commit as for ten, so those of a crowd wait for each other a little, and share them.
const BATCHES_APART: Duration = Duration::from_millis(5);

/// For how long a batch of several commits counts as a crowd. Whoever commits alone, one after the other, waits for nobody after that.
const CROWD_LASTS: Duration = Duration::from_millis(50);

/// After how long it is looked for the first time whether all have come; each time after that takes twice as long.
const FIRST_NAP: Duration = Duration::from_micros(100);

/// How many of the newest changes stay in memory for watchers; a few megabytes at a few kilobytes each.
const HELD_CHANGES: u64 = 1_024;

/// How many stay while a watcher has not heard of them: some ten seconds of a fleet that is installed all at once. A watcher that is
/// behind by more reads the log in the file, with everything in it that is not for it.
const AWAITED_CHANGES: u64 = 16 * HELD_CHANGES;

/// What an accepted job adds to the file.
#[derive(Debug)]
pub(super) enum Rows {
    Nothing,
    Commit(Accepted),
    Lease { name: String, tenure: Tenure },
}

impl Rows {
    pub fn granted(lease: &Lease) -> Self {
        let tenure = Tenure { holder: Some(lease.holder.clone()), epoch: lease.epoch, expires_at: lease.expires_at };
        Rows::Lease { name: lease.name.clone(), tenure }
    }

    /// Does to a ledger what was decided on another draft of it.
    fn repeat_on(&self, draft: &mut Ledger) {
        match self {
            Rows::Nothing => {}
            Rows::Commit(accepted) => draft.repeat(accepted),
            Rows::Lease { name, tenure } => draft.repeat_tenure(name, tenure.clone()),
        }
    }
}

/// Something that one caller waits for.
pub(super) trait Job: Send {
    /// Decides on the draft, and remembers the answer.
    fn decide(&mut self, draft: &mut Ledger, now: Timestamp) -> Rows;

    /// Answers the caller: with the decision if it was written, otherwise with the fault.
    fn finish(self: Box<Self>, written: Result<(), StoreError>);
}

pub(super) struct Pending<T, D> {
    decide: Option<D>,
    answer: Result<T, StoreError>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, D> Pending<T, D> {
    pub fn new(decide: D, reply: oneshot::Sender<Result<T, StoreError>>) -> Self {
        Pending { decide: Some(decide), answer: Err(StoreError::Closed), reply }
    }
}

impl<T: Send, D> Job for Pending<T, D>
where
    D: FnOnce(&mut Ledger, Timestamp) -> Result<(T, Rows), StoreError> + Send,
{
    fn decide(&mut self, draft: &mut Ledger, now: Timestamp) -> Rows {
        match self.decide.take().map(|decide| decide(draft, now)) {
            Some(Ok((answer, rows))) => {
                self.answer = Ok(answer);
                rows
            }
            Some(Err(refusal)) => {
                self.answer = Err(refusal);
                Rows::Nothing
            }
            None => Rows::Nothing,
        }
    }

    fn finish(self: Box<Self>, written: Result<(), StoreError>) {
        // A caller that no longer waits is no fault.
        drop(self.reply.send(written.and(self.answer)));
    }
}

pub(super) struct Writer {
    pub connection: Connection,
    pub place: Place,
    pub ledger: Ledger,
    pub published: Arc<Published>,
    pub clock: Arc<dyn Clock>,
    pub retention: Retention,
}

/// When batches began, and whether several callers commit at a time.
#[derive(Default)]
struct Pace {
    began_at: Option<Instant>,
    /// Until when several callers are expected, and how many.
    crowd: Option<(Instant, usize)>,
}

impl Pace {
    /// How long a batch of so many commits waits for more.
    fn pause(&self, commits: usize, now: Instant) -> Duration {
        let is_awaited = self.crowd.is_some_and(|(until, expected)| now < until && commits < expected);
        let free_at = self.began_at.filter(|_| is_awaited).map(|began| began + BATCHES_APART);
        free_at.map_or(Duration::ZERO, |at| at.saturating_duration_since(now))
    }

    /// Waits for those who are expected, after the first has come.
    fn await_crowd(&self, waiting: &mpsc::Receiver<Box<dyn Job>>) {
        let mut nap = FIRST_NAP;
        loop {
            let pause = self.pause(1 + waiting.len(), Instant::now());
            if pause.is_zero() {
                return;
            }
            std::thread::sleep(pause.min(nap));
            nap *= 2;
        }
    }

    fn begin(&mut self, commits: usize, now: Instant) {
        self.began_at = Some(now);
        if commits > 1 {
            self.crowd = Some((now + CROWD_LASTS, commits));
        }
    }
}

impl Writer {
    /// Works until nobody can send jobs any more, then folds the write-ahead log into the file.
    pub fn run(mut self, mut waiting: mpsc::Receiver<Box<dyn Job>>) {
        // Also when this thread panics: readers and watchers then learn that the store is closed.
        let _closed = CloseOnDrop(Arc::clone(&self.published));
        let mut pace = Pace::default();
        while let Some(first) = waiting.blocking_recv() {
            pace.await_crowd(&waiting);
            let mut batch = vec![first];
            while batch.len() < LARGEST_BATCH
                && let Ok(job) = waiting.try_recv()
            {
                batch.push(job);
            }
            pace.begin(batch.len(), Instant::now());
            self.run_batch(batch);
        }
        if let Err(error) = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())) {
            tracing::warn!(%error, path = %self.place, "the write-ahead log stays until the store is opened again");
        }
    }

    fn run_batch(&mut self, mut batch: Vec<Box<dyn Job>>) {
        match self.write_batch(&mut batch) {
            Ok((ledger, outcomes)) => {
                self.ledger = ledger.clone();
                self.published.publish(ledger);
                for (job, written) in batch.into_iter().zip(outcomes) {
                    job.finish(written);
                }
            }
            Err(error) => {
                tracing::error!(%error, path = %self.place, commits = batch.len(), "nothing of these commits was written");
                let error = Arc::new(error);
                for job in batch {
                    job.finish(Err(self.place.shared_fault(&error)));
                }
            }
        }
    }

    /// Writes what the jobs decide, in one transaction: the ledger that is now durable, and each job's own outcome.
    /// After an error nothing is written.
    fn write_batch(&mut self, batch: &mut [Box<dyn Job>]) -> rusqlite::Result<(Ledger, Vec<Result<(), StoreError>>)> {
        let now = self.clock.now();
        let mut draft = self.ledger.clone();
        let mut outcomes = Vec::with_capacity(batch.len());
        let mut transaction = begin(&mut self.connection)?;
        let mut saved = Vec::with_capacity(batch.len());
        for job in batch {
            let rows = job.decide(&mut draft, now);
            match save_rows(&transaction, &rows) {
                Err(error) if is_about_the_rows(&error) => {
                    outcomes.push(Err(self.place.fault(error)));
                    // A part of them may be written: all that is goes, and what was saved before them is saved again. It is so rare
                    // that every other batch need not pay for a way back.
                    transaction.rollback()?;
                    transaction = begin(&mut self.connection)?;
                    draft = self.ledger.clone();
                    for rows in &saved {
                        save_rows(&transaction, rows)?;
                        rows.repeat_on(&mut draft);
                    }
                }
                outcome => {
                    outcome?;
                    outcomes.push(Ok(()));
                    saved.push(rows);
                }
            }
        }
        if draft.revision() > self.ledger.revision() {
            draft.trim(self.retention, now);
            draft.shelve(HELD_CHANGES, AWAITED_CHANGES, self.published.heard_by_all());
            if draft.compacted() > self.ledger.compacted() {
                rows::remove_changes_through(&transaction, draft.compacted())?;
            }
            let added = draft.record_count() - self.ledger.record_count();
            let removed = records::trim(&transaction, draft.record_count(), added, self.retention, now)?;
            draft.forget_records(removed);
            rows::save_state(&transaction, &draft)?;
        }
        transaction.commit()?;
        Ok((draft, outcomes))
    }
}

fn begin(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// Writes one job's rows. After an error a part of them may be written.
fn save_rows(transaction: &Transaction<'_>, rows: &Rows) -> rusqlite::Result<()> {
    match rows {
        Rows::Nothing => Ok(()),
        Rows::Commit(accepted) if accepted.is_empty() => Ok(()),
        Rows::Commit(accepted) => rows::save_commit(transaction, accepted),
        Rows::Lease { name, tenure } => rows::save_lease(transaction, name, tenure),
    }
}

/// Whether SQLite refuses these very rows, e.g. a document of more than a gigabyte. Any other error is about the
/// disk or the file, and the whole batch shares it.
fn is_about_the_rows(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::TooBig | ErrorCode::ConstraintViolation))
}

struct CloseOnDrop(Arc<Published>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests;
