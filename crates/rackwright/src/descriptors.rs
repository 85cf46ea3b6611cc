//! How many sockets and files this process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit to what the system allows: a site has a connection per BMC, a simulated one a listener besides, and
/// most systems start programs with 1,024 for the sake of software that this is not.
pub fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        // Without it only very large sites run short, and they say so themselves.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
}

/// How many of them clients of the API may take: the BMCs, the undercloud and the store come first, and whatever clients
/// do, they must not run short.
pub fn share_for_clients() -> usize {
    share_of(getrlimit(Resource::Nofile).current)
}

/// `None` is no limit at all.
fn share_of(limit: Option<u64>) -> usize {
    limit.map_or(usize::MAX, |limit| usize::try_from(limit / 4).unwrap_or(usize::MAX).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_get_a_quarter_and_never_nothing() {
        assert_eq!([share_of(Some(1_024)), share_of(Some(1)), share_of(None)], [256, 1, usize::MAX]);
    }
}
