//! How far an agent has come, and what it makes of an answer. What its machine makes of that is in `course.rs`.

use serde::{Deserialize, Serialize};

use super::{AgentConfig, AgentReport, AgentTrouble, Errand, Outcome, Session};
use crate::hardware::{BootSource, FirstBoot, HostDisk, Release};
use crate::pace::Pace;
use crate::time::{Instant, Span};

/// How often an agent asks for an image that does not come, before it gives up.
const IMAGE_TRIES: u32 = 3;

/// An agent tells its progress in steps of this many percent.
const PROGRESS_STEP: u8 = 25;

/// What was started from elsewhere than the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentRun {
    pub source: BootSource,
    /// What this agent drew when it started.
    pub nonce: String,
    pub stage: Stage,
}

/// An image that has been fetched, and the volume or the drive it goes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fetched {
    pub volume: HostDisk,
    pub sha256: String,
    pub release: Option<Release>,
}

/// How far the disk is written, and how much of that was told in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Writing {
    began_at: Instant,
    ends_at: Instant,
    told: u8,
}

impl Writing {
    fn beginning(now: Instant, takes: Span) -> Writing {
        Writing { began_at: now, ends_at: now + takes, told: 0 }
    }

    /// What is to be told next.
    fn next_percent(self) -> u8 {
        self.told + PROGRESS_STEP
    }

    /// When there is that much to tell.
    fn next_at(self) -> Instant {
        self.began_at + Span((self.ends_at - self.began_at).0 * i64::from(self.next_percent()) / 100)
    }

    /// Whether nothing is left to tell but that all is written.
    pub(super) fn is_last(self) -> bool {
        self.next_percent() >= 100
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// The firmware fetches what it starts.
    Fetching,
    /// Another machine calls with this one's token.
    Stolen(AgentConfig),
    Exchanging(AgentConfig),
    /// It sends its log before it goes on.
    Logging(Session, Box<Stage>),
    Inventorying(Session),
    /// A second agent calls with the same token.
    Copied(Session, HostDisk),
    FetchingImage {
        session: Session,
        volume: HostDisk,
        tries: u32,
    },
    Writing(Session, Fetched, Writing),
    FetchingSeed(Session, Fetched),
    /// All is written, and only has to be told.
    Telling(Session, String),
    Failing {
        session: Session,
        trouble: AgentTrouble,
        detail: String,
    },
    /// Nothing more to do until somebody cuts the power.
    Idle {
        why: String,
    },
}

/// What an agent does to its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// There is nothing to run: the firmware goes on to the disk.
    BootDisk,
    Wipe {
        disks: Vec<HostDisk>,
    },
    Erase {
        volume: HostDisk,
    },
    WriteSystem {
        fetched: Fetched,
        first_boot: Box<FirstBoot>,
    },
}

/// Where an agent is after an answer, when it calls next, and what it did in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Next {
    pub stage: Stage,
    pub calls_at: Option<Instant>,
    pub effect: Option<Effect>,
}

/// The disks of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub system: HostDisk,
    pub wipe: Vec<HostDisk>,
}

/// Why an agent gives up, and its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub trouble: AgentTrouble,
    pub detail: String,
}

/// What an agent finds about its machine.
pub(super) struct Findings<'a> {
    pub pace: &'a Pace,
    pub now: Instant,
    /// The disks that are meant by what it was told, or why they are not.
    pub disks: Option<Result<Choice, Trouble>>,
    /// Faults of this machine.
    pub is_token_stolen: bool,
    pub is_token_copied: bool,
}

impl Next {
    fn at(stage: Stage, at: Instant) -> Next {
        Next { stage, calls_at: Some(at), effect: None }
    }

    fn idle(why: impl Into<String>) -> Next {
        Next { stage: Stage::Idle { why: why.into() }, calls_at: None, effect: None }
    }

    fn doing(self, effect: Effect) -> Next {
        Next { effect: Some(effect), ..self }
    }
}

impl AgentRun {
    pub fn fetching(source: BootSource, nonce: String) -> AgentRun {
        AgentRun { source, nonce, stage: Stage::Fetching }
    }

    /// Moves what is pending, after the site stood still.
    pub fn shift(&mut self, by: Span) {
        if let Stage::Writing(_, _, writing) = &mut self.stage {
            (writing.began_at, writing.ends_at) = (writing.began_at + by, writing.ends_at + by);
        }
    }

    /// What it wants to ask now. `thief` is the machine that calls with a stolen token.
    pub(super) fn errand(&self, thief: &str, is_spoiled: bool) -> Option<Errand> {
        let report = |session: &Session, report| Some(Errand::Report { session: session.clone(), report });
        match &self.stage {
            Stage::Fetching => Some(Errand::FetchMedia { source: self.source.clone() }),
            Stage::Stolen(config) => Some(exchange(config, thief, format!("{}-of-a-thief", self.nonce))),
            Stage::Exchanging(config) => Some(exchange(config, &config.machine, self.nonce.clone())),
            Stage::Copied(Session { config, .. }, _) => Some(exchange(config, &config.machine, format!("{}-of-a-copy", self.nonce))),
            Stage::Logging(session, then) => Some(Errand::SendLog { session: session.clone(), log: log(session, then) }),
            // What the machine has is not known here.
            Stage::Inventorying(_) => None,
            Stage::FetchingImage { session, .. } => Some(Errand::FetchImage { session: session.clone(), is_spoiled }),
            Stage::Writing(session, _, writing) => report(session, AgentReport::Progress { percent: writing.next_percent() }),
            Stage::FetchingSeed(session, _) => Some(Errand::FetchSeed { session: session.clone() }),
            Stage::Telling(session, sha256) => report(session, AgentReport::Written { sha256: sha256.clone() }),
            Stage::Failing { session, trouble, detail } => {
                report(session, AgentReport::Failed { trouble: *trouble, detail: detail.clone() })
            }
            Stage::Idle { .. } => None,
        }
    }
}

fn exchange(config: &AgentConfig, machine: &str, nonce: String) -> Errand {
    Errand::Exchange { config: config.clone(), machine: machine.to_owned(), nonce }
}

impl Stage {
    /// The session of an agent that has to choose its disks next.
    pub(super) fn choosing(&self) -> Option<&Session> {
        if let Stage::Inventorying(session) = self { Some(session) } else { None }
    }

    pub(super) fn after(self, outcome: Outcome, found: &Findings<'_>) -> Next {
        let (now, again_at) = (found.now, found.now + found.pace.call_again);
        match (self, outcome) {
            (Stage::Fetching, Outcome::Media(config)) => {
                let stage = if found.is_token_stolen { Stage::Stolen(*config) } else { Stage::Exchanging(*config) };
                Next::at(stage, now)
            }
            (Stage::Fetching, _) => Next::idle("nothing could be fetched").doing(Effect::BootDisk),
            // A progress that nobody heard is not told again: the next one says more.
            (Stage::Writing(session, fetched, writing), Outcome::Silence { .. } | Outcome::Done) => {
                let writing = Writing { told: writing.next_percent(), ..writing };
                Next::at(Stage::Writing(session, fetched, writing), writing.next_at().max(now))
            }
            (Stage::FetchingImage { session, volume, tries }, Outcome::Silence { why }) => {
                without_image(session, volume, tries + 1, &why, again_at)
            }
            (Stage::FetchingImage { session, volume, tries }, Outcome::Refused { status }) => {
                without_image(session, volume, tries + 1, &format!("it answers {status}"), again_at)
            }
            (stage, Outcome::Silence { .. }) => Next::at(stage, again_at),
            (Stage::Stolen(config), _) => Next::at(Stage::Exchanging(config), now),
            (Stage::Exchanging(config), Outcome::Granted(grant)) => {
                let session = Session { config, grant: *grant };
                Next::at(Stage::Logging(session.clone(), Box::new(Stage::Inventorying(session))), now)
            }
            // An attempt that is over takes nothing any more; that somebody does not want the rest stops nobody.
            (Stage::Logging(_, then), outcome) if !is_over(&outcome) => Next::at(*then, now),
            (Stage::Inventorying(session), outcome) if !is_over(&outcome) => choose(session, found),
            (Stage::Copied(session, volume), _) => Next::at(Stage::FetchingImage { session, volume, tries: 0 }, now),
            (Stage::FetchingImage { session, volume, .. }, Outcome::Image { bytes, sha256, release }) => {
                let fetched = Fetched { volume, sha256, release };
                fetched_image(session, fetched, bytes, found)
            }
            (Stage::FetchingSeed(session, fetched), Outcome::Seed(first_boot)) => {
                let sha256 = fetched.sha256.clone();
                Next::at(logged(session.clone(), Stage::Telling(session, sha256)), now).doing(Effect::WriteSystem { fetched, first_boot })
            }
            (Stage::FetchingSeed(session, _), Outcome::Refused { status }) => {
                let detail = format!("the first-boot configuration was refused with {status}");
                failing(session, AgentTrouble::SeedFailed, detail, now)
            }
            (Stage::Telling(..), Outcome::Done) => Next::idle("written"),
            (Stage::Failing { detail, .. }, Outcome::Done) => Next::idle(detail),
            (_, Outcome::Refused { status }) => Next::idle(format!("refused with {status}")),
            (_, outcome) => Next::idle(format!("an answer to another question: {outcome:?}")),
        }
    }
}

/// An image that did not come is asked for again, until it has been asked for often enough.
fn without_image(session: Session, volume: HostDisk, tries: u32, why: &str, again_at: Instant) -> Next {
    if tries < IMAGE_TRIES {
        return Next::at(Stage::FetchingImage { session, volume, tries }, again_at);
    }
    let detail = format!("{}: {why}", session.grant.image.url);
    failing(session, AgentTrouble::ImageUnreachable, detail, again_at)
}

fn is_over(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Refused { status: 401 | 409 })
}

fn logged(session: Session, then: Stage) -> Stage {
    Stage::Logging(session, Box::new(then))
}

/// The log goes before the last word, for nothing is heard after it.
fn failing(session: Session, trouble: AgentTrouble, detail: String, at: Instant) -> Next {
    Next::at(logged(session.clone(), Stage::Failing { session, trouble, detail }), at)
}

/// What the agent says of its work until then. No token is in it.
fn log(session: &Session, then: &Stage) -> String {
    let AgentConfig { machine, operation, round, .. } = &session.config;
    let mut lines = vec![format!("agent of {machine}: attempt {round} of operation {operation}"), "the session has begun".to_owned()];
    match then {
        Stage::Telling(_, sha256) => {
            lines.push(format!("{} bytes were written and read back, with sha256 {sha256}", session.grant.image.bytes));
            lines.push("the first-boot configuration was written".to_owned());
        }
        Stage::Failing { trouble, detail, .. } => lines.push(format!("giving up: {trouble:?}: {detail}")),
        _ => {}
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn choose(session: Session, found: &Findings<'_>) -> Next {
    let Choice { system, wipe } = match &found.disks {
        Some(Ok(choice)) => choice.clone(),
        Some(Err(Trouble { trouble, detail })) => return failing(session, *trouble, detail.clone(), found.now),
        None => return Next::idle("nobody looked for disks"),
    };
    let stage =
        if found.is_token_copied { Stage::Copied(session, system) } else { Stage::FetchingImage { session, volume: system, tries: 0 } };
    let next = Next::at(stage, found.now);
    if wipe.is_empty() { next } else { next.doing(Effect::Wipe { disks: wipe }) }
}

/// It was written as it came, so the system of before has gone whether or not it is the right one.
fn fetched_image(session: Session, fetched: Fetched, bytes: u64, found: &Findings<'_>) -> Next {
    let wanted = &session.grant.image;
    let erase = Effect::Erase { volume: fetched.volume };
    if bytes != wanted.bytes || !fetched.sha256.eq_ignore_ascii_case(&wanted.sha256) {
        let detail = format!(
            "{}: {} bytes with sha256 {} were expected, and {bytes} with {} came",
            wanted.url, wanted.bytes, wanted.sha256, fetched.sha256
        );
        return failing(session, AgentTrouble::WrongDigest, detail, found.now).doing(erase);
    }
    let writing = Writing::beginning(found.now, found.pace.image_write);
    Next::at(Stage::Writing(session, fetched, writing), writing.next_at()).doing(erase)
}
