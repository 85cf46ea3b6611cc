//! What a person types and sees, told by golden transcripts: the real binary against a real `up`.
//!
//! A transcript is a script with its outcome. `%` starts the site that it is about, `$` is a command, `2>` is what came on
//! stderr, and `[exit 3]` tells a code other than 0. `{op}` stands for the operation that was named last. With
//! `UPDATE_EXPECT=1` the outcomes are written anew.

use std::path::PathBuf;

use expect_test::expect_file;

use crate::server::Server;
use crate::settled::{asked, start, words};

/// One run of a transcript.
struct Telling {
    home: tempfile::TempDir,
    up: Option<Server>,
    /// Ids in the order in which they were met; each has a number instead.
    ids: Vec<String>,
    told: String,
}

impl Telling {
    fn tell(script: &str) -> String {
        let home = tempfile::tempdir().expect("a temporary directory");
        let mut telling = Telling { home, up: None, ids: Vec::new(), told: String::new() };
        for line in script.lines() {
            match line.split_at_checked(2) {
                Some(("% ", up)) => telling.up = Some(start(telling.home.path(), up.trim_start_matches("rackwright "))),
                Some(("$ ", command)) => {
                    telling.keep("");
                    telling.keep(line);
                    telling.run(command);
                    continue;
                }
                Some(("# ", _)) => {}
                _ => continue,
            }
            telling.keep(line);
        }
        telling.told.trim_start().to_owned()
    }

    fn keep(&mut self, line: &str) {
        self.told.push_str(line);
        self.told.push('\n');
    }

    fn run(&mut self, line: &str) {
        let last = self.ids.iter().rfind(|id| id.len() == 8).cloned().unwrap_or_default();
        let typed = words(&line.replace("{op}", &last));
        let (program, arguments) = typed.split_first().expect("a command has a name");
        assert_eq!(program, "rackwright");
        let ended = asked(self.home.path()).args(arguments).output().expect("the binary starts");
        for line in String::from_utf8_lossy(&ended.stdout).lines() {
            let line = self.settled(line);
            self.keep(&line);
        }
        for line in String::from_utf8_lossy(&ended.stderr).lines().filter(|line| !is_progress(line)) {
            let line = self.settled(line);
            self.keep(format!("2> {line}").trim_end());
        }
        match ended.status.code() {
            Some(0) => {}
            code => self.keep(&format!("[exit {}]", code.expect("it ended by itself"))),
        }
    }

    /// The line without what differs from run to run.
    fn settled(&mut self, line: &str) -> String {
        let line = line.replace(&self.home.path().display().to_string(), "~");
        let words: Vec<String> = line.split(' ').map(|word| self.word(word)).collect();
        // After midnight the times of before have their date with them.
        let is_time = |word: Option<&String>| word.is_some_and(|word| word.contains("HH:MM:SS"));
        let kept = (0..words.len()).filter(|n| !(is_date(&words[*n]) && is_time(words.get(n + 1))));
        kept.map(|n| words[n].as_str()).collect::<Vec<_>>().join(" ").trim_end().to_owned()
    }

    fn word(&mut self, word: &str) -> String {
        let bare = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
        let Some(part) = word.split(bare).find(|part| is_id(part)) else { return without_port(&without_clock(word)) };
        let short = &part[..8];
        if !self.ids.iter().any(|known| known == short) {
            self.ids.push(short.to_owned());
        }
        let number = self.ids.iter().position(|known| known == short).expect("it was met") + 1;
        let rest = if part.len() > 8 { "-0000-4000-8000-000000000000" } else { "" };
        self.word(&word.replacen(part, &format!("OPERATN{number}{rest}"), 1))
    }
}

/// Eight hexadecimal digits, or a UUID that begins with them.
fn is_id(text: &str) -> bool {
    let hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    match text.len() {
        8 => hexadecimal(text),
        36 => text.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && text.split('-').all(hexadecimal) && !text.starts_with("00000000"),
        _ => false,
    }
}

/// `14:02:10Z` and `2026-11-15T14:02:10.123Z` as `HH:MM:SSZ`, a duration as `TIME`.
fn without_clock(word: &str) -> String {
    let start = word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len());
    let (head, rest) = word.split_at(start);
    let shape: String = rest.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
    if let Some(at) = shape.find("99:99:99") {
        let tail = shape[at + 8..].trim_start_matches(['.', '9']);
        return format!("{head}HH:MM:SS{tail}");
    }
    let digits = shape.trim_start_matches('9');
    if head.is_empty() && shape.len() > digits.len() && matches!(digits.trim_end_matches([',', ')']), "s" | "ms" | "m" | "h") {
        return format!("TIME{}", digits.trim_start_matches(|c: char| c.is_ascii_alphabetic()));
    }
    word.to_owned()
}

fn is_date(word: &str) -> bool {
    word.split('-').map(str::len).eq([4, 2, 2]) && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// Ports that the system chose have five digits; one that somebody typed or that is ours has fewer.
fn without_port(word: &str) -> String {
    let Some((head, tail)) = word.split_once("127.0.0.1:") else { return word.to_owned() };
    let rest = tail.trim_start_matches(|c: char| c.is_ascii_digit());
    if tail.len() - rest.len() < 5 { word.to_owned() } else { format!("{head}127.0.0.1:PORT{rest}") }
}

/// What a follower happens to see between two looks is luck.
fn is_progress(line: &str) -> bool {
    line.split(' ').next().is_some_and(|machine| machine.starts_with("rack") && machine.ends_with(':'))
}

fn check(name: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/running/transcripts").join(format!("{name}.txt"));
    let script = std::fs::read_to_string(&path).expect("the transcript is there");
    expect_file![path].assert_eq(&Telling::tell(&script));
}

#[test]
fn what_differs_from_run_to_run_is_settled() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let mut telling = Telling { home, up: None, ids: Vec::new(), told: String::new() };
    for (line, settled) in [
        ("since 14:02:10Z, took 3s", "since HH:MM:SSZ, took TIME"),
        ("since 2026-11-14 23:59:58Z (operation 8f3c1a2b)", "since HH:MM:SSZ (operation OPERATN1)"),
        ("on 2026-11-14 at 127.0.0.1:40001", "on 2026-11-14 at 127.0.0.1:PORT"),
    ] {
        assert_eq!(telling.settled(line), settled);
    }
}

#[test]
fn a_first_look() {
    check("first-look");
}

#[test]
fn a_restart_and_a_refusal() {
    check("restart");
}

#[test]
fn mistakes() {
    check("mistakes");
}

#[test]
fn formats_and_queries() {
    check("formats");
}

#[test]
fn the_activity_log_and_what_people_write_on_a_machine() {
    check("activity-log");
}

#[test]
fn nobody_is_there() {
    check("nobody");
}
