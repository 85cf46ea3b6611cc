//! Reimage: what is asked of whom in which order, what can go wrong, and that no crash changes what comes of it.

mod agent;
mod away;
mod clean_up;
mod crash;
mod etcd;
mod failures;
mod firmware;
mod guards;
mod invariants;
mod quorum;
mod reimage;
mod runtimes;
pub mod stage;
