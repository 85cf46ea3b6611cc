//! The driver against API servers that answer from a list, late, or not at all.

mod calls;
mod fake;
mod socket;
mod watch;
