//! Instructions, counted by valgrind's callgrind: the program runs on a processor of valgrind's own, which no load disturbs.

use std::path::Path;
use std::process::Command;

/// The function of `src/bin/counts` that is counted in. Its whole name: of two options with one pattern callgrind heeds one.
const COUNTED_FUNCTION: &str = "counts::tally::counted_by_callgrind";

/// The program under callgrind, which writes a dump whenever the function returns.
pub fn command(program: &str, dump: &Path) -> Command {
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=callgrind", "--quiet", "--compress-strings=no", "--compress-pos=no"])
        .arg(format!("--toggle-collect={COUNTED_FUNCTION}"))
        .arg(format!("--dump-after={COUNTED_FUNCTION}"))
        .arg(format!("--callgrind-out-file={}", dump.display()))
        .arg(program);
    valgrind
}

/// The nth dump, from 0 on.
pub fn load_dump(dump: &Path, nth: usize) -> String {
    std::fs::read_to_string(dump.with_extension((nth + 1).to_string())).unwrap()
}

/// The instructions of the program itself. Those of libc are left out: which variant of `memcpy` it picks is the processor's
/// choice, and how long `malloc` searches is its version's.
pub fn instructions_of(program: &str, dump: &str) -> u64 {
    let (mut instructions, mut is_program) = (0, false);
    let mut lines = dump.lines();
    while let Some(line) = lines.next() {
        if let Some(object) = line.strip_prefix("ob=") {
            is_program = Path::new(object).file_name() == Path::new(program).file_name();
        } else if line.starts_with("calls=") {
            // What was called is told under its own name; the next line has its sum.
            lines.next();
        } else if is_program && line.starts_with(|first: char| first.is_ascii_digit()) {
            let count = line.split(' ').nth(1).and_then(|count| count.parse::<u64>().ok());
            instructions += count.expect("a line of the source, and its instructions");
        }
    }
    instructions
}

#[test]
fn only_the_program_itself_is_counted_and_nothing_twice() {
    let dump = "\
events: Ir
summary: 1111

ob=/target/debug/counts
fl=main.rs
fn=one
7 100
cob=/usr/lib/libc.so.6
cfn=memcpy
calls=3 9
8 1000
9 10
fn=two
3 1

ob=/usr/lib/libc.so.6
fn=memcpy
9 1000
totals: 1111
";
    assert_eq!(instructions_of("/elsewhere/counts", dump), 111);
}
