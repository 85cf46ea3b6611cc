//! A simulated site that has come to rest, so that what is asked of it has one answer.

use std::path::Path;
use std::process::Command;

use crate::server::{Server, command, until};

/// Starts the line and waits until the site is known.
pub fn start(home: &Path, line: &str) -> Server {
    let mut up = asked(home);
    up.args(words(line));
    let up = Server::start(up);
    until_settled(home);
    up
}

/// A command on a terminal of one width.
pub fn asked(home: &Path) -> Command {
    let mut command = command(home);
    command.env("COLUMNS", "100");
    command
}

/// Questions whose answer is 0 once a site that has just started is known: each machine was seen, and none is waited for.
const UNSETTLED: [&str; 2] = [
    "bmm list -o tsv --query \"length([?!properties.powerState])\"",
    "status -o tsv --query \"length(clusters[?sum([machines.ready, machines.spare]) != machines.total || waitCount > `0` \
     || machines.notLookedAt > `0` || connection != 'Connected'])\"",
];

fn until_settled(home: &Path) {
    let is_settled = |line: &&str| command(home).args(words(line)).output().expect("the binary starts").stdout == b"0\n";
    until("the site to settle", || UNSETTLED.iter().all(is_settled).then_some(()));
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
