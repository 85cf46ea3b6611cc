//! `rackwright runtime …`: which versions a cluster can install on its machines.

use std::path::PathBuf;
use std::slice;

use clap::{Args, Subcommand};
use serde_json::Value;

use super::access::Access;
use super::answer::field;
use super::args::parse_name;
use super::client::Client;
use super::render::{runtime_sheet, runtime_table};
use super::screen::{Screen, Sheet, Tone};
use super::session::{Kind, Session, place};
use super::trouble::{Exit, Trouble};
use crate::runtime_file::RuntimeFile;

/// Where runtimes are within a cluster.
const RUNTIMES: &str = "runtimes";

#[derive(Debug, Subcommand)]
pub enum RuntimeCommand {
    /// Make a runtime known to a cluster, as a file describes it.
    ///
    /// The file is read and judged as a whole; a wrong one changes nothing. A version that is known cannot be changed: what is
    /// installed must stay what it was. Not disruptive.
    ///
    /// Example: rackwright runtime import examples/runtimes/4.10.0.toml
    Import {
        /// The file.
        #[arg(value_name = "FILE")]
        file: PathBuf,

        #[command(flatten)]
        of: ClusterArgs,
    },
    /// The runtimes that a cluster knows, and how many machines run each.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright runtime list
    List {
        #[command(flatten)]
        of: ClusterArgs,
    },
    /// One runtime: what it installs, and what it asks of a machine's firmware.
    ///
    /// Changes nothing.
    ///
    /// Example: rackwright runtime show 4.9.2
    Show {
        /// The version.
        #[arg(value_name = "VERSION", value_parser = parse_name)]
        runtime: String,

        #[command(flatten)]
        of: ClusterArgs,
    },
    /// Forget a runtime that nothing uses. Not disruptive.
    ///
    /// Example: rackwright runtime delete 4.1.6
    Delete {
        /// The version.
        #[arg(value_name = "VERSION", value_parser = parse_name)]
        runtime: String,

        #[command(flatten)]
        of: ClusterArgs,
    },
}

#[derive(Args, Clone, Debug)]
pub struct ClusterArgs {
    /// The cluster, where there are several.
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    cluster: Option<String>,
}

impl ClusterArgs {
    /// The cluster that was named, or else the only one.
    async fn name(self, session: &Session) -> Result<String, Trouble> {
        if let Some(name) = self.cluster {
            return Ok(name);
        }
        let clusters = session.list(Kind::Cluster).await?;
        let names: Vec<String> = clusters.iter().filter_map(|cluster| field(cluster, "/name")).collect();
        match names.as_slice() {
            [only] => Ok(only.clone()),
            [] => Err(Trouble::new(Exit::NotFound, "the server has no cluster yet")),
            several => Err(Trouble::new(Exit::Usage, "there are several clusters")
                .detail(several.join(", "))
                .hint(format!("choose one with `--cluster`, for example `--cluster {}`", several[0]))),
        }
    }
}

/// Imports what files describe into clusters that do not know it, or know it from where its images were before. For a simulator and its control plane, in one process.
pub async fn import_missing(server: &str, access: &Access, sites: &[model::Site], files: &[PathBuf]) -> Result<(), Trouble> {
    let client = Client::new(server, access)?;
    for file in files {
        let file = RuntimeFile::read(file)?;
        for site in sites {
            let (home, cluster) = (&site.home, site.cluster.as_str());
            let target = place(&home.subscription, Some(&home.resource_group), Kind::Cluster, &[cluster, RUNTIMES, &file.version]);
            match client.get(&target).await {
                Ok(known) if known.pointer("/properties/osImage/url").and_then(Value::as_str) == Some(file.os_image.url.as_str()) => {}
                // One of an older release may differ in more, and be in use: then it stays, and its installations say why they fail.
                Ok(_) => {
                    if let Err(trouble) = client.put(&target, &file.body()).await {
                        tracing::warn!(
                            version = file.version,
                            trouble = trouble.message,
                            "the images of a runtime have moved, and it stays"
                        );
                    }
                }
                Err(trouble) if trouble.exit == Exit::NotFound => drop(client.put(&target, &file.body()).await?),
                Err(trouble) => return Err(trouble),
            }
        }
    }
    Ok(())
}

pub async fn run(session: &Session, screen: &mut Screen, command: RuntimeCommand) -> Result<(), Trouble> {
    match command {
        RuntimeCommand::Import { file, of } => {
            let file = RuntimeFile::read(&file)?;
            let cluster = of.name(session).await?;
            let runtime = session.put_within(Kind::Cluster, &cluster, &[RUNTIMES, &file.version], &file.body()).await?;
            let said = || Sheet::of(Tone::Plain, format!("`{cluster}` knows runtime {}", file.version));
            session.showing.one(screen, &runtime, said, || runtime_table(slice::from_ref(&runtime)))
        }
        RuntimeCommand::List { of } => {
            let cluster = of.name(session).await?;
            let runtimes = session.list_within(Kind::Cluster, &cluster, RUNTIMES).await?;
            session.showing.list(screen, &Value::from(runtimes.as_slice()), || runtime_table(&runtimes))
        }
        RuntimeCommand::Show { runtime: version, of } => {
            let cluster = of.name(session).await?;
            let runtime = session.get_within(Kind::Cluster, &cluster, &[RUNTIMES, &version]).await?;
            session.showing.one(screen, &runtime, || runtime_sheet(&runtime), || runtime_table(slice::from_ref(&runtime)))
        }
        RuntimeCommand::Delete { runtime: version, of } => {
            let cluster = of.name(session).await?;
            session.delete_within(Kind::Cluster, &cluster, &[RUNTIMES, &version]).await?;
            screen.say(&format!("`{cluster}` has forgotten runtime {version}"));
            Ok(())
        }
    }
}
