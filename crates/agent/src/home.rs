//! Calling the control plane: what is asked again, for how long, and which answers end the attempt.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use serde::Serialize;

use crate::configuration::Configuration;
use crate::http::{Client, Question};
use crate::inventory::Inventory;
use crate::log::Log;
use crate::trouble::Stop;
use crate::wire::{Grant, Report, Seed, Wish};

const JSON: &str = "application/json";
const LOG: &str = "text/plain; charset=utf-8";

/// Longest answer that is read. The first-boot configuration has 64 KiB at most.
const ANSWER_MAX: u64 = 1024 * 1024;

/// How much of a refusal is logged.
const WORDS_MAX: usize = 300;

/// The pauses between tries: each twice the one before it, up to the longest.
#[derive(Clone, Copy, Debug)]
pub struct Pauses {
    pub first: Duration,
    pub longest: Duration,
}

impl Default for Pauses {
    fn default() -> Pauses {
        Pauses { first: Duration::from_millis(500), longest: Duration::from_secs(10) }
    }
}

impl Pauses {
    /// The pause after so many tries in vain.
    pub fn after(self, tries: u32) -> Duration {
        self.first.saturating_mul(1 << tries.saturating_sub(1).min(16)).min(self.longest)
    }
}

/// What came of a request that was answered for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// 401 or 409: the attempt is over.
    Over { status: u16 },
    /// It is answered no, and asking again would not help.
    Refused { status: u16, words: String },
}

/// Whether a status says that asking again may help.
pub fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 429 | 500..=599)
}

/// Whether a status of the control plane says that the attempt is over.
pub fn is_over(status: u16) -> bool {
    matches!(status, 401 | 409)
}

/// The control plane, as this attempt reaches it.
#[derive(Debug)]
pub struct Home {
    pub client: Client,
    pub log: Arc<Log>,
    pub pauses: Pauses,
    /// The configured URL.
    base: String,
    /// Everything about this attempt begins with it.
    attempt: String,
    /// What the machine is called there.
    machine: String,
    token: String,
    session: String,
    /// The percent that were told last.
    mentioned: AtomicU8,
}

impl Home {
    pub fn new(client: Client, log: Arc<Log>, pauses: Pauses, configuration: &Configuration) -> Home {
        let Configuration { url, cluster, machine, operation, round, token, .. } = configuration;
        let base = url.trim_end_matches('/').to_owned();
        let attempt = format!("{base}/install/v1/attempts/{cluster}/{operation}/{round}");
        Home {
            client,
            log,
            pauses,
            base,
            attempt,
            machine: machine.clone(),
            token: token.clone(),
            session: String::new(),
            mentioned: AtomicU8::new(0),
        }
    }

    /// Trades the token for a session.
    pub fn exchange(&mut self, nonce: &str) -> Result<Grant, Refusal> {
        let wish = json(&Wish { machine: &self.machine, nonce });
        let answer = self.insist("exchange", || Question::post(&self.at("exchange"), &self.token, JSON, wish.clone()))?;
        let grant: Grant = read(&answer)?;
        self.session.clone_from(&grant.session);
        Ok(grant)
    }

    pub fn send_inventory(&self, inventory: &Inventory) -> Result<(), Refusal> {
        self.post("inventory", JSON, &json(inventory))
    }

    pub fn send_log(&self) -> Result<(), Refusal> {
        self.post("log", LOG, self.log.text().as_bytes())
    }

    pub fn report(&self, report: &Report<'_>) -> Result<(), Refusal> {
        self.post("report", JSON, &json(report))
    }

    /// Tells how far it is, and says whether that was heard. It is not told again if nobody hears it: the next one says more.
    pub fn mention(&self, percent: u8) -> Result<bool, Stop> {
        self.mentioned.store(percent, Ordering::Relaxed);
        let body = json(&Report::Progress { percent });
        match self.client.send(Question::post(&self.at("report"), &self.session, JSON, body)) {
            Ok(answer) if is_over(answer.status) => Err(Stop::Over { status: answer.status }),
            Ok(answer) if answer.status < 300 => Ok(true),
            Ok(answer) => {
                self.log.say(format_args!("progress was answered {}", answer.status));
                Ok(false)
            }
            Err(error) => {
                self.log.say(format_args!("progress was not heard: {error}"));
                Ok(false)
            }
        }
    }

    /// Tells the log so far. It is not told again if nobody hears it.
    pub fn mention_log(&self) {
        let body = self.log.text().into_bytes();
        if let Err(error) = self.client.send(Question::post(&self.at("log"), &self.session, LOG, body)) {
            self.log.say(format_args!("the log was not heard: {error}"));
        }
    }

    /// Tells that there is still somebody here, as far as it was told before, and says whether that was heard.
    pub fn mention_again(&self) -> Result<bool, Stop> {
        self.mention(self.mentioned.load(Ordering::Relaxed))
    }

    pub fn fetch_seed(&self) -> Result<Seed, Refusal> {
        read(&self.insist("seed", || Question::get(&self.at("seed"), Some(&self.session)))?)
    }

    /// The session for a URL of the control plane's, and nothing for another's.
    pub fn bearer_for(&self, url: &str) -> Option<&str> {
        let rest = url.strip_prefix(&self.base)?;
        rest.starts_with('/').then_some(self.session.as_str())
    }

    fn at(&self, what: &str) -> String {
        format!("{}/{what}", self.attempt)
    }

    fn post(&self, what: &str, kind: &'static str, body: &[u8]) -> Result<(), Refusal> {
        self.insist(what, || Question::post(&self.at(what), &self.session, kind, body.to_vec())).map(drop)
    }

    /// Asks until it is answered for good. It never gives up: whoever started this machine switches it off when it takes too long.
    fn insist(&self, what: &str, question: impl Fn() -> Question) -> Result<String, Refusal> {
        for tries in 1.. {
            let told = match self.ask(question()) {
                Ok((200..=299, words)) => return Ok(words),
                Ok((status, _)) if is_over(status) => return Err(Refusal::Over { status }),
                Ok((status, words)) if !is_passing(status) => {
                    let words = words.chars().take(WORDS_MAX).collect();
                    return Err(Refusal::Refused { status, words });
                }
                Ok((status, _)) => format!("it answers {status}"),
                Err(error) => error.to_string(),
            };
            let pause = self.pauses.after(tries);
            self.log.say(format_args!("{what}: {told}; again in {} ms", pause.as_millis()));
            std::thread::sleep(pause);
        }
        unreachable!("tries do not end")
    }

    fn ask(&self, question: Question) -> io::Result<(u16, String)> {
        let answer = self.client.send(question)?;
        Ok((answer.status, answer.body.text(ANSWER_MAX)?))
    }
}

fn json(of: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(of).unwrap_or_default()
}

/// The JSON of an answer. What it says is not repeated: there are tokens in it.
fn read<'a, T: serde::Deserialize<'a>>(answer: &'a str) -> Result<T, Refusal> {
    let garbled = |error: serde_json::Error| {
        let words = format!("the answer is not understood, at line {} column {}", error.line(), error.column());
        Refusal::Refused { status: 200, words }
    };
    serde_json::from_str(answer).map_err(garbled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_their_longest() {
        let pauses = Pauses::default();
        let after: Vec<u128> = (1..9).map(|tries| pauses.after(tries).as_millis()).collect();
        assert_eq!(after, [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000]);
        assert_eq!(pauses.after(u32::MAX), pauses.longest);
    }

    #[test]
    fn what_is_tried_again_and_what_ends_the_attempt() {
        let passing: Vec<u16> =
            [200, 204, 301, 400, 401, 404, 408, 409, 413, 429, 500, 503].into_iter().filter(|it| is_passing(*it)).collect();
        assert_eq!(passing, [408, 429, 500, 503]);
        let over: Vec<u16> = [200, 400, 401, 403, 404, 409, 410, 500].into_iter().filter(|it| is_over(*it)).collect();
        assert_eq!(over, [401, 409]);
    }
}
