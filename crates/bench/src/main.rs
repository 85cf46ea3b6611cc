//! The figures of the documents, measured: `cargo run --release -p bench -- [--small] [NAME …]`.
//!
//! A figure is what one run on this machine gave, with its target beside it. Nothing here passes or fails.

mod acting;
mod changes;
mod client;
mod cores;
mod door;
mod entry;
mod events;
mod figure;
mod house;
mod images;
mod log;
mod machine;
mod memory;
mod metal;
mod page;
mod pair;
mod picture;
mod plane;
mod planning;
mod power;
mod preview;
mod process;
mod reads;
mod reimages;
mod restarts;
mod starting;
mod stats;
mod storing;
mod table;
mod tally;
mod watching;
mod worlds;

use std::io;
use std::process::ExitCode;

use bench::fleet;
use figure::{Bench, Size};

/// The one that `rackwright` has, so that what is measured in this process costs what it does there.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const BENCHES: &[Bench] = &[
    reads::BENCH,
    entry::BENCH,
    log::BENCH,
    events::BENCH,
    restarts::BENCH,
    reimages::BENCH,
    images::BENCH,
    metal::BENCH,
    power::BENCH,
    planning::BENCH,
    preview::BENCH,
    storing::BENCH,
    starting::BENCH,
    memory::GROWTH,
    memory::CHURN,
    watching::BENCH,
];

const HELP: &str = "\
Measures, prints a table, and writes the figures into docs/performance.md.

Usage: cargo run --release -p bench -- [--small|--fleet=N] [NAME …]

  NAME …     only these benchmarks; all of them if none is named
  --small    tries the benchmarks on as little as goes through the whole of them, and writes nothing
  --fleet=N  reimages: only N machines, in clusters of 100, beside a fleet of 100; writes nothing, whatever is measured
  --list     tells the names of the benchmarks
  --help     tells this

A debug build measures, too, but writes nothing: its figures mean nothing.
";

const NO_SUCH_OPTION: &str = "there is no such option; `--help` tells which there are";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if let (Some(first), Some(directory)) = (arguments.next(), arguments.next())
        && first == plane::ARGUMENT
    {
        let served = plane::serve(directory.as_ref());
        return served.map_or_else(|error| complain(&format!("the measured process: {error}")), |()| ExitCode::SUCCESS);
    }
    if let Some(served) = images::serve_if_asked() {
        return served.map_or_else(|error| complain(&format!("the measured process: {error}")), |()| ExitCode::SUCCESS);
    }
    let (flags, wanted): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|argument| argument.starts_with('-'));
    let size = match flags.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Size::Full,
        ["--small"] => Size::Small,
        ["--list"] => return tell(&list()),
        ["--help" | "-h"] => return tell(&format!("{HELP}\nBenchmarks:\n{}", list())),
        [option] => match option.strip_prefix("--fleet=").map(str::parse) {
            Some(Ok(machines)) if machines > 0 => Size::Fleet(machines),
            Some(_) => return complain("`--fleet` is a number of machines, 100 for example"),
            None => return complain(NO_SUCH_OPTION),
        },
        _ => return complain(NO_SUCH_OPTION),
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
    table::put(&table::text(&report.figures));
    match size {
        Size::Full if !cfg!(debug_assertions) => page::write(bench.name, &report),
        Size::Full | Size::Fleet(_) | Size::Small => Ok(()),
    }
}

/// A line for each benchmark: its name, and what it measures.
fn list() -> String {
    BENCHES.iter().map(|bench| format!("  {:<10}  {}\n", bench.name, bench.what)).collect()
}

fn tell(text: &str) -> ExitCode {
    table::put(text);
    ExitCode::SUCCESS
}

fn complain(problem: &str) -> ExitCode {
    table::say(&format!("error: {problem}"));
    ExitCode::FAILURE
}
