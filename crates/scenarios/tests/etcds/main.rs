//! The etcd driver against three real etcds and against the simulated one: one suite for both.
//!
//! Member after member is taken out, loses its data, is added as a learner, starts anew and is given its vote again, as a reimage
//! of the whole control plane does it; and then the reimage itself does it, on the real ones.

mod cluster;
mod real;
mod reimage;
mod simulated;
mod suite;
mod writer;
