//! Guards what the hot paths cost, by counts that no load disturbs: allocations, their bytes, and instructions under callgrind.
//!
//! `accepted.txt` holds what was accepted. Whoever changes a count by more than a few percent, for better or worse, says so by
//! writing that file anew.

mod accepted;
mod callgrind;

use std::io::{self, ErrorKind, Write};
use std::process::Command;

use accepted::{Accepted, Cost, TOLERANCE_PERCENT, compare, parse_costs};

const COUNTS: &str = env!("CARGO_BIN_EXE_counts");

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/counts/accepted.txt");

#[test]
fn hot_paths_cost_what_was_accepted() {
    let compiler = compiler();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return accept(&Accepted { compiler, costs: count_instructions() });
    }
    let accepted = Accepted::parse(&std::fs::read_to_string(FILE).unwrap()).expect("UPDATE_EXPECT=1 writes a file that can be read");
    let costs = if compiler == accepted.compiler {
        count_instructions()
    } else {
        // Past what is captured of a test's output, because one that passes keeps that to itself.
        let mut talk = io::stderr().lock();
        let _ = writeln!(talk, "this is {compiler}: instructions are not compared with those of {}", accepted.compiler);
        count_allocations(&mut Command::new(COUNTS))
    };
    let differences = compare(&accepted.costs, &costs);
    assert!(
        differences.is_empty(),
        "hot paths cost over {TOLERANCE_PERCENT} % more or less than was accepted:\n{}\nIf that is meant, accept it, and say why in the commit:\n  \
         UPDATE_EXPECT=1 cargo test -p bench --test counts",
        differences.join("\n")
    );
}

/// Writes the file anew, unless what it says still holds: then whoever updates other files need not read noise.
fn accept(counted: &Accepted) {
    let before = std::fs::read_to_string(FILE).ok().and_then(|text| Accepted::parse(&text));
    let holds = |before: Accepted| before.compiler == counted.compiler && compare(&before.costs, &counted.costs).is_empty();
    if !before.is_some_and(holds) {
        std::fs::write(FILE, counted.to_string()).unwrap();
    }
}

fn compiler() -> String {
    let version = output_of(Command::new("rustc").arg("--version"));
    version.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}

fn count_allocations(counts: &mut Command) -> Vec<Cost> {
    // What the environment holds must not change what is counted.
    let path = std::env::var_os("PATH").unwrap_or_default();
    parse_costs(&output_of(counts.env_clear().env("PATH", path))).expect("the program tells a path and its counts on each line")
}

/// Instructions beside allocations.
fn count_instructions() -> Vec<Cost> {
    let directory = tempfile::tempdir().unwrap();
    let dump = directory.path().join("dump");
    let mut costs = count_allocations(&mut callgrind::command(COUNTS, &dump));
    for (index, cost) in costs.iter_mut().enumerate() {
        cost.instructions = Some(callgrind::instructions_of(COUNTS, &callgrind::load_dump(&dump, index)));
    }
    costs
}

fn output_of(command: &mut Command) -> String {
    let output = match command.output() {
        Err(error) if error.kind() == ErrorKind::NotFound => panic!("{command:?} is not installed; `./test` does that"),
        output => output.unwrap(),
    };
    assert!(output.status.success(), "{command:?} fails: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
