//! The real binary as people use and operate it: started, asked, misused, watched, broken, stopped, backed up; and the files
//! under `deploy/`.

mod azure_sdk;
mod backup;
mod deploy;
#[path = "../support/environment.rs"]
mod environment;
mod faults;
mod kubectl;
mod logs;
mod metrics;
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
