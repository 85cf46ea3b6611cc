//! Scopes as they are typed: where a role, a lock or a policy holds.

use clap::Args;
use serde_json::Value;

use super::args::NameArgs;
use super::client::Target;
use super::session::Session;
use super::trouble::{Exit, Trouble};

#[derive(Args, Clone, Debug, Default)]
pub struct ScopeArgs {
    /// Where it holds: the id of a subscription, a resource group or a resource, or `/` for everything. Without it, the resource
    /// group of `-g`, or else the subscription.
    #[arg(long, visible_alias = "resource", value_name = "SCOPE", value_parser = parse_scope)]
    scope: Option<String>,
}

impl ScopeArgs {
    pub async fn get(&self, session: &Session) -> Result<String, Trouble> {
        if let Some(scope) = &self.scope {
            return Ok(scope.clone());
        }
        let subscription = session.subscription().await?;
        Ok(match session.typed_group() {
            Some(group) => format!("/subscriptions/{subscription}/resourceGroups/{group}"),
            None => format!("/subscriptions/{subscription}"),
        })
    }
}

/// One of what is administered at a scope.
#[derive(Args, Clone, Debug)]
pub struct NamedArgs {
    #[command(flatten)]
    pub name: NameArgs,

    #[command(flatten)]
    pub scope: ScopeArgs,
}

impl NamedArgs {
    /// What it is now. `what` is the command that lists all of its kind.
    pub async fn find(&self, session: &Session, collection: &str, what: &str) -> Result<Value, Trouble> {
        let scope = self.scope.get(session).await?;
        match session.client.get(&at(&scope, collection, Some(self.name.get()))).await {
            Err(trouble) if trouble.exit == Exit::NotFound => {
                Err(Trouble::new(Exit::NotFound, format!("there is no {what} `{}` at {scope}", self.name.get()))
                    .hint(format!("`rackwright {what} list` tells which there are, and where")))
            }
            answer => answer,
        }
    }
}

/// What is administered at a scope, or one of it.
pub fn at(scope: &str, collection: &str, name: Option<&str>) -> Target {
    let place = scope.split('/').filter(|segment| !segment.is_empty());
    Target::arm(place.chain(["providers", "Microsoft.Authorization", collection]).chain(name))
}

pub fn parse_scope(text: &str) -> Result<String, String> {
    if text.starts_with('/') {
        Ok(text.to_owned())
    } else {
        Err("it is an id, which begins with a slash; `/` alone is everything".to_owned())
    }
}
