//! `rackwright cluster …` and `rackwright rack …`.

use std::slice;

use clap::Subcommand;
use serde_json::Value;

use super::args::NameArgs;
use super::key_sets::{self, BmcKeySetCommand, MachineKeySetCommand};
use super::render::{cluster_sheet, cluster_table, rack_sheet, rack_table};
use super::screen::Screen;
use super::session::{Kind, Session};
use super::trouble::Trouble;
use super::validation::{self, InspectArgs};

#[derive(Debug, Subcommand)]
pub enum ClusterCommand {
    /// Every cluster, with its status and size.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright cluster list
    List,
    /// One cluster: its version, its connection, its racks.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright cluster show site1
    Show {
        #[command(flatten)]
        name: NameArgs,
    },
    /// Compare the hardware of a cluster's machines with what it should be. Not disruptive.
    ///
    /// Every machine is looked at through its BMC, or those that are named. Machines that are busy or unmanaged are left out, and
    /// the outcome names them. Exits with 1 if one of them is not as it should be, or could not be validated. `bmm validation` shows
    /// the results of one.
    ///
    /// Example: rackwright cluster inspect site1 --rack rack1
    Inspect(InspectArgs),
    /// Key sets for machines: who may log in to their operating systems.
    #[command(subcommand, name = "baremetalmachinekeyset")]
    MachineKeySet(MachineKeySetCommand),
    /// Key sets for BMCs: who may log in to them.
    #[command(subcommand, name = "bmckeyset")]
    BmcKeySet(BmcKeySetCommand),
}

#[derive(Debug, Subcommand)]
pub enum RackCommand {
    /// Every rack.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright rack list
    List,
    /// One rack: where it stands and what it is.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright rack show rack1
    Show {
        #[command(flatten)]
        name: NameArgs,
    },
}

pub async fn run_cluster(session: &Session, screen: &mut Screen, command: ClusterCommand) -> Result<(), Trouble> {
    match command {
        ClusterCommand::List => {
            let clusters = session.list(Kind::Cluster).await?;
            session.showing.list(screen, &Value::from(clusters.as_slice()), || cluster_table(&clusters))
        }
        ClusterCommand::Show { name } => {
            let cluster = session.get(Kind::Cluster, name.get()).await?;
            session.showing.one(screen, &cluster, || cluster_sheet(&cluster), || cluster_table(slice::from_ref(&cluster)))
        }
        ClusterCommand::Inspect(args) => validation::inspect(session, screen, &args).await,
        ClusterCommand::MachineKeySet(command) => key_sets::run_machine(session, screen, command).await,
        ClusterCommand::BmcKeySet(command) => key_sets::run_bmc(session, screen, command).await,
    }
}

pub async fn run_rack(session: &Session, screen: &mut Screen, command: RackCommand) -> Result<(), Trouble> {
    match command {
        RackCommand::List => {
            let racks = session.list(Kind::Rack).await?;
            session.showing.list(screen, &Value::from(racks.as_slice()), || rack_table(&racks))
        }
        RackCommand::Show { name } => {
            let rack = session.get(Kind::Rack, name.get()).await?;
            session.showing.one(screen, &rack, || rack_sheet(&rack), || rack_table(slice::from_ref(&rack)))
        }
    }
}
