//! `rackwright policy …`: what nobody may make or do, whatever role they have.

use std::path::{Path, PathBuf};
use std::slice;

use clap::Subcommand;
use serde_json::{Value, json};

use super::render::{policy_sheet, policy_table};
use super::scopes::{NamedArgs, ScopeArgs, at};
use super::screen::{Screen, Sheet, Tone};
use super::session::Session;
use super::trouble::{Exit, Trouble};

const POLICIES: &str = "policyAssignments";

#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// The policies that hold at a scope or below it. Changes nothing.
    ///
    /// Example: rackwright policy list
    List {
        #[command(flatten)]
        scope: ScopeArgs,
    },
    /// Make a policy as a file says, or write it anew.
    ///
    /// The file is JSON with a `reason` and `conditions`, and a `displayName` if there is one. A condition has a `field` (type,
    /// action, location, name or tags.NAME) and one of equals, notEquals, like, notLike, in, notIn and exists. What meets all of
    /// them is denied to everybody.
    ///
    /// Example: rackwright policy put owners --file owners.json -g site1
    Put {
        #[command(flatten)]
        named: NamedArgs,

        /// The file.
        #[arg(long, value_name = "FILE")]
        file: PathBuf,
    },
    /// One policy: what it denies, and why. Changes nothing.
    ///
    /// Example: rackwright policy show owners -g site1
    Show(NamedArgs),
    /// Remove a policy.
    ///
    /// Example: rackwright policy delete owners -g site1
    Delete(NamedArgs),
}

pub async fn run(session: &Session, screen: &mut Screen, command: PolicyCommand) -> Result<(), Trouble> {
    match command {
        PolicyCommand::List { scope } => {
            let found = session.client.list(&at(&scope.get(session).await?, POLICIES, None)).await?;
            session.showing.list(screen, &Value::from(found.as_slice()), || policy_table(&found))
        }
        PolicyCommand::Show(named) => {
            let policy = named.find(session, POLICIES, "policy").await?;
            session.showing.one(screen, &policy, || policy_sheet(&policy), || policy_table(slice::from_ref(&policy)))
        }
        PolicyCommand::Put { named: NamedArgs { name, scope }, file } => {
            let body = json!({ "properties": properties_in(&file)? });
            let scope = scope.get(session).await?;
            let (policy, _) = session.client.put(&at(&scope, POLICIES, Some(name.get())), &body).await?;
            let said = || Sheet::of(Tone::Plain, format!("policy `{}` holds at {scope}", name.get()));
            session.showing.one(screen, &policy, said, || policy_table(slice::from_ref(&policy)))
        }
        PolicyCommand::Delete(NamedArgs { name, scope }) => {
            let scope = scope.get(session).await?;
            let target = at(&scope, POLICIES, Some(name.get()));
            // One that nobody understands cannot be shown, and must be removable all the same.
            let is_there = !matches!(session.client.get(&target).await, Err(trouble) if trouble.exit == Exit::NotFound);
            session.client.delete(&target).await?;
            if !is_there {
                screen.hint(&format!("no policy `{}` was shown at {scope}; `rackwright policy list` tells which there are", name.get()));
            }
            screen.say(&format!("there is no policy `{}` at {scope} any more", name.get()));
            Ok(())
        }
    }
}

fn properties_in(file: &Path) -> Result<Value, Trouble> {
    let wrong = |problem: String| Trouble::new(Exit::Usage, format!("`{}` {problem}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|problem| wrong(format!("cannot be read: {problem}")))?;
    serde_json::from_str(&text).map_err(|problem| wrong(format!("is not JSON: {problem}")))
}

#[cfg(test)]
mod tests {
    use super::super::screen::tests::captured;
    use super::super::session_tests::{Reply, Rote};
    use super::*;

    #[tokio::test]
    async fn a_policy_that_is_not_there_is_said_to_be_looked_for_elsewhere() {
        let missing = json!({ "error": { "code": "PolicyAssignmentNotFound", "message": "no" } });
        let rote = Rote::with(vec![Reply::Json(404, missing)], Some("g1")).await;
        let (mut screen, _, _) = captured();
        let line = "rackwright policy show owners";
        let cli = <super::super::args::Cli as clap::Parser>::try_parse_from(line.split(' ')).unwrap();
        let Some(super::super::args::Command::Policy(command)) = cli.command else { panic!() };
        let trouble = run(&rote.session, &mut screen, command).await.unwrap_err();
        assert_eq!(
            (trouble.exit, trouble.message.as_str()),
            (Exit::NotFound, "there is no policy `owners` at /subscriptions/s1/resourceGroups/g1")
        );
        assert!(rote.paths()[0].contains("/resourceGroups/g1/providers/Microsoft.Authorization/policyAssignments/owners"));
    }
}
