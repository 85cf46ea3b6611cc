//! The command-line client: a client of the public HTTP API like any other.
//!
//! It knows no type of the model. Nouns and verbs are parsed here, sent by `client`, followed by `follow`, and shown
//! by `render`; nothing is decided.

pub mod access;
mod act;
mod activity;
mod advice;
mod answer;
pub mod args;
#[cfg(test)]
mod args_tests;
mod az_env;
mod backup;
mod bmm;
mod client;
mod completions;
pub mod context;
mod contexts;
mod did_you_mean;
mod fault;
mod follow;
mod holds;
mod issuers;
mod key_sets;
mod locks;
mod login;
mod operation;
mod outcome;
pub mod output;
mod policies;
mod preview;
mod progress;
mod quotas;
#[cfg(test)]
mod reference;
pub mod render;
mod replace;
mod resources;
mod rest;
mod retype;
mod roles;
pub mod runtime;
mod scopes;
pub mod screen;
mod session;
#[cfg(test)]
mod session_tests;
mod session_workloads;
mod shorthand;
mod signing_keys;
pub mod simulator;
mod sp;
mod subscriptions;
mod swap;
mod tenants;
mod tokens;
mod top;
pub mod trouble;
mod update;
mod validation;
mod vm;
mod vm_create;
mod welcome;
mod workload;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command, SimCommand};
use client::Target;
use context::Home;
use render::{Clock, status_sheet, status_table};
use retype::Retyped;
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
    screen.retype(Retyped::of(&global));
    // A wrong query is said before anything is done.
    global.showing()?;
    let open = || Session::open(&global, &Home::of_process()?);
    let Some(command) = command else { return welcome::run(&Home::of_process()?, &global, screen).await };
    match command {
        Command::Up(args) => serving(&args.log.clone(), Usual::Warn, crate::up::run(args)).await,
        Command::Serve(args) if args.check => crate::check::run(&args.configs, &global.showing()?, screen).await,
        Command::Serve(args) => serving(&args.log.clone(), Usual::Info, crate::serve::run(args)).await,
        Command::Sim(SimCommand::Serve(args)) => serving(&args.log.clone(), Usual::Warn, crate::sim_serve::run(args)).await,
        Command::Sim(SimCommand::Fault(args)) => fault::run(&Home::of_process()?, &global, screen, args).await,
        Command::Sim(SimCommand::Swap(args)) => swap::run(&Home::of_process()?, &global, screen, args).await,
        Command::Status => status(&open()?, screen).await,
        Command::Top(args) => top::run(&open()?, screen, args).await,
        Command::Bmm(command) => bmm::run(&open()?, screen, command).await,
        Command::Cluster(command) => resources::run_cluster(&open()?, screen, command).await,
        Command::Rack(command) => resources::run_rack(&open()?, screen, command).await,
        Command::Runtime(command) => runtime::run(&open()?, screen, command).await,
        Command::Vm(command) => vm::run(&open()?, screen, command).await,
        Command::TenantCluster(command) => tenants::run_cluster(&open()?, screen, command).await,
        Command::Pool(command) => tenants::run_pool(&open()?, screen, command).await,
        Command::Operation(command) => operation::run(&open()?, screen, command).await,
        Command::ActivityLog(command) => activity::run(&open()?, &global, screen, command).await,
        Command::Sp(command) => sp::run(&open()?, screen, command).await,
        Command::Role(command) => roles::run(&open()?, screen, command).await,
        Command::Lock(command) => locks::run(&open()?, screen, command).await,
        Command::Policy(command) => policies::run(&open()?, screen, command).await,
        Command::Quota(command) => quotas::run(&open()?, screen, command).await,
        Command::Subscription(command) => subscriptions::run(&open()?, screen, command).await,
        Command::SigningKey(command) => signing_keys::run(&open()?, screen, command).await,
        Command::Completions { shell } => completions::run(screen, shell),
        Command::Backup { file } => backup::run(&open()?, screen, &file).await,
        Command::Restore(args) => crate::restore::run(&args, &global.showing()?, screen).await,
        Command::Vault(command) => crate::vault_keys::run(&command, &global.showing()?, screen).await,
        Command::Login(args) => login::login(&Home::of_process()?, &global, screen, args).await,
        Command::Token => login::token(&open()?, screen).await,
        Command::Approve { code } => issuers::approve(&open()?, screen, &code).await,
        Command::Issuer(command) => issuers::run(&open()?, screen, command).await,
        Command::AzEnv(args) => az_env::run(&Home::of_process()?, &global, screen, args).await,
        Command::Rest(args) => rest::run(&open()?, screen, args).await,
        Command::Init(args) => crate::init::run(&args, &global.showing()?, screen).await,
        Command::Context(command) => contexts::run(&Home::of_process()?, &global, screen, command),
    }
}

/// The whole site, or the clusters of the resource group that was asked for.
async fn status(session: &Session, screen: &mut Screen) -> Result<(), Trouble> {
    let mut status = session.client.get(&Target::own(["status"])).await?;
    session.keep_own_clusters(&mut status);
    session.showing.one(screen, &status, || status_sheet(&status, Clock::of_process()), || status_table(&status))
}
