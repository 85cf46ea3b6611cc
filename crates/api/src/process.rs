//! What the API knows of the process that it runs in.

use std::sync::Arc;

use plan::Life;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::activity::LogReaders;

/// Renders everything that was measured in this process, as Prometheus reads it.
pub type Exposition = Arc<dyn Fn() -> String + Send + Sync>;

#[derive(Clone)]
pub struct Process {
    /// Cancelled when the process was told to stop, before it stops answering.
    pub stopping: CancellationToken,
    /// The requests that are being answered.
    pub answering: TaskTracker,
    pub exposition: Exposition,
    /// Those who read the activity log.
    pub log_readers: LogReaders,
}

impl Process {
    pub(crate) fn life(&self) -> Life {
        if self.stopping.is_cancelled() { Life::Stopping } else { Life::Running }
    }
}

/// A process that measures nothing.
impl Default for Process {
    fn default() -> Self {
        Process {
            stopping: CancellationToken::new(),
            answering: TaskTracker::new(),
            exposition: Arc::new(String::new),
            log_readers: LogReaders::default(),
        }
    }
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Process").field("stopping", &self.stopping.is_cancelled()).finish_non_exhaustive()
    }
}
