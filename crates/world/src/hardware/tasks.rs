//! Work that a BMC does while the caller waits: firmware updates and changes of volumes.

use serde::{Deserialize, Serialize};

use super::firmware::Component;
use super::storage::NewVolume;
use crate::time::{Instant, Span};

/// How many tasks a BMC remembers. The oldest that has ended makes room.
pub const TASKS_KEPT: usize = 16;

/// The end of a task that does not end.
const NEVER: Instant = Instant(i64::MAX);

/// What becomes of a task that made the BMC restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AfterRestart {
    Remembered,
    Forgotten,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// `firmware` is what the image turned out to be; `None` is an image that this machine cannot use.
    UpdateFirmware {
        image: String,
        firmware: Option<(Component, String)>,
        after_restart: AfterRestart,
    },
    CreateVolume(NewVolume),
    DeleteVolume {
        number: u32,
    },
    ResetStorage,
}

impl Work {
    pub fn is_storage(&self) -> bool {
        !matches!(self, Work::UpdateFirmware { .. })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskState {
    Running,
    /// With the number of the volume that it made, if it made one.
    Completed {
        volume: Option<u32>,
    },
    Failed {
        reason: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Counts from 1 and is never used twice on one machine.
    pub number: u64,
    pub work: Work,
    pub started_at: Instant,
    /// When it ended, or will.
    pub ends_at: Instant,
    pub state: TaskState,
}

impl Task {
    pub fn is_running(&self) -> bool {
        self.state == TaskState::Running
    }

    fn is_stuck(&self) -> bool {
        self.ends_at == NEVER
    }

    /// A running task is never seen at 100.
    pub fn percent(&self, now: Instant) -> i64 {
        if !self.is_running() {
            return 100;
        }
        let whole = (self.ends_at - self.started_at).0.max(1);
        ((now - self.started_at).0 * 100 / whole).clamp(0, 99)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tasks {
    list: Vec<Task>,
    started: u64,
}

impl Tasks {
    /// Oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Task> {
        self.list.iter()
    }

    pub fn get(&self, number: u64) -> Option<&Task> {
        self.list.iter().find(|task| task.number == number)
    }

    pub(crate) fn start(&mut self, work: Work, now: Instant, takes: Span) -> u64 {
        if self.list.len() >= TASKS_KEPT
            && let Some(oldest) = self.list.iter().position(|task| !task.is_running())
        {
            self.list.remove(oldest);
        }
        self.started += 1;
        self.list.push(Task { number: self.started, work, started_at: now, ends_at: now + takes, state: TaskState::Running });
        self.started
    }

    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.list.iter().filter(|task| task.is_running() && !task.is_stuck()).map(|task| task.ends_at).min()
    }

    /// Begins a firmware update that does not end by itself.
    pub(crate) fn stick(&mut self, image: &str, now: Instant) {
        let work = Work::UpdateFirmware { image: image.to_owned(), firmware: None, after_restart: AfterRestart::Remembered };
        let number = self.start(work, now, Span::ZERO);
        if let Some(task) = self.list.iter_mut().find(|task| task.number == number) {
            task.ends_at = NEVER;
        }
    }

    /// Gives up what does not end by itself.
    pub(crate) fn unstick(&mut self, at: Instant) {
        for task in self.list.iter_mut().filter(|task| task.is_running() && task.is_stuck()) {
            task.ends_at = at;
            task.state = TaskState::Failed { reason: "The job was taken out of the queue.".to_owned() };
        }
    }

    /// The running task that is due first, at `at` or before.
    pub(crate) fn due(&self, at: Instant) -> Option<Task> {
        let running = self.list.iter().filter(|task| task.is_running() && task.ends_at <= at);
        running.min_by_key(|task| (task.ends_at, task.number)).cloned()
    }

    pub(crate) fn end(&mut self, number: u64, state: TaskState) {
        if let Some(task) = self.list.iter_mut().find(|task| task.number == number) {
            task.state = state;
        }
    }

    pub(crate) fn forget(&mut self, number: u64) {
        self.list.retain(|task| task.number != number);
    }

    /// Moves what is pending, after the site stood still.
    pub(crate) fn shift(&mut self, by: Span) {
        for task in self.list.iter_mut().filter(|task| task.is_running() && !task.is_stuck()) {
            (task.started_at, task.ends_at) = (task.started_at + by, task.ends_at + by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_ended_tasks_are_remembered() {
        let mut tasks = Tasks::default();
        let first = tasks.start(Work::ResetStorage, Instant(0), Span::minutes(60));
        for _ in 0..20 {
            let number = tasks.start(Work::ResetStorage, Instant(0), Span::seconds(1));
            tasks.end(number, TaskState::Completed { volume: None });
        }
        assert_eq!(tasks.iter().len(), TASKS_KEPT);
        assert!(tasks.get(first).is_some_and(Task::is_running), "one that runs is never forgotten");
        assert!(tasks.get(first + 1).is_none());
    }

    #[test]
    fn a_running_task_is_never_seen_at_a_hundred() {
        let mut tasks = Tasks::default();
        let number = tasks.start(Work::ResetStorage, Instant(1_000), Span(2_000));
        let percent = |tasks: &Tasks, at| tasks.get(number).unwrap().percent(Instant(at));
        assert_eq!([1_000, 2_000, 3_000, 9_000].map(|at| percent(&tasks, at)), [0, 50, 99, 99]);
        tasks.end(number, TaskState::Completed { volume: None });
        assert_eq!(percent(&tasks, 2_000), 100);
    }
}
