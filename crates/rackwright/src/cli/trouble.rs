//! What a command says when it cannot do what it was asked, and the exit code that scripts read.

/// Why a command did not succeed. The root's `--help` documents the codes; scripts rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The operation failed, or the server or this computer did.
    Failed,
    Usage,
    NotFound,
    /// A rule refuses it.
    Refused,
    Unreachable,
    /// The operation that was followed was cancelled.
    Canceled,
    /// It is on its way, and not there yet.
    NotYet,
    Interrupted,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::NotFound => 3,
            Exit::Refused => 4,
            Exit::Unreachable => 5,
            Exit::Canceled => 6,
            Exit::NotYet => 7,
            Exit::Interrupted => 130,
        }
    }
}

/// An error as a person reads it: what is wrong, the facts behind it, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Trouble {
    pub message: String,
    /// One fact a line.
    pub details: Vec<String>,
    pub hint: Option<String>,
    pub exit: Exit,
}

impl Trouble {
    pub fn new(exit: Exit, message: impl Into<String>) -> Trouble {
        Trouble { message: message.into(), details: Vec::new(), hint: None, exit }
    }

    pub fn failed(message: impl Into<String>) -> Trouble {
        Trouble::new(Exit::Failed, message)
    }

    /// A failure with its causes, each on a line of its own.
    pub fn caused(message: &str, cause: &dyn std::error::Error) -> Trouble {
        let mut trouble = Trouble::failed(message).detail(cause.to_string());
        let mut source = cause.source();
        while let Some(deeper) = source {
            trouble = trouble.detail(deeper.to_string());
            source = deeper.source();
        }
        trouble
    }

    pub fn detail(mut self, detail: impl Into<String>) -> Trouble {
        self.details.push(detail.into());
        self
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Trouble {
        self.hint = Some(hint.into());
        self
    }
}
