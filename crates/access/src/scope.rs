//! Scopes: where something holds. Everything, a subscription, a resource group, a resource, or a resource under a resource.
//!
//! A scope holds for all that is below it. Ids compare without case, as in Azure. What could be read in two ways is refused: whoever
//! judges a path and whoever serves it must mean the same thing.

mod parse;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Characters of a scope. Five levels of the longest names come to less.
pub const SCOPE_MAX: usize = 1024;

/// Levels of a scope, `/` included: more than any provider nests.
pub const LEVELS_MAX: usize = 12;

/// Under which locks are kept, which no lock protects.
const LOCKS: &str = "/providers/microsoft.authorization/locks/";

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{scope}` is no scope: {problem}")]
pub struct InvalidScope {
    pub scope: String,
    pub problem: &'static str,
}

/// It keeps the case it was given in. A clone shares its text.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Scope {
    text: Arc<str>,
    /// In lower case, and empty for `/`.
    key: Arc<str>,
    /// Where the key of each level ends, the outermost first; the last is the scope itself.
    ends: Arc<[usize]>,
}

impl Scope {
    pub fn root() -> Scope {
        Scope { text: "/".into(), key: "".into(), ends: [0].into() }
    }

    pub fn parse(text: &str) -> Result<Scope, InvalidScope> {
        let invalid = |problem| InvalidScope { scope: model::cleaned(text, SCOPE_MAX), problem };
        if text == "/" {
            return Ok(Scope::root());
        }
        let ends = parse::levels(text).map_err(invalid)?;
        Ok(Scope { text: text.into(), key: text.to_ascii_lowercase().into(), ends: ends.into() })
    }

    pub fn subscription(id: &str) -> Result<Scope, InvalidScope> {
        Scope::parse(&format!("/subscriptions/{id}"))
    }

    pub fn group(subscription: &str, group: &str) -> Result<Scope, InvalidScope> {
        Scope::parse(&format!("/subscriptions/{subscription}/resourceGroups/{group}"))
    }

    /// A resource of a provider in this scope.
    pub fn resource(&self, namespace: &str, kind: &str, name: &str) -> Result<Scope, InvalidScope> {
        Scope::parse(&format!("{}/providers/{namespace}/{kind}/{name}", self.stem()))
    }

    /// A resource under this resource.
    pub fn child(&self, kind: &str, name: &str) -> Result<Scope, InvalidScope> {
        Scope::parse(&format!("{}/{kind}/{name}", self.stem()))
    }

    fn stem(&self) -> &str {
        if self.is_root() { "" } else { &self.text }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn is_root(&self) -> bool {
        self.key.is_empty()
    }

    /// Whether what holds here holds there: it is the same scope, or one below it.
    pub fn contains(&self, other: &Scope) -> bool {
        other.levels().nth(self.ends.len() - 1) == Some(&*self.key)
    }

    /// The scope that this one is in; nothing for `/`.
    pub fn parent(&self) -> Option<Scope> {
        let (_, outer) = self.ends.split_last()?;
        let end = *outer.last()?;
        let text = if end == 0 { "/" } else { &self.text[..end] };
        Some(Scope { text: text.into(), key: self.key[..end].into(), ends: outer.into() })
    }

    /// The id of the subscription that it is in.
    pub fn subscription_id(&self) -> Option<&str> {
        let rest = self.key.starts_with("/subscriptions/").then(|| &self.text["/subscriptions/".len()..])?;
        rest.split('/').next()
    }

    /// The name of the last part; nothing for `/`.
    pub fn name(&self) -> Option<&str> {
        self.text.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// The form in which equal scopes are equal bytes; for `/` it is empty.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The keys of all scopes that contain this one, the outermost first, itself last.
    pub(crate) fn levels(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.ends.iter().map(|end| &self.key[..*end])
    }

    /// Whether it is a lock, or something below one.
    pub(crate) fn is_lock(&self) -> bool {
        self.key.contains(LOCKS)
    }
}

impl TryFrom<String> for Scope {
    type Error = InvalidScope;
    fn try_from(text: String) -> Result<Self, InvalidScope> {
        Scope::parse(&text)
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> String {
        scope.text.as_ref().to_owned()
    }
}

impl PartialEq for Scope {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Scope {}

impl PartialOrd for Scope {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scope {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl Hash for Scope {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

#[cfg(test)]
mod tests;
