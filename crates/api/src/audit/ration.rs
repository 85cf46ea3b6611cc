//! How many lines there are for denials: so many for each caller and each address, and one a minute for what was left out.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use access::attempts::{Denied, Notices, network_of};
use model::{Span, Timestamp};
use tokio::time::Instant;
use tracing::info;

/// How long after the first denial without a line it is told how many there were. By then those who were denied have lines again.
pub(super) const TELL_AFTER: Span = Span::minutes(1);

/// Callers and addresses, each with a reason, that are told apart in a minute. The others are told as one.
const TOLD_APART_MAX: usize = 100;

#[derive(Debug)]
pub(super) struct Ration {
    began_at: Instant,
    papers: Mutex<Papers>,
}

#[derive(Debug, Default)]
struct Papers {
    notices: Notices,
    left_out: BTreeMap<(Denied, &'static str), u64>,
    /// Of those who are not told apart.
    of_others: u64,
}

impl Default for Ration {
    fn default() -> Self {
        Ration { began_at: Instant::now(), papers: Mutex::default() }
    }
}

impl Ration {
    fn papers(&self) -> MutexGuard<'_, Papers> {
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is a line left; if not, it is counted, and told later.
    pub fn take(self: &Arc<Self>, denied: Denied, reason: &'static str) -> bool {
        let since = i64::try_from(self.began_at.elapsed().as_millis()).unwrap_or(i64::MAX);
        let mut papers = self.papers();
        if papers.notices.take(denied, Timestamp::from_millis(since)) {
            return true;
        }
        let is_first = papers.left_out.is_empty();
        papers.leave_out(denied, reason);
        drop(papers);
        if is_first {
            let ration = Arc::clone(self);
            tokio::spawn(async move {
                tokio::time::sleep(TELL_AFTER.to_std()).await;
                ration.tell();
            });
        }
        false
    }

    /// Tells what was left out, which is then told.
    fn tell(&self) {
        let (left_out, of_others) = self.papers().hand_over();
        for ((denied, reason), denials) in left_out {
            let (principal, from) = match denied {
                Denied::Caller(principal) => (Some(principal.to_string()), None),
                Denied::Address(address) => (None, Some(address.to_string())),
            };
            info!(target: "audit", reason, principal, from, denials, "more requests were denied, without a line for each");
        }
        if of_others > 0 {
            info!(target: "audit", denials = of_others, "more requests of many others were denied, without a line for each");
        }
    }
}

impl Papers {
    fn leave_out(&mut self, denied: Denied, reason: &'static str) {
        let denied = match denied {
            Denied::Address(address) => Denied::Address(network_of(address)),
            Denied::Caller(_) => denied,
        };
        let has_room = self.left_out.len() < TOLD_APART_MAX;
        match self.left_out.entry((denied, reason)) {
            Entry::Occupied(mut known) => *known.get_mut() += 1,
            Entry::Vacant(place) if has_room => {
                place.insert(1);
            }
            Entry::Vacant(_) => self.of_others += 1,
        }
    }

    fn hand_over(&mut self) -> (BTreeMap<(Denied, &'static str), u64>, u64) {
        (std::mem::take(&mut self.left_out), std::mem::take(&mut self.of_others))
    }
}
