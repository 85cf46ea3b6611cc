//! The figures of the documents, measured: `cargo run --release -p bench [--small] [NAME …]`.
//!
//! A figure is what one run on this machine gave, with its target beside it. Nothing here passes or fails.

mod acting;
mod changes;
mod client;
mod events;
mod figure;
mod fleet;
mod log;
mod machine;
mod memory;
mod page;
mod pair;
mod picture;
mod plane;
mod planning;
mod power;
mod process;
mod reads;
mod restarts;
mod starting;
mod stats;
mod storing;
mod table;
mod watching;

use std::io;
use std::process::ExitCode;

use figure::{Bench, Size};

const BENCHES: &[Bench] = &[
    watching::BENCH,
    restarts::BENCH,
    power::BENCH,
    planning::BENCH,
    storing::BENCH,
    starting::BENCH,
    memory::GROWTH,
    memory::CHURN,
    reads::BENCH,
    log::BENCH,
    events::BENCH,
];

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if let (Some(first), Some(directory)) = (arguments.next(), arguments.next())
        && first == plane::ARGUMENT
    {
        let served = plane::serve(directory.as_ref());
        return served.map_or_else(|error| complain(&format!("the measured process: {error}")), |()| ExitCode::SUCCESS);
    }
    let (flags, wanted): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|argument| argument.starts_with('-'));
    let size = match flags.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Size::Full,
        ["--small"] => Size::Small,
        _ => return complain("the only option is `--small`, which tries the benchmarks and writes nothing"),
    };
    if let Some(unknown) = wanted.iter().find(|name| !BENCHES.iter().any(|bench| bench.name == name.as_str())) {
        let known: Vec<&str> = BENCHES.iter().map(|bench| bench.name).collect();
        return complain(&format!("there is no benchmark `{unknown}`; there are: {}", known.join(", ")));
    }
    for bench in BENCHES.iter().filter(|bench| wanted.is_empty() || wanted.iter().any(|name| name == bench.name)) {
        table::say(&format!("{}: {} …", bench.name, bench.what));
        if let Err(error) = run(bench, size) {
            return complain(&format!("{}: {error}", bench.name));
        }
    }
    ExitCode::SUCCESS
}

/// Measures, prints the table, and writes the page of the documents if the figures mean something.
fn run(bench: &Bench, size: Size) -> io::Result<()> {
    let report = (bench.measure)(size)?;
    table::print(&report.figures);
    match size {
        Size::Full if !cfg!(debug_assertions) => page::write(bench.name, &report),
        Size::Full | Size::Small => Ok(()),
    }
}

fn complain(problem: &str) -> ExitCode {
    table::say(&format!("error: {problem}"));
    ExitCode::FAILURE
}
