//! How fast a core is while something else is measured on it.
//!
//! A core of a shared computer is as fast as its other guests let it be, now and in five minutes, and no clock of ours tells: the same
//! reimages cost 12.9 and 17.1 ms within ten minutes. So a fixed piece of work is done beside what is measured, on the same core, and what
//! that took says how much of a difference is the computer's.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::cores;

/// How often it is held beside: a hundredth of the core is its own.
const EVERY: Duration = Duration::from_millis(100);

/// Of so many pieces in a row the quickest counts: those before it had to fetch from memory what was pushed out of the caches, and that is
/// the cost of whoever pushed.
const IN_A_ROW: usize = 4;

/// What goes into the map of one piece, which stays within the smaller caches of a core.
const KEYS: u64 = 1_500;

/// Held beside from its beginning until it is read.
pub struct Yardstick {
    is_over: Arc<AtomicBool>,
    holder: JoinHandle<io::Result<Duration>>,
}

impl Yardstick {
    /// Begins on these cores; on any, if none are told.
    pub fn begin(cores: Option<&str>) -> Yardstick {
        let (is_over, cores) = (Arc::new(AtomicBool::new(false)), cores.map(str::to_owned));
        let holder = std::thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || hold(&is_over, cores.as_deref())
        });
        Yardstick { is_over, holder }
    }

    /// What a piece of work has taken on average.
    pub fn read(self) -> io::Result<Duration> {
        self.is_over.store(true, Ordering::Relaxed);
        self.holder.join().map_err(|_| io::Error::other("the yardstick broke"))?
    }
}

fn hold(is_over: &AtomicBool, cores: Option<&str>) -> io::Result<Duration> {
    if let Some(cores) = cores {
        cores::keep_this_thread_to(cores)?;
    }
    let (mut sum, mut count) = (Duration::ZERO, 0);
    loop {
        sum += (0..IN_A_ROW).map(|_| timed(KEYS)).min().unwrap_or_default();
        count += 1;
        if is_over.load(Ordering::Relaxed) {
            return Ok(sum / count);
        }
        std::thread::sleep(EVERY);
    }
}

fn timed(keys: u64) -> Duration {
    let began = spent();
    black_box(piece(black_box(keys)));
    spent().saturating_sub(began)
}

/// The processor time of this thread: while others have the core, it stands still.
fn spent() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Comparisons, jumps, allocations and copies, as in what is measured.
fn piece(keys: u64) -> u64 {
    let mut map = BTreeMap::new();
    let mut key = 1_u64;
    for number in 0..keys {
        // Knuth's multiplier: the next of keys in no order.
        key = key.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        map.insert(key, number);
    }
    map.range(key..).map(|(_, number)| *number).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_of_work_takes_the_time_of_its_thread_and_more_work_takes_longer() {
        let took = |keys| (0..20).map(|_| timed(keys)).min().unwrap_or_default();
        assert!(Duration::ZERO < took(100) && took(100) < took(10_000));
        assert!(Yardstick::begin(None).read().unwrap() > Duration::ZERO);
    }
}
