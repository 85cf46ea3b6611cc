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
