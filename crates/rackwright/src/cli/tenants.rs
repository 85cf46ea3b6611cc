//! `rackwright kubernetescluster …` and `rackwright agentpool …`: tenants' Kubernetes clusters and their pools.

use std::slice;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::args::{NameArgs, ShowArgs, parse_name};
use super::preview::ActArgs;
use super::render::{Clock, pool_sheet, pool_table, tenant_cluster_sheet, tenant_cluster_table};
use super::screen::{Screen, Sheet, Tone};
use super::session::{Kind, Session};
use super::trouble::{Exit, Trouble};
use super::update::TagsArgs;
use super::workload::{Asking, How, show_several};

#[derive(Debug, Subcommand)]
pub enum TenantClusterCommand {
    /// Every tenant's cluster: its version, its nodes, and how it is.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright kubernetescluster list
    List,
    /// One tenant's cluster with its nodes and the machines that they are on, or several clusters by their ids.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright kubernetescluster show naks-01
    Show(ShowArgs),
    /// Stop the virtual machine of a node without a shutdown, and start it again. Disruptive.
    ///
    /// Example: rackwright kubernetescluster restart-node naks-01 --node-name naks-01-agentpool1-md-tjr8k-4qqx4
    #[command(name = "restart-node")]
    RestartNode {
        #[command(flatten)]
        name: NameArgs,

        /// The node.
        #[arg(long, value_name = "NODE", value_parser = parse_name)]
        node_name: String,

        #[command(flatten)]
        act: ActArgs,
    },
    /// Change its tags or its drain policy. Not disruptive.
    ///
    /// The policy says what an evacuation does about pods that a disruption budget keeps on their node: wait for as long as a
    /// drain may take and go on, hold and never go on against a budget, or force them off at once.
    ///
    /// Example: rackwright kubernetescluster update naks-01 --drain-policy hold
    Update {
        #[command(flatten)]
        name: NameArgs,

        #[command(flatten)]
        change: ChangeArgs,
    },
    /// The same as `rackwright agentpool`, where `az` has it.
    #[command(subcommand, hide = true)]
    Agentpool(PoolCommand),
}

#[derive(Debug, Subcommand)]
pub enum PoolCommand {
    /// The pools of a tenant's cluster.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright agentpool list naks-01
    List(ListArgs),
    /// One pool.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright agentpool show agentpool1 --kubernetes-cluster-name naks-01
    Show {
        #[command(flatten)]
        name: NameArgs,

        #[command(flatten)]
        of: ClusterArgs,
    },
    /// Change its tags or its drain policy. Not disruptive.
    ///
    /// A pool without a policy of its own follows its cluster's.
    ///
    /// Example: rackwright agentpool update agentpool1 --kubernetes-cluster-name naks-01 --drain-policy force
    Update {
        #[command(flatten)]
        name: NameArgs,

        #[command(flatten)]
        of: ClusterArgs,

        #[command(flatten)]
        change: ChangeArgs,
    },
}

#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = false)]
pub struct ListArgs {
    /// The tenant's cluster.
    #[arg(value_name = "CLUSTER", value_parser = parse_name)]
    positional: Option<String>,

    /// The same, as a flag.
    #[arg(long = "kubernetes-cluster-name", visible_alias = "kc-name", value_name = "CLUSTER", value_parser = parse_name)]
    flag: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub struct ClusterArgs {
    /// The tenant's cluster.
    #[arg(long, visible_alias = "kc-name", value_name = "NAME", value_parser = parse_name)]
    kubernetes_cluster_name: String,
}

#[derive(Args, Clone, Debug)]
pub struct ChangeArgs {
    #[command(flatten)]
    tags: TagsArgs,

    /// What an evacuation does about pods that a disruption budget keeps.
    #[arg(long, value_name = "POLICY", value_parser = ["wait", "hold", "force"])]
    drain_policy: Option<String>,
}

impl ChangeArgs {
    fn body(&self) -> Result<Value, Trouble> {
        let mut body = json!({});
        if self.tags.is_given() {
            body["tags"] = json!(self.tags.by_key()?);
        }
        if let Some(policy) = &self.drain_policy {
            body["properties"] = json!({ "drainPolicy": policy });
        }
        if body == json!({}) {
            return Err(Trouble::new(Exit::Usage, "nothing is to be changed").hint("give `--tags` or `--drain-policy`"));
        }
        Ok(body)
    }
}

pub async fn run_cluster(session: &Session, screen: &mut Screen, command: TenantClusterCommand) -> Result<(), Trouble> {
    match command {
        TenantClusterCommand::List => {
            let clusters = session.list(Kind::TenantCluster).await?;
            session.showing.list(screen, &Value::from(clusters.as_slice()), || tenant_cluster_table(&clusters))
        }
        TenantClusterCommand::Show(args) => {
            let found = match args.name() {
                Some(name) => vec![session.get(Kind::TenantCluster, name).await?],
                None => session.get_by_ids(Kind::TenantCluster, args.ids()).await?,
            };
            show_several(session, screen, &found, |one| tenant_cluster_sheet(one, Clock::of_process()), tenant_cluster_table)
        }
        TenantClusterCommand::RestartNode { name, node_name, act } => {
            let asking = Asking {
                kind: Kind::TenantCluster,
                name: name.get().to_owned(),
                question: Some(format!("Restart node {node_name} of {}, without a shutdown?", name.get())),
                verb: "restartNode",
                how: How::Post("restartNode", json!({ "nodeName": node_name })),
                about: node_name,
            };
            asking.preview_or_run(session, screen, act).await
        }
        TenantClusterCommand::Update { name, change } => {
            let changed = session.patch(Kind::TenantCluster, name.get(), &[], &change.body()?).await?;
            let said = || Sheet::of(Tone::Plain, format!("`{}` is changed", name.get()));
            session.showing.one(screen, &changed, said, || tenant_cluster_table(slice::from_ref(&changed)))
        }
        TenantClusterCommand::Agentpool(command) => run_pool(session, screen, command).await,
    }
}

pub async fn run_pool(session: &Session, screen: &mut Screen, command: PoolCommand) -> Result<(), Trouble> {
    match command {
        PoolCommand::List(ListArgs { positional, flag }) => {
            let cluster = positional.or(flag).unwrap_or_default();
            let pools = session.list_within(Kind::TenantCluster, &cluster, "agentPools").await?;
            session.showing.list(screen, &Value::from(pools.as_slice()), || pool_table(&pools))
        }
        PoolCommand::Show { name, of } => {
            let pool = session.get_within(Kind::TenantCluster, &of.kubernetes_cluster_name, &["agentPools", name.get()]).await?;
            session.showing.one(screen, &pool, || pool_sheet(&pool), || pool_table(slice::from_ref(&pool)))
        }
        PoolCommand::Update { name, of, change } => {
            let rest = ["agentPools", name.get()];
            let pool = session.patch(Kind::TenantCluster, &of.kubernetes_cluster_name, &rest, &change.body()?).await?;
            let said = || Sheet::of(Tone::Plain, format!("`{}` is changed", name.get()));
            session.showing.one(screen, &pool, said, || pool_table(slice::from_ref(&pool)))
        }
    }
}
