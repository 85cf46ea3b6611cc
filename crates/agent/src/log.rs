//! What the agent says of itself: on the machine's consoles while it happens, and kept, so that it can be sent home.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// How much of the log is kept and sent: what the control plane takes.
pub const LOG_MAX: usize = 256 * 1024;

/// The lines so far, and where else each is written. Tokens do not belong here.
pub struct Log {
    began_at: Instant,
    state: Mutex<State>,
}

struct State {
    kept: String,
    consoles: Vec<File>,
}

impl Log {
    /// A log that is kept and shown nowhere.
    pub fn kept() -> Log {
        Log { began_at: Instant::now(), state: Mutex::new(State { kept: String::new(), consoles: Vec::new() }) }
    }

    /// A log that is also shown on every console that the kernel writes to, since nobody knows at which one a person looks.
    pub fn on_consoles(root: &Path) -> Log {
        let log = Log::kept();
        let named = fs::read_to_string(root.join("sys/class/tty/console/active")).unwrap_or_default();
        let open = |name: &str| OpenOptions::new().write(true).open(root.join("dev").join(name)).ok();
        let mut consoles: Vec<File> = named.split_whitespace().filter_map(open).collect();
        if consoles.is_empty() {
            consoles.extend(open("console"));
        }
        log.locked(|state| state.consoles = consoles);
        log
    }

    pub fn say(&self, text: impl fmt::Display) {
        let since = self.began_at.elapsed();
        let line = format!("{:>6}.{:03} {text}\n", since.as_secs(), since.subsec_millis());
        self.locked(|state| {
            state.kept.push_str(&line);
            if state.kept.len() > LOG_MAX {
                let most = state.kept.len() - LOG_MAX;
                let from = (most..).find(|at| state.kept.is_char_boundary(*at)).unwrap_or(most);
                state.kept.drain(..from);
            }
            for console in &mut state.consoles {
                // A console that is gone takes nothing from the installation.
                let _ = console.write_all(format!("rackwright: {}\r\n", line.trim_end()).as_bytes());
            }
        });
    }

    /// The log so far, as it is sent.
    pub fn text(&self) -> String {
        self.locked(|state| state.kept.clone())
    }

    fn locked<T>(&self, with: impl FnOnce(&mut State) -> T) -> T {
        with(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_keeps_its_end() {
        let log = Log::kept();
        for number in 0..6_000 {
            log.say(format!("line {number} ööööööööööööööööööööööööööööö"));
        }
        let text = log.text();
        assert!(text.len() <= LOG_MAX && text.len() > LOG_MAX - 100, "{}", text.len());
        assert!(text.trim_end().ends_with("line 5999 ööööööööööööööööööööööööööööö"));
    }

    #[test]
    fn every_console_of_the_kernel_shows_it() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("sys/class/tty/console")).unwrap();
        fs::create_dir_all(root.path().join("dev")).unwrap();
        fs::write(root.path().join("sys/class/tty/console/active"), "tty0 ttyS0\n").unwrap();
        for console in ["tty0", "ttyS0"] {
            fs::write(root.path().join("dev").join(console), "").unwrap();
        }
        Log::on_consoles(root.path()).say("hello");
        for console in ["tty0", "ttyS0"] {
            let shown = fs::read_to_string(root.path().join("dev").join(console)).unwrap();
            assert!(shown.starts_with("rackwright: ") && shown.ends_with("hello\r\n"), "{shown:?}");
        }
    }
}
