//! Which requests still come in while many are being answered: lists are turned away first, then other reads. Actions, and what says
//! how they go, come in as long as there is a connection: how many of those there are, and how many wait for a keeper, is limited elsewhere.

use std::fmt;

/// What answering a request takes, and what it is worth while there is too much to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// A page of many things, or a search through the log: a megabyte to make and to send, and whoever asked can ask again.
    List,
    /// One thing.
    Read,
    /// What changes something, and what tells how a change goes or whether the process is well.
    Act,
}

/// What is being answered in this process. An answer counts until it was sent: one that is read slowly takes memory meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    pub answering: usize,
    /// Of them, lists.
    pub lists: usize,
    /// Of the lists, those of the caller who asks.
    pub lists_of_caller: usize,
}

/// Lists at once: a page is about a megabyte, and as much again while it is made.
pub const LISTS_MAX: usize = 64;

/// Lists of one caller at once, so that one who reads slowly does not take all places.
pub const LISTS_OF_CALLER_MAX: usize = 16;

/// Answers under way beyond which no list comes in: a quarter of the connections that there may be.
pub const LISTS_BELOW: usize = 512;

/// Answers under way beyond which nothing is read: half of the connections. The other half is for actions.
pub const READS_BELOW: usize = 1_024;

/// Why a request is turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shed {
    ListsOfCaller,
    Lists,
    ListsForAll,
    ReadsForAll,
}

/// Whether a request comes in, at the load that there is without it.
pub fn may_enter(effort: Effort, load: &Load) -> Result<(), Shed> {
    match effort {
        Effort::List if load.lists_of_caller >= LISTS_OF_CALLER_MAX => Err(Shed::ListsOfCaller),
        Effort::List if load.lists >= LISTS_MAX => Err(Shed::Lists),
        Effort::List if load.answering >= LISTS_BELOW => Err(Shed::ListsForAll),
        Effort::Read if load.answering >= READS_BELOW => Err(Shed::ReadsForAll),
        Effort::List | Effort::Read | Effort::Act => Ok(()),
    }
}

impl fmt::Display for Shed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shed::ListsOfCaller => write!(f, "{LISTS_OF_CALLER_MAX} lists are being sent to this caller"),
            Shed::Lists => write!(f, "{LISTS_MAX} lists are being answered"),
            Shed::ListsForAll => write!(f, "{LISTS_BELOW} requests or more are being answered, and no list besides"),
            Shed::ReadsForAll => write!(f, "{READS_BELOW} requests or more are being answered, and only actions and their status besides"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_go_first_then_reads_and_actions_never() {
        let load = |answering, lists, lists_of_caller| Load { answering, lists, lists_of_caller };
        let (own, lists, all, reads) = (Some(Shed::ListsOfCaller), Some(Shed::Lists), Some(Shed::ListsForAll), Some(Shed::ReadsForAll));
        let table = [
            // at this load                    a list, a read
            (load(0, 0, 0), None, None),
            (load(15, 15, 15), None, None),
            (load(16, 16, 16), own, None),
            (load(63, 63, 0), None, None),
            (load(64, 64, 15), lists, None),
            (load(511, 63, 0), None, None),
            (load(512, 0, 0), all, None),
            (load(512, 64, 16), own, None),
            (load(1_023, 0, 0), all, None),
            (load(1_024, 0, 0), all, reads),
            (load(usize::MAX, usize::MAX, usize::MAX), own, reads),
        ];
        for (load, list, read) in table {
            assert_eq!(may_enter(Effort::List, &load).err(), list, "a list at {load:?}");
            assert_eq!(may_enter(Effort::Read, &load).err(), read, "a read at {load:?}");
            assert_eq!(may_enter(Effort::Act, &load), Ok(()), "an action at {load:?}");
        }
    }
}
