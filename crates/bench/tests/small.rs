//! Tries every benchmark on as little as goes through the whole of it, so that none rots. What it measures then means nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const BENCH: &str = env!("CARGO_BIN_EXE_bench");

#[test]
fn every_benchmark_can_be_tried_and_writes_nothing() {
    let names = names();
    assert!(!names.is_empty(), "`bench --list` tells no names");
    let before = written();
    // That of metal is the stage of `./test` with the same name, and would take its minutes again.
    for name in names.iter().filter(|name| *name != "metal") {
        let (output, left_behind) = run(&["--small", name]);
        let (rows, talk) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "`bench --small {name}` fails:\n{talk}");
        assert!(!rows.is_empty(), "`bench --small {name}` prints no figure:\n{talk}");
        for row in rows.lines() {
            let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
            let has_value = cells.iter().skip(1).any(|cell| cell.starts_with(|first: char| first == '-' || first.is_ascii_digit()));
            assert!(cells.len() >= 3 && has_value, "`bench --small {name}` prints a row without a value, or without what limits it: {row}");
        }
        assert_eq!(left_behind, Vec::<PathBuf>::new(), "`bench --small {name}` leaves files where it was started");
    }
    assert!(written() == before, "a trial writes its figures into the documents");
}

#[test]
fn help_and_mistakes_tell_which_benchmarks_there_are() {
    let (help, _) = run(&["--help"]);
    let (mistake, _) = run(&["no-such-benchmark"]);
    assert!(help.status.success() && !mistake.status.success());
    for name in names() {
        assert!(text(&help.stdout).contains(&name), "`--help` does not tell of {name}");
        assert!(text(&mistake.stderr).contains(&name), "the complaint does not tell of {name}");
    }
}

fn names() -> Vec<String> {
    let (listed, _) = run(&["--list"]);
    text(&listed.stdout).lines().filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
}

/// Runs it in an empty directory, with the binary that is built with the tests of the workspace. Returns also what it leaves there.
fn run(arguments: &[&str]) -> (Output, Vec<PathBuf>) {
    let binary = Path::new(BENCH).with_file_name("rackwright");
    assert!(binary.exists(), "{} is not built; `cargo test --workspace` and `cargo build` do so", binary.display());
    let (here, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut bench = Command::new(BENCH);
    bench.args(arguments).current_dir(here.path()).env("TMPDIR", temporary.path()).env("RACKWRIGHT_BINARY", binary);
    let output = bench.output().unwrap();
    let left_behind = std::fs::read_dir(here.path()).unwrap().map(|entry| entry.unwrap().path());
    (output, left_behind.collect())
}

/// The page of the figures and its pictures.
fn written() -> BTreeMap<PathBuf, Vec<u8>> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let pictures = std::fs::read_dir(docs.join("performance")).into_iter().flatten().map(|entry| entry.unwrap().path());
    pictures.chain([docs.join("performance.md")]).map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
