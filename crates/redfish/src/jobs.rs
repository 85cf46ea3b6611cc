//! Jobs: the tasks that firmware and storage requests become.

use std::fmt;

use model::{Fault, FaultClass, shortened};
use serde_json::Value;

use crate::bmc::Bmc;
use crate::document::{self, field, items, number, text};
use crate::line::Deadline;
use crate::listing::{Listing, Member, not_offered, offered};

/// How many messages of a job are kept. A job that says more repeats itself.
const MAX_JOB_MESSAGES: usize = 16;

/// Where a job can be looked at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobRef(String);

/// A job as its BMC describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub reference: JobRef,
    pub name: Option<String>,
    /// Absent if the BMC uses a word that the standard does not have.
    pub state: Option<JobState>,
    pub percent: Option<u8>,
    pub messages: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// It waits: for its time, for a restart of the machine, or for another job.
    Pending,
    Running,
    Succeeded,
    Failed,
    Cancelled,
}

/// What a look for one job finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobSeen {
    Seen(Job),
    /// The BMC knows no such job. It may have restarted at the end of a successful update and forgotten it, so this is
    /// neither success nor failure: what the job should have changed tells.
    Gone,
}

impl JobRef {
    /// `path` is where the job is on its BMC, as [`JobRef::as_str`] gave it.
    pub fn new(path: impl Into<String>) -> Self {
        JobRef(path.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for JobRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Bmc {
    /// The jobs that the BMC remembers. A BMC without a task service is unsupported.
    pub async fn observe_jobs(&self) -> Result<Listing<Job>, Fault> {
        let members = self.tasks(Deadline::of_call()).await?;
        Ok(members.map(|member: Member| Some(read_job(JobRef::new(member.path), &member.document))))
    }

    pub(crate) async fn tasks(&self, deadline: Deadline) -> Result<Listing<Member>, Fault> {
        let service = self.line().root(deadline).await?.tasks.ok_or_else(|| not_offered("jobs"))?;
        let service = offered(self.line().get(&service, deadline).await, "jobs")?;
        let tasks = document::linked(&service, "Tasks").ok_or_else(|| not_offered("jobs"))?;
        offered(self.list(&tasks, deadline).await, "jobs")
    }

    /// One job.
    ///
    /// A job may be known by its monitor, which tells nothing while it runs and answers without a task when it is over.
    pub async fn observe_job(&self, job: &JobRef) -> Result<JobSeen, Fault> {
        match self.line().observe_monitor(&job.0, Deadline::of_call()).await {
            Ok((state, document)) => {
                let mut seen = read_job(job.clone(), &document);
                // A monitor has no words for it: while it says 202 the job runs, and after that it is done.
                if text(&document, "TaskState").is_none() {
                    seen.state = Some(state);
                }
                Ok(JobSeen::Seen(seen))
            }
            Err(fault) if fault.class == FaultClass::Missing => Ok(JobSeen::Gone),
            Err(fault) => Err(fault),
        }
    }
}

pub(crate) fn read_job(reference: JobRef, task: &Value) -> Job {
    let status = text(task, "TaskStatus").unwrap_or_default();
    let messages = items(field(task, "Messages")).filter_map(|message| text(message, "Message")).map(|message| shortened(&message));
    Job {
        name: text(task, "Name"),
        state: text(task, "TaskState").and_then(|state| read_state(&state, &status)),
        percent: number(task, "PercentComplete").and_then(|percent| u8::try_from(percent).ok()).filter(|percent| *percent <= 100),
        messages: messages.take(MAX_JOB_MESSAGES).collect(),
        reference,
    }
}

/// A task that completed critically has failed: the standard keeps the two apart.
fn read_state(state: &str, status: &str) -> Option<JobState> {
    Some(match state.to_ascii_lowercase().as_str() {
        "new" | "pending" => JobState::Pending,
        "starting" | "running" | "suspended" | "interrupted" | "stopping" | "service" | "cancelling" => JobState::Running,
        "completed" if status.eq_ignore_ascii_case("critical") => JobState::Failed,
        "completed" => JobState::Succeeded,
        "exception" => JobState::Failed,
        "killed" | "cancelled" => JobState::Cancelled,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_ends_well_only_if_it_completed_and_nothing_critical_is_said() {
        let table = [
            ("New", "OK", Some(JobState::Pending)),
            ("Pending", "OK", Some(JobState::Pending)),
            ("Starting", "", Some(JobState::Running)),
            ("running", "", Some(JobState::Running)),
            ("Completed", "OK", Some(JobState::Succeeded)),
            ("Completed", "Warning", Some(JobState::Succeeded)),
            ("Completed", "Critical", Some(JobState::Failed)),
            ("Exception", "OK", Some(JobState::Failed)),
            ("Killed", "", Some(JobState::Cancelled)),
            ("Cancelled", "", Some(JobState::Cancelled)),
            ("Downloading", "", None),
        ];
        for (state, status, expected) in table {
            assert_eq!(read_state(state, status), expected, "{state} {status}");
        }
    }
}
