//! The Redfish driver against BMCs that others wrote and against every simulated make: one suite for all.
//!
//! What a peer does not offer is declared. The suite finds out by itself, and the two must agree, so nothing is skipped
//! unnoticed.

mod installation;
mod machine;
mod parts;
mod peer;
mod service;
mod simulated;
mod suite;
mod sushy;
