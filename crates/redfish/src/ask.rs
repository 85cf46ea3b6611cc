//! One request, as the driver's methods put it, and what its answer gives them.

use http::header::{ALLOW, ETAG, LOCATION};
use http::{HeaderValue, Method, StatusCode};
use model::Fault;
use serde_json::Value;

use crate::content::{Sent, Words};
use crate::document::{self, local_path};
use crate::fault::{Asked, Purpose};
use crate::jobs::{JobRef, JobState};
use crate::line::{Deadline, Line};
use crate::transport::{Answer, Content, Reading};

/// A request before it has credentials.
pub(crate) struct Ask {
    pub asked: Asked,
    pub sent: Option<Sent>,
    /// The state that the request was made for: a BMC in another refuses it.
    pub if_match: Option<HeaderValue>,
    pub reading: Reading,
}

/// A document, and what its headers say about changing it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub document: Value,
    pub etag: Option<HeaderValue>,
    /// The methods that the resource takes, if it tells.
    pub allow: Option<String>,
}

impl Ask {
    pub fn get(path: &str) -> Ask {
        Ask::observing(Method::GET, path)
    }

    /// A request that leaves the machine as it is.
    pub fn observing(method: Method, path: &str) -> Ask {
        Ask {
            asked: Asked { method, path: path.to_owned(), purpose: Purpose::Observe },
            sent: None,
            if_match: None,
            reading: Reading::Whole,
        }
    }

    /// A request that is meant to change something.
    pub fn requesting(method: Method, path: &str, sent: Option<Sent>) -> Ask {
        let asked = Asked { method, path: path.to_owned(), purpose: Purpose::Request };
        Ask { asked, sent, if_match: None, reading: Reading::Whole }
    }
}

impl Line {
    /// Reads a document.
    pub async fn get(&self, path: &str, deadline: Deadline) -> Result<Value, Fault> {
        Ok(self.read(path, deadline).await?.document)
    }

    /// Reads a document with what is needed to change it.
    pub async fn read(&self, path: &str, deadline: Deadline) -> Result<Found, Fault> {
        self.read_as(Reading::Whole, path, deadline).await
    }

    pub async fn read_as(&self, reading: Reading, path: &str, deadline: Deadline) -> Result<Found, Fault> {
        let ask = Ask { reading, ..Ask::get(path) };
        let answer = self.exchange(&ask, deadline).await?;
        let document = read_document(&ask.asked, &answer)?;
        let told = || document::text(&document, "@odata.etag").and_then(|etag| HeaderValue::try_from(etag).ok());
        let etag = answer.headers.get(ETAG).cloned().or_else(told);
        let allow = answer.headers.get(ALLOW).and_then(|allow| allow.to_str().ok()).map(str::to_ascii_uppercase);
        Ok(Found { document, etag, allow })
    }

    /// Asks for an action. What happened is seen by looking; the answer may name a job that can be looked at.
    pub async fn post(&self, path: &str, sent: Sent, deadline: Deadline) -> Result<Option<JobRef>, Fault> {
        self.ask(Ask::requesting(Method::POST, path, Some(sent)), deadline).await
    }

    /// Asks for a change of the resource that was just read as `found`.
    pub async fn patch(&self, path: &str, sent: Sent, found: &Found, deadline: Deadline) -> Result<Option<JobRef>, Fault> {
        let ask = Ask { if_match: found.etag.clone(), ..Ask::requesting(Method::PATCH, path, Some(sent)) };
        self.ask(ask, deadline).await
    }

    pub async fn delete(&self, path: &str, deadline: Deadline) -> Result<Option<JobRef>, Fault> {
        self.ask(Ask::requesting(Method::DELETE, path, None), deadline).await
    }

    /// Looks at a task or at its monitor: what the status says of it, and the task if there is one to read.
    pub async fn observe_monitor(&self, path: &str, deadline: Deadline) -> Result<(JobState, Value), Fault> {
        let ask = Ask::get(path);
        let answer = self.exchange(&ask, deadline).await?;
        if !answer.status.is_success() {
            return Err(ask.asked.refused(&answer, Words::Repeat));
        }
        let state = if answer.status == StatusCode::ACCEPTED { JobState::Running } else { JobState::Succeeded };
        Ok((state, document::parse(&answer.body).unwrap_or(Value::Null)))
    }

    /// Opens a stream of events.
    pub async fn stream(&self, path: &str, deadline: Deadline) -> Result<Content, Fault> {
        let ask = Ask { reading: Reading::Stream, ..Ask::get(path) };
        let answer = self.exchange(&ask, deadline).await?;
        match answer.stream {
            Some(stream) => Ok(stream),
            None => Err(ask.asked.refused(&answer, Words::Repeat)),
        }
    }

    async fn ask(&self, ask: Ask, deadline: Deadline) -> Result<Option<JobRef>, Fault> {
        let answer = self.exchange(&ask, deadline).await?;
        if answer.status.is_success() {
            return Ok(read_job(&answer));
        }
        let words = ask.sent.as_ref().map_or(Words::Repeat, |sent| sent.words);
        Err(ask.asked.refused(&answer, words))
    }
}

pub(crate) fn read_document(asked: &Asked, answer: &Answer) -> Result<Value, Fault> {
    if !answer.status.is_success() {
        return Err(asked.refused(answer, Words::Repeat));
    }
    document::parse(&answer.body).ok_or_else(|| asked.garbled("the answer is not a JSON object"))
}

/// The job that a request became: the Task in the answer, or else what a 202 points to.
fn read_job(answer: &Answer) -> Option<JobRef> {
    let task = document::parse(&answer.body).filter(document::is_task);
    let told = task.and_then(|task| document::text(&task, "@odata.id")).as_deref().and_then(local_path);
    let pointed = || {
        let location = answer.headers.get(LOCATION).filter(|_| answer.status == StatusCode::ACCEPTED)?;
        local_path(location.to_str().ok()?)
    };
    told.or_else(pointed).map(JobRef::new)
}
