//! The driver against BMCs that answer oddly, wrongly, late or not at all.

mod access;
mod accounts;
mod boot;
mod events;
mod fake;
mod faults;
mod inspection;
mod inventory;
mod jobs;
mod media;
mod nonsense;
mod power;
mod socket;
mod survey;
mod tls;
