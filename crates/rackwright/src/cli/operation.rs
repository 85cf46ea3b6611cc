//! `rackwright operation …`: what is being done, what was done, and stopping it.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::answer::{field, items, short_id};
use super::args::parse_name;
use super::client::Target;
use super::follow::follow;
use super::outcome::{Wanted, conclude};
use super::render::{Clock, install_log, install_log_table, operation_sheet, operation_table};
use super::screen::{Screen, Sheet, Tone};
use super::session::Session;
use super::trouble::{Exit, Trouble};

#[derive(Debug, Subcommand)]
pub enum OperationCommand {
    /// Running operations, the latest first.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright operation list --all
    List {
        /// Ended ones too.
        #[arg(long)]
        all: bool,
    },
    /// One operation: its steps, what it waits for, its journal, what it left behind.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright operation show 8f3c1a2b
    Show(IdArgs),
    /// What the agent of an installation told of its work, attempt by attempt.
    ///
    /// Changes nothing. A log is kept as long as its operation, to 256 KiB for each attempt.
    ///
    /// Example: rackwright operation log 8f3c1a2b
    Log(IdArgs),
    /// Follow an operation to its end.
    ///
    /// Changes nothing; Ctrl-C leaves the operation running. Exits 0 if it succeeded, 1 if it failed, 6 if it was cancelled.
    ///
    /// Example: rackwright operation wait 8f3c1a2b
    Wait(IdArgs),
    /// Stop an operation at its next safe point, and say what it left behind.
    ///
    /// The machine is freed, but not put back to how it was: what has been done stays done. Exits 0 if the operation
    /// was cancelled.
    ///
    /// Example: rackwright operation cancel 8f3c1a2b
    Cancel {
        #[command(flatten)]
        id: IdArgs,

        /// Do not wait until it has stopped.
        #[arg(long)]
        no_wait: bool,

        /// Ask nothing. Cancelling never asks; scripts may say so all the same.
        #[arg(long, short)]
        yes: bool,
    },
}

#[derive(Args, Clone, Debug)]
pub struct IdArgs {
    /// The operation's id, or a beginning of it that fits no other.
    #[arg(value_name = "ID", value_parser = parse_name)]
    id: String,
}

pub async fn run(session: &Session, screen: &mut Screen, command: OperationCommand) -> Result<(), Trouble> {
    match command {
        OperationCommand::List { all } => list(session, screen, all).await,
        OperationCommand::Show(IdArgs { id }) => {
            let operation = session.client.get(&target(&id)).await.map_err(unknown_operation)?;
            let (clock, all) = (Clock::of_process(), std::slice::from_ref(&operation));
            session.showing.one(screen, &operation, || operation_sheet(&operation, clock), || operation_table(all, clock))?;
            if let Some(correlation) = field(&operation, "/correlationId").filter(|_| session.showing.is_for_people()) {
                screen.hint(&format!("who asked and what followed: `rackwright activity-log list --correlation-id {correlation}`"));
            }
            Ok(())
        }
        OperationCommand::Log(IdArgs { id }) => log(session, screen, &id).await,
        OperationCommand::Wait(IdArgs { id }) => {
            // Asked once before it is followed, so that a mistyped id is said at once and not as a lost operation.
            let known = session.client.get(&target(&id)).await.map_err(unknown_operation)?;
            let ended = follow(session, screen, id_of(&known, &id)).await?;
            conclude(session, screen, &ended, Wanted::Success)
        }
        OperationCommand::Cancel { id: IdArgs { id }, no_wait, yes: _ } => cancel(session, screen, &id, no_wait).await,
    }
}

pub fn target(id: &str) -> Target {
    Target::own(["operations", id])
}

fn id_of<'a>(operation: &'a Value, typed: &'a str) -> &'a str {
    operation["id"].as_str().unwrap_or(typed)
}

fn unknown_operation(trouble: Trouble) -> Trouble {
    match trouble {
        Trouble { exit: Exit::NotFound, hint: None, .. } => {
            trouble.hint("`rackwright operation list --all` names those there are; ended ones are forgotten after a day")
        }
        other => other,
    }
}

async fn list(session: &Session, screen: &mut Screen, all: bool) -> Result<(), Trouble> {
    let operations = match all {
        true => session.client.list(&Target::own(["operations"])).await?,
        false => session.running_operations().await?,
    };
    if operations.is_empty() && session.showing.is_for_people() {
        screen.say(if all { "there are no operations" } else { "no operation is running; `--all` shows ended ones too" });
        return Ok(());
    }
    session.showing.list(screen, &Value::from(operations.as_slice()), || operation_table(&operations, Clock::of_process()))
}

async fn log(session: &Session, screen: &mut Screen, id: &str) -> Result<(), Trouble> {
    let told = session.client.get(&Target::own(["operations", id, "log"])).await.map_err(unknown_operation)?;
    if items(&told, "/attempts").is_empty() && session.showing.is_for_people() {
        screen.say("no agent has told anything in this operation");
        return Ok(());
    }
    session.showing.one(screen, &told, || install_log(&told), || install_log_table(&told))
}

async fn cancel(session: &Session, screen: &mut Screen, id: &str, no_wait: bool) -> Result<(), Trouble> {
    let accepted = session.client.post(&Target::own(["operations", id, "cancel"]), &json!({})).await.map_err(unknown_operation)?;
    let id = id_of(&accepted, id);
    if no_wait {
        let short = short_id(id);
        session.showing.one(
            screen,
            &accepted,
            || Sheet::of(Tone::Plain, format!("operation {short} stops at its next safe point")),
            || operation_table(std::slice::from_ref(&accepted), Clock::of_process()),
        )?;
        if session.showing.is_for_people() {
            screen.hint(&format!("follow it with `rackwright operation wait {short}`"));
        }
        return Ok(());
    }
    let ended = follow(session, screen, id).await?;
    conclude(session, screen, &ended, Wanted::Cancel)
}
