//! What each path allocated. Instructions are counted from outside, between the beginning and the end of one function.

use std::hint::black_box;
use std::io::{self, Write};

use alloc_tracker::Session;

/// Everything is done twice, and counted the second time: the first fills what is filled once in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    WarmUp,
    Counted,
}

impl Round {
    pub const BOTH: [Round; 2] = [Round::WarmUp, Round::Counted];

    /// A machine that the round is about. It is another one each time, because what was done to it is not undone.
    pub fn machine(self) -> &'static str {
        match self {
            Round::WarmUp => "rack5compute05",
            Round::Counted => "rack6compute06",
        }
    }

    /// The same, for what makes a machine busy.
    pub fn machine_to_restart(self) -> &'static str {
        match self {
            Round::WarmUp => "rack7compute07",
            Round::Counted => "rack8compute08",
        }
    }

    pub fn machine_to_reimage(self) -> &'static str {
        match self {
            Round::WarmUp => "rack9compute10",
            Round::Counted => "rack10compute11",
        }
    }
}

#[derive(Default)]
pub struct Tally {
    /// In the order in which the paths were counted, which is that of callgrind's dumps.
    lines: Vec<String>,
}

impl Tally {
    /// Does the work, and counts it if this is the round for it. What it gives back is dropped by whoever gets it, uncounted.
    pub fn count<T>(&mut self, round: Round, path: &str, work: impl FnOnce() -> T) -> T {
        if round == Round::WarmUp {
            return work();
        }
        let session = Session::new();
        let operation = session.operation(path);
        let (mut work, mut result) = (Some(work), None);
        {
            let _span = operation.measure_thread();
            counted_by_callgrind(&mut || result = work.take().map(|work| black_box(work())));
        }
        let report = session.to_report();
        let (_, counts) = report.operations().next().expect("one operation was measured");
        self.lines.push(format!("{path} {} {}\n", counts.total_allocations_count(), counts.total_bytes_allocated()));
        result.expect("the work was done just now")
    }

    /// A line for each path: its name, allocations, bytes.
    pub fn print(&self) -> io::Result<()> {
        io::stdout().lock().write_all(self.lines.concat().as_bytes())
    }
}

/// Callgrind counts while this runs, and writes down what it counted when it returns; it knows the function by its name.
#[inline(never)]
fn counted_by_callgrind(work: &mut dyn FnMut()) {
    work();
}
