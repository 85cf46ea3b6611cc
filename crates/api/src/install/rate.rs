//! How fast images are sent: to each machine, and to all of them together. A rack that is installed at once must leave room for those
//! who ask for something else, and its machines should come to their end together.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use model::{Attempt, OperationId};
use tokio::time::{Instant, sleep_until};

/// How much of the time in which nothing was sent is made up for at once.
const MADE_UP_FOR: Duration = Duration::from_millis(100);

/// Bytes a second; what is not said is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// To one machine, over all its connections.
    pub each: Option<NonZeroU64>,
    /// To all of them.
    pub total: Option<NonZeroU64>,
}

/// The rates, and what has been sent lately.
#[derive(Debug, Default)]
pub(super) struct Pacing {
    rates: Rates,
    total: Mutex<Bucket>,
    machines: Mutex<BTreeMap<(OperationId, u32), Weak<Turn>>>,
}

/// A machine's part. Of all its connections one waits at a time, so that one that opens many gets no more than the others.
#[derive(Debug, Default)]
struct Turn(tokio::sync::Mutex<Bucket>);

/// When all that was sent is paid for.
#[derive(Debug)]
struct Bucket {
    paid_at: Instant,
}

impl Default for Bucket {
    fn default() -> Bucket {
        Bucket { paid_at: Instant::now() }
    }
}

impl Bucket {
    /// Counts bytes; they may be sent at the time that is returned.
    fn take(&mut self, bytes: u64, rate: NonZeroU64, now: Instant) -> Instant {
        let may_at = self.paid_at.max(now.checked_sub(MADE_UP_FOR).unwrap_or(now));
        self.paid_at = may_at + Duration::from_secs_f64(bytes as f64 / rate.get() as f64);
        may_at
    }
}

impl Pacing {
    pub fn new(rates: Rates) -> Pacing {
        Pacing { rates, ..Pacing::default() }
    }

    /// What a connection of an attempt's machine waits at before it is sent anything.
    pub fn of(self: &Arc<Self>, attempt: &Attempt) -> Passage {
        let mut machines = self.machines.lock().unwrap_or_else(PoisonError::into_inner);
        machines.retain(|_, turn| turn.strong_count() > 0);
        let place = machines.entry((attempt.operation.clone(), attempt.round)).or_default();
        let turn = place.upgrade().unwrap_or_default();
        *place = Arc::downgrade(&turn);
        Passage { pacing: Arc::clone(self), turn }
    }
}

/// One connection's way through the rates.
#[derive(Debug)]
pub(super) struct Passage {
    pacing: Arc<Pacing>,
    turn: Arc<Turn>,
}

impl Passage {
    /// Waits until so many bytes may be sent. Whoever waits longest comes first, machine by machine.
    pub async fn wait(&self, bytes: u64) {
        let Rates { each, total } = self.pacing.rates;
        if each.is_none() && total.is_none() {
            return;
        }
        let mut own = self.turn.0.lock().await;
        if let Some(rate) = each {
            sleep_until(own.take(bytes, rate, Instant::now())).await;
        }
        if let Some(rate) = total {
            let may_at = self.pacing.total.lock().unwrap_or_else(PoisonError::into_inner).take(bytes, rate, Instant::now());
            sleep_until(may_at).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;
    use model::{ClusterName, MachineName};

    use super::*;

    const PIECE: u64 = 100;

    fn rates(each: u64, total: u64) -> Arc<Pacing> {
        Arc::new(Pacing::new(Rates { each: NonZeroU64::new(each), total: NonZeroU64::new(total) }))
    }

    fn attempt(number: usize) -> Attempt {
        let (cluster, machine) = (ClusterName::new("site").unwrap(), MachineName::new(format!("m{number}")).unwrap());
        Attempt { cluster, machine, operation: OperationId::new(number.to_string()), round: 1 }
    }

    /// How many bytes a connection is sent within a span.
    async fn sent(passage: &Passage, within: Duration) -> u64 {
        let end = Instant::now() + within;
        let mut bytes = 0;
        while tokio::time::timeout_at(end, passage.wait(PIECE)).await.is_ok() {
            bytes += PIECE;
        }
        bytes
    }

    async fn all_sent(passages: &[Passage], seconds: u64) -> Vec<u64> {
        join_all(passages.iter().map(|passage| sent(passage, Duration::from_secs(seconds)))).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_machine_gets_its_rate_over_all_its_connections() {
        let pacing = rates(1_000, 0);
        let connections: Vec<Passage> = (0..4).map(|_| pacing.of(&attempt(1))).collect();
        let sum: u64 = all_sent(&connections, 10).await.iter().sum();
        assert!((10_000..=10_300).contains(&sum), "{sum}");
        let alone = sent(&pacing.of(&attempt(2)), Duration::from_secs(10)).await;
        assert!((10_000..=10_300).contains(&alone), "another machine has a rate of its own: {alone}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_total_is_shared_by_machines_and_not_by_connections() {
        let pacing = rates(0, 10_000);
        let greedy = (0..16).map(|_| pacing.of(&attempt(1)));
        let connections: Vec<Passage> = greedy.chain((2..=4).map(|number| pacing.of(&attempt(number)))).collect();
        let sent = all_sent(&connections, 10).await;
        let machines: Vec<u64> = vec![sent[..16].iter().sum(), sent[16], sent[17], sent[18]];
        assert!((100_000..=101_500).contains(&machines.iter().sum::<u64>()), "{machines:?}");
        assert!(machines.iter().all(|bytes| (24_000..=26_000).contains(bytes)), "{machines:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_slow_machine_leaves_is_the_others() {
        let pacing = rates(4_000, 10_000);
        let connections: Vec<Passage> = (1..=2).map(|number| pacing.of(&attempt(number))).collect();
        let sent = all_sent(&connections, 10).await;
        assert!(sent.iter().all(|bytes| (40_000..=40_600).contains(bytes)), "both have their own rate: {sent:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn without_rates_nobody_waits_and_who_has_gone_is_forgotten() {
        let pacing = Arc::new(Pacing::default());
        let began = Instant::now();
        for number in 0..100 {
            pacing.of(&attempt(number)).wait(u64::MAX).await;
        }
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert_eq!(pacing.machines.lock().unwrap().len(), 1);
    }
}
