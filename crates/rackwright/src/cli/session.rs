//! One command's view of a server: which subscription and resource group it means, and finding things by name there.

use std::collections::BTreeSet;

use reqwest::header::HeaderValue;
use serde_json::Value;

use super::access::Access;
use super::answer::{field, field_or_dash, items, segment_after};
use super::args::GlobalArgs;
use super::client::{Client, Target};
use super::context::Home;
use super::did_you_mean::nearest_hint;
use super::output::Showing;
use super::trouble::{Exit, Trouble};

/// The kinds of resources that have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Cluster,
    Rack,
    Machine,
    Vm,
    TenantCluster,
}

impl Kind {
    pub(super) fn collection(self) -> &'static str {
        match self {
            Kind::Cluster => "clusters",
            Kind::Rack => "racks",
            Kind::Machine => "bareMetalMachines",
            Kind::Vm => "virtualMachines",
            Kind::TenantCluster => "kubernetesClusters",
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Kind::Cluster => "cluster",
            Kind::Rack => "rack",
            Kind::Machine => "machine",
            Kind::Vm => "virtual machine",
            Kind::TenantCluster => "Kubernetes cluster",
        }
    }

    fn list_command(self) -> &'static str {
        match self {
            Kind::Cluster => "rackwright cluster list",
            Kind::Rack => "rackwright rack list",
            Kind::Machine => "rackwright bmm list",
            Kind::Vm => "rackwright vm list",
            Kind::TenantCluster => "rackwright kubernetescluster list",
        }
    }
}

/// Names the server for everybody who logs in to a computer, where a service runs under an account of its own.
const SERVER_VARIABLE: &str = "RACKWRIGHT_SERVER";

#[derive(Debug)]
pub struct Session {
    pub client: Client,
    /// How it is spoken to, and as whom.
    pub access: Access,
    pub showing: Showing,
    /// The resource group that was typed for this command.
    typed_group: Option<String>,
    /// As named or remembered; else the server's only one.
    subscription: Option<String>,
    group: Option<String>,
}

impl Session {
    /// `--server` stands alone: of contexts only the login of that server is taken. `RACKWRIGHT_SERVER` does the same for a
    /// whole account, unless a context is named.
    pub fn open(global: &GlobalArgs, home: &Home) -> Result<Session, Trouble> {
        let of_account = || std::env::var(SERVER_VARIABLE).ok().filter(|server| !server.is_empty() && global.context.is_none());
        let contexts = home.load();
        let (server, access, subscription, group) = match global.server.clone().or_else(of_account) {
            Some(server) => {
                let contexts = contexts.unwrap_or_default();
                let access = Access::of(contexts.of_server(&server))?;
                (server, access, None, None)
            }
            None => {
                let contexts = contexts?;
                let (_, context) = contexts.select(global.context.as_deref())?;
                (context.server.clone(), Access::of(Some(context))?, Some(context.subscription.clone()), context.resource_group.clone())
            }
        };
        // Another subscription has other groups: the remembered one belongs to the remembered subscription.
        let group = if global.subscription.is_some() { None } else { group };
        Ok(Session {
            client: Client::new(&server, &access)?,
            access,
            showing: global.showing()?,
            subscription: global.subscription.clone().or(subscription),
            typed_group: global.resource_group.clone(),
            group: global.resource_group.clone().or(group),
        })
    }

    /// Of the whole status, the clusters of the resource group that was typed.
    pub fn keep_own_clusters(&self, status: &mut Value) {
        if let (Some(group), Some(clusters)) = (&self.typed_group, status.get_mut("clusters").and_then(Value::as_array_mut)) {
            clusters.retain(|cluster| cluster["resourceGroup"].as_str().is_some_and(|own| own.eq_ignore_ascii_case(group)));
        }
    }

    /// The resource group that was typed for this command.
    pub fn typed_group(&self) -> Option<&str> {
        self.typed_group.as_deref()
    }

    pub async fn subscription(&self) -> Result<String, Trouble> {
        if let Some(subscription) = &self.subscription {
            return Ok(subscription.clone());
        }
        let known = self.client.get(&Target::arm(["subscriptions"])).await?;
        let ids: Vec<String> = items(&known, "/value").iter().filter_map(|one| field(one, "/subscriptionId")).collect();
        match ids.as_slice() {
            [] => Err(Trouble::new(Exit::NotFound, "the server has no subscription yet").hint("`rackwright status` tells what it has")),
            [only] => Ok(only.clone()),
            several => Err(Trouble::new(Exit::Usage, "the server has several subscriptions")
                .detail(several.join(", "))
                .hint("choose one with `--subscription`")),
        }
    }

    /// Everything of a kind, in the resource group if one is set.
    pub async fn list(&self, kind: Kind) -> Result<Vec<Value>, Trouble> {
        let subscription = self.subscription().await?;
        let listed = self.client.list(&place(&subscription, self.group.as_deref(), kind, &[])).await;
        match (listed, &self.group) {
            (Err(trouble), Some(group)) if trouble.exit == Exit::NotFound => Err(self.explain_group(&subscription, group, trouble).await),
            (listed, _) => listed,
        }
    }

    /// Running operations, for views that show them beside machines.
    pub async fn running_operations(&self) -> Result<Vec<Value>, Trouble> {
        self.client.list(&Target::own(["operations"]).with("running", "true")).await
    }

    pub async fn get(&self, kind: Kind, name: &str) -> Result<Value, Trouble> {
        let (subscription, group) = self.locate(kind, name).await?;
        match self.client.get(&place(&subscription, Some(&group), kind, &[name])).await {
            Err(trouble) if trouble.exit == Exit::NotFound => Err(self.explain_missing(kind, name, trouble).await),
            answer => answer,
        }
    }

    /// Asks a machine for an action.
    pub async fn act(&self, name: &str, verb: &str, query: &[(&'static str, &'static str)], body: &Value) -> Result<Value, Trouble> {
        let (subscription, group) = self.locate(Kind::Machine, name).await?;
        let mut target = place(&subscription, Some(&group), Kind::Machine, &[name, verb]);
        for (name, value) in query {
            target = target.with(name, *value);
        }
        match self.client.post(&target, body).await {
            Err(trouble) if trouble.exit == Exit::NotFound => Err(self.explain_missing(Kind::Machine, name, trouble).await),
            answer => answer,
        }
    }

    /// Changes what is written on a machine.
    pub async fn update(&self, name: &str, body: &Value, if_match: Option<&HeaderValue>) -> Result<Value, Trouble> {
        let (subscription, group) = self.locate(Kind::Machine, name).await?;
        match self.client.patch(&place(&subscription, Some(&group), Kind::Machine, &[name]), body, if_match).await {
            Err(trouble) if trouble.exit == Exit::NotFound => Err(self.explain_missing(Kind::Machine, name, trouble).await),
            answer => answer,
        }
    }

    /// The subscription and the resource group that a name means; without a group, the only one that has the name.
    pub(super) async fn locate(&self, kind: Kind, name: &str) -> Result<(String, String), Trouble> {
        let subscription = self.subscription().await?;
        if let Some(group) = &self.group {
            return Ok((subscription, group.clone()));
        }
        let all = self.list(kind).await?;
        let groups = groups_with(&all, name);
        match groups.iter().collect::<Vec<_>>().as_slice() {
            [] => Err(unknown(kind, name, &all)),
            [only] => Ok((subscription, (*only).clone())),
            several => {
                let names: Vec<&str> = several.iter().map(|group| group.as_str()).collect();
                Err(Trouble::new(Exit::Usage, format!("there are {} {}s `{name}`", names.len(), kind.noun()))
                    .detail(format!("in the resource groups {}", names.join(", ")))
                    .hint(format!("choose one with `-g`, for example `-g {}`", names[0])))
            }
        }
    }

    /// A name that the server does not know, with what may have been meant.
    pub(super) async fn explain_missing(&self, kind: Kind, name: &str, trouble: Trouble) -> Trouble {
        match self.list(kind).await {
            Ok(all) if groups_with(&all, name).is_empty() => unknown(kind, name, &all),
            Err(better) if better.exit == Exit::NotFound => better,
            _ => trouble,
        }
    }

    async fn explain_group(&self, subscription: &str, group: &str, trouble: Trouble) -> Trouble {
        let Ok(clusters) = self.client.list(&place(subscription, None, Kind::Cluster, &[])).await else { return trouble };
        let groups: BTreeSet<String> = clusters.iter().filter_map(group_of).collect();
        if groups.iter().any(|known| known.eq_ignore_ascii_case(group)) {
            return trouble;
        }
        trouble.hint(nearest_hint(group, groups.iter().map(String::as_str), Kind::Cluster.list_command()))
    }
}

pub(super) fn place(subscription: &str, group: Option<&str>, kind: Kind, rest: &[&str]) -> Target {
    let group = group.map(|group| ["resourceGroups", group]).into_iter().flatten();
    let segments =
        ["subscriptions", subscription].into_iter().chain(group).chain(["providers", "Microsoft.NetworkCloud", kind.collection()]);
    Target::arm(segments.chain(rest.iter().copied()))
}

fn group_of(resource: &Value) -> Option<String> {
    segment_after(&field(resource, "/id")?, "resourceGroups").map(str::to_owned)
}

fn groups_with(resources: &[Value], name: &str) -> BTreeSet<String> {
    let named = resources.iter().filter(|resource| field_or_dash(resource, "/name").eq_ignore_ascii_case(name));
    named.filter_map(group_of).collect()
}

fn unknown(kind: Kind, name: &str, all: &[Value]) -> Trouble {
    let names: Vec<String> = all.iter().filter_map(|resource| field(resource, "/name")).collect();
    Trouble::new(Exit::NotFound, format!("there is no {} `{name}`", kind.noun())).hint(nearest_hint(
        name,
        names.iter().map(String::as_str),
        kind.list_command(),
    ))
}
