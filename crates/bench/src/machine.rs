//! What the figures were measured on, and how, in a sentence that stands above them.

use std::process::Command;

/// The computer, the software and the command, as far as the system tells.
pub fn describe(name: &str) -> String {
    let cpu = first_value("/proc/cpuinfo", "model name").unwrap_or_else(|| "an unnamed processor".to_owned());
    let memory = first_value("/proc/meminfo", "MemTotal").and_then(|text| text.trim_end_matches(" kB").parse::<f64>().ok());
    let memory = memory.map_or_else(String::new, |kilobytes| format!(", {:.0} GiB", kilobytes / 1_048_576.0));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let uname = rustix::system::uname();
    let kernel = uname.release().to_string_lossy();
    let commit = output("git", &["rev-parse", "--short", "HEAD"]).unwrap_or_else(|| "an unknown commit".to_owned());
    let rustc = output("rustc", &["--version"]).unwrap_or_else(|| "an unknown compiler".to_owned());
    let rustc = rustc.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    format!(
        "Measured with `cargo run --release -p bench {name}` at {commit}, on a shared virtual machine: {cores} cores of {cpu}{memory}, \
         Linux {kernel}, {rustc}."
    )
}

fn first_value(file: &str, key: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix(':').map(|value| value.trim().to_owned()))
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
}
