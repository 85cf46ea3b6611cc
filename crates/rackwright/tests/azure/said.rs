//! What a client said, without what differs from run to run.

use std::process::{Command, Stdio};
use std::time::Instant;

pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    /// Runs a client to its end, and says how long that took.
    pub fn of(command: &mut Command) -> Said {
        let began = Instant::now();
        let output = command.stdin(Stdio::null()).output().expect("the program starts");
        let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect();
        let line: String = arguments.join(" ").replace('\n', " ").chars().take(100).collect();
        if !line.contains("-p ") && !line.contains("az-env") {
            println!("{:5.1} s  {line}", began.elapsed().as_secs_f32());
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// What it printed, if it went well.
    #[track_caller]
    pub fn fine(&self) -> &str {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        &self.out
    }

    /// Exit code, output and errors, each if there is any, as a text to compare.
    pub fn normalised(&self) -> String {
        let code = if self.code == 0 { String::new() } else { format!("(exit code {})\n", self.code) };
        normalised(&format!("{code}{}{}", self.out, self.err))
    }
}

/// A text in which times, ids, ports and tokens are what they are in every run.
pub fn normalised(text: &str) -> String {
    let lines = text.lines().map(|line| words_of(line).into_iter().map(usual).collect::<String>());
    lines.map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The words and what is between them.
fn words_of(line: &str) -> Vec<&str> {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || "-:.+".contains(sign);
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|sign: char| is_part(sign) != is_part(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}

/// The subscription and the tenant of every simulated site are the same, and worth reading.
const CONSTANT_IDS: &str = "00000000-0000-4000-8000-";

fn usual(word: &str) -> String {
    let bare = word.trim_end_matches(['.', ':']);
    let tail = &word[bare.len()..];
    if is_id(bare) && !bare.starts_with(CONSTANT_IDS) {
        return format!("8f3c1a2b-0000-4000-8000-000000000000{tail}");
    }
    if is_time(bare) {
        return format!("2026-11-16T14:00:00{}{tail}", if bare.ends_with('Z') { "Z" } else { "" });
    }
    match bare.split_once(':') {
        Some(("127.0.0.1", port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => format!("127.0.0.1:7225{tail}"),
        _ => word.to_owned(),
    }
}

/// `8-4-4-4-12` hexadecimal digits.
fn is_id(word: &str) -> bool {
    let lengths: Vec<usize> = word.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && word.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// `2026-11-16T14:00:00.123Z`, or without what comes after the seconds.
fn is_time(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 19 && bytes[4] == b'-' && bytes[7] == b'-' && bytes[10] == b'T' && bytes[13] == b':' && bytes[16] == b':'
}

#[test]
fn what_differs_from_run_to_run_is_put_right_and_nothing_else() {
    let said =
        "see https://127.0.0.1:40123/x, operation 0f3c1a2b-1234-4abc-8def-0123456789ab at 2026-11-16T20:01:02.345Z.\n  rack1: 12.5\n";
    let usual = "see https://127.0.0.1:7225/x, operation 8f3c1a2b-0000-4000-8000-000000000000 at 2026-11-16T14:00:00Z.\n  rack1: 12.5\n";
    assert_eq!(normalised(said), usual);
    let constant = "/subscriptions/00000000-0000-4000-8000-000000000001\n";
    assert_eq!(normalised(constant), constant);
}
