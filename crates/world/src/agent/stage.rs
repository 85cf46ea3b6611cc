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

/// What an agent finds about its machine.
pub(super) struct Findings<'a> {
    pub pace: &'a Pace,
    pub now: Instant,
    /// The volume or drive that is meant by what it was told, if there is one.
    pub disk: Option<HostDisk>,
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
    /// The session that an agent would have with this answer.
    pub(super) fn session_with(&self, outcome: &Outcome) -> Option<Session> {
        match (self, outcome) {
            (Stage::Exchanging(config), Outcome::Granted(grant)) => Some(Session { config: config.clone(), grant: (**grant).clone() }),
            _ => None,
        }
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
            (Stage::Exchanging(config), Outcome::Granted(grant)) => granted(Session { config, grant: *grant }, found),
            (Stage::Copied(session, volume), _) => Next::at(Stage::FetchingImage { session, volume, tries: 0 }, now),
            (Stage::FetchingImage { session, volume, .. }, Outcome::Image { bytes, sha256, release }) => {
                let fetched = Fetched { volume, sha256, release };
                fetched_image(session, fetched, bytes, found)
            }
            (Stage::FetchingSeed(session, fetched), Outcome::Seed(first_boot)) => {
                let sha256 = fetched.sha256.clone();
                Next::at(Stage::Telling(session, sha256), now).doing(Effect::WriteSystem { fetched, first_boot })
            }
            (Stage::FetchingSeed(session, _), Outcome::Refused { status }) => {
                let detail = format!("the first-boot configuration was refused with {status}");
                Next::at(Stage::Failing { session, trouble: AgentTrouble::SeedFailed, detail }, now)
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
    Next::at(Stage::Failing { session, trouble: AgentTrouble::ImageUnreachable, detail }, again_at)
}

fn granted(session: Session, found: &Findings<'_>) -> Next {
    let Some(volume) = found.disk else {
        let detail = missing_disk(&session);
        return Next::at(Stage::Failing { session, trouble: AgentTrouble::MissingDisk, detail }, found.now);
    };
    if found.is_token_copied {
        return Next::at(Stage::Copied(session, volume), found.now);
    }
    Next::at(Stage::FetchingImage { session, volume, tries: 0 }, found.now)
}

fn missing_disk(session: &Session) -> String {
    let disk = &session.grant.os_disk;
    let named = [("volume", &disk.volume), ("serial number", &disk.serial), ("WWN", &disk.wwn)];
    let named: Vec<String> = named.iter().filter_map(|(what, value)| Some(format!("{what} {}", value.as_ref()?))).collect();
    if named.is_empty() { "the controller shows no volume for it".to_owned() } else { format!("no disk has {}", named.join(" or ")) }
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
        return Next::at(Stage::Failing { session, trouble: AgentTrouble::WrongDigest, detail }, found.now).doing(erase);
    }
    let writing = Writing::beginning(found.now, found.pace.image_write);
    Next::at(Stage::Writing(session, fetched, writing), writing.next_at()).doing(erase)
}
