//! Azure's own clients, unchanged, against a running `rackwright up`: its command line, and its SDK for Python.
//!
//! They are large and come from elsewhere, so that `./test` runs this as a stage of its own, after `tools/azure-clients`;
//! `cargo test -p rackwright --test azure` runs it by itself. Where `AZ_EXTENSION_WHL` names a wheel of the command line's extension
//! `networkcloud`, which no package index has, its commands are run too.

#![expect(clippy::print_stdout, reason = "whoever runs it for minutes sees how far it is")]

#[path = "../support/environment.rs"]
mod environment;
mod extension;
mod house;
mod logins;
mod page;
mod reading;
mod said;
mod sdk;
mod transcripts;
mod writing;
