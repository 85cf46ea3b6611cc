//! The real binary as people use and operate it: started, asked, misused, watched, broken, stopped, backed up; and the files
//! under `deploy/`.

mod backup;
mod deploy;
#[path = "../support/door.rs"]
mod door;
#[path = "../support/environment.rs"]
mod environment;
mod faults;
#[path = "../support/issuer.rs"]
mod issuer;
mod kubectl;
mod logs;
mod metrics;
mod people;
mod secrets;
mod security;
mod server;
mod settled;
mod site;
mod stopping;
mod tools;
mod top;
mod traces;
mod transcripts;
mod up;
mod vault;
