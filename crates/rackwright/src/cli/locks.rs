//! `rackwright lock …`: what keeps even an owner from deleting or changing something by mistake.

use std::slice;

use clap::Subcommand;
use serde_json::{Value, json};

use super::answer::field_or_dash;
use super::render::{lock_sheet, lock_table};
use super::scopes::{NamedArgs, ScopeArgs, at};
use super::screen::Screen;
use super::session::Session;
use super::trouble::Trouble;

const LOCKS: &str = "locks";

#[derive(Debug, Subcommand)]
pub enum LockCommand {
    /// The locks at a scope and below it. Changes nothing.
    ///
    /// Example: rackwright lock list
    List {
        #[command(flatten)]
        scope: ScopeArgs,
    },
    /// Lock something, or change a lock.
    ///
    /// CanNotDelete keeps it, and what is in it, from being deleted; ReadOnly from being changed and from every action as well.
    ///
    /// Example: rackwright lock create keep --lock-type CanNotDelete -g site1
    Create {
        #[command(flatten)]
        named: NamedArgs,

        /// How far it goes.
        #[arg(long, short = 't', value_name = "CanNotDelete|ReadOnly", value_parser = ["CanNotDelete", "ReadOnly"])]
        lock_type: String,

        /// Why it is there.
        #[arg(long, value_name = "TEXT")]
        notes: Option<String>,
    },
    /// One lock. Changes nothing.
    ///
    /// Example: rackwright lock show keep -g site1
    Show(NamedArgs),
    /// Remove a lock.
    ///
    /// Example: rackwright lock delete keep -g site1
    Delete(NamedArgs),
}

pub async fn run(session: &Session, screen: &mut Screen, command: LockCommand) -> Result<(), Trouble> {
    match command {
        LockCommand::List { scope } => {
            let found = session.client.list(&at(&scope.get(session).await?, LOCKS, None)).await?;
            session.showing.list(screen, &Value::from(found.as_slice()), || lock_table(&found))
        }
        LockCommand::Create { named, lock_type, notes } => {
            let mut body = json!({ "properties": { "level": lock_type } });
            if let Some(notes) = notes {
                body["properties"]["notes"] = json!(notes);
            }
            let scope = named.scope.get(session).await?;
            let (lock, _) = session.client.put(&at(&scope, LOCKS, Some(named.name.get())), &body).await?;
            session.showing.one(screen, &lock, || lock_sheet(&lock), || lock_table(slice::from_ref(&lock)))
        }
        LockCommand::Show(named) => {
            let lock = named.find(session, LOCKS, "lock").await?;
            session.showing.one(screen, &lock, || lock_sheet(&lock), || lock_table(slice::from_ref(&lock)))
        }
        LockCommand::Delete(named) => {
            // Azure's API answers a delete of nothing as a success; a person has most likely mistyped.
            let lock = named.find(session, LOCKS, "lock").await?;
            session.client.delete(&at(&named.scope.get(session).await?, LOCKS, Some(named.name.get()))).await?;
            screen.say(&format!("lock `{}` is removed", field_or_dash(&lock, "/name")));
            Ok(())
        }
    }
}
