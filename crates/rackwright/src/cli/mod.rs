//! The command-line client: a client of the public HTTP API like any other.
//!
//! It knows no type of the model. Nouns and verbs are parsed here, sent by `client`, followed by `follow`, and shown
//! by `render`; nothing is decided.

mod act;
mod answer;
pub mod args;
mod backup;
mod bmm;
mod client;
pub mod context;
mod contexts;
mod did_you_mean;
mod fault;
mod follow;
mod operation;
mod outcome;
mod progress;
pub mod render;
mod resources;
pub mod screen;
mod session;
#[cfg(test)]
mod session_tests;
pub mod simulator;
pub mod trouble;

use std::process::ExitCode;

use clap::Parser;
use serde_json::Value;

use args::{Cli, Command, GlobalArgs, SimCommand};
use client::Target;
use context::Home;
use render::{Clock, status_sheet};
use screen::Screen;
use session::Session;
use trouble::Trouble;

use crate::logging::{Usual, serving};

/// Runs the command that was typed. Wrong usage ends the process in here, as clap does it.
pub async fn run() -> ExitCode {
    let cli = Cli::parse();
    let mut screen = Screen::of_process();
    match dispatch(cli, &mut screen).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            screen.trouble(&trouble);
            ExitCode::from(trouble.exit.code())
        }
    }
}

async fn dispatch(cli: Cli, screen: &mut Screen) -> Result<(), Trouble> {
    let Cli { global, command } = cli;
    let open = || Session::open(&global, &Home::of_process()?);
    match command {
        Command::Up(args) => serving(&args.log.clone(), Usual::Warn, crate::up::run(args)).await,
        Command::Serve(args) if args.check => crate::check::run(&args.configs, global.output, screen).await,
        Command::Serve(args) => serving(&args.log.clone(), Usual::Info, crate::serve::run(args)).await,
        Command::Sim(SimCommand::Serve(args)) => serving(&args.log.clone(), Usual::Warn, crate::sim_serve::run(args)).await,
        Command::Sim(SimCommand::Fault(args)) => fault::run(&Home::of_process()?, &global, screen, args).await,
        Command::Status => status(&open()?, &global, screen).await,
        Command::Bmm(command) => bmm::run(&open()?, screen, command).await,
        Command::Cluster(command) => resources::run_cluster(&open()?, screen, command).await,
        Command::Rack(command) => resources::run_rack(&open()?, screen, command).await,
        Command::Operation(command) => operation::run(&open()?, screen, command).await,
        Command::Backup { file } => backup::run(&open()?, screen, &file).await,
        Command::Restore(args) => crate::restore::run(&args, global.output, screen),
        Command::Context(command) => contexts::run(&Home::of_process()?, &global, screen, command),
    }
}

/// The whole site, or the clusters of the resource group that was asked for.
async fn status(session: &Session, global: &GlobalArgs, screen: &mut Screen) -> Result<(), Trouble> {
    let mut status = session.client.get(&Target::own(["status"])).await?;
    if let (Some(group), Some(clusters)) = (&global.resource_group, status.get_mut("clusters").and_then(Value::as_array_mut)) {
        clusters.retain(|cluster| cluster["resourceGroup"].as_str().is_some_and(|own| own.eq_ignore_ascii_case(group)));
    }
    session.show(screen, &status, || status_sheet(&status, Clock::of_process()))
}
