//! A command that wraps and unwraps keys with a master key that never leaves its owner, such as a KMS.
//!
//! It is run with `wrap` or `unwrap` as its last argument, gets bytes in base64 on stdin, and answers in base64 on stdout. It is run
//! without a shell. What it says on stderr is told if it fails, without anything that could be a key.

mod telling;

use std::fmt;
use std::io;
use std::process::Stdio;
use std::str::FromStr;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use zeroize::Zeroizing;

use super::key::Key;
use super::master::SECRET_VARIABLES;

/// Longer than a KMS across the world takes with a few retries of its own, and shorter than an operator's patience at a start.
pub const KEY_COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// What is read of an answer. A wrapped key of the clouds' services has a few hundred bytes.
pub const KEY_COMMAND_ANSWER_BYTES: usize = 16 * 1_024;

/// What is told of a complaint: its first lines say what is wrong.
const STDERR_BYTES: usize = 2 * 1_024;

#[derive(Debug, thiserror::Error)]
pub enum KeyCommandError {
    #[error("it names no program")]
    Empty,
    #[error("`{program}` cannot be run")]
    NotRun {
        program: String,
        #[source]
        source: io::Error,
    },
    #[error("`{program} … {verb}` has not ended within {} seconds, and was killed", timeout.as_secs())]
    TimedOut { program: String, verb: Verb, timeout: Duration },
    #[error("`{program} … {verb}` ended with {status}{stderr}")]
    Failed { program: String, verb: Verb, status: String, stderr: String },
    #[error("`{program} … {verb}` answered more than {KEY_COMMAND_ANSWER_BYTES} bytes")]
    TooLong { program: String, verb: Verb },
    #[error("`{program} … {verb}` answered nothing, or what is not base64")]
    Garbled { program: String, verb: Verb },
    #[error("`{program} … unwrap` answered another key than the one that was wrapped")]
    OtherKey { program: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Wrap,
    Unwrap,
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verb::Wrap => "wrap",
            Verb::Unwrap => "unwrap",
        })
    }
}

/// A program and its first arguments, as they were written: words with blanks between them.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyCommand {
    program: String,
    arguments: Vec<String>,
    timeout: Duration,
}

impl FromStr for KeyCommand {
    type Err = KeyCommandError;

    fn from_str(text: &str) -> Result<KeyCommand, KeyCommandError> {
        let mut words = text.split_whitespace().map(str::to_owned);
        let program = words.next().ok_or(KeyCommandError::Empty)?;
        Ok(KeyCommand { program, arguments: words.collect(), timeout: KEY_COMMAND_TIMEOUT })
    }
}

/// Arguments may say more than a log should.
impl fmt::Debug for KeyCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyCommand").field("program", &self.program).finish_non_exhaustive()
    }
}

impl KeyCommand {
    pub fn program(&self) -> &str {
        &self.program
    }

    #[cfg(test)]
    pub(super) fn with_timeout(self, timeout: Duration) -> KeyCommand {
        KeyCommand { timeout, ..self }
    }

    /// The wrapping of a key. It was unwrapped once, so that nothing is locked away by a command that can only wrap.
    pub(super) async fn wrap(&self, key: &Key) -> Result<Vec<u8>, KeyCommandError> {
        let answer = self.run(Verb::Wrap, key.to_base64().as_slice()).await?;
        let decoded = BASE64_STANDARD.decode(answer.trim_ascii()).ok().filter(|wrapping| !wrapping.is_empty());
        let wrapping = decoded.ok_or_else(|| self.garbled(Verb::Wrap))?;
        if self.unwrap(&wrapping).await?.bytes() != key.bytes() {
            return Err(self.other_key());
        }
        Ok(wrapping)
    }

    pub(super) async fn unwrap(&self, wrapping: &[u8]) -> Result<Key, KeyCommandError> {
        let answer = self.run(Verb::Unwrap, BASE64_STANDARD.encode(wrapping).as_bytes()).await?;
        Key::from_base64(&answer).ok_or_else(|| self.garbled(Verb::Unwrap))
    }

    pub(super) fn other_key(&self) -> KeyCommandError {
        KeyCommandError::OtherKey { program: self.program.clone() }
    }

    fn garbled(&self, verb: Verb) -> KeyCommandError {
        KeyCommandError::Garbled { program: self.program.clone(), verb }
    }

    async fn run(&self, verb: Verb, input: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyCommandError> {
        let not_run = |source| KeyCommandError::NotRun { program: self.program.clone(), source };
        let child = self.spawn(verb).map_err(not_run)?;
        let answered = tokio::time::timeout(self.timeout, converse(child, input)).await;
        let timed_out = |_| KeyCommandError::TimedOut { program: self.program.clone(), verb, timeout: self.timeout };
        let Answer { status, stdout, stderr } = answered.map_err(timed_out)?.map_err(not_run)?;
        if !status.success() {
            let stderr = telling::of(&stderr.kept);
            return Err(KeyCommandError::Failed { program: self.program.clone(), verb, status: status.to_string(), stderr });
        }
        if stdout.is_cut {
            return Err(KeyCommandError::TooLong { program: self.program.clone(), verb });
        }
        Ok(stdout.kept)
    }

    fn spawn(&self, verb: Verb) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(verb.to_string());
        for variable in SECRET_VARIABLES {
            command.env_remove(variable);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).spawn()
    }
}

struct Answer {
    status: std::process::ExitStatus,
    stdout: Read,
    stderr: Read,
}

/// Writes and reads at once: a program may answer before it has read everything, and waits if nobody listens.
async fn converse(mut child: Child, input: &[u8]) -> io::Result<Answer> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            // One that does not want to hear it all says by its status whether it is content.
            let _ = stdin.write_all(input).await;
        }
    };
    let ((), stdout, stderr) = tokio::join!(write, read(stdout, KEY_COMMAND_ANSWER_BYTES), read(stderr, STDERR_BYTES));
    Ok(Answer { status: child.wait().await?, stdout: stdout?, stderr: stderr? })
}

struct Read {
    kept: Zeroizing<Vec<u8>>,
    is_cut: bool,
}

/// Reads to the end and keeps the beginning. The buffer never grows, so that no copy of a key is left behind.
async fn read(from: Option<impl AsyncRead + Unpin>, limit: usize) -> io::Result<Read> {
    let mut kept = Zeroizing::new(vec![0; limit]);
    let mut surplus = Zeroizing::new([0; 1_024]);
    let (mut filled, mut is_cut) = (0, false);
    if let Some(mut from) = from {
        loop {
            let room = &mut kept[filled..];
            let is_full = room.is_empty();
            match from.read(if is_full { surplus.as_mut_slice() } else { room }).await? {
                0 => break,
                _ if is_full => is_cut = true,
                count => filled += count,
            }
        }
    }
    kept.truncate(filled);
    Ok(Read { kept, is_cut })
}
