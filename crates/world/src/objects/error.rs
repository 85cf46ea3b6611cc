//! Why the object table refuses.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectError {
    NotFound,
    AlreadyExists,
    /// The writer had an older version in hand.
    Conflict,
    /// The writer means an object of that name which is gone.
    UidMismatch {
        asked: String,
        found: String,
    },
    Invalid(String),
    Forbidden(String),
    /// There is no namespace to put the object into.
    NoNamespace {
        namespace: String,
    },
    /// The namespace is being deleted and takes nothing new.
    NamespaceTerminating {
        namespace: String,
    },
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectError::NotFound => f.write_str("there is no such object"),
            ObjectError::AlreadyExists => f.write_str("there is already an object of that name"),
            ObjectError::Conflict => {
                f.write_str("the object has been modified; please apply your changes to the latest version and try again")
            }
            ObjectError::UidMismatch { asked, found } => write!(
                f,
                "the UID in the precondition ({asked}) does not match the UID in record ({found}). \
                 The object might have been deleted and then recreated"
            ),
            ObjectError::Invalid(why) | ObjectError::Forbidden(why) => f.write_str(why),
            ObjectError::NoNamespace { namespace } => write!(f, "namespaces \"{namespace}\" not found"),
            ObjectError::NamespaceTerminating { namespace } => {
                write!(f, "unable to create new content in namespace {namespace} because it is being terminated")
            }
        }
    }
}

impl std::error::Error for ObjectError {}

/// The asked changes are no longer remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expired {
    pub asked: u64,
    pub oldest: u64,
}

impl fmt::Display for Expired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "too old resource version: {} ({})", self.asked, self.oldest)
    }
}

impl std::error::Error for Expired {}
