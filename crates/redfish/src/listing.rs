//! Collections: reading members so that a bad one costs only itself, and telling "none" from "not offered".

use model::{Delivery, Fault, FaultClass};
use serde_json::Value;

use crate::bmc::Bmc;
use crate::document::{self, field, items, link, text};
use crate::line::Deadline;
use crate::root::Expand;

/// The most members of one collection that are read. A machine has fewer of anything; a BMC that lists more, or whose
/// pages lead in a circle, is broken.
pub const MAX_MEMBERS: usize = 512;

/// The members of a collection that could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing<T> {
    pub members: Vec<T>,
    /// How many more there are that the BMC listed but did not tell about. While there are any, what is not among
    /// `members` is not known to be gone.
    pub unread: usize,
}

/// One part of what a BMC may tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<T> {
    /// This BMC does not tell. It is not the same as telling that there is none.
    NotOffered,
    /// It offers to, but failed this time.
    Unread(Fault),
    Read(T),
}

/// A member's document and where it was found.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub path: String,
    pub document: Value,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Listing { members: Vec::new(), unread: 0 }
    }
}

impl<T> Listing<T> {
    /// What each member says. One that is not really there (an empty slot) is nothing, and is left out.
    pub(crate) fn map<U>(self, read: impl Fn(T) -> Option<U>) -> Listing<U> {
        Listing { members: self.members.into_iter().filter_map(read).collect(), unread: self.unread }
    }
}

impl<T> Part<T> {
    /// The part, if it was read.
    pub fn read(&self) -> Option<&T> {
        match self {
            Part::Read(part) => Some(part),
            Part::NotOffered | Part::Unread(_) => None,
        }
    }
}

impl<T> From<Result<T, Fault>> for Part<T> {
    /// A link may be advertised and lead nowhere: then the part is not offered.
    fn from(result: Result<T, Fault>) -> Self {
        match result {
            Ok(part) => Part::Read(part),
            Err(fault) if is_absence(&fault) => Part::NotOffered,
            Err(fault) => Part::Unread(fault),
        }
    }
}

impl Bmc {
    /// The members of the collection at `path`, in one request where the BMC can expand it.
    pub(crate) async fn list(&self, path: &str, deadline: Deadline) -> Result<Listing<Member>, Fault> {
        let expanded = match self.line().root(deadline).await?.expand {
            Expand::Offered => self.read_if_answered(&format!("{path}?$expand=.($levels=1)"), deadline).await?,
            Expand::NotOffered => None,
        };
        let mut page = match expanded {
            Some(page) => page,
            None => self.line().get(path, deadline).await?,
        };
        let mut listing = Listing::default();
        loop {
            let mut members = items(field(&page, "Members"));
            let links: Vec<Value> = members.by_ref().take(MAX_MEMBERS.saturating_sub(listing.len())).cloned().collect();
            let cut_off = members.count();
            self.read_members(&links, &mut listing, deadline).await?;
            match text(&page, "Members@odata.nextLink").as_deref().and_then(document::local_path) {
                // A page that adds nothing would be followed for ever.
                Some(next) if listing.len() < MAX_MEMBERS && !links.is_empty() => page = self.line().get(&next, deadline).await?,
                next => {
                    // What is on the pages that are not read is not known, but that there is something is.
                    let more = usize::from(next.is_some() && !links.is_empty());
                    listing.unread += cut_off + more;
                    return Ok(listing);
                }
            }
        }
    }

    /// Reads the members that are given as links or in full.
    pub(crate) async fn read_members(&self, links: &[Value], listing: &mut Listing<Member>, deadline: Deadline) -> Result<(), Fault> {
        for entry in links {
            let Some(path) = link(entry) else {
                listing.unread += 1;
                continue;
            };
            let document = if is_whole(entry) { Some(entry.clone()) } else { self.read_if_answered(&path, deadline).await? };
            match document {
                Some(document) => listing.members.push(Member { path, document }),
                None => listing.unread += 1,
            }
        }
        Ok(())
    }
}

impl<T> Listing<T> {
    fn len(&self) -> usize {
        self.members.len() + self.unread
    }
}

/// Whether a member stands in its collection in full rather than as a link. A link may carry annotations, an ETag say.
fn is_whole(entry: &Value) -> bool {
    entry.as_object().is_some_and(|entry| entry.keys().any(|key| !key.starts_with('@')))
}

pub(crate) fn is_absence(fault: &Fault) -> bool {
    matches!(fault.class, FaultClass::Missing | FaultClass::Unsupported)
}

/// That what was looked for may be among the members that cannot be read: "none" must be known, not guessed.
pub(crate) fn unread(collection: &str, unread: usize) -> Fault {
    let detail = format!("GET {collection}: {unread} of what it lists cannot be read");
    Fault::new(FaultClass::Garbled, Delivery::No, detail)
}

/// That a BMC does not offer something at all.
pub(crate) fn not_offered(what: &str) -> Fault {
    Fault::new(FaultClass::Unsupported, Delivery::No, format!("this BMC offers no {what}"))
}

/// A link that leads nowhere offers nothing.
pub(crate) fn offered<T>(outcome: Result<T, Fault>, what: &str) -> Result<T, Fault> {
    outcome.map_err(|fault| if is_absence(&fault) { not_offered(what) } else { fault })
}
