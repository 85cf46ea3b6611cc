//! A child process under measurement: started, waited for, its processor time and memory read, ended.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::cores;
use crate::door::{Console, Door};

pub struct Process {
    child: Child,
    home: PathBuf,
    /// What it said until it was ready.
    greeting: Vec<String>,
}

/// Where the next that is started keeps its contexts and its log. Each has its own, so that those that run side by side do not look for
/// each other.
fn next_home() -> PathBuf {
    static STARTED: AtomicU32 = AtomicU32::new(1);
    std::env::temp_dir().join("rackwright-bench-home").join(STARTED.fetch_add(1, Ordering::Relaxed).to_string())
}

/// A process that has greeted.
pub struct Started {
    pub process: Process,
    pub executed_at: Instant,
    pub greeted_at: Instant,
}

impl Process {
    pub fn of(child: Child) -> Process {
        Process { child, home: PathBuf::new(), greeting: Vec::new() }
    }

    /// Starts our own binary and waits until a line of its greeting begins with `ready`. Its log goes to a file.
    pub fn start(arguments: &[&str], ready: &str) -> io::Result<Process> {
        Process::start_timed(arguments, ready).map(|started| started.process)
    }

    /// The same on these cores only.
    pub fn start_on(cores: &str, arguments: &[&str], ready: &str) -> io::Result<Process> {
        let mut command = cores::command_on(cores);
        command.arg(rackwright()?);
        Process::start_as(command, arguments, ready).map(|started| started.process)
    }

    /// The same on any, with when it was executed and when it said so.
    pub fn start_timed(arguments: &[&str], ready: &str) -> io::Result<Started> {
        Process::start_as(Command::new(rackwright()?), arguments, ready)
    }

    fn start_as(mut command: Command, arguments: &[&str], ready: &str) -> io::Result<Started> {
        let home = next_home();
        std::fs::create_dir_all(&home)?;
        let log = File::create(home.join(format!("{}.log", arguments.first().unwrap_or(&"bench"))))?;
        let executed_at = Instant::now();
        let mut child = command.args(arguments).env("RACKWRIGHT_HOME", &home).stdout(Stdio::piped()).stderr(log).spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("the child has no stdout"))?;
        let mut process = Process { child, home, greeting: Vec::new() };
        let mut lines = BufReader::new(stdout).lines();
        for line in lines.by_ref() {
            process.greeting.push(line?);
            if process.greeting.last().is_some_and(|line| line.trim_start().starts_with(ready)) {
                // Whatever is said later must find a reader.
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(Started { process, executed_at, greeted_at: Instant::now() });
            }
        }
        Err(io::Error::other(format!("`rackwright {}` ended early", arguments.join(" "))))
    }

    /// The way in to a control plane that has greeted, for its administrator and so many callers more.
    pub fn door(&self, callers: usize) -> io::Result<Door> {
        let address = self.told("API").and_then(|url| url.strip_prefix("https://")?.parse().ok());
        let address = address.ok_or_else(|| io::Error::other("the greeting tells no address"))?;
        let context = self.told("Context").and_then(|context| context.split(',').next()).unwrap_or_default();
        let console = Console { binary: &rackwright()?, home: &self.home, context };
        console.invite(&console.open(address)?, callers)
    }

    /// What a line of the greeting says.
    fn told(&self, what: &str) -> Option<&str> {
        self.greeting.iter().find_map(|line| line.trim_start().strip_prefix(what)).map(str::trim)
    }

    /// User and system time since its start.
    pub fn cpu_time(&self) -> io::Result<Duration> {
        cpu_time_of(&self.child.id().to_string())
    }

    /// Stops it where it is, as a debugger would, until it goes on.
    pub fn stop(&self) -> io::Result<()> {
        self.signal(Signal::STOP)
    }

    pub fn go_on(&self) -> io::Result<()> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// Resident memory in bytes.
    pub fn memory(&self) -> io::Result<u64> {
        self.status_bytes("VmRSS:")
    }

    /// Lets the peak be that from now on.
    pub fn forget_peak(&self) -> io::Result<()> {
        // What the kernel resets for this number: proc(5).
        std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5")
    }

    /// The most that its resident memory ever was.
    pub fn peak_memory(&self) -> io::Result<u64> {
        self.status_bytes("VmHWM:")
    }

    fn status_bytes(&self, field: &str) -> io::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        Ok(kilobytes.ok_or_else(|| io::Error::other("/proc tells no memory"))? * 1024)
    }
}

/// User and system time of this process since its start.
pub fn own_cpu_time() -> io::Result<Duration> {
    cpu_time_of("self")
}

fn cpu_time_of(process: &str) -> io::Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name in parentheses may hold spaces; what follows it does not.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let field = |index: usize| after_name.split_whitespace().nth(index).and_then(|text| text.parse::<u64>().ok());
    // Fields 14 and 15 of the whole line, counted from the state, which is field 3.
    let ticks = field(11).zip(field(12)).map(|(user, system)| user + system);
    let ticks = ticks.ok_or_else(|| io::Error::other("/proc tells no processor time"))?;
    Ok(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
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
