//! `rackwright role …`: which roles there are, and who has which.

use std::slice;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use uuid::Uuid;

use super::answer::{field, field_or_dash, name_in_id};
use super::did_you_mean::nearest_hint;
use super::render::{assignment_table, role_table};
use super::scopes::{ScopeArgs, at};
use super::screen::{Screen, Sheet, Tone};
use super::session::Session;
use super::sp;
use super::trouble::{Exit, Trouble};

const DEFINITIONS: &str = "roleDefinitions";
const ASSIGNMENTS: &str = "roleAssignments";

#[derive(Debug, Subcommand)]
pub enum RoleCommand {
    /// The roles that there are, and what each lets one do. Changes nothing.
    ///
    /// Example: rackwright role list
    List,
    /// Give somebody a role at a scope and below it.
    ///
    /// Example: rackwright role assign --assignee pipeline --role Reader -g site1
    Assign(GrantArgs),
    /// Take a role away that was given at this very scope.
    ///
    /// Example: rackwright role unassign --assignee pipeline --role Reader -g site1
    Unassign(GrantArgs),
    /// Who has which role around a scope, at it and below it. Changes nothing.
    ///
    /// Example: rackwright role assignments --assignee pipeline
    Assignments {
        /// Only those of somebody: a service principal's name or id, or a person's object id.
        #[arg(long, value_name = "WHO", conflicts_with = "assignee_object_id")]
        assignee: Option<String>,

        /// The same by the object id, which is not looked up: for whoever may not read service principals.
        #[arg(long, value_name = "ID", value_parser = Uuid::try_parse)]
        assignee_object_id: Option<Uuid>,

        #[command(flatten)]
        scope: ScopeArgs,
    },
}

#[derive(Args, Clone, Debug)]
pub struct GrantArgs {
    #[command(flatten)]
    who: AssigneeArgs,

    /// The role's name or id.
    #[arg(long, value_name = "ROLE")]
    role: String,

    #[command(flatten)]
    scope: ScopeArgs,
}

#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = false)]
struct AssigneeArgs {
    /// Who: a service principal's name, object id or client id, or a person's object id.
    #[arg(long, value_name = "WHO")]
    assignee: Option<String>,

    /// The same by the object id, which is not looked up: for whoever may not read service principals.
    #[arg(long, value_name = "ID", value_parser = Uuid::try_parse)]
    assignee_object_id: Option<Uuid>,
}

impl AssigneeArgs {
    /// As people are told of them.
    fn name(&self) -> String {
        self.assignee.clone().or_else(|| Some(self.assignee_object_id?.to_string())).unwrap_or_default()
    }

    async fn get(&self, session: &Session) -> Result<Principal, Trouble> {
        match self.assignee_object_id {
            Some(id) => Ok(Principal { id: id.to_string(), is_service: false }),
            None => find(session, &self.name()).await,
        }
    }
}

/// Somebody who can have a role.
struct Principal {
    id: String,
    /// Known to be one; a person is known by their id alone.
    is_service: bool,
}

pub async fn run(session: &Session, screen: &mut Screen, command: RoleCommand) -> Result<(), Trouble> {
    match command {
        RoleCommand::List => {
            let roles = session.client.list(&at("/", DEFINITIONS, None)).await;
            // Whoever has no role at the root asks where they have one.
            let roles = match roles {
                Err(trouble) if trouble.exit == Exit::Refused => {
                    definitions(session, &format!("/subscriptions/{}", session.subscription().await?)).await?
                }
                roles => roles?,
            };
            session.showing.list(screen, &Value::from(roles.as_slice()), || role_table(&roles))
        }
        RoleCommand::Assign(args) => assign(session, screen, &args).await,
        RoleCommand::Unassign(args) => unassign(session, screen, &args).await,
        RoleCommand::Assignments { assignee, assignee_object_id, scope } => {
            let scope = scope.get(session).await?;
            let mut target = at(&scope, ASSIGNMENTS, None);
            if assignee.is_some() || assignee_object_id.is_some() {
                let who = AssigneeArgs { assignee, assignee_object_id }.get(session).await?;
                target = target.with("$filter", format!("principalId eq '{}'", who.id));
            }
            let found = session.client.list(&target).await?;
            let roles = definitions(session, &scope).await?;
            session.showing.list(screen, &Value::from(found.as_slice()), || assignment_table(&found, &roles))
        }
    }
}

async fn assign(session: &Session, screen: &mut Screen, args: &GrantArgs) -> Result<(), Trouble> {
    let scope = args.scope.get(session).await?;
    let roles = definitions(session, &scope).await?;
    let role = meant(&roles, &args.role)?;
    let principal = args.who.get(session).await?;
    let mut body = json!({ "properties": { "roleDefinitionId": role["id"], "principalId": principal.id } });
    if principal.is_service {
        body["properties"]["principalType"] = json!("ServicePrincipal");
    }
    let name = Uuid::new_v4().to_string();
    let (made, _) = session.client.put(&at(&scope, ASSIGNMENTS, Some(&name)), &body).await?;
    let said =
        || Sheet::of(Tone::Plain, format!("`{}` has the role {} at {scope}", args.who.name(), field_or_dash(role, "/properties/roleName")));
    session.showing.one(screen, &made, said, || assignment_table(slice::from_ref(&made), &roles))
}

async fn unassign(session: &Session, screen: &mut Screen, args: &GrantArgs) -> Result<(), Trouble> {
    let scope = args.scope.get(session).await?;
    let roles = definitions(session, &scope).await?;
    let role = meant(&roles, &args.role)?;
    let principal = args.who.get(session).await?.id;
    let all = session.client.list(&at(&scope, ASSIGNMENTS, None).with("$filter", format!("principalId eq '{principal}'"))).await?;
    let is_meant = |one: &&Value| {
        let role_id = field_or_dash(one, "/properties/roleDefinitionId");
        field_or_dash(one, "/properties/scope").eq_ignore_ascii_case(&scope) && name_in_id(&role_id) == field_or_dash(role, "/name")
    };
    let Some(found) = all.iter().find(is_meant) else {
        let message = format!("`{}` was not given the role {} at {scope}", args.who.name(), field_or_dash(role, "/properties/roleName"));
        return Err(Trouble::new(Exit::NotFound, message).hint("`rackwright role assignments` tells who has which role, and where"));
    };
    session.client.delete(&at(&scope, ASSIGNMENTS, field(found, "/name").as_deref())).await?;
    screen.say(&format!("`{}` has the role {} at {scope} no more", args.who.name(), field_or_dash(role, "/properties/roleName")));
    Ok(())
}

async fn definitions(session: &Session, scope: &str) -> Result<Vec<Value>, Trouble> {
    session.client.list(&at(scope, DEFINITIONS, None)).await
}

fn meant<'a>(roles: &'a [Value], typed: &str) -> Result<&'a Value, Trouble> {
    let is_meant =
        |role: &&Value| ["/properties/roleName", "/name", "/id"].iter().any(|at| field_or_dash(role, at).eq_ignore_ascii_case(typed));
    roles.iter().find(is_meant).ok_or_else(|| {
        let names: Vec<String> = roles.iter().filter_map(|role| field(role, "/properties/roleName")).collect();
        let hint = nearest_hint(typed, names.iter().map(String::as_str), "rackwright role list");
        Trouble::new(Exit::NotFound, format!("there is no role `{typed}`")).hint(hint)
    })
}

/// Whoever is meant by a name or an id. An id that no service principal has is a person's; but only whoever may look can tell, and a
/// client id that is taken for an object id would give the role to nobody.
async fn find(session: &Session, who: &str) -> Result<Principal, Trouble> {
    match sp::find(session, who).await {
        Ok(found) => Ok(Principal { id: field_or_dash(&found, "/id"), is_service: true }),
        Err(trouble) if trouble.exit == Exit::NotFound && Uuid::try_parse(who).is_ok() => {
            Ok(Principal { id: who.to_owned(), is_service: false })
        }
        Err(trouble) if trouble.exit == Exit::Refused => {
            Err(Trouble::new(Exit::Refused, format!("you may not look up who `{who}` is")).detail(trouble.message).hint(
                "name them by their object id with `--assignee-object-id`; whoever may read service principals finds it with `rackwright sp show`",
            ))
        }
        Err(trouble) => Err(trouble),
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen::tests::captured;
    use super::super::session_tests::{Reply, Rote};
    use super::*;

    const ID: &str = "3f0c1b62-7a55-4d0e-9a43-2f1f6a1c5d10";

    fn definitions() -> Reply {
        let reader = json!({ "id": "/providers/r", "name": "r", "properties": { "roleName": "Reader" } });
        Reply::Json(200, json!({ "value": [reader] }))
    }

    fn grant(assignee: Option<&str>, object_id: Option<&str>) -> RoleCommand {
        let assignee_object_id = object_id.map(|id| Uuid::try_parse(id).unwrap());
        let who = AssigneeArgs { assignee: assignee.map(str::to_owned), assignee_object_id };
        RoleCommand::Assign(GrantArgs { who, role: "Reader".to_owned(), scope: ScopeArgs::default() })
    }

    async fn ran(replies: Vec<Reply>, command: RoleCommand) -> (Result<(), Trouble>, Vec<String>) {
        let rote = Rote::with(replies, None).await;
        let (mut screen, _, _) = captured();
        (run(&rote.session, &mut screen, command).await, rote.paths())
    }

    #[tokio::test]
    async fn whoever_may_not_look_up_an_id_gives_no_role_to_it() {
        let denied = Reply::Json(403, json!({ "error": { "code": "AuthorizationFailed", "message": "you may not" } }));
        let (ended, paths) = ran(vec![definitions(), denied, Reply::Json(201, json!({ "name": "a" }))], grant(Some(ID), None)).await;
        let trouble = ended.unwrap_err();
        assert_eq!((trouble.exit, paths.len()), (Exit::Refused, 2), "{trouble:?}");
        assert_eq!(trouble.message, format!("you may not look up who `{ID}` is"));
        assert!(trouble.hint.unwrap().contains("--assignee-object-id"));
    }

    #[tokio::test]
    async fn an_object_id_is_taken_as_it_is() {
        let (ended, paths) = ran(vec![definitions(), Reply::Json(201, json!({ "name": "a" }))], grant(None, Some(ID))).await;
        assert_eq!((ended, paths.len()), (Ok(()), 2));
    }

    #[tokio::test]
    async fn an_id_that_no_service_principal_has_is_a_persons() {
        let nobody = Reply::Json(200, json!({ "value": [] }));
        let (ended, paths) = ran(vec![definitions(), nobody, Reply::Json(201, json!({ "name": "a" }))], grant(Some(ID), None)).await;
        assert_eq!((ended, paths.len()), (Ok(()), 3));
    }
}
