//! A server that a page starts: it runs beside the page's other commands, until it is stopped or the page ends.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use crate::matching;

#[derive(Debug)]
pub struct Server {
    child: Child,
    /// The words by which it was started.
    pub line: String,
    said: Arc<Mutex<Vec<String>>>,
}

/// Words that begin the last line of a greeting.
const READY: [&str; 3] = ["Ctrl-C stops it", "A control plane for them", "  Files    are looked at"];

impl Server {
    /// Starts a shell that becomes the server; its pid is then the server's.
    pub fn start(line: &str, mut shell: Command) -> Server {
        let mut child = shell.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("bash is there");
        let out = child.stdout.take().expect("stdout is piped");
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = said.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                heard.lock().expect("nobody panicked").push(line);
            }
        });
        Server { child, line: line.to_owned(), said }
    }

    pub fn said(&self) -> Vec<String> {
        self.said.lock().expect("nobody panicked").clone()
    }

    /// The same without its log, whose lines come in between at their own times.
    pub fn greeting(&self) -> Vec<String> {
        self.said().into_iter().filter(|line| !is_logged(line)).collect()
    }

    pub fn is_ready(&self) -> bool {
        self.said().iter().any(|line| READY.iter().any(|words| line.starts_with(words)))
    }

    /// Where its API listens.
    pub fn address(&self) -> Option<String> {
        self.said().iter().find_map(|line| line.strip_prefix("  API      https://").map(str::to_owned))
    }

    /// How it ended, if it has.
    pub fn exit_code(&mut self) -> Option<i32> {
        self.child.try_wait().expect("the process is ours").map(|status| status.code().unwrap_or(-1))
    }

    /// Ctrl-C; returns the exit code that follows it.
    pub fn interrupt(&mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill is there").success());
        self.child.wait().expect("the process is ours").code()
    }
}

/// A line of the log begins with its time.
fn is_logged(line: &str) -> bool {
    line.split_once(' ').is_some_and(|(first, _)| matching::is_instant(first))
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
