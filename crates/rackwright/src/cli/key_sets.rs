//! `rackwright cluster baremetalmachinekeyset …` and `… bmckeyset …`: who may log in to machines, and who to their BMCs.

use std::slice;

use clap::{Args, Subcommand};
use reqwest::header::HeaderValue;
use serde_json::{Value, json};

use super::answer::field;
use super::args::{NameArgs, parse_name};
use super::render::{key_set_sheet, key_set_table};
use super::screen::{Screen, Sheet, Tone};
use super::session::{Kind, Session};
use super::shorthand;
use super::trouble::{Exit, Trouble};
use super::update::{TagsArgs, parse_etag};

/// Where the key sets of a kind are within a cluster.
pub const OF_MACHINES: &str = "bareMetalMachineKeySets";
pub const OF_BMCS: &str = "bmcKeySets";

#[derive(Debug, Subcommand)]
pub enum MachineKeySetCommand {
    /// Make a key set for machines, or write all of one anew. Not disruptive.
    ///
    /// Its users come with the next reimage or replace of each machine. What they may do is settled when it is made.
    ///
    /// Example: rackwright cluster baremetalmachinekeyset create ops --azure-group-id ID --expiration 2099-12-31T00:00:00Z --privilege-level Standard --user-list @users.json
    Create(CreateMachineArgs),
    /// Change the users of a key set for machines, when it expires, or from where they may come. Not disruptive.
    ///
    /// A list of users takes the place of the one before.
    ///
    /// Example: rackwright cluster baremetalmachinekeyset update ops --jump-hosts-allowed 10.0.0.0/24
    Update(UpdateMachineArgs),
    /// Delete a key set for machines. Not disruptive.
    ///
    /// Machines keep its users until they are reimaged or replaced.
    ///
    /// Example: rackwright cluster baremetalmachinekeyset delete ops
    Delete(NamedArgs),
    /// One key set for machines, and what is known of its users.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright cluster baremetalmachinekeyset show ops
    Show(NamedArgs),
    /// The key sets for machines.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright cluster baremetalmachinekeyset list
    List {
        #[command(flatten)]
        of: ClusterArgs,
    },
}

#[derive(Debug, Subcommand)]
pub enum BmcKeySetCommand {
    /// Make a key set for BMCs, or write all of one anew. Not disruptive.
    ///
    /// Accounts are made on the BMC of every machine, at most ten of all key sets. What they may do is settled when it is made.
    ///
    /// Example: rackwright cluster bmckeyset create admins --azure-group-id ID --expiration 2027-06-30T00:00:00Z --privilege-level ReadOnly --user-list @users.json
    Create(CreateBmcArgs),
    /// Change the users of a key set for BMCs, or when it expires. Not disruptive.
    ///
    /// A list of users takes the place of the one before.
    ///
    /// Example: rackwright cluster bmckeyset update admins --expiration 2027-06-30T00:00:00Z
    Update(UpdateBmcArgs),
    /// Delete a key set for BMCs, and its accounts on the BMCs. Not disruptive.
    ///
    /// Example: rackwright cluster bmckeyset delete admins
    Delete(NamedArgs),
    /// One key set for BMCs, and what is known of its users.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright cluster bmckeyset show admins
    Show(NamedArgs),
    /// The key sets for BMCs.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright cluster bmckeyset list
    List {
        #[command(flatten)]
        of: ClusterArgs,
    },
}

#[derive(Args, Clone, Debug)]
pub struct ClusterArgs {
    /// The cluster, where there are several.
    #[arg(long, visible_alias = "cluster", value_name = "NAME", value_parser = parse_name)]
    cluster_name: Option<String>,
}

impl ClusterArgs {
    /// The cluster that was named, or else the only one.
    async fn name(&self, session: &Session) -> Result<String, Trouble> {
        if let Some(name) = &self.cluster_name {
            return Ok(name.clone());
        }
        let clusters = session.list(Kind::Cluster).await?;
        let names: Vec<String> = clusters.iter().filter_map(|cluster| field(cluster, "/name")).collect();
        match names.as_slice() {
            [only] => Ok(only.clone()),
            [] => Err(Trouble::new(Exit::NotFound, "the server has no cluster yet")),
            several => Err(Trouble::new(Exit::Usage, "there are several clusters")
                .detail(several.join(", "))
                .hint(format!("choose one with `--cluster-name`, for example `--cluster-name {}`", several[0]))),
        }
    }
}

#[derive(Args, Clone, Debug)]
pub struct NamedArgs {
    #[command(flatten)]
    name: NameArgs,

    #[command(flatten)]
    of: ClusterArgs,
}

/// What both kinds are made of.
#[derive(Args, Clone, Debug)]
struct MadeArgs {
    #[command(flatten)]
    named: NamedArgs,

    /// The group of the directory that its users are of. Membership is not checked.
    #[arg(long, value_name = "ID")]
    azure_group_id: String,

    /// When its users are no longer let in.
    #[arg(long, value_name = "INSTANT")]
    expiration: String,

    /// Its users: JSON, a file with it as `@FILE`, or `[{azure-user-name:NAME,user-principal-name:NAME@DOMAIN,ssh-public-key:{key-data:'KEY'}}]`.
    #[arg(long, value_name = "USERS")]
    user_list: String,

    #[command(flatten)]
    tags: TagsArgs,
}

#[derive(Args, Clone, Debug)]
pub struct CreateMachineArgs {
    #[command(flatten)]
    made: MadeArgs,

    /// What its users may do.
    #[arg(long, value_name = "Standard|Superuser|Other", value_parser = ["Standard", "Superuser", "Other"])]
    privilege_level: String,

    /// The name of the level, if it is `Other`.
    #[arg(long, value_name = "NAME")]
    privilege_level_name: Option<String>,

    /// From where its users may come: addresses or networks. With none, nobody may come.
    #[arg(long, value_name = "ADDRESS", num_args = 0..)]
    jump_hosts_allowed: Vec<String>,

    /// The group of the operating system that its users are in.
    #[arg(long, value_name = "NAME")]
    os_group_name: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub struct CreateBmcArgs {
    #[command(flatten)]
    made: MadeArgs,

    /// What its users may do.
    #[arg(long, value_name = "ReadOnly|Administrator", value_parser = ["ReadOnly", "Administrator"])]
    privilege_level: String,
}

/// What of both kinds can be changed.
#[derive(Args, Clone, Debug)]
struct ChangedArgs {
    #[command(flatten)]
    named: NamedArgs,

    /// When its users are no longer let in.
    #[arg(long, value_name = "INSTANT")]
    expiration: Option<String>,

    /// Its users from now on, all of them: as `create` takes them.
    #[arg(long, value_name = "USERS")]
    user_list: Option<String>,

    #[command(flatten)]
    tags: TagsArgs,

    /// Change it only if its etag is still this one; `show NAME --query etag -o tsv` tells it.
    #[arg(long, value_name = "ETAG", value_parser = parse_etag)]
    if_match: Option<HeaderValue>,
}

#[derive(Args, Clone, Debug)]
pub struct UpdateMachineArgs {
    #[command(flatten)]
    changed: ChangedArgs,

    /// From where its users may come, from now on: addresses or networks. With none, nobody may come.
    #[arg(long, value_name = "ADDRESS", num_args = 0..)]
    jump_hosts_allowed: Option<Vec<String>>,
}

#[derive(Args, Clone, Debug)]
pub struct UpdateBmcArgs {
    #[command(flatten)]
    changed: ChangedArgs,
}

/// A list as it is typed, or what is in the file that is named.
fn users_in(typed: &str) -> Result<Value, Trouble> {
    let wrong = |problem: String| Trouble::new(Exit::Usage, problem);
    match typed.strip_prefix('@') {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|problem| wrong(format!("`{file}` cannot be read: {problem}")))?;
            serde_json::from_str(&text).map_err(|problem| wrong(format!("`{file}` is not JSON: {problem}")))
        }
        None => shorthand::parse(typed).map_err(|problem| wrong(format!("`--user-list` is not understood: {problem}"))),
    }
}

impl MadeArgs {
    fn body(&self, privilege_level: &str) -> Result<Value, Trouble> {
        Ok(json!({
            "properties": {
                "azureGroupId": self.azure_group_id,
                "expiration": self.expiration,
                "privilegeLevel": privilege_level,
                "userList": users_in(&self.user_list)?,
            },
            "tags": self.tags.by_key()?,
        }))
    }
}

impl CreateMachineArgs {
    fn body(&self) -> Result<Value, Trouble> {
        let mut body = self.made.body(&self.privilege_level)?;
        let properties = &mut body["properties"];
        properties["jumpHostsAllowed"] = json!(self.jump_hosts_allowed);
        for (name, value) in [("privilegeLevelName", &self.privilege_level_name), ("osGroupName", &self.os_group_name)] {
            if let Some(value) = value {
                properties[name] = json!(value);
            }
        }
        Ok(body)
    }
}

impl ChangedArgs {
    fn body(&self, jump_hosts: Option<&Vec<String>>) -> Result<Value, Trouble> {
        let mut properties = json!({});
        if let Some(at) = &self.expiration {
            properties["expiration"] = json!(at);
        }
        if let Some(users) = &self.user_list {
            properties["userList"] = users_in(users)?;
        }
        if let Some(hosts) = jump_hosts {
            properties["jumpHostsAllowed"] = json!(hosts);
        }
        let mut body = json!({ "properties": properties });
        if self.tags.is_given() {
            body["tags"] = json!(self.tags.by_key()?);
        }
        Ok(body)
    }
}

pub async fn run_machine(session: &Session, screen: &mut Screen, command: MachineKeySetCommand) -> Result<(), Trouble> {
    match command {
        MachineKeySetCommand::Create(args) => create(session, screen, OF_MACHINES, &args.made.named, &args.body()?).await,
        MachineKeySetCommand::Update(args) => {
            let body = args.changed.body(args.jump_hosts_allowed.as_ref())?;
            update(session, screen, OF_MACHINES, &args.changed, &body).await
        }
        MachineKeySetCommand::Delete(args) => {
            let after = "machines keep its users until they are reimaged or replaced";
            delete(session, screen, OF_MACHINES, &args, after).await
        }
        MachineKeySetCommand::Show(args) => show(session, screen, OF_MACHINES, &args).await,
        MachineKeySetCommand::List { of } => list(session, screen, OF_MACHINES, &of).await,
    }
}

pub async fn run_bmc(session: &Session, screen: &mut Screen, command: BmcKeySetCommand) -> Result<(), Trouble> {
    match command {
        BmcKeySetCommand::Create(args) => {
            let body = args.made.body(&args.privilege_level)?;
            create(session, screen, OF_BMCS, &args.made.named, &body).await
        }
        BmcKeySetCommand::Update(args) => update(session, screen, OF_BMCS, &args.changed, &args.changed.body(None)?).await,
        BmcKeySetCommand::Delete(args) => delete(session, screen, OF_BMCS, &args, "its accounts are removed from the BMCs").await,
        BmcKeySetCommand::Show(args) => show(session, screen, OF_BMCS, &args).await,
        BmcKeySetCommand::List { of } => list(session, screen, OF_BMCS, &of).await,
    }
}

async fn create(session: &Session, screen: &mut Screen, kind: &str, args: &NamedArgs, body: &Value) -> Result<(), Trouble> {
    let cluster = args.of.name(session).await?;
    let set = session.put_within(Kind::Cluster, &cluster, &[kind, args.name.get()], body).await?;
    said_as_written(session, screen, &set)
}

async fn update(session: &Session, screen: &mut Screen, kind: &str, args: &ChangedArgs, body: &Value) -> Result<(), Trouble> {
    let cluster = args.named.of.name(session).await?;
    let path = [kind, args.named.name.get()];
    let set = session.patch_within(Kind::Cluster, &cluster, &path, body, args.if_match.as_ref()).await?;
    said_as_written(session, screen, &set)
}

fn said_as_written(session: &Session, screen: &mut Screen, set: &Value) -> Result<(), Trouble> {
    let text = |pointer| field(set, pointer).unwrap_or_default();
    let said = || {
        let status = format!("{}: {}", text("/properties/detailedStatus"), text("/properties/detailedStatusMessage"));
        Sheet::of(Tone::Plain, format!("key set `{}` is written; {status}", text("/name")))
    };
    session.showing.one(screen, set, said, || key_set_table(slice::from_ref(set)))
}

async fn delete(session: &Session, screen: &mut Screen, kind: &str, args: &NamedArgs, after: &str) -> Result<(), Trouble> {
    let cluster = args.of.name(session).await?;
    session.delete_within(Kind::Cluster, &cluster, &[kind, args.name.get()]).await?;
    screen.say(&format!("key set `{}` is deleted; {after}", args.name.get()));
    Ok(())
}

async fn show(session: &Session, screen: &mut Screen, kind: &str, args: &NamedArgs) -> Result<(), Trouble> {
    let cluster = args.of.name(session).await?;
    let set = session.get_within(Kind::Cluster, &cluster, &[kind, args.name.get()]).await?;
    session.showing.one(screen, &set, || key_set_sheet(&set), || key_set_table(slice::from_ref(&set)))
}

async fn list(session: &Session, screen: &mut Screen, kind: &str, of: &ClusterArgs) -> Result<(), Trouble> {
    let cluster = of.name(session).await?;
    let sets = session.list_within(Kind::Cluster, &cluster, kind).await?;
    session.showing.list(screen, &Value::from(sets.as_slice()), || key_set_table(&sets))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::args::{Cli, Command};
    use super::super::resources::ClusterCommand;
    use super::*;

    fn command(words: &[&str]) -> ClusterCommand {
        let line = ["rackwright", "cluster"].into_iter().chain(words.iter().copied());
        match Cli::try_parse_from(line).unwrap().command {
            Some(Command::Cluster(command)) => command,
            other => panic!("{other:?}"),
        }
    }

    const USERS: &str = "[{azure-user-name:alice,user-principal-name:a@example.com,ssh-public-key:{key-data:'ssh-ed25519 AAAA'}}]";

    #[test]
    fn what_is_typed_is_what_is_described() {
        let made = ["--azure-group-id", "g", "--expiration", "2026-12-31T00:00:00Z", "--user-list", USERS, "--privilege-level", "Standard"];
        let words: Vec<&str> = ["baremetalmachinekeyset", "create", "ops"].into_iter().chain(made).collect();
        let ClusterCommand::MachineKeySet(MachineKeySetCommand::Create(args)) = command(&words) else { panic!("another command") };
        let body = args.body().unwrap();
        let user =
            json!({ "azureUserName": "alice", "userPrincipalName": "a@example.com", "sshPublicKey": { "keyData": "ssh-ed25519 AAAA" } });
        assert_eq!(body["properties"]["userList"], json!([user]));
        assert_eq!((&body["properties"]["jumpHostsAllowed"], body["properties"].get("osGroupName")), (&json!([]), None));
    }

    #[test]
    fn what_is_not_typed_stays() {
        let words = ["baremetalmachinekeyset", "update", "ops", "--jump-hosts-allowed"];
        let ClusterCommand::MachineKeySet(MachineKeySetCommand::Update(args)) = command(&words) else { panic!("another command") };
        let body = args.changed.body(args.jump_hosts_allowed.as_ref()).unwrap();
        assert_eq!(body, json!({ "properties": { "jumpHostsAllowed": [] } }));
    }
}
