//! The driver against BMCs that answer oddly, wrongly, late or not at all.

mod access;
mod fake;
mod faults;
mod power;
mod socket;
mod tls;
