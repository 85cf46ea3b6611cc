//! How far an agent has come, and what it makes of an answer. What its machine makes of that is in `course.rs`.

use serde::{Deserialize, Serialize};

use super::{AgentConfig, AgentReport, AgentTrouble, Errand, Outcome, Session};
use crate::hardware::{BootSource, FirstBoot, Release};
use crate::pace::Pace;
use crate::time::{Instant, Span};

/// How often an agent asks for an image that does not come, before it gives up.
pub(super) const IMAGE_TRIES: u32 = 3;

/// An agent tells its progress in steps of this many percent.
pub(super) const PROGRESS_STEP: u8 = 25;

/// What was started from elsewhere than the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentRun {
    pub source: BootSource,
    pub stage: Stage,
}

/// An image that has been fetched, and the volume it goes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fetched {
    pub volume: u32,
    pub sha256: String,
    pub release: Option<Release>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// The firmware fetches what it starts.
    Fetching,
    /// Another machine calls with this one's token.
    Stolen(AgentConfig),
    Exchanging(AgentConfig),
    /// A second agent calls with the same token.
    Copied(Session, u32),
    FetchingImage {
        session: Session,
        volume: u32,
        tries: u32,
    },
    Writing {
        session: Session,
        fetched: Fetched,
        began_at: Instant,
        ends_at: Instant,
        told: u8,
    },
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
        volume: u32,
    },
    WriteSystem {
        fetched: Fetched,
        first_boot: FirstBoot,
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
    /// The volume that is meant by what it was told, if there is one.
    pub disk: Option<u32>,
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
    pub fn fetching(source: BootSource) -> AgentRun {
        AgentRun { source, stage: Stage::Fetching }
    }

    /// Moves what is pending, after the site stood still.
    pub fn shift(&mut self, by: Span) {
        if let Stage::Writing { began_at, ends_at, .. } = &mut self.stage {
            (*began_at, *ends_at) = (*began_at + by, *ends_at + by);
        }
    }

    /// What it wants to ask now. `thief` is the machine that calls with a stolen token.
    pub(super) fn errand(&self, thief: &str, is_spoiled: bool) -> Option<Errand> {
        let report = |session: &Session, report| Some(Errand::Report { session: session.clone(), report });
        match &self.stage {
            Stage::Fetching => Some(Errand::FetchMedia { source: self.source.clone() }),
            Stage::Stolen(config) => Some(Errand::Exchange { config: config.clone(), machine: thief.to_owned() }),
            Stage::Exchanging(config) | Stage::Copied(Session { config, .. }, _) => {
                Some(Errand::Exchange { config: config.clone(), machine: config.machine.clone() })
            }
            Stage::FetchingImage { session, .. } => Some(Errand::FetchImage { session: session.clone(), is_spoiled }),
            Stage::Writing { session, told, .. } => report(session, AgentReport::Progress { percent: told + PROGRESS_STEP }),
            Stage::FetchingSeed(session, _) => Some(Errand::FetchSeed { session: session.clone() }),
            Stage::Telling(session, sha256) => report(session, AgentReport::Written { sha256: sha256.clone() }),
            Stage::Failing { session, trouble, detail } => {
                report(session, AgentReport::Failed { trouble: *trouble, detail: detail.clone() })
            }
            Stage::Idle { .. } => None,
        }
    }
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
            // Nobody knows about a failed report; the agent that failed is seen as one that does nothing.
            (stage @ Stage::Writing { .. }, outcome @ (Outcome::Silence { .. } | Outcome::Done)) => stage.told_progress(&outcome, now),
            (stage @ Stage::FetchingImage { .. }, outcome @ (Outcome::Silence { .. } | Outcome::Refused { .. })) => {
                stage.without_image(&outcome, again_at)
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

    fn told_progress(self, outcome: &Outcome, now: Instant) -> Next {
        let Stage::Writing { session, fetched, began_at, ends_at, told } = self else { return Next::idle(format!("{outcome:?}")) };
        // A progress that nobody heard is not told again: the next one says more.
        let told = told + PROGRESS_STEP;
        let next = progress_at(began_at, ends_at, told + PROGRESS_STEP).max(now);
        Next::at(Stage::Writing { session, fetched, began_at, ends_at, told }, next)
    }

    fn without_image(self, outcome: &Outcome, again_at: Instant) -> Next {
        let Stage::FetchingImage { session, volume, tries } = self else { return Next::idle(format!("{outcome:?}")) };
        let tries = tries + 1;
        if tries < IMAGE_TRIES {
            return Next::at(Stage::FetchingImage { session, volume, tries }, again_at);
        }
        let why = match outcome {
            Outcome::Refused { status } => format!("it answers {status}"),
            Outcome::Silence { why } => why.clone(),
            other => format!("{other:?}"),
        };
        let detail = format!("{}: {why}", session.grant.image.url);
        Next::at(Stage::Failing { session, trouble: AgentTrouble::ImageUnreachable, detail }, again_at)
    }
}

/// When this much of an image has been written.
pub(super) fn progress_at(began_at: Instant, ends_at: Instant, percent: u8) -> Instant {
    began_at + Span((ends_at - began_at).0 * i64::from(percent) / 100)
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
    let (began_at, ends_at) = (found.now, found.now + found.pace.image_write);
    let first_at = progress_at(began_at, ends_at, PROGRESS_STEP);
    Next::at(Stage::Writing { session, fetched, began_at, ends_at, told: 0 }, first_at).doing(erase)
}
