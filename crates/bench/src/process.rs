//! A child process under measurement: started, waited for, its processor time and memory read, ended.

use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub struct Process {
    child: Child,
}

impl Process {
    /// Starts our own binary and waits until a line of its greeting begins with `ready`.
    pub fn start(arguments: &[&str], ready: &str) -> io::Result<Process> {
        let mut command = Command::new(rackwright()?);
        let home = std::env::temp_dir().join("rackwright-bench-home");
        let mut child = command.args(arguments).env("RACKWRIGHT_HOME", home).stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("the child has no stdout"))?;
        let process = Process { child };
        let mut lines = BufReader::new(stdout).lines();
        for line in lines.by_ref() {
            if line?.trim_start().starts_with(ready) {
                // Whatever is said later must find a reader.
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(process);
            }
        }
        Err(io::Error::other(format!("`rackwright {}` ended early", arguments.join(" "))))
    }

    /// User and system time since its start.
    pub fn cpu_time(&self) -> io::Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name in parentheses may hold spaces; what follows it does not.
        let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let field = |index: usize| after_name.split_whitespace().nth(index).and_then(|text| text.parse::<u64>().ok());
        // Fields 14 and 15 of the whole line, counted from the state, which is field 3.
        let ticks = field(11).zip(field(12)).map(|(user, system)| user + system);
        let ticks = ticks.ok_or_else(|| io::Error::other("/proc tells no processor time"))?;
        Ok(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
    }

    /// Resident memory in bytes.
    pub fn memory(&self) -> io::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        Ok(kilobytes.ok_or_else(|| io::Error::other("/proc tells no memory"))? * 1024)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Names the binary to start. Tests set it: theirs was built with them, and a build within a build would only wait or differ.
const BINARY_VARIABLE: &str = "RACKWRIGHT_BINARY";

/// The binary that the caller names, or else the one beside this one, built now in the same way, so that nobody measures an
/// old one.
fn rackwright() -> io::Result<PathBuf> {
    if let Some(named) = std::env::var_os(BINARY_VARIABLE) {
        return Ok(named.into());
    }
    let beside = std::env::current_exe()?.with_file_name("rackwright");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--package", "rackwright"]);
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    if build.status()?.success() { Ok(beside) } else { Err(io::Error::other("the binary cannot be built")) }
}
