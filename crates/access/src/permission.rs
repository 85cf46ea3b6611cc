//! Permissions in the words of Azure's role definitions: `Microsoft.NetworkCloud/bareMetalMachines/reimage/action`.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// Characters of a permission. The longest of Azure has about 130.
pub const PERMISSION_MAX: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{permission}` is no permission: {problem}")]
pub struct InvalidPermission {
    pub permission: String,
    pub problem: &'static str,
}

/// What is asked for: a namespace, a type, and what is done with it. It keeps the case it was given in and compares without it.
#[derive(Clone)]
pub struct Permission {
    text: Arc<str>,
    key: Arc<str>,
}

impl Permission {
    pub fn new(text: &str) -> Result<Permission, InvalidPermission> {
        let invalid = |problem| Err(InvalidPermission { permission: model::cleaned(text, PERMISSION_MAX), problem });
        if text.len() > PERMISSION_MAX {
            return invalid("it has more than 256 characters");
        }
        if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'-' | b'_')) {
            return invalid("only letters, digits, points, hyphens, underscores and slashes are allowed");
        }
        if text.split('/').any(str::is_empty) {
            return invalid("a part of it is empty");
        }
        Kind::of(text).map_or_else(
            || invalid("it must name a provider and end with read, write, delete or action"),
            |_| Ok(Permission { text: text.into(), key: text.to_ascii_lowercase().into() }),
        )
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The form in which equal permissions are equal bytes.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub fn kind(&self) -> Kind {
        Kind::of(&self.key).unwrap_or(Kind::Action)
    }
}

/// What a permission lets one do, in the largest classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Read,
    Write,
    Delete,
    Action,
}

impl Kind {
    fn of(permission: &str) -> Option<Kind> {
        let (_, last) = permission.rsplit_once('/')?;
        let kinds = [("read", Kind::Read), ("write", Kind::Write), ("delete", Kind::Delete), ("action", Kind::Action)];
        kinds.into_iter().find(|(word, _)| word.eq_ignore_ascii_case(last)).map(|(_, kind)| kind)
    }
}

impl PartialEq for Permission {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Permission {}

impl PartialOrd for Permission {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Permission {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_ends_with_what_is_done() {
        let kind = |text: &str| Permission::new(text).map(|permission| permission.kind());
        assert_eq!(kind("Microsoft.NetworkCloud/racks/read"), Ok(Kind::Read));
        assert_eq!(kind("Microsoft.Authorization/locks/WRITE"), Ok(Kind::Write));
        assert_eq!(kind("Microsoft.NetworkCloud/clusters/bmcKeySets/delete"), Ok(Kind::Delete));
        assert_eq!(kind("Microsoft.NetworkCloud/bareMetalMachines/reimage/action"), Ok(Kind::Action));
        for bad in [
            "",
            "read",
            "Microsoft.NetworkCloud/racks",
            "a//read",
            "/read",
            "a/*",
            "a b/read",
            "ä/read",
            &format!("{}/read", "a".repeat(256)),
        ] {
            assert!(kind(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn case_makes_no_other_permission() {
        let (first, second) = (Permission::new("A.B/racks/read").unwrap(), Permission::new("a.b/Racks/Read").unwrap());
        assert_eq!(first, second);
        assert_eq!(first.to_string(), "A.B/racks/read");
    }
}
