//! A real `up` for tests that use the binary as people do.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// `up`, until it is dropped.
pub struct Up(Child);

impl Up {
    /// Starts the line and waits until the site is known.
    pub fn start(home: &Path, line: &str) -> Up {
        let child = command(home).args(words(line)).stdout(Stdio::piped()).spawn().expect("the binary starts");
        let mut up = Up(child);
        let mut lines = BufReader::new(up.0.stdout.take().expect("stdout is piped")).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.starts_with("Ctrl-C stops it")), "`{line}` ended early");
        // Whatever is said later must find a reader.
        std::thread::spawn(move || lines.for_each(drop));
        until_settled(home);
        up
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Questions whose answer is 0 once a site that has just started is known: each machine was seen, and none is waited for.
const UNSETTLED: [&str; 2] = [
    "bmm list -o tsv --query \"length([?!properties.powerState])\"",
    "status -o tsv --query \"length(clusters[?sum([machines.ready, machines.spare]) != machines.total || waitCount > `0` \
     || machines.notLookedAt > `0` || connection != 'Connected'])\"",
];

fn until_settled(home: &Path) {
    let give_up_at = Instant::now() + Duration::from_secs(60);
    let is_settled = |line: &&str| command(home).args(words(line)).output().expect("the binary starts").stdout == b"0\n";
    while !UNSETTLED.iter().all(is_settled) {
        assert!(Instant::now() < give_up_at, "the site did not settle");
    }
}

pub fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rackwright"));
    command.env("RACKWRIGHT_HOME", home).env("USER", "alice").env("COLUMNS", "100");
    for name in ["RUST_LOG", "NO_COLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
}

/// The words of a line as a shell would split them.
pub fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.trim().chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
