//! The figures of the documents, measured: `cargo run --release -p bench [NAME …]`.
//!
//! A figure is what one run on this machine gave, with its target beside it. Nothing here passes or fails.

mod figure;
mod process;
mod watching;

use std::process::ExitCode;

use figure::{Bench, Figure};

const BENCHES: [Bench; 1] = [watching::BENCH];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = wanted.iter().find(|name| !BENCHES.iter().any(|bench| bench.name == name.as_str())) {
        let known: Vec<&str> = BENCHES.iter().map(|bench| bench.name).collect();
        return complain(&format!("there is no benchmark `{unknown}`; there are: {}", known.join(", ")));
    }
    let mut figures: Vec<Figure> = Vec::new();
    for bench in BENCHES.iter().filter(|bench| wanted.is_empty() || wanted.iter().any(|name| name == bench.name)) {
        figure::say(&format!("{}: {} …", bench.name, bench.what));
        match (bench.measure)() {
            Ok(measured) => figures.extend(measured),
            Err(error) => return complain(&format!("{}: {error}", bench.name)),
        }
    }
    figure::print_table(&figures);
    ExitCode::SUCCESS
}

fn complain(problem: &str) -> ExitCode {
    figure::say(&format!("error: {problem}"));
    ExitCode::FAILURE
}
