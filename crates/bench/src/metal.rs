//! Installations of emulated machines: the times that the tests on metal tell, which are the whole of it, from the call to the node.

use std::io;
use std::process::{Command, Stdio};

use crate::figure::{Bench, Figure, Report, Size, Unit};

pub const BENCH: Bench = Bench { name: "metal", what: "operating systems installed on emulated machines", measure };

/// The tests of which times are told: one machine of each firmware, one after the other.
const TESTS: &str = "_machine_gets_its_system_and_joins";

const EMULATOR: &str = "QEMU, which emulates the processor; the control plane waits, and looks once in a second or two";

fn measure(size: Size) -> io::Result<Report> {
    let runs = size.pick(3, 1);
    let mut figures: Vec<(String, Vec<f64>)> = Vec::new();
    for _ in 0..runs {
        for (what, seconds) in told(&run_tests()?) {
            match figures.iter_mut().find(|(known, _)| *known == what) {
                Some((_, all)) => all.push(seconds),
                None => figures.push((what, vec![seconds])),
            }
        }
    }
    if figures.is_empty() {
        return Err(io::Error::other("the tests told no times"));
    }
    let figures = figures.into_iter().map(|(what, all)| Figure::new(what, median(all), Unit::Seconds, EMULATOR)).collect();
    Ok(Report { figures, curves: Vec::new() })
}

/// The tests are those of a debug build, as `./test` runs them: what takes its time is the machine.
fn run_tests() -> io::Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["test", "--quiet", "-p", "rackwright", "--test", "metal", "--", "--nocapture", "--test-threads=1", TESTS];
    let output = Command::new(cargo).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(io::Error::other("the tests on metal failed"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What the tests told: of which machine, which part of its installation, and the seconds that it took.
fn told(output: &str) -> Vec<(String, f64)> {
    let figure = |line: &str| {
        let mut cells = line.strip_prefix("took\t")?.split('\t');
        let (machine, part, seconds) = (cells.next()?, cells.next()?, cells.next()?);
        Some((format!("{machine}: {part}"), seconds.parse().ok()?))
    };
    output.lines().filter_map(figure).collect()
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_tests_tell_is_read() {
        let output = "uefi: 10 %\ntook\tuefi\tall of it\t21.5\ntest ok\ntook\tbios\tall of it\t22.25\n";
        assert_eq!(told(output), [("uefi: all of it".to_owned(), 21.5), ("bios: all of it".to_owned(), 22.25)]);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
    }
}
