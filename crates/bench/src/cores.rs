//! A core for the control plane that is measured, and the others for everything beside it.
//!
//! Devices do not share a processor with whoever controls them, but simulated ones do: what they touch takes the place of what the control
//! plane would have found in its caches, the more the larger the fleet is.

use std::io;
use std::process::Command;

/// While it lives, this process and those that it starts are kept off the first core, but for the one that is started there.
pub struct Apart {
    all: String,
    pub plane: String,
}

impl Apart {
    /// Nothing if there is only one core.
    pub fn begin() -> io::Result<Option<Apart>> {
        let cores = cores_of(&std::fs::read_to_string("/proc/self/status")?);
        let Some((first, others)) = cores.split_first().filter(|(_, others)| !others.is_empty()) else { return Ok(None) };
        let apart = Apart { all: listed(&cores), plane: first.to_string() };
        keep_to(&listed(others))?;
        Ok(Some(apart))
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        // What is measured next would only have fewer cores.
        let _ = keep_to(&self.all);
    }
}

/// A command that is kept to these cores.
pub fn command_on(cores: &str) -> Command {
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", cores]);
    command
}

/// Moves all threads of this process; those that begin later follow.
fn keep_to(cores: &str) -> io::Result<()> {
    let process = std::process::id().to_string();
    let moved = Command::new("taskset").args(["--all-tasks", "--cpu-list", "--pid", cores, &process]).output();
    let moved = moved.map_err(|error| io::Error::new(error.kind(), format!("`taskset`, of util-linux, cannot be run: {error}")))?;
    if moved.status.success() { Ok(()) } else { Err(io::Error::other(String::from_utf8_lossy(&moved.stderr).into_owned())) }
}

fn listed(cores: &[u32]) -> String {
    cores.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

/// The cores that a process may use, as `/proc/PID/status` tells them: `0-3,8` for example.
fn cores_of(status: &str) -> Vec<u32> {
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
    let ranges = list.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_read_as_the_kernel_lists_them() {
        assert_eq!(cores_of("Name:\tbench\nCpus_allowed:\t10f\nCpus_allowed_list:\t0-3,8\n"), [0, 1, 2, 3, 8]);
        assert_eq!(listed(&cores_of("Cpus_allowed_list:\t2,5-6\n")), "2,5,6");
        assert!(cores_of("Name:\tbench\n").is_empty());
    }
}
