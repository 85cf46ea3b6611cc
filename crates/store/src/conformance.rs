//! What every store must do, as checks that any implementation can run.
//!
//! `conformance_tests!(make)` turns each check into a test of its own; `make` builds an empty store on the clock and
//! the retention that it is given. The clock is moved by hand, so no check sleeps.

pub mod commits;
pub mod copies;
pub mod leases;
pub mod records;
pub mod watches;

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use model::{Clock, Span, Timestamp};

use crate::{Change, Commit, Retention, Revision, SharedStore, StoreError, Watch};

/// Small enough that a check can overrun it, large enough for every other check.
const RETENTION: Retention = Retention { changes: 200, age: Span::hours(1), records: 40, record_age: Span::hours(48) };

/// Nothing in the suite takes this long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    pub fn at(start: Timestamp) -> Self {
        ManualClock(AtomicI64::new(start.as_millis()))
    }

    pub fn advance(&self, by: Span) {
        let to = self.now() + by;
        self.0.store(to.as_millis(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// A store to be checked, with whatever must live as long as the store does, e.g. its directory.
pub struct Subject {
    pub store: SharedStore,
    pub keep: Box<dyn Any>,
}

/// One empty store and its clock, for one check.
pub struct Bench {
    pub store: SharedStore,
    pub clock: Arc<ManualClock>,
    keep: Box<dyn Any>,
}

impl Bench {
    pub async fn with(make: impl AsyncFnOnce(Arc<dyn Clock>, Retention) -> Subject) -> Bench {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_794_744_000_000)));
        let subject = make(Arc::clone(&clock) as Arc<dyn Clock>, RETENTION).await;
        Bench { store: subject.store, clock, keep: subject.keep }
    }

    async fn put(&self, key: &str, value: &str) -> Revision {
        self.store.commit(Commit::default().put(key, value.to_owned())).await.expect("an unconditional write")
    }

    async fn value(&self, key: &str) -> Option<String> {
        let document = self.store.get(key).await.expect("a read")?;
        Some(String::from_utf8(document.value.to_vec()).expect("text"))
    }

    async fn revision(&self) -> Revision {
        self.store.list("").await.expect("a listing").revision
    }

    async fn watch(&self, prefix: &str, from: Revision) -> Box<dyn Watch> {
        self.store.watch(prefix, from).await.expect("a watch")
    }

    /// Overruns the retention.
    async fn put_too_many(&self) {
        for n in 0..=RETENTION.changes {
            self.put("busy", &n.to_string()).await;
            // Gives concurrent watchers their turn even where a commit never waits.
            tokio::task::yield_now().await;
        }
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").finish_non_exhaustive()
    }
}

impl fmt::Debug for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bench").field("clock", &self.clock).finish_non_exhaustive()
    }
}

async fn next(watch: &mut Box<dyn Watch>) -> Result<Vec<Change>, StoreError> {
    tokio::time::timeout(PATIENCE, watch.next()).await.expect("the watch hangs")
}

/// The next commit as `key=value` pairs, `key-` for a deletion.
async fn next_seen(watch: &mut Box<dyn Watch>) -> String {
    shown(&next(watch).await.expect("the watch goes on"))
}

fn shown(changes: &[Change]) -> String {
    let show = |change: &Change| match &change.value {
        Some(value) => format!("{}={}", change.key, String::from_utf8_lossy(value)),
        None => format!("{}-", change.key),
    };
    changes.iter().map(show).collect::<Vec<_>>().join(" ")
}

/// One test for each check, on the stores that `make` builds. The crate that calls it needs tokio with `macros`.
#[macro_export]
macro_rules! conformance_tests {
    ($make:path) => {
        $crate::conformance_tests! { $make:
            commits {
                a_commit_writes_all_its_documents_at_one_revision
                a_refused_commit_writes_nothing
                absent_is_refused_once_the_document_exists
                at_is_refused_after_another_write
                a_deleted_document_counts_as_absent
                deleting_what_does_not_exist_is_no_write
                a_commit_without_writes_only_checks
                a_listing_is_in_key_order_and_keeps_to_its_prefix
                revisions_only_grow
                any_bytes_come_back
                sixty_four_writers_count_to_sixty_four
                history_is_oldest_first_and_keeps_the_newest
                history_has_deletions_and_instants
                history_keeps_to_its_prefix_and_retention
            }
            watches {
                a_watch_from_the_beginning_sees_everything
                a_watch_from_now_sees_only_what_follows
                a_watch_from_a_past_revision_sees_the_past_and_goes_on
                the_changes_of_one_commit_arrive_together
                a_watch_keeps_to_its_prefix
                a_waiting_watch_is_woken_by_a_commit
                giving_up_waiting_loses_nothing
                a_watch_from_before_the_kept_changes_is_refused
                a_watch_that_fell_behind_is_told_so
                a_waiting_watch_of_a_quiet_prefix_does_not_fall_behind
                changes_are_forgotten_by_age
                a_watch_ends_when_the_store_is_closed
            }
            leases {
                a_free_lease_is_granted
                a_held_lease_is_refused_to_others
                the_holder_may_acquire_again_and_keeps_its_epoch
                a_lease_that_ran_out_goes_to_another_with_the_next_epoch
                a_holder_that_let_its_lease_run_out_gets_the_next_epoch
                renewing_prolongs_a_lease
                renewing_a_lease_that_ran_out_is_refused
                renewing_a_lease_that_was_taken_over_is_refused
                a_released_lease_is_free_at_once_with_the_next_epoch
                releasing_a_lost_lease_does_not_disturb_its_holder
                leases_do_not_touch_each_other_nor_the_revision
                only_one_of_many_contenders_gets_the_lease
                a_fenced_commit_passes_while_the_lease_is_held
                a_fenced_commit_passes_after_expiry_until_somebody_takes_over
                a_fenced_commit_is_refused_after_a_takeover
                a_fenced_commit_is_refused_after_release_and_for_an_unknown_lease
            }
            records {
                records_come_with_their_commit_in_its_order_and_at_its_time
                a_refused_commit_leaves_no_record
                records_alone_make_a_revision_and_disturb_no_watch
                records_are_found_by_any_of_their_labels
                both_ends_of_a_time_range_count
                pages_by_place_hold_each_record_once_in_either_order
                of_too_many_records_the_oldest_are_forgotten
                records_outlive_the_changes_of_their_commits_and_are_forgotten_by_age
                commits_without_changes_are_not_kept_for_ever
            }
            copies {
                a_copy_is_of_one_revision_and_what_follows_is_not_in_it
                one_copy_is_read_at_a_time
            }
        }
    };
    ($make:path: $($module:ident { $($check:ident)* })*) => {
        $($(
            #[tokio::test]
            async fn $check() {
                $crate::conformance::$module::$check($crate::conformance::Bench::with($make).await).await;
            }
        )*)*
    };
}
