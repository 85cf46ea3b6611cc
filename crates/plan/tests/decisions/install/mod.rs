//! Reimage: what is asked of whom in which order, what can go wrong, and that no crash changes what comes of it.

mod clean_up;
mod crash;
mod etcd;
mod failures;
mod guards;
mod invariants;
mod reimage;
mod runtimes;
pub mod stage;
