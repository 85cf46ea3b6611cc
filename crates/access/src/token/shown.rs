//! Assertions that were shown here, until they expire. An assertion that somebody else got hold of is good for nobody at another address.
//!
//! That one was seen before is no reason by itself: Azure's clients show one again until it expires, after ten minutes.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use model::Timestamp;

use super::rejection::Rejection;
use crate::guid::ClientId;
use crate::principal::CredentialId;

/// Assertions that are remembered: some MiB. The one that expires first is forgotten for a new one.
pub const SHOWN_MAX: usize = 20_000;

/// Characters of an assertion's id. Azure's clients send a GUID.
pub(super) const JTI_MAX: usize = 128;

/// What an assertion that was found good is remembered by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proven {
    pub client: ClientId,
    /// The certificate whose key signed it.
    pub credential: CredentialId,
    pub id: String,
    /// When it is good no more, the clocks' difference included.
    pub until: Timestamp,
}

type Name = (ClientId, String);

#[derive(Clone, Debug)]
pub struct ShownAssertions {
    most: usize,
    from: BTreeMap<Name, (IpAddr, Timestamp)>,
    by_end: BTreeSet<(Timestamp, Name)>,
}

impl Default for ShownAssertions {
    fn default() -> ShownAssertions {
        ShownAssertions::new(SHOWN_MAX)
    }
}

impl ShownAssertions {
    pub fn new(most: usize) -> ShownAssertions {
        ShownAssertions { most: most.max(1), from: BTreeMap::new(), by_end: BTreeSet::new() }
    }

    /// Takes an assertion from an address, unless another showed it.
    pub fn show(&mut self, proven: Proven, from: IpAddr, now: Timestamp) -> Result<(), Rejection> {
        let name = (proven.client, proven.id);
        let from = from.to_canonical();
        if let Some((first, _)) = self.from.get(&name).filter(|(_, until)| *until > now) {
            return if *first == from { Ok(()) } else { Err(Rejection::Replayed) };
        }
        self.forget(&name);
        self.from.insert(name.clone(), (from, proven.until));
        self.by_end.insert((proven.until, name));
        self.make_room(now);
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.from.len()
    }

    pub fn is_empty(&self) -> bool {
        self.from.is_empty()
    }

    fn forget(&mut self, name: &Name) {
        if let Some((_, until)) = self.from.remove(name) {
            self.by_end.remove(&(until, name.clone()));
        }
    }

    fn make_room(&mut self, now: Timestamp) {
        while let Some((until, name)) = self.by_end.first().cloned() {
            if until > now && self.from.len() <= self.most {
                return;
            }
            self.forget(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use model::Span;
    use uuid::Uuid;

    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::EPOCH + Span::seconds(seconds)
    }

    fn address(last: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, last).into()
    }

    fn proven(client: u128, id: &str, until: u64) -> Proven {
        let credential = crate::guid::SecretId::new(Uuid::from_u128(9)).into();
        Proven { client: ClientId::new(Uuid::from_u128(client)), credential, id: id.to_owned(), until: at(until) }
    }

    #[test]
    fn an_assertion_is_good_where_it_was_shown_first() {
        let mut shown = ShownAssertions::new(10);
        assert_eq!(shown.show(proven(1, "a", 60), address(1), at(0)), Ok(()));
        assert_eq!(shown.show(proven(1, "a", 60), address(1), at(59)), Ok(()), "a client shows it again");
        let mapped: IpAddr = "::ffff:192.0.2.1".parse().unwrap();
        assert_eq!(shown.show(proven(1, "a", 60), mapped, at(59)), Ok(()), "the same address");
        assert_eq!(shown.show(proven(1, "a", 60), address(2), at(59)), Err(Rejection::Replayed));
        assert_eq!(shown.show(proven(2, "a", 60), address(2), at(59)), Ok(()), "another's id is another id");
        assert_eq!(shown.show(proven(1, "b", 60), address(2), at(59)), Ok(()));
    }

    #[test]
    fn what_has_expired_is_forgotten_and_there_are_never_more_than_there_is_room_for() {
        let mut shown = ShownAssertions::new(3);
        for n in 0..100 {
            shown.show(proven(1, &n.to_string(), 60 + n), address(1), at(0)).unwrap();
            assert!(shown.len() <= 3);
        }
        assert_eq!(shown.show(proven(1, "99", 159), address(2), at(0)), Err(Rejection::Replayed), "the latest is remembered");
        shown.show(proven(1, "x", 2_000), address(1), at(1_000)).unwrap();
        assert_eq!(shown.len(), 1);
    }
}
