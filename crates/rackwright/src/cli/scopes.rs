//! Scopes as they are typed: where a role, a lock or a policy holds.

use clap::Args;

use super::client::Target;
use super::session::Session;
use super::trouble::Trouble;

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
