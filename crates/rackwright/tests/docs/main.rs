//! The README and every page under `docs/`, held against the binary: each command that they show is executed, each link
//! and each name that they give is looked up.
//!
//! How a page says what is to be executed, and in which setting, is told in `docs/README.md`. With `UPDATE_EXPECT=1` the
//! output that a page shows is written anew where it is wrong; read the difference before you commit it.

mod console;
#[path = "../support/environment.rs"]
mod environment;
mod links;
mod markdown;
mod matching;
mod not_run;
mod pages;
mod play;
mod script;
mod server;
mod session;
mod shell;
mod spelling;
