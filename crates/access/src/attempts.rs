//! How often one may try: logins for each principal and each address, and requests for each caller.
//!
//! Each has a bucket that fills by itself. Memory is bounded: when there are too many buckets, the fullest goes, for it says least; who
//! owes much is not forgotten because others come.

mod buckets;

use std::net::{IpAddr, Ipv6Addr};

use model::{Span, Timestamp};

use crate::guid::PrincipalId;
pub use buckets::{Buckets, Pace};

/// Logins of one principal that may fail at once, and how soon one more may.
///
/// Nobody guesses a secret of ours, so this keeps our logs and our processors, and is wide enough that somebody else's failures do not
/// lock a principal out for long.
pub const LOGINS_OF_PRINCIPAL: Pace = Pace { burst: 20, every: Span::seconds(3) };

/// Logins from one address that may fail. Many people may come from one address.
pub const LOGINS_FROM_ADDRESS: Pace = Pace { burst: 50, every: Span::seconds(1) };

/// Requests of one caller: a script that restarts a thousand machines and asks for each how it goes passes; one that asks without
/// pause does not.
pub const REQUESTS_OF_CALLER: Pace = Pace { burst: 2_000, every: Span::millis(5) };

/// Lines of the log about what one caller, or one address that nobody known came from, was denied.
///
/// To be denied costs nothing, so that anybody could fill a disk with it. What has no line is counted.
pub const NOTICES: Pace = Pace { burst: 50, every: Span::seconds(2) };

/// Buckets of each kind: a few MiB at most.
pub const BUCKETS_MAX: usize = 20_000;

/// Characters of a principal's name that are kept: what is shown at a login is not yet known to be one of ours.
const NAME_MAX: usize = 64;

/// Bits of an IPv6 address that are one customer's: whoever has one address has all with the same first half.
const IPV6_CUSTOMER_BITS: u32 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there were too many attempts {of}; try again in {retry_after}")]
pub struct TooMany {
    pub of: Counted,
    pub retry_after: Span,
}

/// What there were too many attempts of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    Principal,
    Address,
    Caller,
}

/// Attempts to log in. Those that succeed are given back, so that only failures count.
#[derive(Clone, Debug)]
pub struct Logins {
    of_principal: Buckets<String>,
    from_address: Buckets<IpAddr>,
}

/// Requests of callers who are known.
#[derive(Clone, Debug)]
pub struct Requests(Buckets<PrincipalId>);

/// What the log says of denials.
#[derive(Clone, Debug)]
pub struct Notices(Buckets<Denied>);

/// Who was denied something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Denied {
    Caller(PrincipalId),
    /// Nobody known, who came from there.
    Address(IpAddr),
}

impl Default for Notices {
    fn default() -> Notices {
        Notices::new(NOTICES, BUCKETS_MAX)
    }
}

impl Notices {
    pub fn new(pace: Pace, buckets_max: usize) -> Notices {
        Notices(Buckets::new(pace, buckets_max))
    }

    /// Whether there is a line left for it.
    pub fn take(&mut self, denied: Denied, now: Timestamp) -> bool {
        let key = match denied {
            Denied::Address(address) => Denied::Address(network_of(address)),
            Denied::Caller(_) => denied,
        };
        self.0.take(&key, now).is_ok()
    }
}

impl Default for Logins {
    fn default() -> Logins {
        Logins::new(LOGINS_OF_PRINCIPAL, LOGINS_FROM_ADDRESS, BUCKETS_MAX)
    }
}

impl Logins {
    pub fn new(of_principal: Pace, from_address: Pace, buckets_max: usize) -> Logins {
        Logins { of_principal: Buckets::new(of_principal, buckets_max), from_address: Buckets::new(from_address, buckets_max) }
    }

    /// Counts an attempt before it is looked at, so that many at once do not all pass. The name is as the client sent it.
    pub fn begin(&mut self, name: &str, address: IpAddr, now: Timestamp) -> Result<(), TooMany> {
        let (name, address) = (name_key(name), network_of(address));
        let too_many = |of| move |retry_after| TooMany { of, retry_after };
        self.from_address.take(&address, now).map_err(too_many(Counted::Address))?;
        let taken = self.of_principal.take(&name, now).map_err(too_many(Counted::Principal));
        if taken.is_err() {
            self.from_address.give_back(&address, now);
        }
        taken
    }

    /// Counts an attempt that does not even say whose it is.
    pub fn begin_as_nobody(&mut self, address: IpAddr, now: Timestamp) -> Result<(), TooMany> {
        let taken = self.from_address.take(&network_of(address), now);
        taken.map_err(|retry_after| TooMany { of: Counted::Address, retry_after })
    }

    /// Gives back what an attempt took whose name was known only when it succeeded.
    pub fn succeed_as_nobody(&mut self, address: IpAddr, now: Timestamp) {
        self.from_address.give_back(&network_of(address), now);
    }

    /// Gives back what an attempt took that succeeded.
    pub fn succeed(&mut self, name: &str, address: IpAddr, now: Timestamp) {
        self.of_principal.give_back(&name_key(name), now);
        self.from_address.give_back(&network_of(address), now);
    }
}

impl Default for Requests {
    fn default() -> Requests {
        Requests::new(REQUESTS_OF_CALLER, BUCKETS_MAX)
    }
}

impl Requests {
    pub fn new(pace: Pace, buckets_max: usize) -> Requests {
        Requests(Buckets::new(pace, buckets_max))
    }

    pub fn take(&mut self, caller: PrincipalId, now: Timestamp) -> Result<(), TooMany> {
        self.0.take(&caller, now).map_err(|retry_after| TooMany { of: Counted::Caller, retry_after })
    }
}

fn name_key(name: &str) -> String {
    name.chars().take(NAME_MAX).collect::<String>().to_lowercase()
}

/// The part of an address that is one customer's.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let mask = u128::MAX << (u128::BITS - IPV6_CUSTOMER_BITS);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    }
}

impl std::fmt::Display for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Counted::Principal => "to log in as this principal",
            Counted::Address => "to log in from this address",
            Counted::Caller => "of this caller",
        })
    }
}

#[cfg(test)]
mod tests;
