//! The driver against API servers that answer from a list, late, or not at all.

mod calls;
mod fake;
mod inside;
mod joining;
mod socket;
mod tenants;
mod vms;
mod watch;
